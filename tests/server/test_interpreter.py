"""Which interpreter is taken, why, and what is started to find that out."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import util
from pathlib import Path

import pytest

from torchlens_lsp.server import interpreter, interpreter_probe
from torchlens_lsp.server.interpreter import Choice, InterpreterError, choose
from torchlens_lsp.server.interpreter_probe import Known, ask, environment_of, read_environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the environments are made of shell scripts")

OWN = "the Python that runs torchlens-lsp"


class World:
    """Folders with a root, environments and programs that are no real ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "root"
        self.root.mkdir()
        self.file = self.root / "net.py"
        self.file.write_text("", encoding="utf-8")
        self.path = folder / "path"
        self.path.mkdir()

    def environment(self, name: str, torch: str | None, python: str = "3.11.4", says: str | None = None) -> Path:
        """An environment whose files tell a torch and whose interpreter says the same, or what it is made to say."""
        place = self.folder / name
        packages = place / "lib" / "python3.11" / "site-packages"
        packages.mkdir(parents=True)
        (place / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {python}\n", encoding="utf-8")
        if torch is not None:
            info = packages / f"torch-{torch}.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {torch}\n", encoding="utf-8")
        self.program(place / "bin" / "python", answer(python, torch) if says is None else says)
        return place

    def program(self, path: Path, says: str) -> Path:
        """A program that says something and leaves a trace of having been started."""
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(f"#!/bin/sh\ntouch '{path}.started'\ncat <<'END'\n{says}\nEND\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def started(self) -> set[str]:
        """Names, relative to the world, of the programs that were started."""
        return {str(path.relative_to(self.folder))[: -len(".started")] for path in self.folder.rglob("*.started")}

    def choose(self, variables: Mapping[str, str | Path] | None = None, may_start: bool = True) -> Choice:
        environment = {"PATH": str(self.path), **{k: str(v) for k, v in (variables or {}).items()}}
        return choose(self.root, self.file, environment=environment, may_start=lambda path: may_start)


def answer(python: str, torch: str | None) -> str:
    return f'["torchlens-lsp", "{python}", {"null" if torch is None else f"{torch!r}".replace(chr(39), chr(34))}, ' + (
        "false]" if torch is None else "true]"
    )


def taken(choice: Choice) -> str:
    assert choice.taken is not None, choice.failure()
    return choice.taken.source


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """One in which our own interpreter has no torch."""
    monkeypatch.setattr(interpreter, "_own", lambda: Known("3.12.0", None, False))
    return World(tmp_path.resolve())


def test_the_activated_environment_comes_before_the_folder_of_the_root(world: World) -> None:
    world.environment("root/.venv", "2.5.0")
    active = world.environment("active", "2.6.0+cpu")
    choice = world.choose({"VIRTUAL_ENV": active})
    assert choice.taken is not None
    assert choice.taken.command == (str(active / "bin" / "python"),)
    assert [(each.source, each.verdict) for each in choice.candidates[:3]] == [
        ("VIRTUAL_ENV", "taken, Python 3.11.4, torch 2.6.0+cpu"),
        ("CONDA_PREFIX", "it is not set"),
        (f".venv in {world.root}", "not looked at, because an earlier one was taken"),
    ]
    assert world.started() == set()


@pytest.mark.parametrize(
    ("name", "source"), [("base", ".venv in {root}"), ("mine", "CONDA_PREFIX")], ids=["base", "another"]
)
def test_condas_base_environment_is_active_whether_anybody_wants_it_or_not(
    world: World, name: str, source: str
) -> None:
    world.environment("root/.venv", "2.5.0")
    conda = world.environment("conda", "2.5.0")
    choice = world.choose({"CONDA_PREFIX": conda, "CONDA_DEFAULT_ENV": name})
    assert taken(choice) == source.format(root=world.root)


@pytest.mark.parametrize("name", [".venv", "venv"])
def test_the_folder_of_the_root(world: World, name: str) -> None:
    world.environment(f"root/{name}", "2.5.0")
    assert taken(world.choose()) == f"{name} in {world.root}"


def test_a_folder_above_the_root_counts_within_a_repository(world: World) -> None:
    world.environment(".venv", "2.5.0")
    assert world.choose().taken is None
    (world.folder / ".git").mkdir()
    assert taken(world.choose()) == f".venv in {world.folder}"


def test_the_environment_that_a_librarys_file_lies_in_comes_first(world: World) -> None:
    place = world.environment("library", "2.5.0")
    active = world.environment("active", "2.5.0")
    world.file = place / "lib/python3.11/site-packages/timm/resnet.py"
    assert environment_of(world.file) == place
    assert taken(world.choose({"VIRTUAL_ENV": active})) == "the environment that the file lies in"


def test_our_own_interpreter_comes_before_the_path(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.program(world.path / "python3", answer("3.11.0", "2.5.0"))
    assert taken(world.choose()) == "python3 on the path"
    monkeypatch.setattr(interpreter, "_own", lambda: Known("3.12.0", "2.5.0", True))
    assert taken(world.choose()) == OWN


def test_a_program_on_the_path_is_asked(world: World) -> None:
    world.program(world.path / "python3", answer("3.9.1", "2.5.0"))
    world.program(world.path / "python", "warning: slow\n" + answer("3.11.0", "2.5.0"))
    choice = world.choose()
    assert taken(choice) == "python on the path"
    assert [each.verdict for each in choice.candidates[-2:]] == [
        "passed over: it is Python 3.9.1, and 3.10 or newer is needed",
        "taken, Python 3.11.0, torch 2.5.0",
    ]


@pytest.mark.parametrize(
    ("python", "torch", "fault"),
    [
        ("3.11.4", None, "it has no torch: `{python} -m pip install torch`"),
        (
            "3.11.4",
            "2.0.1",
            "its torch is 2.0.1, and 2.1 or newer is needed: `{python} -m pip install --upgrade torch`",
        ),
        ("3.9.18", "2.1.0", "it is Python 3.9.18, and 3.10 or newer is needed"),
    ],
)
def test_what_cannot_run_a_model_is_passed_over_with_what_mends_it(
    world: World, python: str, torch: str | None, fault: str
) -> None:
    broken = world.environment("broken", torch, python)
    world.environment("root/.venv", "2.5.0")
    choice = world.choose({"VIRTUAL_ENV": broken})
    assert taken(choice) == f".venv in {world.root}"
    [passed_over] = choice.passed_over
    assert passed_over.fault == fault.format(python=broken / "bin/python")


def test_torch_in_an_unusual_place_is_found_by_asking(world: World) -> None:
    place = world.environment("odd", None, says=answer("3.11.4", "2.5.0"))
    assert taken(world.choose({"VIRTUAL_ENV": place})) == "VIRTUAL_ENV"
    assert world.started() == {"odd/bin/python"}


def test_where_none_will_do_all_are_told(world: World) -> None:
    active = world.environment("active", None)
    choice = world.choose({"VIRTUAL_ENV": active})
    assert choice.taken is None
    assert choice.failure().split("\n") == [
        "no interpreter here can run a model; --python names another",
        f"  {active}/bin/python (VIRTUAL_ENV): it has no torch: `{active}/bin/python -m pip install torch`",
        f"  {sys.executable} ({OWN}): it has no torch: `{sys.executable} -m pip install torch`",
    ]


def test_nothing_is_started_that_may_not_be(world: World) -> None:
    world.environment("root/.venv", None)
    world.program(world.path / "python3", answer("3.11.0", "2.5.0"))
    choice = world.choose(may_start=False)
    assert choice.taken is None
    assert world.started() == set()
    assert choice.passed_over[-1].fault == (
        "its files do not tell whether it has torch, and it was not started, because nothing in a root that is not "
        "trusted is"
    )


def test_an_environment_without_an_interpreter_is_passed_over(world: World) -> None:
    (world.root / ".venv").mkdir()
    choice = world.choose({"VIRTUAL_ENV": world.folder / "gone"})
    assert [each.verdict for each in choice.candidates if not each.command][:3] == [
        f"{world.folder}/gone has no Python",
        "it is not set",
        f"{world.root}/.venv has no Python",
    ]


# --- named by the user -----------------------------------------------------------------------------------------------


def named(world: World, python: str) -> tuple[str, ...]:
    choice = choose(world.root, world.file, python=python)
    assert choice.taken is not None
    assert len(choice.candidates) == 1
    return choice.taken.command


def test_a_path_a_folder_a_name_a_command_line(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    place = world.environment("my environment", None)
    python = str(place / "bin" / "python")
    tool = str(world.program(world.path / "uv", ""))
    monkeypatch.setenv("PATH", str(world.path))
    monkeypatch.chdir(world.folder)
    assert named(world, python) == (python,)
    assert named(world, "my environment/bin/python") == (python,)
    assert named(world, str(place)) == (python,)
    assert named(world, "uv") == (tool,)
    assert named(world, "uv run --with 'a b' python") == (tool, "run", "--with", "a b", "python")
    assert world.started() == set()


@pytest.mark.parametrize(
    ("python", "message"),
    [
        ("nowhere/python", "--python: there is no program 'nowhere/python'"),
        ("unclosed 'quote", '--python: "unclosed \'quote" is no command line: No closing quotation'),
        ("{root}", "--python: there is no Python in the folder {root}"),
        ("", "--python: '' names no program"),
    ],
)
def test_what_names_no_interpreter(world: World, python: str, message: str) -> None:
    with pytest.raises(InterpreterError) as caught:
        named(world, python.format(root=world.root))
    assert f"{caught.value}" == message.format(root=world.root)


# --- what is known of one --------------------------------------------------------------------------------------------


def test_files_of_an_environment(world: World) -> None:
    assert read_environment(world.environment("a", "2.5.0")) == Known("3.11.4", "2.5.0", True)
    assert read_environment(world.environment("b", None)) == Known("3.11.4", None, False)


def test_an_environment_that_sees_system_packages_cannot_tell_what_is_missing(world: World) -> None:
    place = world.environment("a", None)
    with (place / "pyvenv.cfg").open("a", encoding="utf-8") as file:
        file.write("include-system-site-packages = true\n")
    assert read_environment(place) == Known("3.11.4", None, None)


def test_a_conda_environment(world: World) -> None:
    place = world.environment("a", "2.5.0")
    (place / "pyvenv.cfg").unlink()
    (place / "conda-meta").mkdir()
    (place / "conda-meta" / "python-3.12.7-h_0.json").touch()
    assert read_environment(place) == Known("3.12.7", "2.5.0", True)


def test_asking_a_real_interpreter(world: World) -> None:
    (world.root / "json.py").write_text("raise Exception('imported from the root')", encoding="utf-8")
    known = ask([sys.executable], world.root)
    assert known.python == ".".join(map(str, sys.version_info[:3]))
    assert known.failure is None
    assert known.has_torch is not None


@pytest.mark.parametrize(
    ("script", "failure"),
    [
        ("echo no >&2; exit 3", "it is no Python that works: no"),
        ("exit 0", "it is no Python that works"),
        ("sleep 5", "it did not answer within 0.2 s"),
    ],
)
def test_asking_what_is_no_python(world: World, script: str, failure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter_probe, "SECONDS", 0.2 if "sleep" in script else 20.0)
    program = world.path / "python"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    assert ask([str(program)], world.root).failure == failure
    assert ask([str(world.path / "none")], world.root).failure == "it cannot be started: No such file or directory"


def test_our_own_interpreter_is_known_without_being_started() -> None:
    known = interpreter._own()
    assert known.python == ".".join(map(str, sys.version_info[:3]))
    assert known.has_torch is (util.find_spec("torch") is not None)
    assert bool(known.torch) is known.has_torch
