"""Containers and plain values: what is recorded of each, and how much of the large ones."""

from __future__ import annotations

import collections
import dataclasses
import enum
import math
import pathlib
import sys
import time
import types
from typing import Any, NamedTuple

import numpy
import pytest
import torch

from torchlens_lsp.document.check import check
from torchlens_lsp.document.model import NONE, Document
from torchlens_lsp.document.values import Container, Other, Tensor, ValueTable
from torchlens_lsp.tracer import containers, plain
from torchlens_lsp.tracer.values import ValueRecorder


class Recording:
    def __init__(self) -> None:
        self.table = ValueTable()
        self.recorder = ValueRecorder(self.table, share=1e9)

    def __call__(self, value: object, full: bool = False) -> Any:
        """What the table says of `value`, containers as (kind, type, keys, items, length)."""
        row = self.recorder.record(value, full)
        return None if row == NONE else self.shown(row)

    def shown(self, row: int) -> Any:
        found = self.table[row]
        if isinstance(found, Container):
            return found._replace(items=tuple(self.shown(item) for item in found.items))
        return found


@pytest.fixture
def recorded() -> Recording:
    return Recording()


def shape(value: object) -> tuple[int | str, ...]:
    assert isinstance(value, Tensor)
    return value.meta.shape


class Color(enum.Enum):
    RED = 1

    def __repr__(self) -> str:
        raise AssertionError


class Level(enum.IntEnum):
    LOW = 1


class Flags(enum.Flag):
    A = 1
    B = 2


class Meters(float):
    def __repr__(self) -> str:
        raise AssertionError


PLAIN = [
    (3, Other("int", "3")),
    (True, Other("bool", "True")),
    (1.0, Other("float", "1.0")),
    (0.0, Other("float", "0.0")),
    (-0.0, Other("float", "-0.0")),
    (math.nan, Other("float", "nan")),
    (-math.inf, Other("float", "-inf")),
    (2 + 3j, Other("complex", "(2+3j)")),
    ("it's", Other("str", '"it\'s"')),
    ("lone \ud800", Other("str", "'lone \\ud800'")),
    ("x" * 80, Other("str", "'" + "x" * 80 + "'")),
    ("x" * 81, Other("str", "'" + "x" * 80 + "'…")),
    (b"ab", Other("bytes", "b'ab'")),
    (bytearray(5), Other("bytearray", "<5 bytes>")),
    (None, Other("NoneType", "None")),
    (..., Other("ellipsis", "...")),
    (range(3), Other("range", "range(0, 3)")),
    (range(1, 9, 2), Other("range", "range(1, 9, 2)")),
    (range(10**5000), Other("range", "range(0, <integer of 16610 bits>)")),
    (slice(None, 5), Other("slice", ":5")),
    (slice(1, None, 2), Other("slice", "1::2")),
    (10**30, Other("int", "1" + "0" * 30)),
    (2**100000, Other("int", "<integer of 100001 bits>")),
    (Color.RED, Other("Color", "Color.RED")),
    (Level.LOW, Other("Level", "Level.LOW")),
    (Flags.A | Flags.B, Other("Flags", "Flags.A|B" if sys.version_info >= (3, 11) else "Flags(3)")),
    (Meters(2.5), Other("Meters", "2.5")),
    (torch.float32, Other("dtype", "torch.float32")),
    (torch.device("cpu"), Other("device", "cpu")),
    (torch.channels_last, Other("memory_format", "torch.channels_last")),
    (pathlib.PosixPath("/a/b"), Other("PosixPath", "/a/b")),
    (numpy.zeros((2, 3)), Other("ndarray", "float64[2, 3]")),
    (numpy.float32(1.5), Other("float32", "1.5")),
    (numpy.int64(7), Other("int64", "7")),
    (numpy.bool_(True), Other("bool" if numpy.__version__ >= "2" else "bool_", "True")),
    (object(), Other("object", "")),
]


@pytest.mark.parametrize(("value", "expected"), PLAIN, ids=lambda v: v.repr[:20] if isinstance(v, Other) else "")
def test_plain_values(recorded: Recording, value: object, expected: Other) -> None:
    assert recorded(value) == expected
    assert recorded(value) == expected


