"""Rows of containers and plain values: opened to a depth, cut to a length, and equal ones stored once.

What an item is decides how it is read: see `objects` and `plain`, which run no code of the user's.
`observe` is called with function modes off (`quiet.enter_quiet`).
"""

from __future__ import annotations

from typing import Any

import torch

from ..document.values import CONTAINER, OTHER, Container, Other, ValueTable
from .budget import REFUSED, Budget
from .objects import BARE, IGNORED, NAMED_TUPLE, OBJECT, PLAIN, SEQUENCE, TENSOR, Class, classify
from .plain import LONGEST_TEXT, class_name, derives_from, text_of_class
from .tensors import TensorRecorder

MAX_DEPTH = 4
"""How many containers deep items are read."""
MAX_ITEMS = 64
"""Items of one container that are read."""
MAX_NUMBERS = 16
"""Items that are read of a sequence that begins with so many plain values: numbers, most likely."""
MAX_VALUES = 512
"""Values that are read for one container with all that is in it."""
FEW_VALUES = 16
"""The same when the time for opening containers is used up."""
MAX_FULL = 8
"""Tensors in one container whose statistics are read."""
MAX_FRUITLESS = 32
"""Objects of a class that are opened without finding a tensor, before only the class's name is recorded."""
MAX_CLASSES = 10_000
"""Classes that are remembered."""
LARGEST_KEPT = 1 << 63
"""Integers below it are remembered with their rows."""

_Tensor, _Size = torch.Tensor, torch.Size


