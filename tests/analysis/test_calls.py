"""The calls of a function: names, groups that hints do not tell apart, the shown one, and finding one again."""

from __future__ import annotations

import textwrap

import pytest

from tests.analysis.builder import Program, run
from torchlens_lsp.analysis.calls import (
    call_after,
    calls_of,
    find,
    groups_of,
    key_of,
    name_of,
    place_of,
    shown_call,
)

BLOCKS = """
    def block(x, flip):
        if flip:
            x = x.half(t(4, 4))
        return x.relu(x)

    def net(shapes, flips):
        for number, (shape, flip) in enumerate(zip(shapes, flips)):
            y = under(f"blocks.{number}", block, t(*shape), flip)
        return y
    """


def blocks(shapes: list[tuple[int, ...]], flips: list[bool]) -> Program:
    """A run of `net`: one call of `block` for each shape, as module `blocks.0`, `blocks.1`, …"""
    return run(BLOCKS, f"net({shapes}, {flips})")


def function_of(program: Program, name: str) -> int:
    return [function.name for function in program.document.files[0].functions].index(name)


def names_of_groups(program: Program, name: str = "block") -> list[str]:
    return [group.name for group in groups_of(program.view(), 0, function_of(program, name))]


# --- groups ----------------------------------------------------------------------------------------------------------


def test_calls_with_equal_hints_are_one_group() -> None:
    assert names_of_groups(blocks([(8, 8)] * 6, [False] * 6)) == ["blocks.0 … blocks.5"]


def test_calls_of_another_shape_are_another_group() -> None:
    program = blocks([(8, 8)] * 3 + [(8, 4)] * 3, [False] * 6)
    assert names_of_groups(program) == ["blocks.0 … blocks.2", "blocks.3 … blocks.5"]


def test_calls_in_which_a_test_went_the_other_way_are_another_group() -> None:
    program = blocks([(4, 4)] * 4, [False, True, False, True])
    assert names_of_groups(program) == ["blocks.0, blocks.2", "blocks.1, blocks.3"]


def test_a_group_of_many_that_are_no_neighbours_names_the_first_ones() -> None:
    program = blocks([(4, 4), (4, 2)] * 5, [False] * 10)
    assert names_of_groups(program) == [
        "blocks.0, blocks.2, blocks.4 and 2 more",
        "blocks.1, blocks.3, blocks.5 and 2 more",
    ]


def test_python_values_do_not_make_a_group() -> None:
    text = """
        def scale(x, by):
            factor = by * 2
            return x.mul(x)

        def net(x):
            return [scale(x, by) for by in range(4)]
        """
    program = run(text, "net(t(2, 3))")
    assert names_of_groups(program, "scale") == ["scale, 1 … 4 of 4"]


def test_numbers_of_a_shape_that_is_taken_apart_make_a_group() -> None:
    text = """
        def sizes(shape):
            b, c = shape
            return None

        def net():
            sizes(Size([2, 3]))
            sizes(Size([2, 5]))
        """
    assert names_of_groups(run(text, "net()"), "sizes") == ["sizes, 1 of 2", "sizes, 2 of 2"]


def test_calls_with_another_number_of_turns_are_another_group() -> None:
    text = """
        def repeat(x, times):
            for _ in range(times):
                x = x.relu(x)
            return x

        def net(x):
            return under("a", repeat, x, 2), under("b", repeat, x, 3)
        """
    assert names_of_groups(run(text, "net(t(2, 3))"), "repeat") == ["a", "b"]


def test_one_call_is_one_group() -> None:
    assert names_of_groups(blocks([(8, 8)], [False])) == ["blocks.0"]
    assert names_of_groups(blocks([(8, 8)], [False]), "net") == ["net"]


def test_a_function_that_never_ran_has_no_group() -> None:
    program = run("def f(x):\n    return x\n\ndef g(x):\n    return x\n", "f(t(2))")
    assert names_of_groups(program, "g") == []


def test_groups_hold_every_call_once() -> None:
    program = blocks([(4, 4), (4, 2), (4, 4), (2, 2)], [False, True, False, True])
    groups = groups_of(program.view(), 0, function_of(program, "block"))
    assert sorted(call for group in groups for call in group.calls) == program.calls_of("block")


