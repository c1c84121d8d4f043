"""Which folder is a file's root."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlens_lsp.server.root import find_root

TABLE = "[tool.torchlens-lsp]\ntimeout = 3\n"


def make(folder: Path, *names: str, **texts: str) -> Path:
    """A file in a folder of a tree with some marks: `a/pyproject.toml` and the like."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".git"):
            path.mkdir()
        else:
            path.write_text(texts.get(path.parent.name, ""), encoding="utf-8")
    file = folder / "a" / "b" / "c" / "net.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("", encoding="utf-8")
    return file


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)


def test_the_nearest_folder_with_our_table(tmp_path: Path) -> None:
    file = make(tmp_path, "a/pyproject.toml", "a/b/pyproject.toml", "a/b/c/.git", a=TABLE)
    root = find_root(file)
    assert (root.folder, root.reason) == (tmp_path / "a", "pyproject.toml has [tool.torchlens-lsp]")
    assert root.configuration.timeout == 3


def test_a_table_that_does_not_parse_is_ours_if_it_names_us(tmp_path: Path) -> None:
    file = make(tmp_path, "a/pyproject.toml", a=TABLE + "?")
    root = find_root(file)
    assert root.folder == tmp_path / "a"
    assert len(root.configuration.problems) == 1


@pytest.mark.parametrize("mark", ["pyproject.toml", "setup.cfg", "setup.py", ".git"])
def test_else_the_nearest_project(tmp_path: Path, mark: str) -> None:
    file = make(tmp_path, "a/.git", f"a/b/{mark}")
    root = find_root(file)
    assert (root.folder, root.reason) == (tmp_path / "a" / "b", f"it has a {mark}")
    assert root.configuration.path is None


def test_a_lone_file_is_its_own_root(tmp_path: Path) -> None:
    file = make(tmp_path)
    root = find_root(file)
    assert (root.folder, root.reason) == (file.parent, "the file belongs to no project")


def test_marks_at_home_make_no_project(tmp_path: Path) -> None:
    file = make(tmp_path, ".git")
    assert find_root(file).folder == file.parent


def test_a_table_at_home_is_meant(tmp_path: Path) -> None:
    file = make(tmp_path)
    (tmp_path / "pyproject.toml").write_text(TABLE, encoding="utf-8")
    assert find_root(file).folder == tmp_path
