"""Short texts of plain Python values, made by the built-in classes' own methods, never by a user's `__repr__`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

LONGEST_TEXT = 80
"""Characters of a string that are kept."""
LARGEST_INTEGER = 256
"""Bits of an integer that is written out: larger ones take long to write, and Python refuses the largest."""

_is_subclass = type.__subclasscheck__


def text_of_int(value: int) -> str:
    bits = int.bit_length(value)
    if bits > LARGEST_INTEGER:
        return f"<integer of {bits} bits>"
    return int.__repr__(value)


def text_of_str(value: str) -> str:
    length = str.__len__(value)
    if length <= LONGEST_TEXT:
        return str.__repr__(value)
    return str.__repr__(str.__getitem__(value, slice(0, LONGEST_TEXT))) + "…"


def text_of_bytes(value: bytes) -> str:
    length = bytes.__len__(value)
    if length <= LONGEST_TEXT:
        return bytes.__repr__(value)
    return bytes.__repr__(bytes.__getitem__(value, slice(0, LONGEST_TEXT))) + "…"


def text_of_bytearray(value: bytearray) -> str:
    return f"<{bytearray.__len__(value)} bytes>"


def text_of_slice(value: slice) -> str:
    parts = [_bound(value.start), _bound(value.stop)]
    if value.step is not None:
        parts.append(_bound(value.step))
    return ":".join(parts)


def _bound(value: Any) -> str:
    if value is None:
        return ""
    if type(value) is int:
        return text_of_int(value)
    return "…"


_BY_BASE: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (bool, bool.__repr__),
    (int, text_of_int),
    (float, float.__repr__),
    (complex, complex.__repr__),
    (str, text_of_str),
    (bytes, text_of_bytes),
    (bytearray, text_of_bytearray),
)
"""Classes whose subclasses are read by the same method."""

_EXACT: dict[int, Callable[[Any], str]] = {
    id(type(None)): lambda value: "None",
    id(type(...)): lambda value: "...",
    id(type(NotImplemented)): lambda value: "NotImplemented",
    id(range): range.__repr__,
    id(slice): text_of_slice,
    id(torch.dtype): torch.dtype.__repr__,
    id(torch.device): torch.device.__str__,
    id(torch.layout): torch.layout.__repr__,
    id(torch.memory_format): torch.memory_format.__repr__,
    **{id(cls): cls.__repr__ for cls in (torch.finfo, torch.iinfo)},
    **{
        id(getattr(torch, name)): str
        for name in ("SymInt", "SymFloat", "SymBool")
        if hasattr(torch, name)
    },
}
"""By id of the class; all of these live as long as the interpreter."""


def text_of_class(cls: type) -> Callable[[Any], str] | None:
    """How instances of `cls` are written, or None if they are no plain values."""
    exact = _EXACT.get(id(cls))
    if exact is not None:
        return exact
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        names = vars(numpy)
        array, scalar = names.get("ndarray"), names.get("generic")
        if isinstance(array, type) and _is_subclass(array, cls):
            return _array_reader(array)
        if isinstance(scalar, type) and _is_subclass(scalar, cls):
            return _scalar_reader(scalar)
    for base, text in _BY_BASE:
        if _is_subclass(base, cls):
            return text
    return None


def _array_reader(array: Any) -> Callable[[Any], str]:
    get_shape, get_dtype = array.shape.__get__, array.dtype.__get__

    def text(value: Any) -> str:
        shape = ", ".join(str(size) for size in get_shape(value))
        return f"{get_dtype(value)}[{shape}]"

    return text


def _scalar_reader(scalar: Any) -> Callable[[Any], str]:
    to_python: Callable[[Any], Any] = scalar.item

    def text(value: Any) -> str:
        found = to_python(value)
        for base, written in _BY_BASE:
            if type(found) is base:
                return written(found)
        return type(found).__name__

    return text