def test_equal_plain_values_are_one_row_and_different_ones_are_not(recorded: Recording) -> None:
    record = recorded.recorder.record
    for value in (5, 2.5, "text", None, True, -0.0, math.nan, torch.float32):
        assert record(value, False) == record(value, True)
    assert len({record(value, False) for value in (1, True, 1.0, Level.LOW)}) == 4
    assert record(0.0, False) != record(-0.0, False)


def function() -> None: ...


CODE: list[object] = [
    torch.nn.Linear(2, 2),
    torch.nn.ModuleList(),
    torch.optim.SGD([torch.zeros(1)], lr=0.1),
    function,
    len,
    torch.relu,
    "".join,
    [].append,
    lambda: None,
    int,
    torch.Tensor,
    math,
    (x for x in ()),
    function.__code__,
    types.GenericAlias(list, (int,)),
    property(),
]


@pytest.mark.parametrize("value", CODE, ids=lambda value: type(value).__name__)
def test_code_is_not_recorded(recorded: Recording, value: object) -> None:
    assert recorded(value) is None
    assert recorded([value]).items == (Other(type(value).__name__, ""),)


class Point(NamedTuple):
    x: torch.Tensor
    y: int


@dataclasses.dataclass
class Output:
    loss: torch.Tensor
    hidden: tuple[torch.Tensor, ...]
    note: str = "n"


class Slotted:
    __slots__ = ("a", "b", "never")

    def __init__(self) -> None:
        self.a = torch.ones(2)
        self.b = 3


class SlottedChild(Slotted):
    def __init__(self) -> None:
        super().__init__()
        self.c = "c"


class Fake(collections.OrderedDict):  # type: ignore[type-arg]
    """As transformers' ModelOutput: a dict whose items are also attributes."""

    def __getitem__(self, key: object) -> Any:
        raise AssertionError

    def __iter__(self) -> Any:
        raise AssertionError


class TestContainers:
    def test_kinds(self, recorded: Recording) -> None:
        tensor = torch.ones(2, 3)
        for value, kind, name in [
            ((tensor,), "tuple", "tuple"),
            ([tensor], "list", "list"),
            ({0}, "list", "set"),
            (collections.deque([tensor]), "list", "deque"),
            ({"a": tensor}, "dict", "dict"),
            (collections.defaultdict(list, a=tensor), "dict", "defaultdict"),
        ]:
            found = recorded(value)
            assert (found.kind, found.type, found.length) == (kind, name, 1)

    def test_sizes_are_tuples_of_numbers(self, recorded: Recording) -> None:
        for _ in range(2):
            found = recorded(torch.ones(2, 3).shape)
            assert found == Container("tuple", "Size", None, (Other("int", "2"), Other("int", "3")), 2)

    def test_named_tuples_have_names(self, recorded: Recording) -> None:
        found = recorded(Point(torch.ones(2), 5))
        assert (found.kind, found.type, found.keys) == ("tuple", "Point", ("x", "y"))
        found = recorded(torch.max(torch.ones(2, 3), 1))
        assert (found.kind, found.type, found.keys) == ("tuple", "max", ("values", "indices"))
        assert shape(found.items[0]) == (2,)

    def test_objects_are_seen_through_their_fields(self, recorded: Recording) -> None:
        found = recorded(Output(torch.ones(()), (torch.ones(2), torch.ones(3))))
        assert (found.kind, found.type, found.keys) == ("object", "Output", ("loss", "hidden", "note"))
        assert [shape(item) for item in found.items[1].items] == [(2,), (3,)]
        assert recorded(types.SimpleNamespace(a=1)).keys == ("a",)

    def test_slots(self, recorded: Recording) -> None:
        assert recorded(Slotted()).keys == ("a", "b")
        assert recorded(SlottedChild()).keys == ("a", "b", "c")

    def test_model_outputs(self, recorded: Recording) -> None:
        found = recorded(Fake(loss=torch.ones(()), logits=torch.ones(2, 10)))
        assert (found.kind, found.type, found.keys) == ("dict", "Fake", ("loss", "logits"))
        assert [shape(item) for item in found.items] == [(), (2, 10)]

    def test_keys_are_text(self, recorded: Recording) -> None:
        found = recorded({1: 0, (1, 2): 0, "k" * 200: 0, Color.RED: 0, None: 0})
        assert found.keys == ("1", "tuple", "k" * 80 + "…", "Color", "None")

    def test_a_tensor_in_a_container_is_the_row_it_is_alone(self, recorded: Recording) -> None:
        tensor = torch.ones(2)
        row = recorded.recorder.record(tensor, True)
        container = recorded.table[recorded.recorder.record([tensor, (tensor,)], False)]
        assert isinstance(container, Container)
        assert container.items[0] == row

    def test_an_unchanged_container_is_one_row(self, recorded: Recording) -> None:
        record = recorded.recorder.record
        value = [torch.ones(2), {"a": (1, 2)}]
        row = record(value, True)
        assert record(value, False) == record(value, True) == row
        value[0].add_(1)
        assert record(value, False) != row

    def test_full_reads_the_tensors_inside_up_to_a_number(self, recorded: Recording) -> None:
        value = [torch.full((3,), float(n)) for n in range(containers.MAX_FULL + 5)]
        items = recorded(value, True).items
        read = [item.stats.min if item.stats else None for item in items]
        assert read == [*map(float, range(containers.MAX_FULL)), *[None] * 5]

    def test_what_was_recorded_holds_together(self, recorded: Recording) -> None:
        for value in (*(value for value, _ in PLAIN), [1, [2, {"a": torch.ones(3)}]], Slotted(), object(), {}, ()):
            recorded(value)
        check(Document(values=recorded.table))


