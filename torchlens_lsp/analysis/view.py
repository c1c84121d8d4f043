"""A document prepared for showing: which of a site's events are shown, and what their values are called.

The traced call is what hints tell of; what ran only while the model was built, or while the file was imported, is
told where the traced call never came. With a call picked, only what ran in it, in its callees and in its callers is
shown in their functions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from ..document.index import DocumentIndex
from ..document.model import BUILD, CALL, IMPORT, NONE, Document
from ..document.values import Tensor, TensorMeta
from .wording import Look, ValueWords, is_floating


class View:
    """One run as one user looks at it. `picked` is the index of a call, None for none."""

    def __init__(self, document: Document, *, index: DocumentIndex | None = None, picked: int | None = None) -> None:
        self.document = document
        self.index = index or DocumentIndex(document)
        self.words = ValueWords(self.index)
        self.picked = picked
        self._rows: dict[int, list[int]] = {}

    # --- which events --------------------------------------------------------------------------------------------

    def phase_of(self, call: int) -> int:
        """The phase that a call ran in; code outside of any watched function belongs to the traced call."""
        return CALL if call == NONE else self.document.calls[call].phase

    def rows(self, site: int) -> list[int]:
        """The evaluations of a site that are shown, in order."""
        found = self._rows.get(site)
        if found is None:
            found = self._rows[site] = self._shown(self.index.rows_of(site), self.document.evaluations.call)
        return found

    def branch_rows(self, site: int) -> list[int]:
        """The outcomes of a test that are shown."""
        return self._shown(self.index.branch_rows_of(site), self.document.branches.call)

    def all_branch_rows(self, site: int) -> list[int]:
        """The outcomes of a test in every call, whichever is picked."""
        return self._of_phase(self.index.branch_rows_of(site), self.document.branches.call)

    def loop_rows(self, site: int) -> list[int]:
        """The executions of a loop that are shown."""
        return self._shown(self.index.loop_rows_of(site), self.document.loops.call)

    def _shown(self, rows: Sequence[int], calls: Sequence[int]) -> list[int]:
        found = self._of_phase(rows, calls)
        focus = self.focus
        if not focus or not found:
            return found
        own = [row for row in found if calls[row] in focus]
        return own if own or self._is_in_focus(calls[found[0]]) else found

    def _of_phase(self, rows: Sequence[int], calls: Sequence[int]) -> list[int]:
        phases = [self.phase_of(calls[row]) for row in rows]
        for phase in (CALL, BUILD, IMPORT):
            if phase in phases:
                return [row for row, its in zip(rows, phases, strict=True) if its == phase]
        return []

    def _is_in_focus(self, call: int) -> bool:
        """Whether the function of `call` has any call in focus: what it did in others is then not shown."""
        if call == NONE:
            return False
        known = self.document.calls[call]
        return any(other in self.focus for other in self.index.calls_of(known.file, known.function))

    @cached_property
    def focus(self) -> set[int]:
        """The picked call with those around and below it; empty where none is picked."""
        if self.picked is None:
            return set()
        found = {self.picked, *self.index.parents_of(self.picked)}
        todo = [self.picked]
        while todo:
            below = self.index.children_of(todo.pop())
            found.update(below)
            todo.extend(below)
        return found

    @cached_property
    def failing(self) -> set[int]:
        """The calls in which the run failed, empty where it did not."""
        error = self.document.error
        if error is None or error.call == NONE:
            return set()
        return {error.call, *self.index.parents_of(error.call)}

    def shown_row(self, rows: Sequence[int], calls: Sequence[int]) -> int:
        """Of several events, the one of the picked call, else of the failing one, else the first."""
        for preferred in (self.focus, self.failing):
            for row in rows if preferred else ():
                if calls[row] in preferred:
                    return row
        return rows[0]

    def value_before(self, site: int, call: int, at: int) -> int:
        """The last value of a site in a call among the first `at` evaluations of the run; NONE if there is none."""
        rows = self.index.rows_of(site)
        position = bisect_left(rows, at) - 1
        if position < 0 or self.document.evaluations.call[rows[position]] != call:
            return NONE
        return self.document.evaluations.value[rows[position]]

    # --- what goes without saying --------------------------------------------------------------------------------

    @cached_property
    def dtype(self) -> str | None:
        """The dtype of the call's first floating input; without one, of the first floating op. None without either."""
        dtypes = [meta.dtype for targets in (_is_input, _is_op) for meta in self._metas(targets)]
        return next((dtype for dtype in dtypes if is_floating(dtype)), None)

    @cached_property
    def device(self) -> str:
        """The device of the call's first input."""
        return next((meta.device for meta in self._metas(_is_input)), "cpu")

    def _metas(self, wanted: Callable[[str], bool]) -> Iterator[TensorMeta]:
        for op in self.document.ops:
            if wanted(op.target):
                for value in map(self.document.values.__getitem__, op.outputs):
                    if isinstance(value, Tensor):
                        yield value.meta

    def look(self, *, dtype: str, at_parameter: bool = False) -> Look:
        """How tensors are written at one place, by the setting `dtype`: `always`, `changes` or `never`."""
        if dtype == "never":
            return Look(None, self.device, dtypes=False)
        silent = None if dtype == "always" or at_parameter else self.dtype
        return Look(silent, self.device)


def _is_input(target: str) -> bool:
    return target == "input"


def _is_op(target: str) -> bool:
    return target not in ("input", "buffer", "output")
