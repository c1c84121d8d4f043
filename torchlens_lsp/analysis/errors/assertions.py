"""An assertion without a message, in words: what was asserted, and the value that spoke against it."""

from __future__ import annotations

from ..hints.branches import test_piece
from ..hints.pieces import HintSettings
from ..view import View
from .facts import short
from .finding import Finding


def failed_assertion(view: View) -> Finding | None:
    """`c == 5 is False, c = 4`, of the assertion at which the run ended."""
    error = view.document.error
    if error is None or error.range is None:
        return None
    for file in view.document.files:
        for row in file.statements:
            is_here = file.uri == error.uri and row.range[:2] <= error.range[:2] and error.range[2:] <= row.range[2:]
            if row.kind != "assert" or not is_here or row.test is None:
                continue
            piece = test_piece(view, row.test, "if", HintSettings())
            expression = short(row.test.expr)
            if piece is not None and expression:
                return Finding(f"{expression} is {piece.texts[0]}")
    return None
