"""Hints of tests: which way they went, which operand decided, and its value where the outcome does not imply it."""

from __future__ import annotations

import re
from bisect import bisect_left

from ...document.model import NONE, Test
from ..view import View
from .pieces import HintSettings, Piece

KINDS = frozenset({"if", "elif", "assert"})

_ON_LOADING = re.compile(r"\b(__name__|TYPE_CHECKING)\b")
"""Names whose tests go as everybody knows: they ask how the file is loaded."""
MAX_EXPRESSION = 22
"""Characters of an expression that is worth naming in a hint."""


def test_piece(view: View, test: Test | None, kind: str, settings: HintSettings) -> Piece | None:
    """What there is to say of a test; None where it never came to it, or is an assertion that says nothing new."""
    if test is None or test.site == NONE or _ON_LOADING.search(test.expr):
        return None
    rows = view.branch_rows(test.site)
    if not rows:
        return None
    outcomes = view.document.branches.outcome
    trues = sum(map(outcomes.__getitem__, rows))
    if _is_cut_off(view, test.site):
        text = f"True {trues} of the first {len(rows)}"
    else:
        text = "False" if trues == 0 else "True" if trues == len(rows) else f"True {trues} of {len(rows)}"
    if view.focus.calls:
        everywhere = view.all_branch_rows(test.site)
        total = sum(map(outcomes.__getitem__, everywhere))
        if 0 < total < len(everywhere) and len(rows) < len(everywhere):
            text += f" (True {total} of {len(everywhere)})"
    telling = [row for row in rows if outcomes[row]] if 0 < trues < len(rows) else rows
    shown = view.shown_row(telling, view.document.branches)
    why = _why(view, test, bool(outcomes[shown]), shown) if settings.values else ""
    if kind == "assert" and trues == len(rows) and " = " not in why:
        return None
    order = max(view.document.branches.at[rows[-1]] - 1, 0)
    return Piece((text + why, text) if why else (text,), site=test.site, order=order)


def _is_cut_off(view: View, site: int) -> bool:
    """Whether the budget of the run left out outcomes of a test."""
    counts = view.document.counts
    return site < len(counts) and counts[site] > len(view.index.branch_rows_of(site))


def _why(view: View, test: Test, outcome: bool, row: int) -> str:
    """`, x = 3` or ` (operand)` to follow the outcome; empty where there is nothing to add."""
    decided, outcome = _deciding(view, test, outcome, row)
    value = _value(view, decided, outcome, row)
    if value:
        return f", {value}"
    if decided is not test and _is_short(decided.expr):
        return f" ({decided.expr})"
    return ""


def _deciding(view: View, test: Test, outcome: bool, row: int) -> tuple[Test, bool]:
    """The operand that settled a boolean operation with its own outcome, or the test itself where all had to agree."""
    if test.op == "not" and isinstance(test.operands[0], Test):
        found = _deciding(view, test.operands[0], not outcome, row)
        return (test, outcome) if found[0] is test.operands[0] else found
    settles = {"and": False, "or": True}.get(test.op)
    if settles is None or outcome != settles:
        return test, outcome
    for operand in test.operands:
        if isinstance(operand, Test) and operand.site != NONE:
            last = _last_before(view, operand.site, row)
            if last == settles:
                return _deciding(view, operand, settles, row)
    return test, outcome


def _last_before(view: View, site: int, row: int) -> bool | None:
    """The last outcome of an operand before outcome `row` of the whole, in the same call."""
    branches, rows = view.document.branches, view.index.branch_rows_of(site)
    for position in range(bisect_left(rows, row) - 1, -1, -1):
        if branches.call[rows[position]] == branches.call[row]:
            return bool(branches.outcome[rows[position]])
    return None


def _value(view: View, test: Test, outcome: bool, row: int) -> str:
    """`x.mean() = 0.21`: the value that decided, unless the outcome says it already."""
    if test.op == "truth":
        # True of a bool is all there is to it, and what is false is zero, empty or None.
        return _said(view, test.value, row) if outcome and test.value != NONE else ""
    if test.op == "not" and isinstance(test.operands[0], Test):
        return _value(view, test.operands[0], not outcome, row)
    if test.op in ("and", "or", "not", "is", "is not"):
        return ""
    if (set(test.op.split()) == {"=="} and outcome) or (test.op == "!=" and not outcome):
        return ""
    constants = [operand for operand in test.operands if isinstance(operand, str)]
    against = _constant(constants[0]) if len(constants) == 1 else None
    for operand in test.operands:
        if isinstance(operand, int):
            said = _said(view, operand, row, against)
            if said:
                return said
    return ""


def _said(view: View, site: int, row: int, against: float | None = None) -> str:
    branches, known = view.document.branches, view.index.site(site)
    expr = known.expr.partition(":=")[0].strip() if known.kind == "walrus" else known.expr
    value = view.value_before(site, branches.call[row], branches.at[row])
    if value == NONE or view.words.is_bool(value) or not _is_short(expr):
        return ""
    text = view.words.scalar(value, against)
    return f"{expr} = {text}" if text and text != "None" else ""


def _constant(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _is_short(expr: str) -> bool:
    return len(expr) <= MAX_EXPRESSION and "\n" not in expr and "\r" not in expr
