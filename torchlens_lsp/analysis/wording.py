"""Values in words, as hints say them: `f32[8, 64]`, `3×[2, 8, 64]`, `{loss: f32[], logits: [2, 10]}`, `81,233`.

A value's words come as a tuple of texts, the fullest first, so that whoever has little room takes the first that
fits: without spaces after commas, without dtypes, then with items left out from the right (`, +1 more`). No text is
cut inside of a shape or a number. Nothing here knows calls, lines or settings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..document.index import DocumentIndex
from ..document.values import Container, Other, Tensor, TensorMeta

ELLIPSIS = "…"
"""Stands where the tracer cut a text: such a text is not repeated."""
LISTED = 2
"""Values of different shapes in one container that are listed even where not all of them fit."""
LONGEST_STRING = 20
"""Characters of a Python string that is worth repeating, quotes included."""

_PREFIXES = (("bfloat", "bf"), ("float", "f"), ("complex", "c"), ("uint", "u"), ("int", "i"))
_WITH_QUANTISED = tuple((q + long, q + short) for q in ("", "q") for long, short in _PREFIXES)
_WIDTH = re.compile(r"\d")


def dtype_name(dtype: str) -> str:
    """A torch dtype in jaxtyping's short form: `f32`, `bf16`, `i64`, `bool`, `f8_e4m3fn`, `qu8`."""
    for long, short in _WITH_QUANTISED:
        if dtype.startswith(long) and _WIDTH.match(dtype, len(long)):
            return short + dtype[len(long) :]
    return dtype


def is_floating(dtype: str) -> bool:
    """Whether a dtype is a real floating-point one."""
    return dtype.startswith(("float", "bfloat"))


def number(value: float, apart_from: float | None = None) -> str:
    """A number as short as it stays useful: `3`, `81,233`, `0.21`, `-3.1`, `6.0`, `1.2e-05`, `NaN`.

    A number that differs from `apart_from` (what it was compared with) gets as many digits as it takes to see that.
    """
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{value:g}"
    text = ""
    for digits in range(2, 18):
        text = _float(value, digits)
        if apart_from is None or value == apart_from or float(text.replace(",", "")) != apart_from:
            break
    return text


_SMALLEST_FIXED, _LARGEST_FIXED = 1e-4, 1e7
"""Between these magnitudes floats are written without an exponent."""


def _float(value: float, digits: int) -> str:
    """A finite float with so many significant digits; above 1 with so many minus one behind the point."""
    size = abs(value)
    if value and not _SMALLEST_FIXED <= size < _LARGEST_FIXED:
        return f"{value:.{digits - 1}e}"
    if size >= 1:
        return f"{value:,.{digits - 1}f}"
    text = f"{value:.{digits}g}"
    return text if "." in text or "e" in text else text + ".0"


class Look(NamedTuple):
    """How tensors are to be written at one place."""

    dtype: str | None = None
    """The dtype that goes without saying, None if every dtype is said."""
    device: str | None = None
    """The device that goes without saying, None if no device is said."""
    dtypes: bool = True
    """Whether dtypes are written at all."""


class Style(NamedTuple):
    """What of a shape is written."""

    comma: str
    """Between the sizes of one shape."""
    joint: str
    """Between values."""
    dtypes: bool


STYLES = (
    Style(", ", ", ", True),
    Style(",", ", ", True),
    Style(",", ",", True),
    Style(",", ", ", False),
    Style(",", ",", False),
)
"""From the fullest to the shortest."""
SAY_ALL = Look(device="")


