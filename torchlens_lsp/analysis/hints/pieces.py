"""What hints are made of, and how a line's pieces are made to fit: whole things are left out, nothing is cut.

The order is DESIGN's: spaces after commas, dtypes, counts, values from the right (`, +1 more`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...document.model import NONE
from ..wording import STYLES

MAX_LENGTH = 34
"""Characters of a hint: VS Code draws 43 a line for all servers together."""


@dataclass(frozen=True)
class Piece:
    """One part of a hint, about one thing."""

    texts: tuple[str, ...]
    """Ways to say it, the fullest first."""
    count: str = ""
    """What follows it and is left out before it: ` +3`."""
    site: int = NONE
    """The site that it tells of, NONE where there is no single one."""
    row: int = NONE
    """Row of the evaluation whose value is told, NONE where it is no value."""
    order: int = 0
    """Row of the last evaluation that it tells of."""
    tail: str = ""
    """What stands between it and the others, if it follows them and stays when they go: ` ` before `×8` at a `def`."""

    def text(self, stage: int, with_count: bool) -> str:
        """The piece in its `stage`-th way, or the shortest there is."""
        return self.texts[min(stage, len(self.texts) - 1)] + (self.count if with_count else "")


@dataclass(frozen=True)
class HintSettings:
    """Which hints are shown, and how."""

    assignments: bool = True
    """`[8, 64]` at what assignments and `with` bind."""
    parameters: bool = True
    """`x f32[8, 64]` at the parameters of functions."""
    definitions: bool = True
    """`×16, 4 shapes` at functions that ran several times."""
    tests: bool = True
    """`False, x.mean() = 0.21` at `if`, `elif` and `assert`."""
    loops: bool = True
    """`×12` at loops, and what they bind."""
    returns: bool = True
    """`[8, 10]` at `return` and `yield`."""
    chains: bool = True
    """A hint for each line of a method chain."""
    dtype: str = "changes"
    """`always`, `changes` (where it is not that of the call's first floating input) or `never`."""
    values: bool = True
    """Whether the value that decided a test is told."""
    max_length: int = MAX_LENGTH


class Written(NamedTuple):
    """A piece as it stands in a hint."""

    text: str
    """With what stands between it and the one before it."""
    piece: Piece


def fitted(pieces: Sequence[Piece], limit: int) -> list[Written]:
    """The pieces as they are written, together at most `limit` characters; [] if nothing fits.

    Before a tail, pieces on the right go before the counts do (how often a function ran and in how many shapes tells
    more than its last parameter), and how many went is told only where there is room.
    """
    others = [piece for piece in pieces if not piece.tail]
    tail = next((piece for piece in pieces if piece.tail), None)
    text = next((text for text in tail.texts if len(text) <= limit), None) if tail is not None else None
    if tail is None or text is None:
        return _without_tail(others, limit)
    found = _before_tail(others, limit - len(tail.tail) - len(text))
    return [*found, Written(tail.tail + text if found else text, tail)]


def _without_tail(pieces: Sequence[Piece], limit: int) -> list[Written]:
    found = _whole(pieces, limit, True) or _whole(pieces, limit, False)
    kept = len(pieces) - 1
    while not found and kept > 0:
        found = _whole([*pieces[:kept], _more(pieces, kept)], limit, False)
        kept -= 1
    return found


def _before_tail(pieces: Sequence[Piece], limit: int) -> list[Written]:
    found = _whole(pieces, limit, True)
    kept = len(pieces) - 1
    while not found and kept > 0:
        found = _whole([*pieces[:kept], _more(pieces, kept)], limit, True, stages=1) or _whole(
            pieces[:kept], limit, True
        )
        kept -= 1
    return found or _whole(pieces[:1], limit, False)


def _more(pieces: Sequence[Piece], kept: int) -> Piece:
    return Piece((f"+{len(pieces) - kept} more",), order=max(piece.order for piece in pieces))


def _whole(pieces: Sequence[Piece], limit: int, with_count: bool, stages: int | None = None) -> list[Written]:
    """All pieces in the fullest of their first `stages` ways in which they fit."""
    longest = max((len(piece.texts) for piece in pieces), default=0)
    for stage in range(longest if stages is None else min(stages, longest)):
        joint = STYLES[min(stage, len(STYLES) - 1)].joint
        texts = [piece.text(stage, with_count) for piece in pieces]
        if sum(map(len, texts)) + len(joint) * (len(texts) - 1) <= limit:
            return [Written((joint if at else "") + text, pieces[at]) for at, text in enumerate(texts)]
    return []
