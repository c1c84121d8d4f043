"""`torchlens-lsp trace`: run a file's examples and print what happened."""

from __future__ import annotations

import argparse
import difflib
import shlex
import sys
from collections.abc import Sequence

from ..analysis.examples import BrokenExample, FoundExample, fault_of_call
from ..analysis.suggestion import suggest_examples
from ..document.model import Document, RunError
from ..document.request import ExampleSpec
from ..server.recipes import MAIN_BLOCK
from .exits import FAULT, PLEASE_REPORT, USAGE, UsageError, exit_code, gravest
from .runs import (
    CALL_NAME,
    COMMAND_LINE,
    Interpreters,
    Result,
    Subject,
    name_of,
    overridden,
    refuse_problems,
    run_example,
    subject_of,
    watched_by,
)
from .sources import existing_file, shown
from .terminal import Output, Progress

MAX_PRINTED_LINES = 20
"""Lines of what a failed run printed that are shown unasked."""


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code. Raises UsageError."""
    watch = watched_by(options.watch)
    subject = subject_of(existing_file(options.file))
    refuse_problems(subject)
    examples = [overridden(found, options) for found in _chosen(subject, options)]
    if not examples:
        return _without_example(subject, options)
    interpreters, progress = Interpreters(options.python), Progress()
    output = Output(options.color, options.width)
    results: list[Result] = []
    for found in examples:
        progress.begin(name_of(found) if len(examples) > 1 else "")
        result = run_example(found, subject, interpreters, progress, timeout=options.timeout, watch=watch)
        results.append(result)
        if options.format == "text":
            _print_text(output, subject, result, len(examples) > 1)
        _print_printed(result, options.show_output)
    documents = [result.document for result in results]
    if options.format == "json":
        from ..document.expand import dumps

        output.write(dumps(documents))
    codes = [exit_code(document) for document in documents]
    if FAULT in codes:
        print(f"torchlens-lsp: {PLEASE_REPORT}", file=sys.stderr)
    if any(document.status == "no-example" for document in documents):
        print(f"torchlens-lsp: {_how_to_write_one(subject, has_main_block=True)}", file=sys.stderr)
    return gravest(codes)


def _chosen(subject: Subject, options: argparse.Namespace) -> list[FoundExample]:
    """The examples that are asked for."""
    if options.call is not None:
        spec = ExampleSpec(name=CALL_NAME, call=options.call.strip(), origin=COMMAND_LINE)
        fault = fault_of_call(spec.call)
        return [spec if fault is None else BrokenExample(spec, *fault, None)]
    examples = subject.examples()
    if options.example is None:
        return examples
    found = [each for each in examples if name_of(each) == options.example]
    if not found:
        raise UsageError(_unknown_example(subject, options.example, [name_of(each) for each in examples]))
    return found


def _unknown_example(subject: Subject, name: str, known: Sequence[str]) -> str:
    if not known:
        return _how_to_write_one(subject)
    near = difflib.get_close_matches(name, known, n=1)
    question = f"; did you mean {near[0]!r}?" if near else ""
    return f"{shown(subject.file)} has no example {name!r}{question} It has: {', '.join(map(repr, known))}"


def _without_example(subject: Subject, options: argparse.Namespace) -> int:
    message = _how_to_write_one(subject)
    if options.format == "json":
        from ..document.expand import dumps

        error = RunError("build", "NoExample", message, subject.file.as_uri())
        Output().write(dumps([Document(status="no-example", error=error)]))
    print(f"torchlens-lsp: {message}", file=sys.stderr)
    return USAGE


def _how_to_write_one(subject: Subject, has_main_block: bool = False) -> str:
    """What to do about a file that has nothing to run."""
    suggested = suggest_examples(subject.text)
    calls = suggested or ["Net()(torch.randn(2, 3))"]
    what = (
        f"the `{MAIN_BLOCK}` of {shown(subject.file)} calls no class or function of the file that could be traced"
        if has_main_block
        else f"{shown(subject.file)} has no example to run"
    )
    fill = ", with the `...` filled in" if "..." in calls[0] else ""
    lines = [
        f"{what}. Write one above the class or function, as a comment{fill}:",
        "",
        *(f"    # torchlens: {call}" for call in calls),
        "",
        f"or pass it: torchlens-lsp trace {shown(subject.file)} --call {shlex.quote(calls[0])}",
    ]
    return "\n".join(lines)


def _print_text(output: Output, subject: Subject, result: Result, is_one_of_several: bool) -> None:
    from .picture import picture

    output.write(picture(result.document, subject.file, subject.text, output, with_header=is_one_of_several))


def _print_printed(result: Result, everything: bool) -> None:
    """What the run printed: all of it if it is asked for, its last lines where the run failed."""
    lines = result.printed.rstrip().split("\n") if result.printed.strip() else []
    if not lines or not (everything or result.document.status not in ("ok", "bad-example")):
        return
    hidden = 0 if everything else max(len(lines) - MAX_PRINTED_LINES, 0)
    more = f" ({hidden} lines before these; --show-output shows all)" if hidden else ""
    print("\n".join([f"the run printed{more}:", *lines[hidden:]]), file=sys.stderr)
