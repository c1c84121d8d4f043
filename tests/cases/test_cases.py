"""Every case holds: what `torchlens-lsp trace` says of it is what plain PyTorch confirmed."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.metadata import version

import pytest

from .check import Case, find_cases, problems_of_run

pytestmark = pytest.mark.torch

COMMAND = [sys.executable, "-m", "torchlens_lsp"]
RENAMED_ERRORS = {"25_complex_spectrum_into_batchnorm": ("2.1.", "RuntimeError")}
"""Cases in which an older torch raises the same error under another type: the release and its type."""


def of_this_torch(case: Case) -> Case:
    """The case, with the error type that the installed torch gives."""
    release, name = RENAMED_ERRORS.get(case.name, ("", ""))
    if not name or not version("torch").startswith(release):
        return case
    return replace(case, expect={**case.expect, "error": {**case.expect["error"], "type": name}})


@pytest.mark.parametrize("case", find_cases(), ids=lambda case: case.name)
def test_case(case: Case) -> None:
    assert problems_of_run(of_this_torch(case), COMMAND) == []
