"""Recording what a value is: called for every evaluation of the user's code, so it is fast and does no harm.

It never raises, runs no code of a user's class, changes neither the random generator nor the gradient mode, and holds
nothing of the user's: tensors are in `tensors`, everything else in `containers`.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import torch

from ..document.model import NONE
from ..document.values import ValueTable
from . import quiet
from .budget import Budget
from .containers import ContainerRecorder
from .objects import IGNORED, TENSOR
from .tensors import METADATA, TensorRecorder

OPENING_SHARE = 0.05
"""Part of the elapsed time that opening containers may take before they are opened only a little."""
OPENING_ALLOWANCE = 0.02
"""Seconds that it may take at once."""

_Tensor = torch.Tensor
_enter, _leave = quiet.enter_quiet, quiet.leave_guard


class ValueRecorder:
    """Puts values into `table` and hands out their ids.

    `statistics`: whether `record` reads them at all. `share`: the part of the time since the last `begin_phase` that
    it may take for them. `sees_operations`: whether the tracer would, at this moment, be told of every operation that
    begins by `operation_begins`; without it, every look at a tensor made under `inference_mode` is a new state.
    """

    def __init__(
        self,
        table: ValueTable,
        *,
        statistics: bool = True,
        share: float | None = None,
        sees_operations: Callable[[], bool] | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.table = table
        self.budget = Budget(share, clock)
        self._tensors = TensorRecorder(table, self.budget, statistics, sees_operations)
        self._opening = Budget(OPENING_SHARE, clock, OPENING_ALLOWANCE)
        self._containers = ContainerRecorder(table, self._tensors, self._opening)
        self._states = self._tensors.states
        self._full_level = self._tensors.full_level
        self._busy = False

    def record(self, value: object, full: bool) -> int:
        """Value id of what `value` is now; NONE for code (functions, classes, modules, generators).

        `full` asks for statistics, which are read within the time budget. Without it a tensor has those that are
        already known of this very state.
        """
        if self._busy:
            return NONE  # a finalizer of the user's runs within this very method
        self._busy = True
        try:
            if type(value) is _Tensor:
                state = self._states.get(id(value))
                _enter()
                try:
                    if state is None or state[0]() is not value:
                        return self._tensors.look(value, False, full)
                    if (
                        state[4] >= (self._full_level if full else METADATA)
                        and state[1] == value._version
                        and state[2] == value.requires_grad
                    ):
                        return state[3]
                    return self._tensors.observe(value, full)
                finally:
                    _leave(None, None, None)
            row = self._containers.simple(value)
            if row is not None:
                return row
            known = self._containers.class_of(value)
            if known.kind == IGNORED:
                return NONE
            _enter()
            try:
                return self._containers.observe(value, known, full)
            except Exception:
                return self._containers.other(known.name, "")
            finally:
                _leave(None, None, None)
        except Exception:
            return NONE
        finally:
            self._busy = False

    def record_output(self, tensor: object, source: object = None) -> int:
        """Value id of an output of an operation that just ended: metadata, and how many elements are NaN or Inf.

        `source` is a plain tensor of which the output, if it shares its storage, shows nothing but elements.
        """
        if self._busy:
            return NONE
        self._busy = True
        try:
            if type(tensor) is _Tensor:
                state = self._states.get(id(tensor))
                _enter()
                try:
                    if state is None or state[0]() is not tensor:
                        return self._tensors.look(tensor, True, False, source)
                    return self._tensors.observe_output(tensor)
                finally:
                    _leave(None, None, None)
            known = self._containers.class_of(tensor)
            if known.kind != TENSOR:
                return NONE
            _enter()
            try:
                return self._tensors.observe_output(tensor, known.name)
            except Exception:
                return self._containers.other(known.name, "")
            finally:
                _leave(None, None, None)
        except Exception:
            return NONE
        finally:
            self._busy = False

    def operation_begins(self) -> None:
        """Say that an operation begins, which may change any tensor that has no version counter."""
        self._tensors.operations += 1

    def changed(self, tensor: object) -> None:
        """Say that a tensor may have changed without its version counter: it is a new state when next seen."""
        self._tensors.changed(tensor)

    def begin_phase(self) -> None:
        """Start the time budget anew: time that an earlier phase left over is not for the next."""
        self.budget.begin()
        self._opening.begin()

    def forget(self) -> None:
        """Drop everything that refers to objects of the user's."""
        self._tensors.forget()
        self._containers.forget()
