"""Pieces that tell a site's values: the shape where there is one, else the shown call's and how many more."""

from __future__ import annotations

from ...document.model import NONE
from ..view import View
from ..wording import Look
from .pieces import Piece


def value_piece(view: View, site: int, look: Look, prefix: str = "") -> Piece | None:
    """The values that a site had, None where there is nothing to say of them.

    All equal: the value alone. Otherwise the value in the shown call, then how many further ones that a hint would
    tell apart: never one shape merged of several.
    """
    rows = view.rows(site) if site != NONE else []
    if not rows:
        return None
    values, calls = view.document.evaluations.value, view.document.evaluations.call
    telling = [row for row in rows if view.words.texts(values[row], look)]
    if not telling:
        return None
    shown = values[view.shown_row(telling, calls)]
    distinct = dict.fromkeys(view.words.key(values[row]) for row in telling)
    further = len(distinct) - 1
    texts = tuple(prefix + text for text in view.words.texts(shown, look))
    return Piece(texts, f" +{further}" if further else "", _tooltip(list(distinct)), order=rows[-1])


MAX_LISTED = 8
"""Distinct values that a tooltip lists."""


def _tooltip(distinct: list[str]) -> str:
    if len(distinct) == 1:
        return distinct[0]
    listed = distinct[:MAX_LISTED]
    more = len(distinct) - len(listed)
    return "\n".join([*listed, f"and {more} more"] if more else listed)


def sizes_piece(view: View, site: int) -> Piece | None:
    """The numbers of a `torch.Size` that is taken apart: `1, 32, 24`."""
    rows = view.rows(site) if site != NONE else []
    if not rows:
        return None
    values, calls = view.document.evaluations.value, view.document.evaluations.call
    sizes = [view.words.sizes(values[row]) for row in rows]
    known = [", ".join(found) for found in sizes if found]
    if len(known) != len(rows):
        return None
    shown = known[rows.index(view.shown_row(rows, calls))]
    distinct = dict.fromkeys(known)
    further = len(distinct) - 1
    texts = (shown, shown.replace(", ", ","))
    return Piece(texts, f" +{further}" if further else "", _tooltip(list(distinct)), order=rows[-1])
