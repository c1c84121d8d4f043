"""Runs with torch and the real recorder: what a worker does to torch, and interpreters that it cannot use.

A run takes seconds here, so each file says as much as it can: its facts are printed and read from the log.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from torchlens_lsp.document.model import CALL, NONE, Document, Range
from torchlens_lsp.document.request import TORCH_MISSING, TORCH_TOO_OLD
from torchlens_lsp.document.values import Tensor
from torchlens_lsp.server import launch

from .conftest import Project

pytestmark = [pytest.mark.torch, pytest.mark.timeout(120)]

NET = """
import json, os
import torch
from torch import nn

at_import = torch.rand(()).item()
threads_at_import = torch.get_num_threads()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.at_build = torch.rand(()).item(), torch.get_num_threads()
        self.table = nn.Embedding(10, 4)
        self.drop = nn.Dropout(0.5)

    def forward(self, ids, scale=1.0):
        at_call = torch.rand(()).item(), torch.get_num_threads()
        x = self.drop(self.table(ids)) * scale
        facts = {
            "random": [at_import, self.at_build[0], at_call[0]],
            "threads": [threads_at_import, self.at_build[1], at_call[1]],
            "training": self.training,
            "grad": torch.is_grad_enabled(),
            "cuda": os.environ.get("CUDA_VISIBLE_DEVICES"),
            "sum": x.sum().item(),
        }
        print("FACTS " + json.dumps(facts))
        return x


def through(function, net, ids):
    return net(ids)
"""
IDS = "torch.arange(6).reshape(2, 3)"


def facts_of(project: Project) -> Any:
    line = next(line for line in project.log.split("\n") if line.startswith("FACTS "))
    return json.loads(line.removeprefix("FACTS "))


@pytest.fixture
def net(project: Project) -> Project:
    project.write("model.py", NET)
    return project


def run(project: Project, call: str, **fields: Any) -> Document:
    return project.run(call, real=True, uri="file:///pyproject.toml", range=Range(1, 0, 1, 9), **fields)


def test_seeds_threads_and_devices_are_those_of_every_run(net: Project) -> None:
    document = run(net, f"Net()({IDS})", threads=2, seed=5)
    assert document.status == "ok", document.error
    assert {op.label for op in document.ops} >= {"input_1", "embedding_1_2", "output_1"}
    facts = facts_of(net)
    assert len(set(facts["random"])) == 1
    assert facts["threads"] == [1, 1, 2]
    assert (facts["training"], facts["grad"], facts["cuda"]) == (True, True, "")

    again = run(net, f"Net()({IDS})", threads=2, seed=5)
    assert again.status == "ok"
    assert facts_of(net) == facts


def test_mode_and_grad_are_set_on_the_module_among_the_arguments_too(net: Project) -> None:
    document = run(net, f"through(None, Net(), {IDS})", mode="eval", grad=False)
    assert document.status == "ok", document.error
    assert (facts_of(net)["training"], facts_of(net)["grad"]) == (False, False)

    document = run(net, f"Net().eval().forward({IDS})", mode="train", setup="import torch  # not cuda")
    assert document.status == "ok", document.error
    assert facts_of(net)["training"] is True
    assert facts_of(net)["cuda"] is None


def test_a_float_where_an_index_is_wanted_is_answered_with_the_call_that_fits(net: Project) -> None:
    document = run(net, "Net()(torch.randn(2, 5))")
    assert document.status == "bad-example"
    assert document.error is not None
    assert (document.error.uri, document.error.range) == ("file:///pyproject.toml", Range(1, 0, 1, 9))
    first, _, rest = document.error.message.partition("\n")
    assert first == (
        "The example passes float32[2, 5] where whole numbers below 10 are looked up in an embedding: "
        "`torch.randint(0, 10, (2, 5))` fits"
    )
    assert "Expected tensor for argument #1 'indices'" in rest


def test_wrong_arguments_are_answered_with_the_signature_of_forward(net: Project) -> None:
    document = run(net, f"Net()({IDS}, sclae=2.0)")
    assert document.status == "bad-example"
    assert document.error is not None
    assert document.error.message == ("got an unexpected keyword argument 'sclae'\nNet.forward(ids, scale=1.0)")


def test_a_loop_without_end_says_which_turn_it_is_in(project: Project) -> None:
    project.write("model.py", "def f(x):\n    while True:\n        x = x + 1\n")
    document = run(project, "f(torch.zeros(2))", timeout=1.0)
    assert document.status == "timeout"
    assert document.error is not None
    assert document.error.message.startswith("still here after 1 s: iteration ")
    assert project.line_of(document) in (2, 3)
    assert len(document.evaluations) > 0


# --- interpreters -----------------------------------------------------------------------------------------------------


def test_without_torch_the_run_says_how_to_install_it(net: Project) -> None:
    script = net.write("interpreter", f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    script.chmod(0o755)
    document = net.run_request(net.request("Net()"), interpreter=str(script), boot=launch.BOOT)
    assert document.status == "error"
    assert document.error is not None
    assert document.error.type == TORCH_MISSING
    assert document.error.message.endswith("-m pip install torch` installs it")
    assert net.line_of(document) == 3


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("__version__ = '1.13.1+cpu'\n", TORCH_TOO_OLD, "has torch 1.13.1+cpu; 2.1 or newer is needed"),
        ("raise ImportError('libc10.so is gone')\n", TORCH_MISSING, "torch cannot be imported by"),
    ],
)
def test_a_torch_that_cannot_be_used_is_said_to_be(
    net: Project, tmp_path: Path, text: str, kind: str, message: str
) -> None:
    (tmp_path / "other" / "torch").mkdir(parents=True)
    (tmp_path / "other" / "torch" / "__init__.py").write_text(text)
    document = run(net, "Net()", env={"PYTHONPATH": str(tmp_path / "other")})
    assert document.status == "error"
    assert document.error is not None
    assert document.error.type == kind
    assert message in document.error.message


# --- the main block ---------------------------------------------------------------------------------------------------

MAIN = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 3)

    def forward(self, x):
        return self.proj(x).relu()


def build(batch):
    return Net().eval(), torch.ones(batch, 4)


if __name__ == "__main__":
    model, x = build(2)
    with torch.no_grad():
        y = model(x)
        print(y)
    raise ValueError("after the call")
"""


def test_a_main_block_is_recorded_up_to_its_traced_call(project: Project) -> None:
    project.write("model.py", MAIN)
    document = project.run("", real=True, origin="main-block")
    assert document.status == "ok", document.error
    assert (document.example.call, document.example.range) == ("model(x)", Range(21, 12, 21, 20))
    assert [op.label for op in document.ops] == ["input_1", "linear_1_1", "relu_1_2", "output_1"]
    assert [call.phase for call in document.calls if call.module == ""] == [CALL]

    shapes = {}
    for site, value in zip(document.evaluations.site, document.evaluations.value, strict=True):
        found = document.values[value] if value != NONE else None
        if isinstance(found, Tensor):
            shapes[document.site(site).range.start_line + 1, document.site(site).expr] = found.meta.shape
    assert shapes[20, "x"] == (2, 4)
    assert shapes[22, "model(x)"] == (2, 3)
    assert shapes[22, "y"] == (2, 3)
    assert not any(line > 22 for line, _ in shapes)
