"""Hints: for each line at most one, made of pieces that each know where they come from.

One file per kind; this one walks over a file's statements, puts what they have to say onto their lines, and makes it
fit. Where several things stand on a line, they are told in the order of the code. The failing line has no hint: its
diagnostic speaks.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...document.model import NONE, Range, Statement
from ..view import View
from .bindings import KINDS as BINDING_KINDS
from .bindings import Bindings
from .branches import KINDS as TEST_KINDS
from .branches import test_piece
from .chains import chain_pieces
from .density import thinned
from .functions import definition_pieces
from .loops import loop_piece
from .pieces import HintSettings, Piece, fitted
from .values import value_piece

__all__ = ["Hint", "HintSettings", "Part", "hints_of"]


@dataclass(frozen=True)
class Part:
    """A part of a hint's label."""

    text: str
    """With what stands between it and the part before it."""
    piece: Piece
    """What it tells of, for `details`."""


@dataclass(frozen=True)
class Hint:
    """What is shown at the end of one line."""

    line: int
    """0-based."""
    character: int
    """UTF-16 character where the code that it tells of ends, 0 where that is on another line. The hint itself goes to
    the line's end."""
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
    counts: Range | None = None
    """The function whose calls it counts, None if it is another piece."""


def hints_of(view: View, file: int, settings: HintSettings = HintSettings()) -> list[Hint]:  # noqa: B008 (frozen)
    """The hints of one watched file, by line."""
    by_line: dict[int, list[_Placed]] = {}
    failing = _failing_lines(view, file)
    for placed in _worth_saying(list(_Pieces(view, file, settings))):
        if placed.line not in failing:
            by_line.setdefault(placed.line, []).append(placed)
    hints = [hint for line in sorted(by_line) if (hint := _hint(by_line[line], settings.max_length)) is not None]
    return thinned(view, file, hints)


def _hint(there: list[_Placed], limit: int) -> Hint | None:
    parts = tuple(Part(text, piece) for text, piece in fitted([placed.piece for placed in there], limit))
    if not parts:
        return None
    first = there[0]
    character = max(placed.character for placed in there)
    return Hint(first.line, character, parts, first.kind, max(part.piece.order for part in parts))


def _worth_saying(pieces: list[_Placed]) -> Iterator[_Placed]:
    """The pieces without those that count the calls of a function of which nothing else is told."""
    told = sorted(placed.line for placed in pieces if placed.counts is None)
    for placed in pieces:
        body = placed.counts
        if body is None or bisect_left(told, body.start_line) < bisect_right(told, body.end_line):
            yield placed


def _failing_lines(view: View, file: int) -> range:
    error = view.document.error
    if error is None or error.range is None or error.uri != view.document.files[file].uri or error.type == "Timeout":
        return range(0)
    return range(error.range.start_line, error.range.end_line + 1)


class _Pieces:
    """Everything that there is to say of a file's statements, each with its place."""

    def __init__(self, view: View, file: int, settings: HintSettings) -> None:
        self._view = view
        self._number = file
        self._file = view.document.files[file]
        self._settings = settings
        self._look = view.look(dtype=settings.dtype)
        self._bindings = Bindings(view, file)

    def __iter__(self) -> Iterator[_Placed]:
        settings = self._settings
        by_kind: dict[str, tuple[bool, Callable[[Statement], Iterator[_Placed]]]] = {
            "def": (True, self._definition),
            "for": (settings.loops, self._for),
            "while": (settings.loops, self._loop),
            "return": (settings.returns, self._result),
            "yield": (settings.returns, self._result),
            **dict.fromkeys(BINDING_KINDS, (settings.assignments, self._targets)),
            **dict.fromkeys(TEST_KINDS, (settings.tests, self._test)),
        }
        nothing = (False, self._test)
        for row in self._file.statements:
            is_on, pieces = by_kind.get(row.kind, nothing)
            if is_on:
                yield from pieces(row)
            if row.chain and settings.chains:
                for site, piece in chain_pieces(self._view, row, self._look):
                    place = self._view.index.site(site).range
                    yield _Placed(place.end_line, place.end_character, row.kind, piece)

    def _definition(self, row: Statement) -> Iterator[_Placed]:
        for line, character, piece in definition_pieces(self._view, self._number, row.defines, self._settings):
            yield _Placed(line, character, "def", piece, row.range if piece.site == NONE else None)

    def _targets(self, row: Statement) -> Iterator[_Placed]:
        """At the line with the last target."""
        if not row.targets:
            return
        line, character = row.targets[-1].end
        if row.header_end[0] == line:
            character = row.header_end[1]
        for piece in self._bindings.pieces(row, self._settings):
            yield _Placed(line, character, row.kind, piece)

    def _for(self, row: Statement) -> Iterator[_Placed]:
        yield from self._loop(row)
        for piece in self._bindings.pieces(row, self._settings):
            yield self._at_keyword(row, piece)

    def _loop(self, row: Statement) -> Iterator[_Placed]:
        piece = loop_piece(self._view, row.loop) if row.loop != NONE else None
        if piece is not None:
            yield self._at_keyword(row, piece)

    def _test(self, row: Statement) -> Iterator[_Placed]:
        piece = test_piece(self._view, row.test, row.kind, self._settings)
        if piece is not None:
            yield self._at_keyword(row, piece)

    def _result(self, row: Statement) -> Iterator[_Placed]:
        """What is returned or yielded, unless it is a chain whose lines say so themselves."""
        if row.chain and self._settings.chains:
            return
        piece = value_piece(self._view, row.value, self._look)
        if piece is not None:
            yield self._at_keyword(row, piece)

    @staticmethod
    def _at_keyword(row: Statement, piece: Piece) -> _Placed:
        line = row.range.start_line
        return _Placed(line, row.header_end[1] if row.header_end[0] == line else 0, row.kind, piece)
