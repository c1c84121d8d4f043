"""Messages on a byte pipe: a JSON object and any number of binary parts behind a fixed header.

    magic "tlp1"  version (2 bytes)  number of parts (2)  length of the JSON (4)  length of each part (8 each)
    JSON (ASCII)     the parts

All numbers are little-endian and unsigned. `read` and `write` block, on a file descriptor or a binary file object;
`Decoder` is fed with bytes as they come. Lengths are bounded before anything of that length is read. After a
FramingError a stream is of no further use: nothing tells where the next message would begin. Whoever writes to one
stream from several threads brings a lock. What the messages mean is not this module's to know.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

MAGIC = b"tlp1"
VERSION = 1

_HEADER = struct.Struct("<HHI")
"""What follows after the magic, which is looked at by itself: few bytes of anything else are a fault at once."""
_PART_LENGTH_BYTES = 8
_CHUNK = 1 << 20
"""Bytes asked of a stream at once, so that a length alone, with nothing behind it, takes no memory."""


class FramingError(Exception):
    """Bytes that are no message, or a message beyond the limits."""


class TruncatedError(FramingError):
    """The stream ended in the middle of a message."""


@dataclass(frozen=True)
class Message:
    """One message."""

    body: dict[str, Any]
    parts: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Limits:
    """The most that a message may hold; for writing as for reading."""

    body: int = 64 << 20
    """Bytes of JSON."""
    parts: int = 64
    total: int = 512 << 20
    """Bytes of all parts together."""


DEFAULT_LIMITS = Limits()


def encode(message: Message, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """The message as bytes. Raises FramingError where it is beyond the limits or its body is not strict JSON."""
    try:
        body = json.dumps(message.body, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise FramingError(f"the body of a message cannot be written as JSON: {error}") from error
    lengths = [len(part) for part in message.parts]
    _check_limits(len(body), lengths, limits)
    header = _HEADER.pack(VERSION, len(lengths), len(body))
    return b"".join([MAGIC, header, struct.pack(f"<{len(lengths)}Q", *lengths), body, *message.parts])


def write(stream: int | BinaryIO, message: Message, limits: Limits = DEFAULT_LIMITS) -> None:
    """Write one message whole, and flush. Raises FramingError as `encode` does, and OSError as the stream does."""
    rest = memoryview(encode(message, limits))
    while len(rest):
        written = os.write(stream, rest) if isinstance(stream, int) else stream.write(rest)
        if written is None:
            raise BlockingIOError("the stream does not block")
        rest = rest[written:]
    if not isinstance(stream, int):
        stream.flush()


def read(stream: int | BinaryIO, limits: Limits = DEFAULT_LIMITS) -> Message | None:
    """Read one message and not a byte more; None where the stream ended before its first byte.

    Raises TruncatedError where it ended within the message, FramingError on anything that is no message.
    """
    parser = _parse(limits)
    wanted = next(parser)
    first = True
    while True:
        data = _read_exactly(stream, wanted)
        if first and not data:
            return None
        if len(data) < wanted:
            raise TruncatedError("the stream ended in the middle of a message")
        first = False
        try:
            wanted = parser.send(data)
        except StopIteration as end:
            message: Message = end.value
            return message


class Decoder:
    """Cuts bytes that come in any pieces into messages."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._buffer = bytearray()
        self._parser = _parse(limits)
        self._wanted = next(self._parser)
        self._inside = False
        self._fault: FramingError | None = None

    def feed(self, data: bytes | bytearray | memoryview) -> list[Message]:
        """The messages that `data` completes.

        Raises FramingError on anything that is no message, then and at every later call. Messages before the fault
        are handed out first, however the bytes were cut: the fault is raised by the first call that has none.
        """
        if self._fault is None:
            self._buffer += data
            found = self._cut()
            if found:
                return found
        if self._fault is not None:
            raise self._fault
        return []

    def end(self) -> None:
        """The stream is at its end. Raises TruncatedError in the middle of a message, and FramingError as `feed`."""
        if self._fault is None and (self._inside or self._buffer):
            self._fault = TruncatedError("the stream ended in the middle of a message")
        if self._fault is not None:
            raise self._fault

    def _cut(self) -> list[Message]:
        found: list[Message] = []
        try:
            while len(self._buffer) >= self._wanted:
                taken = bytes(self._buffer[: self._wanted])
                del self._buffer[: self._wanted]
                self._inside = True
                try:
                    self._wanted = self._parser.send(taken)
                except StopIteration as end:
                    found.append(end.value)
                    self._inside = False
                    self._parser = _parse(self._limits)
                    self._wanted = next(self._parser)
        except FramingError as fault:
            self._fault = fault
            self._buffer.clear()
        return found


def _parse(limits: Limits) -> Generator[int, bytes, Message]:
    """Yield how many bytes are wanted next (possibly none), be sent exactly those, and return the message."""
    magic = yield len(MAGIC)
    if magic != MAGIC:
        raise FramingError(f"no message begins with {magic!r}")
    version, parts, body_length = _HEADER.unpack((yield _HEADER.size))
    if version != VERSION:
        raise FramingError(f"a message of version {version}; this program speaks version {VERSION}")
    _check_limits(body_length, [0] * parts, limits)
    lengths = struct.unpack(f"<{parts}Q", (yield parts * _PART_LENGTH_BYTES))
    _check_limits(body_length, lengths, limits)
    body = _decode_body((yield body_length))
    found: list[bytes] = []
    for length in lengths:
        found.append((yield length))
    return Message(body, tuple(found))


def _check_limits(body: int, lengths: Sequence[int], limits: Limits) -> None:
    if body > limits.body:
        raise FramingError(f"a message of {body} bytes of JSON; at most {limits.body} are allowed")
    if len(lengths) > limits.parts:
        raise FramingError(f"a message of {len(lengths)} parts; at most {limits.parts} are allowed")
    if sum(lengths) > limits.total:
        raise FramingError(f"a message with parts of {sum(lengths)} bytes; at most {limits.total} are allowed")


def _decode_body(data: bytes) -> dict[str, Any]:
    try:
        body = json.loads(data.decode("ascii"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise FramingError(f"the body of a message is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise FramingError(f"the body of a message is a JSON {type(body).__name__}, not an object")
    return body


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _read_exactly(stream: int | BinaryIO, size: int) -> bytes:
    """`size` bytes, fewer at the end of the stream."""
    pieces: list[bytes] = []
    while size:
        piece = os.read(stream, min(size, _CHUNK)) if isinstance(stream, int) else stream.read(min(size, _CHUNK))
        if piece is None:
            raise BlockingIOError("the stream does not block")
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
