"""One file of a trace document as rows: its source lines with their hints and errors."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.errors import explain
from ..analysis.hints import hints_of
from ..analysis.lines import split_lines, utf16_offset
from ..analysis.view import View
from ..document.index import DocumentIndex
from ..document.model import Range
from .layout import Row, cell_width, visible

MARK = "~"
INDENT = "  "


def rows_of(index: DocumentIndex, file: int, text: str) -> list[Row]:
    """The rows of the file with that index in the document; `text` is its source."""
    document = index.document
    view = View(document, index=index)
    source = document.files[file]
    lines = split_lines(text)
    asleep: set[int] = set()
    for number in source.not_run:
        where = source.statements[number].range
        asleep.update(range(where.start_line, where.end_line + 1))
    error = document.error
    below: dict[int, tuple[str, ...]] = {}
    if error is not None and error.uri == source.uri and error.range is not None:
        below[error.range.end_line] = underlined(lines, error.range, explained(view))
    hints = {hint.line: hint.label for hint in hints_of(view, file)}
    return [
        Row(line, hints.get(number, ""), number not in asleep, below.get(number, ()))
        for number, line in enumerate(lines)
    ]


def explained(view: View) -> list[str]:
    """The lines that are said of a run's error: in words, then the exception's own, then what led to it."""
    words = explain(view)
    own = view.document.error.uri if view.document.error is not None else None
    places = [
        f"{INDENT}{each.text}"
        if each.uri == own
        else f"{INDENT}{each.message} ({each.uri.rpartition('/')[2]}:{each.range.start_line + 1})"
        for each in words.related
    ]
    return [words.summary, *([words.detail] if words.detail else []), *places]


def underlined(lines: Sequence[str], where: Range, message: Sequence[str]) -> tuple[str, ...]:
    """What stands under the last line of a range: marks under its text there, and a message under these."""
    line = lines[where.end_line] if where.end_line < len(lines) else ""
    start = utf16_offset(line, where.start_character) if where.start_line == where.end_line else 0
    end = utf16_offset(line, where.end_character)
    before, marked = line[:start], line[start:end]
    blank = marked[: len(marked) - len(marked.lstrip())]
    left = cell_width(visible(before + blank))
    width = max(cell_width(visible(before + marked)) - left, 1)
    texts = [INDENT + text for part in message for text in split_lines(part)]
    return (" " * left + MARK * width, *texts)
