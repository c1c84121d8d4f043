"""What a project says in its pyproject.toml: the settings and examples of `[tool.torchlens-lsp]`, and its faults.

Everything that is wrong becomes one message at its line, and what is right beside it is kept. Reads files and starts
nothing. An interpreter is never read from here: opening a project must not choose what runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..analysis.examples import BrokenExample, FoundExample, fault_of_call
from ..document.model import Range
from ..document.request import ExampleSpec
from .settings import EXAMPLE_SETTINGS, EXAMPLES, SETTINGS, TABLE, Setting
from .settings_kinds import suggestion
from .toml import Key, Toml, TomlError

FILE_NAME = "pyproject.toml"
ORIGIN = "pyproject"
_TOP: tuple[Key, ...] = ("tool", TABLE)
_WRITTEN = f"[tool.{TABLE}]"
_MISSPELT = ("torchlens_lsp", "torchlens-LSP", "Torchlens-lsp", "torchlenslsp")
_INTERPRETERS = frozenset({"python", "interpreter", "python-path", "command"})
_NO_INTERPRETER = (
    "is no setting: a project never chooses the interpreter that runs it. Activate its environment, call that `.venv`, "
    "or pass --python"
)


@dataclass(frozen=True)
class Problem:
    """One fault of a configuration."""

    path: Path
    range: Range
    message: str
    file: Path | None = None
    """The file whose example is at fault; None where the fault concerns every file of the root."""

    def __str__(self) -> str:
        return f"{self.path}:{self.range.start_line + 1}: {self.message}"


@dataclass(frozen=True)
class ConfiguredExample:
    """An example that stands in a configuration."""

    file: Path
    found: FoundExample
    """The recipe; without a name where none was given."""
    dims: Mapping[str, str] = field(default_factory=dict)
    allow: tuple[str, ...] = ()


@dataclass(frozen=True)
class Configuration:
    """A project's settings, or the defaults where it says nothing. The table in `settings` says what they mean."""

    path: Path | None = None
    """The pyproject.toml; None where there is none with a table of ours."""
    timeout: float = 20.0
    import_timeout: float = 120.0
    memory: int | None = None
    """In bytes."""
    threads: int | None = None
    watch: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    load: str = "asked"
    examples: tuple[ConfiguredExample, ...] = ()
    problems: tuple[Problem, ...] = ()

    def examples_of(self, file: Path) -> list[FoundExample]:
        """The examples of one file, in order."""
        wanted = file.resolve()
        return [example.found for example in self.examples if example.file == wanted]

    def problems_for(self, file: Path) -> list[Problem]:
        """What keeps one file from being run as it is meant to be."""
        wanted = file.resolve()
        return [problem for problem in self.problems if problem.file in (None, wanted)]


def read_configuration(path: Path, text: str | None = None) -> Configuration:
    """The configuration in a pyproject.toml, given its `text` where that is not what is on disk.

    Without our table, the defaults. Never raises: what cannot be read is a problem.
    """
    try:
        toml = Toml(path.read_text(encoding="utf-8") if text is None else text)
    except TomlError as error:
        return Configuration(path, problems=(Problem(path, error.range, f"this is no TOML: {error}"),))
    except UnicodeDecodeError as error:
        return Configuration(path, problems=(Problem(path, _START, f"this is no UTF-8: {error}"),))
    except OSError as error:
        return Configuration(path, problems=(Problem(path, _START, f"it cannot be read: {error.strerror}"),))
    return _Reader(path, toml).read()


