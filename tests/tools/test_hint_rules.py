"""The rules of hints find what breaks them."""

from __future__ import annotations

import re

import pytest

from tools.hint_rules import SHAPE


@pytest.mark.parametrize(
    ("label", "shapes"),
    [
        ("f32[8, 64]", ["8, 64"]),
        ("[2,12,8,8] +1, cos [12,1,4] ×6", ["2,12,8,8", "12,1,4"]),
        ("i64[3] +7, bool[]", ["3", ""]),
        ("3×[2, 8, 64]", ["2, 8, 64"]),
        ("{loss: f32[], logits: [2, 10]}", ["", "2, 10"]),
        ("f8e4m3[16]", ["16"]),
        ("1, 32, 32", []),
        ("True, mask[0] = 1", []),
    ],
)
def test_shapes_are_found_in_labels(label: str, shapes: list[str]) -> None:
    assert [sizes for _, sizes in SHAPE.findall(label)] == shapes
    assert re.search(r"\[", label) or not shapes
