"""What is known of a failed expression: its operands by name, as the rules of this package ask for them.

Reads a document and changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...document.index import DocumentIndex
from ...document.model import NONE, Document, Operand, Range, RunError
from ...document.values import Container, Other, Tensor, TensorMeta, Value
from ..wording import dtype_name
from .terms import tensor_text

_POSITION = re.compile(r"argument (\d+)")
MAX_NAME = 32
"""Characters of an expression that is still a name for its value; a longer one is not repeated in a message."""


@dataclass(frozen=True)
class Named:
    """One tensor that went into what failed."""

    name: str
    """Its expression, or the address of the parameter; empty where there is no short one."""
    value: int
    meta: TensorMeta
    site: int = NONE

    @property
    def shape(self) -> tuple[int | str, ...]:
        """Its sizes."""
        return self.meta.shape

    @property
    def dtype(self) -> str:
        """Name of its dtype, as torch has it."""
        return self.meta.dtype

    def __str__(self) -> str:
        return tensor_text(self.meta)

    @property
    def text(self) -> str:
        """Name and type: `x f32[8, 64]`."""
        return f"{self.name} {self}" if self.name else str(self)

    @property
    def dtype_text(self) -> str:
        """Its dtype in short."""
        return dtype_name(self.dtype)


class Facts:
    """The operands of one error."""

    def __init__(self, error: RunError, index: DocumentIndex) -> None:
        self.error = error
        self.index = index
        self.document: Document = index.document
        self.op = error.op or ""
        self.message = error.message

    @property
    def operation(self) -> str:
        """The failed function's name as a user writes it."""
        return self.op.strip("_") or "this"

    @cached_property
    def expressions(self) -> list[Operand]:
        """The failing expression's own operands: of nested ones the outermost, in the order of their evaluation."""
        operands = [operand for operand in self.error.operands if operand.site != NONE]
        ranges = [self.index.site(operand.site).range for operand in operands]
        return [
            operand
            for operand, own in zip(operands, ranges, strict=True)
            if not any(own != other and _within(own, other) for other in ranges)
        ]

    @cached_property
    def inputs(self) -> list[Named]:
        """The tensors that went into the failed call, in the order of its arguments, parameters of the model apart.

        Where no torch call failed: the tensors among the expression's own operands.
        """
        placed: dict[int, Named] = {}
        for operand in self.error.operands:
            value, position = self.value(operand.value), _POSITION.fullmatch(operand.expr)
            if operand.site == NONE and position and isinstance(value, Tensor):
                placed.setdefault(int(position[1]), Named("", operand.value, value.meta))
        given = [named for operand in self.expressions for named in self._tensors(operand)]
        others = [placed[position] for position in sorted(placed)]
        # An argument that is an operand of the expression stands in the document as that alone.
        return [*others, *given] if 1 in placed else [*given, *others]

    @cached_property
    def parameters(self) -> list[Named]:
        """The failed layer's parameters that went into the call, by their addresses."""
        found = []
        for operand in self.error.operands:
            value = self.value(operand.value)
            if operand.site == NONE and isinstance(value, Tensor) and not _POSITION.fullmatch(operand.expr):
                found.append(Named(operand.expr, operand.value, value.meta))
        return found

    def _tensors(self, operand: Operand) -> Iterator[Named]:
        value = self.value(operand.value)
        if isinstance(value, Tensor):
            yield Named(short(operand.expr), operand.value, value.meta, operand.site)
        elif isinstance(value, Container) and value.kind in ("tuple", "list"):
            yield from self.items(value)

    def items(self, container: Container) -> list[Named]:
        """The tensors of a sequence, by the names that the failing expression has for them."""
        found = []
        for item in container.items:
            value = self.value(item)
            if isinstance(value, Tensor):
                names = [operand for operand in self.error.operands if operand.value == item and operand.site != NONE]
                name, site = (short(names[0].expr), names[0].site) if names else ("", NONE)
                found.append(Named(name, item, value.meta, site))
        return found

    @property
    def first(self) -> Named | None:
        """The tensor that the failed call is about, if there is one."""
        return self.inputs[0] if self.inputs else None

    def with_shape(self, shape: Sequence[int]) -> Named | None:
        """The first input of exactly this shape."""
        return next((named for named in self.inputs if named.shape == tuple(shape)), None)

    def parameter(self, name: str) -> Named | None:
        """The failed layer's parameter of that name."""
        return next((named for named in self.parameters if named.name.rpartition(".")[2] == name), None)

    def of_type(self, *types: str) -> Operand | None:
        """The expression's operand whose value's class has one of these names."""
        for operand in self.expressions:
            value = self.value(operand.value)
            if isinstance(value, (Other, Container)) and value.type in types:
                return operand
        return None

    def value(self, value_id: int) -> Value | None:
        """A recorded value, None for none."""
        return self.document.values[value_id] if value_id >= 0 else None

    def last_value(self, site: int, call: int) -> int:
        """Value id of the last evaluation of a site in a call, NONE if there was none."""
        evaluations = self.document.evaluations
        for row in reversed(self.index.rows_of(site)):
            if evaluations.call[row] == call:
                return evaluations.value[row]
        return NONE


def short(expression: str) -> str:
    """An expression as a name, in one line; empty if it is too long for one."""
    text = " ".join(expression.split())
    return text if len(text) <= MAX_NAME else ""


def _within(inner: Range, outer: Range) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]