def has_table(path: Path) -> bool:
    """Whether a pyproject.toml has a table of ours, or is meant to: one that does not parse and names us is."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    if TABLE not in text:
        return False
    try:
        return Toml(text).get(*_TOP) is not None
    except TomlError:
        return True


_START = Range(0, 0, 0, 0)


class _Reader:
    """Reads one file."""

    def __init__(self, path: Path, toml: Toml) -> None:
        self._path = path
        self._toml = toml
        self._problems: list[Problem] = []

    def read(self) -> Configuration:
        """Everything in it."""
        table = self._toml.get(*_TOP)
        if table is None:
            self._look_for_misspelt_table()
            return Configuration(problems=tuple(self._problems))
        if not isinstance(table, dict):
            self._fault(_TOP, f"{_WRITTEN} has to be a table")
            return Configuration(self._path, problems=tuple(self._problems))
        self._toml.focus("tool", TABLE)
        values = self._values(table, _TOP, SETTINGS, f"of {_WRITTEN}", also=(EXAMPLES,))
        examples = self._examples(table.get(EXAMPLES, []))
        settings = {name.replace("-", "_"): value for name, value in values.items()}
        return Configuration(self._path, **settings, examples=tuple(examples), problems=tuple(self._problems))

    def _look_for_misspelt_table(self) -> None:
        for name in _MISSPELT:
            if self._toml.get("tool", name) is not None:
                self._fault(("tool", name), f"`[tool.{name}]` is not read: the table is called `{_WRITTEN}`")

    def _values(
        self,
        table: Mapping[str, Any],
        place: tuple[Key, ...],
        settings: Sequence[Setting],
        of: str,
        *,
        also: Sequence[str] = (),
        file: Path | None = None,
    ) -> dict[str, Any]:
        """The values of a table that are as they have to be, by their names; the others become problems."""
        known = {setting.name: setting for setting in settings}
        values: dict[str, Any] = {}
        for name, value in table.items():
            setting = known.get(name)
            if setting is not None:
                fault = setting.kind.fault(value)
                if fault is None:
                    values[name] = setting.kind.convert(value)
                else:
                    self._fault((*place, name), f"`{name}` {fault}", file)
            elif name in _INTERPRETERS:
                self._fault((*place, name), f"`{name}` {_NO_INTERPRETER}", file)
            elif name not in also:
                near = suggestion(name, [*known, *also]) or f": there are {', '.join([*known, *also])}"
                self._fault((*place, name), f"`{name}` is no key {of}{near}", file)
        return values

    def _examples(self, tables: Any) -> list[ConfiguredExample]:
        place = (*_TOP, EXAMPLES)
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            self._fault(place, f"`{EXAMPLES}` has to be a list of tables, each headed `[[tool.{TABLE}.{EXAMPLES}]]`")
            return []
        found = (self._example(table, (*place, index)) for index, table in enumerate(tables))
        return [example for example in found if example is not None]

    def _example(self, table: Mapping[str, Any], place: tuple[Key, ...]) -> ConfiguredExample | None:
        """One example; None where something is wrong with it."""
        before = len(self._problems)
        file = self._file(table, place)
        values = self._values(table, place, EXAMPLE_SETTINGS, "of an example", file=file)
        for setting in EXAMPLE_SETTINGS:
            if setting.is_required and setting.name not in table:
                self._fault(place, f"the example has no `{setting.name}`: `{setting.example}`", file)
        if len(self._problems) > before or file is None:
            return None
        spec = ExampleSpec(
            name=values.get("name", "").strip(),
            call=values["call"].strip(),
            setup=values.get("setup", ""),
            origin=ORIGIN,
            uri=self._path.as_uri(),
            range=self._toml.locate(*place, "call"),
        )
        spec = replace(spec, **{name: values[name] for name in ("mode", "grad", "seed", "device") if name in values})
        fault = fault_of_call(spec.call)
        found: FoundExample = spec
        if fault is not None and spec.range is not None:
            found = BrokenExample(spec, *fault, spec.range)
        return ConfiguredExample(file, found, values.get("dims", {}), values.get("allow", ()))

    def _file(self, table: Mapping[str, Any], place: tuple[Key, ...]) -> Path | None:
        """The example's file, also where it does not exist (a problem then); None where no file is named."""
        name = table.get("file")
        if not isinstance(name, str) or not name.strip():
            return None
        path = (self._path.parent / Path(name).expanduser()).resolve()
        if path.is_dir():
            self._fault((*place, "file"), f'"{name}" is a folder, and has to be a file', path)
        elif not path.is_file():
            self._fault((*place, "file"), f'there is no file "{name}" in {self._path.parent}{_like(path)}', path)
        return path

    def _fault(self, place: tuple[Key, ...], message: str, file: Path | None = None) -> None:
        self._problems.append(Problem(self._path, self._toml.locate(*place), message, file))


def _like(path: Path) -> str:
    """A question after the file of the same folder whose name is nearest."""
    try:
        return suggestion(path.name, (each.name for each in path.parent.iterdir()))
    except OSError:
        return ""
