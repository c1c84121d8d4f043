"""Messages survive any cutting of the stream, and nothing but messages gets through."""

from __future__ import annotations

import io
import os
import threading
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchlens_lsp.document import framing
from torchlens_lsp.document.framing import Decoder, FramingError, Limits, Message, TruncatedError

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
MESSAGES = st.builds(
    Message,
    st.dictionaries(st.text(), JSON, max_size=4),
    st.lists(st.binary(max_size=40), max_size=3).map(tuple),
)
SMALL = Limits(body=1000, parts=4, total=1000)


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    """`data`, cut at `cuts`."""
    edges = [0, *sorted({cut % (len(data) + 1) for cut in cuts}), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


@given(st.lists(MESSAGES, max_size=4), st.lists(st.integers(0, 10_000), max_size=12))
def test_messages_come_out_of_the_decoder_however_the_bytes_were_cut(messages: list[Message], cuts: list[int]) -> None:
    decoder = Decoder()
    stream = b"".join(map(framing.encode, messages))
    assert [message for piece in pieces(stream, cuts) for message in decoder.feed(piece)] == messages
    decoder.end()


@given(st.lists(MESSAGES, max_size=3))
def test_messages_are_read_from_a_file_object_one_by_one(messages: list[Message]) -> None:
    stream = io.BytesIO()
    for message in messages:
        framing.write(stream, message)
    stream.seek(0)
    assert [framing.read(stream) for _ in messages] == messages
    assert framing.read(stream) is None


def test_messages_larger_than_the_pipe_go_through_file_descriptors() -> None:
    sent = [Message({"n": n}, (bytes([n]) * 300_000, b"", b"x")) for n in range(3)]
    reader, writer = os.pipe()

    def write_all() -> None:
        for message in sent:
            framing.write(writer, message)
        os.close(writer)

    thread = threading.Thread(target=write_all)
    thread.start()
    try:
        assert [framing.read(reader) for _ in sent] == sent
        assert framing.read(reader) is None
    finally:
        thread.join()
        os.close(reader)


class Trickle(io.RawIOBase):
    """A raw stream that reads and writes one byte at a time."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        taken = bytes(self.data[:1])
        del self.data[:1]
        return taken

    def write(self, data: object) -> int:
        self.data += bytes(data)[:1]  # type: ignore[call-overload]
        return 1


def test_streams_that_take_or_give_less_than_asked_are_asked_again() -> None:
    message = Message({"a": "ä"}, (b"one", b"two"))
    stream = Trickle()
    framing.write(stream, message)  # type: ignore[arg-type]
    assert framing.read(stream) == message  # type: ignore[arg-type]


@given(MESSAGES, st.data())
def test_a_truncated_message_is_told_apart_from_the_end_of_the_stream(message: Message, data: st.DataObject) -> None:
    whole = framing.encode(message)
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    with pytest.raises(TruncatedError):
        framing.read(io.BytesIO(cut))
    decoder = Decoder()
    assert decoder.feed(cut) == []
    with pytest.raises(TruncatedError):
        decoder.end()


@given(st.binary(max_size=200), st.lists(st.integers(0, 1000), max_size=5))
def test_garbage_gives_a_framing_error(garbage: bytes, cuts: list[int]) -> None:
    decoder = Decoder(SMALL)

    def feed_all() -> None:
        for piece in pieces(garbage + b"!" * 4000, cuts):
            decoder.feed(piece)

    with pytest.raises(FramingError):
        feed_all()
    with pytest.raises(FramingError):
        decoder.feed(framing.encode(Message({})))


@given(MESSAGES, st.integers(0, 10_000), st.integers(1, 255))
def test_a_flipped_byte_gives_a_message_or_a_framing_error(message: Message, place: int, flip: int) -> None:
    damaged = bytearray(framing.encode(message))
    damaged[place % len(damaged)] ^= flip
    try:
        found = framing.read(io.BytesIO(bytes(damaged)), SMALL)
    except FramingError:
        return
    assert isinstance(found, Message)


@pytest.mark.parametrize("start", [b"hello world\n", b"tlp2", b"Traceback (most recent call last)"])
def test_text_on_the_pipe_is_a_fault_at_its_fourth_byte(start: bytes) -> None:
    with pytest.raises(FramingError, match="no message begins with"):
        Decoder().feed(start[:4])


def test_messages_before_a_fault_are_handed_out_first_and_the_fault_stays() -> None:
    good = Message({"n": 1})
    decoder = Decoder()
    assert decoder.feed(framing.encode(good) + b"garbage") == [good]
    for _ in range(2):
        with pytest.raises(FramingError, match="no message begins with"):
            decoder.feed(b"")
    with pytest.raises(FramingError, match="no message begins with"):
        decoder.end()


def test_another_version_is_named() -> None:
    data = bytearray(framing.encode(Message({})))
    data[4] = 9
    with pytest.raises(FramingError, match="version 9"):
        framing.read(io.BytesIO(bytes(data)))


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (Message({"text": "x" * 2000}), "bytes of JSON"),
        (Message({}, (b"x",) * 5), "5 parts"),
        (Message({}, (b"x" * 600,) * 2), "parts of 1200 bytes"),
    ],
)
def test_sizes_are_bounded_on_both_sides(message: Message, words: str) -> None:
    with pytest.raises(FramingError, match=words):
        framing.encode(message, SMALL)
    with pytest.raises(FramingError, match=words):
        framing.read(io.BytesIO(framing.encode(message)), SMALL)
    with pytest.raises(FramingError, match=words):
        Decoder(SMALL).feed(framing.encode(message))


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"a": NaN}', b'"\xff"', b"[" * 100_000, b"1" * 5000])
def test_a_body_that_is_no_json_object_is_a_fault(body: bytes) -> None:
    framed = framing.encode(Message({"fill": "x" * 3}))
    head, length = framed[:8], len(body).to_bytes(4, "little")
    with pytest.raises(FramingError, match="the body of a message"):
        framing.read(io.BytesIO(head + length + body))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), b"bytes"])
def test_a_body_that_strict_json_cannot_hold_is_not_written(value: object) -> None:
    with pytest.raises(FramingError, match="cannot be written as JSON"):
        framing.encode(Message({"value": value}))


def test_lone_surrogates_survive() -> None:
    message = Message({"text": "\ud800 \U0001f600"})
    assert Decoder().feed(framing.encode(message)) == [message]
