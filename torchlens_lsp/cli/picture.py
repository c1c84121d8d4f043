"""What `trace` prints of one run: annotated source, then what it came to in one line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..analysis.annotate import explanation
from ..analysis.lines import split_lines
from ..analysis.view import View
from ..document.index import DocumentIndex
from ..document.model import CALL, Document, RunError
from .exits import UsageError
from .findings import first_nan
from .layout import RAN_MARGIN, Row, place
from .rows import rows_of, underlined
from .sources import path_of, read_source, shown, shown_briefly
from .terminal import Output
from .words import amount, milliseconds, outcome

CONTEXT = 2
"""Lines around an error that are shown where the whole file is not."""
CALLING = ("Module._call_impl", "Module._wrapped_call_impl")
"""Frames between a module's call and its forward, which tell nothing."""
WORTH_SAYING_SECONDS = 0.1
"""A build that took less is not mentioned."""
MAX_STACK = 12
"""Frames of a stack that are shown; of a longer one, its ends."""


def picture(document: Document, file: Path, text: str, output: Output, *, with_header: bool) -> str:
    """All that is printed of a run of `file`, whose source is `text`, without the last line's end."""
    return "\n".join(_Picture(document, file, text, output).parts(with_header))


class _Picture:
    def __init__(self, document: Document, file: Path, text: str, output: Output) -> None:
        self._document = document
        self._file = file
        self._text = text
        self._output = output
        self._index = DocumentIndex(document)

    def parts(self, with_header: bool) -> Iterator[str]:
        """Everything, from top to bottom."""
        document = self._document
        if with_header:
            call = " ".join(document.example.call.split())
            yield self._styled(f"━━ {document.example.name}" + (f"  {call}" if call else ""), "bold")
        if self._has_something_to_show():
            yield from self._files()
        elif document.error is not None:
            yield from self._excerpt(document.error)
        yield from self._stack()
        nan = first_nan(document)
        if nan is not None:
            yield f"note: {nan}"
        for note in document.notes:
            yield f"note: {note}"
        if document.dropped:
            left_out = ", ".join(f"{count:,} {what}" for what, count in document.dropped.items())
            yield f"note: left out to stay within bounds: {left_out}"
        yield self._styled(summary(document), "green" if document.status == "ok" else "bold red")
        if with_header:
            yield ""

    # --- source --------------------------------------------------------------------------------------------------

    def _has_something_to_show(self) -> bool:
        """Whether the run came far enough that its whole source tells something."""
        return any(call.phase == CALL for call in self._document.calls)

    def _files(self) -> Iterator[str]:
        """The file itself, and the other watched files that have something to say."""
        own = self._file.as_uri()
        yield self._rows(self._rows_of_uri(own, self._text))
        for uri in dict.fromkeys(file.uri for file in self._document.files):
            path = path_of(uri)
            if uri == own or path is None:
                continue
            try:
                text = read_source(path)
            except UsageError:
                continue
            rows = self._rows_of_uri(uri, text)
            if any(row.hint or row.below for row in rows):
                yield ""
                yield self._styled(f"── {shown(path)}", "bold")
                yield self._rows(rows)

    def _rows_of_uri(self, uri: str, text: str) -> list[Row]:
        """Rows of a file; without hints where it is not (or no longer) what was run."""
        sha256 = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        for number, file in enumerate(self._document.files):
            if file.uri == uri and file.sha256 == sha256:
                return rows_of(self._index, number, text)
        return [Row(line) for line in split_lines(text)]

    def _rows(self, rows: Sequence[Row]) -> str:
        rows = list(rows)
        while rows and not rows[-1].text.strip() and not rows[-1].below:
            rows.pop()
        width = self._output.width
        if not self._output.color:
            return "\n".join(row.plain() for row in place(rows, width and width - len(RAN_MARGIN)))
        from .color import colored_rows

        return colored_rows(place(rows, width))

    # --- errors --------------------------------------------------------------------------------------------------

    def _excerpt(self, error: RunError) -> Iterator[str]:
        """The lines around an error, or its message alone where it has no place."""
        path = path_of(error.uri) if error.uri is not None else None
        message = explanation(View(self._document, index=self._index))
        if path is None or error.range is None:
            yield "\n".join(message)
            return
        try:
            lines = split_lines(self._text if path == self._file else read_source(path))
        except UsageError:
            lines = []
        if error.range.end_line >= len(lines):
            yield "\n".join(message)
            return
        first = max(error.range.start_line - CONTEXT, 0)
        last = min(error.range.end_line + CONTEXT, len(lines) - 1)
        yield self._styled(f"── {shown(path)}, line {error.range.start_line + 1}", "bold")
        below = underlined(lines, error.range, message)
        yield self._rows(
            [
                Row(lines[number], below=below if number == error.range.end_line else ())
                for number in range(first, last + 1)
            ]
        )

    def _stack(self) -> Iterator[str]:
        error = self._document.error
        stack = [frame for frame in error.stack if frame.function not in CALLING] if error is not None else []
        if len(stack) < 2:
            return
        frames = [_frame(frame.uri, frame.range.start_line, frame.function) for frame in stack]
        hidden = len(frames) - MAX_STACK
        if hidden > 0:
            half = MAX_STACK // 2
            frames = [*frames[:half], f"  … {hidden} more", *frames[-half:]]
        yield "\n".join(["stack, outermost first:", *frames])

    def _styled(self, text: str, style: str) -> str:
        if not self._output.color:
            return text
        from .color import colored

        return colored(text, style)


def summary(document: Document) -> str:
    """What a run came to: `ok · 61 ops · 14 ms call · 1.2 s import`."""
    ops = sum(op.target not in ("input", "output", "buffer") for op in document.ops)
    durations = document.durations
    parts = [outcome(document)]
    if ops:
        parts.append(amount(ops, "op"))
    if durations.call_s:
        parts.append(f"{milliseconds(durations.call_s)} call")
    if durations.build_s >= WORTH_SAYING_SECONDS:
        parts.append(f"{milliseconds(durations.build_s)} build")
    if durations.import_s:
        parts.append(f"{milliseconds(durations.import_s)} import")
    return " · ".join(parts)


def _frame(uri: str, line: int, function: str) -> str:
    path = path_of(uri)
    return f"  {shown_briefly(path) if path is not None else uri}:{line + 1} in {function}"
