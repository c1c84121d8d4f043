"""What is known of an interpreter: its Python, and its torch.

Two ways: `read_environment` reads the files of an environment and starts nothing, so it is safe in a root that nobody
trusts; `ask` starts the interpreter, without importing torch, and is the only way for one that is not in an
environment.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ..document.request import ExampleSpec, RunRequest
from . import launch

SECONDS = 20.0
"""How long an interpreter may take to say what it is; the first start of one can be slow."""
OLDEST_PYTHON = (3, 10)
OLDEST_TORCH = (2, 1)
ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")
"""What tells the folder of a virtual or conda environment."""

# Runs under any Python there is, and must not import what lies in its working folder.
_QUESTION = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
torch, has_torch = None, False
try:
    from importlib import metadata, util
    has_torch = util.find_spec("torch") is not None
    torch = metadata.version("torch")
except Exception:
    pass
import json
print(json.dumps(["torchlens-lsp", "%d.%d.%d" % sys.version_info[:3], torch, has_torch]))
"""


@dataclass(frozen=True)
class Known:
    """What an interpreter is."""

    python: str | None = None
    """Version; None where it is not known."""
    torch: str | None = None
    """Version; None where there is none, or it is not known."""
    has_torch: bool | None = None
    """None where it is not known."""
    failure: str | None = None
    """Why it cannot be started."""

    def fault(self, command: Sequence[str]) -> str | None:
        """Why it cannot run a model, and what to do about it; None where nothing speaks against it."""
        if self.failure is not None:
            return self.failure
        if self.python is not None and _version(self.python) < OLDEST_PYTHON:
            return f"it is Python {self.python}, and {_dotted(OLDEST_PYTHON)} or newer is needed"
        if self.has_torch is False:
            return f"it has no torch: `{written(command)} -m pip install torch`"
        if self.torch is not None and _version(self.torch) < OLDEST_TORCH:
            return (
                f"its torch is {self.torch}, and {_dotted(OLDEST_TORCH)} or newer is needed: "
                f"`{written(command)} -m pip install --upgrade torch`"
            )
        return None

    def __str__(self) -> str:
        python = f"Python {self.python}" if self.python else "a Python of unknown version"
        if self.has_torch is None:
            return python
        torch = f"torch {self.torch}" if self.torch else "torch of unknown version" if self.has_torch else "no torch"
        return f"{python}, {torch}"


def read_environment(folder: Path) -> Known:
    """What the files of an environment tell. A torch that is made importable in unusual ways is not seen."""
    packages = list(_site_packages(folder))
    found = next(iter(metadata.distributions(name="torch", path=[str(path) for path in packages])), None)
    torch = found.version if found is not None else None
    python = _python_of(folder, packages)
    if torch is None and (_sees_system_packages(folder) or not packages):
        return Known(python)
    return Known(python, torch, torch is not None)


def ask(command: Sequence[str], folder: Path) -> Known:
    """What an interpreter says of itself. Starts it in `folder`, which some use to choose a version; imports nothing
    from there.
    """
    # As a worker will find it: what PYTHONPATH makes importable counts.
    environment = launch.child_environment(os.environ, RunRequest("", "", ExampleSpec()), "", command[0])
    try:
        done = subprocess.run(
            [*command, "-c", _QUESTION],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Known(failure=f"it did not answer within {SECONDS:g} s")
    except OSError as error:
        return Known(failure=f"it cannot be started: {error.strerror}")
    for line in done.stdout.split("\n"):
        if line.startswith('["torchlens-lsp"'):
            _, python, torch, has_torch = json.loads(line)
            return Known(python, torch, has_torch)
    said = [line.strip() for line in done.stderr.split("\n") if line.strip()]
    return Known(failure="it is no Python that works" + (f": {said[-1]}" if said else ""))


def environment_of(path: Path) -> Path | None:
    """The environment that a file lies in; None for one outside of any."""
    return next((f for f in path.parents if any((f / mark).exists() for mark in ENVIRONMENT_MARKS)), None)


def python_in(environment: Path) -> Path | None:
    """The interpreter of an environment; None where it has none."""
    names = ("Scripts/python.exe", "python.exe") if sys.platform == "win32" else ("bin/python", "bin/python3")
    return next((environment / name for name in names if (environment / name).is_file()), None)


def written(command: Sequence[str]) -> str:
    """A command as one types it."""
    if sys.platform == "win32":
        return subprocess.list2cmdline(command)
    return shlex.join(command)


def _site_packages(environment: Path) -> Iterator[Path]:
    for pattern in ("lib/python3*/site-packages", "lib64/python3*/site-packages", "Lib/site-packages"):
        yield from environment.glob(pattern)


def _python_of(environment: Path, packages: Sequence[Path]) -> str | None:
    version = re.search(r"^version(?:_info)?\s*=\s*(\d+\.\d+(?:\.\d+)?)", _configuration(environment), re.MULTILINE)
    if version is not None:
        return version[1]
    for record in (environment / "conda-meta").glob("python-3.*.json"):
        return record.name.split("-")[1]
    named = (re.fullmatch(r"python(3\.\d+)", path.parent.name) for path in packages)
    return next((match[1] for match in named if match), None)


def _sees_system_packages(environment: Path) -> bool:
    text = _configuration(environment)
    return re.search(r"^include-system-site-packages\s*=\s*true", text, re.MULTILINE | re.IGNORECASE) is not None


def _configuration(environment: Path) -> str:
    try:
        return (environment / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
