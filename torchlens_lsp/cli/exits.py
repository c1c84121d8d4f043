"""Exit codes: what each means, and which of them a document's outcome is."""

from __future__ import annotations

from ..document.model import Document
from ..document.request import CONFIGURATION_FAULTS, INTERNAL

OK = 0
FOUND = 1
"""The model raised, or `check` found something."""
USAGE = 2
"""Usage, configuration, or a bad example."""
LIMIT = 3
"""The deadline or the memory cap."""
DIED = 4
"""The process died."""
STOPPED = 5
"""Not trusted, or stopped by the guard."""
FAULT = 70
"""A fault of ours."""
INTERRUPTED = 130
"""Ctrl-C."""
TERMINATED = 143

PLEASE_REPORT = "this is a fault of torchlens-lsp, not of your code: please report it, with all that is printed here"

_BY_STATUS = {
    "ok": OK,
    "error": FOUND,
    "bad-example": USAGE,
    "no-example": USAGE,
    "timeout": LIMIT,
    "out-of-memory": LIMIT,
    "crashed": DIED,
    "stopped": STOPPED,
    "untrusted": STOPPED,
    "cancelled": INTERRUPTED,
}


class UsageError(Exception):
    """Something that the user has to change about the command, the configuration or the example."""

    code = USAGE


def exit_code(document: Document) -> int:
    """The exit code that one run alone would have."""
    kind = document.error.type if document.error is not None else ""
    if document.status != "ok":
        if kind == INTERNAL:
            return FAULT
        if kind in CONFIGURATION_FAULTS:
            return USAGE
    return _BY_STATUS[document.status]


def gravest(codes: list[int]) -> int:
    """The exit code of several runs: the highest, which is the gravest."""
    return max(codes, default=OK)
