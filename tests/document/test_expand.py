"""The expanded JSON says what the document says, is strict, keeps to its schema, and its page names all of it."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from torchlens_lsp.document import cap, records
from torchlens_lsp.document.expand import dumps, expand, schema
from torchlens_lsp.document.model import (
    NONE,
    PHASES,
    SCHEMA,
    STATUSES,
    Document,
    Module,
    Operand,
    Range,
    RunError,
    SourceFile,
    Statement,
)
from torchlens_lsp.document.values import CONTAINER, OTHER, TENSOR, Container, Other, Stats, TensorMeta

from .sample import DIM, QUOTIENT, URI, on_line, sample
from .strategies import documents
from .test_codec import SLOW_TO_MAKE

PAGE = Path(__file__).parents[2] / "docs" / "trace-document.md"


def closed(node: Any) -> Any:
    """The schema without the permission to add fields: what is written today is all stated."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    found = {name: closed(item) for name, item in node.items()}
    if node.get("type") == "object":
        found.setdefault("additionalProperties", False)
    return found


CLOSED = Draft202012Validator(closed(schema()))
OPEN = Draft202012Validator(schema())


def value_of(document: Document, value_id: int) -> Any:
    """The expanded form of one value."""
    document.output = value_id
    return expand(document)["output"]


def tensor(stats: Stats | None = None, **details: Any) -> Any:
    """The expanded form of a tensor."""
    document = Document()
    values = document.values
    values.metas.append(TensorMeta(**{"shape": (2,), "dtype": "float32", "device": "cpu", **details}))
    row = -1 if stats is None else values.statistics.append(stats)
    return value_of(document, values.append(TENSOR, 0, row))


def container(kind: str, type_: str, keys: tuple[str, ...] | None, items: int, length: int) -> Any:
    """The expanded form of a container of integers."""
    document = Document()
    values = document.values
    for number in range(items):
        values.others.append(Other("int", str(number)))
        values.append(OTHER, number)
    values.containers.append(Container(kind, type_, keys, tuple(range(items)), length))
    return value_of(document, values.append(CONTAINER, 0))


def integers(*numbers: int) -> list[Any]:
    return [{"kind": "other", "type": "int", "repr": str(number)} for number in numbers]


# The schema


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema())


@given(documents())
@SLOW_TO_MAKE
def test_every_document_keeps_to_the_schema_without_fields_of_its_own(document: Document) -> None:
    text = dumps([document])
    CLOSED.validate(json.loads(text, parse_constant=pytest.fail))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["status"], "fine"),
        (["files", URI, "evaluations", 0, "count"], 0),
        (["files", URI, "evaluations", 0, "values", 0, "shape"], "2x3"),
        (["files", URI, "branches", 0, "outcomes", 0], 1),
        (["calls", 0, "phase"], "run"),
        (["ops", 1, "parents"], [0]),
        (["output", "kind"], "array"),
        (["output", "stats", "min"], "infinite"),
        (["files", URI, "evaluations", 0, "range", "start"], 12),
    ],
)
def test_the_schema_refuses_what_is_wrong(path: list[Any], value: Any) -> None:
    document = json.loads(dumps([sample()]))
    assert OPEN.is_valid(document)
    node = document[0]
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    assert not OPEN.is_valid(document)


@pytest.mark.parametrize("path", [[], ["files", URI], ["output"], ["calls", 0], ["ops", 0], ["output", "stats"]])
def test_the_schema_lets_fields_be_added_and_misses_those_that_went(path: list[Any]) -> None:
    document = json.loads(dumps([sample()]))
    node = document[0]
    for key in path:
        node = node[key]
    node["added"] = 1
    assert OPEN.is_valid(document)
    assert not CLOSED.is_valid(document)
    node.popitem()
    node.popitem()
    assert not OPEN.is_valid(document)


def test_the_schema_has_the_words_of_the_model() -> None:
    definitions = schema()["$defs"]
    assert definitions["document"]["properties"]["status"]["enum"] == list(STATUSES)
    assert definitions["document"]["properties"]["schema"]["const"] == SCHEMA
    assert definitions["call"]["properties"]["phase"]["enum"] == list(PHASES)


# Values


def test_a_tensor_has_all_figures_and_null_where_one_was_not_read() -> None:
    unread = {"min": None, "max": None, "mean": None, "std": None, "nan": None, "inf": None}
    assert tensor() == {"kind": "tensor", "shape": [2], "dtype": "float32", "device": "cpu", "stats": unread}
    assert tensor(Stats(nan=0, inf=2))["stats"] == {**unread, "nan": 0, "inf": 2}


