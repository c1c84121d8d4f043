"""What to say when torchlens-lsp itself has failed."""

from __future__ import annotations

import platform
import traceback
from typing import TextIO

from .. import __version__


def report(stream: TextIO) -> None:
    """Write what whoever mends it needs, of the exception that is being handled."""
    stream.write(
        f"torchlens-lsp has failed. This is a fault of torchlens-lsp, not of your code: please report it, with the "
        f"following.\n\ntorchlens-lsp {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"{traceback.format_exc()}"
    )
