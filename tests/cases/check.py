#!/usr/bin/env python3
"""Hold `torchlens-lsp trace --format json` against cases whose facts plain PyTorch confirmed.

    python tests/cases/check.py [--command "torchlens-lsp"] [--folder DIR] [NAME_PREFIX ...]

Each case is a folder with model.py and case.json. `expect.lines["12"]` (1-based; `pkg/net.py:12` for another file)
may hold `shapes` (an expression, its LSP range, its value at each evaluation), `branch` (outcomes of the test on that
line, in order) and `ran: false`; `expect.error` the exception with its file and line; `expect.hang` a run that has to
end at its deadline. `variants` are the same facts for a changed file or other inputs. Exits 1 if a fact does not hold.

The judgement is this file's alone: it imports nothing of the project, so that it can hold any build of it.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]

FOLDER = Path(__file__).parent
RECORDED_AT_LEAST = 16
"""So many evaluations of a site the document holds at least."""
RUN_SECONDS = 20
"""Deadline of a run: the endless loop takes all of it."""
PROCESS_SECONDS = 120


@dataclass(frozen=True)
class Case:
    """One call to trace, and what is known of it."""

    folder: Path
    root: Path
    """Folder that the file is loaded from, as if it were the project."""
    name: str
    spec: Json
    expect: Json

    @property
    def call(self) -> str:
        """The example: what the case's target builds, called with its inputs."""
        build = self.spec["target"].split(":")[1]
        return f"{build}()(*{self.spec['inputs']['args']}, **{self.spec['inputs']['kwargs']})"

    @property
    def file(self) -> Path:
        """The file that is traced."""
        return self.root / (self.spec["target"].split(":")[0].replace(".", "/") + ".py")


def find_cases(folder: Path = FOLDER, prefixes: Sequence[str] = ()) -> list[Case]:
    """All cases and variants under `folder`, those with one of the prefixes if there are any."""
    return [
        case
        for path in sorted(folder.glob("*/case.json"))
        if not prefixes or path.parent.name.startswith(tuple(prefixes))
        for case in _read(path)
    ]


def _read(path: Path) -> Iterator[Case]:
    folder, spec = path.parent, json.loads(path.read_text(encoding="utf-8"))
    for variant in [spec, *spec.get("variants", [])]:
        root = folder / variant.get("root", spec.get("root", "."))
        if not (root / "model.py").exists():
            root = folder / spec.get("root", ".")
        name = folder.name if variant is spec else f"{folder.name}[{variant.get('root', '')}]"
        changed = {key: variant[key] for key in ("mode", "inputs", "target") if key in variant}
        yield Case(folder, root, name, {**spec, **changed}, variant["expect"])


