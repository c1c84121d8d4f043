"""Hints of a `def`: what came in, how often it ran, and which call is picked."""

from __future__ import annotations

from collections.abc import Iterator

from ...document.model import CALL, Function
from ..view import View
from .pieces import HintSettings, Piece
from .values import value_piece


def parameter_pieces(view: View, function: Function, settings: HintSettings) -> Iterator[tuple[int, Piece]]:
    """(line, piece) of each parameter that had a tensor, or a container of tensors."""
    look = view.look(dtype=settings.dtype, at_parameter=True)
    for site in function.parameters:
        known = view.index.site(site)
        piece = value_piece(view, site, look, prefix=f"{known.expr} ")
        if piece is not None:
            yield known.range.start_line, piece


def definition_piece(view: View, file: int, number: int) -> Piece | None:
    """`×16, 4 shapes`, or the picked call `layers.3, 14 of 16`; None for a function that ran once at most.

    How often a model was built says nothing about its run: only the traced call's own calls count.
    """
    calls = [call for call in view.index.calls_of(file, number) if view.phase_of(call) == CALL]
    if len(calls) < 2:
        return None
    order = max((row for call in calls[-1:] for row in view.index.rows_in(call)), default=0)
    if view.picked in calls:
        assert view.picked is not None
        name = view.document.calls[view.picked].module
        place = f"{calls.index(view.picked) + 1} of {len(calls)}"
        return Piece((f"{name}, {place}" if name else place, place), order=order)
    times = f"×{len(calls)}"
    shapes = _shapes(view, file, number, calls)
    return Piece((f"{times}, {shapes} shapes", times) if shapes > 1 else (times,), order=order)


def _shapes(view: View, file: int, number: int, calls: list[int]) -> int:
    """How many groups of calls the parameters' hints tell apart."""
    evaluations, kinds = view.document.evaluations, view.kinds
    telling = []
    for site in view.document.files[file].functions[number].parameters:
        rows = view.index.rows_of(site)
        its = {evaluations.call[row]: kinds[evaluations.value[row]] for row in rows}
        # A parameter that was sometimes left out, and otherwise always alike, tells nothing apart.
        if len({its[call] for call in calls if its.get(call)}) > 1:
            telling.append(its)
    return len({tuple(its.get(call, 0) for its in telling) for call in calls})