class ContainerRecorder:
    """Puts containers and plain values into a value table, and the tensors in them by `tensors`.

    `budget` is the time that opening containers may take; beyond it they are opened a little.
    """

    def __init__(self, table: ValueTable, tensors: TensorRecorder, budget: Budget) -> None:
        self._table = table
        self._tensors = tensors
        self._budget = budget
        self._states = tensors.states
        self._classes: dict[int, Class] = {}
        self._fruitless: dict[int, int] = {}
        self._others: dict[tuple[str, str], int] = {}
        self._containers: dict[tuple[Any, ...], int] = {}
        self._integers: dict[int, int] = {}
        self._strings: dict[str, int] = {}
        self._floats: dict[float, int] = {}
        self._sizes: dict[torch.Size, int] = {}
        self._constants: dict[object, int] = {}
        self._path: list[int] = []
        """Ids of the containers that are open."""
        self._values_left = self._full_left = 0
        self._found = 0
        """Tensors met in the container that is being read."""

    def class_of(self, value: object) -> Class:
        """What is known of a value's class."""
        cls = type(value)
        known = self._classes.get(id(cls))
        if known is None:
            if len(self._classes) >= MAX_CLASSES:
                self._classes.clear()
            known = self._classes[id(cls)] = classify(cls, MAX_ITEMS)
        return known

    def simple(self, value: Any) -> int | None:
        """Row of a plain value of one of the commonest classes; None for others. Function modes need not be off."""
        cls = type(value)
        if cls is int:
            row = self._integers.get(value)
            if row is None and -LARGEST_KEPT < value < LARGEST_KEPT:
                row = self._integers[value] = self.other("int", int.__repr__(value))
        elif cls is str:
            row = self._strings.get(value)
            if row is None and len(value) <= LONGEST_TEXT:
                row = self._strings[value] = self.other("str", str.__repr__(value))
        elif cls is float:
            row = self._floats.get(value)
            if row is None and value == value and value != 0.0:  # not NaN, and not one of two equal zeros
                row = self._floats[value] = self.other("float", float.__repr__(value))
        elif cls is _Size:
            try:
                row = self._sizes.get(value)
            except TypeError:
                return None  # symbolic sizes have no hash
        elif value is None or value is True or value is False:
            row = self._constants.get(value)
            if row is None:
                row = self._constants[value] = self.other(cls.__name__, repr(value))
        else:
            return None
        return row

    def other(self, name: str, text: str) -> int:
        """Row of a value that is shown as `text`, the same for equal ones."""
        key = (name, text)
        row = self._others.get(key)
        if row is None:
            self._table.others.append(Other(name, text))
            row = self._others[key] = self._table.append(OTHER, len(self._table.others) - 1)
        return row

    def observe(self, value: Any, known: Class, full: bool) -> int:
        """Row of a value of any class."""
        if known.kind == PLAIN:
            return self.other(known.name, known.read(value))
        if known.kind == TENSOR:
            return self._tensors.observe(value, full, known.name)
        self._path.clear()
        self._full_left, self._found = MAX_FULL, 0
        started = self._budget.start(0)
        self._values_left = FEW_VALUES if started == REFUSED else MAX_VALUES
        try:
            row = self._observe(value, known, full)
        finally:
            if started != REFUSED:
                self._budget.end(started)
        if type(value) is _Size and all(type(size) is int for size in value):
            self._sizes[value] = row
        return row

    def forget(self) -> None:
        """Drop every reference to classes of the user's."""
        self._classes.clear()
        self._fruitless.clear()

    def _observe(self, value: Any, known: Class, full: bool) -> int:
        kind, path = known.kind, self._path
        if kind == PLAIN:
            return self.other(known.name, known.read(value))
        if kind == TENSOR:
            self._found += 1
            self._full_left -= full
            return self._tensors.observe(value, full and self._full_left >= 0, known.name)
        if kind in (IGNORED, BARE) or len(path) >= MAX_DEPTH or self._values_left <= 0 or id(value) in path:
            return self.other(known.name, "")
        if kind == OBJECT and self._fruitless.get(id(known.cls), 0) >= MAX_FRUITLESS:
            return self.other(known.name, "")
        path.append(id(value))
        try:
            return self._open(value, known, full)
        finally:
            path.pop()

    def _open(self, value: Any, known: Class, full: bool) -> int:
        found = self._found
        items = known.read(value)
        keys: tuple[str, ...] | None = None
        if known.kind == SEQUENCE:
            rows = self._rows(items, full, MAX_NUMBERS)
        elif known.kind == NAMED_TUPLE:
            rows = self._rows(items, full)
            unnamed = map(str, range(len(known.keys), len(rows)))
            keys = (*known.keys, *unnamed)[: len(rows)]
        else:
            rows = self._rows([item for _, item in items], full)
            keys = tuple([_text_of_key(key) for key, _ in items[: len(rows)]])
        if known.kind == OBJECT:
            if not rows:
                return self.other(known.name, "")
            if self._found == found:
                self._fruitless[id(known.cls)] = self._fruitless.get(id(known.cls), 0) + 1
        key = known.container, known.name, keys, tuple(rows), max(known.length(value), len(rows))
        row = self._containers.get(key)
        if row is None:
            self._table.containers.append(Container(*key))
            row = self._containers[key] = self._table.append(CONTAINER, len(self._table.containers) - 1)
        return row

    def _rows(self, items: Any, full: bool, most_numbers: int = MAX_ITEMS) -> list[int]:
        """Rows of the items, up to `most_numbers` while there are only plain ones."""
        rows: list[int] = []
        simple, states = self.simple, self._states
        numbers = 0
        for item in items:
            row: int | None = None
            if type(item) is _Tensor and not full:
                state = states.get(id(item))
                if (
                    state is not None
                    and state[0]() is item
                    and state[1] == item._version
                    and state[2] == item.requires_grad
                ):  # as `ValueRecorder.record` does
                    self._found += 1
                    row = state[3]
            try:
                if row is None:
                    row = simple(item)
                    if row is None:
                        row = self._observe(item, self.class_of(item), full)
                    else:
                        numbers += 1
            except Exception:
                row = self.other(class_name(type(item)), "")
            rows.append(row)
            self._values_left -= 1
            if self._values_left <= 0 or numbers == len(rows) == most_numbers:
                break
        return rows


def _text_of_key(key: Any) -> str:
    if type(key) is str and len(key) <= LONGEST_TEXT:
        return key
    if derives_from(type(key), str):
        return str.__getitem__(key, slice(0, LONGEST_TEXT)) + ("…" if str.__len__(key) > LONGEST_TEXT else "")
    text = text_of_class(type(key))
    return class_name(type(key)) if text is None else text(key)