def test_a_tensor_tells_what_is_out_of_the_ordinary_alone() -> None:
    assert not {"type", "layout", "requires_grad"} & set(tensor())
    found = tensor(type="Parameter", layout="sparse_coo", requires_grad=True, shape=(2, "s0"))
    assert (found["type"], found["layout"], found["requires_grad"]) == ("Parameter", "sparse_coo", True)
    assert found["shape"] == [2, "s0"]


def test_numbers_that_are_not_finite_are_text() -> None:
    figures = tensor(Stats(float("-inf"), float("inf"), float("nan"), float("nan"), 1, 2))["stats"]
    assert figures == {"min": "-inf", "max": "inf", "mean": "nan", "std": "nan", "nan": 1, "inf": 2}


@pytest.mark.parametrize(
    ("dtype", "figure", "text"),
    [
        ("int64", 3.0, "3"),
        ("uint8", 255.0, "255"),
        ("bool", 1.0, "1"),
        ("float32", 3.0, "3.0"),
        ("int64", -(2.0**53), "-9007199254740992"),
        ("int64", 2.0**63, "9.223372036854776e+18"),
    ],
)
def test_extremes_of_integers_are_integers_as_far_as_they_are_exact(dtype: str, figure: float, text: str) -> None:
    found = tensor(Stats(figure, figure, 0.5), dtype=dtype)["stats"]
    assert json.dumps(found["min"]) == json.dumps(found["max"]) == text
    assert json.dumps(found["mean"]) == "0.5"


def test_a_sample_is_said_to_be_one() -> None:
    assert tensor(Stats(mean=0.5, sampled=True))["stats"]["sampled"] is True
    assert "sampled" not in tensor(Stats(mean=0.5))["stats"]


def test_a_sequence_lists_its_items() -> None:
    assert container("list", "list", None, 2, 2) == {"kind": "list", "type": "list", "items": integers(0, 1)}


def test_a_named_tuple_is_a_tuple_with_the_names_beside_it() -> None:
    assert container("tuple", "Point", ("x", "y"), 2, 2) == {
        "kind": "tuple",
        "type": "Point",
        "items": integers(0, 1),
        "keys": ["x", "y"],
    }


def test_a_dict_and_an_object_have_their_items_by_key() -> None:
    items = dict(zip("ab", integers(0, 1), strict=True))
    assert container("dict", "dict", ("a", "b"), 2, 2) == {"kind": "dict", "type": "dict", "items": items}
    assert container("object", "Batch", ("a", "b"), 2, 2) == {"kind": "object", "type": "Batch", "items": items}


def test_a_container_that_was_cut_says_how_long_it_is() -> None:
    assert container("list", "list", None, 2, 5)["length"] == 5
    assert container("dict", "dict", ("a",), 1, 5)["length"] == 5


def test_keys_of_the_same_text_do_not_hide_each_other() -> None:
    found = container("dict", "dict", ("1", "1", "1 (2)", "1"), 4, 4)["items"]
    assert list(found) == ["1", "1 (2)", "1 (2) (2)", "1 (3)"]
    assert list(found.values()) == integers(0, 1, 2, 3)


# Files


def test_a_site_has_its_values_in_order_with_their_calls_and_its_true_count() -> None:
    document = sample()
    document.counts[DIM] = 40
    document.evaluations.site.append(DIM)
    document.evaluations.value.append(NONE)
    document.evaluations.call.append(NONE)
    [entry] = [entry for entry in expand(document)["files"][URI]["evaluations"] if entry["expr"] == "x.dim()"]
    assert entry == {
        "range": {"start": {"line": 3, "character": 7}, "end": {"line": 3, "character": 14}},
        "expr": "x.dim()",
        "kind": "call",
        "count": 40,
        "values": [*integers(2), None],
        "call_ids": [1, None],
        "order": [1, 3],
    }


def test_a_site_without_events_is_left_out_and_one_whose_events_were_dropped_is_not() -> None:
    document = sample()
    document.counts[QUOTIENT] = 0
    document.branches.site = document.branches.call = document.branches.at = array("i")
    document.branches.outcome = array("B")
    file = expand(document)["files"][URI]
    assert [entry["expr"] for entry in file["evaluations"]] == ["x", "x.dim()"]
    assert [(entry["count"], entry["outcomes"]) for entry in file["branches"]] == [(1, [])]


def test_an_outcome_stands_between_the_evaluations_around_it() -> None:
    [branch] = expand(sample())["files"][URI]["branches"]
    assert branch["outcomes"] == [True]
    assert branch["order"] == [2]


