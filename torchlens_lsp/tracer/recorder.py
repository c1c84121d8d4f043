"""One recording: compiles watched files, puts the recorder in place, runs the traced call, gives the document."""

from __future__ import annotations

import platform
import sys
import sysconfig
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import CodeType
from typing import Any

import torch
from torch import nn

from ..document.model import CALL, NONE, PHASES, Document, Durations, Example, Frame, RunError
from ..document.values import ValueTable
from . import failure, hooks
from .assemble import assemble
from .compiled import EagerStance
from .events import Events
from .instrument import Adjust, instrument
from .modules import ModuleStack
from .ops import OpMode, tensors_in
from .options import Options
from .positions import Positions, WatchedFile
from .values import ValueRecorder

MAX_FAULTS = 20
"""Faults of ours whose tracebacks are kept."""

_LIBRARY = tuple(
    str(Path(sysconfig.get_path(name)).resolve()) + "/" for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


class Recorder:
    """Records one run in the thread that made it.

    The order is: `compile` for each watched file (at any time), `start`, import and build with `phase` set
    accordingly, `call`, `stop`, `document`.
    """

    def __init__(self, options: Options = Options()) -> None:  # noqa: B008 (frozen)
        self.options = options
        self.values = ValueTable()
        self.positions = Positions()
        self.modules = ModuleStack()
        self.faults: list[str] = []
        """Tracebacks of our own faults, to be logged; none of them reached the user's code."""
        self.notes: list[str] = []
        self.output = NONE
        """Value id of what the traced call returned."""
        self._recorder = ValueRecorder(
            self.values,
            statistics=options.statistics,
            share=options.statistics_share,
            sees_operations=lambda: self.mode.is_on,
        )
        self.events = Events(
            options, self._recorder.record, self.modules.stack, self.positions.by_path, self.modules.saw, self.fault
        )
        self.mode = OpMode(
            self.events.origin,
            self.modules.stack,
            self._recorder,
            self.modules.parameter_names,
            self.modules.buffers,
            options.op_budget,
            self.fault,
        )
        self.mode.evaluations = self.events.rows
        self.aliases: dict[int, list[int]] = {}
        self.functions: list[tuple[int, int]] = []
        """By function number: (file, function in the file)."""
        self._error_stack: list[failure.Standing] = []
        self._recursion_limit = 0

    # --- watched files -------------------------------------------------------------------------------------------

    def compile(self, path: str, text: str, *, uri: str | None = None, adjust: Adjust | None = None) -> CodeType:
        """Code to run in place of the module at `path`, whose text is `text`. `adjust` may change its tree.

        Raises what `compile(text, path, "exec")` would raise.
        """
        index = len(self.positions.files)
        made = instrument(
            path,
            text,
            uri or Path(path).as_uri(),
            first_site=len(self.events.counts),
            first_function=len(self.functions),
            marks=f"{hooks.MARKS}{index}",
            adjust=adjust,
        )
        marks = bytearray(len(made.file.statements))
        hooks.provide_marks(index, marks)
        self.events.add_sites(len(made.file.sites))
        self.functions += [(index, number) for number in range(len(made.file.functions))]
        for target, value in made.aliases:
            self.aliases.setdefault(value, []).append(target)
        self.positions.add(WatchedFile(index, path, text, made.file, made.marked, marks))
        return made.code

    # --- the run -------------------------------------------------------------------------------------------------

    @property
    def phase(self) -> int:
        """IMPORT, BUILD or CALL of `document.model`."""
        return self.events.phase

    @phase.setter
    def phase(self, phase: int) -> None:
        self.events.phase = phase
        self._recorder.begin_phase()

    def start(self) -> None:
        """Begin to record what instrumented code does in this thread."""
        hooks.install(self.events.hooks())
        # The recorder's own frames must not bring a deep but finite recursion of the user's to its limit.
        self._recursion_limit = sys.getrecursionlimit()
        sys.setrecursionlimit(self._recursion_limit + max(200, self._recursion_limit // 4))

    def call(
        self,
        callee: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        *,
        finish: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Make the traced call and return what it returns; the user's exceptions come out as they are.

        `finish` is applied to the result while it is still being recorded (to drive a generator to its end).
        """
        self.phase = CALL
        for root in (callee, getattr(callee, "__self__", None), *args, *kwargs.values()):
            if isinstance(root, nn.Module):
                self.modules.register(root)
        self._guarded(self._note_inputs, (*args, *kwargs.values()))
        with ExitStack() as stack:
            stance = EagerStance(stack)
            stack.callback(self._note_compiled, stance)
            self.modules.patch(self.mode, self._unchanged)
            stack.callback(self.modules.restore)
            self.mode.begin()
            stack.callback(self.mode.end)
            output = callee(*args, **kwargs)
            if finish is not None:
                output = finish(output)
        self._guarded(self._note_output, output)
        return output

    def stop(self) -> None:
        """Restore everything that was patched. May be called more than once."""
        self.mode.end()
        self.modules.restore()
        hooks.uninstall()
        if self._recursion_limit:
            sys.setrecursionlimit(self._recursion_limit)
            self._recursion_limit = 0

    def forget(self) -> None:
        """Drop everything that holds objects of the user's; the document can be had no more."""
        self._recorder.forget()
        self.mode.forget()
        self._error_stack.clear()

    def _note_compiled(self, stance: EagerStance) -> None:
        if stance.was_asked:
            self.notes.append("Code under torch.compile ran eagerly, so that it could be recorded.")

    def _note_inputs(self, arguments: tuple[Any, ...]) -> None:
        for tensor in tensors_in(arguments):
            self.mode.add_source("input", tensor)

    def _note_output(self, output: Any) -> None:
        self.output = self._recorder.record(output, True)
        for tensor in tensors_in(output):
            self.mode.add_output(tensor)

    def _unchanged(self, module: nn.Module, args: tuple[Any, ...], output: Any, index: int) -> None:
        if isinstance(output, torch.Tensor):
            self._guarded(lambda _: self.mode.add_identity(output, self.modules.stack[-1]), None)

    def _guarded(self, action: Callable[[Any], object], argument: Any) -> None:
        try:
            action(argument)
        except Exception:
            self.fault()

    def fault(self) -> None:
        """Keep the traceback of the exception of ours that is being handled.

        At the edge of the user's recursion there is no room for ours either: that is no fault, and the user's own next
        call says so.
        """
        if isinstance(sys.exc_info()[1], RecursionError) or len(self.faults) >= MAX_FAULTS:
            return
        try:
            self.faults.append(traceback.format_exc())
        except Exception:
            self.faults.append("a fault that could not be written down")

    # --- how it ended --------------------------------------------------------------------------------------------

    def error(self, exception: BaseException) -> RunError:
        """Where `exception` came from, with the operands and the stack."""
        stack = failure.of_exception(exception, self.positions)
        self._error_stack = stack
        shown = failure.innermost_watched(stack, is_library)
        phase = PHASES[self.phase]
        return failure.describe(
            exception,
            phase,
            stack,
            shown,
            self.positions,
            self.events.call_in,
            self._last_value,
            self.mode.failure,
            self.modules.address,
        )

    def position(self, thread: int) -> RunError:
        """Where the thread with that identifier stands now, and in which turn of which loop.

        May be called from a signal handler or from another thread.
        """
        stack = failure.of_frame(sys._current_frames().get(thread), self.positions)
        self._error_stack = stack
        shown = failure.innermost_watched(stack, is_library)
        error = RunError(PHASES[self.phase], "Timeout", "")
        error.stack = [Frame(s.uri, s.range, s.function) for s in stack]
        if shown is not None:
            error.uri, error.range, error.call = shown.uri, shown.range, self.events.call_in(shown.frame_id)
            for standing in reversed(stack):
                turn = self._turn(standing)
                if turn:
                    error.message = f"iteration {turn:,}"
                    break
        return error

    def _turn(self, standing: failure.Standing) -> int:
        """Turn of the innermost loop around a running frame's place, 0 outside of loops."""
        if standing.place is None:
            return 0
        file = self.positions.files[standing.place.file]
        call = self.events.call_in(standing.frame_id)
        statement = file.statement_at(standing.place.range.start_line)
        while statement != NONE:
            row = file.file.statements[statement]
            turn = self.events.loops.get((row.loop, call))
            if row.loop != NONE and turn is not None:
                return turn[1]
            statement = row.parent
        return 0

    def _last_value(self, site: int, call: int) -> int:
        for row_site, value, row_call in reversed(self.events.rows):
            if row_site == site and row_call == call:
                return value
        return NONE

    # --- the document --------------------------------------------------------------------------------------------

    def document(
        self,
        *,
        status: str,
        example: Example,
        durations: Durations,
        error: RunError | None = None,
        notes: Sequence[str] = (),
    ) -> Document:
        """The document of what has been recorded so far; may be called in the middle of a run."""
        document = assemble(self, self._error_stack)
        document.status, document.example, document.durations, document.error = status, example, durations, error
        document.output = self.output
        document.notes = [*self.notes, *notes]
        if self.faults:
            document.notes.append(
                f"The recorder itself failed {len(self.faults)} times; some values are missing. Please report the log."
            )
        document.environment = {
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "platform": platform.platform(),
        }
        return document


def is_library(path: str) -> bool:
    """Whether a file belongs to the interpreter or an installed package rather than to the user."""
    return path.startswith(_LIBRARY) or "/site-packages/" in path or "/dist-packages/" in path
