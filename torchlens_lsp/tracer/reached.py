"""Which statements never ran in code that ran."""

from __future__ import annotations

from collections.abc import Iterable

from ..document.model import NONE, SourceFile, Statement


def not_run(
    file: SourceFile, marked: list[bool], marks: bytearray, entered: Iterable[int], cut_off: dict[int, int]
) -> list[int]:
    """Indices of the outermost statements that were never reached although their function ran.

    `entered` are the functions of this file that were called. `cut_off` maps a function in which the run ended early
    to the statement it ended in: what comes after that one, and all of a loop around it, might have run.
    """
    ran = set(entered)
    found: list[int] = []
    skipped: set[int] = set()
    for index, row in enumerate(file.statements):
        if row.parent in skipped:
            skipped.add(index)
            continue
        if not marked[index] or marks[index] or row.function not in ran:
            continue
        skipped.add(index)
        last = cut_off.get(row.function, NONE)
        if last == NONE or not _could_still_run(file.statements, index, last):
            found.append(index)
    return found


def _could_still_run(statements: list[Statement], index: int, last: int) -> bool:
    """Whether `index` could have come after the run ended in statement `last` of the same function."""
    if statements[index].range > statements[last].range and not _in_other_arm(statements, index, last):
        return True
    around = _ancestors(statements, last)
    loops = {a for a in around if statements[a].kind in ("for", "while")}
    return any(a in loops for a in _ancestors(statements, index))


def _in_other_arm(statements: list[Statement], index: int, last: int) -> bool:
    """Whether the two stand in different arms of one `if`, so that the one rules the other out."""
    arms = dict(_arms(statements, last))
    return any(
        a in arms and arms[a] != arm and statements[a].kind in ("if", "elif") for a, arm in _arms(statements, index)
    )


def _arms(statements: list[Statement], index: int) -> Iterable[tuple[int, str]]:
    while index != NONE:
        row = statements[index]
        yield row.parent, row.arm
        index = row.parent


def _ancestors(statements: list[Statement], index: int) -> list[int]:
    found = []
    while index != NONE:
        found.append(index)
        index = statements[index].parent
    return found
