"""The worker's end of the channel: messages in, messages out, on descriptors that nobody else knows.

A forked child has no channel: what it writes is dropped, so that only the process that was asked answers.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import _exit, getpid
from time import sleep
from typing import Any, NoReturn

from ..document import framing, request

LINGER_SECONDS = 2.0
_ORPHANED_EXIT = 1


class Channel:
    """Messages on a pair of descriptors, which are not inherited by programs that the process starts."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._owner = getpid()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._close)

    @property
    def is_ours(self) -> bool:
        """False in a forked child."""
        return getpid() == self._owner

    def receive(self) -> dict[str, Any] | None:
        """The body of the next message; None at the end of the stream."""
        message = framing.read(self._source)
        return None if message is None else message.body

    def ready(self) -> None:
        """Tell the server which process to send signals to: it may have started us through another program."""
        self._send({"kind": request.READY, "pid": self._owner})

    def phase(self, name: str) -> None:
        """Tell that a phase begins; the server's clock of the phase starts here."""
        self._send({"kind": request.PHASE, "phase": name})

    def document(self, encoded: bytes) -> None:
        """The answer."""
        self._send({"kind": request.DOCUMENT}, [encoded])

    def _send(self, body: dict[str, Any], parts: Sequence[bytes] = ()) -> None:
        if not self.is_ours:
            return
        try:
            framing.write(self._sink, framing.Message(body, tuple(parts)))
        except OSError:
            leave(_ORPHANED_EXIT)  # nobody is left to answer to, or user code has closed the descriptor

    def _close(self) -> None:
        for descriptor in (self._source, self._sink):
            try:
                os.close(descriptor)
            except OSError:
                continue


def linger() -> None:
    """Wait to be ended: the server finds the processes that user code has started as long as their parent is there."""
    sleep(LINGER_SECONDS)


def leave(status: int) -> NoReturn:
    """End the process at once, whatever the user's code has left: threads, `atexit` functions, open files."""
    _exit(status)
