"""The command line in this process, with a worker that does what a test scripts it to do."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from torchlens_lsp.cli import main, runs
from torchlens_lsp.document.model import Document, Durations, RunError
from torchlens_lsp.document.request import RunRequest

Script = Callable[[RunRequest], Document]


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str


def ok(request: RunRequest) -> Document:
    return Document(request.example.example(), durations=Durations(1.2, 0.01, 0.014))


def ended(status: str, kind: str = "ValueError", message: str = "no", **place: Any) -> Script:
    """A run that ends in that way."""

    def script(request: RunRequest) -> Document:
        return Document(request.example.example(), status, error=RunError("call", kind, message, **place))

    return script


@dataclass
class Cli:
    """Commands in a folder. Runs are answered by `script`, and kept in `requests`."""

    folder: Path
    capture: pytest.CaptureFixture[str]
    script: Script = ok
    printed: str = ""
    """What each run prints."""
    requests: list[RunRequest] = field(default_factory=list)
    interpreters: list[tuple[str, ...]] = field(default_factory=list)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8", newline="")
        return path

    def __call__(self, *arguments: str | Path) -> Outcome:
        """Run a command under this very interpreter, unless the arguments name one."""
        given = [str(argument) for argument in arguments]
        if given[0] in ("trace", "check") and "--python" not in given:
            given += ["--python", sys.executable]
        self.capture.readouterr()
        try:
            code = main(given)
        except SystemExit as exit:
            code = exit.code if isinstance(exit.code, int) else 0
        captured = self.capture.readouterr()
        return Outcome(code, captured.out, captured.err)

    async def run_once(
        self,
        interpreter: Sequence[str],
        request: RunRequest,
        *,
        log: Callable[[str], None],
        progress: Callable[[str], None],
        memory_limit: int | None = None,
    ) -> Document:
        self.interpreters.append(tuple(interpreter))
        self.requests.append(request)
        log(self.printed)
        return self.script(request)


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    result = Cli(folder, capsys)
    monkeypatch.setattr(runs, "run_once", result.run_once)
    return result
