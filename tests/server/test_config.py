"""What a pyproject.toml says, and what is said of its faults."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchlens_lsp.analysis.examples import BrokenExample
from torchlens_lsp.document.request import ExampleSpec
from torchlens_lsp.server.config import Configuration, read_configuration
from torchlens_lsp.server.recipes import examples_of
from torchlens_lsp.server.settings import EXAMPLE_SETTINGS, SETTINGS


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "net.py").write_text("class Net: ...\n", encoding="utf-8")
    return tmp_path.resolve()


def read(project: Path, text: str) -> Configuration:
    path = project / "pyproject.toml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return read_configuration(path)


def problem(project: Path, text: str) -> str:
    """The one problem of a configuration, with the line that it is at."""
    [found] = read(project, text).problems
    assert found.path == project / "pyproject.toml"
    assert f"{found}" == f"{found.path}:{found.range.start_line + 1}: {found.message}"
    return f"{found.range.start_line + 1}: {found.message}"


def test_all_settings(project: Path) -> None:
    found = read(
        project,
        """
        [project]
        name = "x"
        [tool.torchlens-lsp]
        timeout = 60
        import-timeout = 300.5
        memory = "1.5 GB"
        threads = 1
        watch = ["lib/*.py", "package:timm"]
        env = { A = "1" }
        load = "all"
        """,
    )
    assert found == Configuration(
        path=project / "pyproject.toml",
        timeout=60.0,
        import_timeout=300.5,
        memory=3 << 29,
        threads=1,
        watch=("lib/*.py", "package:timm"),
        env={"A": "1"},
        load="all",
    )


def test_an_example_with_every_key(project: Path) -> None:
    found = read(
        project,
        """
        [[tool.torchlens-lsp.examples]]
        name = "train batch"
        file = "src/net.py"
        call = "Net(num_classes=10)(batch)"
        setup = "batch = torch.randn(8, 3, 32, 32)"
        mode = "train"
        grad = false
        seed = 7
        device = "cuda:0"
        dims = { batch = "B C H W" }
        allow = ["write"]
        """,
    )
    assert found.problems == ()
    [example] = found.examples
    spec = example.found
    assert isinstance(spec, ExampleSpec)
    assert (spec.name, spec.call, spec.setup) == (
        "train batch",
        "Net(num_classes=10)(batch)",
        "batch = torch.randn(8, 3, 32, 32)",
    )
    assert (spec.mode, spec.grad, spec.seed, spec.device, spec.origin) == ("train", False, 7, "cuda:0", "pyproject")
    assert (spec.uri, spec.range and spec.range.start_line) == ((project / "pyproject.toml").as_uri(), 4)
    assert (example.file, example.dims, example.allow) == (project / "src/net.py", {"batch": "B C H W"}, ("write",))
    assert found.examples_of(project / "src/../src/net.py") == [spec]
    assert found.examples_of(project / "other.py") == []


def test_without_a_table_the_defaults_are_those_of_the_table_of_settings(project: Path) -> None:
    found = read(project, "[project]\nname = 'x'\n")
    assert found == Configuration()
    for setting in SETTINGS:
        assert getattr(found, setting.name.replace("-", "_")) == setting.default, setting.name
    spec = ExampleSpec()
    for setting in EXAMPLE_SETTINGS:
        if hasattr(spec, setting.name) and setting.default not in (None, ""):
            assert getattr(spec, setting.name) == setting.default, setting.name


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("timeout = '60'", '`timeout` has to be a number of seconds above 0, not "60"'),
        ("timeout = 0", "`timeout` has to be a number of seconds above 0, not 0"),
        ("timeout = inf", "`timeout` has to be a number of seconds above 0, not inf"),
        ("timeout = true", "`timeout` has to be a number of seconds above 0, not true"),
        ("threads = 1.5", "`threads` has to be a whole number above 0, not 1.5"),
        ("memory = 24", '`memory` has to be an amount of memory, such as "24 GB", not 24'),
        ("memory = '24'", '`memory` has to be an amount of memory, such as "24 GB", not "24"'),
        ("watch = 'lib'", '`watch` has to be a list of texts, not "lib"'),
        ("watch = ['']", "`watch` has to be a list of texts, not a list"),
        ("env = { A = 1 }", "`env` has to be a table of texts, not a table"),
        ("load = 'some'", '`load` has to be "asked" or "all", not "some"'),
        ("timeuot = 60", '`timeuot` is no key of [tool.torchlens-lsp]: did you mean "timeout"?'),
        ("import_timeout = 60", '`import_timeout` is no key of [tool.torchlens-lsp]: did you mean "import-timeout"?'),
        ("zzz = 60", "`zzz` is no key of [tool.torchlens-lsp]: there are timeout, import-timeout, memory, threads, "
         "watch, env, load, examples"),
        ("python = 'x'", "`python` is no setting: a project never chooses the interpreter that runs it. Activate its "
         "environment, call that `.venv`, or pass --python"),
        ("examples = 3", "`examples` has to be a list of tables, each headed `[[tool.torchlens-lsp.examples]]`"),
        ("examples.call = 'f()'", "`examples` has to be a list of tables, each headed "
         "`[[tool.torchlens-lsp.examples]]`"),
    ],
)  # fmt: skip
def test_a_fault_of_a_setting(project: Path, line: str, message: str) -> None:
    text = f"[tool.torchlens-lsp]\n# a comment\n\n{line}\n"
    assert problem(project, text) == f"4: {message}"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mode = 'evil'", '`mode` has to be "as-is" or "eval" or "train", not "evil"'),
        ("grad = 0", "`grad` has to be true or false, not 0"),
        ("seed = -1", "`seed` has to be a whole number from 0, not -1"),
        ("name = ' '", "`name` has to be a text, not an empty text"),
        ("dims = 'B C'", '`dims` has to be a table of texts, not "B C"'),
        ("allow = ['writ']", '`allow` has "writ" in it, and can be a list of "write", "process", "network": did you '
         'mean "write"?'),
        ("sed = 1", '`sed` is no key of an example: did you mean "seed"?'),
        ("interpreter = 'x'", "`interpreter` is no setting: a project never chooses the interpreter that runs it. "
         "Activate its environment, call that `.venv`, or pass --python"),
    ],
)  # fmt: skip
def test_a_fault_of_an_example(project: Path, line: str, message: str) -> None:
    text = f"""
        [[tool.torchlens-lsp.examples]]
        file = "src/net.py"
        call = "Net()(1)"
        [[tool.torchlens-lsp.examples]]
        {line}
        file = "src/net.py"
        call = "Net()(2)"
        """
    assert problem(project, text) == f"6: {message}"
    assert [
        example.found.call for example in read(project, text).examples if isinstance(example.found, ExampleSpec)
    ] == ["Net()(1)"]


def test_an_example_needs_file_and_call(project: Path) -> None:
    assert problem(project, "[[tool.torchlens-lsp.examples]]\nfile = 'src/net.py'\n") == (
        '1: the example has no `call`: `call = "Net(num_classes=10)(batch)"`'
    )
    assert problem(project, "[[tool.torchlens-lsp.examples]]\ncall = 'f()'\n") == (
        '1: the example has no `file`: `file = "src/net.py"`'
    )


def test_the_file_of_an_example_has_to_be_there(project: Path) -> None:
    text = "[[tool.torchlens-lsp.examples]]\nfile = '{}'\ncall = 'f()'\n"
    assert problem(project, text.format("src/nte.py")) == (
        f'2: there is no file "src/nte.py" in {project}: did you mean "net.py"?'
    )
    assert problem(project, text.format("src")) == '2: "src" is a folder, and has to be a file'


def test_a_problem_of_another_files_example_does_not_concern_a_file(project: Path) -> None:
    found = read(project, "[[tool.torchlens-lsp.examples]]\nfile = 'gone.py'\ncall = 'f()'\n")
    assert found.problems_for(project / "src/net.py") == []
    assert len(found.problems_for(project / "gone.py")) == 1
    assert len(read(project, "[tool.torchlens-lsp]\nx = 1\n").problems_for(project / "src/net.py")) == 1


def test_a_call_that_is_none_is_a_broken_example(project: Path) -> None:
    [example] = read(project, "[[tool.torchlens-lsp.examples]]\nfile = 'src/net.py'\ncall = 'Net('\n").examples
    assert isinstance(example.found, BrokenExample)
    assert example.found.range.start_line == 2
    assert "`(` is never closed" in example.found.message


def test_what_is_no_toml_is_one_problem_at_its_line(project: Path) -> None:
    assert problem(project, "[tool.torchlens-lsp]\ntimeout = \n").startswith("2: this is no TOML: ")


def test_bytes_that_are_no_text(project: Path) -> None:
    path = project / "pyproject.toml"
    path.write_bytes(b"[tool.torchlens-lsp]\n# \xff\n")
    [found] = read_configuration(path).problems
    assert found.message.startswith("this is no UTF-8")
    path.unlink()
    [found] = read_configuration(path).problems
    assert found.message == "it cannot be read: No such file or directory"


def test_a_misspelt_table_is_told(project: Path) -> None:
    assert problem(project, "\n[tool.torchlens_lsp]\ntimeout = 3\n") == (
        "2: `[tool.torchlens_lsp]` is not read: the table is called `[tool.torchlens-lsp]`"
    )
    assert problem(project, "[tool]\ntorchlens-lsp = 3\n") == "2: [tool.torchlens-lsp] has to be a table"


def test_an_unsaved_text_counts_instead_of_the_file(project: Path) -> None:
    path = project / "pyproject.toml"
    assert read_configuration(path, "[tool.torchlens-lsp]\ntimeout = 3").timeout == 3


def test_the_examples_of_a_file_from_everywhere(project: Path) -> None:
    table = "[[tool.torchlens-lsp.examples]]\nfile = 'src/net.py'\ncall = 'Net()({})'\n{}\n"
    text = table.format(1, "") + table.format(2, "name = 'a'") + table.format(3, "name = 'b'")
    configuration = read(project, text)
    file = project / "src/net.py"
    source = "# torchlens: Net()(4)\n# torchlens[b]: Net()(5)\nif __name__ == '__main__': Net()\n"
    found = examples_of(file, source, configuration)
    assert [getattr(each, "name", "broken") for each in found] == ["default", "b", "default 2", "a", "broken"]
    assert isinstance(found[4], BrokenExample)
    assert found[4].range.start_line == 10
    assert "`b`" in found[4].message


def test_a_main_block_is_the_example_of_a_file_without_any(project: Path) -> None:
    file = project / "src/net.py"
    [found] = examples_of(file, "if __name__ == '__main__':\n    f()\n", Configuration())
    assert isinstance(found, ExampleSpec)
    assert (found.origin, found.call) == ("main-block", "")
    assert examples_of(file, "x = 1\n", Configuration()) == []
