"""Two outputs have one fingerprint exactly where they are equal bit for bit."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from tools.fingerprint import fingerprint

Pair = namedtuple("Pair", "first second")


@dataclass
class Output:
    logits: Any
    loss: Any = None


class Opaque:
    def __init__(self, hidden: Any) -> None:
        self.hidden = hidden


ONES = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (torch.zeros(()), -torch.zeros(())),
        (ONES, ONES * (1 + torch.finfo(torch.float32).eps)),
        (ONES, ONES.double()),
        (ONES, ONES.T),
        (ONES, ONES.to_sparse()),
        (torch.tensor(float("nan")), torch.tensor(float("inf"))),
        (torch.view_as_complex(ONES.view(3, 2)), torch.view_as_complex(ONES.view(3, 2)).conj()),
        ([ONES, ONES], (ONES, ONES)),
        ({"a": ONES}, {"b": ONES}),
        (Pair(1, 2), Pair(2, 1)),
        (Output(ONES), Output(ONES, loss=0.0)),
        (Opaque(ONES), Opaque(ONES + 1)),
        (1, True),
    ],
)
def test_a_difference_is_seen(one: Any, other: Any) -> None:
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize("make", [lambda: ONES, lambda: ONES.T, lambda: Output([ONES], {"a": Opaque(ONES)})])
def test_the_same_again_is_the_same(make: Any) -> None:
    assert fingerprint(make()) == fingerprint(make())


def test_how_a_tensor_lies_in_memory_does_not_count() -> None:
    assert fingerprint(ONES.T) == fingerprint(ONES.T.contiguous())


def test_a_cycle_ends() -> None:
    knot: list[Any] = [ONES]
    knot.append(knot)
    assert fingerprint(knot) != fingerprint([ONES, [ONES]])
