"""The import contracts of pyproject.toml hold, and each of them can fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT_IMPORTS = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"


def lint_imports(project: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter in the project, on the package that lies there and no other."""
    return subprocess.run(
        [sys.executable, "-c", LINT_IMPORTS, "--no-cache"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project), "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all that import-linter looks at."""
    copy = tmp_path_factory.mktemp("project")
    for folder in ("torchlens_lsp", "tools"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


def test_the_contracts_hold() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("place", "statement", "imported"),
    [
        ("document/planted.py", "import torch", "torch"),
        ("document/planted.py", "from ..analysis import hints", "torchlens_lsp.analysis"),
        ("analysis/planted.py", "import torch.nn as nn", "torch"),
        ("analysis/planted.py", "def late():\n    from lsprotocol import types", "lsprotocol"),
        ("analysis/planted.py", "from ..server import configuration", "torchlens_lsp.server"),
        ("tracer/planted.py", "import numpy", "numpy"),
        ("tracer/planted.py", "from ..worker import __doc__", "torchlens_lsp.worker"),
        ("worker/planted.py", "import rich", "rich"),
        ("server/planted.py", "import torch", "torch"),
        ("server/planted.py", "from ..tracer import __doc__", "torchlens_lsp.tracer"),
        ("server/planted.py", "from ..worker import __doc__", "torchlens_lsp.worker"),
        ("cli/planted.py", "from ..tracer import __doc__", "torchlens_lsp.tracer"),
        ("cli/planted.py", "import pygls", "pygls"),
        ("__init__.py", "from . import document", "torchlens_lsp.document"),
    ],
)
def test_a_planted_import_breaks_its_contract(project: Path, place: str, statement: str, imported: str) -> None:
    path = project / "torchlens_lsp" / place
    before = path.read_text(encoding="utf-8") if path.exists() else None
    try:
        path.write_text((before or "") + f"\n{statement}\n", encoding="utf-8")
        done = lint_imports(project)
    finally:
        path.unlink() if before is None else path.write_text(before, encoding="utf-8")
    assert done.returncode == 1, done.stdout
    assert f"may not import {imported}" in done.stdout, done.stdout
