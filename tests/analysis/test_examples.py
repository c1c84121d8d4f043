"""Examples in comments: what is one, where it stands, and what is said of a broken one."""

from __future__ import annotations

import io
import sysconfig
import tokenize
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlens_lsp.analysis import examples
from torchlens_lsp.analysis.examples import (
    DUPLICATE_NAME,
    EMPTY,
    MISSING_COLON,
    NOT_A_CALL,
    SYNTAX_ERROR,
    BrokenExample,
    fault_of_call,
    find_examples,
    has_main_block,
    name_apart,
)
from torchlens_lsp.analysis.lines import split_lines, utf16_length, utf16_offset
from torchlens_lsp.document.model import Range
from torchlens_lsp.document.request import ExampleSpec


def specs(text: str) -> list[ExampleSpec]:
    """The examples of a text in which none is broken."""
    found = find_examples(text)
    assert not any(isinstance(each, BrokenExample) for each in found), found
    return [each for each in found if isinstance(each, ExampleSpec)]


def calls(text: str) -> dict[str, str]:
    return {spec.name: spec.call for spec in specs(text)}


def broken(text: str) -> BrokenExample:
    """The one example of a text, which is broken."""
    [found] = find_examples(text)
    assert isinstance(found, BrokenExample), found
    return found


def at(text: str, where: Range | None) -> str:
    """What stands at a range within one line."""
    assert where is not None
    assert where.start_line == where.end_line
    line = split_lines(text)[where.start_line]
    return line[utf16_offset(line, where.start_character) : utf16_offset(line, where.end_character)]


# --- what is an example ----------------------------------------------------------------------------------------------


def test_a_comment_is_an_example() -> None:
    [spec] = find_examples("import torch\n\n# torchlens: Net(3)(torch.randn(2, 3))\nclass Net: ...\n", "file:///net.py")
    assert spec == ExampleSpec(
        name="default",
        call="Net(3)(torch.randn(2, 3))",
        origin="comment",
        uri="file:///net.py",
        range=Range(2, 0, 2, 38),
    )


def test_a_name_in_brackets_names_it() -> None:
    assert calls("# torchlens[train batch]: f(1)\n# torchlens[ é ] : f(2)") == {"train batch": "f(1)", "é": "f(2)"}


def test_examples_without_a_name_are_numbered() -> None:
    text = "# torchlens: f(1)\n# torchlens: f(2)\n# torchlens[x]: f(3)\n# torchlens[]: f(4)\n"
    assert calls(text) == {"default": "f(1)", "default 2": "f(2)", "x": "f(3)", "default 3": "f(4)"}


def test_a_number_never_meets_a_name_that_was_given() -> None:
    assert calls("# torchlens: f(1)\n# torchlens: f(2)\n# torchlens[default 2]: f(3)\n") == {
        "default": "f(1)",
        "default 3": "f(2)",
        "default 2": "f(3)",
    }


@pytest.mark.parametrize(
    "text", ["#torchlens:f()", "##  torchlens : f() ", "    # torchlens: f()", "x = 1  # torchlens: f()"]
)
def test_blanks_and_place_do_not_matter(text: str) -> None:
    assert calls(text) == {"default": "f()"}


@pytest.mark.parametrize(
    "text",
    [
        "# torchlens is a tool",
        "# see torchlens: f()",
        "# torchlensy: f()",
        "# torchlens (the tool) draws f()",
        's = "# torchlens: f()"',
        's = """\n# torchlens: f()\n"""',
        "s = '''a\\'''\n# torchlens: f()\n'''",
        'f"{x}# torchlens: f()"',
    ],
)
def test_what_is_no_example(text: str) -> None:
    assert find_examples(text) == []


def test_a_comment_after_the_call_is_not_part_of_what_is_wrong() -> None:
    assert calls("# torchlens: f(1)  # the usual") == {"default": "f(1)  # the usual"}


# --- continued lines -------------------------------------------------------------------------------------------------


def test_an_open_bracket_goes_on_in_the_comment_lines_below() -> None:
    text = (
        "# torchlens[t]: Net()(torch.randn(8, 3),\n"
        "#                       y=torch.zeros(8, # the labels\n"
        "#  dtype=x))\n"
        "# Not this.\n"
    )
    [spec] = specs(text)
    assert spec.call == "Net()(torch.randn(8, 3),\ny=torch.zeros(8, # the labels\ndtype=x))"
    assert spec.range == Range(0, 0, 2, 12)


