"""Where hints are crowded, those that repeat others go; those that tell anything new stay."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.builder import Program, run
from torchlens_lsp.analysis.hints.density import MOST, WINDOW, is_crowded, surplus, thinned

LINES = st.lists(st.integers(0, 4 * WINDOW), unique=True).map(sorted)


@dataclass(frozen=True)
class Label:
    line: int
    label: str


def most_in_a_window(lines: list[int]) -> int:
    return max((sum(first <= line < first + WINDOW for line in lines) for first in lines), default=0)


def kept(program: Program, labels: dict[int, str]) -> set[int]:
    """Which hints of a program are kept, by line from 1."""
    hints = [Label(line - 1, label) for line, label in sorted(labels.items())]
    return {hint.line + 1 for hint in thinned(program.view(), 0, hints)}


def with_rest(text: str, lines: int = MOST) -> tuple[Program, dict[int, str]]:
    """A program that is followed by so many assignments which all tell something new, and their hints."""
    before = len(text.rstrip("\n").split("\n"))
    rest = "".join(f"x{number} = t({number}, 2)\n" for number in range(lines))
    program = run(text.rstrip("\n") + "\n" + rest + "def net(x):\n    f(x)\n    return x\n", "net(t(2, 2))")
    return program, {before + 1 + number: f"f32[{number}, 2]" for number in range(lines)}


# --- windows ---------------------------------------------------------------------------------------------------------


@given(LINES)
def test_a_line_is_crowded_if_a_window_around_it_holds_too_many(lines: list[int]) -> None:
    assert any(is_crowded(lines, line) for line in lines) == (most_in_a_window(lines) > MOST)


@given(LINES, st.data())
def test_no_more_is_left_out_than_has_to_be(lines: list[int], data: st.DataObject) -> None:
    spare = data.draw(st.permutations(lines))
    left_out = surplus(lines, spare)
    rest = [line for line in lines if line not in left_out]
    assert most_in_a_window(rest) <= MOST
    assert all(most_in_a_window(sorted([*rest, line])) >= MOST for line in left_out)
    assert left_out == set() or most_in_a_window(lines) > MOST


@given(LINES)
def test_only_spare_lines_are_left_out(lines: list[int]) -> None:
    assert surplus(lines, lines[::3]) <= set(lines[::3])
    assert surplus(lines, []) == set()


def test_what_is_far_apart_is_not_crowded() -> None:
    lines = [*range(MOST), *range(WINDOW + MOST, WINDOW + 2 * MOST)]
    assert surplus(lines, lines) == set()


# --- what repeats others ---------------------------------------------------------------------------------------------


def test_a_result_that_was_told_above_goes_first() -> None:
    text = "def f(x):\n    y = x.up(t(2, 8))\n    if x:\n        pass\n    return y\n"
    program, rest = with_rest(text, MOST - 2)
    labels = {2: "[2, 8]", 3: "False", 5: "[2, 8]", **rest}
    assert set(labels) - kept(program, labels) == {5}


def test_a_result_that_was_told_otherwise_stays() -> None:
    text = "def f(x):\n    y = x.up(t(2, 8))\n    if x:\n        pass\n    return y\n"
    program, rest = with_rest(text)
    labels = {2: "[2, 8]", 5: "[2, 8] +1", **rest}
    assert kept(program, labels) == set(labels)


def test_a_test_goes_that_went_as_the_same_one_above() -> None:
    text = "def f(x, on=0):\n    if on > 1:\n        pass\n    if on > 1:\n        pass\n    if on > 1:\n        pass\n"
    program, rest = with_rest(text, MOST - 2)
    labels = {2: "False, on = 0", 4: "False, on = 0", 6: "False, on = 0", **rest}
    assert set(labels) - kept(program, labels) == {6}


def test_tests_of_other_functions_are_others() -> None:
    text = "def f(x, on=0):\n    if on > 1:\n        pass\ndef g(x, on=0):\n    if on > 1:\n        pass\n"
    program, rest = with_rest(text)
    labels = {2: "False, on = 0", 5: "False, on = 0", **rest}
    assert kept(program, labels) == set(labels)


def test_of_lines_that_say_the_same_one_after_the_other_the_first_stays() -> None:
    text = "def f(x):\n    a = x.l(t(2, 4))\n    b = x.l(t(2, 4))\n    c = x.l(t(2, 4))\n    return None\n"
    program, rest = with_rest(text, MOST - 1)
    labels = {2: "[2, 4]", 3: "[2, 4]", 4: "[2, 4]", **rest}
    assert set(labels) - kept(program, labels) == {3, 4}


def test_tests_while_building_go_last() -> None:
    text = "if len('ab') > 1:\n    pass\ndef f(x, on=0):\n    if on > 1:\n        pass\n"
    program, rest = with_rest(text, MOST - 1)
    labels = {1: "True, len('ab') = 2", 4: "False, on = 0", **rest}
    assert set(labels) - kept(program, labels) == {1}


def test_a_test_goes_whose_outcome_the_hints_of_its_arm_show() -> None:
    text = "def f(x, on=0):\n    if on == 0:\n        y = x.l(t(2, 4))\n    if on == 1:\n        y = x\n"
    program, rest = with_rest(text, MOST - 1)
    labels = {2: "True", 3: "[2, 4]", 4: "False", **rest}
    assert set(labels) - kept(program, labels) == {2}


def test_nothing_goes_where_there_is_room() -> None:
    text = "def f(x):\n    y = x.up(t(2, 8))\n    return y\n"
    program, rest = with_rest(text, MOST - 2)
    labels = {2: "[2, 8]", 3: "[2, 8]", **rest}
    assert kept(program, labels) == set(labels)


def test_what_tells_something_new_stays_however_crowded_it_is() -> None:
    program, rest = with_rest("def f(x):\n    return x\n", 3 * MOST)
    assert kept(program, rest) == set(rest)