def test_calls_while_building_do_not_count_where_the_traced_call_came() -> None:
    text = """
        def check(x):
            return x

        ready = check(t(5, 5))

        def net(x):
            return under("a", check, x), under("b", check, x)
        """
    program = run(text, "net(t(2, 3))")
    assert list(calls_of(program.view(), 0, function_of(program, "check"))) == program.calls_of("check")


# --- names and places ------------------------------------------------------------------------------------------------


def test_a_second_pass_of_a_module_is_named() -> None:
    text = """
        def block(x):
            return x

        def net(x):
            return under("body", block, under("body", block, x))
        """
    program = run(text, "net(t(2, 3))")
    assert [name_of(program.document, call) for call in program.calls_of("block")] == ["body", "body:2"]


def test_place_of_a_call_among_those_of_its_function() -> None:
    program = blocks([(8, 8)] * 6, [False] * 6)
    assert [place_of(program.view(), call) for call in program.calls_of("block")][3] == (4, 6)


# --- the shown one, and steps ----------------------------------------------------------------------------------------


def test_the_first_call_is_shown_unless_one_is_picked() -> None:
    program = blocks([(8, 8)] * 3, [False] * 3)
    calls, block = program.calls_of("block"), function_of(program, "block")
    assert shown_call(program.view(), 0, block) == calls[0]
    assert shown_call(program.view(calls[2]), 0, block) == calls[2]


def test_in_callers_of_the_picked_call_the_one_around_it_is_shown() -> None:
    text = """
        def inner(x):
            return x

        def outer(x):
            return inner(x)

        def net(x):
            return under("a", outer, x), under("b", outer, x)
        """
    program = run(text, "net(t(2, 3))")
    view = program.view(program.calls_of("inner")[1])
    assert shown_call(view, 0, function_of(program, "outer")) == program.calls_of("outer")[1]


def test_in_callees_of_the_picked_call_the_one_below_it_is_shown() -> None:
    text = """
        def inner(x):
            return x

        def outer(x):
            return inner(x)

        def net(x):
            return under("a", outer, x), under("b", outer, x)
        """
    program = run(text, "net(t(2, 3))")
    view = program.view(program.calls_of("outer")[1])
    assert shown_call(view, 0, function_of(program, "inner")) == program.calls_of("inner")[1]


def test_next_and_previous_call() -> None:
    program = blocks([(8, 8)] * 3, [False] * 3)
    calls, block = program.calls_of("block"), function_of(program, "block")
    view = program.view(calls[1])
    assert call_after(view, 0, block, 1) == calls[2]
    assert call_after(view, 0, block, -1) == calls[0]
    assert call_after(view, 0, block, 2) is None
    assert call_after(view, 0, block, -2) is None


def test_no_step_from_a_function_that_never_ran() -> None:
    program = run("def f(x):\n    return x\n\ndef g(x):\n    return x\n", "f(t(2))")
    assert call_after(program.view(), 0, function_of(program, "g"), 1) is None


# --- another run -----------------------------------------------------------------------------------------------------


def test_a_call_is_found_again_after_an_edit() -> None:
    before = blocks([(8, 8)] * 6, [False] * 6)
    after = run("import math\n" + textwrap.dedent(BLOCKS), "net([(2, 2)] * 6, [True] * 6)")
    key = key_of(before.view().index, before.calls_of("block")[3])
    found = find(after.view().index, key)
    assert found == after.calls_of("block")[3]
    assert name_of(after.document, found) == "blocks.3"


@pytest.mark.parametrize("ordinal", [0, 1, 2])
def test_calls_under_one_module_are_told_apart_by_their_order(ordinal: int) -> None:
    text = """
        def helper(x):
            return x

        def net(x):
            return [helper(x) for _ in range(3)]
        """
    program = run(text, "net(t(2, 3))")
    index, call = program.view().index, program.calls_of("helper")[ordinal]
    assert find(index, key_of(index, call)) == call


def test_a_call_that_is_gone_is_not_found() -> None:
    before, after = blocks([(8, 8)] * 6, [False] * 6), blocks([(8, 8)] * 2, [False] * 2)
    assert find(after.view().index, key_of(before.view().index, before.calls_of("block")[5])) is None
    other = run("def other(x):\n    return x\n", "other(t(2))")
    assert find(other.view().index, key_of(before.view().index, before.calls_of("block")[0])) is None
