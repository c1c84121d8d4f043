"""Where what went wrong came from: the op that made a size, the line that made a layer. Silent when unsure."""

from __future__ import annotations

from ...document.model import NONE, Document, Op, Range
from ...document.values import Tensor
from .finding import WrongSize


class Origins:
    """Looks back over the ops of one run."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._maker = {value: number for number, op in enumerate(document.ops) for value in op.outputs}

    def of_size(self, wrong: WrongSize) -> Op | None:
        """The op that first made a size: everything after it handed the dimension on, nothing before it had the size.

        None where that cannot be told: a size that an operand has in another dimension may have come from there.
        """
        number, place, size = self._maker.get(wrong.tensor.value, NONE), wrong.dimension, wrong.size
        while number != NONE:
            op = self._document.ops[number]
            rank = len(self._shape(op) or ())
            known = [(parent, self._shape(self._document.ops[parent])) for parent in op.parents]
            having = [(parent, shape) for parent, shape in known if shape is not None and size in shape]
            if not having:
                return None if op.target in ("input", "buffer") else op
            handed_on = [parent for parent, shape in having if len(shape) == rank and shape[place] == size]
            if len(having) != 1 or len(handed_on) != 1:
                return None
            number = handed_on[0]
        return None

    def _shape(self, op: Op) -> tuple[int | str, ...] | None:
        value = self._document.values[op.outputs[0]] if op.outputs else None
        return value.meta.shape if isinstance(value, Tensor) else None

    def place_of(self, op: Op) -> tuple[str, Range] | None:
        """Where in the source an op was made."""
        if op.file == NONE or op.range is None:
            return None
        return self._document.files[op.file].uri, op.range

    def of_module(self, address: str) -> tuple[str, str, Range] | None:
        """(name as written, uri, range) of the expression that made a module: `self.head`, else its address."""
        module = next((module for module in self._document.modules if module.address == address), None)
        if module is None or module.site == NONE:
            return None
        file = self._document.files[self._document.file_of(module.site)]
        place = file.sites[module.site - file.first_site].range
        for row in file.statements:
            if row.value == module.site and len(row.targets) == 1:
                return row.targets[0].name, file.uri, place
        return address, file.uri, place
