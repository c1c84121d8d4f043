"""Starting a worker: its command, its environment, its place among the processes.

A worker inherits what the user's shell has set and nothing that makes the server's own interpreter what it is.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..document.request import RunRequest

BOOT = Path(__file__).resolve().parent.parent / "worker" / "boot.py"
MARK = "TORCHLENS_LSP_RUN"
"""Environment variable by which everything that a run started is found again, whatever became of its parent."""
NICENESS = 10

_NEVER_INHERITED = (
    "PYTHONHOME",  # makes another interpreter look for its library in the wrong place
    "PYTHONEXECUTABLE",
    "__PYVENV_LAUNCHER__",
    "PYTHONINSPECT",
    "PYTHONSTARTUP",
)


class LaunchError(Exception):
    """The interpreter could not be started; the message says why."""


def usable_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_threads() -> int:
    """Half of the cores: the other half is the editor's."""
    return max(1, usable_cores() // 2)


def start(interpreter: Sequence[str], request: RunRequest, mark: str, boot: Path = BOOT) -> subprocess.Popen[bytes]:
    """Start a worker in a session of its own at low priority, with pipes to its three standard streams.

    Raises LaunchError.
    """
    environment = child_environment(os.environ, request, mark, interpreter[0])
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.BELOW_NORMAL_PRIORITY_CLASS
    try:
        process = subprocess.Popen(
            [*interpreter, str(boot)],
            cwd=request.root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            creationflags=flags,
        )
    except OSError as error:
        raise LaunchError(f"cannot start {' '.join(interpreter)} in {request.root}: {error.strerror}") from error
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):  # it may be over already
            os.setpriority(os.PRIO_PROCESS, process.pid, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)
    return process


def child_environment(base: Mapping[str, str], request: RunRequest, mark: str, executable: str) -> dict[str, str]:
    """The environment of a worker under `executable`, from that of the server."""
    result = {name: value for name, value in base.items() if name not in _NEVER_INHERITED}
    _leave_own_environment(result, executable)
    own = own_folders()
    entries = [e for e in result.pop("PYTHONPATH", "").split(os.pathsep) if e and _real(e) not in own]
    if entries:
        result["PYTHONPATH"] = os.pathsep.join(entries)
    defaults = {
        "MPLBACKEND": "Agg",  # a window would wait for somebody to close it
        "OMP_NUM_THREADS": str(request.threads or default_threads()),
        "OMP_WAIT_POLICY": "PASSIVE",  # threads that spin while they wait starve each other on a busy machine
        "PYTHONBREAKPOINT": "0",
        "PYTHONIOENCODING": "utf-8:backslashreplace",
    }
    result = {**defaults, **result}
    result["PYTHONHASHSEED"] = "0"
    if not request.example.wants_cuda:
        result["CUDA_VISIBLE_DEVICES"] = ""
    return {**result, **request.env, MARK: mark}


def own_folders() -> frozenset[str]:
    """Folders from which this process itself imports."""
    folders: set[str] = set()
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and "." not in name:
            is_package = hasattr(module, "__path__")
            folders.add(_real(os.path.dirname(os.path.dirname(path) if is_package else path)))
    return frozenset(folders)


def _leave_own_environment(result: dict[str, str], executable: str) -> None:
    """Take the server's virtual environment out of `result`, unless the worker's interpreter lies in it too."""
    own = os.path.abspath(sys.prefix)
    if sys.prefix == sys.base_prefix or _is_below(os.path.abspath(executable), own):
        return
    if os.path.abspath(result.get("VIRTUAL_ENV", os.sep)) == own:
        del result["VIRTUAL_ENV"]
        result.pop("VIRTUAL_ENV_PROMPT", None)
    if "PATH" in result:
        result["PATH"] = os.pathsep.join(_without(result["PATH"].split(os.pathsep), own))


def _without(entries: Iterable[str], folder: str) -> list[str]:
    return [entry for entry in entries if not (entry and _is_below(os.path.abspath(entry), folder))]


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _real(path: str) -> str:
    return os.path.normcase(os.path.realpath(path))
