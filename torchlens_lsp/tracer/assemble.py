"""From the recorder's rows to the document's tables."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..document.model import (
    NONE,
    Branches,
    Call,
    Document,
    Evaluations,
    Loops,
    Op,
    SourceFile,
)
from .failure import Standing
from .labels import labels_of, with_pass, written_name
from .ops import OpRow
from .positions import HAS_POSITIONS, Place
from .reached import not_run

if TYPE_CHECKING:
    from .recorder import Recorder


def assemble(recorder: Recorder, cut_off_at: Sequence[Standing]) -> Document:
    """The tables of everything recorded so far. `cut_off_at` is the stack at which the run ended early."""
    document = Document(values=recorder.values)
    evaluations, at = _evaluations(recorder)
    document.evaluations = evaluations
    document.branches = _branches(recorder, at)
    document.loops = _loops(recorder, at)
    document.calls = _calls(recorder)
    document.dropped = _dropped(recorder)
    document.counts = array("q", recorder.events.counts)
    for value_site, targets in recorder.aliases.items():
        for target in targets:
            document.counts[target] = document.counts[value_site]
    document.ops = _ops(recorder, at)
    document.modules = recorder.modules.table()
    document.files = _files(recorder, cut_off_at)
    return document


def _evaluations(recorder: Recorder) -> tuple[Evaluations, list[int]]:
    """The evaluations, bound targets among them, and for each recorded row its new place (one more at the end)."""
    rows, aliases = recorder.events.rows[:], recorder.aliases
    sites: list[int] = []
    values: list[int] = []
    calls: list[int] = []
    at: list[int] = []
    for site, value, call in rows:
        at.append(len(sites))
        sites.append(site)
        values.append(value)
        calls.append(call)
        targets = aliases.get(site)
        if targets:
            for target in targets:
                sites.append(target)
                values.append(value)
                calls.append(call)
    at.append(len(sites))
    return Evaluations(array("i", sites), array("i", values), array("i", calls)), at


def _branches(recorder: Recorder, at: list[int]) -> Branches:
    rows = recorder.events.branch_rows[:]
    last = len(at) - 1
    return Branches(
        array("i", [row[0] for row in rows]),
        array("B", [row[1] for row in rows]),
        array("i", [row[2] for row in rows]),
        array("i", [at[min(row[3], last)] for row in rows]),
    )


def _loops(recorder: Recorder, at: list[int]) -> Loops:
    rows = recorder.events.loop_rows[:]
    last = len(at) - 1
    return Loops(
        array("i", [row[0] for row in rows]),
        array("q", [row[1] for row in rows]),
        array("i", [row[2] for row in rows]),
        array("i", [at[min(row[3], last)] for row in rows]),
    )


def _calls(recorder: Recorder) -> list[Call]:
    events = recorder.events
    open_calls = set(events.calls.copy().values())
    address = [recorder.modules.address(index) for index in range(len(recorder.modules.entries))]
    found = []
    for number, (function, module, module_pass, phase, parent, caller) in enumerate(events.call_rows[:]):
        file, local = recorder.functions[function]
        ended = "raised" if number in events.raised else "running" if number in open_calls else "returned"
        name = None if module == NONE else address[module]
        site = recorder.positions.site_at(*caller) if caller else NONE
        found.append(Call(file, local, name, module_pass, phase, parent, site, ended))
    return found


def _ops(recorder: Recorder, at: list[int]) -> list[Op]:
    rows = recorder.mode.rows[:]
    labels = labels_of(rows)
    runs = Counter(label.layer for label in labels)
    address = [recorder.modules.address(index) for index in range(len(recorder.modules.entries))]
    last = len(at) - 1
    found = []
    for row, labelled in zip(rows, labels):  # noqa: B905 (3.10 is slower with it)
        place = recorder.positions.place(*row.watched) if row.watched else None
        site = NONE
        if place is not None:
            site = place.site if place.site != NONE else _site_by_value(recorder, row, place)
        found.append(
            Op(
                with_pass(labelled, runs[labelled.layer]),
                written_name(row),
                labelled.pass_index,
                None if row.module == NONE else address[row.module],
                () if row.output == NONE else (row.output,),
                row.parents,
                place.file if place else NONE,
                site,
                place.range if place else None,
                row.call,
                row.seconds,
                at[min(row.at, last)],
            )
        )
    return found


LOOK_AHEAD = 8
"""Evaluations after an op among which its value is looked for."""


def _site_by_value(recorder: Recorder, row: OpRow, place: Place) -> int:
    """Before 3.11 an op knows its line alone: the first evaluation on it that has the op's value made it."""
    if HAS_POSITIONS or row.output == NONE:
        return NONE
    file = recorder.positions.files[place.file].file
    last = file.first_site + len(file.sites)
    for site, value, call in recorder.events.rows[row.at : row.at + LOOK_AHEAD]:
        if value == row.output and call == row.call and file.first_site <= site < last:
            known = file.sites[site - file.first_site]
            if known.kind != "name" and place.range.start_line <= known.range.start_line <= place.range.end_line:
                return site
    return NONE


def _files(recorder: Recorder, cut_off_at: Sequence[Standing]) -> list[SourceFile]:
    entered: dict[int, set[int]] = {}
    for call in recorder.events.call_rows:
        file, local = recorder.functions[call[0]]
        entered.setdefault(file, set()).add(local)
    cut_off: dict[int, dict[int, int]] = {}
    for standing in cut_off_at:
        if standing.place is None:
            continue
        watched = recorder.positions.files[standing.place.file]
        statement = watched.statement_at(standing.place.range.start_line)
        if statement != NONE:
            function = watched.file.statements[statement].function
            cut_off.setdefault(standing.place.file, {})[function] = statement
    for watched in recorder.positions.files:
        watched.file.not_run = not_run(
            watched.file,
            watched.marked,
            watched.marks,
            entered.get(watched.index, ()),
            cut_off.get(watched.index, {}),
        )
    return [watched.file for watched in recorder.positions.files]


def _dropped(recorder: Recorder) -> dict[str, int]:
    """How many events were not kept, by the true counts."""
    events = recorder.events
    seen = {"evaluation": 0, "branch": 0, "loop": 0}
    for watched in recorder.positions.files:
        for local, site in enumerate(watched.file.sites):
            seen[site.role] += events.counts[watched.file.first_site + local]
    found = {
        "evaluations": seen["evaluation"] - len(events.rows),
        "branches": seen["branch"] - len(events.branch_rows),
        "loops": seen["loop"] - len(events.loop_rows),
        "calls": events.dropped_calls,
        "ops": recorder.mode.dropped,
    }
    return {name: number for name, number in found.items() if number > 0}
