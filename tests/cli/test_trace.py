"""`trace`: which examples it runs, with which options, and what it says of what it cannot run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from torchlens_lsp.cli import runs
from torchlens_lsp.document import expand, request
from torchlens_lsp.document.model import Document
from torchlens_lsp.document.request import RunRequest
from torchlens_lsp.server.interpreter import Candidate, Choice
from torchlens_lsp.server.interpreter_probe import Known

from .conftest import Cli, ended, ok

NET = """\
    import torch
    from torch import nn

    # torchlens: Net()(torch.ones(2, 3))
    # torchlens[train]: Net().train()(torch.ones(2, 3))
    class Net(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(3, 4)

        def forward(self, x):
            return self.layer(x)
    """
TABLE = """\
    [tool.torchlens-lsp]
    timeout = 60
    watch = ["lib.py"]
    env = { A = "1" }
    threads = 3
    [[tool.torchlens-lsp.examples]]
    name = "shared"
    file = "net.py"
    call = "Net()(batch)"
    setup = "batch = torch.ones(2, 3)"
    mode = "eval"
    """


def names(cli: Cli) -> list[str]:
    """Of the examples that were run."""
    return [request.example.name for request in cli.requests]


# --- what is run -----------------------------------------------------------------------------------------------------


def test_all_examples_of_the_file_run_comments_first(cli: Cli) -> None:
    cli.write("net.py", NET)
    cli.write("pyproject.toml", TABLE)
    assert cli("trace", "net.py").code == 0
    assert names(cli) == ["default", "train", "shared"]


def test_one_of_them_by_name(cli: Cli) -> None:
    cli.write("net.py", NET)
    assert cli("trace", "net.py", "--example", "train").code == 0
    assert names(cli) == ["train"]


def test_the_request_is_what_file_configuration_and_example_say(cli: Cli) -> None:
    file = cli.write("net.py", NET)
    cli.write("pyproject.toml", TABLE)
    cli("trace", "net.py", "--example", "shared")
    [sent] = cli.requests
    assert (sent.file, sent.root, sent.timeout, sent.threads, dict(sent.env)) == (
        str(file),
        str(cli.folder),
        60.0,
        3,
        {"A": "1"},
    )
    assert sent.watch == ("lib.py",)
    assert (sent.example.call, sent.example.setup, sent.example.mode) == (
        "Net()(batch)",
        "batch = torch.ones(2, 3)",
        "eval",
    )
    assert (sent.example.origin, sent.example.uri) == ("pyproject", (cli.folder / "pyproject.toml").as_uri())
    assert cli.interpreters == [(sys.executable,)]


def test_the_options_override(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.write("net.py", NET)
    cli.write("pyproject.toml", TABLE)
    cli.write("sub/other.py", "")
    monkeypatch.chdir(cli.folder / "sub")
    options = ["--mode", "train", "--no-grad", "--seed", "7", "--timeout", "1.5"]
    watched = ["--watch", "other.py", "--watch", "package:timm", "--watch", "*/x.py"]
    assert cli("trace", "../net.py", "--example", "shared", *options, *watched).code == 0
    [sent] = cli.requests
    assert (sent.example.mode, sent.example.grad, sent.example.seed, sent.timeout) == ("train", False, 7, 1.5)
    sub = cli.folder / "sub"
    assert sent.watch == ("lib.py", str(sub / "other.py"), "package:timm", str(sub / "*/x.py"))


def test_without_options_the_example_stays_as_it_is(cli: Cli) -> None:
    cli.write("net.py", NET)
    cli("trace", "net.py", "--example", "train")
    example = cli.requests[0].example
    assert (example.mode, example.grad, example.seed, cli.requests[0].timeout) == ("as-is", True, 0, 20.0)


def test_a_call_of_the_command_line_runs_alone(cli: Cli) -> None:
    cli.write("net.py", NET)
    assert cli("trace", "net.py", "--call", " Net()(torch.ones(5, 3)) ").code == 0
    [sent] = cli.requests
    assert (sent.example.call, sent.example.origin, sent.example.uri) == (
        "Net()(torch.ones(5, 3))",
        "command-line",
        None,
    )


def test_a_call_of_the_command_line_that_is_none_is_a_bad_example(cli: Cli) -> None:
    cli.write("net.py", NET)
    [document] = json.loads(cli("trace", "net.py", "--format", "json", "--call", "Net(").out)
    assert (document["status"], document["error"]["type"], document["error"]["uri"]) == (
        "bad-example",
        "SyntaxError",
        None,
    )
    outcome = cli("trace", "net.py", "--call", "Net")
    assert outcome.code == 2
    assert outcome.out.startswith("the example calls nothing: it has to be a call, such as")
    assert cli.requests == []


def test_a_main_block_runs_only_where_there_is_nothing_else(cli: Cli) -> None:
    block = "if __name__ == '__main__':\n    main()\n"
    cli.write("net.py", "def main(): ...\n" + block)
    assert cli("trace", "net.py").code == 0
    assert [each.example.origin for each in cli.requests] == ["main-block"]
    cli.write("net.py", "# torchlens: main()\ndef main(): ...\n" + block)
    cli("trace", "net.py")
    assert cli.requests[-1].example.origin == "comment"


def test_a_link_is_followed(cli: Cli) -> None:
    file = cli.write("src/net.py", NET)
    (cli.folder / "net.py").symlink_to(file)
    cli("trace", "net.py")
    assert cli.requests[0].file == str(file)


# --- what cannot be run ----------------------------------------------------------------------------------------------


def test_a_file_without_an_example_says_how_to_write_one(cli: Cli) -> None:
    cli.write(
        "net.py", "class Net(nn.Module):\n    def __init__(self): nn.Linear(3, 4)\n    def forward(self, x): ...\n"
    )
    outcome = cli("trace", "net.py")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "torchlens-lsp: net.py has no example to run. Write one above the class or function, as a comment:\n"
        "\n"
        "    # torchlens: Net()(torch.randn(2, 3))\n"
        "\n"
        "or pass it: torchlens-lsp trace net.py --call 'Net()(torch.randn(2, 3))'\n"
    )


def test_what_is_suggested_is_an_example(cli: Cli) -> None:
    cli.write(
        "net.py", "class Net(nn.Module):\n    def __init__(self): nn.Linear(3, 4)\n    def forward(self, x): ...\n"
    )
    comment = next(line.strip() for line in cli("trace", "net.py").err.split("\n") if "# torchlens" in line)
    cli.write("net.py", comment + "\nclass Net: ...\n")
    assert cli("trace", "net.py").code == 0
    assert cli.requests[0].example.call == "Net()(torch.randn(2, 3))"


def test_a_main_block_that_calls_nothing_says_so(cli: Cli) -> None:
    cli.write("net.py", "if __name__ == '__main__':\n    print()\n")
    cli.script = ended("no-example")
    outcome = cli("trace", "net.py")
    assert outcome.code == 2
    assert "the `main-block` of net.py calls no class or function of the file that could be traced" in outcome.err


def test_no_example_as_json_is_a_document(cli: Cli) -> None:
    cli.write("net.py", "")
    outcome = cli("trace", "net.py", "--format", "json")
    [document] = json.loads(outcome.out)
    assert (outcome.code, document["status"]) == (2, "no-example")
    assert "has no example to run" in document["error"]["message"]


def test_an_unknown_name_lists_the_known_ones(cli: Cli) -> None:
    cli.write("net.py", NET)
    outcome = cli("trace", "net.py", "--example", "trian")
    assert outcome.code == 2
    assert outcome.err == (
        "torchlens-lsp: net.py has no example 'trian'; did you mean 'train'? It has: 'default', 'train'\n"
    )
    assert cli.requests == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.py"], "there is no file gone.py"),
        (["."], ". is a folder: name a Python file"),
        (
            ["net.py", "--watch", "gone"],
            "--watch: there is no file or folder gone, and `package:NAME` is how a package",
        ),
        (["net.py", "--python", "gone"], "--python: there is no program 'gone'"),
        (["net.py", "--seed", "-1"], "argument --seed: '-1' is no whole number from 0"),
        (["net.py", "--timeout", "nan"], "argument --timeout: 'nan' is no number of seconds above 0"),
        (["net.py", "--timeout", "0"], "argument --timeout: '0' is no number of seconds above 0"),
        (["net.py", "--width", "5"], "argument --width: '5' is no number of columns from 20"),
        (["net.py", "--mode", "evil"], "argument --mode: invalid choice"),
        (["net.py", "--call", "f()", "--example", "x"], "not allowed with argument"),
        ([], "the following arguments are required: FILE"),
    ],
)
def test_misuse(cli: Cli, arguments: list[str], message: str) -> None:
    cli.write("net.py", NET)
    outcome = cli("trace", *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert "Traceback" not in outcome.err
    assert cli.requests == []


def test_a_fault_of_the_configuration_keeps_the_file_from_running(cli: Cli) -> None:
    cli.write("net.py", NET)
    cli.write("pyproject.toml", "[tool.torchlens-lsp]\ntimeuot = 60\nthreads = 'x'\n")
    outcome = cli("trace", "net.py")
    assert outcome.code == 2
    path = cli.folder / "pyproject.toml"
    assert outcome.err == (
        "torchlens-lsp: the configuration is at fault\n"
        f'{path}:2: `timeuot` is no key of [tool.torchlens-lsp]: did you mean "timeout"?\n'
        f'{path}:3: `threads` has to be a whole number above 0, not "x"\n'
    )


def test_a_fault_in_another_files_example_does_not(cli: Cli) -> None:
    cli.write("net.py", NET)
    cli.write("pyproject.toml", "[[tool.torchlens-lsp.examples]]\nfile = 'gone.py'\ncall = 'f()'\n")
    outcome = cli("trace", "net.py")
    assert outcome.code == 0
    assert "of another file: " in outcome.err
    assert 'there is no file "gone.py"' in outcome.err


def test_a_broken_example_is_told_at_its_line_and_the_others_run(cli: Cli) -> None:
    cli.write("net.py", "# torchlens: Net(\n# torchlens[b]: Net()\nclass Net: ...\n")
    outcome = cli("trace", "net.py", "--format", "json")
    first, second = json.loads(outcome.out)
    assert (outcome.code, first["status"], second["status"]) == (2, "bad-example", "ok")
    assert first["error"]["type"] == "SyntaxError"
    assert first["error"]["range"] == {"start": {"line": 0, "character": 16}, "end": {"line": 0, "character": 17}}
    assert names(cli) == ["b"]


def test_a_source_that_cannot_be_decoded(cli: Cli) -> None:
    (cli.folder / "net.py").write_bytes(b"# coding: utf-8\n'\xff'\n")
    outcome = cli("trace", "net.py")
    assert outcome.code == 2
    assert "net.py cannot be read as Python source" in outcome.err


def test_an_environment_that_is_passed_over_is_told_with_what_mends_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.write("net.py", NET)
    python = cli.folder / ".venv" / "bin" / "python"
    taken = cli.folder / "active" / "bin" / "python"
    candidates = (
        Candidate("VIRTUAL_ENV", fault="it is not set"),
        Candidate(".venv", (str(python),), Known(), fault="it has no torch", is_environment=True),
        Candidate("own", (sys.executable,), Known(), fault="it has no torch"),
        Candidate("python3", (str(taken),), Known(), is_taken=True),
    )
    monkeypatch.setattr(runs, "choose", lambda *_, **__: Choice(candidates))
    outcome = cli("trace", "net.py")
    assert outcome.code == 0
    assert outcome.err == f"torchlens-lsp: running {taken} (python3) instead of {python} (.venv): it has no torch\n"
    assert set(cli.interpreters) == {(str(taken),)}


def test_where_no_interpreter_will_do_all_are_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.write("net.py", NET)
    candidates = (Candidate("own", ("/usr/bin/python3",), Known(), fault="it has no torch"),)
    monkeypatch.setattr(runs, "choose", lambda *_, **__: Choice(candidates))
    outcome = cli("trace", "net.py")
    assert (outcome.code, cli.requests) == (2, [])
    assert outcome.err.split("\n")[1] == "  /usr/bin/python3 (own): it has no torch"


# --- exit codes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        ("error", "ValueError", 1),
        ("bad-example", "NameError", 2),
        ("error", request.TORCH_MISSING, 2),
        ("error", request.TORCH_TOO_OLD, 2),
        ("error", request.PYTHON_TOO_OLD, 2),
        ("error", request.CANNOT_START, 2),
        ("timeout", request.TIMEOUT, 3),
        ("out-of-memory", request.OUT_OF_MEMORY, 3),
        ("crashed", request.DIED, 4),
        ("stopped", "Stopped", 5),
        ("untrusted", "Untrusted", 5),
        ("crashed", request.INTERNAL, 70),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_exit_codes(cli: Cli, status: str, kind: str, code: int, form: str) -> None:
    cli.write("net.py", "# torchlens: f()\n")
    cli.script = ended(status, kind)
    assert cli("trace", "net.py", "--format", form).code == code


def test_of_several_runs_the_gravest_counts(cli: Cli) -> None:
    cli.write("net.py", "# torchlens: f()\n# torchlens: g()\n# torchlens: h()\n")
    scripts = {"f()": ended("error"), "g()": ended("timeout"), "h()": ok}
    cli.script = lambda sent: scripts[sent.example.call](sent)
    assert cli("trace", "net.py").code == 3


def test_ctrl_c(cli: Cli) -> None:
    def interrupted(sent: RunRequest) -> Document:
        raise KeyboardInterrupt

    cli.write("net.py", "# torchlens: f()\n")
    cli.script = interrupted
    outcome = cli("trace", "net.py")
    assert (outcome.code, outcome.out) == (130, "")


def test_a_fault_of_ours_asks_to_be_reported(cli: Cli) -> None:
    def faulty(sent: RunRequest) -> Document:
        raise RuntimeError("a bug")

    cli.write("net.py", "# torchlens: f()\n")
    cli.script = faulty
    outcome = cli("trace", "net.py")
    assert outcome.code == 70
    assert outcome.err.startswith("torchlens-lsp: this is a fault of torchlens-lsp, not of your code: please report it")
    assert "RuntimeError: a bug" in outcome.err
    assert "torchlens-lsp 0." in outcome.err


# --- what is printed -------------------------------------------------------------------------------------------------


def test_a_fault_of_ours_in_the_worker_asks_for_it_as_well(cli: Cli) -> None:
    cli.write("net.py", "# torchlens: f()\n")
    cli.script = ended("crashed", request.INTERNAL)
    assert "please report it" in cli("trace", "net.py").err


def test_json_is_the_list_of_documents(cli: Cli) -> None:
    cli.write("net.py", NET)
    outcome = cli("trace", "net.py", "--format", "json")
    assert outcome.out == expand.dumps([ok(sent) for sent in cli.requests]) + "\n"
    assert outcome.err == ""


@pytest.mark.parametrize(
    ("status", "options", "shown"),
    [("ok", [], False), ("ok", ["--show-output"], True), ("error", [], True), ("bad-example", [], False)],
)
def test_what_the_run_printed_is_shown_where_it_failed_or_on_demand(
    cli: Cli, status: str, options: list[str], shown: bool
) -> None:
    cli.write("net.py", "# torchlens: f()\n")
    cli.printed = "hello\n"
    cli.script = ok if status == "ok" else ended(status)
    outcome = cli("trace", "net.py", *options)
    assert outcome.err == ("the run printed:\nhello\n" if shown else "")
    assert "hello" not in outcome.out


def test_of_much_output_the_end_is_shown(cli: Cli) -> None:
    cli.write("net.py", "# torchlens: f()\n")
    cli.printed = "\n".join(map(str, range(100)))
    cli.script = ended("error")
    err = cli("trace", "net.py").err
    assert err.startswith("the run printed (80 lines before these; --show-output shows all):\n80\n")
    assert cli("trace", "net.py", "--show-output").err.startswith("the run printed:\n0\n1\n")


def test_paths_are_shown_as_the_user_knows_them(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.write("net.py", "")
    monkeypatch.chdir(Path(cli.folder).parent)
    assert "project/net.py has no example" in cli("trace", "project/net.py").err
