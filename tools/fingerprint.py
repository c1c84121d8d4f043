"""A fingerprint of whatever a model returns: equal exactly where two outputs are equal bit for bit.

Containers and objects are walked through their items and fields; a tensor counts by dtype, shape and the bytes of its
elements, so that -0.0, NaN payloads and the last bit of a sum all matter.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

MAX_DEPTH = 12


def fingerprint(value: Any) -> str:
    """Hash `value` through everything that it holds, tensors by their bits."""
    digest = hashlib.sha256()
    for piece in _pieces(value, 0):
        digest.update(piece)
        digest.update(b"\0")
    return digest.hexdigest()


def _pieces(value: Any, depth: int) -> Iterator[bytes]:
    if isinstance(value, Tensor):
        yield from _tensor_pieces(value)
    elif value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        yield f"{type(value).__name__} {value!r}".encode()
    elif depth == MAX_DEPTH:
        yield type(value).__name__.encode()
    elif isinstance(value, Mapping):
        yield f"mapping {len(value)}".encode()
        for key, item in value.items():
            yield repr(key).encode()
            yield from _pieces(item, depth + 1)
    elif isinstance(value, (list, tuple)):
        yield f"{type(value).__name__} {len(value)}".encode()
        for item in value:
            yield from _pieces(item, depth + 1)
    else:
        yield type(value).__qualname__.encode()
        for name, item in _attributes(value):
            yield name.encode()
            yield from _pieces(item, depth + 1)


def _tensor_pieces(tensor: Tensor) -> Iterator[bytes]:
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():
        plain = tensor.detach()
        yield f"{plain.dtype} {tuple(plain.shape)} {plain.layout}".encode()
        if plain.layout is not torch.strided:
            plain = plain.to_dense()
        if plain.is_quantized:
            plain = plain.int_repr()
        plain = plain.resolve_conj().resolve_neg().contiguous().cpu()
        yield ctypes.string_at(plain.data_ptr(), plain.numel() * plain.element_size()) if plain.numel() else b""


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    if is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield each.name, getattr(value, each.name, None)
    elif hasattr(value, "__dict__"):
        yield from sorted(vars(value).items())
