"""The check itself finds each kind of fact that does not hold."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .check import Case, find_cases, problems_of_trace, value_matches

ROOT = Path("/project")
RANGE = {"start": {"line": 4, "character": 8}, "end": {"line": 4, "character": 20}}
TENSOR = {"kind": "tensor", "shape": [2, 3], "dtype": "float32", "device": "cpu", "stats": {"nan": 0, "inf": 0}}

CASE = Case(
    folder=ROOT,
    root=ROOT,
    name="made up",
    spec={"target": "model:build", "inputs": {"args": "(1,)", "kwargs": "{}"}},
    expect={
        "lines": {
            "5": {"shapes": [{"expr": "self.lin(x)", "range": RANGE, "values": [{"shape": [2, 3]}]}]},
            "6": {"branch": [True, False]},
            "7": {"ran": False},
        },
        "error": {
            "type": "RuntimeError",
            "contains": ["cannot be multiplied"],
            "file": "model.py",
            "line": 9,
            "operands": {"x": [2, 3]},
        },
    },
)


def at(line: int) -> dict[str, Any]:
    return {"start": {"line": line - 1, "character": 0}, "end": {"line": line - 1, "character": 9}}


TRACE: dict[str, Any] = {
    "status": "error",
    "files": {
        "file:///project/model.py": {
            "evaluations": [{"range": RANGE, "count": 1, "values": [TENSOR]}],
            "branches": [{"range": at(6), "outcomes": [True, False]}],
            "not_run": [at(7)],
        }
    },
    "error": {
        "type": "RuntimeError",
        "message": "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
        "uri": "file:///project/model.py",
        "range": at(9),
        "operands": [{"expr": "x", "value": {**TENSOR}}],
    },
}


def changed(change: Callable[[dict[str, Any], dict[str, Any]], object]) -> dict[str, Any]:
    trace = copy.deepcopy(TRACE)
    change(trace, trace["files"]["file:///project/model.py"])
    return trace


def test_a_trace_that_agrees_has_no_problem() -> None:
    assert list(problems_of_trace(CASE, TRACE)) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda trace, file: file["evaluations"].clear(), "nothing recorded at the range"),
        (lambda trace, file: file["evaluations"][0].update(count=2), "'self.lin(x)': want"),
        (lambda trace, file: file["evaluations"][0]["values"][0].update(shape=[3, 2]), "'self.lin(x)': want"),
        (lambda trace, file: file["branches"][0].update(outcomes=[True, True]), "branch: want [True, False]"),
        (lambda trace, file: file["not_run"].clear(), "is not among not_run"),
        (lambda trace, file: trace.update(error=None), "no error, want RuntimeError"),
        (lambda trace, file: trace["error"].update(type="ValueError"), "error type ValueError"),
        (lambda trace, file: trace["error"].update(message="boom"), "error text lacks"),
        (lambda trace, file: trace["error"].update(range=at(8)), "want model.py:9"),
        (lambda trace, file: trace["error"].update(uri="file:///project/other.py"), "want model.py:9"),
        (lambda trace, file: trace["error"]["operands"].clear(), "operand x [2, 3] not among []"),
    ],
)
def test_a_trace_that_disagrees_has_one(change: Callable[[Any, Any], object], problem: str) -> None:
    (found,) = problems_of_trace(CASE, changed(change))
    assert problem in found


def test_a_value_is_held_against_what_the_case_says_of_it_and_no_more() -> None:
    pair = {"kind": "tuple", "items": [TENSOR, {"kind": "other", "type": "int", "repr": "3"}]}
    assert value_matches({"shape": [2, 3], "nan": False}, TENSOR)
    assert not value_matches({"nan": True}, TENSOR)
    assert value_matches({"seq": [{"dtype": "float32"}, {}]}, pair)
    assert not value_matches({"seq": [{"dtype": "float32"}]}, pair)
    assert not value_matches({"dict": {"x": {}}}, pair)


def test_the_cases_are_found_and_the_windows_line_ends_survived() -> None:
    cases = find_cases()
    assert len(cases) == len({case.name for case in cases}) > len(list(Path(__file__).parent.glob("*/case.json")))
    (windows,) = find_cases(prefixes=["37_"])
    assert b"\r\n" in windows.file.read_bytes()
    assert b"\n" not in windows.file.read_bytes().replace(b"\r\n", b"")
