"""What recording costs a run: time and memory of the traced call against the plain one.

    python -m benchmarks.capture [--pairs 40] [--models resnet18 …] [--no-memory]

Protocol: plain and traced calls alternate in one process on one thread, each pair in random order; beside them runs
an A/A control, pairs of two plain calls, whose interval says what this machine can tell apart at all. A figure is the
median of the ratios within pairs, with a 95% bootstrap interval. Every call, plain or traced, has a model of its own
that was just made (same weights, not timed), and a traced one its own recorder: a user's run is a first call too.
Seconds are the process's CPU time: for one thread that never waits the same as elapsed time, without what other
processes take. Memory is the peak resident set of a process that makes and runs the model once, traced (document
included) against plain.

Exits 1 if a median, or a process's memory, is over its limit.
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import statistics
import subprocess
import sys
import time
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from torchlens_lsp.document.model import BUILD, CALL, IMPORT, Durations, Example
from torchlens_lsp.tracer.options import Options
from torchlens_lsp.tracer.recorder import Recorder

MODELS_FILE = Path(__file__).with_name("models.py")
SEED = 0
WARM_UP_CALLS = 3
RESAMPLES = 2000
MEGABYTE = 1024 * 1024

EVERYTHING, NO_STATISTICS = "everything", "no statistics"
SETTINGS = {EVERYTHING: Options(), NO_STATISTICS: Options(statistics=False)}
MEMORY_LIMIT_MB = 100


@dataclass(frozen=True)
class Subject:
    """A model of models.py and how many times slower its traced call may be, by setting."""

    name: str
    limits: dict[str, float]


SUBJECTS = (
    Subject("resnet18", {EVERYTHING: 1.2, NO_STATISTICS: 1.1}),
    Subject("vit_tiny", {EVERYTHING: 1.2, NO_STATISTICS: 1.1}),
    Subject("gpt_500_ops", {EVERYTHING: 3.0}),
    Subject("lstm_cell_500", {EVERYTHING: 2.0}),
)


@dataclass(frozen=True)
class Figure:
    """The median of paired ratios with its 95% interval."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3f} [{self.low:.3f}, {self.high:.3f}]"

    @classmethod
    def of(cls, ratios: Sequence[float]) -> Figure:
        """Bootstrap the median over the pairs."""
        rng = random.Random(SEED)
        medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
        return cls(statistics.median(ratios), medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES)])


@dataclass(frozen=True)
class Row:
    """What was measured of one model."""

    subject: Subject
    plain_ms: float
    control: Figure
    ratios: dict[str, Figure]

    def over_limit(self) -> list[str]:
        """The settings whose median is over the limit."""
        return [name for name, limit in self.subject.limits.items() if self.ratios[name].median > limit]


