"""Hints of what a statement binds: assignments, augmented assignments, `with … as`.

An assignment that changes nothing anyone can see (same name, same shape as before, in every call) is quiet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, groupby

from ...document.model import Statement
from ..view import View
from ..wording import STYLES
from .pieces import HintSettings, Piece
from .values import sizes_piece, value_piece

KINDS = frozenset({"assign", "annassign", "augassign", "with"})


class Bindings:
    """Which bindings of one file repeat what their names were."""

    def __init__(self, view: View, file: int) -> None:
        self._view = view
        self._source = view.document.files[file]
        self._repeats = self._find_repeats()

    def pieces(self, row: Statement, settings: HintSettings) -> Iterator[Piece]:
        """What there is to say at a statement's last target."""
        if row.chain and settings.chains and self._is_told_by_chain(row):
            return
        if len(row.targets) > 1:
            numbers = sizes_piece(self._view, row.value)
            if numbers is not None:
                yield numbers
                return
        if all(self._repeats.get(target.site, True) for target in row.targets):
            return
        look = self._view.look(dtype=settings.dtype)
        told = [value_piece(self._view, target.site, look) for target in row.targets]
        yield from _in_short([piece for piece in told if piece is not None], settings.max_length)

    def _is_told_by_chain(self, row: Statement) -> bool:
        """Whether the chain's last line, another than the target's, says what was bound."""
        last = self._view.index.site(row.chain[-1]).range
        return bool(row.targets) and last.end_line != row.targets[-1].end[0] and row.chain[-1] == row.value

    def _find_repeats(self) -> dict[int, bool]:
        """By target site: whether each of its shown bindings is like the one before of that name in that call."""
        sites: dict[tuple[int, str], list[int]] = {}
        targets: set[tuple[int, str]] = set()
        for number, known in enumerate(self._source.sites, self._source.first_site):
            if known.kind in ("target", "parameter"):
                sites.setdefault((known.function, known.expr), []).append(number)
                if known.kind == "target":
                    targets.add((known.function, known.expr))
        repeats: dict[int, bool] = {}
        for name in targets:
            bound = sites[name]
            # What is bound in one place alone is new there in every call.
            changing = self._changing(bound) if len(bound) > 1 else set(bound)
            repeats.update((site, site not in changing) for site in bound)
        return repeats

    def _changing(self, sites: list[int]) -> set[int]:
        """Those of a name's bindings that changed its value at some time."""
        evaluations, kinds = self._view.document.evaluations, self._view.kinds
        of_sites, values, calls = evaluations.site, evaluations.value, evaluations.call
        found: set[int] = set()
        before: dict[int, int] = {}
        for row in sorted(chain.from_iterable(map(self._view.rows, sites))):
            call, kind = calls[row], kinds[values[row]]
            if before.get(call) != kind:
                found.add(of_sites[row])
                before[call] = kind
        return found


def _in_short(pieces: list[Piece], limit: int) -> list[Piece]:
    """The pieces, and where they do not fit in full, equal neighbours as one: `3×[2, 8, 64]`."""
    if len(STYLES[0].joint.join(piece.text(0, True) for piece in pieces)) <= limit:
        return pieces
    found = []
    for (texts, count), group in groupby(pieces, lambda piece: (piece.texts, piece.count)):
        alike = list(group)
        if len(alike) > 1:
            texts = tuple(f"{len(alike)}×{text}" for text in texts)
        found.append(replace(alike[0], texts=texts, count=count, order=max(piece.order for piece in alike)))
    return found
