"""The marker files' own machinery: what it accepts, what it refuses, and what it writes."""

from __future__ import annotations

import pytest

from tests.markers.markers import Fact, compare, parse, rewrite, without_markers

TEXT = """\
def forward(self, x):
    h = self.proj(x)
    #   ^ hint [2, 4]
    #   ^ op linear_1_1
    return h
    #      ^ hint@12 [2, 4]
"""
PROJ = Fact(1, 8, "hint", "[2, 4]", 20)
LABEL = Fact(1, 8, "op", "linear_1_1")
RETURNED = Fact(4, 11, "hint", "[2, 4]", 12)
FACTS = [PROJ, LABEL, RETURNED]


def problems(*facts: Fact) -> list[str]:
    return compare(parse(TEXT), facts, TEXT)


def test_a_marker_belongs_to_the_code_above_it() -> None:
    assert [(marker.fact, marker.written_at) for marker in parse(TEXT)] == [
        (Fact(1, 8, "hint", "[2, 4]"), 2),
        (Fact(1, 8, "op", "linear_1_1"), 3),
        (Fact(4, 11, "hint", "[2, 4]", 12), 5),
    ]


def test_a_marker_above_any_code_is_refused() -> None:
    with pytest.raises(ValueError, match="line 1"):
        parse("# ^ hint [2]\nx = 1\n")


def test_what_matches_is_no_problem() -> None:
    assert problems(*FACTS) == []


def test_another_hint_is_a_problem_told_once() -> None:
    other = Fact(1, 8, "hint", "[2, 8]", 20)
    assert problems(other, LABEL, RETURNED) == ["line 3: expected hint [2, 4], found hint [2, 8]"]


def test_a_missing_hint_is_a_problem() -> None:
    assert problems(LABEL, RETURNED) == ["line 3: expected hint [2, 4], found nothing"]


def test_a_surplus_hint_is_a_problem() -> None:
    surplus = Fact(0, 4, "hint", "×2", 21)
    assert problems(*FACTS, surplus) == ["line 1: no marker for hint@21 ×2 at `def forward(self, x):`"]


def test_a_surplus_label_is_none() -> None:
    assert problems(*FACTS, Fact(1, 20, "op", "relu_1_2")) == []


def test_a_column_that_is_asserted_must_hold() -> None:
    moved = Fact(4, 11, "hint", "[2, 4]", 13)
    assert problems(PROJ, LABEL, moved) == ["line 6: expected hint@12 [2, 4], found hint@13 [2, 4]"]


def test_a_label_is_looked_for_at_its_caret() -> None:
    elsewhere = Fact(1, 20, "op", "linear_1_1")
    assert problems(PROJ, elsewhere, RETURNED) == ["line 4: expected op linear_1_1, found nothing"]


def test_a_surplus_error_is_a_problem_in_every_file() -> None:
    assert problems(*FACTS, Fact(1, 8, "error", "no")) == [
        "line 2: no marker for error no at `h = self.proj(x)`",
    ]


def test_markers_are_taken_out_and_lines_found_again() -> None:
    text, numbers = without_markers(TEXT)
    assert text == "def forward(self, x):\n    h = self.proj(x)\n    return h\n"
    assert numbers == [0, 1, 4, 6]


def test_rewriting_what_holds_changes_nothing() -> None:
    assert rewrite(TEXT, FACTS) == TEXT


def test_rewriting_writes_what_was_found() -> None:
    found = [Fact(0, 4, "hint", "×2", 21), Fact(1, 4, "hint", "[2, 8]", 20), LABEL, Fact(4, 11, "hint", "[8]", 13)]
    written = rewrite(TEXT, found)
    assert (
        written
        == """\
def forward(self, x):
#   ^ hint ×2
    h = self.proj(x)
    #   ^ hint [2, 8]
    #   ^ op linear_1_1
    return h
    #      ^ hint@13 [8]
"""
    )
    moved = [Fact(f.line + (f.line > 0), f.caret, f.kind, f.text, f.column) for f in found]
    assert compare(parse(written), moved, written) == []


def test_rewriting_adds_no_label_of_an_expression_around() -> None:
    around = Fact(1, 8, "op", "add_1_2")
    assert rewrite(TEXT, [around, *FACTS]) == TEXT


def test_rewriting_writes_a_label_that_is_another_now() -> None:
    other = Fact(1, 8, "op", "linear_1_7")
    assert rewrite(TEXT, [PROJ, other, RETURNED]) == TEXT.replace("linear_1_1", "linear_1_7")
