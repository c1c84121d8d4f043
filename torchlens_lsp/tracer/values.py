"""Recording what a value is: called for every evaluation of the user's code, so it is fast and does no harm.

A tensor is known by its identity and its version counter: the same tensor in the same state is one row of the table.
It is remembered by a weak reference (a Parameter by its storage, see `_parameter`), never held.

Not seen: changes that leave the version counter alone, which are those through `.data`, numpy, dlpack, and the running
statistics that `batch_norm` updates. Who knows of such a change calls `changed`.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any
from weakref import ref

import torch

from ..document.model import NONE
from ..document.values import CONTAINER, NOT_READ, OTHER, TENSOR, Container, Other, Stats, ValueTable
from . import quiet, statistics
from .budget import Budget
from .metadata import Meta, describe, interned
from .objects import (
    BARE,
    IGNORED,
    MAPPING,
    NAMED_TUPLE,
    OBJECT,
    PARAMETER,
    PLAIN,
    SEQUENCE,
    Class,
    classify,
)
from .objects import TENSOR as TENSOR_CLASS
from .plain import text_of_class

MAX_DEPTH = 4
"""How deep containers are opened."""
MAX_ITEMS = 64
"""Items of one container that are read."""
MAX_NUMBERS = 16
"""Items that are read of a sequence that begins with so many plain values."""
MAX_NODES = 512
"""Values that are looked at for one container with all that is in it."""
MAX_STATES = 100_000
"""Tensors that are remembered; the memory of all is dropped beyond it."""
MAX_FRUITLESS = 32
"""Objects of a class that are opened without finding a tensor, before the class's name alone is recorded."""

# What is known of a tensor's state, the last of what `_states` holds.
_METADATA, _WATCHED, _READ = 0, 1, 2

_Tensor = torch.Tensor
_enter, _leave = quiet.enter_quiet, quiet.leave_guard
_get_shape, _get_dtype, _get_device = quiet.get_shape, quiet.get_dtype, quiet.get_device
_get_layout, _get_requires_grad, _get_version = quiet.get_layout, quiet.get_requires_grad, quiet.get_version


