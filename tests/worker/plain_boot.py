"""Starts a worker whose recorder records next to nothing and needs no torch: what a process does, not what it sees.

It is given to `run_once` as `boot`, and stands in the place of `torchlens_lsp/worker/boot.py`.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
from pathlib import Path

del sys.path[0]
WORKER = Path(__file__).resolve().parents[2] / "torchlens_lsp" / "worker"
OURS = str(WORKER.parent) + os.sep


def main() -> None:
    spec = importlib.util.spec_from_file_location("boot", WORKER / "boot.py")
    boot = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(boot)
    source, sink = boot.take_channel()
    boot.load_package()
    model = importlib.import_module("_torchlens_lsp.document.model")
    torch_state = importlib.import_module("_torchlens_lsp.worker.torch_state")

    class PlainRecorder:
        """Runs everything plain. Its document names the files that it was given, the phases and the output."""

        def __init__(self) -> None:
            self.phase = 0
            self.faults: list[str] = []
            self.files: list[str] = []
            self.output = None

        def compile(self, path, text, *, uri=None, adjust=None):
            self.files.append(path)
            tree = ast.parse(text, path)
            if adjust is not None:
                adjust(tree)
            return compile(tree, path, "exec", dont_inherit=True)

        def start(self):
            pass

        def stop(self):
            pass

        def call(self, callee, args, kwargs, *, finish=None):
            self.phase = model.CALL
            output = callee(*args, **kwargs)
            self.output = output if finish is None else finish(output)
            return self.output

        def error(self, exception):
            error = model.RunError(model.PHASES[self.phase], type(exception).__name__, str(exception))
            if isinstance(exception, SyntaxError):
                return self.placed(error, exception.filename, exception.lineno)
            traceback = exception.__traceback__
            while traceback is not None:
                self.placed(error, traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
                traceback = traceback.tb_next
            return error

        def position(self, thread):
            error = model.RunError(model.PHASES[self.phase], "Timeout", "")
            frame, frames = sys._current_frames()[thread], []
            while frame is not None:
                frames.insert(0, frame)
                frame = frame.f_back
            for frame in frames:
                self.placed(error, frame.f_code.co_filename, frame.f_lineno)
            return error

        def placed(self, error, path, line):
            if path in self.files or (error.type == "SyntaxError" and path is not None):
                error.uri, error.range = Path(path).as_uri(), model.Range(line - 1, 0, line - 1, 0)
            return error

        def document(self, *, status, example, durations, error=None, notes=()):
            document = model.Document(example, status, durations, error, notes=list(notes))
            document.environment = {"output": repr(self.output), "files": os.pathsep.join(self.files)}
            return document

    main = importlib.import_module("_torchlens_lsp.worker.main")
    main.serve(source, sink, lambda request: (PlainRecorder(), torch_state.Torch()))


if __name__ == "__main__":
    main()
