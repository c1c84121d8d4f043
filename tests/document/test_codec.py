"""A document comes out of the columnar encoding as it went in; anything else is a DocumentError and nothing worse."""

from __future__ import annotations

import binascii
import dataclasses
import random
import struct
import sys
from array import array

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torchlens_lsp.document import codec, records
from torchlens_lsp.document.codec import DocumentError, decode, encode
from torchlens_lsp.document.columns import Reader, Writer
from torchlens_lsp.document.expand import dumps
from torchlens_lsp.document.index import DocumentIndex
from torchlens_lsp.document.model import NONE, Document, Function, Range, Site, SourceFile, Statement
from torchlens_lsp.document.model import Test as Condition
from torchlens_lsp.document.values import TENSOR, Stats, TensorMeta

from .strategies import documents

HEADER = struct.Struct("<8sHI")
SLOW_TO_MAKE = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None, max_examples=30
)


def sealed(body: bytes) -> bytes:
    """`body` under a header with the right checksum."""
    return HEADER.pack(codec.MAGIC, codec.VERSION, binascii.crc32(body)) + body


def comparable(document: Document) -> object:
    """Equal where documents are equal bit for bit: a NaN equals itself, 0.0 is not -0.0, arrays have types."""
    statistics = document.values.statistics
    columns = [*vars(statistics).values(), document.counts]
    for events in (document.evaluations, document.branches, document.loops):
        columns += vars(events).values()
    raw = [(column.typecode, column.tobytes()) for column in columns]
    rest = dataclasses.replace(document.values, statistics=type(statistics)())
    return dataclasses.replace(document, values=rest), raw


@given(documents())
@SLOW_TO_MAKE
def test_every_document_survives(document: Document) -> None:
    decoded = decode(encode(document))
    assert comparable(decoded) == comparable(document)
    assert encode(decoded) == encode(document)


def test_an_empty_document_survives() -> None:
    assert decode(encode(Document())) == Document()


@given(st.binary(max_size=200))
def test_any_bytes_give_a_document_error(data: bytes) -> None:
    with pytest.raises(DocumentError):
        decode(data)


@given(documents(), st.integers(0, 10_000), st.integers(1, 255))
@SLOW_TO_MAKE
def test_a_flipped_byte_is_noticed(document: Document, place: int, flip: int) -> None:
    data = bytearray(encode(document))
    data[place % len(data)] ^= flip
    with pytest.raises(DocumentError):
        decode(bytes(data))


def read_everything(document: Document) -> None:
    """Follow every reference that a reader could follow."""
    dumps([document])
    index = DocumentIndex(document)
    for call in range(len(document.calls)):
        assert len(list(index.parents_of(call))) <= len(document.calls)
        index.children_of(call), index.rows_in(call), index.branch_rows_in(call), index.loop_rows_in(call)
    for value in range(len(document.values)):
        index.signature(value)
    for file in document.files:
        for statement in file.statements:
            while statement.parent != NONE:
                statement = file.statements[statement.parent]


@given(documents(), st.integers(0, 2**32))
@settings(SLOW_TO_MAKE, max_examples=50)
def test_a_document_changed_on_purpose_is_refused_or_safe_to_read(document: Document, seed: int) -> None:
    body = encode(document)[HEADER.size :]
    chance = random.Random(seed)
    for _ in range(40):
        changed = bytearray(body)
        for _ in range(chance.randint(1, 3)):
            changed[chance.randrange(len(body))] = chance.choice((0, 1, 2, 3, 127, 128, 255, chance.randrange(256)))
        try:
            decoded = decode(sealed(bytes(changed)))
        except DocumentError:
            continue
        read_everything(decoded)


@given(documents(), st.integers(0, 10_000))
@SLOW_TO_MAKE
def test_a_cut_body_is_refused(document: Document, length: int) -> None:
    body = encode(document)[HEADER.size :]
    with pytest.raises(DocumentError):
        decode(sealed(body[: length % len(body)]))


def test_what_follows_the_document_is_refused() -> None:
    with pytest.raises(DocumentError, match="follow after the last column"):
        decode(sealed(encode(Document())[HEADER.size :] + b"\0"))


def test_another_version_is_named() -> None:
    data = bytearray(encode(Document()))
    data[8] = 7
    with pytest.raises(DocumentError, match="version 7"):
        decode(bytes(data))


@pytest.mark.parametrize("table", [value for value in vars(records).values() if isinstance(value, records.Table)])
def test_every_field_of_a_record_has_its_layout(table: records.Table[object]) -> None:
    record = table.record
    fields = getattr(record, "_fields", None) or [field.name for field in dataclasses.fields(record)]  # type: ignore[arg-type]
    assert list(table.layouts) == list(fields)


def test_every_field_of_a_document_is_encoded() -> None:
    names = {field.name for field in dataclasses.fields(Document)}
    assert names == {
        *("example", "status", "durations", "error", "output", "values", "files", "calls", "evaluations"),
        *("branches", "loops", "counts", "ops", "modules", "notes", "dropped", "environment"),
    }, "extend codec, expand and strategies, then this list"


