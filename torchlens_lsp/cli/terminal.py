"""Where output goes: how wide it is, whether it has colour, and how progress is shown beside it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from typing import TextIO

QUIET_SECONDS = 1.0
"""A run that is over by then shows no progress."""
LINES_AT = (1, 5, 15, 30, 60, 120, 300, 600, 1200)
"""Seconds after which a line of progress is written where lines cannot be replaced."""
_ERASE = "\r\x1b[K"


class Output:
    """What is printed for the user on standard output."""

    def __init__(self, color: str = "never", width: int | None = None, stream: TextIO | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self.is_terminal = self._stream.isatty()
        self.color = color == "always" or (color == "auto" and self.is_terminal and _may_color())
        self.width = width or (shutil.get_terminal_size().columns if self.is_terminal else None)
        """Columns; None where nothing is to be cut."""
        self._is_open = True

    def write(self, text: str) -> None:
        """Write a text and a line end. Quiet once nobody reads any more."""
        if not self._is_open:
            return
        try:
            self._stream.write(text + "\n")
            self._stream.flush()
        except BrokenPipeError:
            self._is_open = False
            with contextlib.suppress(OSError):
                # Else the interpreter complains when it flushes the stream at its end.
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


class Progress:
    """One line on standard error while a run takes longer than a moment: `running, 3 s (import)`.

    On a terminal it replaces itself and is erased at the end; elsewhere a line is written now and then.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        lines_at: Sequence[int] = LINES_AT,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._lines_at = lines_at
        self._replaces = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._label = ""
        self._phase = "import"
        self._began = clock()
        self._shown = ""
        self._due = list(lines_at)

    def begin(self, label: str = "") -> None:
        """A run begins; `label` tells it from others."""
        self._label, self._phase, self._began = label, "import", self._clock()
        self._due = list(self._lines_at)

    def enter(self, phase: str) -> None:
        """The run goes on to its next phase."""
        self._phase = phase

    def tick(self) -> None:
        """Show how it stands, if that is due."""
        seconds = self._clock() - self._began
        if seconds < QUIET_SECONDS:
            return
        text = f"running{f' {self._label}' if self._label else ''}, {int(seconds)} s ({self._phase})"
        if self._replaces:
            if text != self._shown:
                self._write(_ERASE + text)
                self._shown = text
        elif self._due and seconds >= self._due[0]:
            self._due = [due for due in self._due if due > seconds]
            self._write(text + "\n")

    def end(self) -> None:
        """The run is over."""
        if self._shown:
            self._write(_ERASE)
            self._shown = ""

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self._stream.write(text)
            self._stream.flush()


def _may_color() -> bool:
    """Whether a terminal's user has nothing against colour (no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
