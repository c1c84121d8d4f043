"""What is offered for a file without an example."""

from __future__ import annotations

import textwrap

import pytest

from torchlens_lsp.analysis.suggestion import suggest_examples


def suggested(text: str) -> list[str]:
    return suggest_examples(textwrap.dedent(text))


@pytest.mark.parametrize(
    ("layer", "argument"),
    [
        ("nn.Linear(12, 4)", "torch.randn(2, 12)"),
        ("torch.nn.Conv2d(3, wide, 3)", "torch.randn(2, 3, 32, 32)"),
        ("Conv1d(wide, 3, 3)", "torch.randn(2, 8, 16)"),
        ("nn.Embedding(50, wide)", "torch.randint(50, (2, 16))"),
        ("nn.Linear(unknown, 4)", "torch.randn(...)"),
        ("nn.Dropout(0.1)", "torch.randn(...)"),
    ],
)
def test_the_first_layer_says_what_goes_in(layer: str, argument: str) -> None:
    text = f"""
        class Net(nn.Module):
            def __init__(self, wide=8):
                self.first = {layer}
            def forward(self, x): ...
        """
    assert suggested(text) == [f"Net()({argument})"]


def test_what_has_to_be_given_is_named() -> None:
    text = """
        class Net(nn.Module):
            def __init__(self, wide, deep=2, *, rate, bias=True): ...
            def forward(self, x, mask, y=None, *, scale): ...
        """
    assert suggested(text) == ["Net(wide=..., rate=...)(torch.randn(...), mask=..., scale=...)"]


def test_the_model_comes_before_its_parts() -> None:
    text = """
        class Block(nn.Module):
            def forward(self, x): ...
        class Net(LightningModule):
            def __init__(self):
                self.block = Block()
            def forward(self, x): ...
        """
    assert [call.partition("(")[0] for call in suggested(text)] == ["Net", "Block"]


def test_methods_of_a_base_in_the_file_count() -> None:
    text = """
        class Base(nn.Module):
            def __init__(self, wide): ...
            def forward(self, x): ...
        class Net(Base): ...
        class Loose(nn.Module): ...
        """
    assert suggested(text) == ["Net(wide=...)(torch.randn(...))", "Base(wide=...)(torch.randn(...))"]


def test_classes_that_are_each_others_bases() -> None:
    assert suggested("class A(nn.Module): pass\nclass B(A): pass\nclass A(B): pass\n") == []


def test_a_file_that_does_not_parse_offers_its_names() -> None:
    assert suggested("class Net(nn.Module):\n    def forward(self, x:\n") == ["Net(...)(...)"]


def test_a_file_without_a_model_offers_nothing() -> None:
    assert suggested("class Data: ...\ndef f(x): ...\n") == []
