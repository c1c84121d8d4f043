"""Hints of a `def`: what came in, how often it ran, and which call is picked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...document.model import CALL
from ..calls import name_of
from ..view import View
from .pieces import HintSettings, Piece
from .values import value_piece


def definition_pieces(view: View, file: int, number: int, settings: HintSettings) -> Iterator[tuple[int, int, Piece]]:
    """(line, character, piece) of a function: its parameters at their lines, its calls at the end of its header.

    Where parameters stand on the header's last line they tell the shapes already, so that the number of calls follows
    alone. It stays when they do not fit, as does a picked call.
    """
    line, character = view.document.files[file].functions[number].header_end
    parameters = list(_parameters(view, file, number, settings)) if settings.parameters else []
    beside = [piece for at, _, piece in parameters if at == line]
    calls = _calls(view, file, number) if settings.definitions else []
    for at, end, piece in parameters:
        yield at, character if at == line else end, piece
    if len(calls) < 2:
        return
    picked = _picked_piece(view, calls)
    if picked is not None:
        yield line, character, picked
    else:
        times = _times_piece(view, file, number, calls)
        yield line, character, replace(times, texts=times.texts[-1:]) if beside else times


def _parameters(view: View, file: int, number: int, settings: HintSettings) -> Iterator[tuple[int, int, Piece]]:
    """The parameters that had a tensor, or a container of tensors."""
    look = view.look(dtype=settings.dtype, at_parameter=True)
    for site in view.document.files[file].functions[number].parameters:
        known = view.index.site(site)
        piece = value_piece(view, site, look, prefix=f"{known.expr} ")
        if piece is not None:
            yield known.range.start_line, known.range.end_character, piece


def _calls(view: View, file: int, number: int) -> list[int]:
    """The traced call's calls of a function: how often a model was built says nothing about its run."""
    calls = view.document.calls
    return [call for call in view.index.calls_of(file, number) if calls[call].phase == CALL]


def _picked_piece(view: View, calls: Sequence[int]) -> Piece | None:
    """`layers.3, 14 of 16` where one of several calls is in focus."""
    focused = [call for call in calls if call in view.focus.calls]
    if len(focused) != 1:
        return None
    call = focused[0]
    place = f"{calls.index(call) + 1} of {len(calls)}"
    # The function's own name, which a call outside of all modules has, stands on that line.
    name = name_of(view.document, call) if view.document.calls[call].module else ""
    return Piece((f"{name}, {place}", place) if name else (place,), order=_last_row(view, call), tail=", ")


def _times_piece(view: View, file: int, number: int, calls: Sequence[int]) -> Piece:
    """`×16, 4 shapes`."""
    times, shapes = f"×{len(calls):,}", _shapes(view, file, number, calls)
    texts = (f"{times}, {shapes} shapes", times) if shapes > 1 else (times,)
    return Piece(texts, order=_last_row(view, calls[-1]), tail=" ")


def _last_row(view: View, call: int) -> int:
    rows = view.index.rows_in(call)
    return rows[-1] if rows else 0


def _shapes(view: View, file: int, number: int, calls: Sequence[int]) -> int:
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
