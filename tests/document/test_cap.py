"""A document is cut until it fits, in a stated order, and says truthfully what went."""

from __future__ import annotations

import copy
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlens_lsp.document import cap
from torchlens_lsp.document.check import check
from torchlens_lsp.document.codec import DocumentError, decode, encode
from torchlens_lsp.document.model import (
    CALL,
    NONE,
    Call,
    Document,
    Frame,
    Function,
    Op,
    Operand,
    Range,
    RunError,
    Site,
    SourceFile,
)
from torchlens_lsp.document.values import CONTAINER, NOT_READ, OTHER, TENSOR, Container, Other, Stats, TensorMeta

from .strategies import documents
from .test_codec import SLOW_TO_MAKE, comparable

ANYWHERE = Range(0, 0, 0, 1)
LEAST = 8000
"""Bytes that are enough for the outcome of every document made here."""


def busy(calls: int = 100, turns: int = 30, ops: int = 3000) -> Document:
    """A run in which one function is called again and again and fails in its last call.

    Each call evaluates one expression in a loop of `turns` turns, each with a tensor of its own, after one test.
    """
    document = Document(status="error")
    function = Function("f", "def", ANYWHERE, ANYWHERE, (0, 1), ())
    roles = ("evaluation", "branch", "loop")
    sites = [Site("name", role, ANYWHERE, "x", 0) for role in roles]
    document.files = [SourceFile("file:///a.py", "", 0, sites, [function])]
    values = document.values
    values.metas = [TensorMeta((n,), "float32", "cpu") for n in range(10)]
    for call in range(calls):
        document.calls.append(Call(0, 0, None, 0, CALL, NONE, NONE, "returned"))
        at = len(document.evaluations)
        for column, number in zip(vars(document.branches).values(), (1, call % 2, call, at), strict=True):
            column.append(number)
        for column, number in zip(vars(document.loops).values(), (2, turns, call, at), strict=True):
            column.append(number)
        for turn in range(turns):
            stats = Stats(0.1, 0.9, 0.5, 0.3, nan=int(turn == 3), inf=0)
            value = values.append(TENSOR, turn % 10, values.statistics.append(stats))
            for column, number in zip(vars(document.evaluations).values(), (0, value, call), strict=True):
                column.append(number)
    document.counts = array("q", [calls * turns, calls, calls])
    for number in range(ops):
        parents = (number - 1,) if number else ()
        label = f"linear_{number}_{number}"
        op = Op(label, "linear", 1, None, (number % len(values),), parents, 0, 0, None, number % calls, 0.1, number)
        document.ops.append(op)
    document.error = RunError("call", "ValueError", "no", call=calls - 1, operands=[Operand("x", len(values) - 1, 0)])
    return document


def shapes(document: Document) -> list[object]:
    """The shape at every evaluation."""
    return [getattr(document.values[value], "meta").shape for value in document.evaluations.value]  # noqa: B009


def size(document: Document) -> int:
    return len(encode(document))


def test_a_document_that_fits_is_left_alone() -> None:
    document = busy()
    assert cap.fit(document) is document
    assert cap.encode_within(document, size(document)) == encode(document)


def test_the_events_past_the_first_sixteen_of_their_site_go_first() -> None:
    document = busy()
    smaller = cap.fit(document, size(document) - 1)
    turns, last = 30, 99
    assert list(smaller.branches.call) == [*range(16), last]
    assert list(smaller.loops.call) == [*range(16), last]
    # Sixteen of the first call; and sixteen of the call that failed, although 2,970 came before.
    assert list(smaller.evaluations.call) == [0] * 16 + [last] * 16
    assert shapes(smaller) == [*shapes(document)[:16], *shapes(document)[last * turns : last * turns + 16]]
    assert [smaller.values[value] for value in smaller.evaluations.value][:16] == [
        document.values[value] for value in document.evaluations.value
    ][:16]
    # Of the others the place in the order of the run is what it was: between the same evaluations.
    assert list(smaller.branches.at) == [0] + [16] * 16
    assert smaller.ops[17].at == 16
    assert smaller.counts == document.counts
    assert smaller.dropped == {"evaluations": 3000 - 32, "branches": 83, "loops": 83}
    assert len(smaller.ops) == len(document.ops)
    assert len(smaller.calls) == len(document.calls)


