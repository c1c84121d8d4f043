"""How a run is ended from outside: at its deadline, at its memory cap, by a fault of native code.

On systems with signals to spare the server keeps the clock and sends one; its handler runs in the main thread, where
user code stands, and no thread of ours is alive meanwhile (a forked child of a process with a live thread may hang).
Elsewhere a thread of the worker keeps the clock. Where native code holds the interpreter no handler runs, but
`faulthandler` still writes the line into the crash file; ending the process is then the server's.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import TextIO

from ..document import request

HARD_STOP_SECONDS = 10.0
"""After its deadline, a worker without stop signals ends itself even where native code holds the interpreter."""

Stop = Callable[[str], None]
"""Ends the run with a status (`timeout` or `out-of-memory`) and an answer; does not return."""


class Stopping:
    """Arms the ways to end a run. `stop` is called in the main thread where there are signals, else in its own."""

    def __init__(self, crash_file: str, stop: Stop) -> None:
        self._file: TextIO = open(crash_file, "w")  # noqa: SIM115 (open as long as the process)
        self._stop = stop
        self._signals = request.stop_signals()
        self._clock: _Clock | None = None
        faulthandler.enable(self._file, all_threads=True)
        if self._signals is None:
            self._clock = _Clock(self._stop)
        else:
            faulthandler.register(self._signals.traceback, self._file, all_threads=True, chain=False)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._in_child)

    def arm(self) -> None:
        """From now on signals end the run."""
        if self._signals is not None:
            statuses = {self._signals.timeout: "timeout", self._signals.memory: "out-of-memory"}

            def handle(number: int, _frame: FrameType | None) -> None:
                self._stop(statuses[number])

            for number in statuses:
                signal.signal(number, handle)

    def limit(self, seconds: float) -> None:
        """A phase begins that may take so long. Only for systems where the worker keeps the clock."""
        if self._clock is not None:
            self._clock.set(seconds)
            faulthandler.dump_traceback_later(seconds + HARD_STOP_SECONDS, exit=True, file=self._file)

    def disarm(self) -> None:
        """The run is over: nothing ends it any more."""
        if self._signals is not None:
            signal.signal(self._signals.timeout, signal.SIG_IGN)
            signal.signal(self._signals.memory, signal.SIG_IGN)
        if self._clock is not None:
            self._clock.set(None)

    def _in_child(self) -> None:
        faulthandler.disable()
        if self._signals is not None:
            faulthandler.unregister(self._signals.traceback)


class _Clock:
    """A thread that calls `stop` when the time that was set last is over."""

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._deadline: float | None = None
        self._changed = threading.Condition()
        threading.Thread(target=self._watch, name="torchlens-clock", daemon=True).start()

    def set(self, seconds: float | None) -> None:
        with self._changed:
            self._deadline = None if seconds is None else time.monotonic() + seconds
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while True:
                left = None if self._deadline is None else self._deadline - time.monotonic()
                if left is not None and left <= 0:
                    break
                self._changed.wait(left)
        self._stop("timeout")
