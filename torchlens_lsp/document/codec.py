"""The columnar encoding of a trace document, for the pipe and for files.

A header (magic, version, checksum of the rest), a table with every text once, and columns of numbers. It is data
alone: decoding builds nothing but the classes of `model` and `values`, whatever the bytes. `docs/trace-document.md`
describes it for other readers.
"""

from __future__ import annotations

import binascii
import struct
from array import array
from collections.abc import Sequence
from dataclasses import fields
from typing import TypeVar

from . import records
from .check import check
from .columns import DocumentError, Reader, Writer
from .model import Branches, Document, Evaluations, Loops, RunError
from .values import Statistics, ValueTable

__all__ = ["MAGIC", "VERSION", "DocumentError", "decode", "encode"]

MAGIC = b"tl-trace"
VERSION = 1
"""Of the encoding; goes up with every change that older readers cannot read."""

T = TypeVar("T")
_Columns = TypeVar("_Columns", Evaluations, Branches, Loops, Statistics)
_HEADER = struct.Struct("<8sHI")


def encode(document: Document) -> bytes:
    """The document as bytes. Raises DocumentError where a number needs more than 64 bits.

    The document is not checked (see `check.check`): what does not hold together fails when it is decoded.
    """
    out = Writer()
    out.texts([document.status])
    out.ints([document.output])
    records.EXAMPLE.write(out, [document.example])
    records.DURATIONS.write(out, [document.durations])
    _write_table(out, records.ERROR, [] if document.error is None else [document.error])
    _write_values(out, document.values)
    _write_table(out, records.FILE, document.files)
    _write_table(out, records.CALL, document.calls)
    _write_columns(out, document.evaluations)
    _write_columns(out, document.branches)
    _write_columns(out, document.loops)
    out.ints(document.counts)
    _write_table(out, records.OP, document.ops)
    _write_table(out, records.MODULE, document.modules)
    out.texts(document.notes)
    out.texts(document.dropped.keys())
    out.ints(list(document.dropped.values()))
    out.texts(document.environment.keys())
    out.texts(document.environment.values())
    body = out.data()
    return _HEADER.pack(MAGIC, VERSION, binascii.crc32(body)) + body


def decode(data: bytes) -> Document:
    """The document that `encode` made. Raises DocumentError on anything else, and on contradictions in it."""
    if len(data) < _HEADER.size:
        raise DocumentError("too short to be a trace document")
    magic, version, checksum = _HEADER.unpack_from(data)
    if magic != MAGIC:
        raise DocumentError("not a trace document")
    if version != VERSION:
        raise DocumentError(f"a trace document of version {version}; this program reads version {VERSION}")
    body = memoryview(data)[_HEADER.size :]
    if binascii.crc32(body) != checksum:
        raise DocumentError("the trace document is damaged: its checksum does not match")
    source = Reader(body)
    document = Document(
        status=source.texts(1)[0],
        output=source.ints(1)[0],
        example=records.EXAMPLE.read(source, 1)[0],
        durations=records.DURATIONS.read(source, 1)[0],
        error=_read_error(source),
        values=_read_values(source),
        files=_read_table(source, records.FILE),
        calls=_read_table(source, records.CALL),
        evaluations=_read_columns(source, Evaluations()),
        branches=_read_columns(source, Branches()),
        loops=_read_columns(source, Loops()),
        counts=source.typed("q"),
        ops=_read_table(source, records.OP),
        modules=_read_table(source, records.MODULE),
        notes=source.texts(),
        dropped=dict(zip(keys := source.texts(), source.lengths(len(keys)), strict=True)),
        environment=dict(zip(keys := source.texts(), source.texts(len(keys)), strict=True)),
    )
    source.finish()
    check(document)
    return document


def _write_table(out: Writer, table: records.Table[T], rows: Sequence[T]) -> None:
    out.ints([len(rows)])
    table.write(out, rows)


def _read_table(source: Reader, table: records.Table[T]) -> list[T]:
    return table.read(source, source.lengths(1)[0])


def _write_columns(out: Writer, columns: _Columns) -> None:
    for field in fields(columns):
        column: array[int] | array[float] = getattr(columns, field.name)
        if column.typecode == "d":
            out.floats(column)
        else:
            out.ints(column)  # type: ignore[arg-type]


def _read_columns(source: Reader, columns: _Columns) -> _Columns:
    """Fill the empty `columns`, each array with elements of its own type."""
    for field in fields(columns):
        code = getattr(columns, field.name).typecode
        setattr(columns, field.name, source.floats() if code == "d" else source.typed(code))
    return columns


def _write_values(out: Writer, values: ValueTable) -> None:
    out.ints(values.kind)
    out.ints(values.ref)
    out.ints(values.stats)
    _write_table(out, records.META, values.metas)
    _write_table(out, records.CONTAINER, values.containers)
    _write_table(out, records.OTHER, values.others)
    _write_columns(out, values.statistics)


def _read_values(source: Reader) -> ValueTable:
    return ValueTable(
        kind=source.typed("B"),
        ref=source.typed("i"),
        stats=source.typed("i"),
        metas=_read_table(source, records.META),
        containers=_read_table(source, records.CONTAINER),
        others=_read_table(source, records.OTHER),
        statistics=_read_columns(source, Statistics()),
    )


def _read_error(source: Reader) -> RunError | None:
    found = _read_table(source, records.ERROR)
    if len(found) > 1:
        raise DocumentError("more than one error")
    return found[0] if found else None