def test_statements_that_did_not_run_are_ranges() -> None:
    document = sample()
    document.files[0].statements = [Statement("assign", on_line(4, 8, 26), (4, 26), 1)]
    document.files[0].not_run = [0]
    span = {"start": {"line": 4, "character": 8}, "end": {"line": 4, "character": 26}}
    assert expand(document)["files"][URI]["not_run"] == [span]


def test_a_file_that_was_loaded_twice_has_what_both_runs_of_it_did() -> None:
    document = sample()
    first = document.files[0]
    again = SourceFile(first.uri, "later", 4, first.sites[:1], first.functions, unwatched=["because"])
    document.files.append(again)
    document.counts.append(1)
    document.evaluations.site.append(4)
    document.evaluations.value.append(0)
    document.evaluations.call.append(1)
    [(uri, file)] = expand(document)["files"].items()
    assert uri == URI
    assert [entry["expr"] for entry in file["evaluations"]] == ["x", "x.dim()", "x / x.shape[0]", "x"]
    assert file["sha256"] == "later"
    assert file["unwatched"] == ["because"]


# Calls, ops, modules, errors


def test_an_op_without_a_site_keeps_the_place_that_is_known() -> None:
    document = sample()
    document.ops[1] = document.ops[1]._replace(site=NONE, range=on_line(4, 0, 0))
    op = expand(document)["ops"][1]
    assert op["uri"] == URI
    assert op["range"]["start"] == {"line": 4, "character": 0}
    assert op["parents"] == ["input_1"]


def test_a_module_says_where_it_was_made() -> None:
    document = sample()
    document.modules = [Module("", "Net", 1, 12, NONE), Module("proj", "Linear", 3, 12, DIM)]
    outer, proj = expand(document)["modules"]
    assert outer == {"address": "", "type": "Net", "calls": 1, "parameters": 12, "defined": None}
    assert proj["defined"]["uri"] == URI
    assert proj["defined"]["range"]["start"] == {"line": 3, "character": 7}


def test_an_error_has_the_operands_that_have_a_value() -> None:
    document = sample()
    document.error = RunError(
        "call", "RuntimeError", "no", URI, on_line(4, 12, 26), [Operand("x", 0, DIM), Operand("y", NONE)], call=1
    )
    error = expand(document)["error"]
    assert [operand["expr"] for operand in error["operands"]] == ["x"]
    assert error["operands"][0]["value"]["shape"] == [2, 3]
    assert (error["call"], error["module"], error["op"]) == (1, None, None)


def test_several_documents_are_one_strict_json_list_in_ascii() -> None:
    first, second = sample(), sample()
    second.example.name = "größer \ud800"
    first.durations.call_s = float("inf")
    text = dumps([first, second])
    assert text.isascii()
    found = json.loads(text, parse_constant=pytest.fail)
    assert [entry["example"]["name"] for entry in found] == ["default", "größer \ud800"]
    assert found[0]["durations"]["call_s"] == "inf"
    assert json.loads(dumps([])) == []


# The page


def fields_of(node: Any) -> Iterator[str]:
    """Every field that the schema states."""
    if isinstance(node, dict):
        yield from node.get("properties", {})
        for item in node.values():
            yield from fields_of(item)
    elif isinstance(node, list):
        for item in node:
            yield from fields_of(item)


def test_the_page_names_every_field() -> None:
    page = PAGE.read_text(encoding="utf-8")
    missing = {name for name in fields_of(schema()) if f"`{name}`" not in page}
    assert not missing, "every field that is written is explained in docs/trace-document.md"


def test_the_page_shows_what_is_written() -> None:
    page = PAGE.read_text(encoding="utf-8")
    [shown] = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert json.loads(shown) == [expand(sample())]


def test_the_page_lists_the_columns_of_every_record_in_their_order() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    tables = {value for value in vars(records).values() if isinstance(value, records.Table)}
    for table in tables:
        columns = ", ".join(f"`{name}`" for name in table.layouts)
        assert columns in page, f"{table.record.__name__}: {columns}"


def test_the_page_states_the_bound_on_the_size() -> None:
    assert f"({cap.LIMIT >> 20} MiB)" in PAGE.read_text(encoding="utf-8")


def test_a_range_is_that_of_the_protocol() -> None:
    document = sample()
    document.example.range = Range(1, 2, 3, 4)
    assert expand(document)["example"]["range"] == {
        "start": {"line": 1, "character": 2},
        "end": {"line": 3, "character": 4},
    }
