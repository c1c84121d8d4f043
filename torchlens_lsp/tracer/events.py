"""The hot path: what instrumented code calls, and the rows it leaves.

`Events.hooks()` makes the functions that stand under the names of `hooks`. They share their state through closures,
because each runs once or more for every expression of the user's code. None of them may raise, print, touch a value
beyond what `ValueRecorder` allows, or leave a name in a frame of the user's.

The call that is running is `current`; calls nest like a stack, and a suspended generator or coroutine takes itself
off it. Exceptions may leave a lambda or a generator without its end, so that every function restores the depth it
began with when it ends, and handlers do so when they begin (`SYNC`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from threading import get_ident
from types import CodeType
from typing import Any

from ..document.model import IMPORT, NONE
from . import hooks as names
from .delegation import Delegate
from .options import ALWAYS_KEPT, Options

FULL_EVALUATIONS = 2
"""Evaluations of a site in each call whose statistics are read."""

_getframe = sys._getframe


class Activation:
    """A call of a watched function that has not ended."""

    __slots__ = ("active", "call", "depth", "handled")

    def __init__(self, call: int, depth: int, handled: BaseException | None) -> None:
        self.call = call
        self.depth = depth
        """Length of the stack while it runs."""
        self.active = True
        """False while it is suspended."""
        self.handled = handled
        """The exception that was being handled when it began."""


class Events:
    """Rows of evaluations, outcomes, loops and calls, by the code that ran in the thread that made this object."""

    def __init__(
        self,
        options: Options,
        record: Callable[[object, bool], int],
        module_stack: Sequence[tuple[int, int]],
        saw_module: Callable[[object, int], bool],
        fault: Callable[[], None],
    ) -> None:
        self.phase = IMPORT
        self.rows: list[tuple[int, int, int]] = []
        """(site, value id, call)."""
        self.branch_rows: list[tuple[int, bool, int, int]] = []
        """(site, outcome, call, evaluations so far)."""
        self.loop_rows: list[list[int]] = []
        """[site, iterations, call, evaluations so far]."""
        self.call_rows: list[tuple[int, int, int, int, int, tuple[CodeType, int] | None]] = []
        """(function, module, pass, phase, parent, calling instruction)."""
        self.raised: set[int] = set()
        """Calls that ended by an exception."""
        self.activations: dict[int, Activation] = {}
        """By id of the frame."""
        self.unwound: dict[int, int] = {}
        """By id of the frame: the calls that exceptions ended. True for the frames of a traceback that is held."""
        self.counts: list[int] = []
        self.parameter_sites: list[tuple[int, ...]] = []
        """By function, over all files."""
        self.loops: dict[tuple[int, int], list[int]] = {}
        """The loop that runs at a site in a call."""
        self.dropped_calls = 0
        self._seen_call: list[int] = []
        self._seen: list[int] = []
        self._options = options
        self._record = record
        self._module_stack = module_stack
        self._saw_module = saw_module
        self._fault = fault
        self.current: Callable[[], int] = lambda: NONE
        """The call that is running."""

    def add_sites(self, number: int) -> None:
        """Make room for the sites of one more file."""
        self.counts.extend([0] * number)
        self._seen_call.extend([-2] * number)
        self._seen.extend([0] * number)

    def hooks(self) -> dict[str, Callable[..., Any]]:
        """The functions for `hooks.install`, for code that runs in this thread."""
        owner, record, fault = get_ident(), self._record, self._fault
        rows, branch_rows, loop_rows, call_rows = self.rows, self.branch_rows, self.loop_rows, self.call_rows
        counts, seen_call, seen = self.counts, self._seen_call, self._seen
        activations, loops, parameter_sites = self.activations, self.loops, self.parameter_sites
        module_stack, saw_module, raised = self._module_stack, self._saw_module, self.raised
        unwound = self.unwound
        add_row, add_branch = rows.append, branch_rows.append
        budget, call_budget = self._options.evaluation_budget, self._options.call_budget
        # A user may replace builtins.
        length, identity, pairs, numbers = len, id, zip, range
        stack: list[int] = []
        current = NONE

        def value(site: int, value: Any) -> Any:
            if get_ident() != owner:
                return value
            counts[site] = count = counts[site] + 1
            if count > ALWAYS_KEPT and length(rows) >= budget:
                return value
            if seen_call[site] != current:
                seen_call[site] = current
                seen[site] = 1
                full = True
            elif seen[site] < FULL_EVALUATIONS:
                seen[site] += 1
                full = True
            else:
                full = False
            try:
                value_id = record(value, full)
                if value_id == NONE:
                    saw_module(value, site)
            except Exception:
                fault()
                value_id = NONE
            add_row((site, value_id, current))
            return value

        def outcome(site: int, truth: bool) -> bool:
            if get_ident() == owner:
                counts[site] = count = counts[site] + 1
                if count <= ALWAYS_KEPT or length(branch_rows) < budget:
                    add_branch((site, truth, current, length(rows)))
            return truth

        def case(first: int, taken: int, number: int) -> None:
            for position in numbers(taken + 1 if taken < number else number):
                outcome(first + position, position == taken)

        def enter(function: int, *arguments: Any) -> None:
            if get_ident() == owner:
                try:
                    begin(function, _getframe(1), arguments)
                except Exception:  # at the recursion limit, that of ours comes before the user's own
                    fault()

        def begin(function: int, frame: Any, arguments: tuple[Any, ...]) -> None:
            nonlocal current
            made_by = None
            if current != NONE:
                caller = frame.f_back
                while caller is not None:
                    if identity(caller) in activations:
                        made_by = caller.f_code, caller.f_lasti
                        break
                    caller = caller.f_back
            stack.append(current)
            activations[identity(frame)] = activation = Activation(NONE, length(stack), sys.exc_info()[1])
            if length(call_rows) < call_budget:
                module, module_pass = module_stack[-1]
                call_rows.append((function, module, module_pass, self.phase, current, made_by))
                activation.call = length(call_rows) - 1
            else:
                self.dropped_calls += 1
            current = activation.call
            for site, argument in pairs(parameter_sites[function], arguments):
                value(site, argument)

        def leave() -> None:
            if get_ident() == owner:
                end(identity(_getframe(1)))

        def end(frame: int) -> None:
            nonlocal current
            activation = activations.pop(frame, None)
            if activation is None:
                return
            handled = sys.exc_info()[1]
            if handled is not None and handled is not activation.handled and type(handled) is not GeneratorExit:
                raised.add(activation.call)
                unwound[frame] = activation.call
            activation.handled = None
            if activation.active and length(stack) >= activation.depth:
                del stack[activation.depth :]
                current = stack.pop()

        def suspend(value: Any) -> Any:
            if get_ident() == owner:
                pause(activations.get(identity(_getframe(1))))
            return value

        def pause(activation: Activation | None) -> None:
            nonlocal current
            if activation is None or not activation.active:
                return
            activation.active = False
            if length(stack) >= activation.depth:
                del stack[activation.depth :]
                current = stack.pop()

        def resume(value: Any) -> Any:
            if get_ident() == owner:
                go_on(activations.get(identity(_getframe(1))))
            return value

        def go_on(activation: Activation | None) -> None:
            nonlocal current
            if activation is None:
                return
            if activation.active and length(stack) >= activation.depth:
                del stack[activation.depth :]
            else:
                stack.append(current)
                activation.depth = length(stack)
                activation.active = True
            current = activation.call

        def sync() -> None:
            if get_ident() == owner:
                go_on(activations.get(identity(_getframe(1))))

        def yield_from(inner: Any) -> Any:
            activation = activations.get(identity(_getframe(1))) if get_ident() == owner else None
            return inner if activation is None else Delegate.for_yield_from(inner, activation, pause, go_on)

        def await_(inner: Any) -> Any:
            activation = activations.get(identity(_getframe(1))) if get_ident() == owner else None
            return inner if activation is None else Delegate.for_await(inner, activation, pause, go_on)

        def leave_lambda(token: None, value: Any) -> Any:
            if get_ident() == owner:
                end(identity(_getframe(1)))
            return value

        def loop(site: int) -> None:
            if get_ident() != owner:
                return
            counts[site] = count = counts[site] + 1
            row = [site, 0, current, length(rows)]
            if count <= ALWAYS_KEPT or length(loop_rows) < budget:
                loop_rows.append(row)
            loops[site, current] = row

        def iteration(site: int) -> None:
            if get_ident() == owner:
                row = loops.get((site, current))
                if row is not None:
                    row[1] += 1

        self.current = lambda: current
        return {
            names.VALUE: value,
            names.OUTCOME: outcome,
            names.CASE: case,
            names.ENTER: enter,
            names.EXIT: leave,
            names.EXIT_LAMBDA: leave_lambda,
            names.SYNC: sync,
            names.SUSPEND: suspend,
            names.RESUME: resume,
            names.YIELD_FROM: yield_from,
            names.AWAIT: await_,
            names.LOOP: loop,
            names.ITERATION: iteration,
        }
