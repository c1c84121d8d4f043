"""Runs of examples: from what a file, its configuration and the command line say to trace documents."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..analysis.examples import BrokenExample, FoundExample, spec_of
from ..document.model import Document, RunError
from ..document.request import ExampleSpec, RunRequest
from ..server.config import Configuration
from ..server.interpreter import Choice, InterpreterError, choose
from ..server.interpreter_probe import environment_of, written
from ..server.recipes import examples_of
from ..server.root import Root, find_root
from ..server.worker_client import run_once
from .exits import UsageError
from .sources import read_source
from .terminal import Progress

COMMAND_LINE = "command-line"
CALL_NAME = "command line"
"""Name of the example that `--call` gives."""
TICK_SECONDS = 0.1
_PACKAGE = "package:"


@dataclass(frozen=True)
class Subject:
    """One file with all that its runs need."""

    file: Path
    text: str
    root: Root

    @property
    def configuration(self) -> Configuration:
        """Its root's."""
        return self.root.configuration

    def examples(self) -> list[FoundExample]:
        """Its examples, in the order in which they are run."""
        return examples_of(self.file, self.text, self.configuration)


@dataclass(frozen=True)
class Result:
    """What became of one example."""

    document: Document
    printed: str = ""
    """What the run wrote to its standard output and error."""


def subject_of(file: Path) -> Subject:
    """The subject of a file. Raises UsageError where it cannot be read."""
    return Subject(file, read_source(file), find_root(file))


def refuse_problems(subject: Subject) -> None:
    """Raise UsageError for what is wrong with the configuration of a file; say what is wrong beside that."""
    configuration = subject.configuration
    fatal = configuration.problems_for(subject.file)
    if fatal:
        raise UsageError("the configuration is at fault\n" + "\n".join(f"{problem}" for problem in fatal))
    for problem in configuration.problems:
        print(f"torchlens-lsp: of another file: {problem}", file=sys.stderr)


class Interpreters:
    """The interpreters of files, each found once. `python` is what the user names instead."""

    def __init__(self, python: str | None) -> None:
        self._python = python
        self._found: dict[tuple[Path, Path | None], Choice] = {}

    def command_for(self, subject: Subject) -> tuple[str, ...]:
        """The command of the interpreter that runs the file. Raises UsageError where there is none.

        An environment that the user may have meant is never passed over in silence.
        """
        key = (subject.root.folder, environment_of(subject.file))
        choice = self._found.get(key)
        if choice is None:
            try:
                choice = choose(subject.root.folder, subject.file, python=self._python)
            except InterpreterError as error:
                raise UsageError(str(error)) from error
            self._found[key] = choice
            for note in _passed_over(choice):
                print(f"torchlens-lsp: {note}", file=sys.stderr)
        if choice.taken is None:
            raise UsageError(choice.failure())
        return choice.taken.command


def _passed_over(choice: Choice) -> Iterator[str]:
    taken = choice.taken
    if taken is None:
        return
    for candidate in choice.passed_over:
        if not candidate.is_environment:
            continue
        yield (
            f"running {written(taken.command)} ({taken.source}) instead of {written(candidate.command)} "
            f"({candidate.source}): {candidate.fault}"
        )


def watched_by(options: Sequence[str]) -> tuple[str, ...]:
    """What `--watch` means, relative paths made absolute from where the user stands. Raises UsageError."""
    result = []
    for item in options:
        if item.startswith(_PACKAGE):
            result.append(item)
            continue
        path = os.path.abspath(os.path.expanduser(item))
        if not any(char in item for char in "*?") and not os.path.exists(path):
            raise UsageError(
                f"--watch: there is no file or folder {item}, and `package:NAME` is how a package is named"
            )
        result.append(path)
    return tuple(result)


def request_for(subject: Subject, spec: ExampleSpec, timeout: float | None, watch: Sequence[str] = ()) -> RunRequest:
    """The request for one run."""
    configuration = subject.configuration
    return RunRequest(
        file=str(subject.file),
        root=str(subject.root.folder),
        example=spec,
        watch=(*configuration.watch, *watch),
        timeout=timeout or configuration.timeout,
        import_timeout=configuration.import_timeout,
        threads=configuration.threads,
        env=configuration.env,
    )


def overridden(found: FoundExample, options: argparse.Namespace) -> FoundExample:
    """The example as the options of `trace` change it."""
    if isinstance(found, BrokenExample):
        return found
    changes: dict[str, object] = {}
    if options.mode is not None:
        changes["mode"] = options.mode
    if options.no_grad:
        changes["grad"] = False
    if options.seed is not None:
        changes["seed"] = options.seed
    return replace(found, **changes)  # type: ignore[arg-type]


def run_example(
    found: FoundExample,
    subject: Subject,
    interpreters: Interpreters,
    progress: Progress,
    *,
    timeout: float | None = None,
    watch: Sequence[str] = (),
) -> Result:
    """Run one example to its end; of a broken one, say what is wrong with it.

    Raises UsageError where there is no interpreter for it, and KeyboardInterrupt, with the worker ended, where the
    user has had enough.
    """
    if isinstance(found, BrokenExample):
        return Result(broken_document(found))
    interpreter = interpreters.command_for(subject)
    request = request_for(subject, found, timeout, watch)
    return asyncio.run(_run(interpreter, request, subject.configuration.memory, progress))


async def _run(interpreter: Sequence[str], request: RunRequest, memory: int | None, progress: Progress) -> Result:
    printed: list[str] = []
    ticking = asyncio.create_task(_tick(progress))
    try:
        document = await run_once(
            interpreter, request, log=printed.append, progress=progress.enter, memory_limit=memory
        )
    finally:
        ticking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await ticking
        progress.end()
    return Result(document, "".join(printed))


async def _tick(progress: Progress) -> None:
    while True:
        await asyncio.sleep(TICK_SECONDS)
        progress.tick()


def broken_document(broken: BrokenExample) -> Document:
    """The document of an example that cannot be run."""
    example = broken.example.example()
    error = RunError("build", broken.kind, broken.message, example.uri, broken.range)
    return Document(example, "bad-example", error=error)


def name_of(found: FoundExample) -> str:
    """The example's name."""
    return spec_of(found).name
