"""Which folder is a file's root: where it runs, whose files are watched, and whose configuration applies.

Looks at the names of files in the folders above it, and for our table into a pyproject.toml; runs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .config import FILE_NAME, Configuration, has_table, read_configuration
from .settings import TABLE

PROJECT_MARKS = (FILE_NAME, "setup.cfg", "setup.py", ".git")
"""What tells a project's folder."""


@dataclass(frozen=True)
class Root:
    """A file's root."""

    folder: Path
    reason: str
    """Why it is this folder, to follow `the root, because`."""
    configuration: Configuration


def find_root(file: Path) -> Root:
    """The root of a file.

    The nearest folder at or above it whose pyproject.toml has `[tool.torchlens-lsp]`; else the nearest one that is a
    project's; else its own folder: a lone file is its own root.
    """
    file = file.absolute()
    for folder in file.parents:
        path = folder / FILE_NAME
        if has_table(path):
            return Root(folder, f"{FILE_NAME} has [tool.{TABLE}]", read_configuration(path))
    for folder in file.parents:
        if folder == Path.home():
            break  # what lies at home is no project, whatever marks it has
        mark = next((name for name in PROJECT_MARKS if (folder / name).exists()), None)
        if mark is not None:
            path = folder / FILE_NAME
            return Root(folder, f"it has a {mark}", read_configuration(path) if path.is_file() else Configuration())
    return Root(file.parent, "the file belongs to no project", Configuration())
