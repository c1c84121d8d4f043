"""The log: standard error, which user code shares and may exchange, close or fill."""

from __future__ import annotations

import ctypes
import os
import sys
import traceback

LOG = 2


class StandardStreams:
    """The streams as they were before user code ran."""

    def __init__(self) -> None:
        self._streams = [stream for stream in (sys.stdout, sys.stderr) if stream is not None]

    def flush(self) -> None:
        """Hand on what user code printed. What cannot be handed on is lost."""
        for stream in self._streams:
            try:
                stream.flush()
            except Exception:  # closed, or interrupted in the middle of a write of its own
                continue
        try:
            ctypes.pythonapi.fflush(None)
        except (AttributeError, OSError):
            return

    def log_fault(self, exception: BaseException) -> None:
        """Write a fault of ours with its traceback."""
        try:
            self.log("".join(traceback.format_exception(type(exception), exception, exception.__traceback__)))
        except Exception:  # what makes tracebacks may have been taken apart by user code
            self.log(f"{type(exception).__name__}: {exception}")

    @staticmethod
    def log(text: str) -> None:
        """Write a message of ours, past all that user code may have done to the streams."""
        try:
            os.write(LOG, text.encode("utf-8", "replace") + b"\n")
        except OSError:
            return
