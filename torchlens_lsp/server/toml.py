"""TOML with places: a parsed file that can tell at which line a value is set.

The parsers of the standard library and of tomli give values without their places. Here a place is found by parsing
the file's beginnings: the first one in which a value is there ends with the statement that sets it. So every form of
TOML, tables in lines and dotted keys included, is located by the parser that reads it.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Sequence
from typing import Any

from ..analysis.lines import utf16_length
from ..document.model import Range

# By name, because a type checker for the oldest Python would look for the one, and find the other installed.
_parser = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

Key = str | int
"""A key of a table, or an index of a list."""
_AT_LINE = re.compile(r" ?\(at line (\d+), column (\d+)\)$")
_AT_END = re.compile(r" ?\(at end of document\)$")


class TomlError(Exception):
    """A text that is no TOML; `range` says where."""

    def __init__(self, message: str, where: Range) -> None:
        super().__init__(message)
        self.range = where


class Toml:
    """A parsed text. Raises TomlError."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        try:
            self.data: dict[str, Any] = _parser.loads(text)
        except _parser.TOMLDecodeError as error:
            raise self._error(str(error)) from error
        self._parsed: dict[int, dict[str, Any] | None] = {0: {}, len(self._lines): self.data}
        self._first = 0
        """Lines before this one are left out of what is parsed to locate something."""

    def get(self, *keys: Key) -> Any:
        """What stands at a path, None where there is nothing."""
        found, value = _look_up(self.data, keys)
        return value if found else None

    def focus(self, *keys: str) -> None:
        """Locate faster within a table that has its own headers, by not reading what comes before them."""
        header = re.compile(r"\s*\[+\s*" + r"\s*\.\s*".join(rf"[\"']?{re.escape(key)}[\"']?" for key in keys) + r"\b")
        first = next((number for number, line in enumerate(self._lines) if header.match(line)), 0)
        try:
            rest = _parser.loads("\n".join(self._lines[first:]))
        except _parser.TOMLDecodeError:
            return
        if _look_up(rest, keys) == _look_up(self.data, keys):
            self._first = first
            self._parsed = {first: {}, len(self._lines): rest}

    def locate(self, *keys: Key) -> Range:
        """The line on which the statement begins that sets what stands at a path, without the blanks around it.

        What is not there is located at the innermost table around it that is.
        """
        while keys and not _look_up(self.data, keys)[0]:
            keys = keys[:-1]
        if not keys:
            return self._line(self._first)
        without, having = self._first, len(self._lines)
        while True:
            middle = self._parsable_between(without, having)
            if middle is None:
                break
            if _look_up(self._parsed[middle], keys)[0]:
                having = middle
            else:
                without = middle
        code = (
            n for n in range(without, having) if self._lines[n].strip() and not self._lines[n].lstrip().startswith("#")
        )
        return self._line(next(code, without))

    def _parsable_between(self, low: int, high: int) -> int | None:
        """How many lines, more than `low` and fewer than `high` and near the middle, make a beginning that parses."""
        middle = (low + high) // 2
        candidates = [*range(middle, low, -1), *range(middle + 1, high)]
        return next((count for count in candidates if self._parse(count) is not None), None)

    def _parse(self, count: int) -> dict[str, Any] | None:
        if count not in self._parsed:
            try:
                # With the last line's end, which may be of two characters.
                self._parsed[count] = _parser.loads("\n".join([*self._lines[self._first : count], ""]))
            except _parser.TOMLDecodeError:
                self._parsed[count] = None
        return self._parsed[count]

    def _line(self, number: int, start: int | None = None) -> Range:
        text = self._lines[number]
        indent = len(text) - len(text.lstrip()) if start is None else start
        end = max(len(text.rstrip()), indent)
        return Range(number, utf16_length(text[:indent]), number, utf16_length(text[:end]))

    def _error(self, message: str) -> TomlError:
        at = _AT_LINE.search(message)
        if at is None:
            return TomlError(_AT_END.sub(", at the end of the file", message), self._line(len(self._lines) - 1))
        number = min(int(at[1]), len(self._lines)) - 1
        return TomlError(message[: at.start()], self._line(number, min(int(at[2]) - 1, len(self._lines[number]))))


def _look_up(data: Any, keys: Sequence[Key]) -> tuple[bool, Any]:
    """Whether something stands at a path, and what."""
    for key in keys:
        is_there = key in data if isinstance(data, dict) else isinstance(data, list) and key in range(len(data))
        if not is_there:
            return False, None
        data = data[key]
    return True, data
