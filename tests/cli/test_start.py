"""The command as a process: what it loads, and how it meets the world."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from torchlens_lsp import __version__

ROOT = Path(__file__).resolve().parents[2]
LOADED = """
import json, sys
from torchlens_lsp.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as exit:
    code = exit.code
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


def loaded_by(*arguments: str, cwd: Path) -> tuple[int, set[str]]:
    """Exit code, and the modules that a command has loaded by its end."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    code, modules = json.loads(done.stderr.strip().split("\n")[-1])
    return code, set(modules)


def test_the_version_loads_next_to_nothing(tmp_path: Path) -> None:
    code, modules = loaded_by("--version", cwd=tmp_path)
    assert code == 0
    assert modules.isdisjoint({"torch", "rich", "asyncio", "pygls", "torchlens_lsp.server", "torchlens_lsp.cli.trace"})


def test_json_loads_no_rich_and_nothing_loads_torch(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("# torchlens: f(\n", encoding="utf-8")
    code, modules = loaded_by("trace", "net.py", "--format", "json", cwd=tmp_path)
    assert code == 2
    assert modules.isdisjoint({"torch", "rich", "pygls", "lsprotocol", "torchlens_lsp.tracer", "torchlens_lsp.worker"})
    _, modules = loaded_by("trace", "net.py", "--color", "always", cwd=tmp_path)
    assert "rich" in modules
    assert "torch" not in modules


def test_module_and_function_are_the_same_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "torchlens_lsp", "--version"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, f"torchlens-lsp {__version__}\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_a_reader_that_has_seen_enough_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("# torchlens: f(\n" * 3000, encoding="utf-8")
    command = f"'{sys.executable}' -m torchlens_lsp trace '{tmp_path}/net.py'; echo code $? >&2"
    done = subprocess.run(
        ["bash", "-c", f"({command}) | head -n 1"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "━━ default  f(\n"
    assert done.stderr == "code 2\n"


def test_any_source_can_be_printed_into_any_pipe(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("# torchlens: f('世界🔥',\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "torchlens_lsp", "trace", str(tmp_path / "net.py")],
        cwd=ROOT,
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert "# torchlens: f('世界🔥'," in done.stdout.decode("utf-8")


@pytest.mark.parametrize("command", [[], ["trace"], ["check"], ["doctor"]])
def test_help_tells_the_exit_codes(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "torchlens_lsp", *command, "--help"],
        cwd=ROOT,
        env={"COLUMNS": "100", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert "3   the deadline or the memory cap was reached" in done.stdout
    assert "serve" not in done.stdout
