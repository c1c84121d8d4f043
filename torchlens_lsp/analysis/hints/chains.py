"""Hints of method chains that are spread over several lines: each line has its own."""

from __future__ import annotations

from collections.abc import Iterator

from ...document.model import Statement
from ..view import View
from ..wording import Look
from .pieces import Piece
from .values import value_piece


def chain_pieces(view: View, row: Statement, look: Look) -> Iterator[tuple[int, Piece]]:
    """(site, piece) of each line's last link."""
    for site in row.chain:
        piece = value_piece(view, site, look)
        if piece is not None:
            yield site, piece
