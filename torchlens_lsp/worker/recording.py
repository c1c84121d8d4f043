"""What the worker needs of a recorder, so that the worker's own tests can run without torch.

The real one is `tracer.recorder.Recorder`; it is imported when a run asks for it, after torch.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, Protocol

from ..document.model import Document, Durations, Example, RunError
from ..document.request import RunRequest
from .torch_state import Torch, import_torch


class Recording(Protocol):
    """See `tracer.recorder.Recorder`, whose methods these are."""

    phase: int
    faults: list[str]

    def compile(
        self, path: str, text: str, *, uri: str | None = None, adjust: Callable[[ast.Module], None] | None = None
    ) -> CodeType:
        """The code of a watched module; `adjust` may change its tree."""

    def start(self) -> None:
        """Begin to record."""

    def call(
        self,
        callee: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        *,
        finish: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Make the traced call."""

    def stop(self) -> None:
        """Restore everything that was patched."""

    def error(self, exception: BaseException) -> RunError:
        """Where an exception came from."""

    def position(self, thread: int) -> RunError:
        """Where a thread stands."""

    def document(
        self,
        *,
        status: str,
        example: Example,
        durations: Durations,
        error: RunError | None = None,
        notes: Sequence[str] = (),
    ) -> Document:
        """What has been recorded so far."""


MakeRecording = Callable[[RunRequest], "tuple[Recording, Torch]"]


def make(request: RunRequest) -> tuple[Recording, Torch]:
    """The real recorder, and torch on one thread. Raises UnusableInterpreterError."""
    torch = Torch(import_torch())
    torch.set_threads(1)
    from ..tracer.options import Options
    from ..tracer.recorder import Recorder

    return Recorder(Options(statistics=request.statistics)), torch
