"""Trace real models of published packages, and hold each run against the same run untraced.

    python -m benchmarks.corpus FOLDER --python INTERPRETER [--only NAME …] [--errors] [--every-file]

FOLDER holds `load.py` with `build(entry) -> (callable, args, kwargs)`; `models.json` with a list of entries, each with
`package`, `class`, `file` (its source, relative to site-packages, which is watched) and `source_files` (all that its
call walks through); and `errors.json` with calls that raise, each with `error_type`, `message` and
`deepest_outside_torch` (`file:line`). INTERPRETER has the packages.

Prints a table: whether the outputs agree bit for bit (or the exceptions by type, text and frames), how many times
slower the traced call is, and what was recorded. Exits 1 if any run differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RUN_SECONDS = 300
"""A run's import, build and calls, tracing included."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Compared:
    """One entry, run plain and traced."""

    name: str
    plain: Json
    traced: Json
    problems: list[str]

    def cells(self) -> list[str]:
        """The row of the table."""
        recorded = self.traced.get("recorded") or {}
        dropped = ", ".join(f"{count} {what}" for what, count in recorded.get("dropped", {}).items())
        return [
            self.name,
            "; ".join(self.problems) or "same",
            _milliseconds(self.plain.get("best_seconds")),
            _ratio(self.traced.get("best_seconds"), self.plain.get("best_seconds")),
            _ratio(self.traced.get("first_seconds"), self.plain.get("first_seconds")),
            *(str(recorded.get(key, "")) for key in ("ops", "evaluations", "calls")),
            dropped,
            "; ".join(recorded.get("hint_problems", [])[:3]),
        ]


HEADER = [
    "model",
    "run",
    "plain",
    "× warm",
    "× first call",
    "ops",
    "evaluations",
    "calls",
    "dropped",
    "problems of hints",
]


def _milliseconds(seconds: float | None) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds else ""


def _ratio(traced: float | None, plain: float | None) -> str:
    return f"{traced / plain:.2f}" if traced and plain else ""


def run(python: str, loader: Path, entries: Path, index: int, mode: str) -> Json:
    """Run one entry in a process of its own."""
    command = [python, "-m", "benchmarks.corpus_run", str(loader), str(entries), str(index), mode]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0", "HF_HUB_OFFLINE": "1"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=RUN_SECONDS, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"{mode}: no answer after {RUN_SECONDS} s"}
    if done.returncode != 0:
        return {"failed": f"{mode}: exit {done.returncode}: {done.stderr.strip()[-400:]}"}
    return dict(json.loads(done.stdout))


def differences(entry: Json, plain: Json, traced: Json) -> Iterator[str]:
    """Everything in which the traced run is not the plain one, or not what the corpus says of it."""
    failures = [outcome["failed"] for outcome in (plain, traced) if "failed" in outcome]
    if failures:
        yield from failures
        return
    if (plain["error"] is None) != ("error_type" not in entry):
        yield f"plain run: {plain['error']}"
    if plain["fingerprint"] != traced["fingerprint"]:
        yield "outputs differ"
    if plain["error"] != traced["error"]:
        yield f"errors differ: {plain['error']} but traced {traced['error']}"
    recorded = traced["recorded"]
    if not recorded["watched"]:
        yield "its file was not loaded as a watched one"
    elif not recorded["evaluations"]:
        yield "nothing was recorded in its file"
    if recorded["faults"]:
        yield f"{len(recorded['faults'])} faults of the recorder, first: {recorded['faults'][0].strip()[-300:]}"
    if "error_type" in entry:
        line = int(entry["deepest_outside_torch"].rpartition(":")[2])
        if recorded["error_line"] != line:
            yield f"error stands at line {recorded['error_line']}, not {line}"


def compare(python: str, folder: Path, entries_name: str, only: list[str], traced_mode: str) -> Iterator[Compared]:
    """Run every entry of a list (or those whose name contains one of `only`), plain and traced."""
    entries = folder / entries_name
    for index, entry in enumerate(json.loads(entries.read_text(encoding="utf-8"))):
        model = entry["class"].rpartition(".")[2] if "class" in entry else entry["what"]
        name = f"{entry['package']}: {model}"
        if only and not any(part.lower() in name.lower() for part in only):
            continue
        plain, traced = (run(python, folder / "load.py", entries, index, mode) for mode in ("plain", traced_mode))
        yield Compared(name, plain, traced, list(differences(entry, plain, traced)))


def main() -> int:
    """Run the corpus and print the table as it grows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has the packages")
    parser.add_argument("--only", nargs="*", default=[], help="entries whose name contains one of these")
    parser.add_argument("--errors", action="store_true", help="errors.json instead of models.json")
    parser.add_argument(
        "--every-file", action="store_true", help="watch every file that a call walks through, not the model's alone"
    )
    options = parser.parse_args()
    traced_mode = "traced-every-file" if options.every_file else "traced"

    print(f"| {' | '.join(HEADER)} |\n|{'---|' * len(HEADER)}")
    different = total = 0
    entries_name = "errors.json" if options.errors else "models.json"
    for compared in compare(options.python, options.folder, entries_name, options.only, traced_mode):
        total += 1
        different += bool(compared.problems)
        cells = (cell.replace("|", "\\|").replace("\n", " ") for cell in compared.cells())
        print(f"| {' | '.join(cells)} |", flush=True)
    print(f"\n{total - different} of {total} runs are the same traced")
    return int(bool(different) or not total)


if __name__ == "__main__":
    sys.exit(main())
