"""What torch itself raises, in words: each program fails for real, and its first line and what led to it are stated.

`…` in an expected summary stands for anything, where versions of torch differ.
"""

from __future__ import annotations

import re
import textwrap
import types
from pathlib import Path

import pytest
import torch

from torchlens_lsp.analysis.errors import Explained, explain
from torchlens_lsp.analysis.view import View
from torchlens_lsp.document.model import BUILD, Durations, Example, Range
from torchlens_lsp.tracer.options import Options
from torchlens_lsp.tracer.recorder import Recorder

PATH = "/home/user/net.py"
URI = Path(PATH).as_uri()
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
EXAMPLE = Range(0, 0, 0, 40)
"""Where the example stands in these files, whatever is there."""


def fails(text: str, callee: str, *arguments: object, train: bool = False) -> Explained:
    """Explain how `callee(*arguments)` fails in a file of this text, which begins at line 4."""
    recorder = Recorder(Options(statistics_share=1.0))
    namespace = types.ModuleType("net").__dict__
    code = recorder.compile(PATH, HEAD + textwrap.dedent(text).lstrip("\n"))
    recorder.start()
    error = None
    try:
        exec(code, namespace)
        recorder.phase = BUILD
        function = eval(callee, namespace)
        if isinstance(function, torch.nn.Module):
            function.train(train)
        recorder.call(function, arguments, {})
    except Exception as exception:
        error = recorder.error(exception)
    finally:
        recorder.stop()
    assert error is not None
    example = Example("default", f"{callee}(...)", "comment", URI, EXAMPLE)
    return explain(View(recorder.document(status="error", example=example, durations=Durations(), error=error)))


def places(explained: Explained) -> list[str]:
    return [related.text for related in explained.related]


def f32(*sizes: int) -> torch.Tensor:
    return torch.zeros(*sizes)


def i64(*sizes: int) -> torch.Tensor:
    return torch.zeros(*sizes, dtype=torch.long)


def function(body: str, parameters: str = "x, y") -> str:
    return f"def f({parameters}):\n    return {body}\n"


SIZES = [
    ("x @ y", (f32(8, 64), f32(128, 10)), "f32[8, 64] @ f32[128, 10]: 64 meets 128"),
    ("x @ y", (f32(3, 4), f32(5)), "f32[3, 4] @ f32[5]: 4 meets 5"),
    ("x @ y", (f32(3), f32(5)), "f32[3] @ f32[5]: 3 meets 5"),
    ("torch.bmm(x, y)", (f32(2, 3, 4), f32(2, 5, 6)), "f32[2, 3, 4] @ f32[2, 5, 6]: 4 meets 5"),
    ("torch.bmm(x, y)", (f32(2, 3, 4), f32(7, 4, 6)), "f32[2, 3, 4] @ f32[7, 4, 6]: a batch of 2 meets one of 7"),
    ("x + y", (f32(8, 64), f32(8, 65)), "f32[8, 64] + f32[8, 65]: 64 meets 65"),
    ("x * y", (f32(8, 64), f32(3)), "f32[8, 64] * f32[3]: 64 meets 3"),
    ("x.relu() - y.tanh()", (f32(8, 64), f32(8, 65)), "f32[8, 64] - f32[8, 65]: 64 meets 65"),
    ("torch.where(x > 0, x, y)", (f32(3, 4), f32(3, 5)), "where of f32[3, 4] and f32[3, 5]: 4 meets 5"),
    ("torch.cat([x, y])", (f32(2, 3), f32(2, 4)), "cat(f32[2, 3], f32[2, 4], dim=0): 3 meets 4 in dimension 1"),
    ("torch.cat([x, y])", (f32(2, 3), f32(2, 4, 5)), "cat(f32[2, 3], f32[2, 4, 5]): 2 dimensions meet 3"),
    ("torch.stack([x, y])", (f32(2, 3), f32(2, 4)), "stack(f32[2, 3], f32[2, 4]): 3 meets 4 in dimension 1"),
    ("F.cross_entropy(x, y)", (f32(8, 10), i64(4)), "cross_entropy of f32[8, 10] and i64[4]: 8 meets 4"),
    ("x[y]", (f32(4, 2), torch.ones(3, dtype=torch.bool)), "f32[4, 2][bool[3]]: 4 meets 3"),
    ("torch.einsum('bi,ij->bj', x, y)", (f32(3, 4), f32(5, 6)), "einsum of f32[3, 4], f32[5, 6]: for i, 4 meets 5"),
]

