"""`torchlens-lsp doctor`: what applies to a file, and why. Starts nothing that lies in the file's root."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import __version__
from ..analysis.examples import BrokenExample, spec_of
from ..server.config import Configuration
from ..server.interpreter import Candidate, Choice, InterpreterError, choose, known_of, lies_in, repository_of
from ..server.interpreter_probe import written
from ..server.settings import SETTINGS
from .exits import OK, USAGE
from .runs import Subject, subject_of
from .sources import existing_file, shown
from .terminal import Output

_TRUST = (
    "`trace` and `check` run this file, because whoever types them asks for it; nothing else runs it. `doctor` started "
    "nothing that lies in the root or its repository."
)

Report = dict[str, Any]


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code: whether `trace` could begin. Raises UsageError."""
    subject = subject_of(existing_file(options.file))
    report = examine(subject, options.python)
    if options.format == "json":
        Output().write(json.dumps(report, indent=2))
    else:
        Output().write("\n".join(_lines(report)))
    return OK if report["faults"] == [] else USAGE


def examine(subject: Subject, python: str | None) -> Report:
    """All that is known, as JSON values; `faults` are what keeps `trace` from running the file."""
    choice, fault = _choice(subject, python)
    examples = subject.examples()
    taken = choice.taken if choice is not None else None
    faults = [f"{problem}" for problem in subject.configuration.problems_for(subject.file)]
    faults += [] if fault is None else [fault]
    faults += [f"example {spec_of(each).name}: {each.message}" for each in examples if isinstance(each, BrokenExample)]
    if not examples:
        faults.append("the file has no example: `torchlens-lsp trace` says how to write one")
    return {
        "version": __version__,
        "file": str(subject.file),
        "root": {"path": str(subject.root.folder), "reason": subject.root.reason},
        "configuration": _configuration(subject.configuration),
        "examples": [
            {
                "name": spec_of(each).name,
                "call": spec_of(each).call,
                "origin": spec_of(each).origin,
                "line": where.start_line + 1 if (where := spec_of(each).range) is not None else None,
                "fault": each.message if isinstance(each, BrokenExample) else None,
            }
            for each in examples
        ],
        "interpreter": {
            "command": list(taken.command) if taken is not None else None,
            "python": taken.known.python if taken is not None and taken.known is not None else None,
            "torch": taken.known.torch if taken is not None and taken.known is not None else None,
            "candidates": [
                {"source": each.source, "command": list(each.command), "verdict": each.verdict}
                for each in (choice.candidates if choice is not None else ())
            ],
        },
        "trust": _TRUST,
        "faults": faults,
    }


def _choice(subject: Subject, python: str | None) -> tuple[Choice | None, str | None]:
    """The interpreters, and what is wrong if none can be taken."""
    root = subject.root.folder
    repository = repository_of(root)

    def may_start(path: str) -> bool:
        return not lies_in(repository, path)

    try:
        choice = choose(root, subject.file, python=python, may_start=may_start)
    except InterpreterError as error:
        return None, str(error)
    if python is not None:
        choice = Choice(tuple(_looked_at(each, root, may_start) for each in choice.candidates))
    return choice, None if choice.taken is not None else choice.failure()


def _looked_at(named: Candidate, root: Path, may_start: Callable[[str], bool]) -> Candidate:
    """The interpreter that the user named, with what is known of it."""
    known = known_of(named, root, may_start)
    fault = known.fault(named.command)
    return replace(named, known=known, fault=fault, is_taken=fault is None)


def _configuration(configuration: Configuration) -> Report:
    settings = {}
    for setting in SETTINGS:
        value = getattr(configuration, setting.name.replace("-", "_"))
        is_default = value == setting.default
        settings[setting.name] = {
            "value": list(value) if isinstance(value, tuple) else value,
            "source": "default" if is_default else str(configuration.path),
        }
        if is_default and setting.default_text:
            settings[setting.name]["meaning"] = setting.default_text
    return {
        "path": str(configuration.path) if configuration.path is not None else None,
        "settings": settings,
        "problems": [f"{problem}" for problem in configuration.problems],
    }


def _lines(report: Report) -> Iterator[str]:
    yield f"torchlens-lsp {report['version']}"
    yield f"file         {report['file']}"
    yield f"root         {report['root']['path']}  ({report['root']['reason']})"
    yield from _configuration_lines(report["configuration"])
    yield ""
    yield "examples" if report["examples"] else "examples     none"
    for example in report["examples"]:
        line = f" (line {example['line']})" if example["line"] is not None else ""
        yield f"  {example['name']}: {example['origin']}{line}  {' '.join(example['call'].split())}".rstrip()
        if example["fault"]:
            yield f"    fault: {example['fault']}"
    yield ""
    yield from _interpreter_lines(report["interpreter"])
    yield ""
    yield f"trust        {report['trust']}"
    yield ""
    if report["faults"]:
        yield "`torchlens-lsp trace` cannot run this file yet:"
        yield from (f"  - {fault}".replace("\n", "\n    ") for fault in report["faults"])
    else:
        yield f"`torchlens-lsp trace {shown(Path(report['file']))}` can run this file."


def _configuration_lines(configuration: Report) -> Iterator[str]:
    yield f"settings     {configuration['path'] or 'the defaults: no pyproject.toml has a [tool.torchlens-lsp]'}"
    for name, setting in configuration["settings"].items():
        value = setting["value"]
        value = setting.get("meaning", f"{value:g}" if isinstance(value, float) else json.dumps(value))
        source = "" if setting["source"] == "default" else "  (set)"
        yield f"  {name:14} {value}{source}"
    yield from (f"  fault: {problem}" for problem in configuration["problems"])


def _interpreter_lines(interpreter: Report) -> Iterator[str]:
    yield f"interpreter  {written(interpreter['command']) if interpreter['command'] else 'none'}"
    for candidate in interpreter["candidates"]:
        command = f": {written(candidate['command'])}" if candidate["command"] else ""
        yield f"  {candidate['source']}{command}"
        yield f"    {candidate['verdict']}"
