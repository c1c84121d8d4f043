"""Whether a document holds together: every index has something to point to, and nothing runs in circles.

`check` is run on every document that was decoded, so that its readers need not be careful: they meet no IndexError,
and following parents or items comes to an end. What a document says may still be untrue; that nobody can check.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from .columns import DocumentError
from .model import NONE, PHASES, STATUSES, Document, SourceFile, Statement, Test
from .values import CONTAINER, NOT_READ, OTHER, TENSOR, ValueTable

ROLES = ("evaluation", "branch", "loop")
ENDINGS = ("returned", "raised", "running")
CONTAINER_KINDS = ("tuple", "list", "dict", "object")

MAX_VALUE_DEPTH = 100
"""How deep containers may nest; readers walk values recursively."""
MAX_VALUE_SIZE = 1_000_000
"""How many values a container may stand for, its items' items included, each counted wherever it stands."""


def check(document: Document) -> None:
    """Raise DocumentError unless all of `document` is consistent."""
    _one_of("status", [document.status], STATUSES)
    _check_values(document.values)
    _within("output", [document.output], NONE, len(document.values))
    _check_files(document)
    _check_calls(document)
    _check_events(document)
    _check_ops(document)
    _within("where a module was made", [module.site for module in document.modules], NONE, len(document.counts))
    _check_error(document)


def _check_values(values: ValueTable) -> None:
    rows = len(values.kind)
    _same_length("values", [len(values.ref), len(values.stats)], rows)
    figures = values.statistics
    columns = (figures.min, figures.max, figures.mean, figures.std, figures.nan, figures.inf)
    _same_length("statistics", [len(column) for column in columns], len(figures))
    _within("statistics of a value", values.stats, NOT_READ, len(figures))
    tables = {TENSOR: len(values.metas), CONTAINER: len(values.containers), OTHER: len(values.others)}
    for kind, ref in set(zip(values.kind, values.ref, strict=True)):
        if not 0 <= ref < tables.get(kind, 0):
            raise DocumentError(f"a value of kind {kind} refers to row {ref}")
    for container in values.containers:
        _one_of("kind of a container", [container.kind], CONTAINER_KINDS)
        if container.keys is None:
            if container.kind in ("dict", "object"):
                raise DocumentError(f"a container of kind {container.kind} has no keys")
        elif len(container.keys) != len(container.items):
            raise DocumentError(f"a container has {len(container.keys)} keys and {len(container.items)} items")
        if container.length < len(container.items):
            raise DocumentError(f"a container of length {container.length} has {len(container.items)} items")
    _check_nesting(values)


def _check_nesting(values: ValueTable) -> None:
    """Items come before their container, so none holds itself, and nesting stays within bounds."""
    depths: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for value in [value for value, kind in enumerate(values.kind) if kind == CONTAINER]:
        items = values.containers[values.ref[value]].items
        _within("item of a container", items, 0, value)
        depths[value] = 1 + max((depths.get(item, 0) for item in items), default=0)
        sizes[value] = 1 + sum(sizes.get(item, 1) for item in items)
        if depths[value] > MAX_VALUE_DEPTH or sizes[value] > MAX_VALUE_SIZE:
            raise DocumentError(f"value {value} is a container that is too large")


def _check_files(document: Document) -> None:
    firsts = list(accumulate((len(file.sites) for file in document.files), initial=0))
    if [file.first_site for file in document.files] != firsts[:-1]:
        raise DocumentError("the sites are not numbered file after file")
    _same_length("counts of events by site", [len(document.counts)], firsts[-1])
    _within("count of events", document.counts, 0, None)
    for file in document.files:
        _one_of("role of a site", {site.role for site in file.sites}, ROLES)
        _within("function of a site", [site.function for site in file.sites], 0, len(file.functions))
        for function in file.functions:
            _within("parameter", function.parameters, NONE, firsts[-1])
        _within("statement that did not run", file.not_run, 0, len(file.statements))
        _check_statements(file, firsts[-1])


def _check_statements(file: SourceFile, sites: int) -> None:
    statements = file.statements
    functions = len(file.functions)
    _within("function of a statement", [statement.function for statement in statements], 0, functions)
    _within("function that a statement defines", [statement.defines for statement in statements], NONE, functions)
    _check_parents("statement", [statement.parent for statement in statements])
    _within("site of a statement", [site for statement in statements for site in _sites_of(statement)], NONE, sites)


