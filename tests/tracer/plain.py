"""A recording that needs no torch: instruments a text, runs it, and says what was seen, on every supported CPython.

It drives what of the tracer is free of torch (`instrument`, `events`, `hooks`, `positions`, `reached`) as the
`Recorder` does, and keeps the values themselves.
"""

from __future__ import annotations

import traceback
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from torchlens_lsp.document.model import NONE, Range, Site
from torchlens_lsp.tracer import hooks
from torchlens_lsp.tracer.events import Events
from torchlens_lsp.tracer.instrument import instrument
from torchlens_lsp.tracer.options import Options
from torchlens_lsp.tracer.positions import Positions, WatchedFile
from torchlens_lsp.tracer.reached import not_run

_CODE = (
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.ModuleType,
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
)


class Evaluation(NamedTuple):
    """One recorded value."""

    site: Site
    value: Any
    call: int


class PlainRecording:
    """Records what instrumented code does, values and all."""

    def __init__(self, options: Options = Options(), *, keep_values: bool = True) -> None:  # noqa: B008 (frozen)
        self.values: list[Any] = []
        self.faults: list[str] = []
        self.positions = Positions()
        self.aliases: dict[int, list[int]] = {}
        self.functions: list[tuple[int, int]] = []
        self._keep_values = keep_values
        self.events = Events(
            options, self._record, [(NONE, 0)], self.positions.by_path, lambda value, site: False, self._fault
        )

    def _record(self, value: object, full: bool) -> int:
        if not self._keep_values:
            return 0
        if type(value) in _CODE:
            return NONE
        self.values.append(type(value)(value) if type(value) in (list, dict, set) else value)
        return len(self.values) - 1

    def _fault(self) -> None:
        self.faults.append(traceback.format_exc())

    def compile(self, path: str, text: str) -> types.CodeType:
        """As `Recorder.compile`."""
        index = len(self.positions.files)
        made = instrument(
            path,
            text,
            f"file://{path}",
            first_site=len(self.events.counts),
            first_function=len(self.functions),
            marks=f"{hooks.MARKS}{index}",
        )
        marks = bytearray(len(made.file.statements))
        hooks.provide_marks(index, marks)
        self.events.add_sites(len(made.file.sites))
        self.functions += [(index, number) for number in range(len(made.file.functions))]
        for target, value in made.aliases:
            self.aliases.setdefault(value, []).append(target)
        self.positions.add(WatchedFile(index, path, text, made.file, made.marked, marks))
        return made.code

    @contextmanager
    def recording(self) -> Iterator[None]:
        """While entered, what instrumented code does in this thread is recorded."""
        hooks.install(self.events.hooks())
        try:
            yield
        finally:
            hooks.uninstall()

    # --- what was seen -------------------------------------------------------------------------------------------

    def site(self, number: int) -> Site:
        """The site of a global number."""
        for watched in self.positions.files:
            if number < watched.file.first_site + len(watched.file.sites):
                return watched.file.sites[number - watched.file.first_site]
        raise IndexError(number)

    def evaluations(self) -> list[Evaluation]:
        """Every value in order, those of targets that have the value of an expression included."""
        found = []
        for site, value, call in self.events.rows:
            shown = None if value == NONE or not self._keep_values else self.values[value]
            found.append(Evaluation(self.site(site), shown, call))
            found += [Evaluation(self.site(target), shown, call) for target in self.aliases.get(site, ())]
        return found

    def branches(self) -> list[tuple[Site, bool, int]]:
        """Every outcome of a test: site, outcome, call."""
        return [(self.site(site), outcome, call) for site, outcome, call, _ in self.events.branch_rows]

    def loops(self) -> list[tuple[Site, int, int]]:
        """Every execution of a loop: site, iterations, call."""
        return [(self.site(site), turns, call) for site, turns, call, _ in self.events.loop_rows]

    def function_of(self, call: int) -> str:
        """Qualified name of the function that a call ran."""
        file, number = self.functions[self.events.call_rows[call][0]]
        return self.positions.files[file].file.functions[number].name

    def calls(self) -> list[tuple[str, int, str, str]]:
        """Every call: its function, its parent, the expression that made it, how it ended."""
        running = set(self.events.calls.values())
        found = []
        for number, (_, _, _, _, parent, caller) in enumerate(self.events.call_rows):
            site = self.positions.site_at(*caller) if caller else NONE
            ended = "raised" if number in self.events.raised else "running" if number in running else "returned"
            found.append((self.function_of(number), parent, "" if site == NONE else self.site(site).expr, ended))
        return found

    def not_run(self, file: int = 0) -> list[Range]:
        """Ranges of the statements that never ran although their function did."""
        watched = self.positions.files[file]
        entered = {self.functions[row[0]][1] for row in self.events.call_rows if self.functions[row[0]][0] == file}
        indices = not_run(watched.file, watched.marked, watched.marks, entered, {})
        return [watched.file.statements[index].range for index in indices]