def test_statistics_go_next_but_not_those_of_a_nan_and_of_what_failed() -> None:
    document = busy()
    limit = size(cap.fit(document, size(document) - 1)) - 1
    smaller = cap.fit(document, limit)
    assert len(smaller.evaluations) == 32
    assert smaller.error is not None
    operand = smaller.error.operands[0].value
    read = [value for value, row in enumerate(smaller.values.stats) if row != NOT_READ]
    assert operand in read
    assert len(read) > 1
    assert {smaller.values.statistics[smaller.values.stats[value]].nan for value in read if value != operand} == {1}
    assert smaller.dropped["statistics"] > 0


def test_then_ops_then_further_events_then_calls() -> None:
    document = busy()
    seen: list[tuple[int, ...]] = []
    limit = size(document)
    while len(seen) < 7:
        smaller = cap.fit(document, limit)
        seen.append((len(smaller.ops), len(smaller.evaluations), len(smaller.calls), len(smaller.files)))
        limit = size(smaller) - 20  # The note, which names the limit, differs by some bytes.
    assert seen == [
        (3000, 3000, 100, 1),
        (3000, 32, 100, 1),
        (3000, 32, 100, 1),  # Without statistics.
        (750, 32, 100, 1),
        (750, 8, 100, 1),  # Ops still refer to all calls.
        (0, 2, 2, 1),
        (0, 0, 0, 0),
    ]


def test_what_was_left_out_is_told_in_numbers() -> None:
    document = busy()
    document.dropped = {"evaluations": 5, "calls": 2}
    smaller = cap.fit(document, size(document) - 1)
    assert smaller.dropped == {"evaluations": 2968 + 5, "calls": 2, "branches": 83, "loops": 83}
    assert smaller.notes[-1].startswith("To keep the trace within ")
    assert "2,968 evaluations, 83 branches, 83 loops" in smaller.notes[-1]


def test_the_parents_of_every_kept_call_and_op_are_kept() -> None:
    document = busy()
    document.calls = [
        call._replace(parent=number - 1 if number else NONE) for number, call in enumerate(document.calls)
    ]
    smaller = cap.fit(document, 3000)
    check(smaller)
    assert len(smaller.calls) == 100
    assert smaller.error is not None
    assert smaller.error.call == 99


def test_the_outcome_is_what_remains_at_last() -> None:
    document = busy()
    assert document.error is not None
    document.error.message = "x" * 50_000
    document.error.stack = [Frame("file:///a.py", ANYWHERE, f"f{n}") for n in range(200)]
    document.output = 0
    smaller = cap.fit(document, LEAST)
    assert smaller.status == "error"
    assert smaller.error is not None
    assert smaller.error.message == "x" * cap.LONGEST_TEXT + " (48,000 characters more)"
    assert smaller.error.stack[-1].function == "f199"
    assert smaller.values[smaller.output] == document.values[0]
    assert smaller.values[smaller.error.operands[0].value] == document.values[len(document.values) - 1]
    assert smaller.dropped.pop("statistics") > 0
    everything = {"evaluations": 3000, "branches": 100, "loops": 100, "ops": 3000, "calls": 100, "files": 1}
    assert smaller.dropped == everything


def test_an_outcome_of_endless_values_remains_in_words() -> None:
    document = Document(status="error", output=5000)
    document.values.others = [Other("str", f"{n:06}" * 10) for n in range(5000)]
    for n in range(5000):
        document.values.append(OTHER, n)
    document.values.containers.append(Container("list", "list", None, tuple(range(5000)), 5000))
    document.values.append(CONTAINER, 0)
    document.error = RunError("call", "ValueError", "no", operands=[Operand("x", 5000)])
    smaller = cap.fit(document, LEAST)
    assert smaller.output == NONE
    assert smaller.error == RunError("call", "ValueError", "no")
    assert smaller.dropped == {"values": 5001}


def test_a_limit_below_any_outcome_is_an_error() -> None:
    with pytest.raises(DocumentError, match="100 are allowed"):
        cap.fit(busy(), 100)


@given(documents(max_events=40), st.integers(0, 4000))
@SLOW_TO_MAKE
def test_any_document_fits_keeps_together_and_tells_the_truth(document: Document, less: int) -> None:
    before = copy.deepcopy(document)
    limit = max(LEAST // 4, size(document) - less)
    try:
        smaller = cap.fit(document, limit)
    except DocumentError:
        assert limit < LEAST
        return
    assert comparable(document) == comparable(before)
    assert size(smaller) <= limit
    check(smaller)
    assert comparable(decode(encode(smaller))) == comparable(smaller)
    for name in ("evaluations", "branches", "loops", "ops", "calls"):
        gone = smaller.dropped.get(name, 0) - document.dropped.get(name, 0)
        assert len(getattr(document, name)) == len(getattr(smaller, name)) + gone
    if smaller.files:
        assert smaller.counts == document.counts