def problems_of_run(case: Case, command: Sequence[str]) -> list[str]:
    """Trace the case and return, in words, every fact that does not hold."""
    arguments = ["trace", str(case.file), "--call", case.call, "--format", "json"]
    arguments += ["--mode", case.spec.get("mode", "as-is"), "--timeout", str(RUN_SECONDS)]
    if not case.spec.get("grad", True):
        arguments.append("--no-grad")
    done = subprocess.run(
        [*command, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PROCESS_SECONDS,
    )
    try:
        traces = json.loads(done.stdout)
    except ValueError:
        return [f"no JSON on stdout (exit {done.returncode}): {done.stdout[:200]!r} {done.stderr[-400:]!r}"]
    return list(problems_of_trace(case, traces[0]))


def problems_of_trace(case: Case, trace: Json) -> Iterator[str]:
    """Every fact of the case that the trace document contradicts."""
    for key, facts in case.expect["lines"].items():
        name, _, line = key.rpartition(":")
        yield from _line_problems(trace, case.root, name or "model.py", int(line), facts)
    if "output" in case.expect and not value_matches(case.expect["output"], trace.get("output")):
        yield f"output: want {case.expect['output']}, got {trace.get('output')}"
    if case.expect.get("hang"):
        yield from _hang_problems(trace, case.expect["hang"]["lines"])
    elif case.expect.get("error"):
        yield from _error_problems(trace, case.root, case.expect["error"])
    elif trace["status"] != "ok":
        yield f"status {trace['status']}: {trace.get('error')}"


def value_matches(want: Json | None, got: Json | None) -> bool:
    """Whether a VALUE of the document is what the case says of it."""
    if want is None or got is None:
        return want is None
    items = got.get("items")
    if "seq" in want:
        return (
            isinstance(items, list)
            and len(items) == len(want["seq"])
            and all(map(value_matches, want["seq"], items))
        )
    if "dict" in want:
        return isinstance(items, dict) and all(
            value_matches(value, items.get(key)) for key, value in want["dict"].items()
        )
    stats = got.get("stats") or {}
    agrees: dict[str, Callable[[Any], bool]] = {
        "nan": lambda expected: bool(stats.get("nan")) == expected,
        "inf": lambda expected: bool(stats.get("inf")) == expected,
        "shape": lambda expected: got.get("shape") == expected,
        "dtype": lambda expected: got.get("dtype") == expected,
        "device": lambda expected: str(got.get("device")).startswith(str(expected)),
    }
    return all(agrees[key](expected) for key, expected in want.items() if key in agrees)


def _line_problems(trace: Json, root: Path, name: str, line: int, facts: Json) -> Iterator[str]:
    file = trace.get("files", {}).get(_uri(root, name), {})
    for fact in facts.get("shapes", []):
        here = [each for each in file.get("evaluations", []) if each["range"] == fact["range"]]
        if not here:
            yield f"{name}:{line} nothing recorded at the range of {fact['expr']!r}"
        elif not any(_values_match(fact["values"], each) for each in here):
            got = [(each["count"], each["values"][:RECORDED_AT_LEAST]) for each in here]
            yield f"{name}:{line} {fact['expr']!r}: want {fact['values'][:RECORDED_AT_LEAST]}, got {got}"
    if "branch" in facts:
        outcomes = [
            each["outcomes"] for each in file.get("branches", []) if each["range"]["start"]["line"] == line - 1
        ]
        if facts["branch"] not in outcomes:
            yield f"{name}:{line} branch: want {facts['branch']}, got {outcomes}"
    if facts.get("ran") is False and not any(_covers(span, line) for span in file.get("not_run", [])):
        yield f"{name}:{line} did not run, and is not among not_run"


def _values_match(want: list[Json], evaluation: Json) -> bool:
    first = want[:RECORDED_AT_LEAST]
    return (
        evaluation["count"] == len(want)
        and len(evaluation["values"]) >= len(first)
        and all(map(value_matches, first, evaluation["values"]))
    )


def _hang_problems(trace: Json, lines: list[int]) -> Iterator[str]:
    at = _line_of(trace.get("error"))
    if trace["status"] != "timeout" or at not in lines:
        yield f"hang: want a timeout at one of {lines}, got {trace['status']} at {at}"


def _error_problems(trace: Json, root: Path, want: Json) -> Iterator[str]:
    error = trace.get("error")
    if not error:
        yield f"no error, want {want['type']} at {want['file']}:{want['line']}"
        return
    if error["type"] != want["type"]:
        yield f"error type {error['type']}, want {want['type']}"
    for part in want.get("contains", []):
        if part not in error["message"]:
            yield f"error text lacks {part!r}: {error['message'][:200]}"
    span = error.get("range")
    if error.get("uri") != _uri(root, want["file"]) or not span or not _covers(span, want["line"]):
        yield f"error at {(error.get('uri'), _line_of(error))}, want {want['file']}:{want['line']}"
    shapes = [operand["value"].get("shape") for operand in error.get("operands", [])]
    for name, shape in want.get("operands", {}).items():
        is_shape = isinstance(shape, list) and all(isinstance(size, int) for size in shape)
        if is_shape and shape not in shapes:
            yield f"operand {name} {shape} not among {shapes}"


def _uri(root: Path, name: str) -> str:
    return (root / name).resolve().as_uri()


def _covers(span: Json, line: int) -> bool:
    """Whether an LSP range has something on that line, counted from 1."""
    return bool(span["start"]["line"] <= line - 1 <= span["end"]["line"])


def _line_of(error: Json | None) -> int | None:
    """Where an error begins, counted from 1."""
    return error["range"]["start"]["line"] + 1 if error and error.get("range") else None


def main() -> int:
    """Check the cases and print one line for each, with what does not hold under it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="torchlens-lsp", type=shlex.split)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("prefixes", nargs="*", metavar="NAME_PREFIX")
    options = parser.parse_args()
    cases = find_cases(options.folder, options.prefixes)

    def attempt(case: Case) -> list[str]:
        try:
            return problems_of_run(case, options.command)
        except Exception as fault:  # a fault of this script is a failure too, and named
            return [f"{type(fault).__name__}: {fault}"]

    held = 0
    with ThreadPoolExecutor(2) as pool:
        for case, problems in zip(cases, pool.map(attempt, cases), strict=True):
            held += not problems
            print(("FAIL " if problems else "ok   ") + case.name)
            for text in problems:
                print("     ", text[:600])
    print(f"{held} of {len(cases)} cases hold")
    return int(held != len(cases))


if __name__ == "__main__":
    sys.exit(main())
