"""What a run printed, kept within bounds."""

from __future__ import annotations

import codecs
from collections.abc import Callable

MAX_FORWARDED = 1 << 20
"""Bytes of one run's output that are handed on; of what comes after, only the end is kept."""
MAX_TAIL = 16 << 10
"""Bytes at the end that are kept."""


class WorkerLog:
    """Takes a run's output as it comes; `forward` is given its beginning as text, as it comes."""

    def __init__(self, forward: Callable[[str], None] | None = None) -> None:
        self._forward = forward
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._forwarded = 0
        self._tail = bytearray()
        self._total = 0

    def feed(self, data: bytes) -> None:
        """More output."""
        self._total += len(data)
        self._tail += data
        if len(self._tail) > 2 * MAX_TAIL:
            del self._tail[:-MAX_TAIL]
        rest = MAX_FORWARDED - self._forwarded
        if self._forward is not None and rest > 0:
            self._forwarded += min(len(data), rest)
            self._forward(self._decoder.decode(data[:rest]))

    def end(self) -> None:
        """No more output."""
        dropped = self._total - self._forwarded
        if self._forward is not None and dropped > 0:
            self._forward(f"\n… and {dropped:,} more bytes, which are not shown\n")

    def last_lines(self, count: int) -> list[str]:
        """The last lines that are not empty."""
        text = bytes(self._tail[-MAX_TAIL:]).decode("utf-8", "replace").replace("\r", "\n")
        return [line.rstrip() for line in text.split("\n") if line.strip()][-count:]