class ValueRecorder:
    """Puts values into `table` and hands out their ids."""

    def __init__(
        self,
        table: ValueTable,
        *,
        statistics: bool = True,
        share: float | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.table = table
        self.budget = Budget(share, clock)
        self._statistics = statistics
        self._busy = False
        self._states: dict[int, tuple[ref[Any], int, bool, int, int, Meta]] = {}
        self._metas: dict[tuple[Any, ...], Meta] = {}
        self._described: dict[Any, Meta] = {}
        self._meta_rows: dict[int, int] = {}
        self._classes: dict[int, Class] = {}
        self._fruitless: dict[int, int] = {}
        self._others: dict[tuple[str, str], int] = {}
        self._integers: dict[int, int] = {}
        self._containers: dict[Container, int] = {}
        self._nodes = 0
        self._tensors = 0
        self._path: list[int] = []
        self._all_finite = table.statistics.append(statistics_all_finite())

    # --- what the tracer calls ----------------------------------------------------------------------------------------

    def record(self, value: object, full: bool) -> int:
        """Value id of what `value` is now, or NONE for code (functions, classes, modules) and what is not recorded.

        `full` asks for statistics, which are read within the time budget; without it a tensor has those that are
        already known of this very state.
        """
        if self._busy:
            return NONE
        self._busy = True
        try:
            if type(value) is _Tensor:
                return self._tensor(value, full)
            return self._any(value, full)
        except Exception:
            return NONE
        finally:
            self._busy = False

    def record_output(self, tensor: object) -> int:
        """Value id of an output of a torch operation that just ended: metadata, and whether it has NaN or Inf."""
        if self._busy:
            return NONE
        self._busy = True
        try:
            return self._tensor(tensor, False, watch=True)
        except Exception:
            return NONE
        finally:
            self._busy = False

    def changed(self, tensor: object) -> None:
        """Say that a tensor may have changed without its version counter: it is a new state when next seen."""
        self._states.pop(id(tensor), None)

    def forget(self) -> None:
        """Drop everything that refers to objects of the user's."""
        self._states.clear()
        self._classes.clear()
        self._fruitless.clear()

    # --- tensors ------------------------------------------------------------------------------------------------------

    def _tensor(self, tensor: Any, full: bool, watch: bool = False) -> int:
        state = self._states.get(id(tensor))
        _enter()
        try:
            try:
                version = _get_version(tensor)
            except RuntimeError:
                version = NONE
            if state is not None and state[0]() is tensor and state[1] == version != NONE:
                if state[2] == _get_requires_grad(tensor):
                    level = state[4]
                    if level == _READ or (level == _WATCHED and not full):
                        return state[3]
                    if not full and not watch:
                        return state[3]
                else:
                    state = None
            else:
                state = None
            if state is not None:
                meta = state[5]
            elif type(tensor) is _Tensor:
                key = (
                    _get_shape(tensor), _get_dtype(tensor), _get_device(tensor), _get_layout(tensor),
                    _get_requires_grad(tensor),
                )  # fmt: skip
                found = self._metas.get(key)
                meta = found if found is not None else self._new_meta(tensor, key)
            else:
                meta = self._new_meta(tensor, None)
            if watch and not full:
                return self._watch(tensor, meta, version)
            if full and self._statistics and self._may_read(tensor, meta):
                return self._read(tensor, meta, version, state)
            if state is not None:
                return state[3]
            row = self._meta_rows.get(meta.index)
            if row is None:
                row = self._meta_rows[meta.index] = self.table.append(TENSOR, meta.index)
            self._remember(tensor, version, row, _METADATA, meta)
            return row
        finally:
            _leave(None, None, None)

    def _new_meta(self, tensor: Any, key: tuple[Any, ...] | None) -> Meta:
        described = describe(tensor, self._class(type(tensor)).name)
        meta = self._described.get(described)
        if meta is None:
            meta = interned(tensor, described, len(self.table.metas), _is_plain(type(tensor)))
            self.table.metas.append(described)
            self._described[described] = meta
        if key is not None:
            self._metas[key] = meta
        return meta

    def _remember(self, tensor: Any, version: int, row: int, level: int, meta: Meta) -> None:
        states = self._states
        if type(tensor) is torch.nn.Parameter or version == NONE:
            return
        if len(states) > MAX_STATES:
            states.clear()
        states[id(tensor)] = (ref(tensor), version, _get_requires_grad(tensor), row, level, meta)

    def _watch(self, tensor: Any, meta: Meta, version: int) -> int:
        stats = self._all_finite
        if meta.kind == statistics.OPAQUE:
            stats = NOT_READ
        elif meta.watched:
            counts = None
            if quiet.operations_unheard() and self._in_memory(tensor):
                counts = self._without_grad(statistics.watch, tensor, meta)
            if counts is None:
                stats = NOT_READ
            elif counts != (0, 0):
                stats = self.table.statistics.append(Stats(nan=counts[0], inf=counts[1]))
        row = self.table.append(TENSOR, meta.index, stats)
        self._remember(tensor, version, row, _WATCHED, meta)
        return row

    def _without_grad(self, function: Callable[[Any, int, int], Any], tensor: Any, meta: Meta) -> Any:
        had_grad = quiet.is_grad_enabled()
        if had_grad:
            quiet.set_grad(False)
        try:
            return function(tensor, meta.kind, meta.count)
        except Exception:
            return None
        finally:
            if had_grad:
                quiet.set_grad(True)

    def _in_memory(self, tensor: Any) -> bool:
        return quiet.transform() is None or not quiet.is_wrapped(tensor)

    def _may_read(self, tensor: Any, meta: Meta) -> bool:
        return (
            meta.kind != statistics.OPAQUE
            and quiet.operations_unheard()
            and self._in_memory(tensor)
            and self.budget.allows(meta.count)
        )

    def _read(self, tensor: Any, meta: Meta, version: int, state: Any) -> int:
        started = self.budget.clock()
        stats = self._without_grad(statistics.read, tensor, meta)
        self.budget.spend(started, meta.count)
        table = self.table
        number = NOT_READ if stats is None or stats == statistics.NOTHING_READ else table.statistics.append(stats)
        if state is not None and state[4] == _WATCHED:
            row = state[3]
            if number != NOT_READ:
                table.stats[row] = number
        else:
            row = table.append(TENSOR, meta.index, number)
        self._remember(tensor, version, row, _READ, meta)
        return row

    # --- everything else ----------------------------------------------------------------------------------------------

    def _class(self, cls: type) -> Class:
        known = self._classes.get(id(cls))
        if known is None:
            if len(self._classes) > MAX_STATES:
                self._classes.clear()
            known = self._classes[id(cls)] = classify(cls, MAX_ITEMS, text_of_class)
        return known

    def _any(self, value: Any, full: bool) -> int:
        known = self._class(type(value))
        if known.kind == IGNORED:
            return NONE
        self._nodes = 0
        del self._path[:]
        return self._item(value, known, full, 0)

    def _item(self, value: Any, known: Class, full: bool, depth: int) -> int:
        self._nodes += 1
        kind = known.kind
        if kind == PLAIN:
            return self._other(known.name, known.read(value))
        if kind in (TENSOR_CLASS, PARAMETER):
            self._tensors += 1
            return self._tensor(value, full)
        if kind in (IGNORED, BARE) or depth >= MAX_DEPTH or self._nodes > MAX_NODES or id(value) in self._path:
            return self._other(known.name, "")
        if kind == OBJECT and self._fruitless.get(id(known.cls), 0) >= MAX_FRUITLESS:
            return self._other(known.name, "")
        self._path.append(id(value))
        try:
            return self._open(value, known, full, depth)
        finally:
            self._path.pop()

    def _open(self, value: Any, known: Class, full: bool, depth: int) -> int:
        items = known.read(value)
        keys: tuple[str, ...] | None = None
        tensors = self._tensors
        if known.kind in (MAPPING, OBJECT):
            keys = tuple(_key(key) for key, _ in items)
            items = [item for _, item in items]
        elif known.kind == NAMED_TUPLE:
            keys = known.keys[: len(items)]
        length = known.length(value) or len(items)
        ids = []
        plain = 0
        for item in items[:MAX_ITEMS]:
            known_item = self._class(type(item))
            ids.append(self._item(item, known_item, full, depth + 1))
            plain += known_item.kind == PLAIN
            if plain == len(ids) == MAX_NUMBERS and keys is None:
                break
        if keys is not None and len(keys) != len(ids):
            keys = (*keys, *map(str, range(len(keys), len(ids))))[: len(ids)]
        if known.kind == OBJECT:
            if not ids:
                return self._other(known.name, "")
            if self._tensors == tensors:
                self._fruitless[id(known.cls)] = self._fruitless.get(id(known.cls), 0) + 1
        container = Container(known.container, known.name, keys, tuple(ids), length)
        row = self._containers.get(container)
        if row is None:
            self.table.containers.append(container)
            row = self._containers[container] = self.table.append(CONTAINER, len(self.table.containers) - 1)
        return row

    def _other(self, name: str, text: str) -> int:
        key = (name, text)
        row = self._others.get(key)
        if row is None:
            self.table.others.append(Other(name, text))
            row = self._others[key] = self.table.append(OTHER, len(self.table.others) - 1)
        return row


def _key(key: Any) -> str:
    if type(key) is str:
        return key[:80]
    text = text_of_class(type(key))
    return "…" if text is None else text(key)


def _is_plain(cls: type) -> bool:
    """Whether operations on tensors of this class run no code of a user's, once torch functions are disabled."""
    for ancestor in type.__dict__["__mro__"].__get__(cls):
        if ancestor is _Tensor:
            return True
        if "__torch_dispatch__" in type.__dict__["__dict__"].__get__(ancestor):
            return False
    return False


def statistics_all_finite() -> Stats:
    return statistics.ALL_FINITE