class TestBounds:
    def test_length(self, recorded: Recording) -> None:
        found = recorded([torch.ones(1)] * 1000)
        assert (len(found.items), found.length) == (containers.MAX_ITEMS, 1000)
        found = recorded({n: torch.ones(1) for n in range(1000)})
        assert (len(found.items), found.length, len(found.keys)) == (containers.MAX_ITEMS, 1000, containers.MAX_ITEMS)

    def test_numbers(self, recorded: Recording) -> None:
        found = recorded(list(range(1000)))
        assert (len(found.items), found.length) == (containers.MAX_NUMBERS, 1000)
        assert len(recorded([*range(5), torch.ones(1), *range(50)]).items) == 56

    def test_depth(self, recorded: Recording) -> None:
        value: Any = "bottom"
        for _ in range(containers.MAX_DEPTH + 2):
            value = [value]
        found = recorded(value)
        for _ in range(containers.MAX_DEPTH - 1):
            (found,) = found.items
        assert found.items == (Other("list", ""),)

    def test_cycles(self, recorded: Recording) -> None:
        value: list[Any] = [1]
        value.append(value)
        assert recorded(value).items == (Other("int", "1"), Other("list", ""))
        node = types.SimpleNamespace()
        node.me = node
        assert recorded(node).items == (Other("SimpleNamespace", ""),)

    def test_width_times_depth(self, recorded: Recording) -> None:
        value: Any = [torch.ones(1)] * 64
        for _ in range(3):
            value = [list(value) for _ in range(64)]
        found = recorded(value)
        assert found.length == 64
        assert len(recorded.table) < 2 * containers.MAX_VALUES
        check(Document(values=recorded.table))

    def test_classes_without_tensors_are_soon_known_by_name_alone(self, recorded: Recording) -> None:
        class Settings:
            def __init__(self, number: int) -> None:
                self.number = number

        for number in range(containers.MAX_FRUITLESS):
            assert recorded(Settings(number)).keys == ("number",)
        assert recorded(Settings(99)) == Other("Settings", "")

    def test_without_time_containers_are_opened_a_little(self) -> None:
        now = 0.0

        def clock() -> float:
            nonlocal now
            now += 1.0  # every look takes a second
            return now

        recorder = ValueRecorder(table := ValueTable(), clock=clock, share=0.0)
        values = [torch.ones(n + 1) for n in range(containers.MAX_ITEMS)]
        lengths = []
        for _ in range(2):
            found = table[recorder.record(values, False)]
            assert isinstance(found, Container)
            assert found.length == len(values)
            lengths.append(len(found.items))
        assert lengths == [containers.MAX_ITEMS, containers.FEW_VALUES]

    def test_long_lists_of_numbers_cost_little(self, recorded: Recording) -> None:
        value = list(range(1_000_000))
        recorded(value)
        started = time.process_time()
        for _ in range(1000):
            recorded.recorder.record(value, True)
        assert time.process_time() - started < 0.2

    def test_long_strings_are_not_kept(self, recorded: Recording) -> None:
        recorded("y" * 1_000_000)
        assert all(len(text) <= plain.LONGEST_TEXT for text in recorded.recorder._containers._strings)
