"""What really happened in a marker file: it is traced as it stands, and the document is read for facts."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.markers.markers import Fact, without_markers
from torchlens_lsp.analysis.errors import explain
from torchlens_lsp.analysis.hints import Hint, hints_of
from torchlens_lsp.analysis.lines import utf16_offset
from torchlens_lsp.analysis.view import View
from torchlens_lsp.document.model import NONE, Document, Range, Statement
from torchlens_lsp.document.request import ExampleSpec, RunRequest
from torchlens_lsp.server.config import Configuration
from torchlens_lsp.server.recipes import examples_of
from torchlens_lsp.server.worker_client import run_once

SECONDS = 60.0
"""A marker file's run may take so long: the machine may be busy."""


def trace(path: Path) -> Document:
    """Run a marker file's first example in a worker of its own, without its markers, as the file at `path`."""
    text, _ = without_markers(path.read_text(encoding="utf-8"))
    example = examples_of(path, text, Configuration())[0]
    assert isinstance(example, ExampleSpec), example
    request = RunRequest(
        file=str(path),
        root=str(path.parent),
        example=example,
        overlays={str(path): text},
        timeout=SECONDS,
        import_timeout=SECONDS,
        threads=1,
    )
    return asyncio.run(run_once([sys.executable], request))


def facts_in(document: Document, path: Path) -> list[Fact]:
    """The facts of a run of `path`, at the lines that the code has with its markers."""
    text, numbers = without_markers(path.read_text(encoding="utf-8"))
    lines = text.split("\n")
    view = View(document)
    file = next(index for index, file in enumerate(document.files) if file.uri == path.as_uri())
    found = [*_hints(document, view, file), *_ops(document, file), *_not_run(document, file), *_error(view, path)]
    return [
        Fact(numbers[fact.line], utf16_offset(lines[fact.line], fact.caret), fact.kind, fact.text, fact.column)
        for fact in found
    ]


def _hints(document: Document, view: View, file: int) -> Iterator[Fact]:
    for hint in hints_of(view, file):
        yield Fact(hint.line, _subject(document, file, hint), "hint", hint.label, hint.character)


def _subject(document: Document, file: int, hint: Hint) -> int:
    """The character that a new marker of a hint points at: what is bound, tested or returned on that line."""
    for row in document.files[file].statements:
        if row.header_end[0] == hint.line or row.range.start_line == hint.line:
            return _part(document, file, row).start_character
    return 1


def _part(document: Document, file: int, row: Statement) -> Range:
    source = document.files[file]
    site = row.test.site if row.test else row.targets[0].site if row.targets else row.value
    if row.defines != NONE:
        return source.functions[row.defines].name_range
    return row.range if site == NONE else document.site(site).range


def _ops(document: Document, file: int) -> Iterator[Fact]:
    last = {op.site: op for op in document.ops if op.file == file and op.site != NONE}
    for site, op in last.items():
        place = document.site(site).range
        yield Fact(place.start_line, place.start_character, "op", op.label)


def _not_run(document: Document, file: int) -> Iterator[Fact]:
    source = document.files[file]
    for index in source.not_run:
        place = source.statements[index].range
        yield Fact(place.start_line, place.start_character, "not run")


def _error(view: View, path: Path) -> Iterator[Fact]:
    error = view.document.error
    if error is not None and error.uri == path.as_uri() and error.range is not None:
        place = error.range
        yield Fact(place.start_line, place.start_character, "error", explain(view).summary)
