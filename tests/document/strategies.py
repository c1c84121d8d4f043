"""Hypothesis strategies for whole trace documents, consistent in themselves but otherwise of any content.

`documents()` is what most tests want. Everything that a recorder could write occurs, surrogates in texts and NaN in
statistics included; nothing is made to resemble a real run.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from hypothesis import strategies as st

from torchlens_lsp.document.check import CONTAINER_KINDS, ENDINGS, ROLES
from torchlens_lsp.document.model import (
    NONE,
    PHASES,
    STATUSES,
    Call,
    Document,
    Durations,
    Example,
    Frame,
    Function,
    Module,
    Op,
    Operand,
    Range,
    RunError,
    Site,
    SourceFile,
    Statement,
    Target,
)
from torchlens_lsp.document.model import (
    Test as Condition,
)
from torchlens_lsp.document.values import (
    CONTAINER,
    NOT_READ,
    OTHER,
    TENSOR,
    Container,
    Other,
    Stats,
    TensorMeta,
    ValueTable,
)

Draw = Any
"""What `composite` hands to its functions."""

TEXTS = st.text(st.characters(), max_size=5)
COUNTS = st.integers(0, 2**62)
NUMBERS = st.integers(0, 2**31 - 1)
SECONDS = st.floats(0, 1e6)
# Of one number each, because drawing is what takes the time.
POSITIONS = NUMBERS.map(lambda number: (number, number // 3))
RANGES = NUMBERS.map(lambda number: Range(number // 5, number % 7, number, number // 3))

METAS = st.builds(
    TensorMeta,
    shape=st.lists(st.integers(0, 2**62) | st.integers(0, 9) | TEXTS, max_size=4).map(tuple),
    dtype=st.sampled_from(("float32", "int64", "bool", "complex64")) | TEXTS,
    device=st.sampled_from(("cpu", "cuda:0", "meta")),
    type=st.just("Tensor") | TEXTS,
    layout=st.just("strided") | TEXTS,
    requires_grad=st.booleans(),
)
OTHERS = st.builds(Other, TEXTS, TEXTS)
EXAMPLES = st.builds(Example, TEXTS, TEXTS, TEXTS, st.none() | TEXTS, st.none() | RANGES)
DURATIONS = st.builds(Durations, SECONDS, SECONDS, SECONDS)


@st.composite
def statistics(draw: Draw) -> Stats:
    """Figures as a recorder reads them: minimum and maximum both or neither."""
    elements = st.floats() | st.floats(width=32) | st.integers(-1000, 1000).map(float)
    low, high = draw(st.none() | st.tuples(elements, elements)) or (None, None)
    mean, std = draw(st.none() | elements), draw(st.none() | elements)
    return Stats(low, high, mean, std, draw(st.none() | COUNTS), draw(st.none() | COUNTS), draw(st.booleans()))


@st.composite
def value_tables(draw: Draw) -> ValueTable:
    """Tensors, containers of what came before them, and other values."""
    values = ValueTable(metas=draw(st.lists(METAS, max_size=3)), others=draw(st.lists(OTHERS, max_size=3)))
    for _ in range(draw(st.integers(0, 10))):
        kind = draw(st.sampled_from((TENSOR, CONTAINER, OTHER)))
        if kind == TENSOR and values.metas:
            stats = draw(st.none() | statistics())
            row = NOT_READ if stats is None else values.statistics.append(stats)
            values.append(TENSOR, draw(st.integers(0, len(values.metas) - 1)), row)
        elif kind == OTHER and values.others:
            values.append(OTHER, draw(st.integers(0, len(values.others) - 1)))
        else:
            values.containers.append(draw(_containers(len(values))))
            values.append(CONTAINER, len(values.containers) - 1)
    return values


@st.composite
def _containers(draw: Draw, values: int) -> Container:
    items = draw(_many(values))
    kind = draw(st.sampled_from(CONTAINER_KINDS))
    keyed = kind in ("dict", "object") or draw(st.booleans())
    keys = tuple(draw(TEXTS) for _ in items) if keyed else None
    return Container(kind, draw(st.just(kind) | TEXTS), keys, items, len(items) + draw(st.integers(0, 1000)))


@lru_cache  # Strategies are dear to make and few are different.
def conditions(sites: int) -> st.SearchStrategy[Condition]:
    """Tests over `sites` sites."""
    leaves = st.builds(
        Condition,
        site=_indices(sites),
        value=_indices(sites),
        op=st.sampled_from(("truth", "<", "< <=")),
        operands=st.lists(_indices(sites) | TEXTS, max_size=2).map(tuple),
        expr=TEXTS,
    )

    def around(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
        ops = st.sampled_from(("and", "or", "not"))
        operands = st.lists(inner, max_size=3).map(tuple)
        return st.builds(Condition, _indices(sites), _indices(sites), ops, operands, TEXTS)

    return st.recursive(leaves, around, max_leaves=4)


@lru_cache
def _sites(functions: int) -> st.SearchStrategy[Site]:
    return st.builds(Site, TEXTS, st.sampled_from(ROLES), RANGES, TEXTS, st.integers(0, functions - 1))


@lru_cache
def _functions(sites: int) -> st.SearchStrategy[Function]:
    return st.builds(Function, TEXTS, TEXTS, RANGES, RANGES, POSITIONS, _many(sites))


@lru_cache
def _statements(number: int, functions: int, sites: int) -> st.SearchStrategy[Statement]:
    return st.builds(
        Statement,
        kind=TEXTS,
        range=RANGES,
        header_end=POSITIONS,
        function=st.integers(0, functions - 1),
        targets=st.lists(st.builds(Target, TEXTS, _indices(sites), POSITIONS), max_size=2).map(tuple),
        value=_indices(sites),
        test=st.none() | conditions(sites),
        loop=_indices(sites),
        chain=_many(sites),
        defines=_indices(functions),
        parent=_indices(number),
        arm=TEXTS,
    )


@st.composite
def source_files(draw: Draw, uri: str, first_site: int, sites: int, all_sites: int) -> SourceFile:
    """One file with `sites` sites; `all_sites` is how many the document has."""
    functions = draw(st.integers(1, 3))
    statements = draw(st.integers(0, 3))
    return SourceFile(
        uri=uri,
        sha256=draw(TEXTS),
        first_site=first_site,
        sites=[draw(_sites(functions)) for _ in range(sites)],
        functions=[draw(_functions(all_sites)) for _ in range(functions)],
        statements=[draw(_statements(number, functions, all_sites)) for number in range(statements)],
        not_run=list(draw(_many(statements))),
        unwatched=draw(st.lists(TEXTS, max_size=2)),
    )


@st.composite
def documents(draw: Draw, max_events: int = 12) -> Document:
    """Whole documents with up to `max_events` evaluations, branches and loops each."""
    document = Document(
        example=draw(EXAMPLES),
        status=draw(st.sampled_from(STATUSES)),
        durations=draw(DURATIONS),
        values=draw(value_tables()),
        notes=draw(st.lists(TEXTS, max_size=2)),
        dropped=draw(st.dictionaries(TEXTS, COUNTS, max_size=2)),
        environment=draw(st.dictionaries(TEXTS, TEXTS, max_size=2)),
    )
    sizes = draw(st.lists(st.integers(0, 4), max_size=3))
    for number, size in enumerate(sizes):
        file = source_files(f"file:///{number}.py", sum(sizes[:number]), size, sum(sizes))
        document.files.append(draw(file))
    document.output = draw(_indices(len(document.values)))
    document.modules = draw(st.lists(st.builds(Module, TEXTS, TEXTS, COUNTS, COUNTS, _indices(sum(sizes))), max_size=2))
    if document.files:
        for number in range(draw(st.integers(0, 5))):
            document.calls.append(draw(_calls(document, number, sum(sizes))))
    _add_events(draw, document, max_events)
    for number in range(draw(st.integers(0, 4))):
        document.ops.append(draw(_ops(document, number, sum(sizes))))
    document.error = draw(st.none() | _errors(document, sum(sizes)))
    return document


def _add_events(draw: Draw, document: Document, most: int) -> None:
    by_role: dict[str, list[int]] = {role: [] for role in ROLES}
    for file in document.files:
        for number, recorded in enumerate(file.sites, start=file.first_site):
            by_role[recorded.role].append(number)
    counts = [0] * sum(map(len, by_role.values()))

    def some(role: str) -> list[tuple[int, int]]:
        """Sites and calls, counted."""
        if not by_role[role]:
            return []
        calls = _indices(len(document.calls))
        events: list[tuple[int, int]] = draw(st.lists(st.tuples(st.sampled_from(by_role[role]), calls), max_size=most))
        for site, _ in events:
            counts[site] += 1
        return events

    for site, call in some("evaluation"):
        document.evaluations.site.append(site)
        document.evaluations.value.append(draw(_indices(len(document.values))))
        document.evaluations.call.append(call)
    at = st.integers(0, len(document.evaluations))
    for site, call in some("branch"):
        document.branches.site.append(site)
        document.branches.outcome.append(draw(st.booleans()))
        document.branches.call.append(call)
        document.branches.at.append(draw(at))
    for site, call in some("loop"):
        document.loops.site.append(site)
        document.loops.iterations.append(draw(COUNTS))
        document.loops.call.append(call)
        document.loops.at.append(draw(at))
    document.counts.extend(counts)


@st.composite
def _calls(draw: Draw, document: Document, number: int, sites: int) -> Call:
    file = draw(st.integers(0, len(document.files) - 1))
    return Call(
        file=file,
        function=draw(st.integers(0, len(document.files[file].functions) - 1)),
        module=draw(st.none() | TEXTS),
        module_pass=draw(NUMBERS),
        phase=draw(st.integers(0, len(PHASES) - 1)),
        parent=draw(_indices(number)),
        site=draw(_indices(sites)),
        ended=draw(st.sampled_from(ENDINGS)),
    )


def _ops(document: Document, number: int, sites: int) -> st.SearchStrategy[Op]:
    return st.builds(
        Op,
        label=TEXTS,
        target=TEXTS,
        pass_index=NUMBERS,
        module=st.none() | TEXTS,
        outputs=_many(len(document.values)),
        parents=_many(number),
        file=_indices(len(document.files)),
        site=_indices(sites),
        range=st.none() | RANGES,
        call=_indices(len(document.calls)),
        seconds=SECONDS,
        at=st.integers(0, len(document.evaluations)),
    )


def _errors(document: Document, sites: int) -> st.SearchStrategy[RunError]:
    operands = st.builds(Operand, TEXTS, _indices(len(document.values)), _indices(sites))
    return st.builds(
        RunError,
        phase=st.sampled_from(PHASES),
        type=TEXTS,
        message=TEXTS,
        uri=st.none() | TEXTS,
        range=st.none() | RANGES,
        operands=st.lists(operands, max_size=2),
        stack=st.lists(st.builds(Frame, TEXTS, RANGES, TEXTS), max_size=2),
        call=_indices(len(document.calls)),
        module=st.none() | TEXTS,
        op=st.none() | TEXTS,
    )


@lru_cache
def _indices(size: int) -> st.SearchStrategy[int]:
    """Indices into a list of `size` items, and NONE."""
    return st.integers(NONE, size - 1)


@lru_cache
def _many(size: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Several indices into a list of `size` items, without NONE."""
    return st.lists(st.integers(0, size - 1), max_size=3).map(tuple) if size else st.just(())
