"""What fades: arms of branches, loops and handlers that no call of any loaded example took.

Arms that only raise stay as they are: that they were not taken is the ordinary case. What comes after a failure does
not fade either, because whether it would have run is not known; documents do not count it among what did not run.
Nor does a module's own code: it is no call's, and its arms (`if __name__ == "__main__":`) are taken elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..document.model import NONE, Document, Range, Statement

_MODULE = 0
"""Index of the function that a module's own code is."""
_WITH_ARMS = frozenset({"if", "elif", "for", "while", "try", "match"})
_SIMPLE = frozenset({"assign", "annassign", "augassign", "expr", "import", "other"})
"""Kinds of statements that may prepare the exception of an arm that only raises."""

_Arm = list[int]
"""Indices of the statements of one arm, in order."""


def faded(documents: Sequence[Document], uri: str) -> list[Range]:
    """The ranges of a file that fade, in order, by the runs of `documents`.

    Documents in which the file had another text than in the first one that knows it are left out of account.
    """
    found = [(document, number) for document in documents for number, f in enumerate(document.files) if f.uri == uri]
    if not found:
        return []
    first = found[0][0].files[found[0][1]]
    same = [(document, number) for document, number in found if document.files[number].sha256 == first.sha256]
    statements = first.statements
    same = [each for each in same if len(each[0].files[each[1]].statements) == len(statements)]
    return sorted(_Fading(statements, _never_reached(same)).ranges())


def _never_reached(runs: Sequence[tuple[Document, int]]) -> set[int]:
    """Indices of the statements that some run could have reached, and none did."""
    reached: set[int] = set()
    passed_by: set[int] = set()
    for document, number in runs:
        file = document.files[number]
        entered = {call.function for call in document.calls if call.file == number}
        is_complete = not document.dropped.get("calls")
        not_run = set(file.not_run)
        for index, row in enumerate(file.statements):
            if row.parent in not_run:
                not_run.add(index)
            if index in not_run:
                passed_by.add(index)
            elif row.function in entered or not is_complete:
                reached.add(index)
    return passed_by - reached


class _Fading:
    """The arms of one file."""

    def __init__(self, statements: Sequence[Statement], never_reached: set[int]) -> None:
        self._statements = statements
        self._never_reached = never_reached
        self._blocks: dict[tuple[int, str], _Arm] = {}
        for index, row in enumerate(statements):
            self._blocks.setdefault((row.parent, row.arm), []).append(index)

    def ranges(self) -> Iterator[Range]:
        for (parent, name), block in self._blocks.items():
            # Inside of an arm that was not taken there is nothing more to tell.
            if parent == NONE or parent in self._never_reached:
                continue
            around = self._statements[parent]
            if around.kind not in _WITH_ARMS or around.function == _MODULE:
                continue
            for arm in self._arms(parent, name, block):
                if arm[0] in self._never_reached:
                    yield from self._arm(arm)

    def _arms(self, parent: int, name: str, block: _Arm) -> list[_Arm]:
        """The arms of a block: the cases of a `match` and the handlers of a `try` stand in one block.

        Their headers are no statements, but take a line of their own.
        """
        if name != "except" and self._statements[parent].kind != "match":
            return [block]
        arms = [[block[0]]]
        for before, index in pairwise(block):
            if self._statements[index].range.start_line > self._statements[before].range.end_line + 1:
                arms.append([])
            arms[-1].append(index)
        return arms

    def _arm(self, arm: _Arm) -> Iterator[Range]:
        first = self._statements[arm[0]]
        if first.kind == "elif":
            yield from self._elif(arm[0])
        elif not self._only_raises(arm):
            yield Range(*first.range[:2], *self._statements[arm[-1]].range[2:])

    def _elif(self, index: int) -> Iterator[Range]:
        """An `elif` fades with its body; the arms after it are their own."""
        body, otherwise = self._blocks.get((index, "body"), []), self._blocks.get((index, "else"), [])
        if body and not self._only_raises(body):
            yield Range(*self._statements[index].range[:2], *self._statements[body[-1]].range[2:])
        if otherwise:
            yield from self._arm(otherwise)

    def _only_raises(self, arm: _Arm) -> bool:
        """Whether an arm does nothing but to raise, or to prepare what it raises."""
        *before, last = arm
        return self._raises(last) and all(self._statements[index].kind in _SIMPLE for index in before)

    def _raises(self, index: int) -> bool:
        row = self._statements[index]
        if row.kind in ("if", "elif"):
            arms = [self._blocks.get((index, name)) for name in ("body", "else")]
            return all(arm is not None and self._only_raises(arm) for arm in arms)
        # An assertion of a constant, `assert False`, has no test that is recorded.
        return row.kind == "raise" or (row.kind == "assert" and row.test is None)