def _build(namespace: dict[str, Any], name: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    torch.manual_seed(SEED)
    return namespace[name]()


def _namespace_of(code: types.CodeType) -> dict[str, Any]:
    """Run the models' code as a module of its own."""
    module = types.ModuleType("benchmarked_models")
    module.__file__ = str(MODELS_FILE)
    exec(code, module.__dict__)
    return module.__dict__


def _timed(call: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    call()
    return time.process_time() - start


def traced_call(name: str, options: Options, *, with_document: bool = False) -> float:
    """Seconds of one traced call of a model that was made for it. Everything around the call is not timed."""
    recorder = Recorder(options)
    code = recorder.compile(str(MODELS_FILE), MODELS_FILE.read_text(encoding="utf-8"))
    recorder.start()
    try:
        recorder.phase = IMPORT
        namespace = _namespace_of(code)
        recorder.phase = BUILD
        model, arguments = _build(namespace, name)
        recorder.phase = CALL
        seconds = _timed(lambda: recorder.call(model, arguments, {}))
    finally:
        recorder.stop()
    if with_document:
        recorder.document(status="ok", example=Example(), durations=Durations())
    return seconds


def plain_call(name: str) -> float:
    """Seconds of the same call of the same file, nothing recorded."""
    code = compile(MODELS_FILE.read_text(encoding="utf-8"), str(MODELS_FILE), "exec")
    model, arguments = _build(_namespace_of(code), name)
    return _timed(lambda: model(*arguments))


def measure(subject: Subject, pairs: int) -> Row:
    """Time all settings of one model, interleaved with plain calls."""
    rng = random.Random(SEED)
    plain = partial(plain_call, subject.name)
    contenders: dict[str, Callable[[], float]] = {"A/A": plain}
    for name in subject.limits:
        contenders[name] = partial(traced_call, subject.name, SETTINGS[name])
    for contender in contenders.values():
        for _ in range(WARM_UP_CALLS):
            contender()

    ratios: dict[str, list[float]] = {name: [] for name in contenders}
    plain_seconds: list[float] = []
    for _ in range(pairs):
        for name, contender in contenders.items():
            if rng.random() < 0.5:
                base, other = plain(), contender()
            else:
                other, base = contender(), plain()
            ratios[name].append(other / base)
            plain_seconds.append(base)
    figures = {name: Figure.of(values) for name, values in ratios.items()}
    return Row(subject, statistics.median(plain_seconds) * 1000, figures.pop("A/A"), figures)


def peak_memory_mb(name: str, mode: str) -> float:
    """Peak resident set of a process that runs the model once, in megabytes."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.capture", "--child", mode, "--models", name],
        capture_output=True,
        text=True,
        check=True,
        cwd=MODELS_FILE.parent.parent,
    )
    return float(done.stdout)


def _memory_child(name: str, mode: str) -> None:
    """Run the model once and print this process's peak resident set."""
    if mode == "traced":
        traced_call(name, SETTINGS[EVERYTHING], with_document=True)
    else:
        plain_call(name)
    print(_own_peak_bytes() / MEGABYTE)


def _own_peak_bytes() -> int:
    """Peak resident set since this program was started. (Linux's `ru_maxrss` remembers the parent's from before.)"""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (line for line in status.read_text().split("\n") if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> int:
    """Measure, print two tables, and say whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=40, help="pairs of calls for each figure")
    parser.add_argument("--models", nargs="*", default=[subject.name for subject in SUBJECTS])
    parser.add_argument("--no-memory", action="store_true", help="measure time alone")
    parser.add_argument("--child", choices=("plain", "traced"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.child:
        _memory_child(options.models[0], options.child)
        return 0

    subjects = [subject for subject in SUBJECTS if subject.name in options.models]
    missed: list[str] = []
    print(
        f"torch {torch.__version__}, 1 thread, {options.pairs} pairs, ratio to the plain call: median [95% interval]\n"
    )
    print(f"| model | plain | A/A | {EVERYTHING} | limit | {NO_STATISTICS} | limit |\n|---|---|---|---|---|---|---|")
    for subject in subjects:
        row = measure(subject, options.pairs)
        cells = [subject.name, f"{row.plain_ms:.1f} ms", str(row.control)]
        for name in SETTINGS:
            cells += [str(row.ratios[name]), f"≤ {subject.limits[name]}"] if name in row.ratios else ["", ""]
        print(f"| {' | '.join(cells)} |", flush=True)
        missed += [f"{subject.name}, {name}" for name in row.over_limit()]

    if not options.no_memory:
        print("\n| model | plain | traced | added | limit |\n|---|---|---|---|---|")
        for subject in subjects:
            plain, traced = (peak_memory_mb(subject.name, mode) for mode in ("plain", "traced"))
            added = traced - plain
            cells = [subject.name, f"{plain:.0f} MB", f"{traced:.0f} MB", f"{added:.0f} MB", f"≤ {MEMORY_LIMIT_MB} MB"]
            print(f"| {' | '.join(cells)} |", flush=True)
            if added > MEMORY_LIMIT_MB:
                missed.append(f"{subject.name}, memory")

    print("\nall limits hold" if not missed else f"\nover the limit: {'; '.join(missed)}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