def _sites_of(statement: Statement) -> Iterable[int]:
    yield statement.value
    yield statement.loop
    yield from statement.chain
    for target in statement.targets:
        yield target.site
    if statement.test is not None:
        yield from _sites_of_test(statement.test)


def _sites_of_test(test: Test) -> Iterable[int]:
    yield test.site
    yield test.value
    for operand in test.operands:
        if isinstance(operand, Test):
            yield from _sites_of_test(operand)
        elif isinstance(operand, int):
            yield operand


def _check_calls(document: Document) -> None:
    calls = document.calls
    files = len(document.files)
    _within("file of a call", [call.file for call in calls], 0, files)
    for file, function in {(call.file, call.function) for call in calls}:
        _within("function of a call", [function], 0, len(document.files[file].functions))
    _within("phase of a call", [call.phase for call in calls], 0, len(PHASES))
    _within("site of a call", [call.site for call in calls], NONE, len(document.counts))
    _one_of("end of a call", {call.ended for call in calls}, ENDINGS)
    _check_parents("call", [call.parent for call in calls])


def _check_events(document: Document) -> None:
    sites, calls = len(document.counts), len(document.calls)
    evaluations, branches, loops = document.evaluations, document.branches, document.loops
    _same_length("evaluations", [len(evaluations.value), len(evaluations.call)], len(evaluations))
    _within("value of an evaluation", evaluations.value, NONE, len(document.values))
    _same_length("branches", [len(branches.outcome), len(branches.call), len(branches.at)], len(branches))
    _within("outcome", branches.outcome, 0, 2)
    _same_length("loops", [len(loops.iterations), len(loops.call), len(loops.at)], len(loops))
    _within("number of iterations", loops.iterations, 0, None)
    for events in (evaluations, branches, loops):
        _within("site of an event", events.site, 0, sites)
        _within("call of an event", events.call, NONE, calls)
    for at in (branches.at, loops.at):
        _within("place in the run's order", at, 0, len(evaluations) + 1)


def _check_ops(document: Document) -> None:
    ops = document.ops
    _within("output of an op", [value for op in ops for value in op.outputs], 0, len(document.values))
    for index, op in enumerate(ops):
        if any(not 0 <= parent < index for parent in op.parents):
            raise DocumentError(f"op {index} has parents {op.parents}, which are not all before it")
    _within("file of an op", [op.file for op in ops], NONE, len(document.files))
    _within("site of an op", [op.site for op in ops], NONE, len(document.counts))
    _within("call of an op", [op.call for op in ops], NONE, len(document.calls))
    _within("place of an op in the run's order", [op.at for op in ops], 0, len(document.evaluations) + 1)


def _check_error(document: Document) -> None:
    error = document.error
    if error is None:
        return
    _within("call of the error", [error.call], NONE, len(document.calls))
    _within("operand", [operand.value for operand in error.operands], NONE, len(document.values))
    _within("site of an operand", [operand.site for operand in error.operands], NONE, len(document.counts))


def _within(what: str, column: Sequence[int], low: int, end: int | None) -> None:
    """All of `column` in `low … end - 1`."""
    if not len(column):
        return
    least, greatest = min(column), max(column)
    if least < low or (end is not None and greatest >= end):
        raise DocumentError(f"{what}: {least} … {greatest} is not within {low} … {'' if end is None else end - 1}")


def _one_of(what: str, found: Iterable[str], known: Sequence[str]) -> None:
    for word in found:
        if word not in known:
            raise DocumentError(f"{what}: {word!r}")


def _same_length(what: str, lengths: Iterable[int], rows: int) -> None:
    for length in lengths:
        if length != rows:
            raise DocumentError(f"{what}: columns of {length} and of {rows} rows")


def _check_parents(what: str, parents: Sequence[int]) -> None:
    """Every parent is in the list or NONE, and following parents comes to an end."""
    _within(f"parent of a {what}", parents, NONE, len(parents))
    if all(parent < index for index, parent in enumerate(parents)):
        return
    ends = {NONE}
    for index in range(len(parents)):
        path: dict[int, None] = {}
        while index not in ends:
            if index in path:
                raise DocumentError(f"{what} {index} is its own parent")
            path[index] = None
            index = parents[index]
        ends.update(path)
