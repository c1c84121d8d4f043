"""What is known of a tensor without reading its elements, for tensors of every sort. Function modes are off."""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

import torch
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from ..document.values import TensorMeta
from . import quiet, statistics
from .objects import instance_dict
from .plain import derives_from

RAGGED = "*"
"""Stands for a size that differs from one component of a nested tensor to the next."""
UNINITIALIZED = "?"
"""Stands for the shape of a lazy module's parameter that has none yet."""

_COMPRESSED = ("sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")


class Meta(NamedTuple):
    """An interned `TensorMeta`, with what the hot path wants to know of all tensors that have it."""

    row: int
    """Index into `ValueTable.metas`."""
    elements: int
    """Number of elements; 0 where it is not known."""
    kind: int
    """How the dtype's elements are read, one of the kinds of `statistics`; OPAQUE where they cannot be."""
    size: int
    """Bytes that the elements take where each has memory of its own."""
    watched: bool
    """Whether elements could be NaN or infinite, and can be read."""
    quick: bool
    """Whether one sum tells it of a contiguous tensor with a storage of its own."""
    stored: str
    """Where the elements are, for `stored_elements`; `` for a tensor that is strided itself."""
    device: str
    """The device's type."""


def describe(tensor: Any, name: str) -> TensorMeta:
    """Metadata of a tensor of a class called `name`."""
    cls = type(tensor)
    device = quiet.get_device(tensor)
    if is_fake(cls):
        own = instance_dict(tensor) or {}
        device = own.get("_fake_device", own.get("fake_device", device))
        name = "Tensor"
    return TensorMeta(
        _shape(tensor),
        _text(quiet.get_dtype(tensor)),
        str(device),
        name,
        _text(quiet.get_layout(tensor)),
        quiet.get_requires_grad(tensor),
    )


def interned(tensor: Any, described: TensorMeta, index: int) -> Meta:
    """`Meta` of a tensor that was `described` and will stand at `index`."""
    kind = statistics.KINDS.get(quiet.get_dtype(tensor), statistics.OPAQUE)
    device = quiet.get_device(tensor).type
    stored = _stored(tensor, described.layout)
    sizes = [size for size in described.shape if type(size) is int]
    if (
        stored is None
        or not (stored or len(sizes) == len(described.shape))
        or device not in statistics.READABLE_DEVICES
    ):
        return Meta(index, 0, statistics.OPAQUE, 0, False, False, "", device)
    count = math.prod(sizes)
    finite = kind not in statistics.CAN_BE_NOT_FINITE
    if stored:
        # Of what is stored in parts only NaN and Inf are looked for: the rest would be of those parts alone.
        return Meta(index, count, kind, 0, not finite, False, stored, device)
    quick = not finite and count > 0 and kind in (statistics.FLOAT, statistics.HALF) and device == "cpu"
    return Meta(index, count, kind, count * quiet.get_itemsize(tensor), not finite and count > 0, quick, "", device)


def stored_elements(tensor: Any, stored: str) -> Any:
    """The strided tensor that holds the stored elements of a sparse or nested `tensor`."""
    if stored == "coo":
        return quiet.coo_values(tensor)
    if stored == "jagged":
        return (instance_dict(tensor) or {}).get("_values")
    return quiet.compressed_values(tensor)


def _stored(tensor: Any, layout: str) -> str | None:
    """Where a tensor's elements are: `` in itself, None where they cannot be read without running other code."""
    if layout == "jagged":
        values = (instance_dict(tensor) or {}).get("_values")
        return layout if type(values) is torch.Tensor else None
    if not runs_only_torch(type(tensor)):
        return None
    if layout == "strided":
        return "values" if quiet.is_nested(tensor) else ""
    if layout == "sparse_coo":
        return "coo"
    return "values" if layout in _COMPRESSED else None


def is_fake(cls: type) -> bool:
    """Whether tensors of this class are those of FakeTensorMode, which say more than they are."""
    module = sys.modules.get("torch._subclasses.fake_tensor")
    fake = None if module is None else vars(module).get("FakeTensor")
    return fake is not None and derives_from(cls, fake)


def runs_only_torch(cls: type) -> bool:
    """Whether operations on tensors of this class run no code of a user's, once function modes are off."""
    for ancestor in type.__dict__["__mro__"].__get__(cls):
        if ancestor is torch.Tensor:
            return True
        if "__torch_dispatch__" in type.__dict__["__dict__"].__get__(ancestor):
            return False
    return False


def _shape(tensor: Any) -> tuple[int | str, ...]:
    if any(derives_from(type(tensor), lazy) for lazy in (UninitializedParameter, UninitializedBuffer)):
        return (UNINITIALIZED,)
    if quiet.is_nested(tensor) and quiet.get_layout(tensor) is torch.strided:
        return tuple(_size(tensor, dimension) for dimension in range(quiet.get_dim(tensor)))
    return tuple(size if type(size) is int else str(size) for size in quiet.get_shape(tensor))


def _size(tensor: Any, dimension: int) -> int | str:
    """One size of a nested tensor, which raises where it is ragged."""
    try:
        size = quiet.get_size(tensor, dimension)
    except RuntimeError:
        return RAGGED
    return size if type(size) is int else str(size)


def _text(value: object) -> str:
    return str(value).removeprefix("torch.")
