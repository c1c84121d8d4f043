"""The value table of a trace document: every recorded value once, in columns.

A value is addressed by its *value id*, an index into the table. A tensor is its metadata (shape, dtype, device and
so on, interned in `TensorMeta`) and, where they were read, its statistics. A container lists its items as value
ids, so that a tensor inside a list and the same tensor in a variable are one row. Anything else is a type name and
a short text.

Nothing here imports torch: dtypes and devices are text, as torch prints them without the `torch.` prefix.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import NamedTuple

TENSOR, CONTAINER, OTHER = 0, 1, 2
NOT_READ = -1

# Bits of `Statistics.flags`: which of the figures were read.
HAS_RANGE, HAS_MEAN, HAS_STD, HAS_NAN, HAS_INF, IS_SAMPLED = 1, 2, 4, 8, 16, 32


class TensorMeta(NamedTuple):
    """What is known of a tensor without reading its elements."""

    shape: tuple[int | str, ...]
    """Sizes; a size that is not an integer (symbolic, or ragged in a nested tensor) is its text."""
    dtype: str
    device: str
    type: str = "Tensor"
    """The class's name, where it is a subclass (`Parameter`, `Tagged`)."""
    layout: str = "strided"
    requires_grad: bool = False


class Stats(NamedTuple):
    """Figures of one tensor; None where a figure was not read (or has no meaning for the dtype)."""

    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None
    nan: int | None = None
    inf: int | None = None
    sampled: bool = False
    """True where mean and std come from a sample of a large tensor; min, max, nan and inf are always of all of it."""


class Container(NamedTuple):
    """A tuple, list, dict or object with its items, cut where it was too deep or too long."""

    kind: str
    """`tuple`, `list`, `dict` or `object`."""
    type: str
    """The class's name: `list`, `BaseModelOutput`."""
    keys: tuple[str, ...] | None
    """Keys as text for `dict` and `object` (also a named tuple's field names); None for a plain sequence."""
    items: tuple[int, ...]
    """Value ids."""
    length: int
    """The true number of items, larger than `len(items)` where it was cut."""


class Other(NamedTuple):
    """A value that is neither tensor nor container: its class's name and a short text that ran no user code."""

    type: str
    repr: str


@dataclass
class Statistics:
    """Columns of tensor statistics; the row number is the statistics id."""

    flags: array[int] = field(default_factory=lambda: array("B"))
    min: array[float] = field(default_factory=lambda: array("d"))
    max: array[float] = field(default_factory=lambda: array("d"))
    mean: array[float] = field(default_factory=lambda: array("d"))
    std: array[float] = field(default_factory=lambda: array("d"))
    nan: array[int] = field(default_factory=lambda: array("q"))
    inf: array[int] = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        return len(self.flags)

    def append(self, stats: Stats) -> int:
        """Store `stats` and return its id."""
        flags = (
            (HAS_RANGE if stats.min is not None and stats.max is not None else 0)
            | (HAS_MEAN if stats.mean is not None else 0)
            | (HAS_STD if stats.std is not None else 0)
            | (HAS_NAN if stats.nan is not None else 0)
            | (HAS_INF if stats.inf is not None else 0)
            | (IS_SAMPLED if stats.sampled else 0)
        )
        self.flags.append(flags)
        self.min.append(stats.min or 0.0)
        self.max.append(stats.max or 0.0)
        self.mean.append(stats.mean or 0.0)
        self.std.append(stats.std or 0.0)
        self.nan.append(stats.nan or 0)
        self.inf.append(stats.inf or 0)
        return len(self.flags) - 1

    def __getitem__(self, index: int) -> Stats:
        flags = self.flags[index]
        return Stats(
            self.min[index] if flags & HAS_RANGE else None,
            self.max[index] if flags & HAS_RANGE else None,
            self.mean[index] if flags & HAS_MEAN else None,
            self.std[index] if flags & HAS_STD else None,
            self.nan[index] if flags & HAS_NAN else None,
            self.inf[index] if flags & HAS_INF else None,
            bool(flags & IS_SAMPLED),
        )


@dataclass(frozen=True)
class Tensor:
    """A tensor as `ValueTable.__getitem__` hands it out."""

    meta: TensorMeta
    stats: Stats | None

    kind = "tensor"


Value = Tensor | Container | Other


@dataclass
class ValueTable:
    """All values of one run. Rows are appended by the tracer and read by value id."""

    kind: array[int] = field(default_factory=lambda: array("B"))
    """TENSOR, CONTAINER or OTHER, by value id."""
    ref: array[int] = field(default_factory=lambda: array("i"))
    """Index into `metas`, `containers` or `others`, by value id."""
    stats: array[int] = field(default_factory=lambda: array("i"))
    """Index into `statistics`, or NOT_READ, by value id; NOT_READ for everything but tensors."""
    metas: list[TensorMeta] = field(default_factory=list)
    containers: list[Container] = field(default_factory=list)
    others: list[Other] = field(default_factory=list)
    statistics: Statistics = field(default_factory=Statistics)

    def __len__(self) -> int:
        return len(self.kind)

    def append(self, kind: int, ref: int, stats: int = NOT_READ) -> int:
        """Store one row as it stands and return its value id."""
        self.kind.append(kind)
        self.ref.append(ref)
        self.stats.append(stats)
        return len(self.kind) - 1

    def __getitem__(self, value_id: int) -> Value:
        kind, ref = self.kind[value_id], self.ref[value_id]
        if kind == TENSOR:
            stats = self.stats[value_id]
            return Tensor(self.metas[ref], None if stats == NOT_READ else self.statistics[stats])
        return self.containers[ref] if kind == CONTAINER else self.others[ref]
