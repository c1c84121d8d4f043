"""How many hints stand close together: at most 20 in any 60 lines, as far as there are any that repeat others.

Left out is only what a reader sees anyway, the most obvious first, and only where it is crowded. What tells anything
new stays, however crowded it is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from ...document.model import CALL, NONE, Statement
from ..view import View
from .branches import KINDS as TEST_KINDS

WINDOW = 60
"""Lines that are looked at together: about a screen."""
MOST = 20
"""Hints that these may hold."""


class Labelled(Protocol):
    """What is thinned out."""

    @property
    def line(self) -> int:
        """0-based."""

    @property
    def label(self) -> str:
        """The whole text."""


T = TypeVar("T", bound=Labelled)


def thinned(view: View, file: int, hints: Sequence[T]) -> list[T]:
    """The hints of a file, by line, without some of those that repeat others."""
    lines = [hint.line for hint in hints]
    if not any(is_crowded(lines, line) for line in lines):
        return list(hints)
    left_out = surplus(lines, _repeating(view, file, {hint.line: hint.label for hint in hints}))
    return [hint for hint in hints if hint.line not in left_out]


def surplus(lines: Iterable[int], spare: Iterable[int]) -> set[int]:
    """Those of the `spare` lines, taken in order, without which their surroundings are less crowded."""
    kept: list[int] = []
    for line in lines:
        insort(kept, line)
    found: set[int] = set()
    for line in spare:
        if line not in found and is_crowded(kept, line):
            found.add(line)
            del kept[bisect_left(kept, line)]
    return found


def is_crowded(lines: Sequence[int], line: int) -> bool:
    """Whether some window around a line holds too many of the sorted `lines`."""
    first, last = bisect_left(lines, line - WINDOW + 1), bisect_right(lines, line)
    return any(bisect_left(lines, lines[at] + WINDOW) - at > MOST for at in range(first, last))


def _repeating(view: View, file: int, labels: Mapping[int, str]) -> Iterator[int]:
    """Lines whose hints can be missed, the most obvious first; of several alike the last first."""
    statements = view.document.files[file].statements
    rows = [row for row in statements if row.range.start_line in labels]
    yield from reversed(list(_known_results(view, statements, labels)))
    yield from reversed(list(_same_tests(rows, labels)))
    yield from reversed([line for line in labels if labels.get(line - 1) == labels[line] and _is_shape(labels[line])])
    yield from reversed([row.range.start_line for row in rows if _is_before_the_call(view, row)])
    yield from reversed(list(_seen_in_arms(statements, labels)))


def _known_results(view: View, statements: Iterable[Statement], labels: Mapping[int, str]) -> Iterator[int]:
    """Lines of a `return x` that say what the last assignment to `x` above them said."""
    told: dict[tuple[int, str], str] = {}
    for row in statements:
        line = row.range.start_line
        if len(row.targets) == 1 and row.targets[0].end[0] in labels:
            told[row.function, row.targets[0].name] = labels[row.targets[0].end[0]]
        elif row.kind == "return" and row.value != NONE and line in labels:
            name = row.function, view.index.site(row.value).expr
            if told.get(name) == labels[line]:
                yield line


def _same_tests(rows: Iterable[Statement], labels: Mapping[int, str]) -> Iterator[int]:
    """Lines of tests that are written, and went, as one further up in their function."""
    known: set[tuple[int, str, str]] = set()
    for row in rows:
        if row.kind in TEST_KINDS and row.test is not None:
            key = row.function, row.test.expr, labels[row.range.start_line]
            if key in known:
                yield row.range.start_line
            known.add(key)


def _seen_in_arms(statements: Sequence[Statement], labels: Mapping[int, str]) -> Iterator[int]:
    """Lines of tests that went one way, as the hints in that arm show."""
    told = {(row.parent, row.arm) for row in statements if row.range.start_line in labels}
    for number, row in enumerate(statements):
        arm = {"True": "body", "False": "else"}.get(labels.get(row.range.start_line, ""))
        if row.test is not None and arm is not None and (number, arm) in told:
            yield row.range.start_line


def _is_shape(label: str) -> bool:
    return "[" in label and not label.startswith(("True", "False"))


def _is_before_the_call(view: View, row: Statement) -> bool:
    """Whether a test or a loop ran while the model was built, or the file imported, and never in the traced call."""
    document = view.document
    if row.test is not None and row.kind in TEST_KINDS:
        calls = [document.branches.call[at] for at in view.branch_rows(row.test.site)[:1]]
    else:
        calls = [document.loops.call[at] for at in view.loop_rows(row.loop)[:1]]
    return any(view.phase_of(call) != CALL for call in calls)