PLACES = [
    ("x.view(8, 100)", (f32(8, 64),), "f32[8, 64] as [8, 100]: 512 elements meet 800"),
    ("x.view(-1, 100)", (f32(8, 64),), "f32[8, 64] as [-1, 100]: 512 elements are no multiple of 100"),
    ("x.t().view(-1)", (f32(8, 64),), "x.t() f32[64, 8] does not lie in memory in the order of its dimensions: …"),
    ("x.expand(3, 7)", (f32(3, 4),), "f32[3, 4] as [3, 7]: 4 cannot become 7"),
    ("x.sum(dim=2)", (f32(8, 64),), "x f32[8, 64] has no dimension 2 (-2 to 1)"),
    ("x.squeeze(3)", (f32(8, 64),), "x f32[8, 64] has no dimension 3 (-2 to 1)"),
    ("x[5]", (f32(3, 4),), "x f32[3, 4]: no index 5 in a dimension of 3"),
    ("x[0, 1, 2]", (f32(3, 4),), "x f32[3, 4] has fewer dimensions than there are indices: 2"),
    ("x.split([1, 2], dim=1)", (f32(3, 4),), "f32[3, 4] in parts of 1 + 2: 4 meets 3"),
    ("x.item()", (f32(3),), "x f32[3] has 3 elements, item takes one"),
    ("1 if x > 0 else 2", (f32(3),), "a test needs one value, this is bool[3] (any() or all() make one of it)"),
    ("x.amax(dim=0)", (f32(0, 4),), "amax of f32[0, 4]: there is nothing in it"),
    ("F.max_pool2d(x, 2)", (f32(2, 3, 1, 1),), "max_pool2d of f32[2, 3, 1, 1]: nothing would be left (3x0x0)"),
    ("torch.empty(1 << 50)", (f32(1),), "empty asks for 4 PiB, more than there is"),
]

KINDS = [
    ("x.double() @ y", (f32(3, 4), f32(4, 5)), "x.double() f64[3, 4] meets y f32[4, 5]: f64 is not f32"),
    ("x[y]", (f32(3, 4), f32(2)), "y f32[2] cannot be an index: whole numbers or bool can"),
    ("F.cross_entropy(x, y)", (f32(8, 10), f32(8)), "cross_entropy wants classes as i64, y is f32[8]"),
    ("F.cross_entropy(x, y)", (f32(8, 3), i64(8) + 5), "y i64[8] asks for class 5, f32[8, 3] has 3 (0 to 2)"),
    ("x.softmax(-1) + y", (i64(3, 4), f32(1)), "softmax knows no i64: x i64[3, 4]"),
    ("x.mean() + y", (i64(3, 4), f32(1)), "mean knows no i64: x i64[3, 4]"),
    ("F.linear((x, y), y)", (f32(2), f32(2)), "(x, y) is a tuple (f32[2], f32[2]), linear wants a tensor"),
]


@pytest.mark.parametrize(("body", "arguments", "summary"), [*SIZES, *PLACES, *KINDS])
def test_functions(body: str, arguments: tuple[torch.Tensor, ...], summary: str):
    text = function(body, ", ".join("xy"[: len(arguments)]))
    assert_says(fails(text, "f", *arguments), summary)


