"""Where a tensor's size or dtype came from, looked for backwards over the ops of the run. Silent when unsure.

An op hands a dimension on if it can be told from shapes alone that the dimension of its output is one of its input's.
The first op that did not get the size from any of its inputs has made it. Where the size could have come from another
dimension of an input, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from ...document.index import DocumentIndex
from ...document.model import NONE, Range
from ...document.values import Tensor, TensorMeta
from .facts import Named, short
from .finding import WrongSize

_Shape = tuple[int | str, ...]

_RESHAPING = frozenset({"view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "view_as", "reshape_as"})
"""Functions that keep the order of the elements: a dimension is the same if as many elements stand before it."""
_MOVING = frozenset(
    {"transpose", "permute", "t", "T", "mT", "H", "mH", "swapaxes", "swapdims", "movedim", "moveaxis", "adjoint",
     "einsum", "tensordot", "rot90"}
)  # fmt: skip
"""Functions after which a dimension stands elsewhere: it is known by its size, where no other has the same."""
_JOINING = frozenset({"cat", "concat", "concatenate", "hstack", "vstack"})
_PRODUCTS = frozenset({"matmul", "mm", "bmm"})
_SLIDING = (
    "conv",
    "max_pool",
    "avg_pool",
    "adaptive_",
    "interpolate",
    "upsample",
    "pad",
    "linear",
    "embedding",
    "lp_pool",
)
"""Beginnings of names of functions that leave every dimension in its place, whatever they make of its size."""


class Origin(NamedTuple):
    """What made a size or a dtype."""

    how: str
    """`was made by conv2d_1_1`, `came with the example`, `was made before the call`."""
    uri: str
    range: Range


class Origins:
    """Looks back over one run."""

    def __init__(self, index: DocumentIndex) -> None:
        self._index = index
        self._document = index.document
        self._maker: dict[int, int] = {}
        for number, op in enumerate(self._document.ops):
            if op.target != "output":
                for value in op.outputs:
                    self._maker.setdefault(value, number)

    def of_size(self, wrong: WrongSize) -> Origin | None:
        """What first made a size in its dimension; None where that cannot be told."""
        number, place = self._maker.get(wrong.tensor.value, NONE), wrong.dimension
        if number == NONE:
            return self._before_the_call(wrong.tensor.value)
        while True:
            found = self._source_of_size(number, place, wrong.size)
            if found is None:
                return None
            if found[0] == number:
                return self._of_op(number)
            number, place = found

    def of_dtype(self, named: Named) -> list[tuple[str, Origin]]:
        """What first made a tensor's dtype, and the operand there that had it from before, each with the name of what
        it is said of. Empty where unknown.
        """
        number, dtype = self._maker.get(named.value, NONE), named.dtype
        if number == NONE:
            before = self._before_the_call(named.value)
            return [(named.name, before)] if before is not None else []
        while True:
            parents = self._document.ops[number].parents
            having = [parent for parent in parents if (m := self._output(parent)) is not None and m.dtype == dtype]
            if not having:
                break
            number = having[0]
        made = self._of_op(number)
        return [*([(named.name, made)] if made is not None else []), *self._brought(number, dtype)]

    def _of_op(self, number: int) -> Origin | None:
        op, example = self._document.ops[number], self._document.example
        if op.target == "input":
            if example.uri is None or example.range is None:
                return None
            return Origin("came with the example", example.uri, example.range)
        if op.file == NONE or op.range is None:
            return None
        return Origin(f"was made by {op.label}", self._document.files[op.file].uri, op.range)

    def _before_the_call(self, value: int) -> Origin | None:
        """The expression that first had a value which no op of the traced call made."""
        evaluations = self._document.evaluations
        row = next((row for row, known in enumerate(evaluations.value) if known == value), NONE)
        if row == NONE:
            return None
        site = self._index.site(evaluations.site[row])
        if site.kind in ("name", "attribute", "parameter"):
            return None
        uri = self._document.files[self._index.file_index(evaluations.site[row])].uri
        return Origin("was made before the call", uri, site.range)

    def _brought(self, number: int, dtype: str) -> Iterator[tuple[str, Origin]]:
        """The value of this dtype that went into an op without having come out of another, by its expression."""
        op = self._document.ops[number]
        if op.site == NONE or op.call == NONE:
            return
        outer = self._index.site(op.site).range
        evaluations = self._document.evaluations
        for row in self._index.rows_in(op.call):
            site, value = self._index.site(evaluations.site[row]), evaluations.value[row]
            inside = outer[:2] <= site.range[:2] and site.range[2:] <= outer[2:]
            meta = self._meta(value)
            if inside and row < op.at and meta is not None and meta.dtype == dtype and value not in self._maker:
                before = self._before_the_call(value)
                if before is not None:
                    yield short(site.expr), before
                return

    # --- one step back -------------------------------------------------------------------------------------------

    def _source_of_size(self, number: int, place: int, size: int | str) -> tuple[int, int] | None:
        """The op and the dimension that a size came from: the op itself if it made it; None where unsure."""
        op = self._document.ops[number]
        own = self._output(number)
        if own is None:
            return None
        if op.target == "buffer":
            return None
        parents = [(p, meta.shape) for p in op.parents if (meta := self._output(p)) is not None]
        having = [(p, shape) for p, shape in parents if size in shape]
        if not having:
            return number, place
        name, rank = op.target, len(own.shape)
        if name in _RESHAPING:
            source = _same_elements_before(having[0][1], own.shape, place)
            return (number, place) if source is None else (having[0][0], source)
        if name in _MOVING or (name in _PRODUCTS and len(parents) != 2):
            return _by_size(having, own.shape, size)
        if name in _PRODUCTS:
            parent, shape = parents[1] if place == rank - 1 else parents[0]
            at = place - rank + len(shape)
            return (parent, at) if len(shape) > 1 and at >= 0 and shape[at] == size else None
        if name == "embedding":
            shape = having[0][1]
            return (number, place) if place == rank - 1 else (having[0][0], place) if place < len(shape) else None
        aligned = [
            (p, place - rank + len(shape)) for p, shape in having if _has(shape, place - rank + len(shape), size)
        ]
        same_rank = max(len(shape) for _, shape in parents) == rank
        if same_rank and name in _JOINING and len(aligned) != len(parents):
            return (number, place) if not aligned else None
        if same_rank and aligned:
            return aligned[0]
        if same_rank and name.startswith(_SLIDING):
            return number, place
        return _by_size(having, own.shape, size) if not same_rank and name != "__getitem__" else None

    def _output(self, number: int) -> TensorMeta | None:
        outputs = self._document.ops[number].outputs
        return self._meta(outputs[0]) if len(outputs) == 1 else None

    def _meta(self, value: int) -> TensorMeta | None:
        known = self._document.values[value] if value >= 0 else None
        return known.meta if isinstance(known, Tensor) else None


def _has(shape: _Shape, place: int, size: int | str) -> bool:
    return 0 <= place < len(shape) and shape[place] == size


def _by_size(having: list[tuple[int, _Shape]], own: _Shape, size: int | str) -> tuple[int, int] | None:
    """The one dimension of one input that has the size, if the output has it once as well."""
    if len(having) != 1 or own.count(size) != 1 or having[0][1].count(size) != 1:
        return None
    return having[0][0], having[0][1].index(size)


def _same_elements_before(source: _Shape, own: _Shape, place: int) -> int | None:
    """The dimension of `source` with the size and the number of elements before it that dimension `place` has."""
    if not all(isinstance(size, int) for size in (*source, *own)):
        return None
    before = _product(own[:place])
    return next((at for at, size in enumerate(source) if size == own[place] and _product(source[:at]) == before), None)


def _product(sizes: _Shape) -> int:
    return prod(size for size in sizes if isinstance(size, int))
