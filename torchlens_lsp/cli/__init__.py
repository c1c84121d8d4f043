"""The command line: parses the arguments, runs one command, and turns whatever happened into an exit code.

Each command is a module of its own, loaded when it is asked for: `torchlens-lsp --version` loads next to nothing. No
torch here: models run in worker processes.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from .arguments import parse
from .exits import FAULT, INTERRUPTED, TERMINATED, UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that `argv` (by default the process's own arguments) asks for, and return its exit code."""
    _prepare_streams()
    # The default would leave the worker's processes behind.
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, _terminate)
    options = parse(argv)
    code = FAULT
    try:
        command = importlib.import_module(f".{options.command}", __name__)
        code = command.run(options)
        sys.stdout.flush()
    except UsageError as error:
        print(f"torchlens-lsp: {error}", file=sys.stderr)
        code = error.code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = _after_broken_pipe()
    except Exception:
        from .fault import report

        report(sys.stderr)
    return code


def _terminate(number: int, frame: object) -> NoReturn:
    """End as an exception does, so that whatever runs is ended first."""
    raise SystemExit(TERMINATED)


def _prepare_streams() -> None:
    """Make sure that whatever a source file holds can be printed: into a pipe in UTF-8, elsewhere as far as it goes."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is None:
            continue
        if stream.isatty():
            reconfigure(errors="replace")
        else:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def _after_broken_pipe() -> int:
    """Whoever read our output has seen enough, and that is no fault."""
    with contextlib.suppress(OSError):
        # Else the interpreter complains when it flushes the stream at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
