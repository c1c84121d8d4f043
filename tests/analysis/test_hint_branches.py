"""Hints of tests, beyond what the marker files show."""

from __future__ import annotations

import pytest

from tests.analysis.builder import hints, run


def hint_of(test: str, before: str = "", call: str = "net(t(2, 3))") -> str | None:
    """The hint of `if test:` in a function of `x`."""
    lines = ["def net(x):", *(f"    {line}" for line in before.split("\n") if line), f"    if {test}:", "        pass"]
    return hints("\n".join(lines) + "\n", call).get(len(lines) - 1)


@pytest.mark.parametrize(
    ("test", "hint"),
    [
        ("n == 3 == k", "True"),
        ("n == 3 == m", "False, n = 3"),
        ("n != 3", "False"),
        ("n != 4", "True, n = 3"),
        ("2 < n < 5", "True, n = 3"),
        ("not n > 2", "False, n = 3"),
        ("n is None", "False"),
        ("n in (1, 2)", "False, n = 3"),
        ("n", "True, n = 3"),
        ("n - 3", "False"),
        ("name == 'b'", "False, name = 'a'"),
        ("isinstance(n, int)", "True"),
        ("on", "True"),
        ("n > 5 or m > 3", "True, m = 4"),
        ("n > 5 and m > 3", "False, n = 3"),
        ("n > 2 and m > 3", "True"),
        ("on and off", "False (off)"),
        ("on or off", "True (on)"),
    ],
)
def test_outcome_and_what_decided(test: str, hint: str) -> None:
    assert hint_of(test, "n, m, k, name, on, off = 3, 4, 3, 'a', True, False") == hint


@pytest.mark.parametrize("test", ["__name__ == '__main__'", "TYPE_CHECKING", "not typing.TYPE_CHECKING"])
def test_how_a_file_is_loaded_is_known(test: str) -> None:
    before = "from types import SimpleNamespace\ntyping, TYPE_CHECKING = SimpleNamespace(TYPE_CHECKING=False), False"
    assert hint_of(test, before) is None


def test_what_the_budget_left_out_is_not_claimed() -> None:
    text = """
        def net(x):
            for turn in range(20):
                if turn < 2:
                    pass
        """
    program = run(text, "net(t(2))")
    assert program.hints()[4] == "True 2 of 20, turn = 0"
    test = next(row.test for row in program.document.files[0].statements if row.test is not None)
    program.document.counts[test.site] = 5000
    assert program.hints()[4] == "True 2 of the first 20, turn = 0"
