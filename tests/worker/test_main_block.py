"""The file's own main block: it runs up to the call that is traced."""

from __future__ import annotations

import ast
import contextlib
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

from torchlens_lsp.worker.main_block import MainBlock, MainRun
from torchlens_lsp.worker.torch_state import Torch

from .conftest import Project, output_of

pytestmark = pytest.mark.timeout(60)


class Module:
    """Stands for `torch.nn.Module`."""

    def __init__(self, *children: Module) -> None:
        self.children = children

    def eval(self) -> Module:
        return self


class Sequential(Module):
    """A module of another file, without parameters."""

    def __call__(self, x: object) -> object:
        return x

    def generate(self, x: object) -> object:
        return x


class Linear(Sequential):
    """A module of another file, with parameters."""


class Tensor:
    """Stands for `torch.Tensor`."""


class StandIn(Torch):
    """A torch whose modules and tensors are the two above."""

    def is_module(self, value: object) -> bool:
        return isinstance(value, Module)

    def is_tensor(self, value: object) -> bool:
        return isinstance(value, Tensor)

    def submodules(self, module: Any) -> Iterator[Any]:
        yield module
        yield from module.children

    def has_parameters(self, module: Any) -> bool:
        return any(isinstance(part, Linear) for part in self.submodules(module))

    def is_builtin_method(self, method: Any) -> bool:
        return bool(method.__func__ is Module.eval)


FILE = "/project/model.py"
DEFINITIONS = """
class Net(Module):
    def __call__(self, x):
        return x

    def generate(self, n):
        return n

    def freeze(self):
        pass

class Data:
    def load(self):
        return self

    def __iter__(self):
        return iter([1])

class Trainer:
    def fit(self, model):
        return model

def build(): return Net()
def parse(): return "arguments"
def train(model): return 0.5
def show(result): pass
def main(arguments=None): return "result"
def noise(): return Tensor()
def decorated(x): return x
decorated = wraps(decorated)
"""


class Ended(BaseException):
    """The run is over."""


def traced(body: str, definitions: str = DEFINITIONS) -> str | None:
    """Text of the call that is traced when `body` is the main block; None where it ran to its end without one."""
    text = definitions + 'if __name__ == "__main__":\n' + textwrap.indent(textwrap.dedent(body), "    ")
    block = MainBlock.find(text, FILE)
    assert block is not None
    found: list[str] = []

    def trace(call: Any, candidate: Any) -> object:
        found.append(candidate.text)
        return call.callee(*call.args, **call.kwargs)

    def end() -> None:
        raise Ended

    def wraps(function: Any) -> Any:
        def wrapper(*args: Any) -> Any:
            return function(*args)

        wrapper.__wrapped__ = function  # type: ignore[attr-defined]
        return wrapper

    run = MainRun(block, FILE, StandIn(), lambda path: path == FILE, lambda: None, trace, end)
    run.install()
    tree = ast.parse(text, FILE)
    block.adjust(tree)
    namespace: dict[str, Any] = {"__name__": "__main__", "wraps": wraps, "quiet": contextlib.nullcontext()}
    namespace.update(Module=Module, Sequential=Sequential, Linear=Linear, Tensor=Tensor)
    try:
        exec(compile(tree, FILE, "exec"), namespace)
    except Ended:
        assert found
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("model = Net()\nx = Tensor()\ny = model(x)\n1 / 0", "model(x)"),
        ("model = build().eval()\nmodel.eval()\ny = model(Tensor())\n1 / 0", "model(Tensor())"),
        ("print(Net()(Tensor()))\n1 / 0", "Net()(Tensor())"),
        ("model = Net()\nmodel.generate(3)\n1 / 0", "model.generate(3)"),
        (
            "model = Module(Module(), Net())\nmodel.__call__ = None\nmodels = [Net()]\nmodels[0](1)\n1 / 0",
            "models[0](1)",
        ),
        (
            "model = Net()\nwith open('/dev/null'):\n    for i in range(3):\n        y = model(i)\n        1 / 0",
            "model(i)",
        ),
        ("model = Net()\nif model(1):\n    1 / 0", "model(1)"),
        ("model = Net()\nys = [model(i) for i in [1]]\n1 / 0", "model(i)"),
        ("try:\n    Net()(1)\nfinally:\n    pass\n1 / 0", "Net()(1)"),
        ("main()\n1 / 0", "main()"),
        ("result = main()\nshow(result)", "main()"),
        ("arguments = parse()\nmain(arguments)\n1 / 0", "main(arguments)"),
        ("model = build()\ntrain(model)\n1 / 0", "train(model)"),
        ("model = build()\nloss = train(model)\nshow(loss)", "train(model)"),
        ("x = noise()\nmodel = Net()\nmodel(x)\n1 / 0", "model(x)"),
        ("show(decorated(Tensor()))", "decorated(Tensor())"),
        ("parse()\n1 / 0", "parse()"),
        ("t = Trainer()\nt.fit(Net())\n1 / 0", "t.fit(Net())"),
        ("raise SystemExit(main())", "main()"),
        ("print(locals()['Net'], [len('')])\nmodel = Net()", None),
        ("pass", None),
    ],
)
def test_the_call_that_is_traced(body: str, call: str | None) -> None:
    try:
        assert traced(body) == call
    except SystemExit:
        assert "SystemExit" in body


