"""Columns of a trace document as bytes: numbers at the narrowest width that holds them exactly, and interned text.

A column is one byte that names its element type, four bytes with its length, and the elements, little-endian. Text
stands once in a table in front; columns hold its numbers. Reading trusts nothing: a length, a number or a type that
the bytes do not bear out is a `DocumentError`, and what is read takes memory in proportion to the bytes that are
there. This module knows neither documents nor records.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

_WIDTHS = {"B": 1, "b": 1, "H": 2, "h": 2, "i": 4, "q": 8, "f": 4, "d": 8}
"""Bytes by type of element, narrowest first."""
_INTEGERS = {
    code: (-(1 << 8 * width - 1), (1 << 8 * width - 1) - 1) if code.islower() else (0, (1 << 8 * width) - 1)
    for code, width in _WIDTHS.items()
    if code not in "fd"
}
"""The least and the greatest number by type of element."""
_FLOAT_PROBE = 64
"""Elements of a column that decide at little cost whether it is worth trying to narrow it."""
_COLUMN = struct.Struct("<cI")
_LENGTH = struct.Struct("<I")
_UTF8 = ("utf-8", "surrogatepass")
"""Source text may hold lone surrogates; they survive."""


class DocumentError(ValueError):
    """Bytes that are no trace document, or a document whose parts contradict each other."""


class Writer:
    """Collects columns and interns text."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._texts: dict[str, int] = {}

    def ints(self, column: Sequence[int]) -> None:
        """Add a column of integers. Raises DocumentError where one needs more than 64 bits."""
        low, high = (min(column), max(column)) if len(column) else (0, 0)
        for code, (least, greatest) in _INTEGERS.items():
            if least <= low and high <= greatest:
                same = isinstance(column, array) and column.typecode == code
                self._column(column if same else array(code, column))  # type: ignore[arg-type]
                return
        raise DocumentError(f"a number needs more than 64 bits: {low} or {high}")

    def floats(self, column: Sequence[float]) -> None:
        """Add a column of doubles; as single precision where that loses nothing, as with the elements of tensors."""
        doubles = column if isinstance(column, array) else array("d", column)
        narrow = _is_single(doubles[:_FLOAT_PROBE]) and _is_single(doubles)
        self._column(array("f", doubles) if narrow else doubles)

    def texts(self, column: Iterable[str | None]) -> None:
        """Add a column of texts, None where there is none."""
        table = self._texts
        self.ints([-1 if text is None else table.setdefault(text, len(table)) for text in column])

    def text(self, text: str) -> int:
        """The number of a text in the table, for a column of integers that refers to it."""
        return self._texts.setdefault(text, len(self._texts))

    def data(self) -> bytes:
        """The text table and all columns added so far."""
        table = Writer()
        table.ints([len(text) for text in self._texts])
        characters = "".join(self._texts).encode(*_UTF8)
        return b"".join([*table._parts, _LENGTH.pack(len(characters)), characters, *self._parts])

    def _column(self, column: array[Any]) -> None:
        self._parts.append(_COLUMN.pack(column.typecode.encode("ascii"), len(column)))
        if sys.byteorder == "big":
            column = column[:]
            column.byteswap()
        self._parts.append(column.tobytes())


class Reader:
    """Reads the columns of a Writer in the order in which they were added. Every fault is a DocumentError."""

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = memoryview(data)
        self._at = 0
        self._texts: list[str] = []
        lengths = self.lengths()
        try:
            characters = str(self._take(_LENGTH.unpack(self._take(_LENGTH.size))[0]), *_UTF8)
        except UnicodeDecodeError:
            raise DocumentError("the text table is not UTF-8") from None
        start = 0
        for length in lengths:
            self._texts.append(characters[start : start + length])
            start += length
        if start != len(characters):
            raise DocumentError("the text table does not have the length it states")

    def ints(self, rows: int | None = None, *, low: int | None = None, high: int | None = None) -> array[int]:
        """The next column, of integers, at whatever width it was written.

        `rows` is the length it must have, `low` the least number allowed in it, `high` the greatest.
        """
        column = self._column(rows)
        if column.typecode not in _INTEGERS:
            raise DocumentError("a column of floats where integers were expected")
        if len(column) and ((low is not None and min(column) < low) or (high is not None and max(column) > high)):
            raise DocumentError(f"a number is outside {low} … {high}")
        return column

    def typed(self, code: str, rows: int | None = None) -> array[int]:
        """The next column, of integers, as an array of the type `code`."""
        column = self.ints(rows)
        if column.typecode == code:
            return column
        try:
            return array(code, column)
        except OverflowError:
            raise DocumentError(f"a number does not fit the type {code}") from None

    def floats(self, rows: int | None = None) -> array[float]:
        """The next column, of doubles."""
        column: array[Any] = self._column(rows)
        if column.typecode in _INTEGERS:
            raise DocumentError("a column of integers where floats were expected")
        return column if column.typecode == "d" else array("d", column)

    def lengths(self, rows: int | None = None) -> array[int]:
        """The next column, of numbers that count something."""
        return self.ints(rows, low=0)

    def texts(self, rows: int | None = None) -> list[str]:
        """The next column, of texts."""
        texts = self._texts
        return [texts[number] for number in self.ints(rows, low=0, high=len(texts) - 1)]

    def optional_texts(self, rows: int | None = None) -> list[str | None]:
        """The next column, of texts or None."""
        texts = [*self._texts, None]  # -1 refers to the last.
        return [texts[number] for number in self.ints(rows, low=-1, high=len(self._texts) - 1)]

    def text(self, number: int) -> str:
        """The text of a number in the table."""
        if not 0 <= number < len(self._texts):
            raise DocumentError(f"there is no text {number}")
        return self._texts[number]

    def finish(self) -> None:
        """Raise DocumentError if anything is left."""
        if self._at != len(self._data):
            raise DocumentError(f"{len(self._data) - self._at} bytes follow after the last column")

    def _take(self, size: int) -> memoryview:
        taken = self._data[self._at : self._at + size]
        if len(taken) != size:
            raise DocumentError("the data ends in the middle")
        self._at += size
        return taken

    def _column(self, rows: int | None) -> array[Any]:
        code, length = _COLUMN.unpack(self._take(_COLUMN.size))
        name = code.decode("latin-1")
        if name not in _WIDTHS:
            raise DocumentError(f"there is no column type {code!r}")
        if rows is not None and length != rows:
            raise DocumentError(f"a column has {length} rows where {rows} were expected")
        column: array[Any] = array(name)
        column.frombytes(self._take(length * _WIDTHS[name]))
        if sys.byteorder == "big":
            column.byteswap()
        return column


def _is_single(doubles: array[float]) -> bool:
    """Whether all are exact in single precision, bit for bit (a NaN equals no NaN)."""
    return array("d", array("f", doubles)).tobytes() == doubles.tobytes()


def split(flat: Sequence[Any], lengths: Sequence[int]) -> list[tuple[Any, ...]]:
    """Cut a flat column into one tuple for each length. Raises DocumentError where they do not add up."""
    if sum(lengths) != len(flat):
        raise DocumentError(f"{len(flat)} items where {sum(lengths)} were expected")
    items = tuple(flat)
    edges = list(accumulate(lengths, initial=0))
    return [items[start:end] for start, end in pairwise(edges)]
