"""The document of a run whose worker could not answer: what ended it, and where it stood as far as that is known.

The place comes from the traceback that Python's `faulthandler` left in the crash file. Pure functions, the reading of
source files apart.
"""

from __future__ import annotations

import codecs
import os
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..document.model import Document, Durations, Frame, Range, RunError
from ..document.request import RunRequest

_THREAD = re.compile(r"^(Current thread|Thread) 0x[0-9a-f]+.*\(most recent call first\):$")
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$')
_LIBRARY_FOLDERS = frozenset({"site-packages", "dist-packages"})
_OURS = str(Path(__file__).resolve().parent.parent) + os.sep

_SIGNAL_WORDS = {
    "SIGSEGV": "segmentation fault",
    "SIGBUS": "bus error",
    "SIGABRT": "aborted by native code",
    "SIGFPE": "arithmetic error in native code",
    "SIGILL": "illegal instruction",
    "SIGKILL": "by the system, which may have run out of memory, or by another program",
}
_WINDOWS_STATUSES = {0xC0000005: "access violation", 0xC00000FD: "stack overflow", 0xC0000409: "aborted"}


class Line(NamedTuple):
    """One frame of a traceback that knows lines alone."""

    path: str
    line: int
    function: str


def obituary(
    request: RunRequest, status: str, kind: str, message: str, phase: str, traceback: str, durations: Durations
) -> Document:
    """The document of a run that ended with `status` in `phase`. `traceback` is the crash file's text."""
    frames = frames_of(traceback)
    error = RunError(phase, kind, message)
    error.stack = [Frame(_uri(f.path), _range(f, request), f.function) for f in frames if os.path.isabs(f.path)]
    place = place_in(frames, request)
    if place is not None:
        error.uri, error.range = _uri(place.path), _range(place, request)
    else:
        error.uri, error.range = request.example.uri, request.example.range
    return Document(request.example.example(), status, durations, error)


def frames_of(traceback: str) -> list[Line]:
    """The frames of the thread that tells most: the current one, or else the last (which is the first one started),
    outermost first and without ours. Empty where there is no traceback.
    """
    threads: list[tuple[bool, list[Line]]] = []
    for text in traceback.split("\n"):
        thread = _THREAD.match(text)
        frame = _FRAME.match(text)
        if thread:
            threads.append((thread[1] == "Current thread", []))
        elif frame and threads:
            threads[-1][1].append(Line(_unescaped(frame[1]), int(frame[2]), _unescaped(frame[3])))
    told = [(is_current, frames) for is_current, frames in threads if frames]
    current = [frames for is_current, frames in told if is_current]
    chosen = (current or [frames for _, frames in told[-1:]] or [[]])[0]
    return [frame for frame in reversed(chosen) if not frame.path.startswith(_OURS)]


def place_in(frames: Sequence[Line], request: RunRequest) -> Line | None:
    """The innermost frame in the file itself or in a file of the root, those of installed packages apart."""
    root = request.root.rstrip(os.sep) + os.sep
    for frame in reversed(frames):
        is_installed = not _LIBRARY_FOLDERS.isdisjoint(Path(frame.path).parts)
        if frame.path == request.file or (frame.path.startswith(root) and not is_installed):
            return frame
    return None


def describe_exit(status: int) -> str:
    """How a process ended, from its exit status (negative: the signal that killed it)."""
    if status >= 0:
        word = _WINDOWS_STATUSES.get(status)
        return f"was ended by the system: {word}" if word else f"ended itself with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    words = _SIGNAL_WORDS.get(name)
    return f"was killed by {name}" + (f" ({words})" if words else "")


def _range(frame: Line, request: RunRequest) -> Range:
    """The text on the frame's line."""
    index = max(frame.line - 1, 0)
    text = _line(frame.path, index, request)
    start = len(text) - len(text.lstrip())
    return Range(index, start, index, max(start, len(text.rstrip().encode("utf-16-le", "surrogatepass")) // 2))


def _line(path: str, index: int, request: RunRequest) -> str:
    text = request.overlays.get(path)
    if text is None:
        try:
            text = Path(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[index] if index < len(lines) else ""


def _uri(path: str) -> str:
    return Path(path).as_uri()


def _unescaped(text: str) -> str:
    r"""A name as it is: `faulthandler` writes ASCII alone, everything else as `\xe9` or `\u4e2d`."""
    if "\\" not in text or os.path.exists(text):
        return text
    return codecs.decode(text, "unicode_escape")
