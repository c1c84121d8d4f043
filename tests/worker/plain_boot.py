"""Starts a worker whose recorder records next to nothing and needs no torch: what a process does, not what it sees.

It is given to `run_once` as `boot`, and stands in the place of `torchlens_lsp/worker/boot.py`.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

del sys.path[0]
WORKER = Path(__file__).resolve().parents[2] / "torchlens_lsp" / "worker"


def load(name: str, path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class PlainRecorder:
    """Runs everything plain. Its document names the files that it was given, and the output."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.phase = model.IMPORT
        self.faults: list[str] = []
        self.files: list[str] = []
        self.output: object = None

    def compile(
        self, path: str, text: str, *, uri: str | None = None, adjust: Callable[[ast.Module], None] | None = None
    ) -> CodeType:
        self.files.append(path)
        tree = ast.parse(text, path)
        if adjust is not None:
            adjust(tree)
        return compile(tree, path, "exec", dont_inherit=True)

    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass

    def call(self, callee: Any, args: Any, kwargs: Any, *, finish: Callable[[Any], Any] | None = None) -> Any:
        self.phase = self.model.CALL
        output = callee(*args, **kwargs)
        self.output = output if finish is None else finish(output)
        return self.output

    def error(self, exception: BaseException) -> Any:
        error = self.model.RunError(self.model.PHASES[self.phase], type(exception).__name__, str(exception))
        traceback = exception.__traceback__
        while traceback is not None:
            self.place(error, traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
            traceback = traceback.tb_next
        if isinstance(exception, SyntaxError):
            self.place(error, exception.filename, exception.lineno)
        return error

    def position(self, thread: int) -> Any:
        error = self.model.RunError(self.model.PHASES[self.phase], "Timeout", "")
        frame = sys._current_frames().get(thread)
        frames: list[FrameType] = []
        while frame is not None:
            frames.insert(0, frame)
            frame = frame.f_back
        for frame in frames:
            self.place(error, frame.f_code.co_filename, frame.f_lineno)
        return error

    def place(self, error: Any, path: str | None, line: int | None) -> None:
        is_broken_file = error.type == "SyntaxError" and path is not None and os.path.isabs(path)
        if line is not None and (path in self.files or is_broken_file):
            index = max(line - 1, 0)
            error.uri, error.range = Path(str(path)).as_uri(), self.model.Range(index, 0, index, 0)

    def document(self, *, status: str, example: Any, durations: Any, error: Any = None, notes: Any = ()) -> Any:
        document = self.model.Document(example, status, durations, error, notes=list(notes))
        document.environment = {"output": repr(self.output), "files": os.pathsep.join(self.files)}
        return document


def main() -> None:
    boot = load("boot", WORKER / "boot.py")
    source, sink = boot.take_channel()
    boot.load_package()
    model = importlib.import_module("_torchlens_lsp.document.model")
    torch_state = importlib.import_module("_torchlens_lsp.worker.torch_state")
    worker = importlib.import_module("_torchlens_lsp.worker.main")
    worker.serve(source, sink, lambda request: (PlainRecorder(model), torch_state.Torch()))


if __name__ == "__main__":
    main()
