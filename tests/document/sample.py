"""The document of a small run, written by hand: the one that `docs/trace-document.md` shows.

It is of `scale(torch.ones(2, 3))` in

    import torch
    # torchlens: scale(torch.ones(2, 3))
    def scale(x):
        if x.dim() > 1:
            x = x / x.shape[0]
        return x
"""

from __future__ import annotations

from array import array

from torchlens_lsp.document.model import (
    CALL,
    IMPORT,
    NONE,
    Branches,
    Call,
    Document,
    Durations,
    Evaluations,
    Example,
    Function,
    Op,
    Range,
    Site,
    SourceFile,
)
from torchlens_lsp.document.values import OTHER, TENSOR, Other, Stats, TensorMeta

URI = "file:///home/user/scale.py"
X, DIM, TEST, QUOTIENT = range(4)
"""Sites."""


def on_line(line: int, start: int, end: int) -> Range:
    return Range(line, start, line, end)


def sample() -> Document:
    document = Document(
        example=Example("default", "scale(torch.ones(2, 3))", "comment", URI, on_line(1, 0, 36)),
        durations=Durations(0.001, 0.0005, 0.0002),
        environment={"python": "3.12.1", "torch": "2.13.0", "platform": "Linux"},
    )
    document.files = [
        SourceFile(
            URI,
            "4be2…",
            sites=[
                Site("parameter", "evaluation", on_line(2, 10, 11), "x", 1),
                Site("call", "evaluation", on_line(3, 7, 14), "x.dim()", 1),
                Site("if", "branch", on_line(3, 7, 18), "x.dim() > 1", 1),
                Site("binop", "evaluation", on_line(4, 12, 26), "x / x.shape[0]", 1),
            ],
            functions=[
                Function("<module>", "module", Range(0, 0, 6, 0), Range(0, 0, 6, 0), (0, 0), ()),
                Function("scale", "def", Range(2, 0, 5, 12), on_line(2, 4, 9), (2, 13), (X,)),
            ],
        )
    ]
    values = document.values
    values.metas = [TensorMeta((2, 3), "float32", "cpu")]
    values.others = [Other("int", "2")]
    x = values.append(TENSOR, 0, values.statistics.append(Stats(1.0, 1.0, 1.0, 0.0, 0, 0)))
    dims = values.append(OTHER, 0)
    half = values.append(TENSOR, 0, values.statistics.append(Stats(0.5, 0.5, 0.5, 0.0, 0, 0)))
    document.output = half
    document.calls = [
        Call(0, 0, None, 0, IMPORT, NONE, NONE, "returned"),
        Call(0, 1, None, 0, CALL, NONE, NONE, "returned"),
    ]
    document.evaluations = Evaluations(
        array("i", [X, DIM, QUOTIENT]), array("i", [x, dims, half]), array("i", [1, 1, 1])
    )
    document.branches = Branches(array("i", [TEST]), array("B", [1]), array("i", [1]), array("i", [2]))
    document.counts = array("q", [1, 1, 1, 1])
    document.ops = [
        Op("input_1", "input", 1, None, (x,), (), NONE, NONE, None, NONE, 0.0, 0),
        Op("truediv_1_1", "__truediv__", 1, None, (half,), (0,), 0, QUOTIENT, None, 1, 0.00001, 2),
    ]
    return document
