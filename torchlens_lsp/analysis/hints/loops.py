"""Hints of loops: how often they turned."""

from __future__ import annotations

from ..view import View
from .pieces import Piece


def loop_piece(view: View, site: int) -> Piece | None:
    """`×12`; where its executions differ, the shown one and how many further numbers of turns there were."""
    rows = view.loop_rows(site)
    if not rows:
        return None
    loops = view.document.loops
    shown = loops.iterations[view.shown_row(rows, loops)]
    further = len(set(map(loops.iterations.__getitem__, rows))) - 1
    order = max(loops.at[rows[-1]] - 1, 0)
    return Piece((f"×{shown:,}",), f" +{further}" if further else "", site=site, order=order)
