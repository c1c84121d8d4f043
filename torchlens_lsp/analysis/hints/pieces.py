"""What hints are made of, and how a line's pieces are made to fit: whole things are left out, nothing is cut.

The order is DESIGN's: spaces after commas, dtypes, counts, values from the right (`, +1 more`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...document.model import NONE, Range
from ..wording import STYLES

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
    site: int = NONE
    """The site that it tells of, NONE where there is no single one."""
    row: int = NONE
    """Row of the evaluation whose value is told, NONE where it is no value."""
    order: int = 0
    """Row of the last evaluation that it tells of."""
    joint: str = STYLES[0].joint
    """What stands before it where it is not the first."""
    is_tail: bool = False
    """Whether it follows the others after a space, and stays when they go: ` ×8` at a `def`."""

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
    """The pieces as they are written, each with one text, together at most `limit` characters; [] if nothing fits.

    Before a tail, pieces on the right go before the counts do (how often a function ran and in how many shapes tells
    more than its last parameter), and how many went is told only where there is room.
    """
    tail = [piece for piece in pieces if piece.is_tail]
    others = [piece for piece in pieces if not piece.is_tail]
    limit -= sum(len(piece.texts[0]) + 1 for piece in tail) if others else 0
    found = _whole(others or tail, limit, True) or ([] if tail else _whole(others, limit, False))
    for kept in range(len(others) - 1, 0, -1):
        more = Piece((f"+{len(others) - kept} more",), order=max(piece.order for piece in others))
        left = others[:kept]
        if tail:
            found = found or _whole(left, limit, True, more, in_full=True) or _whole(left, limit, True)
        else:
            found = found or _whole(left, limit, False, more)
    if tail and others:
        found = found or _whole(others[:1], limit, False)
        return [*found, *tail]
    return found


def _whole(
    pieces: Sequence[Piece], limit: int, with_count: bool, more: Piece | None = None, *, in_full: bool = False
) -> list[Piece]:
    """All pieces in the fullest way in which they fit (`in_full`: only in the fullest there is), and `more`."""
    stages = 1 if in_full else max((len(piece.texts) for piece in pieces), default=0)
    for stage in range(stages):
        written = [replace(piece, texts=(piece.text(stage, with_count),), count="") for piece in pieces]
        if more is not None:
            written.append(more)
        if sum(len(piece.texts[0]) for piece in written) + len(joint(stage)) * (len(written) - 1) <= limit:
            return [replace(piece, joint=joint(stage)) for piece in written]
    return []


def joint(stage: int) -> str:
    """What stands between the values of a line in its `stage`-th way."""
    return STYLES[min(stage, len(STYLES) - 1)].joint
