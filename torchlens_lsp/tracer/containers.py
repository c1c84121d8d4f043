"""Rows of containers and plain values: opened to a depth, cut to a length, and equal ones stored once.

What an item is decides how it is read: see `objects` and `plain`, which run no code of the user's.
All methods but `forget` are called with function modes off (`quiet.enter_quiet`).
"""

from __future__ import annotations

from typing import Any

import torch

from ..document.values import CONTAINER, OTHER, Container, Other, ValueTable
from . import objects
from .objects import BARE, IGNORED, MAPPING, NAMED_TUPLE, OBJECT, PLAIN, SEQUENCE, Class
from .plain import text_of_class
from .tensors import TensorRecorder

MAX_DEPTH = 4
"""How many containers deep items are read."""
MAX_ITEMS = 64
"""Items of one container that are read."""
MAX_NUMBERS = 16
"""Items that are read of a sequence that begins with so many plain values: numbers, most likely."""
MAX_VALUES = 512
"""Values that are looked at for one container with all that is in it."""
MAX_FULL = 8
"""Tensors in one container whose statistics are read."""
MAX_FRUITLESS = 32
"""Objects of a class that are opened without finding a tensor, before only the class's name is recorded."""
MAX_CLASSES = 10_000
"""Classes that are remembered."""
LONGEST_KEPT = 80
"""Characters of a string that is remembered with its row."""
LARGEST_KEPT = 1 << 63

_Tensor = torch.Tensor
_MISSING = object()


class ContainerRecorder:
    """Puts containers and plain values into a value table, and the tensors in them by `tensors`."""

    def __init__(self, table: ValueTable, tensors: TensorRecorder) -> None:
        self._table = table
        self._tensors = tensors
        self._classes: dict[int, Class] = {}
        self._fruitless: dict[int, int] = {}
        self._others: dict[tuple[str, str], int] = {}
        self._containers: dict[tuple[Any, ...], int] = {}
        self._integers: dict[int, int] = {}
        self._strings: dict[str, int] = {}
        self._floats: dict[float, int] = {}
        self._none = self._true = self._false = -1
        self._values_left = self._full_left = self._found = 0
        self._path: list[int] = []

    def class_of(self, value: object) -> Class:
        """What is known of a value's class."""
        cls = type(value)
        known = self._classes.get(id(cls))
        if known is None:
            if len(self._classes) >= MAX_CLASSES:
                self._classes.clear()
            known = self._classes[id(cls)] = objects.classify(cls, MAX_ITEMS, text_of_class)
        return known

    def simple(self, value: Any) -> int | None:
        """Row of a plain value of one of the commonest classes, None for others. Needs no function mode off."""
        cls = type(value)
        if cls is int:
            row = self._integers.get(value)
            if row is None and -LARGEST_KEPT <= value < LARGEST_KEPT:
                row = self._integers[value] = self.other("int", int.__repr__(value))
            return row
        if cls is str:
            row = self._strings.get(value)
            if row is None and len(value) <= LONGEST_KEPT:
                row = self._strings[value] = self.other("str", str.__repr__(value))
            return row
        if cls is float:
            row = self._floats.get(value)
            if row is None and value == value and value != 0.0:  # 0.0 and -0.0 are equal, NaN is not
                row = self._floats[value] = self.other("float", float.__repr__(value))
            return row
        if value is None:
            if self._none < 0:
                self._none = self.other("NoneType", "None")
            return self._none
        if value is True:
            if self._true < 0:
                self._true = self.other("bool", "True")
            return self._true
        if value is False:
            if self._false < 0:
                self._false = self.other("bool", "False")
            return self._false
        return None

    def other(self, name: str, text: str) -> int:
        """Row of a value that is shown as `text`, the same for equal ones."""
        key = (name, text)
        row = self._others.get(key)
        if row is None:
            self._table.others.append(Other(name, text))
            row = self._others[key] = self._table.append(OTHER, len(self._table.others) - 1)
        return row

    def observe(self, value: Any, known: Class, full: bool) -> int:
        """Row of a value of any class that is not IGNORED."""
        self._values_left, self._full_left, self._found = MAX_VALUES, MAX_FULL, 0
        del self._path[:]
        return self._observe(value, known, full)

    def forget(self) -> None:
        """Drop every reference to classes of the user's."""
        self._classes.clear()
        self._fruitless.clear()
        del self._path[:]

    def _observe(self, value: Any, known: Class, full: bool) -> int:
        kind = known.kind
        if kind == PLAIN:
            return self.other(known.name, known.read(value))
        if kind in objects.TENSORS:
            return self._tensor(value, known, full)
        path = self._path
        if kind in (IGNORED, BARE) or len(path) >= MAX_DEPTH or self._values_left <= 0 or id(value) in path:
            return self.other(known.name, "")
        if kind == OBJECT and self._fruitless.get(id(known.cls), 0) >= MAX_FRUITLESS:
            return self.other(known.name, "")
        path.append(id(value))
        try:
            return self._open(value, known, full)
        finally:
            path.pop()

    def _tensor(self, tensor: Any, known: Class, full: bool) -> int:
        self._found += 1
        tensors = self._tensors
        if full and tensors.full_level:
            self._full_left -= 1
            full = self._full_left >= 0
        try:
            return tensors.observe(tensor, full, known.name)
        except Exception:
            return self.other(known.name, "")

    def _open(self, value: Any, known: Class, full: bool) -> int:
        found = self._found
        items = known.read(value)
        keys: tuple[str, ...] | None = None
        if known.kind == SEQUENCE:
            rows = self._sequence(items, full)
        elif known.kind == NAMED_TUPLE:
            rows = [self._item(item, full) for item in items]
            keys = (*known.keys, *map(str, range(len(known.keys), len(rows))))[: len(rows)]
        else:
            rows = [self._item(item, full) for _, item in items]
            keys = tuple([_key(key) for key, _ in items])
        if known.kind == OBJECT:
            if not rows:
                return self.other(known.name, "")
            if self._found == found:
                self._fruitless[id(known.cls)] = self._fruitless.get(id(known.cls), 0) + 1
        length = max(known.length(value), len(rows))
        key = (known.container, known.name, keys, tuple(rows), length)
        row = self._containers.get(key)
        if row is None:
            self._table.containers.append(Container(*key))
            row = self._containers[key] = self._table.append(CONTAINER, len(self._table.containers) - 1)
        return row

    def _sequence(self, items: list[Any], full: bool) -> list[int]:
        simple, rows = self.simple, []
        only_simple = True
        for item in items:
            row = simple(item)
            if row is None:
                only_simple = False
                row = self._item(item, full)
            rows.append(row)
            if only_simple and len(rows) == MAX_NUMBERS:
                break
        return rows

    def _item(self, item: Any, full: bool) -> int:
        self._values_left -= 1
        try:
            row = self.simple(item)
            return row if row is not None else self._observe(item, self.class_of(item), full)
        except Exception:
            return self.other("?", "")


def _key(key: Any) -> str:
    if type(key) is str:
        return key if len(key) <= LONGEST_KEPT else key[:LONGEST_KEPT] + "…"
    text = text_of_class(type(key))
    return type.__dict__["__name__"].__get__(type(key)) if text is None else text(key)
