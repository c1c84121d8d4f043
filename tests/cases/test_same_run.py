"""The law of the tracer, held on every case: recorded, a run gives the same bits or the same exception."""

from __future__ import annotations

import pytest

from tests.examples.same_run import Job, run_plain, run_recorded

from .check import Case, find_cases

pytestmark = pytest.mark.torch

ENDING = [case for case in find_cases() if not case.expect.get("hang")]


@pytest.mark.parametrize("case", ENDING, ids=lambda case: case.name)
def test_recorded_it_is_the_same_run(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    module = case.spec["target"].split(":")[0]
    job = Job(case.root, module, case.call, case.spec.get("mode", "as-is"), case.spec.get("grad", True))
    recorded, _ = run_recorded(job)
    assert recorded == run_plain(job)
    assert (recorded.error is not None) == bool(case.expect.get("error"))
