"""Runs one request in a worker process and gives its document, whatever the user's code does to that process.

The worker answers by itself where it can, at the deadline and at the memory cap as well; where it cannot, it is put
down, and the document is written here. Nothing that the run started outlives `run_once`.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..document import codec, framing
from ..document import request as words
from ..document.model import Document, Durations
from ..document.request import RunRequest, StopSignals, stop_signals
from . import launch
from .worker_log import WorkerLog
from .worker_obituary import describe_exit, obituary
from .worker_processes import ProcessTree, adopt_orphans, default_memory_limit

GRACE_SECONDS = 3.0
"""How long a worker that was told to stop may take to begin its answer; a quarter of the deadline, if that is more."""
ANSWER_SECONDS = 60.0
"""How long it may take to make its answer once user code is over."""
MEMORY_GRACE_SECONDS = 2.0
MEMORY_HEADROOM = 1.25
"""Times the cap: where a worker that was told to stop at its cap is put down at once."""
POLL_SECONDS = 0.1
MEASURE_SECONDS = 0.25
"""Between two looks at the memory, as long as it is below its cap."""
TRACEBACK_SECONDS = 0.5
"""How long native code's traceback, and the rest of the output of a process that has ended, are waited for."""
LAST_LINES = 5
"""Lines of a run's output that are quoted where it died."""

_CHUNK = 1 << 16


async def run_once(
    interpreter: Sequence[str],
    request: RunRequest,
    *,
    log: Callable[[str], None] | None = None,
    progress: Callable[[str], None] | None = None,
    memory_limit: int | None = None,
    boot: Path = launch.BOOT,
) -> Document:
    """Run `request` in a new worker under `interpreter` (a command) and return its document.

    `log` is given what the run prints, up to a bound; `progress` the name of each phase as it begins. `memory_limit`
    is in bytes, by default half of what is free. Every fault of the run, of the worker and of the interpreter is a
    document. When cancelled, the run is ended before the cancellation goes on.
    """
    if request.threads is None:
        request = dataclasses.replace(request, threads=launch.default_threads())
    with tempfile.TemporaryDirectory(prefix="torchlens-lsp-", ignore_cleanup_errors=True) as folder:
        crash_file = Path(folder) / "crash"
        crash_file.touch()
        mark = uuid.uuid4().hex
        adopt_orphans()
        try:
            process = launch.start(interpreter, request, mark, boot)
        except launch.LaunchError as error:
            return _Run.unable(request, words.CANNOT_START, str(error))
        limit = memory_limit if memory_limit is not None else default_memory_limit()
        tree = ProcessTree(process.pid, mark)
        run = _Run(" ".join(interpreter), request, process, tree, crash_file, limit, WorkerLog(log), progress)
        try:
            return await run.document()
        finally:
            await asyncio.shield(run.close())


@dataclass(frozen=True)
class _Exited:
    status: int


@dataclass(frozen=True)
class _ChannelClosed:
    fault: str | None


_Event = framing.Message | _Exited | _ChannelClosed


