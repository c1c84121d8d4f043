"""Which files are watched, that is, run in their instrumented form.

The file itself, the files below the root that it imports (environments and installed packages that lie there apart),
and what the user added: paths, globs, packages by name.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from types import ModuleType

from .source import normal

NOT_THE_USERS_OWN = frozenset(
    {"site-packages", "dist-packages", "node_modules", "__pycache__", ".git", ".tox", ".nox", ".eggs", ".venv", "venv"}
)
"""Folders below a root whose files are not its own."""
ENVIRONMENT_FILES = ("pyvenv.cfg", "conda-meta")
"""What tells the top folder of an environment, however it is named."""
PACKAGE = "package:"


class Watch:
    """Answers whether a file is watched."""

    def __init__(self, file: str, root: str, added: Iterable[str] = ()) -> None:
        self._file = normal(file)
        self._root = normal(root)
        self._packages: list[str] = []
        self._patterns: list[re.Pattern[str]] = []
        for item in added:
            if item.startswith(PACKAGE):
                self._packages.append(item.removeprefix(PACKAGE))
            else:
                pattern = normal(os.path.join(root, os.path.expanduser(item)))
                self._patterns.append(re.compile(translate(pattern.replace(os.sep, "/"))))
        self._is_own_folder: dict[str, bool] = {}

    def watches(self, path: str, module: str) -> bool:
        """Whether the source file at `path`, imported as `module`, is watched."""
        return self.is_users_own(path) or self.added(normal(path), module)

    def is_users_own(self, path: str) -> bool:
        """Whether a file is the one that runs, or one of the root's own."""
        real = normal(path)
        return real == self._file or self.own(real)

    def added(self, real: str, module: str) -> bool:
        """Whether the user asked for it by name."""
        if any(module == name or module.startswith(name + ".") for name in self._packages):
            return True
        return any(pattern.match(real.replace(os.sep, "/")) for pattern in self._patterns)

    def own(self, real: str) -> bool:
        """Whether a file (by its real path) is one of the root's own."""
        folder = os.path.dirname(real)
        if folder not in self._is_own_folder:
            self._is_own_folder[folder] = self._is_own(folder)
        return self._is_own_folder[folder]

    def _is_own(self, folder: str) -> bool:
        if folder == self._root:
            return True
        if not folder.startswith(self._root.rstrip(os.sep) + os.sep):
            return False
        if os.path.basename(folder) in NOT_THE_USERS_OWN or folder in (normal(sys.prefix), normal(sys.base_prefix)):
            return False
        if any(os.path.exists(os.path.join(folder, name)) for name in ENVIRONMENT_FILES):
            return False
        parent = os.path.dirname(folder)
        return self.own(os.path.join(parent, ""))

    def loaded_already(self, modules: Mapping[str, ModuleType]) -> list[str]:
        """Names of watched modules among `modules`: they are loaded, and can no longer be instrumented."""
        found = []
        for name, module in list(modules.items()):
            path = getattr(module, "__file__", None)
            if isinstance(path, str) and path.endswith(".py") and self.added(normal(path), name):
                found.append(name)
        return found


def translate(pattern: str) -> str:
    """A regular expression for a path pattern and everything below what it matches.

    `*` and `?` match within one part of the path, `**` any number of parts.
    """
    result = ""
    index = 0
    while index < len(pattern):
        if pattern.startswith("**/", index):
            result += "(?:[^/]+/)*"
            index += 3
        elif pattern.startswith("**", index):
            result += ".*"
            index += 2
        elif pattern[index] == "*":
            result += "[^/]*"
            index += 1
        elif pattern[index] == "?":
            result += "[^/]"
            index += 1
        else:
            result += re.escape(pattern[index])
            index += 1
    return result.rstrip("/") + r"(?:/.*)?\Z"
