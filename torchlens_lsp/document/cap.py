"""A hard bound on the size of a trace document, kept by leaving out what is worth least, and saying so.

What goes, in this order, until the columnar encoding fits:

1. events (evaluations, outcomes, loops) past the first 16 of their site
2. statistics, but not those of the output and of the error's operands, nor those that tell of a NaN or an infinity
3. ops past the first quarter, sixteenth, … down to about a thousand
4. events past the first 4 of their site, then calls in which nothing is left
5. events past the first of their site, all ops, then calls in which nothing is left
6. everything but the outcome: example, status, error, output, durations, environment, notes
7. the output and the operands of the error

Of the call that failed and the calls around it as many events of each site are kept as of the whole run, whenever
they came. What is left is as it was: order, values, and the true number of events of each site (`Document.counts`).
What went is counted in `Document.dropped` and told in `Document.notes`. The document that is passed in stays as it is.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, compress
from typing import TypeVar

from .codec import DocumentError, encode
from .model import NONE, Branches, Document, Evaluations, Loops, RunError
from .values import CONTAINER, HAS_INF, HAS_NAN, NOT_READ, Statistics, ValueTable

LIMIT = 32 << 20
"""Bytes of the columnar encoding, where the caller says nothing else."""
FEWEST_OPS = 1000
"""How many ops are kept at least, as long as fewer events of each site would help."""
LONGEST_TEXT = 2000
"""Characters that are kept of a text where the outcome alone is left."""
MOST_LINES = 20
"""Operands, frames and notes that are kept where the outcome alone is left."""

Number = TypeVar("Number", int, float)


def fit(document: Document, limit: int = LIMIT) -> Document:
    """The document itself if its encoding has at most `limit` bytes, else one that is cut until it has."""
    return _fit(document, limit)[0]


def encode_within(document: Document, limit: int = LIMIT) -> bytes:
    """What `codec.encode` gives for `fit(document, limit)`.

    Raises DocumentError where not even the outcome fits (a few thousand bytes are always enough for one without
    long texts).
    """
    return _fit(document, limit)[1]


def _fit(document: Document, limit: int) -> tuple[Document, bytes]:
    data = encode(document)
    if len(data) <= limit:
        return document, data
    for smaller in _reductions(document):
        told = replace(smaller, notes=[*smaller.notes, _note(document, smaller, limit)])
        data = encode(told)
        if len(data) <= limit:
            return told, data
    raise DocumentError(f"the outcome of the run alone takes {len(data)} bytes; {limit} are allowed")


def _reductions(document: Document) -> Iterator[Document]:
    """Ever smaller documents."""
    document = _first_events(document, 16)
    yield document
    document = _without_statistics(document)
    yield document
    while len(document.ops) > FEWEST_OPS:
        document = _first_ops(document, len(document.ops) // 4)
        yield document
    document = _without_empty_calls(_first_events(document, 4))
    yield document
    document = _without_empty_calls(_first_ops(_first_events(document, 1), 0))
    yield document
    document = _outcome(document)
    yield document
    yield _without_values(document)


def _note(before: Document, after: Document, limit: int) -> str:
    gone = {name: number - before.dropped.get(name, 0) for name, number in after.dropped.items()}
    parts = ", ".join(f"{number:,} {name}" for name, number in gone.items() if number)
    return f"To keep the trace within {limit:,} bytes, this was left out: {parts}."


def _drop(document: Document, **numbers: int) -> dict[str, int]:
    """`document.dropped` with `numbers` added."""
    dropped = dict(document.dropped)
    for name, number in numbers.items():
        if number:
            dropped[name] = dropped.get(name, 0) + number
    return dropped


def _first_events(document: Document, most: int) -> Document:
    """Without the events past the first `most` of their site (and of their site in the calls that failed)."""
    evaluations, branches, loops = document.evaluations, document.branches, document.loops
    sites, failed = len(document.counts), _failed_calls(document)
    keep = _first_of_each(evaluations.site, evaluations.call, sites, failed, most)
    keep_branch = _first_of_each(branches.site, branches.call, sites, failed, most)
    keep_loop = _first_of_each(loops.site, loops.call, sites, failed, most)
    places = list(accumulate(keep, initial=0))
    smaller = replace(
        document,
        evaluations=Evaluations(
            _select(evaluations.site, keep), _select(evaluations.value, keep), _select(evaluations.call, keep)
        ),
        branches=Branches(
            _select(branches.site, keep_branch),
            _select(branches.outcome, keep_branch),
            _select(branches.call, keep_branch),
            _renumber(_select(branches.at, keep_branch), places),
        ),
        loops=Loops(
            _select(loops.site, keep_loop),
            _select(loops.iterations, keep_loop),
            _select(loops.call, keep_loop),
            _renumber(_select(loops.at, keep_loop), places),
        ),
        ops=[op._replace(at=places[op.at]) for op in document.ops],
        dropped=_drop(
            document,
            evaluations=keep.count(0),
            branches=keep_branch.count(0),
            loops=keep_loop.count(0),
        ),
    )
    return _without_unused_values(smaller)


def _failed_calls(document: Document) -> set[int]:
    """The call in which the run failed and those around it."""
    found: set[int] = set()
    call = NONE if document.error is None else document.error.call
    while call != NONE and call not in found:
        found.add(call)
        call = document.calls[call].parent
    return found


def _first_of_each(
    sites: Sequence[int], calls: Sequence[int], number_of_sites: int, failed: set[int], most: int
) -> bytearray:
    """1 for every row to keep."""
    seen = [0] * number_of_sites
    seen_failing = [0] * number_of_sites
    keep = bytearray(len(sites))
    for row, (site, call) in enumerate(zip(sites, calls, strict=True)):
        seen[site] += 1
        if call in failed:
            seen_failing[site] += 1
            keep[row] = seen[site] <= most or seen_failing[site] <= most
        else:
            keep[row] = seen[site] <= most
    return keep


def _without_statistics(document: Document) -> Document:
    values = document.values
    figures = values.statistics
    keep = bytearray(
        bool((flags & HAS_NAN and nan) or (flags & HAS_INF and inf))
        for flags, nan, inf in zip(figures.flags, figures.nan, figures.inf, strict=True)
    )
    for value, used in enumerate(_with_items(values, _values_of_the_outcome(document))):
        if used and values.stats[value] != NOT_READ:
            keep[values.stats[value]] = 1
    rows = _places(keep)
    smaller = replace(
        values, stats=array("i", [rows[row] for row in values.stats]), statistics=_select_statistics(figures, keep)
    )
    return replace(document, values=smaller, dropped=_drop(document, statistics=keep.count(0)))


def _first_ops(document: Document, most: int) -> Document:
    """Without the ops past the first `most`; parents stand before what came from them, so none is missed."""
    smaller = replace(document, ops=document.ops[:most], dropped=_drop(document, ops=len(document.ops[most:])))
    return _without_unused_values(smaller)


def _without_empty_calls(document: Document) -> Document:
    """Without the calls to which no event, op, error or kept call refers."""
    calls = document.calls
    keep = bytearray(len(calls))
    events = (document.evaluations, document.branches, document.loops)
    found = {call for columns in events for call in columns.call}
    found.update(op.call for op in document.ops)
    found.update(_failed_calls(document))
    for call in found:
        while call != NONE and not keep[call]:
            keep[call] = 1
            call = calls[call].parent
    places = _places(keep)
    evaluations, branches, loops = document.evaluations, document.branches, document.loops
    return replace(
        document,
        calls=[call._replace(parent=places[call.parent]) for call in compress(calls, keep)],
        evaluations=replace(evaluations, call=_renumber(evaluations.call, places)),
        branches=replace(branches, call=_renumber(branches.call, places)),
        loops=replace(loops, call=_renumber(loops.call, places)),
        ops=[op._replace(call=places[op.call]) for op in document.ops],
        error=None if document.error is None else replace(document.error, call=places[document.error.call]),
        dropped=_drop(document, calls=keep.count(0)),
    )


def _outcome(document: Document) -> Document:
    """What was run and how it ended, with texts cut to what a reader can take in."""
    example, error = document.example, document.error
    smaller = Document(
        example=replace(example, call=_cut(example.call)),
        status=document.status,
        durations=document.durations,
        error=None if error is None else _cut_error(error),
        output=document.output,
        values=document.values,
        notes=[_cut(note) for note in document.notes[:MOST_LINES]],
        dropped=_drop(
            document,
            evaluations=len(document.evaluations),
            branches=len(document.branches),
            loops=len(document.loops),
            calls=len(document.calls),
            modules=len(document.modules),
            files=len(document.files),
        ),
        environment=document.environment,
    )
    return _without_unused_values(smaller)


def _without_values(document: Document) -> Document:
    """The outcome in words alone."""
    error = document.error
    return replace(
        document,
        output=NONE,
        error=error and replace(error, operands=[]),
        values=ValueTable(),
        dropped=_drop(document, values=len(document.values)),
    )


def _cut_error(error: RunError) -> RunError:
    """The error without what it refers to elsewhere; of a deep stack the inner end."""
    return replace(
        error,
        message=_cut(error.message),
        operands=[operand._replace(expr=_cut(operand.expr), site=NONE) for operand in error.operands[:MOST_LINES]],
        stack=error.stack[-MOST_LINES:],
        call=NONE,
    )


def _cut(text: str) -> str:
    return (
        text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} ({len(text) - LONGEST_TEXT:,} characters more)"
    )


def _without_unused_values(document: Document) -> Document:
    """The same with a value table that holds only what is referred to."""
    values = document.values
    used = _with_items(
        values,
        document.evaluations.value,
        [value for op in document.ops for value in op.outputs],
        _values_of_the_outcome(document),
    )
    places = _places(used)
    error = document.error
    return replace(
        document,
        values=_select_values(values, used, places),
        output=places[document.output],
        evaluations=replace(document.evaluations, value=_renumber(document.evaluations.value, places)),
        ops=[op._replace(outputs=tuple(places[value] for value in op.outputs)) for op in document.ops],
        error=error
        and replace(error, operands=[operand._replace(value=places[operand.value]) for operand in error.operands]),
    )


def _values_of_the_outcome(document: Document) -> list[int]:
    operands = [] if document.error is None else document.error.operands
    return [document.output, *(operand.value for operand in operands)]


def _with_items(values: ValueTable, *references: Iterable[int]) -> bytearray:
    """1 for every value in `references`, and for the items of containers among them."""
    used = bytearray(len(values))
    for column in references:
        for value in column:
            if value != NONE:
                used[value] = 1
    for value in range(len(values) - 1, -1, -1):
        if used[value] and values.kind[value] == CONTAINER:
            for item in values.containers[values.ref[value]].items:  # All come before it.
                used[item] = 1
    return used


def _select_values(values: ValueTable, used: bytearray, places: Sequence[int]) -> ValueTable:
    kind, ref, stats = _select(values.kind, used), _select(values.ref, used), _select(values.stats, used)
    tables = (values.metas, values.containers, values.others)  # In the order of TENSOR, CONTAINER, OTHER.
    keep = [bytearray(len(table)) for table in tables]
    for table, row in zip(kind, ref, strict=True):
        keep[table][row] = 1
    rows = [_places(kept) for kept in keep]
    keep_stats = bytearray(len(values.statistics))
    for row in stats:
        if row != NOT_READ:
            keep_stats[row] = 1
    return ValueTable(
        kind=kind,
        ref=array("i", [rows[table][row] for table, row in zip(kind, ref, strict=True)]),
        stats=_renumber(stats, _places(keep_stats)),
        metas=list(compress(values.metas, keep[0])),
        containers=[
            container._replace(items=tuple(places[item] for item in container.items))
            for container in compress(values.containers, keep[1])
        ],
        others=list(compress(values.others, keep[2])),
        statistics=_select_statistics(values.statistics, keep_stats),
    )


def _select_statistics(figures: Statistics, keep: bytearray) -> Statistics:
    return Statistics(
        flags=_select(figures.flags, keep),
        min=_select(figures.min, keep),
        max=_select(figures.max, keep),
        mean=_select(figures.mean, keep),
        std=_select(figures.std, keep),
        nan=_select(figures.nan, keep),
        inf=_select(figures.inf, keep),
    )


def _select(column: array[Number], keep: bytearray) -> array[Number]:
    found = column[:0]
    found.extend(compress(column, keep))
    return found


def _places(keep: bytearray) -> list[int]:
    """The new number of every kept row; NONE for those that go, and, at the very end, for NONE itself."""
    before = accumulate(keep, initial=0)
    return [*(place if kept else NONE for place, kept in zip(before, keep, strict=False)), NONE]


def _renumber(column: array[int], places: Sequence[int]) -> array[int]:
    return array(column.typecode, [places[number] for number in column])