def test_a_bracket_in_a_string_or_an_inner_comment_is_none() -> None:
    assert calls("# torchlens: f('(', \"[\" # (\n#   )\n# )\n") == {"default": "f('(', \"[\" # (\n)"}


def test_a_string_in_triple_quotes_goes_on() -> None:
    assert calls("# torchlens: f('''a\n# b''')\n") == {"default": "f('''a\nb''')"}


@pytest.mark.parametrize(
    "below", ["", "\n\n# )", "\nx = 1 # )", "\n# torchlens: f()", "\n# torchlens[b]: f()"], ids=repr
)
def test_what_ends_a_continued_call(below: str) -> None:
    first = find_examples("# torchlens: f(1," + below)[0]
    assert isinstance(first, BrokenExample)
    assert (first.kind, first.example.range) == (SYNTAX_ERROR, Range(0, 0, 0, 17))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=repr)
def test_ranges_count_lines_by_any_line_end(end: str) -> None:
    text = end.join(["import torch", "# 🔥", "x = 'é🔥'  # torchlens: f('🔥',", "# )", ""])
    [spec] = specs(text)
    assert spec.call == "f('🔥',\n)"
    assert spec.range == Range(2, 11, 3, 3)


def test_form_feed_and_unicode_line_separators_end_no_line() -> None:
    [spec] = specs("x = 1\f\v\u2028\u0085\n# torchlens: f('\u2028')\n")
    assert spec.range is not None
    assert spec.range.start_line == 1


# --- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "part", "message"),
    [
        (
            "# torchlens: Net()(f(1)",
            SYNTAX_ERROR,
            "(",
            "`(` is never closed: close it with `)`, or go on in the comment",
        ),
        ("# torchlens: f(🔥[1)]", SYNTAX_ERROR, ")", "`)` cannot close `[`: `]` is missing before it"),
        ("# torchlens: f())", SYNTAX_ERROR, ")", "`)` closes nothing"),
        ("# torchlens: f('a)", SYNTAX_ERROR, "'", "the string is never closed: ' is missing"),
        ("# torchlens: f('''a)", SYNTAX_ERROR, "'''", "the string is never closed: ''' is missing"),
        ("# torchlens: net(x) y", SYNTAX_ERROR, "net(x) y", "the example is no Python expression: invalid syntax"),
        ("# torchlens: see https://x.org", SYNTAX_ERROR, "see https://x.org", "the example is no Python expression"),
        ("# torchlens: x = f()", SYNTAX_ERROR, "x = f()", "the example is no Python expression"),
        ("# torchlens: Net", NOT_A_CALL, "Net", "the example calls nothing: it has to be a call, such as `Net()(t"),
        ("# torchlens: f(1) + 1", NOT_A_CALL, "f(1) + 1", "the example calls nothing"),
        ("# torchlens:", EMPTY, "# torchlens:", "there is nothing to run: write a call, such as `Net()(torch.randn("),
        ("# torchlens[a]:  ", EMPTY, "# torchlens[a]:", "there is nothing to run"),
        ("# torchlens[a] f(1)", MISSING_COLON, "# torchlens[a]", "a colon is missing: `# torchlens[a]: f(1)`"),
        ("# torchlens Net()(x)", MISSING_COLON, "# torchlens", "a colon is missing: `# torchlens: Net()(x)`"),
    ],
)
def test_a_fault_has_its_place_and_says_what_to_do(text: str, kind: str, part: str, message: str) -> None:
    found = broken(text)
    assert found.kind == kind
    assert at(text, found.range) == part
    assert found.message.startswith(message)


def test_an_unclosed_bracket_is_told_on_its_own_line() -> None:
    text = "# torchlens: f(1,\n#     g(2, [3)\n"
    assert at(text, broken(text).range) == ")"
    text = "# torchlens: f(1,\n#     g(2)\n"
    assert broken(text).range == Range(0, 14, 0, 15)


def test_a_second_example_of_a_name_is_broken() -> None:
    first, second = find_examples("# torchlens[a]: f(1)\n# torchlens[a]: f(2)\n")
    assert isinstance(first, ExampleSpec)
    assert isinstance(second, BrokenExample)
    assert (second.kind, second.range.start_line) == (DUPLICATE_NAME, 1)
    assert "another example is named `a` already" in second.message


