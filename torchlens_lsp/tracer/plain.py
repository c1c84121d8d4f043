"""Short texts of plain Python values, made by the built-in classes' own methods, never by a user's `__repr__`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import PosixPath, WindowsPath
from typing import Any

import torch

LONGEST_TEXT = 80
"""Characters of a string that are kept."""
LARGEST_INTEGER = 256
"""Bits of an integer that is written out: larger ones take long to write, and Python refuses the largest."""

class_name: Callable[[type], str] = type.__dict__["__name__"].__get__
"""A class's name, whatever its metaclass says."""


def derives_from(cls: type, base: type) -> bool:
    """Whether `cls` is `base` or a real subclass of it, whatever their metaclasses say."""
    return type.__subclasscheck__(base, cls)


def text_of_int(value: int) -> str:
    """The number, or how many bits it has."""
    bits = int.bit_length(value)
    return int.__repr__(value) if bits <= LARGEST_INTEGER else f"<integer of {bits} bits>"


def text_of_str(value: str) -> str:
    """The string's beginning, in quotes."""
    if str.__len__(value) <= LONGEST_TEXT:
        return str.__repr__(value)
    return str.__repr__(str.__getitem__(value, slice(0, LONGEST_TEXT))) + "…"


def _text_of_bytes(value: bytes) -> str:
    if bytes.__len__(value) <= LONGEST_TEXT:
        return bytes.__repr__(value)
    return bytes.__repr__(bytes.__getitem__(value, slice(0, LONGEST_TEXT))) + "…"


def _text_of_range(value: range) -> str:
    bounds = [value.start, value.stop] if value.step == 1 else [value.start, value.stop, value.step]
    return f"range({', '.join(text_of_int(bound) for bound in bounds)})"


def _text_of_slice(value: slice) -> str:
    bounds = [value.start, value.stop] if value.step is None else [value.start, value.stop, value.step]
    return ":".join("" if bound is None else text_of_int(bound) if type(bound) is int else "…" for bound in bounds)


_BY_BASE: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (bool, bool.__repr__),
    (int, text_of_int),
    (float, float.__repr__),
    (complex, complex.__repr__),
    (str, text_of_str),
    (bytes, _text_of_bytes),
    (bytearray, lambda value: f"<{bytearray.__len__(value)} bytes>"),
)
"""Classes whose subclasses are read by the same method."""

_EXACT: dict[int, Callable[[Any], str]] = {
    id(type(None)): lambda value: "None",
    id(type(...)): lambda value: "...",
    id(type(NotImplemented)): lambda value: "NotImplemented",
    id(range): _text_of_range,
    id(slice): _text_of_slice,
    id(torch.device): torch.device.__str__,
    **{id(cls): cls.__repr__ for cls in (torch.dtype, torch.layout, torch.memory_format, torch.finfo, torch.iinfo)},
    **{id(cls): cls.__str__ for cls in (PosixPath, WindowsPath)},
    **{id(getattr(torch, name)): str for name in ("SymInt", "SymFloat", "SymBool") if hasattr(torch, name)},
}
"""By id of the class (a class's own hash may be anything); all of these live as long as the interpreter."""


def text_of_class(cls: type) -> Callable[[Any], str] | None:
    """How instances of `cls` are written; None if they are no plain values."""
    exact = _EXACT.get(id(cls))
    if exact is not None:
        return exact
    array, scalar = _numpy_class("ndarray"), _numpy_class("generic")
    if array is not None and derives_from(cls, array):
        return _array_reader(array)
    if scalar is not None and derives_from(cls, scalar):
        return _scalar_reader(scalar)
    for base, text in _BY_BASE:
        if derives_from(cls, base):
            return text
    return None


def _numpy_class(name: str) -> Any:
    """A class of numpy's, None unless the program has loaded it."""
    numpy = sys.modules.get("numpy")
    found = None if numpy is None else vars(numpy).get(name)
    return found if isinstance(found, type) else None


def _array_reader(array: Any) -> Callable[[Any], str]:
    get_shape, get_dtype = array.shape.__get__, array.dtype.__get__

    def text(value: Any) -> str:
        return f"{get_dtype(value)}[{', '.join(str(size) for size in get_shape(value))}]"

    return text


def _scalar_reader(scalar: Any) -> Callable[[Any], str]:
    to_python: Callable[[Any], Any] = scalar.item

    def text(value: Any) -> str:
        found = to_python(value)
        for base, written in _BY_BASE:
            if type(found) is base:
                return written(found)
        return ""

    return text
