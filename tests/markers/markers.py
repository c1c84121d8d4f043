"""Marker files: real Python files whose expectations stand in comments under the code.

    h = self.proj(x)
    #   ^ hint [2, 4]
    #   ^ op linear_1_1

A marker belongs to the nearest line above it that is no marker; its caret stands under what it is about. `hint` is
the hint at the end of that line, `hint@42` one whose UTF-16 column is asserted too; `op` the label of the last op
that the expression at the caret made; `error` the first line of the error whose range begins there; `not run` a
statement that begins there and never ran. Every kind that a file uses at all must match one to one: a hint, an error
or a statement that did not run without its marker is a failure as much as a marker without it.

This module knows text alone; what really happened comes as `Fact`s from `facts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_MARKER = re.compile(
    r"^\s*#(?P<space> *)\^ (?P<kind>hint|op|error|not run)(?:@(?P<column>\d+))?(?: (?P<text>.*\S))?\s*$"
)

KINDS = ("hint", "op", "error", "not run")
COMPLETE = ("hint", "error", "not run")
"""Kinds whose every fact must have its marker."""


@dataclass(frozen=True, order=True)
class Fact:
    """One thing that is so, or is expected: on 0-based `line`, about what stands at `caret`."""

    line: int
    caret: int
    kind: str
    text: str = ""
    column: int | None = None
    """UTF-16 column of a hint, where it is asserted."""


@dataclass(frozen=True)
class Marker:
    """A fact as a file expects it, and the line of the comment that says so."""

    fact: Fact
    written_at: int


def is_marker(line: str) -> bool:
    """Whether a line is nothing but a marker."""
    return _MARKER.match(line) is not None


def parse(text: str) -> list[Marker]:
    """The markers of a file. Raises ValueError for one that stands above any code."""
    markers: list[Marker] = []
    code = -1
    for number, line in enumerate(text.split("\n")):
        match = _MARKER.match(line)
        if match is None:
            code = number
            continue
        if code < 0:
            raise ValueError(f"line {number + 1}: a marker needs code above it")
        column = match["column"]
        fact = Fact(code, line.index("^"), match["kind"], match["text"] or "", int(column) if column else None)
        markers.append(Marker(fact, number))
    return markers


def without_markers(text: str) -> tuple[str, list[int]]:
    """The text without its markers, and for each remaining line the number it had."""
    kept = [(number, line) for number, line in enumerate(text.split("\n")) if not is_marker(line)]
    return "\n".join(line for _, line in kept), [number for number, _ in kept]


def compare(markers: Sequence[Marker], facts: Iterable[Fact], text: str) -> list[str]:
    """What does not match, as lines for people; empty if all does."""
    lines = text.split("\n")
    problems: list[str] = []
    left = list(facts)
    used = {marker.fact.kind for marker in markers}
    for marker in markers:
        wanted = marker.fact
        there = [fact for fact in left if (fact.kind, fact.line) == (wanted.kind, wanted.line) and _meets(wanted, fact)]
        exact = [fact for fact in there if fact.text == wanted.text and wanted.column in (None, fact.column)]
        if exact:
            left.remove(exact[0])
            continue
        found = ", ".join(_said(fact, wanted.column is not None) for fact in there) or "nothing"
        problems.append(f"line {marker.written_at + 1}: expected {_said(wanted)}, found {found}")
        for fact in there[:1]:
            left.remove(fact)
    for fact in left:
        if fact.kind in COMPLETE and (fact.kind in used or fact.kind != "not run"):
            problems.append(f"line {fact.line + 1}: no marker for {_said(fact)} at `{lines[fact.line].strip()}`")
    return problems


def _meets(wanted: Fact, fact: Fact) -> bool:
    """Hints are one a line, so that their caret says only what a reader should look at; others stand at a place."""
    return wanted.kind == "hint" or wanted.caret == fact.caret


def _said(fact: Fact, with_column: bool = True) -> str:
    column = f"@{fact.column}" if with_column and fact.column is not None else ""
    return f"{fact.kind}{column} {fact.text}".rstrip()


def rewrite(text: str, facts: Sequence[Fact]) -> str:
    """The text with markers for `facts`: those that were there keep their caret and whether they assert a column."""
    markers = parse(text)
    asserted = {(marker.fact.line, marker.fact.kind) for marker in markers if marker.fact.column is not None}
    carets = {(m.fact.line, m.fact.kind): m.fact.caret for m in markers if m.fact.kind == "hint"}
    kinds = {marker.fact.kind for marker in markers} | {"hint", "error"}
    by_line: dict[int, list[str]] = {}
    told = [fact for fact in facts if fact.kind != "op"] + _asked_for(markers, facts)
    for fact in sorted(told, key=lambda fact: (fact.line, KINDS.index(fact.kind), fact.caret)):
        if fact.kind not in kinds:
            continue
        caret = max(carets.get((fact.line, fact.kind), fact.caret), 1)
        shown = fact.column is not None and (fact.line, fact.kind) in asserted
        said = f"{fact.kind}{f'@{fact.column}' if shown else ''} {fact.text}".rstrip()
        indent = min(caret - 1, _indent(text.split("\n")[fact.line]))
        by_line.setdefault(fact.line, []).append(f"{' ' * indent}#{' ' * (caret - indent - 1)}^ {said}")
    result: list[str] = []
    for number, line in enumerate(text.split("\n")):
        if not is_marker(line):
            result.append(line)
            result.extend(by_line.get(number, ()))
    return "\n".join(result)


def _asked_for(markers: Sequence[Marker], facts: Sequence[Fact]) -> list[Fact]:
    """An op for each marker of one: of several expressions that begin at a place, a file names those it is about."""
    asked = [marker.fact for marker in markers if marker.fact.kind == "op"]
    found = [fact for fact in facts if fact in asked]
    for wanted in asked:
        others = (fact for fact in facts if (fact.line, fact.caret, fact.kind) == (wanted.line, wanted.caret, "op"))
        if wanted not in found:
            found.extend([fact for fact in others if fact not in found][:1])
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
