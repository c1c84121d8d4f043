"""Hints: for each line at most one, made of pieces that each know where they come from.

One file per kind; this one walks over a file's statements, puts what they have to say onto their lines, and makes it
fit. The failing line has no hint: its diagnostic speaks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...document.model import NONE, Range, Statement
from ..view import View
from .bindings import KINDS as BINDING_KINDS
from .bindings import Bindings
from .branches import test_piece
from .functions import definition_piece, parameter_pieces
from .pieces import HintSettings, Piece, fitted
from .values import value_piece

__all__ = ["Hint", "HintSettings", "Part", "hints_of"]


@dataclass(frozen=True)
class Part:
    """A part of a hint's label."""

    text: str
    tooltip: str
    link: tuple[str, Range] | None = None


@dataclass(frozen=True)
class Hint:
    """What is shown at the end of one line."""

    line: int
    """0-based."""
    character: int
    """UTF-16 character where the code that it tells of ends."""
    parts: tuple[Part, ...]
    kind: str
    """Kind of the first thing that it tells of: `assign`, `def`, `if`, `for`, `return`, …"""
    order: int
    """Row of the last evaluation that it tells of: its place in the run's order."""

    @property
    def label(self) -> str:
        """The whole text."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True)
class _Placed:
    line: int
    character: int
    kind: str
    piece: Piece


def hints_of(view: View, file: int, settings: HintSettings = HintSettings()) -> list[Hint]:  # noqa: B008 (frozen)
    """The hints of one watched file, by line."""
    by_line: dict[int, list[_Placed]] = {}
    failing = _failing_lines(view, file)
    for placed in _pieces(view, file, settings):
        if placed.line not in failing:
            by_line.setdefault(placed.line, []).append(placed)
    hints = []
    for line in sorted(by_line):
        there = by_line[line]
        shown = fitted([placed.piece for placed in there], settings.max_length)
        if shown:
            parts = tuple(
                Part((_before(piece) if number else "") + piece.texts[0], piece.tooltip, piece.link)
                for number, piece in enumerate(shown)
            )
            character = max(placed.character for placed in there)
            hints.append(Hint(line, character, parts, there[0].kind, max(piece.order for piece in shown)))
    return hints


def _before(piece: Piece) -> str:
    return " " if piece.is_tail else piece.joint


def _failing_lines(view: View, file: int) -> range:
    error = view.document.error
    if error is None or error.range is None or error.uri != view.document.files[file].uri or error.type == "Timeout":
        return range(0)
    return range(error.range.start_line, error.range.end_line + 1)


def _pieces(view: View, file: int, settings: HintSettings) -> Iterator[_Placed]:
    bindings = Bindings(view, file)
    for row in view.document.files[file].statements:
        start = row.range.start_line
        if row.kind == "def":
            yield from _definition(view, file, row, settings)
        elif row.kind in BINDING_KINDS and settings.assignments and row.targets:
            line = row.targets[-1].end[0]
            for piece in bindings.pieces(row, settings):
                yield _Placed(line, row.header_end[1] if row.header_end[0] == line else 0, row.kind, piece)
        elif row.kind in ("return", "yield") and settings.returns and not (row.chain and settings.chains):
            piece_ = value_piece(view, row.value, view.look(dtype=settings.dtype))
            if piece_ is not None:
                yield _Placed(start, row.header_end[1] if row.header_end[0] == start else 0, row.kind, piece_)
        elif row.kind in ("if", "elif", "assert") and settings.tests:
            tested = test_piece(view, row.test, row.kind, settings)
            if tested is not None:
                yield _Placed(start, row.header_end[1] if row.header_end[0] == start else 0, row.kind, tested)
        elif row.loop != NONE and settings.loops:
            turned = _loop_piece(view, row.loop)
            if turned is not None:
                yield _Placed(start, row.header_end[1] if row.header_end[0] == start else 0, row.kind, turned)
        if settings.chains:
            yield from _chain(view, row, settings)


def _definition(view: View, file: int, row: Statement, settings: HintSettings) -> Iterator[_Placed]:
    function = view.document.files[file].functions[row.defines]
    line, character = function.header_end
    on_last: list[Piece] = []
    if settings.parameters:
        for at, piece in parameter_pieces(view, function, settings):
            if at == line:
                on_last.append(piece)
            else:
                yield _Placed(at, 0, "def", piece)
    ran = definition_piece(view, file, row.defines) if settings.definitions else None
    if ran is not None and on_last and view.picked is None:
        # The parameters tell the shapes already.
        # The parameters tell the shapes already.
        on_last.append(replace(ran, texts=ran.texts[-1:], is_tail=True))
    elif ran is not None:
        on_last.append(ran)
    for piece in on_last:
        yield _Placed(line, character, "def", piece)


def _loop_piece(view: View, site: int) -> Piece | None:
    """`×12`; where its executions differ, the shown one and how many further numbers of turns there were."""
    rows = view.loop_rows(site)
    if not rows:
        return None
    loops = view.document.loops
    shown = loops.iterations[view.shown_row(rows, loops)]
    further = len({loops.iterations[row] for row in rows}) - 1
    order = max(loops.at[rows[-1]] - 1, 0)
    return Piece((f"×{shown:,}",), f" +{further}" if further else "", order=order)


def _chain(view: View, row: Statement, settings: HintSettings) -> Iterator[_Placed]:
    """Each line of a method chain has its own hint."""
    look = view.look(dtype=settings.dtype)
    for site in row.chain:
        piece = value_piece(view, site, look)
        if piece is not None:
            place = view.index.site(site).range
            yield _Placed(place.end_line, place.end_character, row.kind, piece)
