"""Errors in words where no torch is needed: runs that ended otherwise, and where a size came from.

What torch raises is in `test_errors_of_torch`.
"""

from __future__ import annotations

import pytest

from tests.analysis.builder import URI
from torchlens_lsp.analysis.errors import Explained, Related, explain
from torchlens_lsp.analysis.errors.facts import Named
from torchlens_lsp.analysis.errors.finding import WrongSize
from torchlens_lsp.analysis.errors.origins import Origins
from torchlens_lsp.analysis.view import View
from torchlens_lsp.document.index import DocumentIndex
from torchlens_lsp.document.model import NONE, Document, Example, Frame, Op, Range, RunError, SourceFile
from torchlens_lsp.document.request import DIED, OUT_OF_MEMORY, TIMEOUT, TORCH_MISSING
from torchlens_lsp.document.values import TENSOR, TensorMeta

LINE = Range(12, 8, 12, 24)


def ended(status: str, error: RunError) -> Explained:
    return explain(View(Document(status=status, error=error)))


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        ("timeout", TIMEOUT, "still here after 20 s: iteration 81,233"),
        ("out-of-memory", OUT_OF_MEMORY, "used more memory than its cap: iteration 12"),
        ("crashed", DIED, "the process was killed by SIGSEGV (segmentation fault)"),
        ("stopped", "Stopped", "stopped before writing best.pt (line 231)"),
        ("error", TORCH_MISSING, "torch is not installed for /usr/bin/python3"),
    ],
)
def test_what_is_no_exception_is_told_without_a_type(status: str, kind: str, message: str):
    assert ended(status, RunError("call", kind, message, URI, LINE)) == Explained(message, "", ())


def test_a_bad_example_keeps_its_further_lines():
    error = RunError("build", "TypeError", "missing a required argument: 'y'\nNet.forward(self, x, y)")
    assert ended("bad-example", error) == Explained("missing a required argument: 'y'", "Net.forward(self, x, y)", ())


def test_an_exception_is_told_with_its_type():
    assert ended("error", RunError("call", "ZeroDivisionError", "division by zero")).summary == (
        "ZeroDivisionError: division by zero"
    )
    assert ended("error", RunError("call", "StopIteration", "")).summary == "StopIteration"


def test_the_native_stack_of_a_message_is_left_out():
    message = "no kernel\nException raised from run at Kernel.cpp:12 (most recent call first):\nframe #0: c10::Error"
    assert ended("error", RunError("call", "RuntimeError", message)) == Explained("RuntimeError: no kernel", "", ())


def test_a_run_without_an_error_has_none_to_explain():
    with pytest.raises(ValueError, match="no error"):
        explain(View(Document()))


def test_callers_are_told_innermost_first():
    places = [Range(line, 4, line, 20) for line in range(4)]
    error = RunError("call", "ValueError", "no", URI, places[2])
    names = ["<module>", "build.<locals>.step", "Net.forward", "Linear.forward"]
    uris = [URI, URI, URI, "file:///lib/linear.py"]
    error.stack = [Frame(*each) for each in zip(uris, places, names, strict=True)]
    document = Document(status="error", error=error, files=[SourceFile(URI, "")])
    assert explain(View(document)).related == (
        Related("called from step", URI, places[1]),
        Related("called from the module", URI, places[0]),
    )


def test_a_callers_line_is_counted_from_one():
    assert Related("called from step", URI, Range(51, 4, 51, 20)).text == "called from step (line 52)"


def test_a_message_that_a_rule_knows_stays_as_it_is_where_the_operands_are_not_known():
    message = "mat1 and mat2 shapes cannot be multiplied (8x64 and 128x10)"
    error = RunError("call", "RuntimeError", message, URI, LINE, op="matmul")
    assert ended("error", error) == Explained(f"RuntimeError: {message}", "", ())


# --- where a size came from ----------------------------------------------------------------------------------------

Step = tuple[str, tuple[int, ...], tuple[int, ...]]
"""Target, shape of the output, numbers of the ops that it was made of."""
X: Step = ("input", (8, 3, 32, 32), ())
EXAMPLE = Range(0, 0, 0, 30)


