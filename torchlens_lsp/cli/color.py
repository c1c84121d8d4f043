"""Colour, by rich: source highlighted, hints apart from it, dim for what did not run."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.console import Console
from rich.style import Style
from rich.syntax import ANSI_DARK, ANSISyntaxTheme, Syntax, SyntaxTheme
from rich.text import Text

from .layout import CUT, GAP, Placed

HINT, EDGE, DIM, ERROR = "cyan", "bright_black", "dim", "bold red"
COMMENT = Style(color="green")
HEADLINES = 2
"""Lines under an error that stand out: the marks, and what happened in one line."""
UNLIMITED = 1_000_000
"""Columns of a console that wraps nothing: lines are cut already, or are not to be."""


def colored_rows(rows: Sequence[Placed]) -> str:
    """Placed rows as text with escape sequences."""
    codes = _highlighted([row.whole for row in rows])
    return "\n".join(_rendered(line) for row, code in zip(rows, codes, strict=True) for line in _lines(row, code))


def colored(text: str, style: str) -> str:
    """A text in one style."""
    return _rendered(Text(text, style))


def _lines(row: Placed, code: Text) -> list[Text]:
    if row.code != row.whole:
        code = code[: len(row.code) - len(CUT)]
        code.append(CUT, EDGE)
    if not row.did_run:
        code = Text(code.plain, DIM)
    if row.hint:
        code = Text.assemble(code, (" " * row.padding + GAP, EDGE), (row.hint, HINT))
    return [code, *(Text(line, ERROR if number < HEADLINES else "red") for number, line in enumerate(row.below))]


def _highlighted(codes: Sequence[str]) -> list[Text]:
    """Each line in the styles of its syntax, which depends on the lines around it."""
    lines = list(Syntax("", "python", theme=_theme()).highlight("\n".join(codes)).split("\n", allow_blank=True))
    lines = lines[: len(codes)]
    return lines if [line.plain for line in lines] == list(codes) else [Text(code) for code in codes]


def _theme() -> SyntaxTheme:
    """The terminal's own colours: no dimming, which tells what did not run, and no underlining."""
    styles = {token: Style(color=style.color, bold=style.bold) for token, style in ANSI_DARK.items()}
    # What the highlighter does not know is newer syntax than its own, and no error.
    changed = {"Token.Error": Style.null(), "Token.Comment": COMMENT, "Token.Comment.Preproc": COMMENT}
    return ANSISyntaxTheme({token: changed.get(str(token), style) for token, style in styles.items()})


def _rendered(text: Text) -> str:
    with _CONSOLE.capture() as capture:
        _CONSOLE.print(text, soft_wrap=True, end="")
    return capture.get()


_CONSOLE = Console(
    force_terminal=True,
    width=UNLIMITED,
    highlight=False,
    markup=False,
    emoji=False,
    color_system="truecolor" if os.environ.get("COLORTERM") in ("truecolor", "24bit") else "standard",
)
