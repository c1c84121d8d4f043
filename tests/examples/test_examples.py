"""The shipped examples run, mean what they show, and run the same when they are recorded."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tools.hint_rules import problems_of_document

from .same_run import Job, run_plain, run_recorded

pytestmark = pytest.mark.torch

FOLDER = Path(__file__).resolve().parents[2] / "examples"
FILES = sorted(FOLDER.glob("*.py"))
SHORTEST, LONGEST = 80, 200
"""Lines of an example: a whole model, and still read in one sitting."""


def example_comments(path: Path) -> dict[str, str]:
    """The call of each example comment by its name; a call goes on over comment lines until it is complete."""
    calls: dict[str, str] = {}
    name: str | None = None
    for line in path.read_text(encoding="utf-8").split("\n"):
        start = re.fullmatch(r"# torchlens(?:\[(.+)\])?: (.+)", line)
        if start:
            name = start[1] or "default"
            calls[name] = start[2]
        elif name is not None and line.startswith("#"):
            calls[name] += "\n" + line[1:]
        if name is not None and _is_complete(calls[name]):
            name = None
    return calls


def _is_complete(call: str) -> bool:
    try:
        ast.parse(call, mode="eval")
    except SyntaxError:
        return False
    return True


JOBS = {
    f"{path.stem}-{name}": Job(FOLDER, path.stem, call)
    for path in FILES
    for name, call in example_comments(path).items()
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_is_a_whole_model_with_something_to_run(path: Path) -> None:
    assert SHORTEST <= len(path.read_text(encoding="utf-8").split("\n")) <= LONGEST
    assert "default" in example_comments(path)


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS.keys())
def test_an_example_runs_and_is_deterministic(job: Job) -> None:
    first, second = run_plain(job), run_plain(job)
    assert first.error is None
    assert first == second


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS.keys())
def test_recorded_it_is_the_same_run(job: Job) -> None:
    recorded, document = run_recorded(job)
    assert recorded == run_plain(job)
    assert len(document.evaluations) > 0
    assert len(document.ops) > 0


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS.keys())
def test_its_hints_are_few_short_whole_and_true(job: Job) -> None:
    _, document = run_recorded(job)
    assert list(problems_of_document(document)) == []


def outcomes(job: Job) -> dict[str, set[bool]]:
    """The outcomes of every test of the example's file, by the test's text."""
    _, document = run_recorded(job)
    found: dict[str, set[bool]] = {}
    for site, outcome in zip(document.branches.site, document.branches.outcome, strict=True):
        found.setdefault(document.site(site).expr, set()).add(bool(outcome))
    return found


@pytest.mark.parametrize(
    ("job", "test"),
    [
        ("transformer-generate", "T > 1"),
        ("resnet-default", "self.shortcut is None"),
        ("resnet-default", "self.excite is not None"),
        ("mixture_of_experts-default", "token.numel() > room"),
        ("mixture_of_experts-padded", "token.numel() == 0"),
        ("tree_lstm-default", "not node.children"),
    ],
)
def test_what_an_example_is_there_to_show_goes_both_ways(job: str, test: str) -> None:
    assert outcomes(JOBS[job])[test] == {True, False}


@pytest.mark.parametrize(("job", "padded", "cropped"), [("unet-default", True, False), ("unet-train", False, True)])
def test_the_unet_pads_in_one_example_and_crops_in_the_other(job: str, padded: bool, cropped: bool) -> None:
    found = outcomes(JOBS[job])
    assert found["dy == 0 and dx == 0"] == {True, False}
    assert found["dy > 0 or dx > 0"] == {padded}
    assert found["dy < 0 or dx < 0"] == {cropped}
