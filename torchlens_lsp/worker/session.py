"""One run from its request to its answer: import, build, call, and every way in which these can end.

User code runs between the narrow `try`s here and nowhere else; whatever is raised outside of them is a fault of ours.
A session ends by `_finish`, which answers and leaves the process; nothing that user code has left behind is waited
for.
"""

from __future__ import annotations

import os
import platform
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import NoReturn

from ..document import codec
from ..document.model import BUILD, CALL, IMPORT, PHASES, Document, Durations, RunError
from ..document.request import ANSWER, INTERNAL, OUT_OF_MEMORY, TIMEOUT, RunRequest
from . import blame, process
from .channel import Channel, leave, linger
from .driving import drive
from .example import BadExampleError, Example, TracedCall
from .loading import Finder, load, load_as_main
from .main_block import Candidate, MainBlock, MainRun
from .naming import import_of, place_of
from .output import StandardStreams
from .recording import MakeRecording, Recording
from .source import Sources, normal
from .stopping import Stopping
from .torch_state import Torch, UnusableInterpreterError
from .watch import Watch

MAIN_BLOCK = "main-block"
_HEADROOM = 10_000
"""Calls deep that our own code may go where user code is stopped at the edge of its recursion limit."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    status: str
    error: RunError | None = None


class Session:
    """Answers one request. Made and used in the main thread."""

    def __init__(self, request: RunRequest, channel: Channel, crash_file: str, make: MakeRecording) -> None:
        self._request = request
        self._spec = request.example
        self._example = request.example.example()
        self._channel = channel
        self._make = make
        self._sources = Sources(request.overlays)
        self._watch = Watch(request.file, request.root, request.watch)
        self._streams = StandardStreams()
        self._stopping = Stopping(crash_file, self._stop)
        self._thread = threading.get_ident()
        self._finishing = threading.Lock()
        self._recorder: Recording | None = None
        self._torch = Torch()
        self._notes: list[str] = []
        self._phase = IMPORT
        self._modules = dict(sys.modules)
        """What the process had loaded before user code, which may drop it."""
        self._seconds = [0.0, 0.0, 0.0]
        self._began = time.perf_counter()

    def run(self) -> NoReturn:
        """Make the run and answer."""
        self._stopping.arm()
        self._channel.ready()
        process.end_with_server()
        process.appear_as(self._request.file, self._request.root, self._request.argv)
        self._announce(IMPORT)
        try:
            self._recorder, self._torch = self._make(self._request)
        except UnusableInterpreterError as error:
            self._finish(Outcome("error", self._error_at_torch(error)))
        self._modules = dict(sys.modules)
        if self._spec.origin == MAIN_BLOCK:
            self._run_main_block(self._recorder)
        else:
            self._run_expression(self._recorder)

    # --- an expression -------------------------------------------------------------------------------------------

    def _run_expression(self, recorder: Recording) -> NoReturn:
        try:
            example = Example(self._spec)
        except BadExampleError as error:
            self._finish(self._bad_example(error.kind, str(error)))
        self._torch.seed(self._spec.seed)
        recorder.start()
        try:
            finder = self._finder(recorder, None)
            place = place_of(self._request.file, self._request.root, self._sources.text(self._request.file))
            process.put_in_front(place.path)
            module = load(self._request.file, place, finder)
        except BaseException as error:
            self._finish(self._failed(error))
        self._begin(BUILD)
        try:
            call = example.build(module, self._torch)
        except BaseException as error:
            self._finish(self._build_failed(error, example))
        self._begin(CALL)
        self._call(recorder, call)
        self._finish(Outcome("ok"))

    def _call(self, recorder: Recording, call: TracedCall) -> object:
        """The traced call; does not return where it raises."""
        try:
            with self._torch.gradients(self._spec.grad):
                return recorder.call(call.callee, call.args, dict(call.kwargs or {}), finish=drive)
        except BaseException as error:
            self._finish(self._call_failed(error, call))

    # --- the file's main block -----------------------------------------------------------------------------------

    def _run_main_block(self, recorder: Recording) -> NoReturn:
        file = self._request.file
        self._torch.seed(self._spec.seed)
        recorder.start()
        try:
            text = self._sources.text(file)
            block = MainBlock.find(text, file)
        except (OSError, SyntaxError) as error:
            self._finish(self._failed(error))
        if block is None:
            self._finish(Outcome("no-example"))
        run = MainRun(
            block, file, self._torch, self._is_own, lambda: self._begin(BUILD), self._trace_candidate, self._end_block
        )
        run.install()
        place = place_of(file, self._request.root, text)
        process.put_in_front(place.path)
        try:
            load_as_main(file, place, self._finder(recorder, block))
        except BaseException as error:
            if not (isinstance(error, SystemExit) and (run.is_traced or not error.code)):
                self._finish(self._failed(error))
        self._finish(Outcome("ok" if run.is_traced else "no-example"))

    def _trace_candidate(self, call: TracedCall, candidate: Candidate) -> object:
        assert self._recorder is not None
        if not self._example.call:
            self._example.call = candidate.text
        self._example.uri, self._example.range = Path(self._request.file).as_uri(), candidate.range
        self._begin(CALL)
        return self._call(self._recorder, call)

    def _end_block(self) -> NoReturn:
        assert self._recorder is not None
        self._recorder.position(self._thread)
        self._finish(Outcome("ok"))

    # --- phases --------------------------------------------------------------------------------------------------

    def _begin(self, phase: int) -> None:
        """Go on to the next phase, as every run does: with its seeds, and on its number of threads."""
        assert self._recorder is not None
        self._clock()
        self._phase = self._recorder.phase = phase
        self._announce(phase)
        self._torch.seed(self._spec.seed)
        if phase == CALL:
            self._torch.set_threads(self._request.threads or 1)

    def _announce(self, phase: int) -> None:
        self._channel.phase(PHASES[phase])
        if phase != CALL:  # which shares its time with the build
            self._stopping.limit(self._request.import_timeout if phase == IMPORT else self._request.timeout)

    def _clock(self) -> None:
        now = time.perf_counter()
        self._seconds[self._phase] += now - self._began
        self._began = now

    # --- what went wrong -----------------------------------------------------------------------------------------

    def _failed(self, exception: BaseException) -> Outcome:
        """An error of user code, where it happened."""
        assert self._recorder is not None
        error = self._recorder.error(exception)
        if isinstance(exception, SystemExit) and not error.message:
            error.message = f"exit status {exception.code or 0}"
        return Outcome("error", self._placed(error))

    def _build_failed(self, exception: BaseException, example: Example) -> Outcome:
        if isinstance(exception, BadExampleError):
            return self._bad_example(exception.kind, str(exception))
        if not isinstance(exception, Exception) or blame.reached_user_code(exception, self._is_own):
            return self._failed(exception)
        message = blame.of_expression(exception, example.call, example.setup, example.namespace)
        return self._bad_example(type(exception).__name__, message, exception)

    def _call_failed(self, exception: BaseException, call: TracedCall) -> Outcome:
        if self._spec.origin == MAIN_BLOCK:
            return self._failed(exception)
        message = blame.of_indices(exception, call, self._torch)
        if message is None and not blame.reached_user_code(exception, self._is_own):
            message = blame.of_call(exception, call, self._torch)
        if message is None:
            return self._failed(exception)
        return self._bad_example(type(exception).__name__, message, exception)

    def _bad_example(self, kind: str, message: str, exception: BaseException | None = None) -> Outcome:
        """An error at the example's line; what is known of the exception's own place stays in its stack."""
        if exception is None or self._recorder is None:
            error = RunError(PHASES[self._phase], kind, message)
        else:
            error = self._recorder.error(exception)
            error.type, error.message = kind, message
        error.uri, error.range = self._example.uri, self._example.range
        return Outcome("bad-example", error)

    def _error_at_torch(self, fault: UnusableInterpreterError) -> RunError:
        """An error of the interpreter, at the line that would have met it."""
        error = RunError(PHASES[IMPORT], fault.kind, str(fault))
        try:
            place = import_of("torch", self._sources.text(self._request.file))
        except (OSError, SyntaxError):
            place = None
        if place is not None:
            error.uri, error.range = Path(self._request.file).as_uri(), place
        return self._placed(error)

    def _placed(self, error: RunError) -> RunError:
        """An error without a place in any file is shown at the example."""
        if error.uri is None:
            error.uri, error.range = self._example.uri, self._example.range
        return error

    # --- the end -------------------------------------------------------------------------------------------------

    def _stop(self, status: str) -> None:
        """End the run from outside: in a signal's handler, above whatever user code was doing, or in a thread."""
        if not self._channel.is_ours or self._finishing.locked():
            return
        try:
            sys.setrecursionlimit(sys.getrecursionlimit() + _HEADROOM)
            process.restore_modules(self._modules)
            self._finish(Outcome(status, self._placed(self._position(status))))
        except BaseException as error:  # which the user's code would get otherwise
            self.fault(error)

    def _position(self, status: str) -> RunError:
        if self._recorder is None:
            error = RunError(PHASES[self._phase], TIMEOUT, "torch is being imported")
        else:
            error = self._recorder.position(self._thread)
        where = f": {error.message}" if error.message else ""
        if status == "timeout":
            limit = self._request.import_timeout if self._phase == IMPORT else self._request.timeout
            error.type, error.message = TIMEOUT, f"still here after {limit:g} s{where}"
        else:
            error.type, error.message = OUT_OF_MEMORY, f"used more memory than its cap{where}"
        return error

    def fault(self, exception: BaseException) -> NoReturn:
        """Answer that `exception` is a fault of ours."""
        self._finish(self._fault(exception))

    def _fault(self, exception: BaseException) -> Outcome:
        self._streams.log_fault(exception)
        error = RunError(PHASES[self._phase], INTERNAL, f"{type(exception).__name__}: {exception}")
        return Outcome("crashed", self._placed(error))

    def _finish(self, outcome: Outcome) -> NoReturn:
        """Answer and leave."""
        if not self._channel.is_ours:
            self._streams.flush()
            leave(0 if outcome.status == "ok" else 1)
        if not self._finishing.acquire(blocking=False):
            while True:  # another thread is at it, and leaves the process when it is done
                time.sleep(1)
        try:
            self._stopping.disarm()
            process.restore_modules(self._modules)
            self._clock()
            self._channel.phase(ANSWER)
            if self._recorder is not None:
                self._recorder.stop()
            self._streams.flush()
            self._channel.document(self._encoded(outcome))
            linger()
        except BaseException as error:
            self._streams.log_fault(error)
            leave(1)
        leave(0)

    def _encoded(self, outcome: Outcome) -> bytes:
        durations = Durations(*self._seconds)
        if self._recorder is not None:
            try:
                document = self._recorder.document(
                    status=outcome.status,
                    example=self._example,
                    durations=durations,
                    error=outcome.error,
                    notes=self._notes,
                )
                for fault in self._recorder.faults:
                    self._streams.log(fault)
                return codec.encode(document)
            except Exception as error:
                outcome = self._fault(error)
        return codec.encode(
            Document(
                self._example,
                outcome.status,
                durations,
                outcome.error,
                notes=self._notes,
                environment={"python": platform.python_version(), "platform": platform.platform()},
            )
        )

    # --- files ---------------------------------------------------------------------------------------------------

    def _finder(self, recorder: Recording, block: MainBlock | None) -> Finder:
        """The finder of watched files, in its place."""
        file = normal(self._request.file)

        def compile_watched(path: str, text: str) -> CodeType:
            has_block = block is not None and normal(path) == file
            try:
                return recorder.compile(path, text, adjust=block.adjust if block is not None and has_block else None)
            except SyntaxError:
                raise
            except Exception as error:
                self._streams.log_fault(error)
                self._notes.append(f"{path} could not be prepared for recording and ran unrecorded.")
                return compile(text, path, "exec", dont_inherit=True)

        loaded = self._watch.loaded_already(sys.modules)
        if loaded:
            more = f" and {len(loaded) - 1} more" if len(loaded) > 1 else ""
            self._notes.append(f"{loaded[0]}{more} had been imported before the run began, and is not recorded.")
        finder = Finder(self._watch, self._sources, compile_watched)
        finder.install()
        return finder

    def _is_own(self, path: str) -> bool:
        """Whether the code at `path` is the user's own, rather than a library's or made up at run time."""
        return os.path.isabs(path) and self._watch.is_users_own(path)
