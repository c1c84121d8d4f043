"""What `check` looks for in a trace document beside errors: the first NaN."""

from __future__ import annotations

from dataclasses import dataclass

from ..document.index import DocumentIndex
from ..document.model import NONE, Document
from ..document.values import Tensor
from .sources import path_of, shown


@dataclass(frozen=True)
class FirstNan:
    """Where a run's first NaN came from."""

    maker: str
    """The label of the op that made it, or the expression whose value has it."""
    uri: str | None
    line: int | None
    """From 0."""
    count: int
    size: int | None
    """Elements of the tensor; None where its sizes are no numbers."""

    @property
    def where(self) -> str:
        """`src/net.py:31`; empty where it came from no line of a watched file."""
        path = path_of(self.uri)
        return f"{shown(path)}:{self.line + 1}" if path and self.line is not None else ""

    def __str__(self) -> str:
        of_size = f" of {self.size:,}" if self.size is not None else ""
        where = f" ({self.where})" if self.where else ""
        return f"{self.count:,}{of_size} are NaN in {self.maker}{where}, the first of the run"


def first_nan(document: Document) -> FirstNan | None:
    """The first NaN of a run, in any value whose elements were looked at; None where there is none.

    An infinity is no NaN: masks are made of them. An op's output comes before the value of the expression that
    called it, so that the op is named wherever there is one.
    """
    by_value = _nan_by_value(document)
    if not by_value:
        return None
    index = DocumentIndex(document)
    op = next((op for op in document.ops if any(value in by_value for value in op.outputs)), None)
    rows = document.evaluations
    row = next((row for row, value in enumerate(rows.value) if value in by_value), None)
    if op is not None and (row is None or op.at <= row):
        count, size = next(by_value[value] for value in op.outputs if value in by_value)
        uri = document.files[op.file].uri if op.file != NONE else None
        where = index.site(op.site).range if op.site != NONE else op.range
        return FirstNan(op.label, uri, where.start_line if where is not None else None, count, size)
    if row is None:
        return None
    site = index.site(rows.site[row])
    count, size = by_value[rows.value[row]]
    uri = document.files[index.file_index(rows.site[row])].uri
    return FirstNan(site.expr, uri, site.range.start_line, count, size)


def _nan_by_value(document: Document) -> dict[int, tuple[int, int | None]]:
    """By value id: how many NaN a tensor has, of how many elements."""
    values = document.values
    rows = [row for row, count in enumerate(values.statistics.nan) if count]
    if not rows:
        return {}
    having = set(rows)
    found: dict[int, tuple[int, int | None]] = {}
    for value_id, stats in enumerate(values.stats):
        if stats not in having:
            continue
        value = values[value_id]
        if isinstance(value, Tensor) and value.stats is not None and value.stats.nan:
            found[value_id] = (value.stats.nan, _elements(value.meta.shape))
    return found


def _elements(shape: tuple[int | str, ...]) -> int | None:
    product = 1
    for size in shape:
        if not isinstance(size, int):
            return None
        product *= size
    return product
