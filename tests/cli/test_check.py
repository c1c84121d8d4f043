"""`check`: what it runs, what it finds, and what it says."""

from __future__ import annotations

from array import array

import pytest

from tests.document.sample import DIM, QUOTIENT, X, sample
from torchlens_lsp.cli.findings import FirstNan, first_nan
from torchlens_lsp.document.model import NONE, Document, Durations
from torchlens_lsp.document.request import RunRequest
from torchlens_lsp.document.values import TENSOR, Stats, TensorMeta

from .conftest import Cli, ended, ok

EXAMPLE = "# torchlens: f()\n"


def ran(cli: Cli) -> list[tuple[str, str]]:
    """File and example of each run."""
    return [(each.file.removeprefix(f"{cli.folder}/"), each.example.name) for each in cli.requests]


def with_nan(request: RunRequest) -> Document:
    document = sample()
    document.example = request.example.example()
    value = document.values.append(TENSOR, 0, document.values.statistics.append(Stats(nan=4)))
    document.ops[1] = document.ops[1]._replace(outputs=(value,))
    return document


# --- what is run -----------------------------------------------------------------------------------------------------


def test_every_example_under_the_paths(cli: Cli) -> None:
    cli.write("a.py", EXAMPLE + "# torchlens[b]: f()\n")
    cli.write("sub/b.py", EXAMPLE)
    cli.write("sub/none.py", "x = 1\n")
    outcome = cli("check", ".")
    assert outcome.code == 0
    assert ran(cli) == [("a.py", "default"), ("a.py", "b"), ("sub/b.py", "default")]
    assert outcome.out == (
        "ok     a.py      default  14 ms call · 1.2 s import\n"
        "ok     a.py      b        14 ms call · 1.2 s import\n"
        "ok     sub/b.py  default  14 ms call · 1.2 s import\n"
        "3 examples: 3 ok\n"
    )


def test_a_file_that_is_named_twice_runs_once(cli: Cli) -> None:
    cli.write("sub/a.py", EXAMPLE)
    assert cli("check", "sub", "sub/a.py", ".").code == 0
    assert ran(cli) == [("sub/a.py", "default")]


@pytest.mark.parametrize(
    "folder", [".git", ".tox", "node_modules", "__pycache__", "venv", "lib/site-packages", "build", "mine"]
)
def test_environments_and_what_is_built_are_not_searched(cli: Cli, folder: str) -> None:
    cli.write("a.py", EXAMPLE)
    cli.write(f"{folder}/x.py", EXAMPLE)
    cli.write("mine/pyvenv.cfg", "")
    cli("check", ".")
    assert ran(cli) == [("a.py", "default")]


def test_examples_of_a_configuration_run_without_their_file_naming_us(cli: Cli) -> None:
    cli.write("src/net.py", "def f(): ...\n")
    cli.write("other.py", "def f(): ...\n")
    table = "[[tool.torchlens-lsp.examples]]\nfile = '{}'\ncall = 'f()'\nname = 'shared'\n"
    cli.write("pyproject.toml", table.format("src/net.py") + table.format("other.py"))
    cli("check", ".")
    assert ran(cli) == [("other.py", "shared"), ("src/net.py", "shared")]
    cli.requests.clear()
    cli("check", "src")
    assert ran(cli) == [("src/net.py", "shared")]


def test_a_main_block_is_not_run(cli: Cli) -> None:
    cli.write("a.py", EXAMPLE)
    cli.write("torchlens_main.py", "import torchlens\nif __name__ == '__main__':\n    f()\n")
    cli("check", ".")
    assert ran(cli) == [("a.py", "default")]


def test_nothing_to_run_is_misuse(cli: Cli) -> None:
    cli.write("a.py", "x = 1\n")
    outcome = cli("check", ".")
    assert outcome.code == 2
    assert outcome.err.startswith("torchlens-lsp: there is no example under .: a comment `# torchlens: ")
    assert "there is no file or folder gone" in cli("check", "gone").err


# --- what is found ---------------------------------------------------------------------------------------------------