class _Run:
    """One worker and what is known of it. Pipes are read in threads; everything else happens in the event loop."""

    def __init__(
        self,
        interpreter: str,
        request: RunRequest,
        process: subprocess.Popen[bytes],
        tree: ProcessTree,
        crash_file: Path,
        memory_limit: int | None,
        log: WorkerLog,
        progress: Callable[[str], None] | None,
    ) -> None:
        self._interpreter = interpreter
        self._request = request
        self._process = process
        self._tree = tree
        self._crash_file = crash_file
        self._memory_limit = memory_limit
        self._log = log
        self._progress = progress
        self._signals: StopSignals | None = stop_signals()
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[_Event] = asyncio.Queue()
        self._pid: int | None = None
        """Of the worker, once it has told: `interpreter` may be a program that starts it."""
        self._phase = "import"
        self._phase_began = time.monotonic()
        self._seconds = {"import": 0.0, "build": 0.0, "call": 0.0}
        self._deadline = self._phase_began + request.import_timeout
        self._stopping: str | None = None
        """The status with which the worker was told to end."""
        self._give_up = 0.0
        self._used = 0
        """Bytes, when the cap was reached."""
        self._next_measure = 0.0
        self._is_answering = False
        """Whether user code is over."""
        self._is_closed = False
        """Whether the channel is at its end."""
        self._log_read = asyncio.Event()
        for work in (self._talk, self._read_log, self._wait):
            threading.Thread(target=work, name=f"torchlens-{work.__name__}", daemon=True).start()

    @staticmethod
    def unable(request: RunRequest, kind: str, message: str) -> Document:
        """The document of a run that no worker could be had for."""
        return obituary(request, "error", kind, message, "import", "", Durations())

    # --- the course of a run -------------------------------------------------------------------------------------

    async def document(self) -> Document:
        """The worker's answer, or what is to be said in its place."""
        while True:
            event = await self._next_event()
            if isinstance(event, framing.Message):
                document = await self._take(event)
                if document is not None:
                    return await self._completed(document)
            elif isinstance(event, _Exited):
                return await self._died(event.status)
            elif isinstance(event, _ChannelClosed):
                self._is_closed = True
                if event.fault is not None:
                    return self._obituary("crashed", words.DIED, f"the worker cannot be understood: {event.fault}")
            elif await self._is_to_be_put_down():
                return await self._put_down()

    async def _next_event(self) -> _Event | None:
        """What happened, or None when it is time to look at the clock and at the memory."""
        left = (self._give_up if self._stopping else self._deadline) - time.monotonic()
        try:
            return await asyncio.wait_for(self._events.get(), max(min(POLL_SECONDS, left), 0.0))
        except asyncio.TimeoutError:
            return None

    async def _take(self, message: framing.Message) -> Document | None:
        kind = message.body.get("kind")
        if kind == words.READY:
            self._pid = message.body["pid"]
            if self._stopping is not None:
                self._ask_to_stop(self._stopping, self._give_up - time.monotonic())
        elif kind == words.PHASE:
            self._begin(message.body["phase"])
        elif kind == words.DOCUMENT:
            # Now, as long as it is there to tell which processes it has started.
            await asyncio.to_thread(self._tree.kill)
            try:
                return await asyncio.to_thread(codec.decode, message.parts[0])
            except codec.DocumentError as error:
                return self._obituary("crashed", words.INTERNAL, f"the worker's answer cannot be read: {error}")
        return None

    def _begin(self, phase: str) -> None:
        now = time.monotonic()
        self._seconds[self._phase] += now - self._phase_began
        self._phase_began = now
        self._is_answering = phase == words.ANSWER
        if self._is_answering:
            self._deadline = self._give_up = now + ANSWER_SECONDS
        else:
            self._phase = phase
        if phase == "build":
            self._deadline = now + self._request.timeout
        if self._progress is not None:
            self._progress(phase)

    async def _is_to_be_put_down(self) -> bool:
        """Look at the clock and at the memory; tell the worker to stop when it is time."""
        now = time.monotonic()
        if self._stopping is None:
            if now >= self._deadline:
                grace = max(GRACE_SECONDS, self._limit / 4)
                self._ask_to_stop("timeout", grace)
            elif await self._is_over_cap(1.0):
                self._ask_to_stop("out-of-memory", MEMORY_GRACE_SECONDS)
            return False
        return now >= self._give_up or (self._stopping == "out-of-memory" and await self._is_over_cap(MEMORY_HEADROOM))

    @property
    def _limit(self) -> float:
        return self._request.import_timeout if self._phase == "import" else self._request.timeout

    def _ask_to_stop(self, status: str, grace: float) -> None:
        self._stopping = status
        self._give_up = time.monotonic() + grace
        if self._signals is not None:
            self._send(self._signals.timeout if status == "timeout" else self._signals.memory)

    async def _is_over_cap(self, times: float) -> bool:
        now = time.monotonic()
        if self._memory_limit is None or now < self._next_measure:
            return False
        self._next_measure = now + (MEASURE_SECONDS if self._stopping is None else 0.0)
        limit = int(self._memory_limit * times)
        used = await asyncio.to_thread(self._tree.memory, limit)
        if used > limit:
            self._used = max(used, self._used)
        return used > limit

    def _send(self, number: int) -> None:
        if self._pid is not None:
            with contextlib.suppress(OSError):
                os.kill(self._pid, number)

    # --- a worker that did not answer ----------------------------------------------------------------------------

    async def _put_down(self) -> Document:
        """The worker was told to stop and has not: ask native code for the line, and end it."""
        assert self._stopping is not None
        if self._signals is not None:
            self._send(self._signals.traceback)
            give_up = time.monotonic() + TRACEBACK_SECONDS
            while not self._traceback().endswith("\n") and time.monotonic() < give_up:
                await asyncio.sleep(POLL_SECONDS / 5)
        return self._stopped(", in native code that did not give way")

    async def _died(self, status: int) -> Document:
        """The worker's process is gone; what it has said before is still in the pipe."""
        while not self._is_closed:
            try:
                event = await asyncio.wait_for(self._events.get(), TRACEBACK_SECONDS)
            except asyncio.TimeoutError:  # a child of its own holds the pipe open
                break
            self._is_closed = isinstance(event, _ChannelClosed)
            document = await self._take(event) if isinstance(event, framing.Message) else None
            if document is not None:
                return await self._completed(document)
        await self._wait_for_log()
        last = self._log.last_lines(LAST_LINES)
        said = f": {last[-1]}" if last else ""
        if self._pid is None and status == words.PYTHON_TOO_OLD_EXIT:
            return self.unable(self._request, words.PYTHON_TOO_OLD, last[-1] if last else "this Python is too old")
        if self._pid is None and status != 0 and self._stopping is None:
            message = f"{self._interpreter} cannot run the worker, and {describe_exit(status)}{said}"
            return self.unable(self._request, words.CANNOT_START, message)
        if self._stopping is not None and not self._is_answering:
            return self._stopped()
        if self._is_answering and status > 0:
            return self._obituary("crashed", words.INTERNAL, f"the worker failed while it made its answer{said}")
        document = self._obituary("crashed", words.DIED, f"the process {describe_exit(status)}")
        self._note_last_lines(document)
        return document

    def _stopped(self, how: str = "") -> Document:
        """The document of a run that was told to stop, and of which no answer will come."""
        if self._stopping == "out-of-memory":
            return self._obituary("out-of-memory", words.OUT_OF_MEMORY, self._memory_message() + how)
        return self._obituary("timeout", words.TIMEOUT, f"still here after {self._limit:g} s{how}")

    def _obituary(self, status: str, kind: str, message: str) -> Document:
        if self._phase in self._seconds:
            self._seconds[self._phase] += time.monotonic() - self._phase_began
        durations = Durations(self._seconds["import"], self._seconds["build"], self._seconds["call"])
        return obituary(self._request, status, kind, message, self._phase, self._traceback(), durations)

    async def _completed(self, document: Document) -> Document:
        """The worker's document with what only its client knows."""
        error = document.error
        if error is not None and document.status == "out-of-memory":
            place = error.message.partition(": ")[2]
            error.message = self._memory_message() + (f": {place}" if place else "")
        if error is not None and error.type == SystemExit.__name__:
            await self._wait_for_log()  # which says why, as the usage of a command does
            self._note_last_lines(document)
        return document

    def _note_last_lines(self, document: Document) -> None:
        last = self._log.last_lines(LAST_LINES)
        if last:
            document.notes.append("The last that the run printed:\n" + "\n".join(last))

    def _memory_message(self) -> str:
        return f"used {_amount(self._used)}, more than its cap of {_amount(self._memory_limit or 0)}"

    def _traceback(self) -> str:
        try:
            return self._crash_file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    # --- the end -------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """End everything that belongs to the run."""
        await asyncio.to_thread(self._tree.kill)
        await self._wait_for_log()
        self._log.end()

    async def _wait_for_log(self) -> None:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._log_read.wait(), TRACEBACK_SECONDS)

    # --- threads -------------------------------------------------------------------------------------------------

    def _post(self, event: _Event) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody asks any more
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)

    def _talk(self) -> None:
        """Send the request, then hand on what comes."""
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None
        assert sink is not None
        body = {"kind": words.RUN, "request": self._request.to_json(), "crash_file": str(self._crash_file)}
        fault: str | None = None
        try:
            with contextlib.suppress(OSError), sink:  # it may be gone: its exit tells more
                framing.write(sink.fileno(), framing.Message(body))
            with source:
                while (message := framing.read(source.fileno())) is not None:
                    self._post(message)
        except framing.TruncatedError:
            pass  # it died in the middle of an answer
        except (framing.FramingError, OSError) as error:
            fault = str(error)
        self._post(_ChannelClosed(fault))

    def _read_log(self) -> None:
        source = self._process.stderr
        assert source is not None
        with source:
            while data := source.read(_CHUNK):
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._log.feed, data)
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._log_read.set)

    def _wait(self) -> None:
        self._post(_Exited(self._process.wait()))


def _amount(size: int) -> str:
    """A number of bytes as people say it."""
    return f"{size / (1 << 30):.1f} GB" if size >= 1 << 30 else f"{size / (1 << 20):.0f} MB"
