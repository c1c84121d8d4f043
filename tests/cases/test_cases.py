"""Every case holds: what `torchlens-lsp trace` says of it is what plain PyTorch confirmed."""

from __future__ import annotations

import sys

import pytest

from .check import Case, find_cases, problems_of_run

COMMAND = [sys.executable, "-m", "torchlens_lsp"]


@pytest.mark.torch
@pytest.mark.parametrize("case", find_cases(), ids=lambda case: case.name)
def test_case(case: Case) -> None:
    assert problems_of_run(case, COMMAND) == []
