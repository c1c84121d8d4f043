"""Under which name a file runs, decided from folders and from what it imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlens_lsp.worker.naming import Place, imports_of, place_of


def place(root: Path, file: str, *others: str, text: str = "") -> Place:
    """The place of `file`, with `others` (files, empty) beside it."""
    for name in (file, *others):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return place_of(str(root / file), str(root), text)


def folders(found: Place, root: Path) -> list[str]:
    return [str(Path(entry).relative_to(root)) for entry in found.path]


def test_a_lone_file_is_named_after_itself_and_finds_its_neighbours_first(tmp_path: Path) -> None:
    found = place(tmp_path, "scripts/train.py")
    assert found.name == "train"
    assert not found.in_package
    assert folders(found, tmp_path) == ["scripts", "."]


@pytest.mark.parametrize(
    ("file", "name"), [("my-net.py", "my-net"), ("net.v2.py", "net_v2"), ("random.py", "random_"), ("json.py", "json_")]
)
def test_a_lone_file_never_takes_the_name_of_a_library_module(tmp_path: Path, file: str, name: str) -> None:
    assert place(tmp_path, file).name == name


def test_a_chain_of_init_files_is_a_package(tmp_path: Path) -> None:
    found = place(tmp_path, "lib/pkg/parts/net.py", "lib/pkg/__init__.py", "lib/pkg/parts/__init__.py")
    assert found.name == "pkg.parts.net"
    assert folders(found, tmp_path)[0] == "lib"


def test_an_init_file_is_its_package(tmp_path: Path) -> None:
    found = place(tmp_path, "pkg/__init__.py", text="from . import net")
    assert (found.name, found.is_package) == ("pkg", True)
    assert folders(found, tmp_path) == ["."]


def test_packages_in_src_are_found_from_src(tmp_path: Path) -> None:
    found = place(tmp_path, "src/pkg/net.py", "src/pkg/__init__.py", "pyproject.toml")
    assert found.name == "pkg.net"
    assert folders(found, tmp_path) == ["src", "."]


def test_scripts_of_a_project_find_its_src(tmp_path: Path) -> None:
    found = place(tmp_path, "scripts/train.py", "src/pkg/__init__.py", "setup.cfg")
    assert folders(found, tmp_path) == ["scripts", "src", "."]


def test_the_nearest_project_counts(tmp_path: Path) -> None:
    found = place(tmp_path, "apps/one/run.py", "apps/one/pyproject.toml", "apps/one/src/x.py", "pyproject.toml")
    assert folders(found, tmp_path) == ["apps/one", "apps/one/src", "."]


def test_a_project_folder_is_no_package_though_it_has_an_init_file(tmp_path: Path) -> None:
    root = tmp_path / "project"
    found = place(root, "net.py", "__init__.py", "pyproject.toml")
    assert found.name == "net"


def test_unless_relative_imports_need_it_to_be_one(tmp_path: Path) -> None:
    root = tmp_path / "custom-nodes"
    found = place(root, "net.py", "__init__.py", "pyproject.toml", text="from .blocks import Block")
    assert found.name == "custom-nodes.net"
    assert found.path[0] == str(tmp_path)


def test_a_root_inside_of_a_package_is_left_for_the_packages_sake(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    found = place(tmp_path / "pkg" / "models", "net.py", "__init__.py")
    assert found.name == "pkg.models.net"


@pytest.mark.parametrize(
    "text", ["from . import blocks", "from ..models.blocks import Block", "import app.models.blocks"]
)
def test_a_namespace_package_shows_in_the_imports(tmp_path: Path, text: str) -> None:
    found = place(tmp_path, "app/models/net.py", text=text)
    assert found.name == "app.models.net"
    assert folders(found, tmp_path) == ["."]


def test_a_namespace_package_in_src(tmp_path: Path) -> None:
    found = place(tmp_path, "src/app/net.py", "pyproject.toml", text="from .blocks import Block")
    assert found.name == "app.net"
    assert folders(found, tmp_path) == ["src", "."]


def test_a_package_inside_of_a_namespace_is_found_whole_where_it_names_it(tmp_path: Path) -> None:
    others = ("company/nets/__init__.py",)
    assert place(tmp_path, "company/nets/net.py", *others, text="from .x import y").name == "nets.net"
    assert place(tmp_path, "company/nets/net.py", *others, text="import company.data").name == "company.nets.net"
    assert place(tmp_path, "company/nets/net.py", *others, text="from ..data import x").name == "company.nets.net"


def test_a_file_of_a_package_that_is_written_as_a_script_is_one(tmp_path: Path) -> None:
    others = ("pkg/__init__.py", "pkg/blocks.py")
    assert place(tmp_path, "pkg/net.py", *others, text="from blocks import Block").name == "net"
    assert place(tmp_path, "pkg/net.py", *others, text="from pkg.blocks import Block").name == "pkg.net"
    assert place(tmp_path, "pkg/net.py", *others, text="from . import x\nimport blocks").name == "pkg.net"


def test_a_file_outside_of_the_root_has_itself_for_a_project(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "net.py").touch()
    found = place_of(str(tmp_path / "net.py"), str(tmp_path / "root"), "")
    assert found.path == (str(tmp_path), str(tmp_path / "root"))


def test_imports_are_read_off_the_text() -> None:
    found = imports_of("import a.b\nfrom c.d import e\nfrom .. import f\ndef g():\n    import h\n")
    assert found.level == 2
    assert found.tops == {"a", "c", "h"}
    assert imports_of("def (").tops == frozenset()