def maker(dimension: int, *steps: Step) -> str | None:
    """How the size of the last step's output in that dimension came about, by the label of the op that made it."""
    document = Document(example=Example(uri=URI, range=EXAMPLE), files=[SourceFile(URI, "")])
    for number, (target, shape, parents) in enumerate(steps):
        document.values.metas.append(TensorMeta(shape, "float32", "cpu"))
        value = document.values.append(TENSOR, number)
        label, line = f"{target}_{number}", Range(number, 0, number, 9)
        document.ops.append(Op(label, target, 1, None, (value,), parents, 0, NONE, line, NONE, 0.0, 0))
    last = document.values.metas[-1]
    wrong = WrongSize(Named("x", len(steps) - 1, last), dimension % len(last.shape))
    origin = Origins(DocumentIndex(document)).of_size(wrong)
    return origin.how.removeprefix("was made by ") if origin is not None else None


def test_the_op_that_first_had_it_made_it():
    stem, relu, pooled = ("conv2d", (8, 64, 32, 32), (0,)), ("relu", (8, 64, 32, 32), (1,)), ("mean", (8, 64), (2,))
    assert maker(-1, X, stem, relu, pooled) == "conv2d_1"
    assert maker(0, X, stem, relu, pooled) == "came with the example"


def test_of_two_operands_of_a_sum_the_one_that_has_it():
    assert maker(-1, ("input", (8, 1), ()), ("zeros", (5,), ()), ("add", (8, 5), (0, 1))) == "zeros_1"


def test_a_flatten_makes_its_size_and_hands_on_what_stands_before():
    flat = ("flatten", (8, 3072), (0,))
    assert maker(1, X, flat) == "flatten_1"
    assert maker(0, X, flat) == "came with the example"


def test_a_view_that_has_the_same_size_elsewhere_made_it():
    assert maker(0, ("input", (4, 6), ()), ("view", (6, 4), (0,))) == "view_1"


def test_a_transpose_is_followed_by_size():
    assert maker(0, ("input", (4, 6), ()), ("t", (6, 4), (0,))) == "came with the example"
    assert maker(0, ("input", (6, 6), ()), ("t", (6, 6), (0,))) is None


def test_a_concatenation_makes_what_it_joins():
    parts = (("input", (8, 32), ()), ("relu", (8, 32), (0,)))
    joined = ("cat", (8, 64), (0, 1))
    assert maker(1, *parts, joined) == "cat_2"
    assert maker(0, *parts, joined) == "came with the example"


def test_a_product_has_its_last_size_from_the_second_factor():
    assert maker(-1, ("input", (8, 4), ()), ("zeros", (4, 7), ()), ("matmul", (8, 7), (0, 1))) == "zeros_1"
    assert maker(0, ("input", (8, 4), ()), ("zeros", (4, 7), ()), ("matmul", (8, 7), (0, 1))) == "came with the example"


def test_a_layer_makes_its_features_though_another_dimension_has_the_same_size():
    assert maker(1, ("input", (8, 3, 64, 64), ()), ("conv2d", (8, 64, 62, 62), (0,))) == "conv2d_1"
    assert maker(1, ("input", (64, 3), ()), ("linear", (64, 64), (0,))) == "linear_1"


def test_an_embedding_makes_its_last_size():
    assert maker(2, ("input", (8, 5), ()), ("embedding", (8, 5, 8), (0,))) == "embedding_1"
    assert maker(1, ("input", (8, 5), ()), ("embedding", (8, 5, 16), (0,))) == "came with the example"


def test_nothing_is_said_when_it_could_have_come_from_either_of_two_dimensions():
    assert maker(0, ("input", (5, 5), ()), ("sum", (5,), (0,))) is None
    assert maker(0, ("input", (4, 5), ()), ("__getitem__", (5,), (0,))) is None


def test_nothing_is_said_of_a_buffer():
    assert maker(0, ("buffer", (5,), ())) is None
