"""Which interpreter runs a root's files, and why this one.

In this order: the one that the user names; that of the environment that the file itself lies in (a library's file);
the activated environment; `.venv` or `venv` of the root, or of a folder above it in the same repository; conda's base
environment, which is active whether anybody wants it or not; our own interpreter; `python3` and `python` on the path.
The first that can run a model is taken; what was passed over, and why, is kept to be told.

An interpreter that lies in a root is started for a root that the user trusts alone: `may_start` decides.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import metadata, util
from pathlib import Path

from .interpreter_probe import Known, ask, environment_of, python_in, read_environment, written

ENVIRONMENT_FOLDERS = (".venv", "venv")
_CONDA_BASE = ("base", "root")
_NOT_STARTED = "not started, because nothing in a root that is not trusted is"

MayStart = Callable[[str], bool]
"""Whether the program at a path may be started only to ask what it is."""


class InterpreterError(Exception):
    """The interpreter that the user names cannot be had; the message says why."""


@dataclass(frozen=True)
class Candidate:
    """An interpreter that could be taken."""

    source: str
    """Where it was found, such as `VIRTUAL_ENV`."""
    command: tuple[str, ...] = ()
    """How it is started; empty where there is none."""
    known: Known | None = None
    """None for one that was not looked at."""
    is_taken: bool = False
    fault: str | None = None
    """Why it was passed over."""
    is_environment: bool = False
    """Whether somebody made it for such a purpose, and will want to know that it was passed over."""

    @property
    def verdict(self) -> str:
        """What became of it, in words."""
        what = f"{self.known}" if self.known is not None and self.known.failure is None else ""
        if self.is_taken:
            return ", ".join(part for part in ("taken", what) if part)
        if self.fault is None:
            return "not looked at, because an earlier one was taken"
        return f"passed over: {self.fault}" if self.command else self.fault


@dataclass(frozen=True)
class Choice:
    """All candidates, and the one of them that was taken."""

    candidates: tuple[Candidate, ...]

    @property
    def taken(self) -> Candidate | None:
        """The one that was taken; None where none can run a model."""
        return next((candidate for candidate in self.candidates if candidate.is_taken), None)

    @property
    def passed_over(self) -> tuple[Candidate, ...]:
        """Those that exist, and came before the one that was taken."""
        before = []
        for candidate in self.candidates:
            if candidate.is_taken:
                break
            if candidate.command:
                before.append(candidate)
        return tuple(before)

    def failure(self) -> str:
        """What to say where none was taken."""
        if not self.passed_over:
            return "there is no Python to run the model with: pass one with --python"
        lines = [f"  {written(each.command)} ({each.source}): {each.fault}" for each in self.passed_over]
        return "\n".join(["no interpreter here can run a model; --python names another", *lines])


def choose(
    root: Path,
    file: Path,
    *,
    python: str | None = None,
    environment: Mapping[str, str] | None = None,
    may_start: MayStart = lambda path: True,
) -> Choice:
    """The interpreter for a file of a root. `python` is what the user names: a path or a command line.

    `environment` are the environment's variables, by default this process's own. Starts interpreters to ask them
    what they are, as far as it cannot be read from files and `may_start` agrees. Raises InterpreterError for a
    `python` that does not exist.
    """
    if python is not None:
        return Choice((Candidate("--python", _command_of(python), is_taken=True),))
    result: list[Candidate] = []
    is_taken = False
    seen: set[str] = set()
    for candidate in _candidates(root, file, os.environ if environment is None else environment):
        path = candidate.command[0] if candidate.command else ""
        if path and path in seen:
            continue
        seen.add(path)
        if candidate.fault is None and not is_taken:
            candidate = _judged(candidate, root, may_start)
            is_taken = candidate.is_taken
        result.append(candidate)
    return Choice(tuple(result))


def known_of(candidate: Candidate, root: Path, may_start: MayStart) -> Known:
    """What a candidate's interpreter is, by its files where these tell enough, else by asking it."""
    path = Path(candidate.command[0])
    if len(candidate.command) == 1 and _is_own(path):
        return _own()
    folder = environment_of(path) if len(candidate.command) == 1 else None
    known = read_environment(folder) if folder is not None else Known()
    if known.fault(candidate.command) is None and known.has_torch:
        return known
    return ask(candidate.command, root) if may_start(candidate.command[0]) else known


