"""Annotated source on a page."""

from __future__ import annotations

import re

import pytest
from rich.cells import cell_len

from torchlens_lsp.cli.color import colored_rows
from torchlens_lsp.cli.layout import GAP, Placed, Row, cut, place, visible


def page(rows: list[Row], width: int | None = None) -> list[str]:
    return [row.plain() for row in place(rows, width)]


def test_the_right_column_is_aligned() -> None:
    rows = [
        Row("def f(x):", "x f32[2]"),
        Row("    return x.relu()", "[2]"),
        Row(""),
        Row("y = a_long_line_without_a_hint()"),
    ]
    assert page(rows) == [
        "  def f(x):             ┊ x f32[2]",
        "      return x.relu()   ┊ [2]",
        "",
        "  y = a_long_line_without_a_hint()",
    ]


def test_a_very_long_line_moves_no_other() -> None:
    assert page([Row("x" * 200, "[2]"), Row("y", "[3]")]) == ["  " + "x" * 200 + "   ┊ [2]", "  y   ┊ [3]"]


def test_what_did_not_run_has_a_mark_in_the_margin() -> None:
    assert page([Row("if x:", "False"), Row("    y = 1", did_run=False), Row("", did_run=False)]) == [
        "  if x:   ┊ False",
        "░     y = 1",
        "",
    ]


def test_an_error_stands_under_its_line() -> None:
    assert page([Row("f(x)", below=("~~~~", "  no"))]) == ["  f(x)\n  ~~~~\n    no"]


def test_wide_characters_take_two_columns() -> None:
    assert page([Row("x = '世界'", "[2]"), Row("x = '123'", "[2]")]) == ["  x = '世界'   ┊ [2]", "  x = '123'    ┊ [2]"]


def test_code_is_cut_and_a_hint_is_not() -> None:
    rows = [Row("a_function(with_many, arguments, and_more)", "f32[8, 64]"), Row("x = 1", "[2]"), Row("y" * 50)]
    assert [row.plain()[2:] for row in place(rows, 40)] == [
        "a_function(with_many, ar…   ┊ f32[8, 64]",
        "x = 1   ┊ [2]",
        "y" * 39 + "…",
    ]
    assert all(cell_len(row.plain()[2:]) <= 40 for row in place(rows[1:], 40))


@pytest.mark.parametrize("width", [20, 30, 60, 100, 300])
def test_nothing_is_wider_than_the_page_unless_a_hint_is(width: int) -> None:
    rows = [Row("x" * n, "[2]" if n % 2 else "") for n in range(0, 200, 7)] + [Row("世" * 90, "[3]")]
    for row in place(rows, width):
        if not row.hint or width >= 40:
            assert cell_len(row.plain()[2:]) <= width


def test_cutting_never_halves_a_wide_character() -> None:
    assert cut("世界世界", 6) == "世界…"
    assert cut("世界世界", 8) == "世界世界"
    assert cut("世界", None) == "世界"


def test_nothing_that_a_terminal_would_obey_comes_through() -> None:
    assert visible("\tx\t= '\x1b[31m\x07\x00\x9b'") == "        x       = '␛[31m␇␀�'"
    assert visible("x = 'é世🔥'") == "x = 'é世🔥'"


# --- colour ----------------------------------------------------------------------------------------------------------


def stripped(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


SOURCE = '''"""A docstring
over lines."""

async def f(x, *, y: int = 1) -> str:  # a comment
    match x:
        case [1, *_] if (z := y) > 1:
            return f"{x!r:>{y}} ` ? $"

'''


@pytest.mark.parametrize(
    "source", [SOURCE, "\n\n", "", "x = ", "'''never closed\n", "\f\nx\u2028y\n", "type X[T] = t'{x}'"]
)
@pytest.mark.parametrize("width", [None, 30])
def test_colour_changes_no_character(source: str, width: int | None) -> None:
    rows = [Row(line, "[2]" if number % 2 else "", number % 3 > 0) for number, line in enumerate(source.split("\n"))]
    placed = place(rows, width)
    plain = [row.code + (" " * row.padding + GAP + row.hint if row.hint else "") for row in placed]
    assert stripped(colored_rows(placed)).split("\n") == plain


def test_what_did_not_run_is_dim_and_an_error_is_red() -> None:
    faded, failed = colored_rows(
        [Placed("return x", "return x", 0, "", False, ()), Placed("f(x)", "f(x)", 0, "", True, ("~~~~",))]
    ).split("\n", 1)
    assert faded == "\x1b[2mreturn x\x1b[0m"
    assert failed.split("\n")[1] == "\x1b[1;31m~~~~\x1b[0m"


def test_markup_in_the_source_is_no_markup() -> None:
    assert "[bold]x[/bold] :smile:" in stripped(colored_rows(place([Row("'[bold]x[/bold] :smile:'")])))
