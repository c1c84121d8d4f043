"""Annotated source on a page: the right column aligned, and cut where the page has an edge. Pure functions.

Without a width nothing is cut. With one, code is cut before a hint is, and a hint never.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

GAP = "   ┊ "
CUT = "…"
FADED_MARGIN, RAN_MARGIN = "░ ", "  "
"""Stand before each line where there is no colour."""
TAB_SIZE = 8
WIDEST_ALIGNED = 88
"""Columns of code beyond which a line does not move the right column of all others."""
MIN_CODE = 20
"""Columns of code that are kept however long the hint is."""


@dataclass(frozen=True)
class Row:
    """One line of a file with what is known of it."""

    text: str
    hint: str = ""
    did_run: bool = True
    below: tuple[str, ...] = ()
    """Lines about an error that stand under it."""


@dataclass(frozen=True)
class Placed:
    """A row as it is printed."""

    whole: str
    """Its code uncut."""
    code: str
    padding: int
    """Blanks between code and gap."""
    hint: str
    did_run: bool
    below: tuple[str, ...]

    def plain(self) -> str:
        """As text without colour, the lines below included; a margin tells what did not run."""
        line = self.code + " " * self.padding + GAP + self.hint if self.hint else self.code
        margin = RAN_MARGIN if self.did_run or not line else FADED_MARGIN
        return "\n".join([(margin + line).rstrip(), *((RAN_MARGIN + text).rstrip() for text in self.below)])


def visible(text: str) -> str:
    """A line as it may go to a terminal: tabs as blanks, and no control character that the terminal would obey."""
    text = text.expandtabs(TAB_SIZE)
    if text.isprintable():
        return text
    return "".join(_picture_of(char) for char in text)


def place(rows: Sequence[Row], width: int | None = None) -> list[Placed]:
    """The rows on a page that is `width` columns wide."""
    codes = [visible(row.text).rstrip() for row in rows]
    column = _column(rows, codes, width)
    return [_placed(row, code, column, width) for row, code in zip(rows, codes, strict=True)]


def cut(text: str, width: int | None) -> str:
    """A text that is at most `width` columns wide."""
    if width is None or cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - len(CUT), 0)).rstrip() + CUT


def cell_width(text: str) -> int:
    """How many columns a text takes in a terminal."""
    return cell_len(text)


def _column(rows: Sequence[Row], codes: Sequence[str], width: int | None) -> int:
    """Where the gap begins in lines that leave room for it there."""
    hinted = [(cell_len(code), cell_len(row.hint)) for row, code in zip(rows, codes, strict=True) if row.hint]
    if not hinted:
        return 0
    widest_hint = max(hint for _, hint in hinted)
    limit = WIDEST_ALIGNED if width is None else min(WIDEST_ALIGNED, width - len(GAP) - widest_hint)
    return max((code for code, _ in hinted if code <= limit), default=0)


def _placed(row: Row, code: str, column: int, width: int | None) -> Placed:
    if not row.hint:
        return Placed(code, cut(code, width), 0, "", row.did_run, row.below)
    kept = code if width is None else cut(code, max(width - len(GAP) - cell_len(row.hint), MIN_CODE))
    return Placed(code, kept, max(column - cell_len(kept), 0), row.hint, row.did_run, row.below)


def _picture_of(char: str) -> str:
    if ord(char) < 0x20:
        return chr(0x2400 + ord(char))  # Unicode's pictures of control characters
    return "�" if 0x7F <= ord(char) < 0xA0 else char
