"""From a running or failing instruction to the source: which file, which range, which site."""

from __future__ import annotations

from bisect import bisect_right
from types import CodeType
from typing import Any, NamedTuple

from ..document.model import NONE, Range, SourceFile
from .text import SourceText

HAS_POSITIONS = hasattr(CodeType, "co_positions")
"""CPython 3.11 and later know the range of every instruction, before it only the line."""


class Place(NamedTuple):
    """Where an instruction stands."""

    file: int
    site: int
    """Evaluation site of the very expression, or NONE."""
    range: Range


class WatchedFile:
    """One watched file as it is needed while it runs."""

    def __init__(
        self, index: int, path: str, text: str, file: SourceFile, marked: list[bool], marks: bytearray
    ) -> None:
        self.index = index
        self.path = path
        self.source = SourceText(text)
        self.file = file
        self.marked = marked
        self.marks = marks
        self.site_by_range: dict[Range, int] = {}
        for local, site in enumerate(file.sites):
            if site.role == "evaluation":
                self.site_by_range.setdefault(site.range, file.first_site + local)
        for statement in file.statements:
            if statement.kind == "augassign" and statement.targets:
                self.site_by_range.setdefault(statement.range, statement.targets[0].site)
        self._starts = [statement.range.start_line for statement in file.statements]

    def statement_at(self, line: int) -> int:
        """Index of the innermost statement whose own code stands on 0-based `line`, or NONE."""
        statements = self.file.statements
        best = NONE
        for index in range(bisect_right(self._starts, line) - 1, -1, -1):
            row = statements[index]
            if row.range.start_line <= line <= max(row.range.end_line, row.header_end[0]):
                best = index
                break
        return best

    def line_range(self, line: int) -> Range:
        """Range of the code on 0-based `line`: of the statement's header that stands there, else the line's text."""
        index = self.statement_at(line)
        if index != NONE:
            row = self.file.statements[index]
            return Range(row.range.start_line, row.range.start_character, *row.header_end)
        text = self.source.lines[min(line, len(self.source.lines) - 1)]
        start = len(text) - len(text.lstrip())
        return Range(line, start, line, max(start, len(text.rstrip())))


class Positions:
    """All watched files by the name that their code carries."""

    def __init__(self) -> None:
        self.by_path: dict[str, WatchedFile] = {}
        self.files: list[WatchedFile] = []
        self._places: dict[tuple[int, int], tuple[CodeType, Place | None]] = {}
        self._tables: dict[int, list[_Position]] = {}
        """By id of the code, which `_places` holds."""

    def add(self, file: WatchedFile) -> None:
        """Add a file; of two of one path (a module that was loaded again) the later one is looked up."""
        self.files.append(file)
        self.by_path[file.path] = file

    def site_at(self, code: CodeType, instruction: int) -> int:
        """Evaluation site of the expression that the instruction at `f_lasti` is part of, or NONE."""
        place = self.place(code, instruction)
        return place.site if place else NONE

    def place(self, code: CodeType, instruction: int) -> Place | None:
        """Place of an instruction of watched code; None for other code."""
        key = id(code), instruction
        known = self._places.get(key)
        if known is not None:
            return known[1]
        file = self.by_path.get(code.co_filename)
        place = self._find(file, code, instruction) if file else None
        self._places[key] = (code, place)  # holding the code keeps its id from being given away
        return place

    def _find(self, file: WatchedFile, code: CodeType, instruction: int) -> Place | None:
        range_ = None
        if HAS_POSITIONS:
            # Each code object's table is read once: it can only be read from its beginning.
            table = self._tables.get(id(code))
            if table is None:
                table = self._tables[id(code)] = _positions_of(code)
            range_ = _range_at(file.source, table, instruction)
        if range_ is None:
            number = line_of(code, instruction)
            if not 0 < number <= len(file.source.lines):
                return None
            return Place(file.index, NONE, file.line_range(number - 1))
        return Place(file.index, file.site_by_range.get(range_, NONE), range_)


_Position = tuple["int | None", "int | None", "int | None", "int | None"]


def instruction_range(source: SourceText, code: CodeType, instruction: int) -> Range | None:
    """Range of an instruction, None where the interpreter does not know it."""
    return _range_at(source, _positions_of(code), instruction) if HAS_POSITIONS else None


def _positions_of(code: Any) -> list[_Position]:
    return list(code.co_positions())


def _range_at(source: SourceText, positions: list[_Position], instruction: int) -> Range | None:
    if not 0 <= instruction // 2 < len(positions):
        return None
    line, end_line, column, end_column = positions[instruction // 2]
    if line is None or end_line is None or column is None or end_column is None or end_line > len(source.lines):
        return None
    return Range(*source.position(line, column), *source.position(end_line, end_column))


def line_of(code: CodeType, instruction: int) -> int:
    """1-based line of an instruction."""
    found = code.co_firstlineno
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            found = line
    return found
