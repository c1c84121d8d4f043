"""How the records of a trace document lie in columns: one table for each record class, one layout for each field.

A layout says how the values of one field become columns and come back; a `Table` holds the layouts of a class in the
order of its fields. Whoever adds a field to the model adds its layout here (a test compares them). Numbers are
checked here only as far as their own columns show; that an index has something to point to is `check`'s to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

from .columns import DocumentError, Reader, Writer, split
from .model import (
    Call,
    Durations,
    Example,
    Frame,
    Function,
    Module,
    Op,
    Operand,
    Range,
    RunError,
    Site,
    SourceFile,
    Statement,
    Target,
    Test,
)
from .values import Container, Other, TensorMeta

MAX_TEST_DEPTH = 100
"""How deep `not`, `and` and `or` may nest in a recorded test; readers walk tests recursively."""

T = TypeVar("T")


class Layout(Protocol):
    """How the values of one field are laid out."""

    def write(self, out: Writer, column: Sequence[Any]) -> None:
        """Add the columns for the values of all rows."""

    def read(self, source: Reader, rows: int) -> Iterable[Any]:
        """The values of all rows. Raises DocumentError."""


class Table(Generic[T]):
    """The layouts of a record class by field, in the order of its constructor; itself the layout of nested records."""

    def __init__(self, record: type[T], **layouts: Layout) -> None:
        self.record = record
        self.layouts = layouts

    def write(self, out: Writer, records: Sequence[T]) -> None:
        """Add the columns of `records`."""
        for name, layout in self.layouts.items():
            layout.write(out, list(map(attrgetter(name), records)))

    def read(self, source: Reader, rows: int) -> list[T]:
        """`rows` records. Raises DocumentError."""
        columns = [layout.read(source, rows) for layout in self.layouts.values()]
        return list(map(self.record, *columns))


class _Int:
    def write(self, out: Writer, column: Sequence[int]) -> None:
        out.ints(column)

    def read(self, source: Reader, rows: int) -> Iterable[int]:
        return source.ints(rows)


class _Bool:
    def write(self, out: Writer, column: Sequence[bool]) -> None:
        out.ints([int(value) for value in column])

    def read(self, source: Reader, rows: int) -> Iterable[bool]:
        return map(bool, source.ints(rows, low=0, high=1))


class _Float:
    def write(self, out: Writer, column: Sequence[float]) -> None:
        out.floats(column)

    def read(self, source: Reader, rows: int) -> Iterable[float]:
        return source.floats(rows)


class _Text:
    def write(self, out: Writer, column: Sequence[str]) -> None:
        out.texts(column)

    def read(self, source: Reader, rows: int) -> Iterable[str]:
        return source.texts(rows)


class _OptionalText:
    def write(self, out: Writer, column: Sequence[str | None]) -> None:
        out.texts(column)

    def read(self, source: Reader, rows: int) -> Iterable[str | None]:
        return source.optional_texts(rows)


class _Position:
    """A line and a character."""

    def write(self, out: Writer, column: Sequence[tuple[int, int]]) -> None:
        out.ints([line for line, _ in column])
        out.ints([character for _, character in column])

    def read(self, source: Reader, rows: int) -> Iterable[tuple[int, int]]:
        return zip(source.lengths(rows), source.lengths(rows), strict=True)


class _Range:
    def write(self, out: Writer, column: Sequence[Range]) -> None:
        for part in range(len(Range._fields)):
            out.ints([value[part] for value in column])

    def read(self, source: Reader, rows: int) -> Iterable[Range]:
        return map(Range, *(source.lengths(rows) for _ in Range._fields))


class _Many:
    """A sequence of what another layout can hold: lengths by row, then all items in one run."""

    def __init__(self, items: Layout, sequence: type[tuple[Any, ...]] | type[list[Any]] = tuple) -> None:
        self.items = items
        self.sequence = sequence

    def write(self, out: Writer, column: Sequence[Sequence[Any]]) -> None:
        out.ints([len(items) for items in column])
        self.items.write(out, [item for items in column for item in items])

    def read(self, source: Reader, rows: int) -> Iterable[Sequence[Any]]:
        lengths = source.lengths(rows)
        found = split(tuple(self.items.read(source, sum(lengths))), lengths)
        return found if self.sequence is tuple else map(list, found)


class _Maybe:
    """None, or what another layout can hold: which rows have a value, then those values."""

    def __init__(self, item: Layout) -> None:
        self.item = item

    def write(self, out: Writer, column: Sequence[Any]) -> None:
        _Bool().write(out, [value is not None for value in column])
        self.item.write(out, [value for value in column if value is not None])

    def read(self, source: Reader, rows: int) -> Iterable[Any]:
        present = list(_Bool().read(source, rows))
        values = iter(self.item.read(source, sum(present)))
        return [next(values) if there else None for there in present]


class _Size:
    """A size of a dimension: a number, or text where it is symbolic."""

    def write(self, out: Writer, column: Sequence[int | str]) -> None:
        out.ints([isinstance(size, str) for size in column])
        out.ints([out.text(size) if isinstance(size, str) else size for size in column])

    def read(self, source: Reader, rows: int) -> Iterable[int | str]:
        symbolic = source.ints(rows, low=0, high=1)
        sizes = source.ints(rows)
        return [source.text(size) if text else size for text, size in zip(symbolic, sizes, strict=True)]


class _Test:
    """A test with its operands: all tests of all rows in one run, operands before the test that they belong to."""

    _TEST, _SITE, _TEXT = 0, 1, 2

    def write(self, out: Writer, column: Sequence[Test]) -> None:
        flat: list[Test] = []
        kinds: list[int] = []
        refs: list[int] = []

        def add(test: Test, depth: int) -> int:
            operands: list[tuple[int, int]] = []
            for operand in test.operands:
                if isinstance(operand, Test) and depth < MAX_TEST_DEPTH:
                    operands.append((self._TEST, add(operand, depth + 1)))
                elif isinstance(operand, int):
                    operands.append((self._SITE, operand))
                else:
                    operands.append((self._TEXT, out.text(operand.expr if isinstance(operand, Test) else operand)))
            kinds.extend(kind for kind, _ in operands)
            refs.extend(ref for _, ref in operands)
            flat.append(test)
            return len(flat) - 1

        roots = [add(test, 1) for test in column]
        out.ints(roots)
        out.ints([test.site for test in flat])
        out.ints([test.value for test in flat])
        out.texts([test.op for test in flat])
        out.texts([test.expr for test in flat])
        out.ints([len(test.operands) for test in flat])
        out.ints(kinds)
        out.ints(refs)

    def read(self, source: Reader, rows: int) -> Iterable[Test]:
        roots = source.ints(rows)
        sites = source.ints()
        values, ops, exprs = source.ints(len(sites)), source.texts(len(sites)), source.texts(len(sites))
        lengths = source.lengths(len(sites))
        kinds = source.ints()
        operands = split(list(zip(kinds, source.ints(len(kinds)), strict=True)), lengths)
        tests: list[Test] = []
        depths: list[int] = []
        unused: set[int] = set()

        def take(index: int) -> Test:
            # Each test stands in one place: shared operands would let few bytes stand for endless tests.
            if index not in unused:
                raise DocumentError(f"there is no test {index} to stand here")
            unused.remove(index)
            return tests[index]

        for site, value, op, expr, own in zip(sites, values, ops, exprs, operands, strict=True):
            found: list[Test | int | str] = []
            depth = 1
            for kind, ref in own:
                if kind == self._TEST:
                    found.append(take(ref))
                    depth = max(depth, depths[ref] + 1)
                else:
                    found.append(ref if kind == self._SITE else source.text(ref))
            if depth > MAX_TEST_DEPTH:
                raise DocumentError("a test is nested too deeply")
            unused.add(len(tests))
            tests.append(Test(site, value, op, tuple(found), expr))
            depths.append(depth)
        return [take(root) for root in roots]


INT, BOOL, FLOAT, TEXT, OPTIONAL_TEXT = _Int(), _Bool(), _Float(), _Text(), _OptionalText()
POSITION, RANGE, OPTIONAL_RANGE = _Position(), _Range(), _Maybe(_Range())
INTS, INT_LIST, TEXT_LIST = _Many(INT), _Many(INT, list), _Many(TEXT, list)

SITE = Table(Site, kind=TEXT, role=TEXT, range=RANGE, expr=TEXT, function=INT)
TARGET = Table(Target, name=TEXT, site=INT, end=POSITION)
STATEMENT = Table(
    Statement,
    kind=TEXT,
    range=RANGE,
    header_end=POSITION,
    function=INT,
    targets=_Many(TARGET),
    value=INT,
    test=_Maybe(_Test()),
    loop=INT,
    chain=INTS,
    defines=INT,
    parent=INT,
    arm=TEXT,
)
FUNCTION = Table(Function, name=TEXT, kind=TEXT, range=RANGE, name_range=RANGE, header_end=POSITION, parameters=INTS)
FILE = Table(
    SourceFile,
    uri=TEXT,
    sha256=TEXT,
    first_site=INT,
    sites=_Many(SITE, list),
    functions=_Many(FUNCTION, list),
    statements=_Many(STATEMENT, list),
    not_run=INT_LIST,
    unwatched=TEXT_LIST,
)
CALL = Table(
    Call,
    file=INT,
    function=INT,
    module=OPTIONAL_TEXT,
    module_pass=INT,
    phase=INT,
    parent=INT,
    site=INT,
    ended=TEXT,
)
OP = Table(
    Op,
    label=TEXT,
    target=TEXT,
    pass_index=INT,
    module=OPTIONAL_TEXT,
    outputs=INTS,
    parents=INTS,
    file=INT,
    site=INT,
    range=OPTIONAL_RANGE,
    call=INT,
    seconds=FLOAT,
    at=INT,
)
MODULE = Table(Module, address=TEXT, type=TEXT, calls=INT, parameters=INT, site=INT)
EXAMPLE = Table(Example, name=TEXT, call=TEXT, origin=TEXT, uri=OPTIONAL_TEXT, range=OPTIONAL_RANGE)
DURATIONS = Table(Durations, import_s=FLOAT, build_s=FLOAT, call_s=FLOAT)
ERROR = Table(
    RunError,
    phase=TEXT,
    type=TEXT,
    message=TEXT,
    uri=OPTIONAL_TEXT,
    range=OPTIONAL_RANGE,
    operands=_Many(Table(Operand, expr=TEXT, value=INT, site=INT), list),
    stack=_Many(Table(Frame, uri=TEXT, range=RANGE, function=TEXT), list),
    call=INT,
    module=OPTIONAL_TEXT,
    op=OPTIONAL_TEXT,
)
META = Table(
    TensorMeta,
    shape=_Many(_Size()),
    dtype=TEXT,
    device=TEXT,
    type=TEXT,
    layout=TEXT,
    requires_grad=BOOL,
)
CONTAINER = Table(Container, kind=TEXT, type=TEXT, keys=_Maybe(_Many(TEXT)), items=INTS, length=INT)
OTHER = Table(Other, type=TEXT, repr=TEXT)
