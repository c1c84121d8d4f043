"""`doctor`: what it says, as text and as JSON, and what it starts to find it out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import Cli

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the environments are made of shell scripts")


def environment(folder: Path, torch: str | None) -> Path:
    """An environment whose interpreter leaves a trace of having been started."""
    packages = folder / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text("version = 3.11.4\n", encoding="utf-8")
    if torch is not None:
        (packages / f"torch-{torch}.dist-info").mkdir()
        metadata = f"Metadata-Version: 2.1\nName: torch\nVersion: {torch}\n"
        (packages / f"torch-{torch}.dist-info" / "METADATA").write_text(metadata, encoding="utf-8")
    python = folder / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f"#!/bin/sh\ntouch '{folder}/started'\n", encoding="utf-8")
    python.chmod(0o755)
    return folder


def examined(cli: Cli, *arguments: str) -> dict[str, Any]:
    outcome = cli("doctor", "net.py", "--format", "json", *arguments)
    report: dict[str, Any] = json.loads(outcome.out)
    assert outcome.code == (2 if report["faults"] else 0)
    return report


def test_what_applies_and_why(cli: Cli) -> None:
    cli.write("net.py", "# torchlens: f(1)\n# torchlens[b]: f(\n")
    cli.write(
        "pyproject.toml",
        "[tool.torchlens-lsp]\ntimeout = 60\n"
        "[[tool.torchlens-lsp.examples]]\nname = 's'\nfile = 'net.py'\ncall = 'f(2)'\n",
    )
    environment(cli.folder / ".venv", "2.5.0")
    report = examined(cli)
    assert report["root"] == {"path": str(cli.folder), "reason": "pyproject.toml has [tool.torchlens-lsp]"}
    assert report["configuration"]["settings"]["timeout"] == {
        "value": 60.0,
        "source": str(cli.folder / "pyproject.toml"),
    }
    assert report["configuration"]["settings"]["threads"] == {
        "value": None,
        "source": "default",
        "meaning": "half of the cores",
    }
    assert [(each["name"], each["origin"], each["line"]) for each in report["examples"]] == [
        ("default", "comment", 1),
        ("b", "comment", 2),
        ("s", "pyproject", 6),
    ]
    interpreter = report["interpreter"]
    assert (interpreter["command"], interpreter["python"], interpreter["torch"]) == (
        [str(cli.folder / ".venv/bin/python")],
        "3.11.4",
        "2.5.0",
    )
    assert {"source": "VIRTUAL_ENV", "command": [], "verdict": "it is not set"} in interpreter["candidates"]
    assert report["faults"] == [
        "example b: `(` is never closed: close it with `)`, or go on in the comment lines directly below"
    ]


def test_nothing_of_the_root_is_started(cli: Cli) -> None:
    cli.write("net.py", "# torchlens: f(1)\n")
    place = environment(cli.folder / ".venv", None)
    report = examined(cli, "--python", str(place))
    assert report["faults"] == [
        f"no interpreter here can run a model; --python names another\n  {place}/bin/python (--python): it has no "
        f"torch: `{place}/bin/python -m pip install torch`"
    ]
    examined(cli)
    assert not (place / "started").exists()


def test_an_interpreter_elsewhere_is_asked(cli: Cli) -> None:
    cli.write("net.py", "# torchlens: f(1)\n")
    place = environment(cli.folder.parent / "elsewhere", None)
    report = examined(cli, "--python", str(place))
    assert (place / "started").exists()
    assert "it is no Python that works" in report["faults"][0]


def test_the_text_says_the_same(cli: Cli) -> None:
    cli.write("net.py", "x = 1\n")
    environment(cli.folder / ".venv", "2.5.0")
    outcome = cli("doctor", "net.py")
    assert outcome.code == 2
    for line in [
        f"file         {cli.folder}/net.py",
        f"root         {cli.folder}  (the file belongs to no project)",
        "settings     the defaults: no pyproject.toml has a [tool.torchlens-lsp]",
        "  timeout        20",
        "  threads        half of the cores",
        "examples     none",
        f"interpreter  {cli.folder}/.venv/bin/python",
        "    taken, Python 3.11.4, torch 2.5.0",
        "`torchlens-lsp trace` cannot run this file yet:",
        "  - the file has no example: `torchlens-lsp trace` says how to write one",
    ]:
        assert line in outcome.out.split("\n")


def test_a_file_that_can_run(cli: Cli) -> None:
    cli.write("net.py", "# torchlens: f(1)\n")
    environment(cli.folder / ".venv", "2.5.0")
    outcome = cli("doctor", "net.py")
    assert outcome.code == 0
    assert outcome.out.endswith("`torchlens-lsp trace net.py` can run this file.\n")


def test_faults_of_the_configuration_and_of_python(cli: Cli) -> None:
    cli.write("net.py", "# torchlens: f(1)\n")
    cli.write("pyproject.toml", "[tool.torchlens-lsp]\nx = 1\n")
    report = examined(cli, "--python", "gone")
    assert report["faults"][0].startswith(f"{cli.folder}/pyproject.toml:2: `x` is no key")
    assert report["faults"][1] == "--python: there is no program 'gone'"
    assert report["interpreter"]["command"] is None