LAYERS = [
    ("nn.Linear(3, 2)", f32(2, 5), "f32[2, 5] @ f32[3, 2]: 5 meets 3", "3 features"),
    ("nn.Linear(3, 2)", f32(2, 7, 5), "f32[2, 7, 5] @ f32[3, 2]: 5 meets 3", "3 features"),
    ("nn.Linear(3, 2)", f32(5), "f32[5] @ f32[3, 2]: 5 meets 3", "3 features"),
    ("nn.Conv2d(3, 8, 3)", f32(2, 4, 8, 8), "conv2d of f32[2, 4, 8, 8]: 4 channels meet 3", "3 channels"),
    ("nn.Conv2d(3, 8, 3)", f32(4, 8, 8), "conv2d of f32[4, 8, 8]: 4 channels meet 3", "3 channels"),
    ("nn.BatchNorm2d(3)", f32(2, 4, 8, 8), "batch_norm of f32[2, 4, 8, 8]: 4 channels meet 3", "3 channels"),
    ("nn.LayerNorm(64)", f32(8, 32), "layer_norm of f32[8, 32]: 32 meets 64", "64 features"),
    ("nn.Embedding(10, 4)", i64(2, 3) + 12, "x i64[2, 3] goes up to 12, the table has 10 rows (0 to 9)", "10 rows"),
    ("nn.Embedding(10, 4)", i64(2, 3) - 1, "x i64[2, 3] goes down to -1, the table has 10 rows (0 to 9)", "10 rows"),
    ("nn.Embedding(10, 4)", f32(2, 3), "embedding looks up whole numbers, x f32[2, 3] has none", ""),
    ("nn.Conv2d(3, 8, 3)", f32(3, 4), "conv2d of f32[3, 4]: 2 dimensions, wants 4, or 3 without a batch", ""),
    ("nn.Conv2d(3, 8, 3)", f32(2, 3, 2, 2), "conv2d of f32[2, 3, 2, 2]: a kernel of 3 x 3 over 2 x 2", ""),
    ("nn.Conv2d(3, 8, 5, padding=1)", f32(1, 3, 2, 2), "conv2d of f32[1, 3, 2, 2]: a kernel of 5 x 5 over 4 x 4 …", ""),
    ("nn.Conv2d(3, 8, 3)", f32(2, 3, 8, 8).double(), "x f64[2, 3, 8, 8] meets layer.… f32[…]: f64 is not f32", ""),
    ("nn.Conv2d(3, 8, 3)", f32(2, 3, 8, 8).byte(), "x u8[2, 3, 8, 8] meets layer.… f32[…]: u8 is not f32", ""),
    ("nn.BatchNorm2d(3)", f32(2, 3), "f32[2, 3] has 2 dimensions, the layer wants 4", ""),
    ("nn.GroupNorm(2, 4)", f32(8, 3, 5), "group_norm of f32[8, 3, 5]: 3 channels in 2 groups", ""),
    ("nn.LSTM(8, 4)", f32(2, 3, 5), "f32[2, 3, 5]: 5 features meet 8", ""),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "argument", "summary", "made_for"), LAYERS)
def test_layers(layer: str, argument: torch.Tensor, summary: str, made_for: str):
    text = f"""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = {layer}

        def forward(self, x):
            return self.layer(x)
    """
    explained = fails(text, "Net()", argument)
    assert_says(explained, summary)
    made = [place for place in places(explained) if "was made for" in place]
    assert made == ([f"self.layer was made for {made_for} (line 7)"] if made_for else [])


def test_batch_norm_of_single_values_in_train_mode():
    text = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm2d(5)

        def forward(self, x):
            return self.norm(x)
    """
    explained = fails(text, "Net()", f32(1, 5, 1, 1), train=True)
    assert explained.summary == (
        "batch_norm of f32[1, 5, 1, 1] in train mode: a batch of 1 leaves one value per channel"
    )
    assert explained.detail.startswith("Expected more than 1 value per channel when training")


def test_the_whole_of_a_wrong_shape():
    """The picture of an error: in words, as torch says it, the layer, the size's origin, the callers."""
    text = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, 64, 3)
            self.head = nn.Linear(128, 10)

        def forward(self, x):
            x = torch.relu(self.stem(x))
            x = x.mean(dim=(2, 3))
            return self.head(x)

    net = Net()
    def train_step(x):
        return net(x).sum()
    """
    explained = fails(text, "train_step", f32(8, 3, 32, 32))
    assert explained.summary == "f32[8, 64] @ f32[128, 10]: 64 meets 128"
    assert explained.detail == "mat1 and mat2 shapes cannot be multiplied (8x64 and 128x10)"
    assert places(explained) == [
        "self.head was made for 128 features (line 8)",
        "the 64 of x was made by conv2d_1_1 (line 11)",
        "called from train_step (line 17)",
    ]


def test_what_was_made_inside_of_a_sequence_is_told_by_address():
    text = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Sequential(nn.Flatten(), nn.Linear(8, 10))

        def forward(self, x):
            return self.head(x)
    """
    explained = fails(text, "Net()", f32(2, 8, 7, 7))
    assert explained.summary == "f32[2, 392] @ f32[8, 10]: 392 meets 8"
    assert places(explained) == [
        "head.1 was made for 8 features (line 7)",
        "the 392 was made by flatten_1_1 (line 10)",
    ]


