"""The status line of every editor: what an example's own line says once its run has ended, and times in words."""

from __future__ import annotations

import re

from ..document.model import Document, RunError
from ..document.request import CONFIGURATION_FAULTS

_LIMIT = re.compile(r"still here after ([\d.e+-]+ s)")
"""How the worker tells which deadline passed."""
_SHORT = {"cancelled": "cancelled", "untrusted": "not trusted", "no-example": "", "bad-example": "bad example"}


def example_status(document: Document) -> str:
    """`ran in 14 ms`, `failed at line 31`, `stopped: after 20 s at line 13`; empty where there is nothing to say."""
    status, error = document.status, document.error
    if status in _SHORT:
        return _SHORT[status]
    if error is None:
        return f"ran in {duration(document.durations.call_s)}" if status == "ok" else status
    first = error.message.partition("\n")[0]
    if error.type in CONFIGURATION_FAULTS:
        return f"stopped: {first}"
    place = _place(error, document)
    if status == "error":
        return f"failed at {place}" if place else "failed"
    at = f" at {place}" if place else ""
    if status == "timeout":
        limit = _LIMIT.search(error.message)
        return f"stopped: after {limit[1]}{at}" if limit else f"stopped: out of time{at}"
    if status == "out-of-memory":
        return f"stopped: out of memory{at}"
    if status == "crashed":
        return f"stopped: the process died{at}"
    return f"stopped: {first.removeprefix('stopped ')}"


def duration(seconds: float) -> str:
    """A time as one says it: `0.4 ms`, `14 ms`, `1.2 s`."""
    if seconds >= 1:
        return f"{seconds:.1f} s"
    thousandths = seconds * 1000
    return f"{thousandths:.0f} ms" if thousandths >= 10 else f"{thousandths:.1f} ms"


def _place(error: RunError, document: Document) -> str:
    """`line 31`, in another file than the example's `blocks.py:31`; at the example itself nothing."""
    example = document.example
    if error.uri is None or error.range is None or (error.uri, error.range) == (example.uri, example.range):
        return ""
    line = error.range.start_line + 1
    return f"line {line}" if error.uri == example.uri else f"{error.uri.rpartition('/')[2]}:{line}"
