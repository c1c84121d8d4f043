"""Which files are watched."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from torchlens_lsp.worker.watch import Watch


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def watches(watch: Watch, path: Path, module: str = "m") -> bool:
    return watch.watches(str(path), module)


def test_the_file_itself_is_watched_wherever_it_lies(root: Path, tmp_path: Path) -> None:
    file = touch(tmp_path / "site-packages" / "net.py")
    assert watches(Watch(str(file), str(root)), file)


def test_files_below_the_root_are_watched_and_others_are_not(root: Path, tmp_path: Path) -> None:
    watch = Watch(str(root / "model.py"), str(root))
    assert watches(watch, touch(root / "pkg" / "parts" / "net.py"))
    assert not watches(watch, touch(tmp_path / "other.py"))
    assert not watches(watch, touch(tmp_path / "rootless" / "x.py"))


@pytest.mark.parametrize("folder", [".venv/lib/site-packages/timm", "node_modules/x", "lib/dist-packages", ".tox/py"])
def test_what_is_installed_below_the_root_is_not_the_users_own(root: Path, folder: str) -> None:
    assert not watches(Watch(str(root / "model.py"), str(root)), touch(root / folder / "net.py"))


@pytest.mark.parametrize("sign", ["pyvenv.cfg", "conda-meta/history"])
def test_environments_are_known_by_what_they_hold(root: Path, sign: str) -> None:
    touch(root / "my-env" / sign)
    assert not watches(Watch(str(root / "model.py"), str(root)), touch(root / "my-env" / "lib" / "net.py"))


def test_a_root_may_lie_among_installed_packages(tmp_path: Path) -> None:
    root = tmp_path / "site-packages" / "timm"
    assert watches(Watch(str(root / "a.py"), str(root)), touch(root / "layers" / "b.py"))


def test_links_are_followed(root: Path, tmp_path: Path) -> None:
    real = touch(tmp_path / "real" / "net.py")
    (root / "linked").symlink_to(tmp_path / "real")
    assert not watches(Watch(str(root / "m.py"), str(root)), real)
    assert watches(Watch(str(root / "linked" / "net.py"), str(root)), real)


@pytest.mark.parametrize(
    ("pattern", "is_watched"),
    [
        ("{outside}/lib/net.py", True),
        ("{outside}/lib", True),
        ("{outside}/lib/", True),
        ("{outside}/*/net.py", True),
        ("{outside}/*.py", False),
        ("{outside}/**/net.py", True),
        ("{outside}/**", True),
        ("{outside}/l?b/n*", True),
        ("{outside}/li", False),
        ("../outside/lib/net.py", True),
        ("package:lib", True),
        ("package:lib.net", True),
        ("package:li", False),
    ],
)
def test_paths_globs_and_packages_add_files(root: Path, tmp_path: Path, pattern: str, is_watched: bool) -> None:
    outside = tmp_path / "outside"
    file = touch(outside / "lib" / "net.py")
    watch = Watch(str(root / "model.py"), str(root), [pattern.format(outside=outside)])
    assert watches(watch, file, "lib.net") is is_watched


def test_added_modules_that_are_loaded_already_are_named(root: Path, tmp_path: Path) -> None:
    loaded = ModuleType("lib.net")
    loaded.__file__ = str(touch(tmp_path / "lib" / "net.py"))
    modules = {"lib.net": loaded, "builtin": ModuleType("builtin")}
    assert Watch(str(root / "m.py"), str(root), ["package:lib"]).loaded_already(modules) == ["lib.net"]
    assert Watch(str(root / "m.py"), str(root)).loaded_already(modules) == []
