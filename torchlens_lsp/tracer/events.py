"""The hot path: what instrumented code calls, and the rows it leaves.

`Events.hooks()` makes the functions that stand under the names of `hooks`. They share their state through closures,
because each runs once or more for every expression of the user's code. None of them may raise, print, touch a value
beyond what `ValueRecorder` allows, or leave a name in a frame of the user's.

Whose event it is, its frame says: a call is known by the id of its frame from its beginning to its end, so that
generators, coroutines and exceptions may come and go as they like. Two kinds of frame have no beginning of their own:
generator expressions are entered where they are made, and before 3.12 a comprehension's frame counts as the one that
it stands in, so many frames up as the name of the hook says.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Sequence
from threading import get_ident
from types import CodeType, FrameType, GeneratorType
from typing import Any

from ..document.model import IMPORT, NONE
from . import hooks as names
from .options import ALWAYS_KEPT, Options

FULL_EVALUATIONS = 2
"""Evaluations of a site in each call whose statistics are read."""

Instruction = tuple[CodeType, int]
"""Code, and the offset in it as `f_lasti` has it. What it stands for in the source is found out after the run."""

_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
_getframe = sys._getframe
_exception = sys.exc_info


class Events:
    """Rows of evaluations, outcomes, loops and calls, by the code that ran in the thread that made this object."""

    def __init__(
        self,
        options: Options,
        record: Callable[[object, bool], int],
        module_stack: Sequence[tuple[int, int]],
        watched: Container[str],
        saw_module: Callable[[object, int], bool],
        fault: Callable[[], None],
    ) -> None:
        """`watched`: the names that the code of watched files carries."""
        self.phase = IMPORT
        self.rows: list[tuple[int, int, int]] = []
        """(site, value id, call)."""
        self.branch_rows: list[tuple[int, bool, int, int]] = []
        """(site, outcome, call, evaluations so far)."""
        self.loop_rows: list[list[int]] = []
        """[site, iterations, call, evaluations so far]."""
        self.call_rows: list[tuple[int, int, int, int, int, Instruction | None]] = []
        """(function, module, pass, phase, parent, calling instruction)."""
        self.raised: set[int] = set()
        """Calls that ended by an exception."""
        self.calls: dict[int, int] = {}
        """The calls that have not ended, by id of their frame. An exception leaves a lambda or a module without its
        end: it stays until another call has its frame."""
        self.unwound: dict[int, int] = {}
        """By id of the frame: the calls that exceptions ended. True for the frames of a traceback that is held."""
        self.counts: list[int] = []
        self.loops: dict[tuple[int, int], list[int]] = {}
        """The loop that runs at a site in a call."""
        self.dropped_calls = 0
        self._generators: dict[int, int] = {}
        """By id of a generator expression's frame: the call that made it."""
        self._seen_call: list[int] = []
        self._seen: list[int] = []
        self._options = options
        self._record = record
        self._module_stack = module_stack
        self._watched = watched
        self._saw_module = saw_module
        self._fault = fault

    def add_sites(self, number: int) -> None:
        """Make room for the sites of one more file."""
        self.counts.extend([0] * number)
        self._seen_call.extend([-2] * number)
        self._seen.extend([0] * number)

    def call_in(self, frame: int) -> int:
        """The call that runs, or that an exception ended, in the frame with that id; NONE where none is known."""
        for known in (self.calls, self.unwound, self._generators):
            if frame in known:
                return known[frame]
        return NONE

    def origin(self, frame: FrameType | None) -> tuple[Instruction | None, int]:
        """The nearest instruction of watched code in `frame` and its callers, and the call that it belongs to."""
        nearest: Instruction | None = None
        watched, calls, generators = self._watched, self.calls, self._generators
        while frame is not None:
            code = frame.f_code
            if code.co_filename in watched:
                if nearest is None:
                    nearest = code, frame.f_lasti
                if code.co_name not in _COMPREHENSIONS:
                    key = id(frame)
                    call = calls.get(key)
                    if call is None:
                        call = generators.get(key)
                    if call is not None:
                        return nearest, call
            frame = frame.f_back
        return nearest, NONE

    def hooks(self) -> dict[str, Callable[..., Any]]:
        """The functions for `hooks.install`, for code that runs in this thread."""
        owner, record, fault = get_ident(), self._record, self._fault
        rows, branch_rows, loop_rows, call_rows = self.rows, self.branch_rows, self.loop_rows, self.call_rows
        counts, seen_call, seen = self.counts, self._seen_call, self._seen
        calls, generators, loops, raised = self.calls, self._generators, self.loops, self.raised
        module_stack, saw_module, origin, unwound = self._module_stack, self._saw_module, self.origin, self.unwound
        add_row, add_branch = rows.append, branch_rows.append
        budget, call_budget = self._options.evaluation_budget, self._options.call_budget
        # A user may replace builtins.
        length, identity, kind, numbers = len, id, type, range

        def elsewhere(frame: int) -> int | None:
            """The call of a frame that began none; None in another thread, where nothing is recorded."""
            return generators.get(frame, NONE) if get_ident() == owner else None

        def value_at(depth: int) -> Callable[[int, Any], Any]:
            def value(site: int, value: Any) -> Any:
                try:
                    call = calls.get(identity(_getframe(depth)))
                    if call is None:
                        call = elsewhere(identity(_getframe(depth)))
                        if call is None:
                            return value
                except RecursionError:
                    return value  # the user's own next call meets the limit
                counts[site] = count = counts[site] + 1
                if count > ALWAYS_KEPT and length(rows) >= budget:
                    return value
                if seen_call[site] != call:
                    seen_call[site] = call
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
                except RecursionError:
                    value_id = NONE
                except Exception:
                    fault()
                    value_id = NONE
                add_row((site, value_id, call))
                return value

            return value

        def add_outcome(site: int, truth: bool, call: int) -> None:
            counts[site] = count = counts[site] + 1
            if count <= ALWAYS_KEPT or length(branch_rows) < budget:
                add_branch((site, truth, call, length(rows)))

        def outcome_at(depth: int) -> Callable[[int, bool], bool]:
            def outcome(site: int, truth: bool) -> bool:
                try:
                    call = calls.get(identity(_getframe(depth)))
                    if call is None:
                        call = elsewhere(identity(_getframe(depth)))
                        if call is None:
                            return truth
                    add_outcome(site, truth, call)
                except RecursionError:
                    pass
                return truth

            return outcome

        def case(first: int, taken: int, number: int) -> None:
            frame = identity(_getframe(1))
            call = calls.get(frame)
            if call is None:
                call = elsewhere(frame)
                if call is None:
                    return
            for position in numbers(taken + 1 if taken < number else number):
                add_outcome(first + position, position == taken, call)

        def enter(function: int) -> None:
            try:
                frame = _getframe(1)
                if get_ident() != owner:
                    calls.pop(identity(frame), None)
                    return
                begin(function, frame)
            except Exception:  # at the recursion limit, that of ours comes before the user's own
                fault()

        def begin(function: int, frame: FrameType) -> None:
            key = identity(frame)
            left_open = calls.get(key)
            if left_open is not None:
                raised.add(left_open)
            made_by, parent = origin(frame.f_back) if calls else (None, NONE)
            call = NONE
            if length(call_rows) < call_budget:
                module, module_pass = module_stack[-1]
                caller = None if parent == NONE else made_by
                call_rows.append((function, module, module_pass, self.phase, parent, caller))
                call = length(call_rows) - 1
            else:
                self.dropped_calls += 1
            calls[key] = call

        def leave() -> None:
            try:  # noqa: SIM105 (at the limit there is no room for a context manager)
                calls.pop(identity(_getframe(1)), None)
            except RecursionError:
                pass  # `begin` finds what is left open

        def leave_lambda(*evaluated: Any) -> Any:
            try:  # noqa: SIM105
                calls.pop(identity(_getframe(1)), None)
            except RecursionError:
                pass
            return evaluated[-1]

        def unwind() -> tuple[()]:
            try:
                frame = identity(_getframe(1))
                call = calls.get(frame)
                if call is not None and _exception()[0] is not GeneratorExit:
                    raised.add(call)
                    unwound[frame] = call
            except RecursionError:
                pass
            return ()

        def generator_at(depth: int) -> Callable[[Any], Any]:
            def generator(made: Any) -> Any:
                maker = identity(_getframe(depth))
                call = calls.get(maker)
                if call is None:
                    call = elsewhere(maker)
                if call is not None:
                    frame = identity(made.gi_frame if kind(made) is GeneratorType else made.ag_frame)
                    left_open = calls.pop(frame, None)
                    if left_open is not None:
                        raised.add(left_open)
                    generators[frame] = call
                return made

            return generator

        def loop(site: int) -> None:
            frame = identity(_getframe(1))
            call = calls.get(frame)
            if call is None:
                call = elsewhere(frame)
                if call is None:
                    return
            counts[site] = count = counts[site] + 1
            row = [site, 0, call, length(rows)]
            if count <= ALWAYS_KEPT or length(loop_rows) < budget:
                loop_rows.append(row)
            loops[site, call] = row

        def iteration(site: int) -> None:
            frame = identity(_getframe(1))
            call = calls.get(frame)
            if call is None:
                call = elsewhere(frame)
            row = loops.get((site, call)) if call is not None else None
            if row is not None:
                row[1] += 1

        made: dict[str, Callable[..., Any]] = {
            names.CASE: case,
            names.ENTER: enter,
            names.EXIT: leave,
            names.EXIT_LAMBDA: leave_lambda,
            names.UNWIND: unwind,
            names.LOOP: loop,
            names.ITERATION: iteration,
        }
        for depth in numbers(names.DEEPEST + 1):
            made[names.at_depth(names.VALUE, depth)] = value_at(depth + 1)
            made[names.at_depth(names.OUTCOME, depth)] = outcome_at(depth + 1)
            made[names.at_depth(names.GENERATOR, depth)] = generator_at(depth + 1)
        return made
