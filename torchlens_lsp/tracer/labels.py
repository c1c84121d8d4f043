"""Labels of ops: `type_typeIndex_overallIndex[:pass]`, as TorchLens has them where a run repeats nothing.

Both indices count *layers* in the order of their first run. Which ops are one layer, in its passes: ops with
parameters by their parameters, type and module; others by the instruction that called them and the module they ran
in. `input_N`, `buffer_N` and `output_N` are counted apart and have no overall index.
"""

from __future__ import annotations

import dis
import re
from collections.abc import Sequence
from typing import NamedTuple

from .ops import OpRow

SOURCES = frozenset({"input", "buffer", "output"})

_OPERATOR = re.compile(r"__(\w+)__")
_TYPES = {
    "radd": "add",
    "rmul": "mul",
    "rmatmul": "matmul",
    "T": "t",
    "rtruediv": "truediv",
    "rpow": "pow",
    "floordiv": "floordivide",
    "rfloordiv": "floordivide",
    "subtract": "sub",
    "multiply": "mul",
}


class Labelled(NamedTuple):
    """The layer that an op is a run of."""

    layer: str
    """`linear_1_1`."""
    pass_index: int
    """From 1."""


def type_of(name: str) -> str:
    """The type in a label of the torch function `name`: lower case, without underscores; in place or not is one."""
    operator = _OPERATOR.fullmatch(name)
    bare = operator.group(1) if operator else name.rstrip("_")
    return _TYPES.get(bare, bare).lower().replace("_", "")


_WRITTEN_AS = {
    "div": "__truediv__",
    "__rdiv__": "__rtruediv__",
    "add_": "__iadd__",
    "sub_": "__isub__",
    "mul_": "__imul__",
    "div_": "__itruediv__",
    "pow_": "__ipow__",
    "remainder_": "__imod__",
    "floor_divide_": "__ifloordiv__",
}
"""Functions that torch calls for an operator, by the operator's own name."""


def written_name(row: OpRow) -> str:
    """The operator's name, if the op was written as one (`x += 1`), else the function's (`x.add_(1)`)."""
    operator = _WRITTEN_AS.get(row.name)
    if operator is None or row.caller is None:
        return row.name
    code, instruction = row.caller
    operation = dis.opname[code.co_code[instruction]] if instruction >= 0 else ""
    return operator if operation.startswith(("BINARY_", "INPLACE_")) else row.name


def labels_of(rows: Sequence[OpRow]) -> list[Labelled]:
    """The layer and pass of each row, in linear time."""
    layers: dict[object, str] = {}
    passes: dict[str, int] = {}
    by_type: dict[str, int] = {}
    overall = 0
    result: list[Labelled] = []
    for row in rows:
        kind = type_of(written_name(row))
        key = _layer_key(row, kind)
        layer = layers.get(key)
        if layer is None:
            by_type[kind] = by_type.get(kind, 0) + 1
            if row.name in SOURCES:
                layer = f"{kind}_{by_type[kind]}"
            else:
                overall += 1
                layer = f"{kind}_{by_type[kind]}_{overall}"
            layers[key] = layer
        passes[layer] = passes.get(layer, 0) + 1
        result.append(Labelled(layer, passes[layer]))
    return result


def _layer_key(row: OpRow, kind: str) -> object:
    if row.name in SOURCES:
        return object()
    if row.parameters:
        return kind, frozenset(row.parameters), row.module, row.output_index
    # By identity: equal code objects may be those of different functions.
    place = None if row.caller is None else (id(row.caller[0]), row.caller[1])
    return kind, place, row.module, row.output_index


def with_pass(labelled: Labelled, runs: int) -> str:
    """The label as written: with its pass only where the layer ran more than once."""
    return labelled.layer if runs == 1 else f"{labelled.layer}:{labelled.pass_index}"
