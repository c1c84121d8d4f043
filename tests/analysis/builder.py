"""Documents of small programs for tests of `analysis`, made without torch on every supported CPython.

A program is instrumented and run as the tracer does it, with stand-ins for tensors: `t(2, 3)` is a tensor of that
shape, `i(2, 3)` one of int64, and `t(…, at=6.0)` one whose every element is 6. Every attribute of a stand-in that
is called gives its argument back, so that `x.relu(t(2, 8))` reads as it is meant.

    run("def f(x): return x @ t(4, 2)", "f(t(3, 4))")
"""

from __future__ import annotations

import textwrap
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from tests.tracer.plain import PlainRecording
from torchlens_lsp.analysis.hints import Hint, HintSettings, hints_of
from torchlens_lsp.analysis.view import View
from torchlens_lsp.document.index import DocumentIndex
from torchlens_lsp.document.model import (
    BUILD,
    CALL,
    IMPORT,
    NONE,
    PHASES,
    Branches,
    Call,
    Document,
    Evaluations,
    Example,
    Loops,
    Op,
    Range,
    RunError,
)
from torchlens_lsp.document.values import CONTAINER, OTHER, TENSOR, Container, Other, Stats, TensorMeta, ValueTable

PATH = "/home/user/net.py"
URI = f"file://{PATH}"


@dataclass(frozen=True)
class Stand:
    """A stand-in for a tensor."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    device: str = "cpu"
    at: float | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments: arguments[0] if arguments else self

    def __bool__(self) -> bool:
        return bool(self.at)

    def __iter__(self) -> Iterator[Stand]:
        return iter([Stand(self.shape[1:], self.dtype, self.device)] * self.shape[0])

    def __matmul__(self, other: Stand) -> Stand:
        if self.shape[-1] != other.shape[-2]:
            raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_by(self)} and {_by(other)})")
        return Stand((*self.shape[:-1], other.shape[-1]), self.dtype, self.device)

    def __add__(self, other: object) -> Stand:
        return self

    def __gt__(self, other: Any) -> Stand:
        return Stand((), "bool", at=(self.at or 0.0) > other)


def _by(stand: Stand) -> str:
    return f"{stand.shape[-2]}x{stand.shape[-1]}"


class Size(tuple):  # type: ignore[type-arg]
    """A stand-in for `torch.Size`, known by its name alone."""


def t(*shape: int, dtype: str = "float32", device: str = "cpu", at: float | None = None) -> Stand:
    return Stand(shape, dtype, device, at)


def i(*shape: int, at: float | None = None) -> Stand:
    return Stand(shape, "int64", at=at)


class Program:
    """One run of a program, and what analysis makes of it."""

    def __init__(self, text: str, call: str = "", *, path: str = PATH) -> None:
        self.text = textwrap.dedent(text)
        self.recording = PlainRecording()
        self._path = path
        self._addresses: list[str] = []
        self._stack: list[tuple[int, int]] = self.recording.events._module_stack  # type: ignore[assignment]
        self._error: BaseException | None = None
        self._call_begins = -1
        self.output: Any = None
        self._run(call)
        self.document = self._document(call)

    def view(self, picked: int | None = None) -> View:
        return View(self.document, picked=picked)

    def hints(self, *, picked: int | None = None, **settings: Any) -> dict[int, str]:
        """Labels of the hints by line, counted from 1."""
        return {hint.line + 1: hint.label for hint in self.full_hints(picked=picked, **settings)}

    def full_hints(self, *, picked: int | None = None, **settings: Any) -> list[Hint]:
        return hints_of(self.view(picked), 0, HintSettings(**settings))

    def calls_of(self, function: str) -> list[int]:
        """The traced calls of a function by its qualified name."""
        functions = self.document.files[0].functions
        return [
            number
            for number, call in enumerate(self.document.calls)
            if functions[call.function].name == function and call.phase == CALL
        ]

    # --- the run -------------------------------------------------------------------------------------------------

    def _run(self, call: str) -> None:
        namespace: dict[str, Any] = {"t": t, "i": i, "Size": Size, "under": self._under, "__name__": "net"}
        code = self.recording.compile(self._path, self.text)
        events = self.recording.events
        with self.recording.recording():
            events.phase = IMPORT
            exec(code, namespace)
            if not call:
                return
            callee, arguments = call.split("(", 1)
            events.phase = BUILD
            function = eval(callee, namespace)
            namespace["given"] = lambda *args, **kwargs: (args, kwargs)
            args, kwargs = eval(f"given({arguments}", namespace)
            events.phase = CALL
            try:
                self.output = function(*args, **kwargs)
            except Exception as error:
                self._error = error

    @contextmanager
    def _module(self, address: str) -> Iterator[None]:
        if address not in self._addresses:
            self._addresses.append(address)
        index = self._addresses.index(address)
        self._passes = getattr(self, "_passes", {})
        self._passes[index] = self._passes.get(index, 0) + 1
        self._stack.append((index, self._passes[index]))
        try:
            yield
        finally:
            self._stack.pop()

    def _under(self, address: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function as the forward of the module at an address."""
        with self._module(address):
            return function(*arguments)

    # --- the document --------------------------------------------------------------------------------------------

    def _document(self, call: str) -> Document:
        recording, events = self.recording, self.recording.events
        values = _Values(recording.values)
        document = Document(example=Example(call=call, origin="command-line"), values=values.table)
        sites, ids, calls, at = array("i"), array("i"), array("i"), []
        for site, value, number in events.rows:
            at.append(len(sites))
            for each in (site, *recording.aliases.get(site, ())):
                sites.append(each)
                ids.append(NONE if value == NONE else values.of(value))
                calls.append(number)
        at.append(len(sites))
        document.evaluations = Evaluations(sites, ids, calls)
        document.branches = Branches()
        for site, outcome, number, before in events.branch_rows:
            _append(document.branches, (site, int(outcome), number, at[before]))
        document.loops = Loops()
        for site, turns, number, before in events.loop_rows:
            _append(document.loops, (site, turns, number, at[before]))
        document.calls = list(self._calls())
        document.counts = array("q", events.counts)
        for value_site, targets in recording.aliases.items():
            for target in targets:
                document.counts[target] = document.counts[value_site]
        for watched in recording.positions.files:
            document.files.append(watched.file)
        ranges = recording.not_run() if self._error is None else []
        document.files[0].not_run = [
            number for number, row in enumerate(document.files[0].statements) if row.range in ranges
        ]
        if self._error is not None:
            self._add_error(document)
        return document

    def _calls(self) -> Iterator[Call]:
        recording = self.recording
        for row, (_, parent, _, ended) in zip(recording.events.call_rows, recording.calls(), strict=True):
            function, module, module_pass, phase, _, caller = row
            address = None if module == NONE else self._addresses[module]
            site = recording.positions.site_at(*caller) if caller else NONE
            yield Call(*recording.functions[function], address, module_pass, phase, parent, site, ended)

    def _add_error(self, document: Document) -> None:
        document.status = "error"
        error = self._error
        assert error is not None
        raised = [number for number, call in enumerate(document.calls) if call.ended == "raised"]
        trace = error.__traceback__
        line = 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self._path:
                line = trace.tb_lineno - 1
            trace = trace.tb_next
        where = self.recording.positions.files[0].line_range(line)
        call = max(raised, default=NONE)
        document.error = RunError(PHASES[CALL], type(error).__name__, str(error), URI, where, call=call)


