"""What every test shares: the options, and which tests can run where there is no torch."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

HAS_TORCH = importlib.util.find_spec("torch") is not None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-markers",
        action="store_true",
        help="write what was found into the expectations of the marker files that fail",
    )


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Without torch, leave out the test files that need it whole: they could not even be imported."""
    if HAS_TORCH or collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    return True if _needs_torch(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without torch, deselect the tests that are marked to need it."""
    if HAS_TORCH:
        return
    without = [item for item in items if item.get_closest_marker("torch") is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in without])
    items[:] = without


def _needs_torch(path: Path) -> bool:
    """Whether the file imports torch at its top level or marks all of its tests as needing it."""
    for statement in ast.parse(path.read_bytes()).body:
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            names = [statement.module or ""]
        elif isinstance(statement, ast.Assign) and "pytest.mark.torch" in ast.unparse(statement.value):
            return True
        else:
            continue
        if any(name == "torch" or name.startswith("torch.") for name in names):
            return True
    return False
