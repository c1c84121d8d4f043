"""Source files and their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlens_lsp.cli.exits import UsageError
from torchlens_lsp.cli.sources import path_of, read_source, shown, shown_briefly


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = 1\r\ny\r", "x = 1\r\ny\r"),
        (b"\xef\xbb\xbfx = '\xc3\xa9'", "x = 'é'"),
        (b"# -*- coding: latin-1 -*-\n'\xe9'", "# -*- coding: latin-1 -*-\n'é'"),
        (b"", ""),
    ],
)
def test_a_file_is_read_as_python_reads_it(tmp_path: Path, data: bytes, text: str) -> None:
    path = tmp_path / "net.py"
    path.write_bytes(data)
    assert read_source(path) == text


@pytest.mark.parametrize("data", [b"'\xff'", b"# coding: nonsense\n"])
def test_what_python_cannot_read_is_misuse(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "net.py"
    path.write_bytes(data)
    with pytest.raises(UsageError, match="cannot be read as Python source"):
        read_source(path)
    path.unlink()
    with pytest.raises(UsageError, match="No such file"):
        read_source(path)


@pytest.mark.parametrize("name", ["net.py", "100%25 é #?.py", "a b/世界.py"])
def test_a_uri_leads_back_to_its_file(tmp_path: Path, name: str) -> None:
    assert path_of((tmp_path / name).as_uri()) == tmp_path / name


def test_other_uris_are_no_files() -> None:
    assert path_of("untitled:Untitled-1") is None
    assert path_of(None) is None


def test_a_path_is_as_short_as_it_is_clear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = Path.cwd()
    assert shown(here / "src" / "net.py") == "src/net.py"
    assert shown(here.parent / "net.py") == str(here.parent / "net.py")
    assert shown_briefly(Path("/usr/lib/python3/site-packages/torch/nn/x.py")) == "torch/nn/x.py"
    assert shown_briefly(here / "lib/site-packages/x.py") == "lib/site-packages/x.py"
