"""What hints are made of, and how a line's pieces are made to fit: whole things are left out, nothing is cut.

The order is DESIGN's: spaces after commas, dtypes, counts, values from the right (`, +1 more`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...document.model import Range

MAX_LENGTH = 34
"""Characters of a hint: VS Code draws 43 a line for all servers together."""


@dataclass(frozen=True)
class Piece:
    """One part of a hint, with a tooltip and a link of its own."""

    texts: tuple[str, ...]
    """Ways to say it, the fullest first."""
    count: str = ""
    """What follows it and is left out before it: ` +3`, ` ×8`."""
    tooltip: str = ""
    link: tuple[str, Range] | None = None
    order: int = 0
    """Row of the last evaluation that it tells of."""

    def text(self, stage: int, with_count: bool = True) -> str:
        """The piece in its `stage`-th way, or the shortest there is."""
        return self.texts[min(stage, len(self.texts) - 1)] + (self.count if with_count else "")


@dataclass(frozen=True)
class HintSettings:
    """Which hints are shown, and how."""

    assignments: bool = True
    parameters: bool = True
    definitions: bool = True
    tests: bool = True
    loops: bool = True
    returns: bool = True
    chains: bool = True
    dtype: str = "changes"
    """`always`, `changes` (where it is not that of the call's first floating input) or `never`."""
    values: bool = True
    """Whether the value that decided a test is told."""
    max_length: int = MAX_LENGTH


def fitted(pieces: Sequence[Piece], limit: int) -> list[Piece]:
    """The pieces as they are written, each with one text, together at most `limit` characters; [] if nothing fits."""
    if not pieces:
        return []
    stages = range(max(len(piece.texts) for piece in pieces))
    for with_count in (True, False):
        for stage in stages:
            written = [piece.text(stage, with_count) for piece in pieces]
            if _length(written) <= limit:
                return [replace(piece, texts=(text,), count="") for piece, text in zip(pieces, written, strict=True)]
    for kept in range(len(pieces) - 1, 0, -1):
        more = f"+{len(pieces) - kept} more"
        for stage in stages:
            written = [piece.text(stage, False) for piece in pieces[:kept]]
            if _length([*written, more]) <= limit:
                shown = [replace(p, texts=(text,), count="") for p, text in zip(pieces, written, strict=False)]
                return [*shown, Piece((more,), order=max(piece.order for piece in pieces))]
    return []


SEPARATOR = ", "


def _length(texts: Sequence[str]) -> int:
    return len(SEPARATOR.join(texts))
