"""Examples: what is evaluated when, and what is said of a broken one."""

from __future__ import annotations

import pytest

from torchlens_lsp.document.model import Range

from .conftest import Project, output_of

pytestmark = pytest.mark.timeout(60)

NET = """
class Net:
    def __init__(self, wide, *, deep=2):
        self.wide = wide

    def __call__(self, x, mask=None):
        return x * self.wide

def scaled(x, by, *more, **names):
    return x, by, more, names

def build():
    return Net("a", 3)

def fails(kind):
    raise kind("no")

class Config:
    name = "small"

    @property
    def broken(self):
        raise AttributeError("not here")
"""


@pytest.mark.parametrize(
    ("call", "output"),
    [
        ("Net(3)(2)", "6"),
        ("  Net(3)(\n    2,\n)  ", "6"),
        ("scaled(1, *[2, 3], 4, **{'a': 5}, b=6)", "(1, 2, (3, 4), {'a': 5, 'b': 6})"),
        ("scaled(*(i for i in range(3)), key=(lambda: wide)())", "(0, 1, (2,), {'key': 3})"),
        ("max(wide, batch)", "4"),
        ("__import__('math').floor(2.5)", "2"),
    ],
)
def test_the_outermost_call_is_made_in_the_namespace_of_the_file_and_the_setup(
    project: Project, call: str, output: str
) -> None:
    project.write("model.py", NET)
    assert output_of(project.run(call, setup="wide = 3\nbatch = wide + 1")) == output


def test_the_setup_leaves_the_module_as_it_is(project: Project) -> None:
    project.write("model.py", "import sys\ndef f(): return sorted(vars(sys.modules[__name__]))\n")
    assert "batch" not in eval(output_of(project.run("f()", setup="batch = 1")))


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("def f():\n    yield 1\n    yield 2", "[1, 2]"),
        ("def f():\n    yield from range(1000)", repr(list(range(16)))),
        ("async def f():\n    import asyncio\n    await asyncio.sleep(0)\n    return 3", "3"),
        ("async def f():\n    yield 4", "[4]"),
        ("async def g():\n    yield 4\nasync def f():\n    return g()", "[4]"),
        ("def f():\n    return iter([1])", None),
    ],
)
def test_what_a_call_only_began_is_driven_to_its_end(project: Project, code: str, output: str | None) -> None:
    project.write("model.py", code + "\n")
    found = output_of(project.run("f()"))
    assert found == output if output else found.startswith("<list_iterator")


def test_a_generator_without_end_ends_at_the_deadline(project: Project) -> None:
    project.write("model.py", "def f():\n    while True:\n        yield 1\n")
    document = project.run("f()", timeout=0.3)
    assert document.status == "timeout"
    assert project.line_of(document) in (2, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("Nett(3)(2)", "name 'Nett' is not defined. Did you mean 'Net'?"),
        ("Net(3)(pritn)", "name 'pritn' is not defined. Did you mean 'print'?"),
        ("scaled(Config.nam, 1)", "type object 'Config' has no attribute 'nam'. Did you mean 'name'?"),
        ("qqq()", "name 'qqq' is not defined"),
        (
            "Net(3, colour=1)(2)",
            "Net.__init__() got an unexpected keyword argument 'colour'\nNet(wide, *, deep=2)",
        ),
        ("Net()(2)", "Net.__init__() missing 1 required positional argument: 'wide'\nNet(wide, *, deep=2)"),
        ("scaled(1)", "missing a required argument: 'by'\nscaled(x, by, *more, **names)"),
        ("Net(3)(2, 3, 4)", "too many positional arguments\nNet(x, mask=None)"),
        ("(3)(2)", "'int' object is not callable: the example calls what its callee gives, a int"),
        ("scaled(1, 2 +)", "The example is no Python: invalid syntax, in `scaled(1, 2 +)`"),
        ("Net(3)(1 / 0)", "division by zero"),
        (
            "Net",
            "The example has to be a call, such as `Net()(torch.randn(2, 3))`: `Net` calls nothing",
        ),
        ("int('a')(2)", "invalid literal for int() with base 10: 'a'"),
        ("scaled(1, **{'by': 2, 'x': 3})", None),
    ],
)
def test_a_broken_example_says_what_is_wrong_at_its_own_line(project: Project, call: str, message: str | None) -> None:
    project.write("model.py", NET)
    place = Range(4, 0, 4, 20)
    document = project.run(call, uri="file:///pyproject.toml", range=place)
    assert document.status == "bad-example"
    assert document.error is not None
    assert (document.error.uri, document.error.range) == ("file:///pyproject.toml", place)
    if message is not None:
        assert document.error.message == message


def test_a_broken_setup_is_a_broken_example(project: Project) -> None:
    project.write("model.py", NET)
    for setup, message in (
        ("batch = Nett(1)", "name 'Nett' is not defined. Did you mean 'Net'?"),
        ("net = Net()", "Net.__init__() missing 1 required positional argument: 'wide'\nNet(wide, *, deep=2)"),
        ("batch =", "The example's setup is no Python: invalid syntax, in `batch =`"),
    ):
        document = project.run("scaled(1, 2)", setup=setup)
        assert document.status == "bad-example"
        assert document.error is not None
        assert document.error.message == message


@pytest.mark.parametrize(
    ("call", "line", "phase"),
    [
        ("build()(2)", 13, "build"),
        ("str(fails(TypeError))", 16, "build"),
        ("str(fails(NameError))", 16, "build"),
        ("fails(TypeError)", 16, "call"),
        ("build()", 13, "call"),
    ],
)
def test_what_the_users_code_raises_is_an_error_in_it(project: Project, call: str, line: int, phase: str) -> None:
    project.write("model.py", NET)
    document = project.run(call)
    assert document.status == "error"
    assert document.error is not None
    assert document.error.phase == phase
    assert project.line_of(document) == line
