"""The calls of one function: what they are named, which belong together, which is shown, and how one is found again.

Calls that hints do not tell apart are one group, so that 32 layers of two kinds are two entries to choose from.
Names are module addresses, as users know them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..document.index import DocumentIndex
from ..document.model import CALL, Document
from .view import View

MAX_NAMED = 3
"""Calls of a group that are named one by one where their names do not follow one another."""

_Told = tuple[tuple[int, tuple[object, ...]], ...]


class CallKey(NamedTuple):
    """What a call is known by in another run, after an edit."""

    uri: str
    function: str
    """Qualified name."""
    module: str | None
    module_pass: int
    ordinal: int
    """Which of the function's calls under this module and pass it is, from 0."""


class Group(NamedTuple):
    """Calls of one function whose hints in it are equal."""

    calls: tuple[int, ...]
    """Indices of calls, in the order of the run."""
    name: str
    """`blocks.0 … blocks.2`."""


def calls_of(view: View, file: int, function: int) -> Sequence[int]:
    """The calls of a function that count: the traced call's, or where it never came, those of import and build."""
    calls = view.index.calls_of(file, function)
    return [call for call in calls if view.document.calls[call].phase == CALL] or calls


def shown_call(view: View, file: int, function: int) -> int | None:
    """The call that hints in a function are of: the picked one, one around it or below it, else the first."""
    calls = calls_of(view, file, function)
    in_focus = view.focus.calls
    return next((call for call in calls if call in in_focus), calls[0] if calls else None)


def call_after(view: View, file: int, function: int, steps: int) -> int | None:
    """The call so many steps after the shown one (before it, if negative); None beyond the first and the last."""
    calls, shown = calls_of(view, file, function), shown_call(view, file, function)
    if shown is None:
        return None
    position = calls.index(shown) + steps
    return calls[position] if 0 <= position < len(calls) else None


def name_of(document: Document, call: int) -> str:
    """A call's module address, with `:2` for the module's second pass; the function's own name outside of modules."""
    known = document.calls[call]
    if known.module:
        return known.module if known.module_pass <= 1 else f"{known.module}:{known.module_pass}"
    return document.files[known.file].functions[known.function].name


def place_of(view: View, call: int) -> tuple[int, int]:
    """Which of its function's calls it is, from 1, and how many there are: the `4 of 6` of a picked call."""
    known = view.document.calls[call]
    calls = calls_of(view, known.file, known.function)
    if call not in calls:
        calls = view.index.calls_of(known.file, known.function)
    return calls.index(call) + 1, len(calls)


def groups_of(view: View, file: int, function: int) -> list[Group]:
    """The calls of a function by what hints tell of them, in the order of their first calls."""
    calls = calls_of(view, file, function)
    if len(calls) < 2:
        return [Group(tuple(calls), name_of(view.document, calls[0]))] if calls else []
    sites = _told_sites(view, file, function)
    alike: dict[_Told, list[int]] = {}
    for call in calls:
        alike.setdefault(_told(view, call, sites), []).append(call)
    return [Group(tuple(group), _name_of_group(view, calls, group)) for group in alike.values()]


# --- one call in several runs ----------------------------------------------------------------------------------------


def key_of(index: DocumentIndex, call: int) -> CallKey:
    """What finds a call again in another run."""
    document, known = index.document, index.document.calls[call]
    before = _alike(index, known.file, known.function, known.module, known.module_pass)
    file = document.files[known.file]
    name = file.functions[known.function].name
    return CallKey(file.uri, name, known.module, known.module_pass, before.index(call))


def find(index: DocumentIndex, key: CallKey) -> int | None:
    """The call of that key in another run, None where there is none."""
    for number, file in enumerate(index.document.files):
        if file.uri != key.uri:
            continue
        for function, known in enumerate(file.functions):
            if known.name == key.function:
                alike = _alike(index, number, function, key.module, key.module_pass)
                if key.ordinal < len(alike):
                    return alike[key.ordinal]
    return None


def _alike(index: DocumentIndex, file: int, function: int, module: str | None, module_pass: int) -> list[int]:
    calls = index.document.calls
    return [
        call
        for call in index.calls_of(file, function)
        if (calls[call].module, calls[call].module_pass) == (module, module_pass)
    ]


# --- groups ----------------------------------------------------------------------------------------------------------


def _told_sites(view: View, file: int, function: int) -> frozenset[int]:
    """Sites of a function whose events hints tell."""
    return frozenset(_each_told_site(view, file, function))


def _each_told_site(view: View, file: int, function: int) -> Iterator[int]:
    source = view.document.files[file]
    yield from source.functions[function].parameters
    for row in source.statements:
        if row.function != function:
            continue
        yield from (target.site for target in row.targets)
        yield from row.chain
        if row.kind in ("return", "yield") or len(row.targets) > 1:
            yield row.value
        yield row.loop
        if row.test is not None:
            yield row.test.site


def _told(view: View, call: int, sites: frozenset[int]) -> _Told:
    """What hints tell of a call: the different values of each site, outcomes and numbers of turns."""
    found: dict[int, dict[object, None]] = {}
    document, index = view.document, view.index
    for row in index.rows_in(call):
        site = document.evaluations.site[row]
        if site in sites:
            value = document.evaluations.value[row]
            sizes = view.words.sizes(value)
            found.setdefault(site, {})[view.words.key(value) if sizes is None else tuple(sizes)] = None
    for row in index.branch_rows_in(call):
        if document.branches.site[row] in sites:
            found.setdefault(document.branches.site[row], {})[document.branches.outcome[row]] = None
    for row in index.loop_rows_in(call):
        if document.loops.site[row] in sites:
            found.setdefault(document.loops.site[row], {})[document.loops.iterations[row]] = None
    return tuple(sorted((site, tuple(values)) for site, values in found.items()))


def _name_of_group(view: View, calls: Sequence[int], group: Sequence[int]) -> str:
    """`blocks.0 … blocks.2` of neighbours, else the first few names and how many more."""
    names = [name_of(view.document, call) for call in group]
    if len(set(names)) < len(names) or len({name_of(view.document, call) for call in calls}) < len(calls):
        # Names that several calls share are told apart by their places, as at the `def` of a picked call.
        return _name_of_places(names[0], [calls.index(call) + 1 for call in group], len(calls))
    first = calls.index(group[0])
    if len(names) >= MAX_NAMED and list(calls[first : first + len(group)]) == list(group):
        return f"{names[0]} … {names[-1]}"
    return _listed(names)


def _name_of_places(name: str, places: Sequence[int], total: int) -> str:
    """`encode, 2 of 9`, `encode, 2 … 5 of 9`."""
    if len(places) >= MAX_NAMED and places[-1] - places[0] == len(places) - 1:
        return f"{name}, {places[0]} … {places[-1]} of {total}"
    return f"{name}, {_listed(list(map(str, places)))} of {total}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
