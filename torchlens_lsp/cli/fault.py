"""What to say when torchlens-lsp itself has failed."""

from __future__ import annotations

import platform
import traceback
from typing import TextIO

from .. import __version__
from .exits import PLEASE_REPORT


def report(stream: TextIO) -> None:
    """Write what whoever mends it needs, of the exception that is being handled."""
    stream.write(
        f"torchlens-lsp: {PLEASE_REPORT}\n\n"
        f"torchlens-lsp {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"{traceback.format_exc()}"
    )