def test_an_error_and_a_nan_are_found(cli: Cli) -> None:
    cli.write("a.py", "# torchlens: f()\n# torchlens: g()\n# torchlens: h()\n# torchlens: i(\n")
    place = {"uri": (cli.folder / "a.py").as_uri(), "range": (30, 0, 30, 5)}
    scripts = {"f()": ok, "g()": with_nan, "h()": ended("error", message="no\nmore")}

    def script(sent: RunRequest) -> Document:
        document = scripts[sent.example.call](sent)
        if document.error is not None:
            document.error.uri = place["uri"]
        return document

    cli.script = script
    outcome = cli("check", "a.py")
    assert outcome.code == 2
    assert outcome.out.split("\n") == [
        "ok     a.py  default    14 ms call · 1.2 s import",
        "NaN    a.py  default 2  4 of 6 are NaN in truediv_1_1 (/home/user/scale.py:5), the first of the run",
        "error  a.py  default 3  ValueError: no",
        "bad-example  a.py  default 4  a.py:4 · `(` is never closed: close it with `)`, or go on in the comment lines "
        "directly below",
        "4 examples: 1 ok, 1 NaN, 1 error, 1 bad-example",
        "",
    ]


@pytest.mark.parametrize(("script", "code"), [(with_nan, 1), (ended("error"), 1), (ended("timeout"), 3), (ok, 0)])
def test_exit_codes(cli: Cli, script: object, code: int) -> None:
    cli.write("a.py", EXAMPLE)
    cli.script = script  # type: ignore[assignment]
    assert cli("check", ".").code == code


def test_a_fault_of_a_configuration_is_found_and_the_examples_run(cli: Cli) -> None:
    cli.write("a.py", EXAMPLE)
    cli.write(
        "pyproject.toml", "[tool.torchlens-lsp]\nx = 1\n[[tool.torchlens-lsp.examples]]\nfile='b.py'\ncall='f()'\n"
    )
    outcome = cli("check", ".")
    assert outcome.code == 2
    assert [line.rpartition("pyproject.toml:")[2].partition(":")[0] for line in outcome.err.strip().split("\n")] == [
        "2",
        "4",
    ]
    assert ran(cli) == [("a.py", "default")]


def test_a_file_that_cannot_be_read_is_found(cli: Cli) -> None:
    cli.write("a.py", EXAMPLE)
    (cli.folder / "b.py").write_bytes(b"# torchlens: f('\xff')\n")
    outcome = cli("check", ".")
    assert outcome.code == 2
    assert "b.py cannot be read as Python source" in outcome.err
    assert ran(cli) == [("a.py", "default")]


def test_the_deadline_of_the_command_line(cli: Cli) -> None:
    cli.write("a.py", EXAMPLE)
    cli("check", "a.py", "--timeout", "3")
    assert cli.requests[0].timeout == 3.0


# --- the first NaN ---------------------------------------------------------------------------------------------------


def document_with(nan_in: dict[int, Stats]) -> Document:
    """The sample, with the values of these sites replaced."""
    document = sample()
    for row, site in enumerate(document.evaluations.site):
        if site in nan_in:
            document.evaluations.value[row] = document.values.append(
                TENSOR, 0, document.values.statistics.append(nan_in[site])
            )
    return document


def test_a_run_without_a_nan() -> None:
    assert first_nan(sample()) is None
    assert first_nan(Document(durations=Durations())) is None


def test_an_infinity_is_none() -> None:
    assert first_nan(document_with({X: Stats(-float("inf"), 0.0, inf=3, nan=0)})) is None


def test_the_op_that_made_it_is_named() -> None:
    document = document_with({QUOTIENT: Stats(nan=2)})
    value = document.evaluations.value[2]
    document.ops[1] = document.ops[1]._replace(outputs=(value,))
    assert first_nan(document) == FirstNan("truediv_1_1", "file:///home/user/scale.py", 4, 2, 6)


def test_a_value_that_no_op_made_is_named_by_its_expression() -> None:
    document = document_with({DIM: Stats(nan=1), QUOTIENT: Stats(nan=2)})
    value = document.evaluations.value[2]
    document.ops[1] = document.ops[1]._replace(outputs=(value,))
    assert first_nan(document) == FirstNan("x.dim()", "file:///home/user/scale.py", 3, 1, 6)


def test_an_op_outside_of_watched_files_has_no_line() -> None:
    document = sample()
    document.values.metas.append(TensorMeta((2, "n"), "float32", "cpu"))
    value = document.values.append(TENSOR, 1, document.values.statistics.append(Stats(nan=1)))
    document.evaluations.value = array("i", [])
    document.ops[0] = document.ops[0]._replace(outputs=(value,), file=NONE, site=NONE)
    found = first_nan(document)
    assert found == FirstNan("input_1", None, None, 1, None)
    assert f"{found}" == "1 are NaN in input_1, the first of the run"
