"""One model of a corpus, run once, plain or traced, in a process of its own: what `benchmarks.corpus` starts.

    python -m benchmarks.corpus_run LOADER ENTRIES INDEX plain|traced|traced-every-file

Runs under the corpus's interpreter, so it needs torch and the model's package, and of ours `document`, `tracer` and
`analysis`. Prints one JSON object: the output's fingerprint and the seconds of calls, or the exception with its
frames; of a traced run also what was recorded.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import random
import sys
import time
import traceback
import types
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from tools.fingerprint import fingerprint
from tools.hint_rules import problems_of_document
from tools.watched_imports import WatchedImports
from torchlens_lsp.document.model import BUILD, CALL, Document, Durations, Example, RunError
from torchlens_lsp.tracer.recorder import Recorder

SEED = 0
TIMED_CALLS = 5
"""Further calls, after the first, whose fastest is reported."""
OUR_FOLDER = Path(__file__).resolve().parents[1]
SITE_PACKAGES = Path(torch.__file__).resolve().parents[1]

Json = dict[str, Any]
Build = Callable[[], tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]


@dataclass
class Outcome:
    """What one run gave."""

    fingerprint: str | None = None
    first_seconds: float = 0.0
    best_seconds: float = 0.0
    error: Json | None = None
    """`type`, `message` and `frames` (`file:line`, outermost first, ours and torch's left out)."""
    recorded: Json | None = None
    """Of a traced run: numbers of events, notes, what was dropped, where the error stands, problems of its hints."""


def load_module(path: Path) -> types.ModuleType:
    """Load the corpus's own loader, which builds a model from an entry."""
    spec = importlib.util.spec_from_file_location("corpus_loader", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seed_everything() -> None:
    """Seed what a model may draw from."""
    random.seed(SEED)
    torch.manual_seed(SEED)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(SEED)


def watched_files(entry: Json, every: bool) -> list[str]:
    """The file of the entry's model, or `every` file of packages that its call walks through."""
    if "error_type" in entry:
        own = entry["deepest_outside_torch"].rpartition(":")[0]
    else:
        own = entry["file"] or entry["source_files"][0]
    names = [own, *entry.get("source_files", [])] if every else [own]
    return [str(SITE_PACKAGES / name) for name in names]


def run_plain(build: Build) -> Outcome:
    """Call the model as it is."""
    outcome = Outcome()
    seed_everything()
    try:
        call, args, kwargs = build()
        _measure(outcome, lambda: call(*args, **kwargs))
    except Exception as error:
        outcome.error = describe(error)
    return outcome


def run_traced(build: Build, paths: list[str]) -> Outcome:
    """Call the model with these files watched and everything recorded."""
    outcome = Outcome()
    recorder = Recorder()
    watched = WatchedImports(recorder, set(paths))

    def keep(status: str, error: RunError | None = None) -> None:
        document = recorder.document(status=status, example=Example(), durations=Durations(), error=error)
        outcome.recorded = summarise(document, watched.loaded, recorder.faults)

    seed_everything()
    recorder.start()
    try:
        recorder.phase = BUILD
        with watched:
            call, args, kwargs = build()
            recorder.phase = CALL
            _measure(outcome, lambda: recorder.call(call, args, kwargs), lambda: keep("ok"))
    except Exception as error:
        outcome.error = describe(error)
        keep("error", recorder.error(error))
    finally:
        recorder.stop()
    return outcome


def _measure(outcome: Outcome, call: Callable[[], Any], after_first: Callable[[], None] = lambda: None) -> None:
    """Call once for the output and the time that a first call takes, then some more for the time that it takes warm."""
    seed_everything()
    start = time.perf_counter()
    output = call()
    outcome.first_seconds = time.perf_counter() - start
    outcome.fingerprint = fingerprint(output)
    after_first()
    seconds = []
    for _ in range(TIMED_CALLS):
        seed_everything()
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    outcome.best_seconds = min(seconds)


def describe(error: BaseException) -> Json:
    """Type, text and frames of an exception.

    Frames inside torch do not count: under a function mode its Python composites pass through `torch.overrides`.
    """
    left_out = (str(OUR_FOLDER) + "/", str(SITE_PACKAGES / "torch") + "/")
    frames = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    return {
        "type": type(error).__name__,
        "message": str(error),
        "frames": [frame for frame in frames if not frame.startswith(left_out)],
    }


def summarise(document: Document, watched: list[str], faults: list[str]) -> Json:
    """What the table says of a document."""
    error = document.error
    return {
        "ops": len(document.ops),
        "evaluations": len(document.evaluations),
        "calls": len(document.calls),
        "files": [file.uri for file in document.files],
        "watched": watched,
        "unwatched": sum(len(file.unwatched) for file in document.files),
        "dropped": document.dropped,
        "notes": document.notes,
        "faults": faults,
        "hint_problems": list(problems_of_document(document)),
        "error_line": error.range.start_line + 1 if error and error.range else None,
        "error_uri": error.uri if error else None,
    }


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep what models print away from the JSON on stdout."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


def main(arguments: list[str]) -> int:
    """Run one entry and print its outcome."""
    loader, entries, index, mode = arguments
    torch.set_num_threads(1)
    entry = json.loads(Path(entries).read_text(encoding="utf-8"))[int(index)]
    with quiet():
        corpus = load_module(Path(loader))
        if mode == "plain":
            outcome = run_plain(lambda: corpus.build(entry))
        else:
            outcome = run_traced(lambda: corpus.build(entry), watched_files(entry, every=mode == "traced-every-file"))
    print(json.dumps(asdict(outcome)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