def test_a_broken_example_keeps_its_name_and_the_others_theirs() -> None:
    found = find_examples("# torchlens: f(\n# torchlens: f(1)\n# torchlens[b]:\n")
    assert [examples.spec_of(each).name for each in found] == ["default", "default 2", "b"]


def test_names_that_are_taken_elsewhere() -> None:
    found = name_apart([ExampleSpec(name=""), ExampleSpec(name="a")], taken=["default", "a"])
    assert [examples.spec_of(each).name for each in found] == ["default 2", "a"]
    assert isinstance(found[1], BrokenExample)


def test_syntax_that_may_be_newer_than_ours_is_left_to_the_interpreter_that_runs_it() -> None:
    assert calls("""# torchlens: f(f"{d["a"]!x y}")""") == {"default": """f(f"{d["a"]!x y}")"""}
    assert fault_of_call("""f(t"{x}" """) is not None


@pytest.mark.parametrize(
    "call", ["f(\0)", "f(" + "(" * 3000 + ")" * 3000 + ")", "f(\ud800)"], ids=["null", "deep", "half"]
)
def test_what_the_parser_itself_cannot_take_is_a_fault(call: str) -> None:
    found = fault_of_call(call)
    assert found is not None
    assert found[0] == SYNTAX_ERROR


# --- files that do not parse -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "before",
    [
        "def f(:\n",
        "x = (1, [\n",
        "  indented\n badly\n",
        "s = 'never closed\n",
        "match x:\n    case $: ?\n",
        "type X[T: (int, str) = int] = t'{x}'\n",
        "\0\n",
    ],
    ids=repr,
)
@pytest.mark.parametrize("after", ["", "x = '''never closed\n", 'def f(): """\n'], ids=repr)
def test_a_half_typed_file_keeps_its_examples(before: str, after: str) -> None:
    assert calls(before + "# torchlens: f(1)\n" + after) == {"default": "f(1)"}


def test_the_comments_of_real_files_are_those_that_python_finds() -> None:
    folder = Path(sysconfig.get_path("stdlib"))
    files = [*sorted(folder.glob("*.py"))[::3], folder / "tokenize.py", folder / "doctest.py"]
    for path in files:
        with tokenize.open(path) as file:
            text = file.read()
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        want = [(token.start[0] - 1, token.string.rstrip()) for token in tokens if token.type == tokenize.COMMENT]
        found = examples._comments(text, examples._Lines(text))
        assert [(comment.line, comment.text) for comment in found] == want, path


PIECES = [
    "# torchlens: ",
    "# torchlens[a]: f(",
    "#",
    "(",
    ")",
    "[",
    "]",
    "'",
    '"',
    "'''",
    '"""',
    "\\",
    "\n",
    "\r",
    "\r\n",
    " ",
    "🔥",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join))
def test_any_text_has_examples_or_faults_at_places_that_it_has(text: str) -> None:
    lines = split_lines(text)
    found = find_examples(text)
    for each in found:
        for where in (examples.spec_of(each).range, each.range):
            assert where is not None
            assert (where.start_line, where.start_character) < (where.end_line, where.end_character)
            assert where.end_character <= utf16_length(lines[where.end_line])
    names = [examples.spec_of(each).name for each in found if isinstance(each, ExampleSpec)]
    assert len(set(names)) == len(names)
    has_main_block(text)


# --- main blocks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'if __name__ == "__main__":\n    main()\n',
        "x = 1\nif '__main__'==__name__: main()\n",
        "def f(:\nif (__name__ == '__main__') and x:\n    main()\n",
        "x = 1\rif __name__ == '__main__':\r    main()\r",
    ],
)
def test_a_main_block(text: str) -> None:
    assert has_main_block(text)


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    if __name__ == '__main__':\n        main()\n",
        '"""\nif __name__ == "__main__":\n"""\n',
        "# if __name__ == '__main__':\n",
        "iffy = __name__ == '__main__'\n",
        "if __name__ == '__mp_main__':\n    pass\n",
    ],
)
def test_no_main_block(text: str) -> None:
    assert not has_main_block(text)
