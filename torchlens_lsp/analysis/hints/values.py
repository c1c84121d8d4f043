"""Pieces that tell a site's values: the shape where there is one, else the shown call's and how many more."""

from __future__ import annotations

from collections.abc import Sequence

from ...document.model import NONE
from ..view import View
from ..wording import Look
from .pieces import Piece


def value_piece(view: View, site: int, look: Look, prefix: str = "") -> Piece | None:
    """The values that a site had, None where there is nothing to say of them.

    All equal: the value alone. Otherwise the value in the shown call, then how many further ones that a hint would
    tell apart: never one shape merged of several.
    """
    rows = view.rows(site) if site != NONE else ()
    if not rows:
        return None
    evaluations, words = view.document.evaluations, view.words
    values = evaluations.value
    signatures, first = _by_signature(view, rows)
    telling = [signature for signature, row in first.items() if words.texts(values[row], look)]
    if not telling:
        return None
    if len(telling) < len(first):
        kept = set(telling)
        rows = [row for row, signature in zip(rows, signatures, strict=True) if signature in kept]
    row = view.shown_row(rows, evaluations)
    distinct = list(dict.fromkeys(words.key(values[first[signature]]) for signature in telling))
    grown = _growth(view, rows, row) if len(distinct) > 1 else ""
    if grown:
        return Piece((prefix + grown,), site=site, row=row, order=rows[-1])
    # Of an object a field is told, which belongs to the name: `out.logits [2, 10]`.
    texts = tuple(
        (prefix.strip() if text.startswith(".") else prefix) + text for text in words.texts(values[row], look)
    )
    return Piece(texts, f" +{len(distinct) - 1}" if len(distinct) > 1 else "", site=site, row=row, order=rows[-1])


def _by_signature(view: View, rows: Sequence[int]) -> tuple[list[int], dict[int, int]]:
    """Each row's signature, and the first row of each signature."""
    values, known = view.document.evaluations.value, view.index.signatures
    ids = list(map(values.__getitem__, rows))
    signatures = [known[value] if value >= 0 else NONE for value in ids]
    # The later pair of a key wins, so the first row of each is kept by going backwards; the order is then that of rows.
    first = dict(zip(reversed(signatures), reversed(rows), strict=True))
    return signatures, dict(sorted(first.items(), key=lambda item: item[1]))


def _growth(view: View, rows: Sequence[int], shown: int) -> str:
    """`(4 → 12 tensors)` of a sequence that grew from turn to turn in the shown call, or from call to call."""
    evaluations = view.document.evaluations
    call = evaluations.call[shown]
    own = [row for row in rows if evaluations.call[row] == call]
    lengths = [view.words.length(evaluations.value[row]) for row in (own if len(own) > 1 else rows)]
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths) or known != sorted(known) or known[0] == known[-1]:
        return ""
    return f"({known[0]} → {known[-1]} tensors)"


def sizes_piece(view: View, site: int) -> Piece | None:
    """The numbers of a `torch.Size` that is taken apart: `1, 32, 24`."""
    rows = view.rows(site) if site != NONE else ()
    if not rows:
        return None
    evaluations = view.document.evaluations
    _, first = _by_signature(view, rows)
    sizes = {signature: view.words.sizes(evaluations.value[row]) for signature, row in first.items()}
    if not all(sizes.values()):
        return None
    row = view.shown_row(rows, evaluations)
    shown = sizes[view.index.signature(evaluations.value[row])] or []
    further = len({tuple(found or ()) for found in sizes.values()}) - 1
    texts = (", ".join(shown), ",".join(shown))
    return Piece(texts, f" +{further}" if further else "", site=site, row=row, order=rows[-1])