@pytest.mark.parametrize(
    ("test", "is_it"),
    [
        ('__name__ == "__main__"', True),
        ('"__main__" == __name__', True),
        ('True and __name__ == "__main__"', True),
        ('__name__ != "__main__"', False),
        ('not __name__ == "__main__"', False),
        ("__name__", False),
    ],
)
def test_a_main_block_is_known_by_its_test(test: str, is_it: bool) -> None:
    assert (MainBlock.find(f"if {test}:\n    pass\n", FILE) is not None) is is_it


def test_the_file_runs_as_the_program_and_the_call_is_named(project: Project) -> None:
    project.write(
        "model.py",
        """
        import sys

        def main(x):
            return x, __name__, sys.modules["__main__"].main is main

        if __name__ == "__main__":
            x = 3
            result = main(x)
            raise ValueError("after the call")
        """,
    )
    document = project.run("", origin="main-block")
    assert output_of(document) == "(3, '__main__', True)"
    assert document.example.call == "main(x)"
    assert document.example.range is not None
    assert tuple(document.example.range) == (8, 13, 8, 20)
    assert document.durations.build_s > 0


def test_a_file_of_a_package_runs_as_python_m_would_run_it(project: Project) -> None:
    project.write("pkg/__init__.py", "")
    project.write("pkg/parts.py", "value = 5\n")
    project.write(
        "pkg/net.py",
        'from .parts import value\ndef main(): return value, __package__\nif __name__ == "__main__":\n    main()\n',
    )
    assert output_of(project.run("", "pkg/net.py", origin="main-block")) == "(5, 'pkg')"


@pytest.mark.parametrize(
    ("body", "phase", "line"), [("1 / 0", "build", 4), ("f()", "call", 2), ("g = f\n    g()", "call", 2)]
)
def test_an_error_in_the_block_is_an_error_where_it_happened(
    project: Project, body: str, phase: str, line: int
) -> None:
    project.write("model.py", f'def f():\n    return 1 / 0\nif __name__ == "__main__":\n    {body}\n')
    document = project.run("", origin="main-block")
    assert document.status == "error"
    assert document.error is not None
    assert (document.error.type, document.error.phase) == ("ZeroDivisionError", phase)
    assert project.line_of(document) == line


@pytest.mark.parametrize(
    "text",
    ["x = 1\n", 'if __name__ == "__main__":\n    print(1)\n', 'if __name__ == "__main__":\n    raise SystemExit\n'],
)
def test_without_a_call_there_is_no_example(project: Project, text: str) -> None:
    project.write("model.py", text)
    assert project.run("", origin="main-block").status == "no-example"


def test_an_error_at_import_comes_before_the_block(project: Project) -> None:
    project.write("model.py", 'import gone\nif __name__ == "__main__":\n    pass\n')
    document = project.run("", origin="main-block")
    assert document.error is not None
    assert (document.error.type, document.error.phase) == ("ModuleNotFoundError", "import")
