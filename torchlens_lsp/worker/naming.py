"""Under which module name a file runs, and what has to be on `sys.path` for that.

A file of a package runs under its dotted name, so that its relative imports work; any other file runs as a module
named after itself. Looks at folders and at the file's own imports; imports and runs nothing.
"""

from __future__ import annotations

import ast
import os
import sys
from dataclasses import dataclass

from ..document.model import Range
from ..tracer.text import SourceText

PROJECT_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
SOURCE_FOLDER = "src"


@dataclass(frozen=True)
class Place:
    """Where a file belongs."""

    name: str
    """`pkg.net`; of a lone file its own name."""
    path: tuple[str, ...]
    """Folders for the front of `sys.path`, first one first."""
    is_package: bool
    """Whether the file is an `__init__.py`."""

    @property
    def in_package(self) -> bool:
        """Whether the file has a package around it (or is one)."""
        return "." in self.name or self.is_package


@dataclass(frozen=True)
class Imports:
    """What a file imports, as far as its name depends on it."""

    level: int
    """The most dots of a relative import; 0 where there is none."""
    tops: frozenset[str]
    """First parts of the names of absolute imports."""


def place_of(file: str, root: str, text: str) -> Place:
    """The place of `file` (an absolute path) in the project at or above `root`, given its `text`.

    - With `__init__.py` beside it, it is part of the package that the chain of these makes, up to the project's own
      folder, and further only where its relative imports reach further.
    - Except that it runs as a lone file where it is written to be run so: it has no relative import, and imports a
      neighbour by its bare name.
    - Where its relative imports reach further than that, or it imports from the folders that it lies in by the
      project's name for them, it is part of a namespace package below the project's folder or its `src`.
    - Otherwise it is a lone file. Its own folder comes first on the path, as for a script; the project's folders
      follow.
    """
    folder, base = os.path.split(file)
    stem = os.path.splitext(base)[0]
    is_package = base == "__init__.py"
    imports = imports_of(text)
    project = project_of(folder, root)
    parts = _regular_package(folder, project, imports.level)
    if parts and not is_package and _is_script_of_package(folder, len(parts), imports):
        parts = []
    parts = _namespace_package(folder, project, imports, len(parts)) or parts
    if not parts:
        return Place(_free_name(stem), _distinct(folder, *source_folders(project), root), False)
    name = ".".join(parts if is_package else [*parts, stem])
    return Place(name, _distinct(_up(folder, len(parts)), *source_folders(project), root), is_package)


def project_of(folder: str, root: str) -> str:
    """The folder of the project that `folder` belongs to: the nearest one up to `root` with a project file, or `root`
    (`folder` itself where it is not below `root`).
    """
    here = folder
    while True:
        if any(os.path.isfile(os.path.join(here, name)) for name in PROJECT_FILES):
            return here
        parent = os.path.dirname(here)
        if _same(here, root):
            return here
        if parent == here:
            return folder
        here = parent


def source_folders(project: str) -> tuple[str, ...]:
    """Folders that a project's packages lie in: its `src`, where that is no package itself, and its own."""
    source = os.path.join(project, SOURCE_FOLDER)
    return (source, project) if os.path.isdir(source) and not _is_package(source) else (project,)


def imports_of(text: str) -> Imports:
    """The imports of a file's text; of a text that does not parse, none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Imports(0, frozenset())
    level = 0
    tops: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            tops.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            level = max(level, node.level)
            if node.level == 0 and node.module:
                tops.add(node.module.partition(".")[0])
    return Imports(level, frozenset(tops))


def import_of(top: str, text: str) -> Range | None:
    """Where a text first imports the module `top` or a part of it."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        if isinstance(node, ast.stmt) and any(name.partition(".")[0] == top for name in names):
            return SourceText(text).range(node)
    return None


def _regular_package(folder: str, project: str, needed: int) -> list[str]:
    """Names of the packages around a file in `folder`, outermost first; the project's own folder is one of them only
    where `needed` packages are not to be had without.
    """
    parts: list[str] = []
    here = folder
    while _is_package(here):
        name = os.path.basename(here)
        is_boundary = _same(here, project) and _has_project_file(here)
        if len(parts) >= needed and (is_boundary or not name.isidentifier()):
            break
        parts.insert(0, name)
        here = os.path.dirname(here)
    return parts


def _namespace_package(folder: str, project: str, imports: Imports, known: int) -> list[str]:
    """Names of the folders that make a package around a file in `folder`, outermost first, if it takes more of them
    than the `known` innermost ones, which have an `__init__.py`; else none.
    """
    for source in source_folders(project):
        relative = os.path.relpath(folder, source)
        parts = [] if relative == os.curdir else relative.split(os.sep)
        if len(parts) <= known or os.pardir in parts or not all(part.isidentifier() for part in parts):
            continue
        names_itself = parts[0] in imports.tops and not _importable_from(folder, parts[0])
        if known < imports.level <= len(parts) or names_itself:
            return parts
    return []


def _is_script_of_package(folder: str, depth: int, imports: Imports) -> bool:
    """Whether a file in a package imports a neighbour that only its own folder on the path makes importable."""
    outside = _up(folder, depth)
    return imports.level == 0 and any(
        _importable_from(folder, name) and not _importable_from(outside, name)
        for name in imports.tops - sys.stdlib_module_names
    )


def _importable_from(folder: str, name: str) -> bool:
    return os.path.isfile(os.path.join(folder, name + ".py")) or _is_package(os.path.join(folder, name))


def _free_name(stem: str) -> str:
    """A module name for a lone file that is not the name of a library module, which others may import."""
    name = stem.replace(".", "_")
    while name in sys.stdlib_module_names or name in sys.modules:
        name += "_"
    return name


def _is_package(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "__init__.py"))


def _has_project_file(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, name)) for name in PROJECT_FILES)


def _same(one: str, other: str) -> bool:
    return os.path.normcase(os.path.abspath(one)) == os.path.normcase(os.path.abspath(other))


def _up(folder: str, levels: int) -> str:
    for _ in range(levels):
        folder = os.path.dirname(folder)
    return folder


def _distinct(*folders: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(folders))
