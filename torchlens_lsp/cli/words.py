"""Outcomes, amounts and times in words."""

from __future__ import annotations

from ..document.model import Document, RunError
from .sources import path_of, shown_briefly

_STATUS_WORDS = {
    "bad-example": "bad example",
    "no-example": "no example",
    "out-of-memory": "out of memory",
    "untrusted": "not trusted",
}
_NO_EXCEPTIONS = frozenset({"bad-example", "no-example", "timeout", "out-of-memory", "crashed", "stopped", "untrusted"})
"""Statuses whose error's type is no exception of the user's code."""


def outcome(document: Document) -> str:
    """How a run ended, with the first line of its error: `error · net.py:31 · ValueError: no`."""
    status = _STATUS_WORDS.get(document.status, document.status)
    error = document.error
    if error is None:
        return status
    message = error.message.strip().partition("\n")[0]
    if document.status not in _NO_EXCEPTIONS:
        message = f"{error.type}: {message}" if message else error.type
    return " · ".join(part for part in (status, place_of(error), message) if part)


def place_of(error: RunError) -> str:
    """File and line, counted from 1; empty where an error has no place."""
    path = path_of(error.uri)
    return f"{shown_briefly(path)}:{error.range.start_line + 1}" if path is not None and error.range is not None else ""


def amount(count: int, noun: str) -> str:
    """`1 op`, `1,024 ops`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def milliseconds(seconds: float) -> str:
    """A time as one says it: `0.4 ms`, `14 ms`, `1.2 s`."""
    if seconds >= 1:
        return f"{seconds:.1f} s"
    thousandths = seconds * 1000
    return f"{thousandths:.0f} ms" if thousandths >= 10 else f"{thousandths:.1f} ms"
