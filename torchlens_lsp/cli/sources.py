"""Source files, read as Python reads them."""

from __future__ import annotations

import io
import os
import re
import sys
import tokenize
from pathlib import Path
from urllib.parse import unquote, urlsplit

from .exits import UsageError

_BOM = "\ufeff"
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]")


def read_source(path: Path) -> str:
    """The text of a file: by its byte order mark or its coding comment, UTF-8 otherwise; its line ends kept.

    Raises UsageError where it cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding).removeprefix(_BOM)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as Python source: {error}") from error


def existing_file(name: str) -> Path:
    """The file that the user means, links followed. Raises UsageError where there is none."""
    path = Path(name).expanduser()
    if path.is_dir():
        raise UsageError(f"{name} is a folder: name a Python file")
    if not path.is_file():
        raise UsageError(f"there is no file {name}")
    return path.resolve()


def shown(path: Path) -> str:
    """A path as short as it is clear: relative to where the user stands, if it lies below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def shown_briefly(path: Path) -> str:
    """A path as `shown`, but of an installed file from its package on."""
    text = shown(path)
    return _INSTALLED.split(text)[-1] if os.path.isabs(text) else text


def path_of(uri: str | None) -> Path | None:
    """The file of a `file:` URI; None for any other."""
    parts = urlsplit(uri or "")
    if parts.scheme != "file":
        return None
    path = unquote(parts.path)
    has_drive = sys.platform == "win32" and path[2:3] == ":"
    return Path(path[1:] if has_drive else path)
