"""What the server asks of a worker, and the words that the two have in common. Data alone: nothing runs here.

One run is one `RunRequest`, sent as the JSON of a message (see `framing`). The worker answers with messages whose
`kind` is READY (once, with its process id), PHASE (as each phase begins) and DOCUMENT (the encoded trace document as
the only part; the last message of a run).
"""

from __future__ import annotations

import math
import signal
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from .model import Example, Range

RUN, READY, PHASE, DOCUMENT = "run", "ready", "phase", "document"
"""Kinds of message. RUN goes to the worker: `request` is the RunRequest, `crash_file` the path of an existing empty
file into which the worker's fatal signals write where they struck."""
ANSWER = "answer"
"""The `phase` after the last one: user code is over, and the document is being made."""

MODES = ("as-is", "eval", "train")

# Types of a RunError that no exception of the user's code gave.
TIMEOUT = "Timeout"
OUT_OF_MEMORY = "OutOfMemory"
DIED = "ProcessDied"
INTERNAL = "InternalError"
CANNOT_START = "CannotStart"
PYTHON_TOO_OLD = "PythonTooOld"
TORCH_MISSING = "TorchMissing"
TORCH_TOO_OLD = "TorchTooOld"
CONFIGURATION_FAULTS = frozenset({CANNOT_START, PYTHON_TOO_OLD, TORCH_MISSING, TORCH_TOO_OLD})
"""Those that no change of the user's code mends: another interpreter, or an installation, does."""

PYTHON_TOO_OLD_EXIT = 78
"""Exit status of a worker whose interpreter cannot read the package; it has written why to its standard error."""


@dataclass(frozen=True)
class StopSignals:
    """Signals by which the server ends a run in a way that lets the worker answer with what was recorded so far."""

    timeout: int
    memory: int
    traceback: int
    """Writes the tracebacks of all threads to the crash file; works while native code holds the interpreter."""


def stop_signals() -> StopSignals | None:
    """The stop signals of this system, or None where there are none to spare (the worker then watches its own clock).

    Real-time signals, because user code has uses for SIGALRM and SIGUSR1.
    """
    first: int | None = getattr(signal, "SIGRTMIN", None)
    return None if first is None else StopSignals(first + 11, first + 12, first + 13)


class RequestError(ValueError):
    """A request that does not have the shape of one."""


@dataclass(frozen=True)
class ExampleSpec:
    """A recipe for one run, as a comment, a configuration file or the command line gives it."""

    name: str = "default"
    call: str = ""
    """A Python call expression; of a `main-block`, empty: the worker finds the call."""
    setup: str = ""
    """Statements that run before the callee and the arguments are evaluated, in the same namespace."""
    mode: str = "as-is"
    """One of MODES."""
    grad: bool = True
    seed: int = 0
    device: str = "cpu"
    origin: str = "comment"
    """`comment`, `pyproject`, `main-block` or `command-line`."""
    uri: str | None = None
    range: Range | None = None
    """Where the example is written; None on the command line."""

    def example(self) -> Example:
        """As the trace document names it."""
        return Example(self.name, self.call, self.origin, self.uri, self.range)

    @property
    def wants_cuda(self) -> bool:
        """Whether the example asks for CUDA, by its device or in its own text."""
        return self.device.startswith("cuda") or "cuda" in self.call or "cuda" in self.setup


@dataclass(frozen=True)
class RunRequest:
    """One run of one example of one file."""

    file: str
    """Absolute path."""
    root: str
    """Absolute path of the folder that the run's working directory is, and whose files are watched."""
    example: ExampleSpec
    overlays: Mapping[str, str] = field(default_factory=dict)
    """By absolute path: unsaved text that replaces what is on disk."""
    watch: tuple[str, ...] = ()
    """What else is watched: a path (a folder stands for all below it), a glob (relative ones are relative to the
    root), or `package:name` for an installed package."""
    timeout: float = 20.0
    """Seconds for build and call."""
    import_timeout: float = 120.0
    """Seconds for the start of the interpreter, torch, and the file's own imports."""
    threads: int | None = None
    """torch's threads during the call; None for half of the processor's cores. Import and build run on one."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to the worker's environment when it is started."""
    argv: tuple[str, ...] = ()
    """`sys.argv` after the file."""
    statistics: bool = True
    """Whether min, max, mean and std of tensors are read."""

    def to_json(self) -> dict[str, Any]:
        """As JSON values; `from_json` is its inverse."""
        return {**asdict(self), "overlays": dict(self.overlays), "env": dict(self.env)}

    @classmethod
    def from_json(cls, data: object) -> RunRequest:
        """Raises RequestError, naming the field, where something is missing or of the wrong type."""
        fields = _Fields(data, "request")
        return cls(
            file=fields.take("file", str),
            root=fields.take("root", str),
            example=_example_from_json(fields.take("example", dict)),
            overlays=fields.texts_by_text("overlays"),
            watch=fields.texts("watch"),
            timeout=fields.seconds("timeout"),
            import_timeout=fields.seconds("import_timeout"),
            threads=fields.optional("threads", int),
            env=fields.texts_by_text("env"),
            argv=fields.texts("argv"),
            statistics=fields.take("statistics", bool),
        )


def _example_from_json(data: object) -> ExampleSpec:
    fields = _Fields(data, "request.example")
    mode = fields.take("mode", str)
    if mode not in MODES:
        raise RequestError(f"request.example.mode is {mode!r}, not one of {', '.join(MODES)}")
    return ExampleSpec(
        name=fields.take("name", str),
        call=fields.take("call", str),
        setup=fields.take("setup", str),
        mode=mode,
        grad=fields.take("grad", bool),
        seed=fields.take("seed", int),
        device=fields.take("device", str),
        origin=fields.take("origin", str),
        uri=fields.optional("uri", str),
        range=fields.range("range"),
    )


_T = TypeVar("_T")


class _Fields:
    """Reads the fields of a JSON object, each of the type that it must have."""

    def __init__(self, data: object, where: str) -> None:
        if not isinstance(data, dict):
            raise RequestError(f"{where} is no object")
        self._data: dict[str, Any] = data
        self._where = where

    def take(self, name: str, kind: type[_T]) -> _T:
        value = self._data.get(name)
        # A bool is an int to Python, and a 1 no bool to anybody.
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self._error(name, kind.__name__)
        return value

    def optional(self, name: str, kind: type[_T]) -> _T | None:
        return None if self._data.get(name) is None else self.take(name, kind)

    def seconds(self, name: str) -> float:
        value = self._data.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
            raise self._error(name, "positive number of seconds")
        return float(value)

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._data.get(name)
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            raise self._error(name, "list of str")
        return tuple(value)

    def texts_by_text(self, name: str) -> dict[str, str]:
        value = self.take(name, dict)
        if not all(isinstance(part, str) for item in value.items() for part in item):
            raise self._error(name, "object of str")
        return value

    def range(self, name: str) -> Range | None:
        value = self._data.get(name)
        if value is None:
            return None
        if not isinstance(value, (list, tuple)) or len(value) != len(Range._fields):
            raise self._error(name, "range")
        if not all(type(number) is int and number >= 0 for number in value):
            raise self._error(name, "range")
        return Range(*value)

    def _error(self, name: str, kind: str) -> RequestError:
        return RequestError(f"{self._where}.{name} is no {kind}")
