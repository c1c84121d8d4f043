"""The expanded encoding of a trace document: strict JSON for people and tools, described in `docs/trace-document.md`.

It is the same document with every reference followed: values stand where they occur, ops name their parents by
label, sites appear with their range. It is for reading once; between processes and on disk goes `codec`. A field that
is stated may be relied on; what is None in it was not read or does not exist, never "probably".
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from .index import DocumentIndex
from .model import NONE, PHASES, SCHEMA, Call, Document, Op, Range, RunError, SourceFile
from .values import Container, Stats, Tensor

Json = dict[str, Any]

INTEGER_DTYPES = frozenset(("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"))
_MAX_EXACT = 2.0**53
"""Statistics are doubles: an integer beyond this may be off by some, and is written as a float to say so."""


def schema() -> Json:
    """The JSON Schema (2020-12) of what `dumps` writes."""
    text = Path(__file__).with_name("trace.v1.schema.json").read_text(encoding="utf-8")
    found: Json = json.loads(text)
    return found


def dumps(documents: Iterable[Document]) -> str:
    """A JSON list with one object for each document; ASCII, so that it survives any terminal and pipe."""
    return "[" + ",\n".join(json.dumps(expand(document), allow_nan=False) for document in documents) + "]"


def expand(document: Document) -> Json:
    """One document as a JSON object. Equal values share one dict: copy before changing any."""
    return _Expansion(document).document()


class _Expansion:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._index = DocumentIndex(document)
        self._values: dict[int, Json] = {}

    def document(self) -> Json:
        document = self._document
        return {
            "schema": SCHEMA,
            "example": {
                "name": document.example.name,
                "call": document.example.call,
                "origin": document.example.origin,
                "uri": document.example.uri,
                "range": _range(document.example.range),
            },
            "status": document.status,
            "durations": {
                "import_s": _number(document.durations.import_s),
                "build_s": _number(document.durations.build_s),
                "call_s": _number(document.durations.call_s),
            },
            "error": None if document.error is None else self._error(document.error),
            "output": self._value(document.output),
            "files": self._files(),
            "calls": [self._call(number, call) for number, call in enumerate(document.calls)],
            "ops": [self._op(op) for op in document.ops],
            "modules": [
                {
                    "address": module.address,
                    "type": module.type,
                    "calls": module.calls,
                    "parameters": module.parameters,
                    "defined": self._place(module.site),
                }
                for module in document.modules
            ],
            "notes": document.notes,
            "dropped": document.dropped,
            "environment": document.environment,
        }

    def _files(self) -> Json:
        found: Json = {}
        for file in self._document.files:
            entry = self._file(file)
            if file.uri not in found:
                found[file.uri] = entry
                continue
            # A module that was loaded twice was watched twice: what both runs of it did stands under its one URI.
            for name, rows in entry.items():
                found[file.uri][name] = found[file.uri][name] + rows if isinstance(rows, list) else rows
        return found

    def _file(self, file: SourceFile) -> Json:
        found: Json = {"sha256": file.sha256, "evaluations": [], "branches": [], "loops": []}
        for number, site in enumerate(file.sites, start=file.first_site):
            count = self._document.counts[number]
            if not count:
                continue
            entry: Json = {"range": _range(site.range), "expr": site.expr, "kind": site.kind, "count": count}
            if site.role == "evaluation":
                found["evaluations"].append({**entry, **self._evaluations(number)})
            elif site.role == "branch":
                found["branches"].append({**entry, **self._branches(number)})
            else:
                found["loops"].append({**entry, **self._loops(number)})
        found["not_run"] = [_range(file.statements[number].range) for number in file.not_run]
        found["unwatched"] = file.unwatched
        return found

    def _evaluations(self, site: int) -> Json:
        events, rows = self._document.evaluations, self._index.rows_of(site)
        return {
            "values": [self._value(events.value[row]) for row in rows],
            "call_ids": [_index(events.call[row]) for row in rows],
            "order": list(rows),
        }

    def _branches(self, site: int) -> Json:
        events, rows = self._document.branches, self._index.branch_rows_of(site)
        return {
            "outcomes": [bool(events.outcome[row]) for row in rows],
            "call_ids": [_index(events.call[row]) for row in rows],
            "order": [events.at[row] for row in rows],
        }

    def _loops(self, site: int) -> Json:
        events, rows = self._document.loops, self._index.loop_rows_of(site)
        return {
            "iterations": [events.iterations[row] for row in rows],
            "call_ids": [_index(events.call[row]) for row in rows],
            "order": [events.at[row] for row in rows],
        }

    def _call(self, number: int, call: Call) -> Json:
        file = self._document.files[call.file]
        function = file.functions[call.function]
        return {
            "id": number,
            "function": function.name,
            "module": call.module,
            "module_pass": call.module_pass,
            "phase": PHASES[call.phase],
            "parent": _index(call.parent),
            "called_from": self._place(call.site),
            "uri": file.uri,
            "range": _range(function.range),
            "ended": call.ended,
        }

    def _op(self, op: Op) -> Json:
        place = self._place(op.site)
        return {
            "label": op.label,
            "target": op.target,
            "pass": op.pass_index,
            "module": op.module,
            "outputs": [self._value(value) for value in op.outputs],
            "parents": [self._document.ops[parent].label for parent in op.parents],
            "uri": place["uri"] if place else None if op.file == NONE else self._document.files[op.file].uri,
            "range": place["range"] if place else _range(op.range),
            "call_id": _index(op.call),
            "seconds": _number(op.seconds),
            "order": op.at,
        }

    def _error(self, error: RunError) -> Json:
        return {
            "phase": error.phase,
            "type": error.type,
            "message": error.message,
            "uri": error.uri,
            "range": _range(error.range),
            "operands": [
                {"expr": operand.expr, "value": self._value(operand.value), "at": self._place(operand.site)}
                for operand in error.operands
                if operand.value != NONE
            ],
            "stack": [
                {"uri": frame.uri, "range": _range(frame.range), "function": frame.function} for frame in error.stack
            ],
            "call": _index(error.call),
            "module": error.module,
            "op": error.op,
        }

    def _place(self, site: int) -> Json | None:
        if site == NONE:
            return None
        uri = self._document.files[self._index.file_index(site)].uri
        return {"uri": uri, "range": _range(self._index.site(site).range)}

    def _value(self, value_id: int) -> Json | None:
        if value_id == NONE:
            return None
        found = self._values.get(value_id)
        if found is None:
            found = self._values[value_id] = self._expand_value(value_id)
        return found

    def _expand_value(self, value_id: int) -> Json:
        value = self._document.values[value_id]
        if isinstance(value, Tensor):
            return _tensor(value)
        if not isinstance(value, Container):
            return {"kind": "other", "type": value.type, "repr": value.repr}
        items = [self._value(item) for item in value.items]
        found: Json = {"kind": value.kind, "type": value.type}
        if value.kind in ("dict", "object"):
            found["items"] = _named(value.keys or (), items)
        else:
            found["items"] = items
            if value.keys is not None:
                found["keys"] = list(value.keys)
        if value.length > len(items):
            found["length"] = value.length
        return found


def _tensor(tensor: Tensor) -> Json:
    meta = tensor.meta
    found: Json = {"kind": "tensor", "shape": list(meta.shape), "dtype": meta.dtype, "device": meta.device}
    found["stats"] = _stats(tensor.stats or Stats(), integers=meta.dtype in INTEGER_DTYPES)
    if meta.type != "Tensor":
        found["type"] = meta.type
    if meta.layout != "strided":
        found["layout"] = meta.layout
    if meta.requires_grad:
        found["requires_grad"] = True
    return found


def _stats(stats: Stats, *, integers: bool) -> Json:
    element: Callable[[float | None], float | int | str | None] = _integer if integers else _number
    found: Json = {
        "min": element(stats.min),
        "max": element(stats.max),
        "mean": _number(stats.mean),
        "std": _number(stats.std),
        "nan": stats.nan,
        "inf": stats.inf,
    }
    if stats.sampled:
        found["sampled"] = True
    return found


def _number(number: float | None) -> float | str | None:
    """JSON has no NaN and no infinity: they are written as the text that Python prints."""
    return number if number is None or math.isfinite(number) else str(number)


def _integer(number: float | None) -> float | int | str | None:
    return int(number) if number is not None and abs(number) <= _MAX_EXACT else _number(number)


def _named(keys: Sequence[str], items: Sequence[Json | None]) -> dict[str, Json | None]:
    """Items by key; different keys with the same text (`1` and `"1"`) are told apart by a number behind them."""
    found: dict[str, Json | None] = {}
    for key, item in zip(keys, items, strict=True):
        name, occurrence = key, 1
        while name in found:
            occurrence += 1
            name = f"{key} ({occurrence})"
        found[name] = item
    return found


def _range(where: Range | None) -> Json | None:
    if where is None:
        return None
    return {
        "start": {"line": where.start_line, "character": where.start_character},
        "end": {"line": where.end_line, "character": where.end_character},
    }


def _index(index: int) -> int | None:
    return None if index == NONE else index
