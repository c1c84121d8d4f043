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


def fingerprint(value: Any) -> str:
    """Hash `value` through everything that it holds, tensors by their bits."""
    digest = hashlib.sha256()
    for piece in _pieces(value, {}):
        digest.update(piece)
        digest.update(b"\0")
    return digest.hexdigest()


def _pieces(value: Any, seen: dict[int, Any]) -> Iterator[bytes]:
    """What `value` is made of. `seen` keeps what was walked, by identity, so that a cycle ends."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        yield f"{type(value).__name__} {value!r}".encode()
        return
    if isinstance(value, Tensor):
        yield from _tensor_pieces(value)
        return
    if hasattr(value, "tobytes"):  # numpy's arrays and scalars
        yield f"{getattr(value, 'dtype', '')} {getattr(value, 'shape', '')}".encode() + value.tobytes()
        return
    yield type(value).__qualname__.encode()
    if id(value) in seen:
        yield str(list(seen).index(id(value))).encode()
        return
    seen[id(value)] = value
    items = _items(value)
    yield str(len(items)).encode()
    for key, item in items:
        yield key.encode()
        yield from _pieces(item, seen)


def _items(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(repr(key), item) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [("", item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return [(each.name, getattr(value, each.name, None)) for each in fields(value)]
    return sorted(vars(value).items()) if hasattr(value, "__dict__") and not callable(value) else []


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