def test_a_size_of_the_input_came_with_the_example():
    explained = fails(function("x.relu() + y"), "f", f32(8, 64), f32(8, 65))
    assert places(explained) == [
        "the 64 of x.relu() came with the example (line 1)",
        "the 65 of y came with the example (line 1)",
    ]


def test_a_dtype_that_an_attribute_brought_in():
    text = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = torch.zeros(3, dtype=torch.float64)
            self.head = nn.Linear(3, 2)

        def forward(self, x):
            x = x - self.mean
            return self.head(x)
    """
    explained = fails(text, "Net()", f32(4, 3))
    assert_says(explained, "x f64[4, 3] meets head.weight f32[2, 3]: f64 is not f32")
    assert places(explained) == [
        "the f64 of x was made by sub_1_1 (line 11)",
        "the f64 of self.mean was made before the call (line 7)",
    ]


def test_a_layer_that_returned_nothing():
    text = """
    class Block(nn.Module):
        def forward(self, x):
            x = x.relu()

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.head = nn.Linear(4, 2)

        def forward(self, x):
            h = self.block(x)
            return self.head(h)
    """
    explained = fails(text, "Net()", f32(3, 4))
    assert explained.summary == "h is None, linear wants a tensor"
    assert places(explained) == ["h became None (line 15)", "Block.forward returned None (line 5)"]


def test_a_layer_that_returns_more_than_a_tensor():
    text = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(8, 4)

        def forward(self, x):
            h = self.lstm(x)
            return h.relu()
    """
    explained = fails(text, "Net()", f32(2, 3, 8))
    assert explained.summary == "h is a tuple (f32[2, 3, 4], (f32[1, 3, 4], f32[1, 3, 4])) and has no .relu"
    assert places(explained) == ["h became a tuple (line 10)"]


def test_an_argument_that_was_left_out():
    explained = fails("def f(x, mask=None):\n    return x + mask\n", "f", f32(3))
    assert explained.summary == "mask is None, + wants a value"
    assert places(explained) == ["mask was None from the start of this call (line 4)"]


@pytest.mark.parametrize(
    ("targets", "value", "summary"),
    [
        ("b, t", "x.shape", "x.shape is [3, 4, 5]: 3 values for 2 targets"),
        ("b, t, c, d", "x.shape", "x.shape is [3, 4, 5]: 3 values for 4 targets"),
        ("b, t", "x", "x is f32[3, 4, 5]: 3 values for 2 targets"),
        ("a, b, c", "x.chunk(2, dim=1)", "x.chunk(2, dim=1) is (f32[3, 2, 5], f32[3, 2, 5]): 2 values for 3 targets"),
    ],
)
def test_values_and_targets(targets: str, value: str, summary: str):
    explained = fails(f"def f(x):\n    {targets} = {value}\n", "f", f32(3, 4, 5))
    assert explained.summary == summary


def test_an_assertion_without_a_message():
    explained = fails("def f(x):\n    b, c = x.shape\n    assert c == 5\n", "f", f32(3, 4))
    assert explained.summary == "c == 5 is False, c = 4"
    assert (
        fails("def f(x):\n    assert x.ndim == 3, 'no image'\n", "f", f32(3, 4)).summary == "AssertionError: no image"
    )


def test_an_error_that_no_rule_knows():
    explained = fails("def f(x):\n    return {'a': x}['b']\n", "f", f32(3))
    assert explained == Explained("KeyError: 'b'", "", ())


def test_a_recursion_is_one_caller():
    explained = fails("def f(x):\n    return f(x)\n", "f", f32(3))
    assert explained.summary.startswith("RecursionError: maximum recursion depth exceeded")
    assert len(explained.related) == 1
    assert explained.related[0].message.startswith("called from f, ")


def assert_says(explained: Explained, summary: str) -> None:
    """The summary is this one, and torch's own message follows it."""
    assert explained.detail
    pattern = ".*".join(re.escape(part) for part in summary.split("…"))
    assert re.fullmatch(pattern, explained.summary), explained.summary
