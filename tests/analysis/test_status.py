"""What an example's own line says: the status line of every editor."""

from __future__ import annotations

import pytest

from torchlens_lsp.analysis.status import duration, example_status
from torchlens_lsp.document.model import Document, Durations, Example, Range, RunError
from torchlens_lsp.document.request import DIED, OUT_OF_MEMORY, TIMEOUT, TORCH_MISSING

URI, OTHER = "file:///home/user/net.py", "file:///home/user/blocks.py"
LINE_31 = Range(30, 8, 30, 20)
EXAMPLE = Range(0, 0, 0, 30)


def said(status: str, kind: str = "ValueError", message: str = "no", uri: str | None = URI) -> str:
    error = RunError("call", kind, message, uri, LINE_31 if uri else None)
    return example_status(Document(Example(uri=URI, range=EXAMPLE), status, error=error))


def test_a_run_that_went_well():
    document = Document(durations=Durations(import_s=1.2, build_s=0.5, call_s=0.0142))
    assert example_status(document) == "ran in 14 ms"


def test_a_failure():
    assert said("error") == "failed at line 31"
    assert said("error", uri=OTHER) == "failed at blocks.py:31"
    assert said("error", uri=None) == "failed"


@pytest.mark.parametrize(
    ("status", "kind", "message", "expected"),
    [
        ("timeout", TIMEOUT, "still here after 20 s: iteration 81,233", "stopped: after 20 s at line 31"),
        ("timeout", TIMEOUT, "still here after 0.5 s", "stopped: after 0.5 s at line 31"),
        ("out-of-memory", OUT_OF_MEMORY, "used more memory than its cap", "stopped: out of memory at line 31"),
        ("crashed", DIED, "the process was killed by SIGSEGV", "stopped: the process died at line 31"),
        ("stopped", "Stopped", "stopped before writing a.pt (line 9)", "stopped: before writing a.pt (line 9)"),
        ("error", TORCH_MISSING, "torch is not installed\nin /usr", "stopped: torch is not installed"),
        ("cancelled", "", "", "cancelled"),
        ("untrusted", "", "", "not trusted"),
        ("bad-example", "NameError", "name 'g' is not defined", "bad example"),
        ("no-example", "", "", ""),
    ],
)  # fmt: skip
def test_a_run_that_ended_otherwise(status: str, kind: str, message: str, expected: str):
    assert said(status, kind, message) == expected


def test_a_place_that_is_the_example_itself_is_not_repeated():
    error = RunError("call", DIED, "the process died", URI, EXAMPLE)
    document = Document(Example(uri=URI, range=EXAMPLE), "crashed", error=error)
    assert example_status(document) == "stopped: the process died"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0004, "0.4 ms"), (0.0142, "14 ms"), (0.9994, "999 ms"), (1.2, "1.2 s"), (0.0, "0.0 ms")]
)
def test_times(seconds: float, text: str):
    assert duration(seconds) == text
