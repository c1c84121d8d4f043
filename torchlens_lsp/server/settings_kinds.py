"""What the value of a setting can be: each kind knows its name, what is wrong with a value, and what a right one means.

Values come from TOML or JSON, so they are texts, numbers, booleans, lists and tables (or a date, which no setting is).
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

MAX_SEED = 2**64 - 1
"""The largest that torch takes."""
_MEMORY = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT])i?B?", re.IGNORECASE)
_POWERS_OF_TWO = {"K": 10, "M": 20, "G": 30, "T": 40}
_TYPE_NAMES = {bool: "a boolean", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a table"}


class Kind(Protocol):
    """What a setting's value has to be."""

    @property
    def name(self) -> str:
        """For a table's column and for messages: `a positive number`."""

    def fault(self, value: Any) -> str | None:
        """What is wrong with `value`, to follow the setting's name; None where nothing is."""

    def convert(self, value: Any) -> Any:
        """What a value without fault means."""


class _Plain:
    """A kind whose values mean themselves."""

    name = "anything"

    def fault(self, value: Any) -> str | None:
        return None if self.accepts(value) else f"has to be {self.name}, not {describe(value)}"

    def accepts(self, value: Any) -> bool:
        raise NotImplementedError

    def convert(self, value: Any) -> Any:
        return value


class Text(_Plain):
    """Any text that is not empty, but for blanks."""

    name = "a text"

    def accepts(self, value: Any) -> bool:
        """Whether it is one."""
        return isinstance(value, str) and bool(value.strip())


class FileName(Text):
    """The name of a file. Whether it exists is looked up by whoever knows relative to what."""

    name = "the name of a file"


class Boolean(_Plain):
    """True or false."""

    name = "true or false"

    def accepts(self, value: Any) -> bool:
        """Whether it is one."""
        return isinstance(value, bool)


class Seconds(_Plain):
    """A finite time."""

    name = "a number of seconds above 0"

    def accepts(self, value: Any) -> bool:
        """Whether it is one."""
        return _is_number(value) and 0 < value < math.inf

    def convert(self, value: Any) -> float:
        """Seconds."""
        return float(value)


class Count(_Plain):
    """How many of something."""

    name = "a whole number above 0"

    def accepts(self, value: Any) -> bool:
        """Whether it is one."""
        return _is_whole(value) and value > 0


class Seed(_Plain):
    """A seed of random numbers."""

    name = "a whole number from 0"

    def accepts(self, value: Any) -> bool:
        """Whether torch takes it."""
        return _is_whole(value) and 0 <= value <= MAX_SEED


class Memory(_Plain):
    """An amount of memory, in units of 1024."""

    name = 'an amount of memory, such as "24 GB"'

    def accepts(self, value: Any) -> bool:
        """Whether it is one, and not nothing."""
        match = _MEMORY.fullmatch(value.strip()) if isinstance(value, str) else None
        return match is not None and float(match[1]) > 0

    def convert(self, value: Any) -> int:
        """Bytes."""
        match = _MEMORY.fullmatch(value.strip())
        assert match is not None
        return int(float(match[1]) * (1 << _POWERS_OF_TWO[match[2].upper()]))


class OneOf(_Plain):
    """One of several words."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self.name = " or ".join(f'"{word}"' for word in words)

    def accepts(self, value: Any) -> bool:
        """Whether it is one of them."""
        return isinstance(value, str) and value in self.words


class Texts(_Plain):
    """A list of texts."""

    name = "a list of texts"

    def accepts(self, value: Any) -> bool:
        """Whether it is one."""
        return isinstance(value, list) and all(isinstance(item, str) and item for item in value)

    def convert(self, value: Any) -> tuple[str, ...]:
        """The texts."""
        return tuple(value)


class TextsOf(Texts):
    """A list of some of several words."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self.name = "a list of " + ", ".join(f'"{word}"' for word in words)

    def fault(self, value: Any) -> str | None:
        """The first word that is none of them, or that it is no list."""
        if not super().accepts(value):
            return super().fault(value)
        unknown = [item for item in value if item not in self.words]
        return (
            f'has "{unknown[0]}" in it, and can be {self.name}{suggestion(unknown[0], self.words)}' if unknown else None
        )


class TextsByText(_Plain):
    """A table whose values are texts."""

    name = "a table of texts"

    def accepts(self, value: Any) -> bool:
        """Whether it is one."""
        return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())

    def convert(self, value: Any) -> dict[str, str]:
        """The texts by their keys."""
        return dict(value)


def describe(value: Any) -> str:
    """A value as a message names it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value}"
    if isinstance(value, str) and len(value) <= 40:
        return f'"{value}"' if value.strip() else "an empty text"
    return _TYPE_NAMES.get(type(value), f"a {type(value).__name__}")


def suggestion(word: str, known: Iterable[str]) -> str:
    """A question after the nearest of the known words, or nothing where none is near."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f': did you mean "{near[0]}"?' if near else ""


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or _is_whole(value)