class ValueWords:
    """Words for the values of one document. Nothing to say is an empty tuple."""

    def __init__(self, index: DocumentIndex) -> None:
        self._index = index
        self._values = index.document.values
        self._texts: dict[tuple[int, Look], tuple[str, ...]] = {}
        self._tensors: dict[int, int] = {}

    def texts(self, value_id: int, look: Look) -> tuple[str, ...]:
        """The value's words, the fullest first.

        One text for each of STYLES, so that values side by side lose the same things together, then shorter ones.
        """
        if value_id < 0:
            return ()
        key = self._index.signature(value_id), look
        found = self._texts.get(key)
        if found is None:
            found = self._texts[key] = self._make_texts(value_id, look)
        return found

    def key(self, value_id: int) -> str:
        """Everything that a hint could say of the value: equal for values that no hint tells apart."""
        texts = self.texts(value_id, SAY_ALL)
        return texts[0] if texts else ""

    def tensors(self, value_id: int) -> int:
        """The number of recorded tensors in a value."""
        signature = self._index.signature(value_id)
        found = self._tensors.get(signature)
        if found is None:
            value = self._values[value_id]
            if isinstance(value, Container):
                found = sum(map(self.tensors, value.items))
            else:
                found = int(isinstance(value, Tensor))
            self._tensors[signature] = found
        return found

    def length(self, value_id: int) -> int | None:
        """How many tensors a container really holds, those beyond what was recorded included; None if unknown."""
        if value_id < 0:
            return None
        value = self._values[value_id]
        if not isinstance(value, Container) or value.kind == "object":
            return None
        known = self.tensors(value_id)
        if value.length == len(value.items):
            nested = [item for item in value.items if isinstance(self._values[item], Container)]
            return None if any(self.tensors(item) and self.length(item) is None for item in nested) else known
        return value.length if all(self._is_tensor(item) for item in value.items) else None

    def _is_tensor(self, value_id: int) -> bool:
        return isinstance(self._values[value_id], Tensor)

    def metas(self, value_id: int) -> Iterator[TensorMeta]:
        """The tensors in a value, in order."""
        value = self._values[value_id]
        if isinstance(value, Tensor):
            yield value.meta
        elif isinstance(value, Container):
            for item in value.items:
                yield from self.metas(item)

    # Python values and single elements

    def scalar(self, value_id: int, apart_from: float | None = None) -> str:
        """A Python number, string or None, or the one element of a tensor; empty where it is none or not known."""
        found = self.number(value_id)
        if found is not None:
            return number(found, apart_from)
        if value_id < 0:
            return ""
        value = self._values[value_id]
        if isinstance(value, Other) and value.type in ("str", "NoneType", "bool", "int", "float"):
            short = len(value.repr) <= LONGEST_STRING and ELLIPSIS not in value.repr
            return value.repr if short else ""
        return ""

    def number(self, value_id: int) -> float | None:
        """The value as a number: a Python int or float, or the one element of a tensor where it was read."""
        if value_id < 0:
            return None
        value = self._values[value_id]
        if isinstance(value, Other):
            return _parsed(value)
        if isinstance(value, Tensor):
            return _element(value)
        return None

    def is_bool(self, value_id: int) -> bool:
        """Whether the value is a bool, Python's or a tensor's."""
        if value_id < 0:
            return False
        value = self._values[value_id]
        return (isinstance(value, Other) and value.type in ("bool", "bool_")) or (
            isinstance(value, Tensor) and value.meta.dtype == "bool"
        )

    def sizes(self, value_id: int) -> list[str] | None:
        """The numbers of a `torch.Size`, None for any other value."""
        value = self._values[value_id] if value_id >= 0 else None
        if not isinstance(value, Container) or value.type != "Size":
            return None
        items = [self._values[item] for item in value.items]
        return [item.repr for item in items if isinstance(item, Other)]

    # Tensors and containers

    def _make_texts(self, value_id: int, look: Look) -> tuple[str, ...]:
        value = self._values[value_id]
        if isinstance(value, Other) or not self.tensors(value_id):
            return ()
        if isinstance(value, Tensor):
            return tuple(self._item(value_id, look, style) for style in STYLES)
        if value.kind == "object":
            name, item = self._first_tensor_field(value)
            return tuple(_of_field(name, text) for text in self.texts(item, look))
        if value.kind == "dict" and value.keys is not None:
            return self._dict_texts(value, look)
        return self._sequence_texts(value_id, value, look)

    def _sequence_texts(self, value_id: int, value: Container, look: Look) -> tuple[str, ...]:
        items = [item for item in value.items if self.tensors(item)]
        if self._is_summed_up(value, items):
            return tuple(self._item(value_id, look, style) for style in STYLES)
        short = [self._summary(value_id, "()")]
        if len(items) <= LISTED:
            more = f"+{len(items) - 1} more"
            short = [self._listed(items[:1], look, style) + style.joint + more for style in STYLES] + short
        return (*(self._listed(items, look, style) for style in STYLES), *short)

    def _is_summed_up(self, value: Container, items: list[int]) -> bool:
        """Whether a sequence is said as one: equal items, many containers, or not all of it known."""
        alike = len({self.key(item) for item in items}) == 1 and len(items) == len(value.items)
        are_containers = not any(self._is_tensor(item) for item in items)
        return alike or value.length > len(value.items) or (are_containers and len(items) > LISTED)

    def _listed(self, items: list[int], look: Look, style: Style) -> str:
        return style.joint.join(self._item(item, look, style) for item in items)

    def _dict_texts(self, value: Container, look: Look) -> tuple[str, ...]:
        assert value.keys is not None
        entries = [
            (key, item)
            for key, item in zip(value.keys, value.items, strict=False)
            if self.tensors(item) and ELLIPSIS not in key
        ]
        left_out = sum(1 for item in value.items if self.tensors(item)) - len(entries)
        unread = value.length - len(value.items)

        def text(count: int, style: Style) -> str:
            words = [f"{key}: {self._item(item, look, style)}" for key, item in entries[:count]]
            more = len(entries) - count + left_out + unread
            return "{" + style.joint.join([*words, f"+{more} more"] if more else words) + "}"

        found = [text(count, style) for count in range(len(entries), 0, -1) for style in STYLES]
        total = sum(map(self.tensors, value.items))
        return (*found, f"{{{_count(total, bool(unread))}}}")

    def _item(self, value_id: int, look: Look, style: Style) -> str:
        """A value's words where it is one of several: in one piece."""
        value = self._values[value_id]
        if isinstance(value, Tensor):
            return _shape(value.meta, look, style)
        if not isinstance(value, Container):
            return ""
        if value.kind == "object":
            name, item = self._first_tensor_field(value)
            return _of_field(name, self._item(item, look, style))
        if value.kind == "dict":
            return self._summary(value_id, "{}")
        alike = len(set(map(self.key, value.items))) == 1 and value.length == len(value.items)
        if alike:
            text = self._item(value.items[0], look, style)
            if self._is_tensor(value.items[0]) or text[:1].isdigit():
                return f"{value.length}×{text}"
        return self._summary(value_id, "()")

    def _summary(self, value_id: int, brackets: str) -> str:
        """`(3 tensors)`, also of containers in containers; `(64+ tensors)` where not all of them are known."""
        value = self._values[value_id]
        assert isinstance(value, Container)
        number = self.length(value_id)
        text = _count(self.tensors(value_id), True) if number is None else _count(number, False)
        return brackets[0] + text + brackets[1]

    def _first_tensor_field(self, value: Container) -> tuple[str, int]:
        """Name and value of an object's first field that is a tensor, else of the first that holds one."""
        fields = zip(value.keys or (), value.items, strict=True)
        with_tensors = [(name, item) for name, item in fields if self.tensors(item)]
        return next((field for field in with_tensors if self._is_tensor(field[1])), with_tensors[0])


