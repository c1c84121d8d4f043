"""A project in a temporary folder, and runs of its files by a worker process."""

from __future__ import annotations

import asyncio
import os
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from torchlens_lsp.document.model import Document
from torchlens_lsp.document.request import ExampleSpec, RunRequest
from torchlens_lsp.server import launch
from torchlens_lsp.server.worker_client import run_once

PLAIN_BOOT = Path(__file__).parent / "plain_boot.py"


class Project:
    """Files under one root. A run uses a recorder that needs no torch, unless it is asked for the real one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.log = ""

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
        return path

    def request(self, call: str, file: str = "model.py", **fields: Any) -> RunRequest:
        """The request for an example; its own fields and those of the request are told apart by name."""
        of_example = {name: fields.pop(name) for name in list(fields) if name in ExampleSpec.__dataclass_fields__}
        spec = ExampleSpec(**{"call": call, "origin": "command-line", **of_example})
        request = RunRequest(str(self.root / file), str(self.root), spec, timeout=10.0)
        return replace(request, **fields)

    def run(
        self, call: str, file: str = "model.py", *, real: bool = False, memory_limit: int | None = None, **fields: Any
    ) -> Document:
        boot = launch.BOOT if real else PLAIN_BOOT
        return self.run_request(self.request(call, file, **fields), boot=boot, memory_limit=memory_limit)

    def boot_with(self, change: str) -> Path:
        """A boot file of a plain worker that is changed by a statement about `plain_boot`."""
        text = f"""
            import importlib.util, sys
            sys.path.insert(0, "")
            spec = importlib.util.spec_from_file_location("plain_boot", {str(PLAIN_BOOT)!r})
            plain_boot = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(plain_boot)
            {change}
            plain_boot.main()
            """
        return self.write("changed_boot.py", text)

    def run_request(
        self, request: RunRequest, interpreter: str | Sequence[str] = sys.executable, **options: Any
    ) -> Document:
        printed: list[str] = []
        command = [interpreter] if isinstance(interpreter, str) else interpreter
        document = asyncio.run(run_once(command, request, log=printed.append, **options))
        self.log = "".join(printed)
        return document

    def line_of(self, document: Document, file: str = "model.py") -> int:
        """1-based line of the run's error, which has to be in `file`."""
        assert document.error is not None
        assert document.error.uri == (self.root / file).as_uri(), document.error
        assert document.error.range is not None
        return document.error.range.start_line + 1


def output_of(document: Document) -> str:
    """The `repr` of what the traced call returned, as the plain recorder tells it."""
    assert document.status == "ok", (document.status, document.error)
    return document.environment["output"]


def files_of(document: Document) -> set[str]:
    """Names of the watched files that the plain recorder was given."""
    return {Path(path).name for path in document.environment["files"].split(os.pathsep)}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "root"
    root.mkdir()
    return Project(root)