def lies_in(folder: Path, path: str) -> bool:
    """Whether a program lies below a folder, by its own name and not by what a link leads to."""
    return Path(os.path.abspath(path)).is_relative_to(folder.absolute())


def _judged(candidate: Candidate, root: Path, may_start: MayStart) -> Candidate:
    known = known_of(candidate, root, may_start)
    fault = known.fault(candidate.command)
    if fault is None and known.has_torch is None and not may_start(candidate.command[0]):
        fault = f"its files do not tell whether it has torch, and it was {_NOT_STARTED}"
    return replace(candidate, known=known, fault=fault, is_taken=fault is None)


def _candidates(root: Path, file: Path, environment: Mapping[str, str]) -> Iterator[Candidate]:
    own_environment = environment_of(file)
    if own_environment is not None:
        yield _in_environment("the environment that the file lies in", own_environment)
    yield _by_variable("VIRTUAL_ENV", environment)
    is_base = environment.get("CONDA_DEFAULT_ENV") in _CONDA_BASE
    if not is_base:
        yield _by_variable("CONDA_PREFIX", environment)
    for folder in _root_and_above(root):
        for name in ENVIRONMENT_FOLDERS:
            if (folder / name).is_dir():
                yield _in_environment(f"{name} in {folder}", folder / name)
    if is_base:
        yield _by_variable("CONDA_PREFIX", environment)
    if sys.executable:
        yield Candidate("the Python that runs torchlens-lsp", (sys.executable,))
    for name in ("python3", "python"):
        found = shutil.which(name, path=environment.get("PATH", ""))
        if found is None:
            yield Candidate(f"{name} on the path", fault="there is none")
        else:
            yield Candidate(f"{name} on the path", (os.path.abspath(found),))


def _by_variable(name: str, environment: Mapping[str, str]) -> Candidate:
    value = environment.get(name)
    return _in_environment(name, Path(value)) if value else Candidate(name, fault="it is not set")


def _in_environment(source: str, folder: Path) -> Candidate:
    path = python_in(folder.absolute())
    if path is None:
        return Candidate(source, fault=f"{folder} has no Python")
    return Candidate(source, (str(path),), is_environment=True)


def repository_of(root: Path) -> Path:
    """The top folder of the repository that a root lies in; the root itself where it lies in none."""
    return next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)


def _root_and_above(root: Path) -> Iterator[Path]:
    """The root, and the folders above it up to the top of its repository."""
    top = repository_of(root)
    return (folder for folder in (root, *root.parents) if folder.is_relative_to(top))


def _command_of(python: str) -> tuple[str, ...]:
    """The command that a user's words for an interpreter mean: a program, an environment's folder, a command line."""
    if not python.strip():
        raise InterpreterError(f"--python: {python!r} names no program")
    path = Path(python).expanduser()
    if path.is_dir():
        found = python_in(path.absolute())
        if found is None:
            raise InterpreterError(f"--python: there is no Python in the folder {path}")
        return (str(found),)
    if path.is_file():
        return (os.path.abspath(path),)
    try:
        program, *arguments = shlex.split(python, posix=sys.platform != "win32")
    except ValueError as error:
        raise InterpreterError(f"--python: {python!r} is no command line: {error}") from error
    found_program = shutil.which(os.path.expanduser(program))
    if found_program is None:
        raise InterpreterError(f"--python: there is no program {program!r}")
    return (os.path.abspath(found_program), *arguments)


def _is_own(path: Path) -> bool:
    return bool(sys.executable) and os.path.abspath(path) == os.path.abspath(sys.executable)


def _own() -> Known:
    """Our own interpreter, which need not be started."""
    version = ".".join(map(str, sys.version_info[:3]))
    has_torch = util.find_spec("torch") is not None
    try:
        return Known(version, metadata.version("torch") if has_torch else None, has_torch)
    except metadata.PackageNotFoundError:
        return Known(version, None, has_torch)
