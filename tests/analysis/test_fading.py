"""Arms that no call took fade; arms that only raise, and what comes after a failure, do not."""

from __future__ import annotations

import textwrap

import pytest

from tests.analysis.builder import URI, run
from torchlens_lsp.analysis.fading import faded
from torchlens_lsp.document.model import Document, Range


def document_of(text: str, call: str = "f(1)") -> Document:
    return run(textwrap.dedent(text).lstrip("\n"), call).document


def faded_in(text: str, *calls: str) -> list[str]:
    """The texts that fade after these calls, each in a run of its own."""
    text = textwrap.dedent(text).lstrip("\n")
    return [_between(text, found) for found in faded([document_of(text, call) for call in calls or ["f(1)"]], URI)]


def _between(text: str, place: Range) -> str:
    lines = text.split("\n")[place.start_line : place.end_line + 1]
    lines[-1] = lines[-1][: place.end_character]
    lines[0] = lines[0][place.start_character :]
    return " / ".join(line.strip() for line in lines)


BRANCH = """
    def f(x):
        if x > 5:
            y = 1
            z = 2
        else:
            y = 3
        return y
"""


def test_an_arm_that_was_not_taken_fades_from_its_first_statement_to_its_last():
    assert faded_in(BRANCH) == ["y = 1 / z = 2"]


def test_so_does_an_else():
    assert faded_in(BRANCH, "f(9)") == ["y = 3"]


def test_an_arm_that_one_of_several_examples_took_does_not():
    assert faded_in(BRANCH, "f(1)", "f(9)") == []


def test_an_example_that_never_came_to_the_function_says_nothing_about_it():
    text = BRANCH + "\n    def g(x):\n        return x\n"
    assert faded_in(text, "f(1)", "g(1)") == ["y = 1 / z = 2"]
    assert faded_in(text, "g(1)") == []


def test_a_run_of_another_text_does_not_count():
    other = document_of(BRANCH.replace("x > 5", "x < 5"))
    assert len(faded([document_of(BRANCH), other], URI)) == 1


def test_other_files_have_nothing():
    assert faded([document_of(BRANCH)], "file:///home/user/other.py") == []
    assert faded([], URI) == []


@pytest.mark.parametrize(
    "arm",
    [
        "raise ValueError(x)",
        "assert False, 'no such mode'",
        "message = 'too large'\n            raise ValueError(message)",
        "print(x)\n            raise ValueError",
        "if x > 9:\n                raise ValueError\n            else:\n                raise TypeError",
    ],
)
def test_an_arm_that_only_raises_does_not_fade(arm: str):
    text = f"""
    def f(x):
        if x > 5:
            {arm}
        return x
    """
    assert faded_in(text) == []


def test_an_arm_that_may_raise_among_other_things_fades_whole():
    text = """
        def f(x):
            if x > 5:
                if x > 9:
                    raise ValueError
                x = 5
            return x
    """
    assert faded_in(text) == ["if x > 9: / raise ValueError / x = 5"]


def test_an_elif_fades_with_its_body_and_a_raising_else_after_it_does_not():
    text = """
        def f(x):
            if x == 1:
                y = 1
            elif x == 2:
                y = 2
            elif x == 3:
                raise KeyError
            elif x == 4:
                y = 4
            else:
                raise ValueError
            return y
    """
    assert faded_in(text) == ["elif x == 2: / y = 2", "elif x == 4: / y = 4"]


def test_an_elif_that_was_tested_keeps_its_test():
    text = """
        def f(x):
            if x == 2:
                y = 2
            elif x == 3:
                y = 3
            else:
                y = 4
            return y
    """
    assert faded_in(text) == ["y = 2", "y = 3"]


def test_the_body_of_a_loop_without_turns_and_the_else_of_one_that_was_left():
    text = """
        def f(x):
            for i in range(0):
                x = i
            while x > 5:
                x -= 1
            for i in range(2):
                break
            else:
                x = 0
            return x
    """
    assert faded_in(text) == ["x = i", "x -= 1", "x = 0"]


def test_cases_and_handlers_are_arms_of_their_own():
    text = """
        def f(x):
            match x:
                case 1:
                    y = 1
                case 2:
                    y = 2
                case _:
                    raise ValueError
            try:
                y = 3
            except KeyError:
                y = 4
            except ValueError as error:
                raise TypeError from error
            return y
    """
    assert faded_in(text) == ["y = 2", "y = 4"]


def test_what_comes_after_a_return_is_no_arm():
    text = """
        def f(x):
            if x == 1:
                return 1
                x = 2
            return x
    """
    assert faded_in(text) == []


def test_code_of_a_module_does_not_fade():
    text = """
        def f(x):
            return x
        if __name__ == "__main__":
            f(1)
    """
    assert faded_in(text) == []


def test_an_arm_on_the_line_of_its_test():
    assert faded_in("def f(x):\n    if x > 5: x = 1\n    return x\n") == ["x = 1"]


def test_nothing_fades_after_a_failure():
    """The tracer leaves out of `not_run` what the end of a run cut off; here all of it but the arm."""
    document = document_of(
        """
        def f(x):
            if x > 5:
                y = 1
            x.missing
            if x > 2:
                y = 2
            return y
        """
    )
    assert document.status == "error"
    statements = document.files[0].statements
    document.files[0].not_run = [number for number, row in enumerate(statements) if row.range.start_line == 2]
    assert faded([document], URI) == [Range(2, 8, 2, 13)]


def test_calls_that_were_not_recorded_may_have_taken_an_arm():
    """A run over its budget does not say in which functions it was."""
    with_f, over_budget = document_of(BRANCH), document_of(BRANCH)
    over_budget.calls = over_budget.calls[:1]
    over_budget.files[0].not_run = []
    assert len(faded([with_f, over_budget], URI)) == 1
    over_budget.dropped["calls"] = 1
    assert faded([with_f, over_budget], URI) == []
