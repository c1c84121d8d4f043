"""Where a value is set, in every form of TOML."""

from __future__ import annotations

import pytest

from torchlens_lsp.document.model import Range
from torchlens_lsp.server.toml import Key, Toml, TomlError

TEXT = """\
# A comment
title = "é🔥"   # and one here

[tool.other]
timeout = 1
list = [
  1, 2,

  3]

[tool.mine]
  timeout = 5
text = '''
[tool.mine]
call = 3
'''
"quoted key".inner = 7
inline = { a = 1, b = [
  { c = 2 } ] }
[[tool.mine.examples]]
call = "f()"
[[ tool . "mine" . examples ]]
file = "x"
call = "g()"
[tool.mine.env]
A = "b"
"""


@pytest.mark.parametrize("is_focused", [False, True])
@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("tool", "mine", "timeout"), 11),
        (("tool", "mine", "text"), 12),
        (("tool", "mine", "quoted key", "inner"), 16),
        (("tool", "mine", "inline", "b", 0, "c"), 17),
        (("tool", "mine", "examples"), 19),
        (("tool", "mine", "examples", 0), 19),
        (("tool", "mine", "examples", 0, "call"), 20),
        (("tool", "mine", "examples", 1), 21),
        (("tool", "mine", "examples", 1, "call"), 23),
        (("tool", "mine", "env", "A"), 25),
        (("tool", "mine", "examples", 1, "absent"), 21),
        (("tool", "mine", "absent", "deeper"), 10),
    ],
    ids=str,
)
def test_the_statement_that_sets_a_value(path: tuple[Key, ...], line: int, is_focused: bool) -> None:
    toml = Toml(TEXT)
    if is_focused:
        toml.focus("tool", "mine")
    assert toml.locate(*path).start_line == line


def test_a_range_is_the_line_without_the_blanks_around_it() -> None:
    assert Toml(TEXT).locate("tool", "mine", "timeout") == Range(11, 2, 11, 13)
    assert Toml(TEXT).locate("title") == Range(1, 0, 1, 30)


def test_carriage_returns_before_line_feeds_are_no_part_of_a_line() -> None:
    assert Toml("a = 1\r\nb = 2\r\n").locate("b") == Range(1, 0, 1, 5)


def test_a_table_without_headers_of_its_own_is_found_as_well() -> None:
    toml = Toml("x = 1\n[tool]\nmine.timeout = 3\n[[tool.mine2.examples]]\n")
    toml.focus("tool", "mine")
    assert toml.locate("tool", "mine", "timeout").start_line == 2


def test_what_is_nowhere_is_at_the_beginning() -> None:
    assert Toml("\n\nx = 1").locate("y") == Range(0, 0, 0, 0)
    assert Toml("").locate("y") == Range(0, 0, 0, 0)


@pytest.mark.parametrize(
    ("text", "line", "character"),
    [("a = 1\nb = ?\n", 1, 4), ("a = 1\n[b", 1, 0), ("a = 1\na = 2\n", 1, None), ('é🔥 = 1\n"🔥" = ?', 0, 0)],
)
def test_what_is_no_toml_says_where(text: str, line: int, character: int | None) -> None:
    with pytest.raises(TomlError) as caught:
        Toml(text)
    assert caught.value.range.start_line == line
    assert character is None or caught.value.range.start_character == character
    assert "line" not in f"{caught.value}"


def test_get() -> None:
    toml = Toml(TEXT)
    assert toml.get("tool", "mine", "timeout") == 5
    assert toml.get("tool", "mine", "examples", 1, "file") == "x"
    assert toml.get("tool", "mine", "examples", 2, "file") is None
    assert toml.get("title", "deeper") is None