# Columns


@pytest.mark.parametrize(
    ("column", "width"),
    [
        ([0, 255], 1),
        ([-1, 127], 1),
        ([-1, 128], 2),
        ([0, 65535], 2),
        ([-1, 65535], 4),
        ([2**31], 8),
        ([-(2**63), 2**63 - 1], 8),
    ],
)
def test_integers_take_the_least_width_that_holds_them(column: list[int], width: int) -> None:
    out = Writer()
    empty = len(out.data())
    out.ints(column)
    data = out.data()
    assert list(Reader(data).ints()) == column
    assert len(data) == empty + 5 + width * len(column)


def test_an_integer_beyond_64_bits_is_refused() -> None:
    with pytest.raises(DocumentError, match="64 bits"):
        Writer().ints([2**63])


@pytest.mark.parametrize(
    ("column", "width"),
    [([0.5, float("inf"), -0.0], 4), ([0.1], 8), ([1e300], 8), ([0.5] * 100 + [0.1], 8), ([float("nan")], 4)],
)
def test_floats_are_single_only_where_that_is_exact(column: list[float], width: int) -> None:
    out = Writer()
    empty = len(out.data())
    out.floats(array("d", column))
    data = out.data()
    assert Reader(data).floats().tobytes() == array("d", column).tobytes()
    assert len(data) == empty + 5 + width * len(column)


def test_numbers_are_little_endian(monkeypatch: pytest.MonkeyPatch) -> None:
    def written() -> bytes:
        out = Writer()
        out.ints([258, 3])
        return out.data()

    assert written().endswith(b"\x02\x01\x03\x00" if sys.byteorder == "little" else b"\x01\x02\x00\x03")
    # What a machine of the other byte order would do: swap what it writes, and swap it back.
    monkeypatch.setattr(sys, "byteorder", "big" if sys.byteorder == "little" else "little")
    swapped = written()
    assert swapped.endswith(b"\x01\x02\x00\x03" if sys.byteorder == "big" else b"\x02\x01\x03\x00")


def test_a_text_is_stored_once() -> None:
    out = Writer()
    out.texts(["hidden_states", None, "hidden_states"])
    data = out.data()
    assert data.count(b"hidden_states") == 1
    assert Reader(data).optional_texts() == ["hidden_states", None, "hidden_states"]


def test_a_length_without_the_bytes_takes_no_memory() -> None:
    out = Writer()
    out.ints([0])
    data = bytearray(out.data())
    data[-5:-1] = b"\xff\xff\xff\xff"
    with pytest.raises(DocumentError, match="ends in the middle"):
        Reader(bytes(data)).ints()


# Tests of conditions


def nested(depth: int) -> Condition:
    """`not not … x`."""
    test = Condition(NONE, NONE, "truth", (), "x")
    for _ in range(depth):
        test = Condition(NONE, NONE, "not", (test,), f"not {test.expr}" if len(test.expr) < 40 else "deep")
    return test


def with_test(test: Condition) -> Document:
    where = Range(0, 0, 0, 1)
    function = Function("<module>", "module", where, where, (0, 1), ())
    statement = Statement("if", where, (0, 1), 0, test=test)
    return Document(files=[SourceFile("file:///a.py", "", functions=[function], statements=[statement])])


def test_a_test_nested_beyond_all_reason_is_cut_to_its_text() -> None:
    test = decode(encode(with_test(nested(500)))).files[0].statements[0].test
    depth = 0
    operand: object = test
    while isinstance(operand, Condition):
        depth += 1
        operand = operand.operands[0] if operand.operands else None
    assert depth == records.MAX_TEST_DEPTH
    assert isinstance(operand, str)


def test_a_test_of_ordinary_depth_is_whole() -> None:
    document = with_test(nested(records.MAX_TEST_DEPTH - 1))
    assert decode(encode(document)) == document


# Statistics of single tensors


def test_figures_that_were_not_read_stay_not_read() -> None:
    document = Document()
    document.values.metas.append(TensorMeta((), "float32", "cpu"))
    for stats in (Stats(), Stats(nan=3), Stats(min=-0.5, max=0.5, sampled=True)):
        document.values.append(TENSOR, 0, document.values.statistics.append(stats))
    decoded = decode(encode(document)).values
    assert [decoded.statistics[row] for row in decoded.stats] == [
        Stats(),
        Stats(nan=3),
        Stats(min=-0.5, max=0.5, sampled=True),
    ]


def test_sites_keep_their_text() -> None:
    where = Range(3, 4, 3, 9)
    function = Function("f", "def", where, where, (3, 9), (0,))
    file = SourceFile("file:///a.py", "0" * 64, 0, [Site("call", "evaluation", where, "f(\N{GRINNING FACE})", 0)])
    file.functions.append(function)
    document = Document(files=[file], counts=array("q", [0]))
    assert decode(encode(document)).site(0) == file.sites[0]
