"""Texts of source files, as Python reads them: from an unsaved buffer where there is one, else from the disk.

A text keeps its own line ends. Nothing is imported or run here.
"""

from __future__ import annotations

import io
import linecache
import os
import tokenize
from collections.abc import Mapping

_BOM = "\ufeff"


def normal(path: str) -> str:
    """The one spelling of `path` under which files are compared: absolute, links followed."""
    return os.path.normcase(os.path.realpath(path))


def decode(data: bytes, path: str) -> str:
    """The text of a source file: by its byte order mark or its coding comment, UTF-8 otherwise; its line ends kept.

    Raises the SyntaxError that importing it would raise where it cannot be decoded.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding).removeprefix(_BOM)
    except (SyntaxError, UnicodeDecodeError) as error:
        compile(data, path, "exec", dont_inherit=True)
        raise SyntaxError(str(error), (path, 1, 0, "")) from error


class Sources:
    """Texts by path; unsaved text replaces what is on disk, or stands for a file that is not there yet."""

    def __init__(self, overlays: Mapping[str, str]) -> None:
        self._overlays = {normal(path): text.removeprefix(_BOM) for path, text in overlays.items()}

    def overlay(self, path: str) -> str | None:
        """The unsaved text of a file, None where it has none."""
        return self._overlays.get(normal(path)) if self._overlays else None

    def text(self, path: str) -> str:
        """Raises OSError where there is no such file, and what `decode` raises."""
        unsaved = self.overlay(path)
        if unsaved is not None:
            return unsaved
        with open(path, "rb") as file:
            return decode(file.read(), path)

    def exists(self, path: str) -> bool:
        """Whether there is a text for `path`."""
        return self.overlay(path) is not None or os.path.isfile(path)

    def show(self, path: str) -> None:
        """Let tracebacks and `inspect` see the unsaved text of a file."""
        unsaved = self.overlay(path)
        if unsaved is None:
            return
        lines = io.StringIO(unsaved, newline=None).readlines()
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        # Without a time of change, `linecache` does not look at the file on disk.
        linecache.cache[path] = (len(unsaved), None, lines, path)
