"""`torchlens-lsp check`: run every example under some paths, one line each. For continuous integration."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..analysis.examples import FoundExample, spec_of
from ..document.model import Document
from ..server.config import FILE_NAME, Problem, has_table, read_configuration
from ..server.recipes import MAIN_BLOCK
from .exits import FOUND, OK, USAGE, UsageError, exit_code, gravest
from .findings import first_nan
from .picture import summary
from .runs import Interpreters, Subject, name_of, run_example, subject_of
from .sources import shown
from .terminal import Output, Progress
from .words import amount, outcome

SKIPPED_FOLDERS = frozenset({"site-packages", "dist-packages", "node_modules", "__pycache__", "build", "dist", "venv"})
"""Folders that are not searched, besides hidden ones and environments under any name."""
ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")
LINES_AT = (30, 60, 120, 300, 600, 1200)
"""Seconds after which a run that still goes on is told where lines cannot be replaced."""
_MARK = "torchlens"
NAN = "NaN"
_STYLES = {"ok": "green"}
_WORD_WIDTH = len("error")


@dataclass(frozen=True)
class Verdict:
    """What became of one example."""

    word: str
    """`ok`, `NaN`, or the run's status."""
    text: str
    code: int


def run(options: argparse.Namespace) -> int:
    """Run the command and return its exit code. Raises UsageError."""
    subjects: list[Subject] = []
    codes: list[int] = []
    for file in dict.fromkeys(_files(options.paths)):
        try:
            subjects.append(subject_of(file))
        except UsageError as error:  # of a folder, one file that cannot be read is one finding of many
            print(f"torchlens-lsp: {error}", file=sys.stderr)
            codes.append(error.code)
    tasks = [(subject, found) for subject in subjects for found in _configured(subject)]
    problems = dict.fromkeys(problem for subject in subjects for problem in subject.configuration.problems)
    for problem in dict.fromkeys([*problems, *_problems_below(options.paths)]):
        print(f"torchlens-lsp: {problem}", file=sys.stderr)
        codes.append(USAGE)
    if not tasks:
        if codes:
            return gravest(codes)
        raise UsageError(
            f"there is no example under {', '.join(options.paths)}: a comment `# torchlens: Net()(torch.randn(2, 3))` "
            "in a file is one"
        )
    output, interpreters, progress = Output(options.color), Interpreters(options.python), Progress(lines_at=LINES_AT)
    width = max(len(shown(subject.file)) for subject, _ in tasks)
    name_width = max(len(name_of(found)) for _, found in tasks)
    counts: Counter[str] = Counter()
    for subject, found in tasks:
        verdict = _verdict(subject, found, interpreters, progress, options.timeout)
        counts[verdict.word] += 1
        codes.append(verdict.code)
        where = f"{shown(subject.file).ljust(width)}  {name_of(found).ljust(name_width)}"
        output.write(f"{_word(output, verdict.word)}  {where}  {verdict.text}".rstrip())
    listed = ", ".join(f"{count} {word}" for word, count in sorted(counts.items(), key=lambda item: item[0] != "ok"))
    output.write(f"{amount(len(tasks), 'example')}: {listed}")
    return gravest(codes)


def judge(document: Document) -> Verdict:
    """What `check` says of a run."""
    code = exit_code(document)
    if code != OK:
        return Verdict(document.status, outcome(document).partition(" · ")[2], code)
    nan = first_nan(document)
    if nan is None:
        return Verdict("ok", summary(document).partition(" · ")[2], OK)
    return Verdict(NAN, f"{nan}", FOUND)


def _verdict(
    subject: Subject, found: FoundExample, interpreters: Interpreters, progress: Progress, timeout: float | None
) -> Verdict:
    progress.begin(f"{shown(subject.file)} {name_of(found)}")
    try:
        return judge(run_example(found, subject, interpreters, progress, timeout=timeout).document)
    except UsageError as error:
        return Verdict("error", " ".join(str(error).split()), error.code)


def _word(output: Output, word: str) -> str:
    text = word.ljust(_WORD_WIDTH)
    if not output.color:
        return text
    from .color import colored

    return colored(text, _STYLES.get(word, "bold red"))


def _configured(subject: Subject) -> list[FoundExample]:
    """The examples that somebody wrote down: a main block is none."""
    return [found for found in subject.examples() if spec_of(found).origin != MAIN_BLOCK]


# --- files -----------------------------------------------------------------------------------------------------------


def _files(paths: Iterable[str]) -> Iterator[Path]:
    """The files under the paths that may have an example: those that name us, and those that a configuration names."""
    for name in paths:
        path = Path(name).expanduser()
        if path.is_dir():
            yield from sorted({*_searched(path), *_named_below(path)})
        elif path.is_file():
            yield path.resolve()
        else:
            raise UsageError(f"there is no file or folder {name}")


def _searched(folder: Path) -> Iterator[Path]:
    for path in _walk(folder):
        if path.suffix == ".py" and _names_us(path):
            yield path.resolve()


def _named_below(folder: Path) -> Iterator[Path]:
    """Files below the folder that have an example in the pyproject.toml of their root, be it above the folder."""
    top = folder.resolve()
    for path in _configurations(folder):
        for example in read_configuration(path).examples:
            if example.file.is_relative_to(top):
                yield example.file


def _configurations(folder: Path) -> Iterator[Path]:
    """Every pyproject.toml with a table of ours that files below the folder may be under."""
    for parent in folder.resolve().parents:
        if has_table(parent / FILE_NAME):
            yield parent / FILE_NAME
            break
    for path in _walk(folder):
        if path.name == FILE_NAME and has_table(path):
            yield path.resolve()


def _problems_below(paths: Iterable[str]) -> Iterator[Problem]:
    for path in paths:
        folder = Path(path).expanduser()
        if folder.is_dir():
            for configuration in _configurations(folder):
                yield from read_configuration(configuration).problems


def _walk(folder: Path) -> Iterator[Path]:
    """All files below a folder, but for those of environments, of installed packages, and of hidden folders."""
    for parent, folders, names in os.walk(folder):
        here = Path(parent)
        folders[:] = sorted(name for name in folders if not _is_skipped(here / name))
        yield from (here / name for name in sorted(names))


def _is_skipped(folder: Path) -> bool:
    if folder.name in SKIPPED_FOLDERS or folder.name.startswith("."):
        return True
    return any((folder / mark).exists() for mark in ENVIRONMENT_MARKS)


def _names_us(path: Path) -> bool:
    try:
        return _MARK in path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
