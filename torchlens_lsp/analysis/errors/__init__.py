"""Errors in words: what met what, where each came from, and what called it.

The first line says it in the terms of the user's own code where a rule knows the error (one file for each family of
rules); torch's own message follows, unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from ...document.model import Range, RunError
from ...document.request import CONFIGURATION_FAULTS
from ..view import View
from . import dtypes, indexing, kinds, layers, products
from .assertions import failed_assertion
from .facts import Facts
from .finding import Finding
from .history import history
from .layer_names import made
from .origins import Origin, Origins

__all__ = ["Explained", "Related", "explain"]

MAX_CALLERS = 5
"""Callers that are told, innermost first; a place that called itself over and over is one."""

_RULES = (products.rules, layers.rules, kinds.rules, dtypes.rules, indexing.rules)
_NATIVE_STACK = "\nException raised from "
"""What torch's C++ stack begins with, where its message has one."""


@dataclass(frozen=True)
class Related:
    """Something elsewhere that explains the error."""

    message: str
    """Without its line, which `range` has."""
    uri: str
    range: Range

    @property
    def text(self) -> str:
        """The message with its line, for people."""
        return f"{self.message} (line {self.range.start_line + 1})"


@dataclass(frozen=True)
class Explained:
    """An error as it is shown."""

    summary: str
    """One line."""
    detail: str
    """The exception's own text; empty where the summary is all of it."""
    related: tuple[Related, ...]


def explain(view: View) -> Explained:
    """The error of a run in words. Raises ValueError for a run without one."""
    error = view.document.error
    if error is None:
        raise ValueError("the run has no error")
    message = error.message.partition(_NATIVE_STACK)[0].strip()
    finding = _finding(error, view)
    if finding is not None:
        return Explained(finding.summary, message, tuple(_related(error, view, finding)))
    first, _, rest = message.partition("\n")
    named = f"{error.type}: {first}" if first else error.type
    is_ours = view.document.status not in ("ok", "error") or error.type in CONFIGURATION_FAULTS
    return Explained(first if is_ours and first else named, rest, tuple(_callers(error, view)))


def _finding(error: RunError, view: View) -> Finding | None:
    if view.document.status != "error":
        return None
    if error.type == "AssertionError" and not error.message:
        return failed_assertion(view)
    facts = Facts(error, view.index)
    return next((found for rules in _RULES if (found := rules.find(facts)) is not None), None)


def _related(error: RunError, view: View, finding: Finding) -> Iterator[Related]:
    # In order and without repetitions: two operands may have come out of one op, a recursion through one line.
    yield from dict.fromkeys((*_origins(error, view, finding), *_callers(error, view)))


def _origins(error: RunError, view: View, finding: Finding) -> Iterator[Related]:
    if finding.made_for and error.module is not None:
        layer = made(error.module, view.index)
        if layer is not None:
            yield Related(f"{layer.name} was made for {finding.made_for}", layer.uri, layer.range)
    origins = Origins(view.index)
    for wrong in finding.sizes:
        origin = origins.of_size(wrong)
        if origin is not None:
            yield _told(f"the {wrong.size}", wrong.tensor.name, origin)
    for named in finding.dtypes:
        # The dtype of the call's input is what everything else was expected to be.
        if named.dtype != view.dtype or len(finding.dtypes) == 1:
            for name, origin in origins.of_dtype(named):
                yield _told(f"the {named.dtype_text}", name, origin)
    if finding.value is not None:
        for happening in history(finding.value, error, view.index):
            yield Related(*happening)


def _told(what: str, name: str, origin: Origin) -> Related:
    return Related(f"{what} of {name} {origin.how}" if name else f"{what} {origin.how}", origin.uri, origin.range)


def _callers(error: RunError, view: View) -> Iterator[Related]:
    """The watched calls around the failing one, innermost first."""
    watched = {file.uri for file in view.document.files}
    around = [frame for frame in error.stack if frame.uri in watched]
    innermost = next(
        (n for n, f in reversed(list(enumerate(around))) if (f.uri, f.range) == (error.uri, error.range)), 0
    )
    callers = groupby(reversed(around[:innermost]))
    for _, (frame, frames) in zip(range(MAX_CALLERS), callers, strict=False):
        name = frame.function.rpartition(".<locals>.")[2]
        times = len(list(frames))
        again = f", {times} times" if times > 1 else ""
        yield Related(f"called from {'the module' if name == '<module>' else name}{again}", frame.uri, frame.range)
