"""A document prepared for showing: which of a site's events are shown, and what their values are called.

The traced call is what hints tell of; what ran only while the model was built, or while the file was imported, is
told where the traced call never came. With a call picked, only what ran in it, in its callees and in its callers is
shown in their functions. A call that failed is picked by itself.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from ..document.index import DocumentIndex
from ..document.model import BUILD, CALL, IMPORT, NONE, Branches, Document, Evaluations, Loops
from ..document.values import Tensor, TensorMeta
from .focus import Focus
from .wording import Look, ValueWords, is_floating

Events = Evaluations | Branches | Loops


class View:
    """One run as one user looks at it. `picked` is the index of a call; without one, the call that failed is picked."""

    def __init__(self, document: Document, *, index: DocumentIndex | None = None, picked: int | None = None) -> None:
        self.document = document
        self.index = index or DocumentIndex(document)
        self.words = ValueWords(self.index)
        error = document.error
        if picked is None and error is not None and error.call != NONE:
            picked = error.call
        self.picked = picked
        self.focus = Focus(self.index, picked)
        self._rows: dict[int, Sequence[int]] = {}

    # --- which events --------------------------------------------------------------------------------------------

    def phase_of(self, call: int) -> int:
        """The phase that a call ran in; code outside of any watched function belongs to the traced call."""
        return CALL if call == NONE else self.document.calls[call].phase

    def rows(self, site: int) -> Sequence[int]:
        """The evaluations of a site that are shown, in order."""
        found = self._rows.get(site)
        if found is None:
            evaluations = self.document.evaluations
            traced = self._of_phase(self.index.rows_of(site), evaluations, self._first_evaluation)
            found = self._rows[site] = self._in_focus(traced, site, evaluations)
        return found

    def branch_rows(self, site: int) -> Sequence[int]:
        """The outcomes of a test that are shown."""
        return self._in_focus(self.all_branch_rows(site), site, self.document.branches)

    def all_branch_rows(self, site: int) -> Sequence[int]:
        """The outcomes of a test in every call, whichever is picked."""
        return self._of_phase(self.index.branch_rows_of(site), self.document.branches, self._first_branch)

    def loop_rows(self, site: int) -> Sequence[int]:
        """The executions of a loop that are shown."""
        loops = self.document.loops
        return self._in_focus(self._of_phase(self.index.loop_rows_of(site), loops, self._first_loop), site, loops)

    def _of_phase(self, rows: Sequence[int], events: Events, first: int) -> Sequence[int]:
        """Those of the traced call, which begins at event `first`; without any, those of build, else of import."""
        begin = bisect_left(rows, first)
        if begin == 0:
            return rows
        if begin < len(rows):
            return rows[begin:]
        phases = [self.phase_of(events.call[row]) for row in rows]
        for phase in (CALL, BUILD, IMPORT):
            if phase in phases:
                return [row for row, its in zip(rows, phases, strict=True) if its == phase]
        return rows

    def _in_focus(self, rows: Sequence[int], site: int, events: Events) -> Sequence[int]:
        focus = self.focus
        if not rows or not focus.calls:
            return rows
        if (self.index.file_index(site), self.index.site(site).function) not in focus.functions:
            return rows
        return [row for row in rows if events.call[row] in focus.calls]

    @cached_property
    def _first_traced_call(self) -> int | None:
        return next((number for number, call in enumerate(self.document.calls) if call.phase == CALL), None)

    @cached_property
    def _first_evaluation(self) -> int:
        return self._first(self.document.evaluations)

    @cached_property
    def _first_branch(self) -> int:
        return self._first(self.document.branches)

    @cached_property
    def _first_loop(self) -> int:
        return self._first(self.document.loops)

    def _first(self, events: Events) -> int:
        """The first event of the traced call: phases follow one another, and calls are numbered as they begin."""
        first = self._first_traced_call
        if first is None:
            return len(events)
        return next((row for row, call in enumerate(events.call) if call >= first), len(events))

    def shown_row(self, rows: Sequence[int], events: Events) -> int:
        """Of several events of a site, the one that is shown: the picked call's, else the first.

        In a loop around what is picked it is that of the turn in which it ran: of what stands before it the last
        event until then, of the rest the first from then on.
        """
        row = rows[0]
        moment = self.focus.moment(events.call[row]) if self.focus.calls and events.call[row] != NONE else None
        if moment is None:
            return row
        place = self.index.site(events.site[row]).range[:2]
        if not moment.loop[:2] <= place < moment.loop[2:]:
            return row
        at = range(len(events)) if isinstance(events, Evaluations) else events.at
        until = [row for row in rows if at[row] < moment.row]
        after = rows[len(until)] if len(until) < len(rows) else rows[-1]
        return until[-1] if until and place < moment.statement else after

    def value_before(self, site: int, call: int, at: int) -> int:
        """The last value of a site in a call among the first `at` evaluations of the run; NONE if there is none."""
        rows = self.index.rows_of(site)
        position = bisect_left(rows, at) - 1
        if position < 0 or self.document.evaluations.call[rows[position]] != call:
            return NONE
        return self.document.evaluations.value[rows[position]]

    @cached_property
    def kinds(self) -> Sequence[int]:
        """By value id, a number that two values share if no hint tells them apart; 0 where there is nothing to say.

        The last number is that of NONE.
        """
        signatures = self.index.signatures
        one_of = dict(zip(signatures, range(len(signatures)), strict=True))
        by_key: dict[str, int] = {"": 0}
        kinds = {sig: by_key.setdefault(self.words.key(value), len(by_key)) for sig, value in one_of.items()}
        return array("i", [*map(kinds.__getitem__, signatures), 0])

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
