"""What is printed of a run, from documents that are written by hand."""

from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from pathlib import Path

import pytest

from tests.document.sample import on_line, sample
from torchlens_lsp.cli.picture import picture, summary
from torchlens_lsp.cli.terminal import Output
from torchlens_lsp.cli.words import milliseconds
from torchlens_lsp.document.model import Document, Durations, Example, Frame, Range, RunError

SOURCE = """\
import torch
# torchlens: scale(torch.ones(2, 3))
def scale(x):
    if x.dim() > 1:
        x = x / x.shape[0]
    return x
"""


def printed(document: Document, file: Path, text: str, width: int | None = None, with_header: bool = False) -> str:
    return picture(document, file, text, Output(width=width, stream=io.StringIO()), with_header=with_header)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path.resolve() / "scale.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def run_of(file: Path, text: str = SOURCE) -> Document:
    document = sample()
    document.files[0].uri = file.as_uri()
    document.files[0].sha256 = hashlib.sha256(text.encode()).hexdigest()
    return document


def test_the_source_and_one_line(file: Path) -> None:
    lines = printed(run_of(file), file, SOURCE).split("\n")
    assert [line.partition("   ┊ ")[0].rstrip() for line in lines[:6]] == [
        f"  {line}" for line in SOURCE.rstrip().split("\n")
    ]
    assert lines[6:] == ["ok · 1 op · 0.2 ms call · 1.0 ms import"]


def test_of_several_examples_each_has_a_header(file: Path) -> None:
    lines = printed(run_of(file), file, SOURCE, with_header=True).split("\n")
    assert lines[0] == "━━ default  scale(torch.ones(2, 3))"
    assert lines[-1] == ""


def test_a_text_that_is_not_what_was_run_has_no_hints(file: Path) -> None:
    assert "┊" not in printed(run_of(file), file, SOURCE + "# changed\n")


def test_other_watched_files_follow_if_they_have_something_to_say(file: Path) -> None:
    document = run_of(file)
    other = file.with_name("layers.py")
    other.write_text("\n\ndef scale(x):\n    if x.dim() > 1:\n        x = x / x.shape[0]\n", encoding="utf-8")
    silent = file.with_name("silent.py")
    silent.write_text("y = 1\n", encoding="utf-8")
    document.error = RunError("call", "ValueError", "no", other.as_uri(), on_line(4, 12, 26))
    document.files[0].uri = other.as_uri()
    document.files[0].sha256 = hashlib.sha256(other.read_bytes()).hexdigest()
    document.files.append(
        replace(document.files[0], uri=silent.as_uri(), first_site=4, sites=[], functions=[], sha256="")
    )
    out = printed(document, file, "import layers\n")
    assert out.startswith("  import layers\n\n── layers.py\n")
    assert "silent" not in out
    other.unlink()
    assert "── layers.py" not in printed(document, file, "import layers\n")


def test_an_error_stands_under_its_line_and_again_in_the_last_one(file: Path) -> None:
    document = run_of(file)
    document.status = "error"
    document.error = RunError("call", "ValueError", "no\nnever", file.as_uri(), on_line(4, 12, 26))
    lines = printed(document, file, SOURCE).split("\n")
    at = lines.index("          x = x / x.shape[0]")
    assert lines[at + 1] == "              ~~~~~~~~~~~~~~"
    assert "no" in lines[at + 2]
    assert lines[-1].startswith("error · scale.py:5 · ValueError: no · ")


def test_the_stack_names_who_called_and_leaves_out_how_modules_are_called(file: Path) -> None:
    document = run_of(file)
    document.status = "error"
    library = "file:///usr/lib/python3/site-packages/torch/nn/modules/linear.py"
    document.error = RunError("call", "ValueError", "no", file.as_uri(), on_line(4, 12, 26))
    document.error.stack = [
        Frame(file.as_uri(), on_line(5, 0, 1), "<module>"),
        Frame(library, on_line(1, 0, 1), "Module._wrapped_call_impl"),
        Frame(library, on_line(2, 0, 1), "Module._call_impl"),
        Frame(library, on_line(133, 0, 1), "Linear.forward"),
    ]
    assert (
        "stack, outermost first:\n  scale.py:6 in <module>\n  torch/nn/modules/linear.py:134 in Linear.forward\n"
        in printed(document, file, SOURCE)
    )
    document.error.stack = document.error.stack[:3]
    assert "stack" not in printed(document, file, SOURCE)


def test_a_deep_stack_shows_its_ends(file: Path) -> None:
    document = run_of(file)
    document.error = RunError("call", "RecursionError", "no")
    document.error.stack = [Frame(file.as_uri(), on_line(n, 0, 1), f"f{n}") for n in range(100)]
    out = printed(document, file, SOURCE)
    assert "  scale.py:6 in f5\n  … 88 more\n  scale.py:95 in f94\n" in out


def test_a_run_that_did_not_come_to_its_call_shows_the_lines_around_its_error(file: Path) -> None:
    error = RunError("build", "NameError", "name 'scal' is not defined", file.as_uri(), on_line(1, 0, 36))
    document = Document(Example("default", "scal()"), "bad-example", error=error)
    assert printed(document, file, SOURCE).split("\n") == [
        "── scale.py, line 2",
        "  import torch",
        "  # torchlens: scale(torch.ones(2, 3))",
        "  " + "~" * 36,
        "    name 'scal' is not defined",
        "  def scale(x):",
        "      if x.dim() > 1:",
        "bad example · scale.py:2 · name 'scal' is not defined",
    ]


@pytest.mark.parametrize(
    "place", [(None, None), ("file:///gone.py", Range(0, 0, 0, 1)), ("here", Range(90, 0, 90, 1))], ids=str
)
def test_an_error_without_a_place_is_its_message(file: Path, place: tuple[str | None, Range | None]) -> None:
    uri = file.as_uri() if place[0] == "here" else place[0]
    document = Document(Example(), "error", error=RunError("build", "ValueError", "no", uri, place[1]))
    assert printed(document, file, SOURCE).split("\n")[0] == "ValueError: no"


def test_notes_and_what_was_left_out(file: Path) -> None:
    document = run_of(file)
    document.notes = ["compiled code ran eagerly"]
    document.dropped = {"evaluations": 12_000}
    lines = printed(document, file, SOURCE).split("\n")
    assert lines[-3:-1] == [
        "note: compiled code ran eagerly",
        "note: left out to stay within bounds: 12,000 evaluations",
    ]


@pytest.mark.parametrize(
    ("durations", "text"),
    [
        (Durations(1.24, 0.05, 0.0144), "ok · 1 op · 14 ms call · 1.2 s import"),
        (Durations(61.0, 0.5, 0.0004), "ok · 1 op · 0.4 ms call · 500 ms build · 61.0 s import"),
        (Durations(), "ok · 1 op"),
    ],
)
def test_the_last_line(durations: Durations, text: str) -> None:
    assert summary(replace(sample(), durations=durations)) == text


def test_times() -> None:
    assert [milliseconds(seconds) for seconds in (0.00004, 0.0099, 0.01, 0.9994, 1.0)] == [
        "0.0 ms",
        "9.9 ms",
        "10 ms",
        "999 ms",
        "1.0 s",
    ]