def _append(columns: Any, row: Sequence[int]) -> None:
    for column, number in zip((f.name for f in fields(columns)), row, strict=True):
        getattr(columns, column).append(number)


class _Values:
    """Puts what a plain recording kept into a value table."""

    def __init__(self, kept: list[Any]) -> None:
        self.table = ValueTable()
        self._kept = kept
        self._ids: dict[int, int] = {}
        self._metas: dict[TensorMeta, int] = {}
        self._others: dict[Other, int] = {}

    def of(self, number: int) -> int:
        found = self._ids.get(number)
        if found is None:
            found = self._ids[number] = self.add(self._kept[number])
        return found

    def add(self, value: Any) -> int:
        table = self.table
        if isinstance(value, Stand):
            meta = TensorMeta(value.shape, value.dtype, value.device)
            if meta not in self._metas:
                self._metas[meta] = len(table.metas)
                table.metas.append(meta)
            stats = (
                NONE if value.at is None else table.statistics.append(Stats(value.at, value.at, value.at, 0.0, 0, 0))
            )
            return table.append(TENSOR, self._metas[meta], stats)
        container = self._container(value)
        if container is not None:
            table.containers.append(container)
            return table.append(CONTAINER, len(table.containers) - 1)
        other = Other(type(value).__name__, repr(value))
        if other not in self._others:
            self._others[other] = len(table.others)
            table.others.append(other)
        return table.append(OTHER, self._others[other])

    def _container(self, value: Any) -> Container | None:
        name = type(value).__name__
        if isinstance(value, dict):
            items = tuple(map(self.add, value.values()))
            return Container("dict", name, tuple(map(str, value)), items, len(items))
        if isinstance(value, (tuple, list)):
            items = tuple(map(self.add, value))
            kind = "list" if isinstance(value, list) else "tuple"
            return Container(kind, name, getattr(value, "_fields", None), items, len(items))
        if is_dataclass(value):
            names = tuple(field.name for field in fields(value))
            return Container("object", name, names, tuple(self.add(getattr(value, n)) for n in names), len(names))
        return None


def run(text: str, call: str = "") -> Program:
    """Run a program and a call in its namespace."""
    return Program(text, call)


def hints(text: str, call: str, **settings: Any) -> dict[int, str]:
    """Labels of the hints of a run by line, counted from 1."""
    return run(text, call).hints(**settings)


def with_ops(program: Program, *ops: Op) -> Program:
    """The program with these ops in its document."""
    program.document.ops = list(ops)
    return program


__all__ = ["DocumentIndex", "Program", "Range", "hints", "i", "run", "t", "with_ops"]
