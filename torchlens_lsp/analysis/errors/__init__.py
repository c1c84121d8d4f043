"""Errors in words: what met what, where each came from, and what called it.

The first line says it in the terms of the user's own code where a rule knows the error (one file for each family of
rules); torch's own message follows, unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...document.model import Range, RunError
from ..view import View
from . import dtypes, indexing, layers, products
from .facts import Facts
from .finding import Finding
from .origins import Origins

__all__ = ["Explained", "Related", "explain"]

MAX_CALLERS = 5
"""Callers that are told, innermost first."""

_RULES = (products.rules, layers.rules, dtypes.rules, indexing.rules)


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
    finding = _finding(error, view)
    if finding is not None:
        return Explained(finding.summary, error.message, tuple(_related(error, view, finding)))
    first, _, rest = error.message.partition("\n")
    named = f"{error.type}: {first}" if first else error.type
    is_ours = view.document.status not in ("ok", "error")
    return Explained(first if is_ours and first else named, rest, tuple(_callers(error, view)))


def _finding(error: RunError, view: View) -> Finding | None:
    if view.document.status != "error":
        return None
    facts = Facts(error, view.index)
    return next((found for rules in _RULES if (found := rules.find(facts)) is not None), None)


def _related(error: RunError, view: View, finding: Finding) -> Iterator[Related]:
    origins = Origins(view.document)
    made = origins.of_module(error.module) if finding.made_for and error.module else None
    if made is not None:
        name, uri, place = made
        yield Related(f"{name} was made for {finding.made_for}", uri, place)
    for wrong in finding.sizes:
        op = origins.of_size(wrong)
        where = origins.place_of(op) if op is not None else None
        if op is not None and where is not None and where != (error.uri, error.range):
            of_what = f" of {wrong.tensor.name}" if wrong.tensor.name else ""
            yield Related(f"the {wrong.size}{of_what} was made by {op.label}", *where)
    yield from _callers(error, view)


def _callers(error: RunError, view: View) -> Iterator[Related]:
    """The watched calls around the failing one, innermost first."""
    watched = {file.uri for file in view.document.files}
    around = [frame for frame in error.stack if frame.uri in watched]
    innermost = next(
        (n for n, f in reversed(list(enumerate(around))) if (f.uri, f.range) == (error.uri, error.range)), 0
    )
    for frame in list(reversed(around[:innermost]))[:MAX_CALLERS]:
        name = frame.function.rpartition(".<locals>.")[2]
        yield Related(f"called from {'the module' if name == '<module>' else name}", frame.uri, frame.range)
