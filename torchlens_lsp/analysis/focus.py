"""What a picked call brings with it: the calls around and below it, and when in those around it it ran.

A loop of a caller shows the turn in which the picked call was made, not its first.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from ..document.index import DocumentIndex
from ..document.model import NONE, Range, Statement

_Place = tuple[int, int]


class Moment(NamedTuple):
    """A point of a call's run, at a statement inside of a loop."""

    row: int
    """The first evaluation that came after it."""
    statement: _Place
    """Where the statement begins that was running."""
    loop: Range
    """The outermost loop around that statement."""


class Focus:
    """The calls that are looked at when one call is picked."""

    def __init__(self, index: DocumentIndex, picked: int | None) -> None:
        self._index = index
        self.picked = picked
        self._moments: dict[int, Moment | None] = {}

    @cached_property
    def around(self) -> list[int]:
        """The picked call and those around it, innermost first; of a recursive function the innermost alone."""
        if self.picked is None:
            return []
        found: dict[tuple[int, int], int] = {}
        for call in (self.picked, *self._index.parents_of(self.picked)):
            found.setdefault(self._function(call), call)
        return list(found.values())

    @cached_property
    def calls(self) -> frozenset[int]:
        """The picked call with those around and below it; empty where none is picked."""
        if self.picked is None:
            return frozenset()
        taken = {self._function(call) for call in self.around}
        found = set(self.around)
        todo = list(self._index.children_of(self.picked))
        while todo:
            call = todo.pop()
            if self._function(call) not in taken:
                found.add(call)
            todo.extend(self._index.children_of(call))
        return frozenset(found)

    @cached_property
    def functions(self) -> frozenset[tuple[int, int]]:
        """(file, function) of the calls in focus: what these did in other calls is not shown."""
        return frozenset(map(self._function, self.calls))

    def _function(self, call: int) -> tuple[int, int]:
        known = self._index.document.calls[call]
        return known.file, known.function

    def moment(self, call: int) -> Moment | None:
        """When in a call around the picked one that one ran, or when the picked one failed; None outside of loops."""
        if call not in self._moments:
            self._moments[call] = self._find_moment(call)
        return self._moments[call]

    def _find_moment(self, call: int) -> Moment | None:
        document = self._index.document
        around = self.around
        if call not in around:
            return None
        file = document.calls[call].file
        position = around.index(call)
        if position:
            inner = around[position - 1]
            rows = self._index.rows_in(inner)
            site = document.calls[inner].site
            if document.calls[inner].parent != call or site == NONE or not rows:
                return None
            return self._at(file, self._index.site(site).range[:2], rows[0])
        error = document.error
        if error is None or error.call != call or error.range is None or error.uri != document.files[file].uri:
            return None
        return self._at(file, error.range[:2], len(document.evaluations))

    def _at(self, file: int, place: _Place, row: int) -> Moment | None:
        statements = self._index.document.files[file].statements
        holding = [statement for statement in statements if _holds(statement.range, place)]
        statement = max(holding, key=lambda statement: statement.range[:2], default=None)
        loop: Range | None = None
        around: Statement | None = statement
        while around is not None:
            if around.loop != NONE and place > around.header_end:
                loop = around.range
            around = statements[around.parent] if around.parent != NONE else None
        if statement is None or loop is None:
            return None
        return Moment(row, statement.range[:2], loop)


def _holds(range_: Range, place: _Place) -> bool:
    return range_[:2] <= place < range_[2:]
