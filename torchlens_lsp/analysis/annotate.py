r"""A file's source with what happened written to its lines, as plain data for whoever prints it.

One entry for each line of the text, lines ending at `\n`, `\r\n` and `\r` alone. Columns are in code points of the
line, not in UTF-16. Nothing here knows terminals, widths or colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..document.model import NONE, Range
from .errors import explain
from .hints import HintSettings, hints_of
from .lines import split_lines, utf16_offset
from .status import example_status
from .view import View

INDENT = "  "
BETWEEN = " · "
"""Between a line's hint and the status of the example that stands on it."""


@dataclass(frozen=True)
class ErrorNote:
    """What is to be said under the line where a run failed."""

    start: int
    """Where the failing text begins in the line, in code points."""
    end: int
    lines: tuple[str, ...]
    """In words, then the exception's own text, then, indented, what led to it."""


@dataclass(frozen=True)
class AnnotatedLine:
    """One line of a file with what is known of it."""

    number: int
    """From 1."""
    text: str
    """Without its end."""
    hint: str
    ran: bool | None
    """False where all of its code was passed over in code that ran; None where there is no code, where the code
    around it never ran, and where the run ended before it is known."""
    error: ErrorNote | None


def annotate(
    view: View,
    file: int,
    text: str,
    settings: HintSettings = HintSettings(),  # noqa: B008 (frozen)
) -> list[AnnotatedLine]:
    """The lines of the document's file with that index, whose source is `text`."""
    lines = split_lines(text)
    hints = _hints(view, file, settings)
    ran = _Reached(view, file, lines).by_line()
    error = _error(view, file, lines)
    return [
        AnnotatedLine(number + 1, line, hints.get(number, ""), ran[number], error.get(number))
        for number, line in enumerate(lines)
    ]


def explanation(view: View) -> list[str]:
    """The lines that are said of a run's error: in words, then the exception's own, then, indented, what led to it."""
    told = explain(view)
    error = view.document.error
    own = error.uri if error is not None else None
    related = [
        each.text if each.uri == own else f"{each.message} ({each.uri.rpartition('/')[2]}:{each.range.start_line + 1})"
        for each in told.related
    ]
    detail = split_lines(told.detail) if told.detail else []
    return [told.summary, *detail, *(INDENT + text for text in related)]


def _hints(view: View, file: int, settings: HintSettings) -> dict[int, str]:
    """Hints by 0-based line, the example's own line among them."""
    found = {hint.line: hint.label for hint in hints_of(view, file, settings)}
    document = view.document
    example, error = document.example, document.error
    status = example_status(document)
    if example.uri != document.files[file].uri or example.range is None or not status:
        return found
    line = example.range.start_line
    is_failing = error is not None and error.uri == example.uri and error.range is not None
    if is_failing and error is not None and error.range is not None and error.range.end_line == line:
        return found  # the error speaks
    found[line] = BETWEEN.join(filter(None, (found.get(line, ""), status)))
    return found


def _error(view: View, file: int, lines: Sequence[str]) -> dict[int, ErrorNote]:
    """The error, by the 0-based line under which it is told: the last one of the failing expression."""
    error = view.document.error
    if error is None or error.range is None or error.uri != view.document.files[file].uri:
        return {}
    number = error.range.end_line
    if number >= len(lines):
        return {}
    line = lines[number]
    start = utf16_offset(line, error.range.start_character) if error.range.start_line == number else 0
    end = utf16_offset(line, error.range.end_character)
    start += len(line[start:end]) - len(line[start:end].lstrip())
    return {number: ErrorNote(start, max(end, start + 1), tuple(explanation(view)))}


class _Reached:
    """Which lines of one file ran."""

    def __init__(self, view: View, file: int, lines: Sequence[str]) -> None:
        self._view = view
        self._file = view.document.files[file]
        self._number = file
        self._lines = lines

    def by_line(self) -> list[bool | None]:
        """For each line, whether its code ran."""
        owners = self._owners()
        passed_over = self._passed_over()
        entered = {call.function for call in self._view.document.calls if call.file == self._number}
        ended, lines_seen = self._ends(), self._lines_with_events()
        found: list[bool | None] = []
        for number, line in enumerate(self._lines):
            owner = owners[number]
            code = line.strip()
            if owner == NONE or not code or code.startswith("#"):
                found.append(None)
            elif number in passed_over and _is_all(line, passed_over[number]):
                found.append(False)
            else:
                row = self._file.statements[owner]
                end = ended.get(row.function)
                cut_off = end is not None and row.range[:2] > end and number not in lines_seen
                found.append(None if cut_off or row.function not in entered else True)
        return found

    def _owners(self) -> list[int]:
        """The innermost statement on each line."""
        owners = [NONE] * len(self._lines)
        for index, row in enumerate(self._file.statements):
            for line in range(row.range.start_line, min(row.range.end_line + 1, len(owners))):
                owners[line] = index
        return owners

    def _passed_over(self) -> dict[int, list[tuple[int, int]]]:
        """Columns of each line that belong to statements which never ran."""
        found: dict[int, list[tuple[int, int]]] = {}
        for index in self._file.not_run:
            for line, start, end in _spans(self._file.statements[index].range, self._lines):
                found.setdefault(line, []).append((start, end))
        return found

    def _ends(self) -> dict[int, tuple[int, int]]:
        """Where the run ended, by the functions that it ended in."""
        error = self._view.document.error
        if error is None:
            return {}
        places = [frame.range for frame in error.stack if frame.uri == self._file.uri]
        if error.uri == self._file.uri and error.range is not None:
            places.append(error.range)
        found: dict[int, tuple[int, int]] = {}
        for place in places:
            around = [n for n, f in enumerate(self._file.functions) if f.range[:2] <= place[:2] < f.range[2:]]
            if around:
                function = max(around, key=lambda n: (self._file.functions[n].range[:2], n))
                found[function] = max(found.get(function, (0, 0)), place[2:])
        return found

    def _lines_with_events(self) -> set[int]:
        """Lines on which something was recorded."""
        index, first = self._view.index, self._file.first_site
        rows = {"evaluation": index.rows_of, "branch": index.branch_rows_of, "loop": index.loop_rows_of}
        return {site.range.start_line for local, site in enumerate(self._file.sites) if rows[site.role](first + local)}


def _spans(place: Range, lines: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """(line, start, end) of the parts of a range, in code points."""
    for number in range(place.start_line, min(place.end_line + 1, len(lines))):
        line = lines[number]
        start = utf16_offset(line, place.start_character) if number == place.start_line else 0
        end = utf16_offset(line, place.end_character) if number == place.end_line else len(line)
        yield number, start, end


def _is_all(line: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether these parts are all the code of a line, comments and semicolons apart."""
    rest = "".join(char for at, char in enumerate(line) if not any(start <= at < end for start, end in spans))
    return rest.replace(";", "").partition("#")[0].strip() == ""
