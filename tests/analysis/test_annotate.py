"""Source lines with what happened: hints, what ran, the error's picture, the example's own line."""

from __future__ import annotations

import textwrap

import pytest

from tests.analysis.builder import URI, Program, run
from torchlens_lsp.analysis.annotate import AnnotatedLine, ErrorNote, annotate
from torchlens_lsp.analysis.hints import HintSettings
from torchlens_lsp.document.model import Frame, Range, RunError

EXAMPLE = Range(0, 0, 0, 20)


def lines_of(program: Program) -> list[AnnotatedLine]:
    return annotate(program.view(), 0, program.text)


def marks(program: Program) -> str:
    """For each line what is known of its having run: `+` it did, `-` it did not, `.` nothing."""
    return "".join({True: "+", False: "-", None: "."}[line.ran] for line in lines_of(program))


def program_of(text: str, call: str) -> Program:
    return run(textwrap.dedent(text).lstrip("\n"), call)


def test_each_line_has_its_number_its_text_and_its_hint():
    program = program_of("def f(x):\n    return x.relu(t(2, 8))\n", "f(t(3, 4))")
    assert lines_of(program) == [
        AnnotatedLine(1, "def f(x):", "x f32[3, 4]", True, None),
        AnnotatedLine(2, "    return x.relu(t(2, 8))", "f32[2, 8]", True, None),
        AnnotatedLine(3, "", "", None, None),
    ]


def test_settings_go_through_to_the_hints():
    program = program_of("def f(x):\n    return x\n", "f(t(3, 4))")
    silent = annotate(program.view(), 0, program.text, HintSettings(parameters=False))
    assert silent[0].hint == ""


def test_lines_end_as_python_and_lsp_have_it():
    program = run("def f(x):\r    y = '\x0c\u2028'\r\n    return x\n", "f(t(3))")
    assert [line.text for line in lines_of(program)] == ["def f(x):", "    y = '\x0c\u2028'", "    return x", ""]


def test_what_did_not_run_in_code_that_ran():
    program = program_of(
        """
        def f(x):
            # a comment
            if x.missing == 1:
                y = (1,
                     2)

                z = 2
            else:
                z = 3
            return z

        def never(x):
            return x
        """,
        "f(t(3))",
    )
    assert marks(program) == "+.+--.-+++.+.."


def test_a_line_that_ran_in_part_ran():
    program = program_of("def f(x):\n    if x > 5: y = 1\n    if x > 5:\n        y = 1; z = 2  # two\n", "f(1)")
    assert marks(program) == "+++-."


def test_after_a_failure_nothing_is_known():
    program = program_of("def f(x):\n    y = 1\n    z = x @ x\n    z = 2\n    return z\n", "f(t(3, 4))")
    assert marks(program) == "+++..."


def test_what_ran_before_the_loop_came_to_the_failure_ran():
    program = program_of(
        """
        def f(x):
            for n in range(2):
                if n == 1:
                    x = x @ t(9, 9)
                y = x.relu(x)
            z = 1
        """,
        "f(t(3, 4))",
    )
    assert marks(program) == "+++++.."


def test_an_error_stands_under_the_failing_text():
    program = program_of("def f(x):\n    return x @ x\n", "f(t(3, 4))")
    failing = lines_of(program)[1]
    assert failing.hint == ""
    assert failing.error is not None
    assert failing.text[failing.error.start : failing.error.end] == "return x @ x"
    assert failing.error.lines[0].startswith("RuntimeError: mat1 and mat2 shapes cannot be multiplied")
    assert [line.number for line in lines_of(program) if line.error] == [2]


def with_error(text: str, error: RunError) -> list[AnnotatedLine]:
    program = run(text)
    program.document.status, program.document.error = "error", error
    return lines_of(program)


def test_columns_of_an_error_count_code_points():
    text = "def f():\n    a = '𝕏'; b = 1 / 0\n"
    error = RunError("import", "ZeroDivisionError", "division by zero", URI, Range(1, 18, 1, 23))
    assert text.split("\n")[1][17:22] == "1 / 0"
    assert with_error(text, error)[1].error == ErrorNote(17, 22, ("ZeroDivisionError: division by zero",))


def test_an_error_over_several_lines_stands_under_the_last_of_them():
    text = "a = max(\n    1,\n    2)\n"
    found = with_error(text, RunError("import", "TypeError", "no", URI, Range(0, 4, 2, 6)))
    assert [line.error for line in found] == [None, None, ErrorNote(4, 6, ("TypeError: no",)), None]


def test_the_message_is_followed_by_what_led_to_it():
    text = "def g():\n    raise ValueError('a\\nb')\ng\n"
    error = RunError("import", "ValueError", "a\nb", URI, Range(1, 4, 1, 28))
    error.stack = [Frame(URI, Range(2, 0, 2, 3), "<module>"), Frame(URI, Range(1, 4, 1, 28), "g")]
    note = with_error(text, error)[1].error
    assert note is not None
    assert note.lines == ("ValueError: a", "b", "  called from the module (line 3)")


def test_what_is_in_another_file_is_told_with_its_name():
    program = run("def f():\n    pass\nf()\n")
    other = "file:///home/user/train.py"
    error = RunError("import", "ValueError", "no", URI, Range(1, 4, 1, 8))
    error.stack = [Frame(other, Range(51, 0, 51, 3), "train_step"), Frame(URI, Range(1, 4, 1, 8), "f")]
    program.document.status, program.document.error = "error", error
    program.document.files.append(type(program.document.files[0])(other, "", first_site=10_000))
    note = lines_of(program)[1].error
    assert note is not None
    assert note.lines[-1] == "  called from train_step (train.py:52)"


def test_an_error_elsewhere_is_not_told_here():
    error = RunError("import", "ValueError", "no", "file:///home/user/other.py", Range(0, 0, 0, 1))
    assert all(line.error is None for line in with_error("a = 1\n", error))


def test_the_examples_line_tells_how_its_run_went():
    program = program_of("# torchlens: f(t(3))\ndef f(x):\n    return x\n", "f(t(3))")
    program.document.example.uri, program.document.example.range = URI, EXAMPLE
    program.document.durations.call_s = 0.0142
    assert lines_of(program)[0].hint == "ran in 14 ms"


def test_a_hint_on_the_examples_line_stands_before_it():
    program = program_of("def f(x):\n    return x\n", "f(t(3))")
    program.document.example.uri, program.document.example.range = URI, EXAMPLE
    program.document.durations.call_s = 1.25
    assert lines_of(program)[0].hint == "x f32[3] · ran in 1.2 s"


def test_an_example_in_another_file_has_no_line_here():
    program = program_of("# torchlens: f(t(3))\ndef f(x):\n    return x\n", "f(t(3))")
    program.document.example.uri, program.document.example.range = "file:///home/user/other.py", EXAMPLE
    assert lines_of(program)[0].hint == ""


def test_at_a_bad_example_the_error_speaks():
    program = run("# torchlens: f(t(3))\ndef f(x):\n    return x\n")
    document = program.document
    document.example.uri, document.example.range, document.status = URI, EXAMPLE, "bad-example"
    document.error = RunError("build", "NameError", "name 'g' is not defined", URI, EXAMPLE)
    first = lines_of(program)[0]
    assert (first.hint, first.error) == ("", ErrorNote(0, 20, ("name 'g' is not defined",)))


@pytest.mark.parametrize("text", ["", "\n", "a = 1"])
def test_texts_of_a_line_or_less(text: str):
    assert [line.text for line in lines_of(run(text))] == text.split("\n")
