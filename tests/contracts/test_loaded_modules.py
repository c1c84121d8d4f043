"""What importing the package really loads, seen from a process of its own.

import-linter reads the source; this runs it. It catches what static analysis cannot: an import by name, or one that
a third party makes on our behalf.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVER_SIDE = (
    "torchlens_lsp",
    "torchlens_lsp.document",
    "torchlens_lsp.analysis",
    "torchlens_lsp.server",
    "torchlens_lsp.cli",
)

LOAD_ALL = """
import importlib, json, pkgutil, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    package = importlib.import_module(name)
    if name != "torchlens_lsp":
        for module in pkgutil.walk_packages(getattr(package, "__path__", []), name + "."):
            importlib.import_module(module.name)
print(json.dumps(sorted(sys.modules)))
"""

IMPORTS_UNDER_A_PRIVATE_NAME = """
import builtins, importlib, importlib.util, json, os, pkgutil, sys
PRIVATE = "_loaded_by_location"
folder = os.path.join(sys.argv[1], "torchlens_lsp")
imported = set()
plain_import = builtins.__import__

def recording_import(name, globals=None, locals=None, fromlist=(), level=0):
    importer = (globals or {}).get("__name__", "")
    if level == 0 and (importer == PRIVATE or importer.startswith(PRIVATE + ".")):
        imported.add(name.partition(".")[0])
    return plain_import(name, globals, locals, fromlist, level)

builtins.__import__ = recording_import
spec = importlib.util.spec_from_file_location(
    PRIVATE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
sys.modules[PRIVATE] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules[PRIVATE])
for name in ("document", "tracer", "worker"):
    package = importlib.import_module(PRIVATE + "." + name)
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
print(json.dumps({
    "imported": sorted(imported),
    "ours": [name for name in sys.modules if name.partition(".")[0] == "torchlens_lsp"],
    "path": [entry for entry in sys.path if os.path.abspath(entry or ".") in (sys.argv[1], folder)],
}))
"""


def run_python(code: str, *arguments: str, cwd: Path) -> str:
    """Run `code` in an interpreter that finds our package only where the code itself says."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, *arguments], cwd=cwd, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def loaded_by(names: tuple[str, ...], root: Path, cwd: Path) -> set[str]:
    return set(json.loads(run_python(LOAD_ALL, str(root), *names, cwd=cwd)))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package, to plant something in."""
    shutil.copytree(ROOT / "torchlens_lsp", tmp_path / "torchlens_lsp", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize("name", SERVER_SIDE)
def test_the_server_side_never_loads_torch(name: str, tmp_path: Path) -> None:
    loaded = loaded_by((name,), ROOT, tmp_path)
    assert name in loaded
    assert "torch" not in loaded
    assert not any(module.startswith(("torchlens_lsp.tracer", "torchlens_lsp.worker")) for module in loaded)


def test_importing_the_package_loads_nothing_else_of_it(tmp_path: Path) -> None:
    loaded = loaded_by(("torchlens_lsp",), ROOT, tmp_path)
    assert [module for module in loaded if module.startswith("torchlens_lsp")] == ["torchlens_lsp"]


@pytest.mark.parametrize("name", ["torchlens_lsp.document", "torchlens_lsp.analysis"])
def test_document_and_analysis_load_the_standard_library_only(name: str, tmp_path: Path) -> None:
    before = loaded_by((), ROOT, tmp_path)
    after = loaded_by((name,), ROOT, tmp_path)
    roots = {module.partition(".")[0] for module in after - before} - {"torchlens_lsp"}
    assert roots <= sys.stdlib_module_names


@pytest.mark.torch
def test_tracer_and_worker_import_torch_and_the_standard_library_only(tmp_path: Path) -> None:
    found = json.loads(run_python(IMPORTS_UNDER_A_PRIVATE_NAME, str(ROOT), cwd=tmp_path))
    assert set(found["imported"]) - sys.stdlib_module_names == {"torch"}


@pytest.mark.torch
def test_under_a_private_name_neither_our_name_nor_our_folder_appears(tmp_path: Path) -> None:
    found = json.loads(run_python(IMPORTS_UNDER_A_PRIVATE_NAME, str(ROOT), cwd=tmp_path))
    assert found["ours"] == []
    # Where this project is installed, the interpreter itself has its folder; the loading may not add it.
    assert set(found["path"]) <= set(
        json.loads(run_python("import json, sys; print(json.dumps(sys.path))", cwd=tmp_path))
    )


def test_a_planted_import_by_name_is_seen_on_the_server_side(copy: Path) -> None:
    planted = copy / "torchlens_lsp" / "analysis" / "planted.py"
    planted.write_text("import importlib\nimportlib.import_module('sqlite3')\n", encoding="utf-8")
    assert "sqlite3" in loaded_by(("torchlens_lsp.analysis",), copy, copy)


@pytest.mark.torch
@pytest.mark.parametrize("statement", ["import rich", "def late():\n    import rich.text\nlate()"])
def test_a_planted_import_is_seen_in_the_tracer(copy: Path, statement: str) -> None:
    planted = copy / "torchlens_lsp" / "tracer" / "planted.py"
    planted.write_text(statement + "\n", encoding="utf-8")
    found = json.loads(run_python(IMPORTS_UNDER_A_PRIVATE_NAME, str(copy), cwd=copy))
    assert set(found["imported"]) - sys.stdlib_module_names == {"torch", "rich"}
