"""What is known of a tensor without reading its elements, for tensors of every sort."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import torch

from ..document.values import TensorMeta
from . import quiet, statistics


class Meta(NamedTuple):
    """An interned `TensorMeta`, with what the hot path wants to know of all tensors that have it."""

    index: int
    """Into `ValueTable.metas`."""
    count: int
    """Number of elements, -1 where it is not a plain number."""
    kind: int
    """How the dtype's elements are read, one of the kinds of `statistics`; OPAQUE where they cannot be."""
    size: int
    """Bytes that the elements take where each has memory of its own."""
    watched: bool
    """Whether the elements could be NaN or infinite, and can be read."""
    quick: bool
    """Whether one sum of a contiguous tensor tells it."""
    layout: str


def describe(tensor: Any, name: str = "Tensor") -> TensorMeta:
    """Metadata of any `tensor`, of a class called `name`. Function modes are off.

    Anything that cannot be read is left at what is true of it least: an empty shape, a device called `meta`.
    """
    device = quiet.get_device(tensor)
    if _is_fake(tensor):
        device = _attribute(tensor, "fake_device", device)
        name = "Tensor" if name == "FakeTensor" else name
    return TensorMeta(
        _shape(tensor),
        _text(quiet.get_dtype(tensor)),
        str(device),
        name,
        _text(quiet.get_layout(tensor)),
        quiet.get_requires_grad(tensor),
    )


def interned(tensor: Any, described: TensorMeta, index: int, plain: bool) -> Meta:
    """`Meta` of `described`, which will stand at `index`. `plain`: no code of a user's class runs in operations."""
    sizes = described.shape
    if not all(type(size) is int for size in sizes):
        return Meta(index, -1, statistics.OPAQUE, 0, False, False, described.layout)
    count = 1
    for size in sizes:
        count *= size  # type: ignore[operator]
    kind = statistics.KINDS.get(quiet.get_dtype(tensor), statistics.OPAQUE)
    readable = (
        plain
        and described.layout == "strided"
        and not quiet.is_nested(tensor)
        and quiet.get_device(tensor).type in statistics.READABLE_DEVICES
    )
    if not readable:
        kind = statistics.OPAQUE
    watched = kind in statistics.CAN_BE_NOT_FINITE and count > 0
    quick = watched and kind in (statistics.FLOAT, statistics.HALF)
    return Meta(index, count, kind, count * quiet.get_itemsize(tensor), watched, quick, described.layout)


def _shape(tensor: Any) -> tuple[int | str, ...]:
    if quiet.is_nested(tensor) and quiet.get_layout(tensor) is torch.strided:
        return tuple(_size(tensor, dimension) for dimension in range(quiet.get_dim(tensor)))
    return tuple(size if type(size) is int else str(size) for size in quiet.get_shape(tensor))


def _size(tensor: Any, dimension: int) -> int | str:
    """One size of a nested tensor, which raises where it is ragged."""
    try:
        size = quiet.get_size(tensor, dimension)
    except RuntimeError:
        return "*"
    return size if type(size) is int else str(size)


def _is_fake(tensor: Any) -> bool:
    module = sys.modules.get("torch._subclasses.fake_tensor")
    fake = None if module is None else vars(module).get("FakeTensor")
    return fake is not None and type.__subclasscheck__(fake, type(tensor))


def _attribute(tensor: Any, name: str, otherwise: Any) -> Any:
    return vars(tensor).get("_" + name, vars(tensor).get(name, otherwise))


def _text(value: object) -> str:
    return str(value).removeprefix("torch.")


def runs_only_torch(cls: type) -> bool:
    """Whether operations on tensors of this class run no code of a user's, once function modes are off."""
    for ancestor in type.__dict__["__mro__"].__get__(cls):
        if ancestor is torch.Tensor:
            return True
        if "__torch_dispatch__" in type.__dict__["__dict__"].__get__(ancestor):
            return False
    return False
