"""One file of a trace document as rows: its source lines with their hints and errors."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.annotate import INDENT, AnnotatedLine, annotate
from ..analysis.lines import utf16_offset
from ..analysis.view import View
from ..document.index import DocumentIndex
from ..document.model import Range
from .layout import Row, cell_width, visible

MARK = "~"


def rows_of(index: DocumentIndex, file: int, text: str) -> list[Row]:
    """The rows of the file with that index in the document; `text` is its source."""
    view = View(index.document, index=index)
    return [Row(line.text, line.hint, line.ran is not False, _below(line)) for line in annotate(view, file, text)]


def underlined(lines: Sequence[str], where: Range, message: Sequence[str]) -> tuple[str, ...]:
    """What stands under the last line of a range: marks under its text there, and a message under these."""
    line = lines[where.end_line] if where.end_line < len(lines) else ""
    start = utf16_offset(line, where.start_character) if where.start_line == where.end_line else 0
    return _under(line, start, utf16_offset(line, where.end_character), message)


def _below(line: AnnotatedLine) -> tuple[str, ...]:
    return () if line.error is None else _under(line.text, line.error.start, line.error.end, line.error.lines)


def _under(line: str, start: int, end: int, message: Sequence[str]) -> tuple[str, ...]:
    before, marked = line[:start], line[start:end]
    blank = marked[: len(marked) - len(marked.lstrip())]
    left = cell_width(visible(before + blank))
    width = max(cell_width(visible(before + marked)) - left, 1)
    return (" " * left + MARK * width, *(INDENT + text for text in message))
