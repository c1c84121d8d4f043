"""Where a value that was not wanted came from: the line that made a name None, the function that returned nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...document.index import DocumentIndex
from ...document.model import NONE, Operand, Range, RunError, SourceFile, Statement
from .facts import short


class Happening(NamedTuple):
    """Something that happened to a value, and where."""

    message: str
    uri: str
    range: Range


def history(operand: Operand, error: RunError, index: DocumentIndex) -> Iterator[Happening]:
    """What to say of the value of a name in the failing expression, with its place: how it became what it is."""
    file_number = index.file_index(operand.site)
    file = index.document.files[file_number]
    site = index.site(operand.site)
    made_by = operand.site
    if site.kind == "name":
        binding = _last_binding(site.expr, operand.value, error.call, file, index)
        if binding is None:
            yield from _as_argument(operand, error.call, file_number, index)
            return
        place = index.site(binding.value).range if binding.value != NONE else binding.range
        yield Happening(f"{site.expr} became {_brief(operand, index)}", file.uri, place)
        made_by = binding.value
    yield from _returned(made_by, operand, error.call, index)


def _last_binding(name: str, value: int, call: int, file: SourceFile, index: DocumentIndex) -> Statement | None:
    """The statement that gave a name its value last, in a call."""
    evaluations = index.document.evaluations
    last: tuple[int, Statement] | None = None
    for row in file.statements:
        for target in row.targets:
            if target.name != name or target.site == NONE:
                continue
            rows = [each for each in index.rows_of(target.site) if evaluations.call[each] == call]
            if rows and (last is None or rows[-1] > last[0]):
                last = rows[-1], row
    if last is None or evaluations.value[last[0]] != value:
        return None
    return last[1]


def _as_argument(operand: Operand, call: int, file_number: int, index: DocumentIndex) -> Iterator[Happening]:
    """The parameter that has had the value since the call began."""
    if call == NONE:
        return
    document = index.document
    made = document.calls[call]
    if made.file != file_number:
        return
    file = document.files[file_number]
    for parameter in file.functions[made.function].parameters:
        site = index.site(parameter)
        rows = [row for row in index.rows_of(parameter) if document.evaluations.call[row] == call]
        if site.expr == operand.expr and rows and document.evaluations.value[rows[-1]] == operand.value:
            message = f"{site.expr} was {_brief(operand, index)} from the start of this call"
            yield Happening(message, file.uri, site.range)


def _returned(site: int, operand: Operand, call: int, index: DocumentIndex) -> Iterator[Happening]:
    """The watched function that returned the value, if the expression was a call of one."""
    document = index.document
    for number in index.children_of(call):
        made = document.calls[number]
        if made.site == site and made.ended == "returned" and site != NONE:
            function = document.files[made.file].functions[made.function]
            message = f"{function.name} returned {_brief(operand, index)}"
            yield Happening(message, document.files[made.file].uri, function.name_range)
            return


def _brief(operand: Operand, index: DocumentIndex) -> str:
    kind = getattr(index.document.values[operand.value], "type", "")
    return "None" if kind == "NoneType" else f"a {short(kind) or 'value'}"
