"""What a worker is started with."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from torchlens_lsp.document.request import PYTHON_TOO_OLD_EXIT, ExampleSpec, RunRequest
from torchlens_lsp.server import launch

REQUEST = RunRequest("/project/model.py", "/project", ExampleSpec(call="f()"), threads=3)
FOREIGN = "/somewhere/else/bin/python"


def environment(base: dict[str, str], request: RunRequest = REQUEST, executable: str = FOREIGN) -> dict[str, str]:
    return launch.child_environment(base, request, "mark", executable)


def test_what_makes_the_servers_interpreter_is_not_inherited() -> None:
    base = {"PYTHONHOME": "/x", "PYTHONINSPECT": "1", "__PYVENV_LAUNCHER__": "/x", "HOME": "/home", "LANG": "C"}
    found = environment(base)
    assert not {"PYTHONHOME", "PYTHONINSPECT", "__PYVENV_LAUNCHER__"} & set(found)
    assert (found["HOME"], found["LANG"]) == ("/home", "C")


def test_folders_that_the_server_imports_from_leave_the_python_path() -> None:
    ours = str(Path(launch.__file__).resolve().parents[2])
    theirs = os.path.dirname(pytest.__file__.removesuffix("/__init__.py"))
    found = environment({"PYTHONPATH": os.pathsep.join([ours, "/users/own", "", theirs])})
    assert found["PYTHONPATH"] == "/users/own"
    assert "PYTHONPATH" not in environment({"PYTHONPATH": ours})


def test_the_servers_virtual_environment_is_left_where_the_interpreter_is_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "prefix", "/server/venv")
    base = {"VIRTUAL_ENV": "/server/venv", "PATH": os.pathsep.join(["/server/venv/bin", "/usr/bin", ""])}
    found = environment(base)
    assert "VIRTUAL_ENV" not in found
    assert found["PATH"] == os.pathsep.join(["/usr/bin", ""])
    assert environment(base, executable="/server/venv/bin/python")["VIRTUAL_ENV"] == "/server/venv"
    assert environment({"VIRTUAL_ENV": "/users/venv"})["VIRTUAL_ENV"] == "/users/venv"


def test_cuda_is_hidden_unless_the_example_asks_for_it() -> None:
    base = {"CUDA_VISIBLE_DEVICES": "1"}
    assert environment(base)["CUDA_VISIBLE_DEVICES"] == ""
    for spec in (
        ExampleSpec(call="f()", device="cuda:0"),
        ExampleSpec(call="f().cuda()"),
        ExampleSpec(call="f(x)", setup="x = torch.zeros(2, device='cuda')"),
    ):
        assert environment(base, RunRequest("/f", "/", spec))["CUDA_VISIBLE_DEVICES"] == "1"


def test_defaults_give_way_to_the_users_shell_and_this_to_the_configuration() -> None:
    assert environment({})["OMP_NUM_THREADS"] == "3"
    assert environment({"OMP_NUM_THREADS": "5"})["OMP_NUM_THREADS"] == "5"
    configured = RunRequest("/f", "/", ExampleSpec(), env={"OMP_NUM_THREADS": "7", "PYTHONHASHSEED": "1"})
    found = environment({"OMP_NUM_THREADS": "5", "PYTHONHASHSEED": "random"}, configured)
    assert (found["OMP_NUM_THREADS"], found["PYTHONHASHSEED"]) == ("7", "1")
    assert environment({"PYTHONHASHSEED": "random"})["PYTHONHASHSEED"] == "0"


def test_half_of_the_cores_is_the_editors(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, threads in ((1, 1), (2, 1), (3, 1), (8, 4)):
        monkeypatch.setattr(launch, "usable_cores", lambda cores=cores: cores)
        assert launch.default_threads() == threads


def test_an_old_interpreter_can_read_the_boot_file_and_is_refused(tmp_path: Path) -> None:
    text = launch.BOOT.read_text()
    ast.parse(text, feature_version=(3, 4))
    pretending = (
        "import runpy, sys; sys.path.insert(0, ''); sys.version_info = (3, 9, 1); "
        f"runpy.run_path({str(launch.BOOT)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", pretending], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == PYTHON_TOO_OLD_EXIT
    assert done.stderr == f"{sys.executable} is Python 3.9; 3.10 or newer is needed\n"
