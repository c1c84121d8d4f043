"""The index answers as a search through the whole document would."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from torchlens_lsp.document.index import DocumentIndex
from torchlens_lsp.document.model import NONE, Document
from torchlens_lsp.document.values import (
    CONTAINER,
    OTHER,
    TENSOR,
    Container,
    Other,
    Stats,
    Tensor,
    TensorMeta,
    ValueTable,
)

from .strategies import documents
from .test_codec import SLOW_TO_MAKE


@given(documents())
@SLOW_TO_MAKE
def test_events_by_site_and_by_call(document: Document) -> None:
    index = DocumentIndex(document)
    tables: list[tuple[Any, Any, Any]] = [
        (document.evaluations, index.rows_of, index.rows_in),
        (document.branches, index.branch_rows_of, index.branch_rows_in),
        (document.loops, index.loop_rows_of, index.loop_rows_in),
    ]
    for events, of_site, in_call in tables:
        for site in range(len(document.counts)):
            assert list(of_site(site)) == [row for row, found in enumerate(events.site) if found == site]
        for call in range(len(document.calls)):
            assert list(in_call(call)) == [row for row, found in enumerate(events.call) if found == call]


@given(documents())
@SLOW_TO_MAKE
def test_sites_and_their_files(document: Document) -> None:
    index = DocumentIndex(document)
    assert len(index) == len(document.counts)
    for site in range(len(document.counts)):
        assert index.site(site) == document.site(site)
        assert index.file_index(site) == document.file_of(site)
    for site in (NONE, len(index)):
        with pytest.raises(IndexError):
            index.site(site)
        with pytest.raises(IndexError):
            index.file_index(site)


@given(documents())
@SLOW_TO_MAKE
def test_calls_by_function_and_by_parent(document: Document) -> None:
    index = DocumentIndex(document)
    calls = document.calls
    for number, file in enumerate(document.files):
        for function in range(len(file.functions)):
            expected = [n for n, call in enumerate(calls) if (call.file, call.function) == (number, function)]
            assert list(index.calls_of(number, function)) == expected
    for call in range(NONE, len(calls)):
        assert list(index.children_of(call)) == [n for n, child in enumerate(calls) if child.parent == call]
    for call in range(len(calls)):
        parents = list(index.parents_of(call))
        assert parents[:1] == [parent for parent in [calls[call].parent] if parent != NONE]
        assert all(calls[inner].parent == outer for inner, outer in zip([call, *parents], parents, strict=False))
        if parents:
            assert calls[parents[-1]].parent == NONE


def test_nothing_is_found_for_nothing() -> None:
    index = DocumentIndex(Document())
    lists = [index.rows_of, index.branch_rows_of, index.loop_rows_of, index.rows_in, index.branch_rows_in]
    for look_up in (*lists, index.loop_rows_in, index.children_of):
        assert list(look_up(NONE)) == []
    assert list(index.parents_of(NONE)) == []
    assert list(index.calls_of(NONE, NONE)) == []
    assert index.signature(NONE) == NONE


def looks(values: ValueTable, value_id: int) -> Any:
    """What a hint can show of a value, written out."""
    value = values[value_id]
    if isinstance(value, Tensor):
        return ("tensor", value.meta.shape, value.meta.dtype, value.meta.device)
    if isinstance(value, Container):
        return (value.kind, value.keys, [looks(values, item) for item in value.items], value.length)
    return ("other", value.type, value.repr)


@given(documents())
@SLOW_TO_MAKE
def test_signatures_are_equal_exactly_where_values_look_equal(document: Document) -> None:
    index, ids = DocumentIndex(document), range(len(document.values))
    for one in ids:
        for other in ids:
            same = looks(document.values, one) == looks(document.values, other)
            assert (index.signature(one) == index.signature(other)) == same


def test_a_signature_sees_through_containers_and_past_statistics() -> None:
    document = Document()
    values = document.values
    meta = TensorMeta((2, 3), "float32", "cpu")
    values.metas = [meta, meta._replace(requires_grad=True, type="Parameter"), meta._replace(shape=(3, 2))]
    values.others = [Other("int", "2")]
    a = values.append(TENSOR, 0, values.statistics.append(Stats(0, 1)))
    b = values.append(TENSOR, 1, values.statistics.append(Stats(5, 6)))
    c = values.append(TENSOR, 2)
    two = values.append(OTHER, 0)
    pairs = []
    for items in [(a, two), (b, two), (c, two)]:
        values.containers.append(Container("tuple", "tuple", None, items, 2))
        pairs.append(values.append(CONTAINER, len(values.containers) - 1))
    signature = DocumentIndex(document).signature
    assert signature(a) == signature(b) != signature(c)
    assert signature(pairs[0]) == signature(pairs[1]) != signature(pairs[2])
    assert len({signature(a), signature(c), signature(two), signature(pairs[0]), signature(pairs[2])}) == 5
