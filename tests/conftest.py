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
    """Without torch, leave out the test files that import it: nothing of them could be collected."""
    if HAS_TORCH or collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    return True if _imports_torch(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without torch, deselect the tests that are marked to need it."""
    if HAS_TORCH:
        return
    without = [item for item in items if item.get_closest_marker("torch") is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in without])
    items[:] = without


def _imports_torch(path: Path) -> bool:
    """Whether the file's own top level imports torch."""
    for statement in ast.parse(path.read_bytes()).body:
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            names = [statement.module or ""]
        else:
            continue
        if any(name == "torch" or name.startswith("torch.") for name in names):
            return True
    return False