def _of_field(name: str, text: str) -> str:
    """`.logits [2, 10]`; of a field of a field `.out.logits [2, 10]`."""
    return f".{name}{'' if text.startswith('.') else ' '}{text}"


def _count(tensors: int, at_least: bool) -> str:
    return f"{tensors}{'+' if at_least else ''} tensor{'' if tensors == 1 and not at_least else 's'}"


def _shape(meta: TensorMeta, look: Look, style: Style) -> str:
    dtype = dtype_name(meta.dtype) if style.dtypes and look.dtypes and meta.dtype != look.dtype else ""
    device = f"@{meta.device}" if look.device is not None and meta.device != look.device else ""
    return f"{dtype}[{style.comma.join(map(str, meta.shape))}]{device}"


def _parsed(value: Other) -> float | None:
    read: Callable[[str], float] | None = {"int": int, "float": float}.get(value.type)
    if read is None:
        return None
    try:
        return read(value.repr)
    except ValueError:
        return None


def _element(value: Tensor) -> float | None:
    if value.stats is None or any(size != 1 for size in value.meta.shape) or value.meta.dtype == "bool":
        return None
    if value.stats.nan:
        return math.nan
    low, high = value.stats.min, value.stats.max
    if low is None or low != high or value.meta.dtype.startswith("complex"):
        return None
    return low if is_floating(value.meta.dtype) else int(low)
