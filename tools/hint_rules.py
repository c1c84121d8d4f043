"""What holds of the hints of any file: few, short, whole, and true.

Written against the document alone, so that it does not share the mistakes of what makes the hints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from torchlens_lsp.analysis.hints import Hint, hints_of
from torchlens_lsp.analysis.view import View
from torchlens_lsp.document.model import Document
from torchlens_lsp.document.values import CONTAINER, TENSOR, ValueTable

MOST_CHARACTERS = 34
WINDOW_LINES, MOST_IN_WINDOW = 60, 20
SHAPE = re.compile(r"(?<![\w\]])((?:bool|[a-z]+\d+(?:e\d+m\d+)?)?)\[([\d, *]*)\]")
"""A shape with its dtype, if it has one: `f32[2, 3]`, `[2,3]`, `[]`."""

Shape = tuple[str, ...]


def problems_of_document(document: Document) -> Iterator[str]:
    """Every hint, of every watched file, that breaks a rule; in words."""
    view = View(document)
    for number, file in enumerate(document.files):
        name = file.uri.rpartition("/")[2]
        hints = hints_of(view, number)
        for problem in (*_too_long(hints), *_too_many(hints), *_untrue(document, number, hints)):
            yield f"{name}: {problem}"


def _too_long(hints: Iterable[Hint]) -> Iterator[str]:
    for hint in hints:
        if len(hint.label) > MOST_CHARACTERS:
            yield f"line {hint.line + 1}: {len(hint.label)} characters: {hint.label}"
        if "…" in hint.label or "..." in hint.label:
            yield f"line {hint.line + 1}: cut: {hint.label}"


def _too_many(hints: Sequence[Hint]) -> Iterator[str]:
    lines = [hint.line for hint in hints]
    for index, line in enumerate(lines):
        within = sum(line <= other < line + WINDOW_LINES for other in lines[index : index + WINDOW_LINES])
        if within > MOST_IN_WINDOW:
            yield f"{within} hints in the {WINDOW_LINES} lines from line {line + 1}"
            return


def _untrue(document: Document, file: int, hints: Iterable[Hint]) -> Iterator[str]:
    """Hints with a shape that no value at any expression of their statement had."""
    source = document.files[file]
    by_site = _shapes_by_site(document, source.first_site, len(source.sites))
    for hint in hints:
        first, last = _statement_lines(document, file, hint.line)
        there = {
            shape
            for site, shapes in by_site.items()
            if first <= source.sites[site].range.start_line and source.sites[site].range.end_line <= last
            for shape in shapes
        }
        for _, sizes in SHAPE.findall(hint.label):
            shape = tuple(size.strip() for size in sizes.split(",")) if sizes.strip() else ()
            if shape not in there:
                yield f"line {hint.line + 1}: no value there ever was [{sizes}]: {hint.label}"


def _shapes_by_site(document: Document, first: int, count: int) -> dict[int, set[Shape]]:
    """The shapes of all tensors in all values of each site of a file, by the site's number within it."""
    found: dict[int, set[Shape]] = {}
    known: dict[int, set[Shape]] = {}
    for site, value in zip(document.evaluations.site, document.evaluations.value, strict=True):
        if first <= site < first + count:
            if value not in known:
                known[value] = set(_shapes_in(document.values, value))
            found.setdefault(site - first, set()).update(known[value])
    return found


def _shapes_in(values: ValueTable, value: int) -> Iterator[Shape]:
    if values.kind[value] == TENSOR:
        yield tuple(str(size) for size in values.metas[values.ref[value]].shape)
    elif values.kind[value] == CONTAINER:
        for item in values.containers[values.ref[value]].items:
            yield from _shapes_in(values, item)


def _statement_lines(document: Document, file: int, line: int) -> tuple[int, int]:
    """First and last line of the innermost statement that is on the line."""
    around = [
        statement.range
        for statement in document.files[file].statements
        if statement.range.start_line <= line <= statement.range.end_line
    ]
    if not around:
        return line, line
    innermost = min(around, key=lambda range_: range_.end_line - range_.start_line)
    return innermost.start_line, innermost.end_line
