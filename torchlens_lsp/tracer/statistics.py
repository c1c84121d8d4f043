"""Figures of one tensor: minimum, maximum, mean, deviation, and how many elements are NaN or infinite.

What they are of
  Minimum and maximum, NaN and Inf are of all elements, up to `WHOLE_CAP` of them; above it they are not read. Mean and
  deviation are of all elements up to `SAMPLE`, above it of an evenly spread sample, which `Stats.sampled` says. The
  deviation is the unbiased one, as `torch.std` gives it; integers and bools have none, complex tensors have NaN and
  Inf counts alone. **Minimum, maximum, mean and deviation are of the finite elements**: one NaN, or the `-inf` of an
  attention mask, would otherwise hide everything else, and their number stands beside it.

What this may not do
  Call anything of the user's, keep a tensor, allocate in proportion to a large tensor, use the random generator, read
  memory that is not there. The caller has switched function modes and grad off, and asks only for tensors of a layout
  that has elements in memory (`torch.strided`) on a device of `READABLE_DEVICES`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import torch

from ..document.values import Stats
from . import quiet

WHOLE_CAP = 1 << 27
"""Elements up to which all of a tensor is looked at: half a gigabyte of float32."""
CONVERTED_CAP = 1 << 24
"""The same for dtypes that must be converted piece by piece."""
SAMPLE = 1 << 16
"""Elements that mean and deviation are computed from at most."""
SAMPLE_RUN = 16
"""Neighbouring elements that are taken together: a cache line of float32."""
PIECE = 1 << 20
"""Elements that are converted or compared at a time where that needs memory of its own."""
TINY = 16
"""Elements up to which Python's own arithmetic is faster than a call of torch."""
TRUSTED_VARIANCE = 0.01
"""Part of the mean square that the variance must be for the one-pass formula's error to stay below 1e-4."""

READABLE_DEVICES = frozenset({"cpu", "cuda", "mps", "xpu"})
"""Devices on which reading a value does not set off more than that (as it does on lazy ones)."""

OPAQUE, FLOAT, HALF, CONVERTED_FLOAT, COMPLEX, INTEGER, BOOL, CONVERTED_INTEGER, QUANTIZED = range(9)
"""How a dtype is read. OPAQUE: not at all. HALF: a sum overflows. CONVERTED: torch computes nothing with it."""

_KINDS: dict[int, tuple[str, ...]] = {
    FLOAT: ("float32", "float64", "bfloat16"),
    HALF: ("float16",),
    CONVERTED_FLOAT: (
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
    ),
    COMPLEX: ("complex32", "complex64", "complex128"),
    INTEGER: ("uint8", "int8", "int16", "int32", "int64"),
    BOOL: ("bool",),
    CONVERTED_INTEGER: ("uint16", "uint32", "uint64"),
    QUANTIZED: ("quint8", "qint8", "qint32", "quint4x2", "quint2x4"),
}

KINDS: dict[torch.dtype, int] = {
    getattr(torch, name): kind for kind, names in _KINDS.items() for name in names if hasattr(torch, name)
}
"""How each dtype that this torch has is read; those not listed are OPAQUE."""

CAN_BE_NOT_FINITE = frozenset({FLOAT, HALF, CONVERTED_FLOAT, COMPLEX})

ALL_FINITE = Stats(nan=0, inf=0)
NOTHING_READ = Stats()


class Elements(NamedTuple):
    """The distinct elements of a tensor, as a view of it."""

    view: Any
    """One-dimensional and contiguous where the tensor's memory has no gaps."""
    count: int
    copies: int
    """How often each of them occurs in the tensor: more than once where it was expanded."""


def elements_of(tensor: Any, count: int) -> Elements | None:
    """The distinct elements of a strided `tensor` of `count` elements, or None where its memory is not all there."""
    held = quiet.get_storage(tensor).nbytes() // quiet.get_itemsize(tensor)
    sizes, strides = [], []
    copies = 1
    for size, stride in zip(quiet.get_shape(tensor), quiet.get_stride(tensor), strict=True):
        if stride == 0 and size > 1:
            copies *= size
        elif size > 1:
            sizes.append(size)
            strides.append(stride)
    offset = quiet.get_storage_offset(tensor)
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    if last >= held:
        return None
    distinct = count // copies
    if _without_gaps(sizes, strides):
        sizes, strides = [distinct], [1]
    return Elements(quiet.as_strided(tensor, sizes, strides, offset), distinct, copies)


def _without_gaps(sizes: list[int], strides: list[int]) -> bool:
    """Whether these dimensions, in some order, are those of a contiguous tensor."""
    expected = 1
    for stride, size in sorted(zip(strides, sizes, strict=True)):
        if stride != expected:
            return False
        expected *= size
    return True


# --- the watch --------------------------------------------------------------------------------------------------------


def watch(tensor: Any, kind: int, count: int) -> tuple[int, int] | None:
    """(NaN, Inf) of all of `tensor`, a strided one of `count` > 0 elements; None where they cannot be known."""
    elements = elements_of(tensor, count)
    if elements is None or elements.count > (CONVERTED_CAP if kind == CONVERTED_FLOAT else WHOLE_CAP):
        return None
    if is_finite(elements.view, kind):
        return 0, 0
    nan, inf = _count_not_finite(elements.view, kind)
    return nan * elements.copies, inf * elements.copies


def is_finite(view: Any, kind: int) -> bool:
    """Whether no element is NaN or infinite. May say False of finite ones that are very large, never True of others.

    A sum meets every element, runs at the speed of memory, and is NaN or infinite if any of them is.
    """
    if kind == FLOAT:
        value = quiet.item(quiet.total(view))
    elif kind == HALF:
        value = quiet.item(quiet.total(view, dtype=torch.float32))
    elif kind == COMPLEX:
        real = quiet.view_as_real(quiet.conjugate(view) if quiet.is_conj(view) else view)
        value = quiet.item(quiet.total(real, dtype=torch.promote_types(real.dtype, torch.float32)))
    else:
        return all(is_finite(piece, FLOAT) for piece in _converted(view, torch.float32))
    return bool(value - value == 0.0)


def _count_not_finite(view: Any, kind: int) -> tuple[int, int]:
    nan = not_finite = 0
    for piece in _converted(view, torch.float32) if kind == CONVERTED_FLOAT else _pieces(view):
        if kind == COMPLEX and piece.dtype == torch.complex32:
            piece = quiet.convert(piece, torch.complex64)  # noqa: PLW2901
        nan += int(quiet.item(quiet.count_nonzero(quiet.not_equal(piece, piece))))
        not_finite += piece.numel() - int(quiet.item(quiet.count_nonzero(quiet.isfinite(piece))))
    return nan, not_finite - nan


def _pieces(view: Any) -> Iterator[Any]:
    """Views that together are `view`, none larger than PIECE."""
    sizes = tuple(view.shape)
    if math.prod(sizes) <= PIECE:
        yield view
        return
    dimension = sizes.index(max(sizes))
    half = sizes[dimension] // 2
    yield from _pieces(quiet.narrow(view, dimension, 0, half))
    yield from _pieces(quiet.narrow(view, dimension, half, sizes[dimension] - half))


def _converted(view: Any, dtype: torch.dtype) -> Iterator[Any]:
    for piece in _pieces(view):
        yield quiet.convert(piece, dtype)


# --- all figures ------------------------------------------------------------------------------------------------------


def read(tensor: Any, kind: int, count: int) -> Stats:
    """All figures of `tensor`, a strided one of `count` elements whose dtype is of `kind`."""
    if kind in (OPAQUE, QUANTIZED):
        return ALL_FINITE if kind == QUANTIZED else NOTHING_READ
    if count == 0:
        return ALL_FINITE
    if kind == COMPLEX:
        counted = watch(tensor, kind, count)
        return NOTHING_READ if counted is None else Stats(nan=counted[0], inf=counted[1])
    elements = elements_of(tensor, count)
    if elements is None:
        return NOTHING_READ
    if elements.count <= TINY:
        return _of_list(elements, kind)
    lowest, highest, nan, inf = _whole(elements, kind)
    mean, deviation = _of_sample(elements, kind, nan != 0 or inf != 0)
    return Stats(lowest, highest, mean, deviation, nan, inf, elements.count > SAMPLE)


def _of_list(elements: Elements, kind: int) -> Stats:
    values = quiet.tolist(elements.view)
    for _ in range(elements.view.dim() - 1):
        values = list(chain.from_iterable(values))
    if not isinstance(values, list):
        values = [values]
    finite = values if kind in (INTEGER, BOOL, CONVERTED_INTEGER) else [v for v in values if v - v == 0.0]
    nan = sum(v != v for v in values)
    inf = len(values) - len(finite) - nan
    lowest = highest = mean = deviation = None
    if finite:
        mean = math.fsum(finite) / len(finite)
        lowest, highest = float(min(finite)), float(max(finite))
        # Each element occurs `copies` times, which leaves the mean as it is but not the unbiased deviation.
        number = len(finite) * elements.copies
        if finite is not values or kind not in (INTEGER, BOOL, CONVERTED_INTEGER):
            squares = math.fsum((v - mean) ** 2 for v in finite) * elements.copies
            deviation = math.sqrt(squares / (number - 1)) if number > 1 else None
    return Stats(lowest, highest, mean, deviation, nan * elements.copies, inf * elements.copies)


def _whole(elements: Elements, kind: int) -> tuple[float | None, float | None, int | None, int | None]:
    """Minimum and maximum of the finite elements, and the numbers of NaN and Inf."""
    view, count, copies = elements
    if kind in (CONVERTED_FLOAT, CONVERTED_INTEGER):
        if count > CONVERTED_CAP:
            return None, None, (None if kind == CONVERTED_FLOAT else 0), (None if kind == CONVERTED_FLOAT else 0)
        return _whole_by_pieces(_converted(view, torch.float64), copies)
    if count > WHOLE_CAP:
        known = None if kind in (FLOAT, HALF) else 0
        return None, None, known, known
    low, high = quiet.aminmax(view)
    lowest, highest = float(quiet.item(low)), float(quiet.item(high))
    if lowest - lowest == 0.0 and highest - highest == 0.0:  # it hands NaN and infinity on
        return lowest, highest, 0, 0
    return _whole_by_pieces(_pieces(view), copies)


def _whole_by_pieces(
    pieces: Iterator[Any], copies: int
) -> tuple[float | None, float | None, int | None, int | None]:
    lowest, highest = math.inf, -math.inf
    nan = inf = 0
    for piece in pieces:
        finite = quiet.isfinite(piece)
        count = piece.numel()
        finite_count = int(quiet.item(quiet.count_nonzero(finite)))
        if finite_count < count:
            nan_here = int(quiet.item(quiet.count_nonzero(quiet.not_equal(piece, piece))))
            nan += nan_here
            inf += count - finite_count - nan_here
            if not finite_count:
                continue
            piece = quiet.masked_select(piece, finite)  # noqa: PLW2901
        low, high = quiet.aminmax(piece)
        lowest, highest = min(lowest, float(quiet.item(low))), max(highest, float(quiet.item(high)))
    if lowest > highest:
        return None, None, nan * copies, inf * copies
    return lowest, highest, nan * copies, inf * copies


def _of_sample(elements: Elements, kind: int, some_not_finite: bool) -> tuple[float | None, float | None]:
    """Mean and deviation of the finite elements of a sample."""
    view, count, copies = elements
    if count > SAMPLE:
        view, some_not_finite = _sample(view, count), some_not_finite or count > WHOLE_CAP
    if kind in (INTEGER, BOOL, CONVERTED_INTEGER):
        view = quiet.convert(view, torch.float64)
        return quiet.item(quiet.total(view)) / view.numel(), None
    if view.dtype not in (torch.float32, torch.float64):
        view = quiet.convert(view, torch.float32)
    if some_not_finite:
        view = quiet.masked_select(view, quiet.isfinite(view))
    return _mean_and_deviation(view, copies)


def _mean_and_deviation(view: Any, copies: int) -> tuple[float | None, float | None]:
    count = view.numel()
    if not count:
        return None, None
    mean = quiet.item(quiet.total(view)) / count
    square = quiet.item(quiet.vector_norm(view)) ** 2 / count
    variance = square - mean * mean
    if not variance > TRUSTED_VARIANCE * square:  # all but equal elements, or an overflow
        view = quiet.convert(view, torch.float64)
        mean = quiet.item(quiet.total(view)) / count
        variance = quiet.item(quiet.vector_norm(quiet.subtract(view, mean))) ** 2 / count
    number = count * copies
    if number < 2:
        return mean, None
    return mean, math.sqrt(variance * number / (number - 1))


def _sample(view: Any, count: int) -> Any:
    """About SAMPLE elements of `view`, evenly spread over it, as a view."""
    sizes, strides = list(view.shape), list(quiet.get_stride(view))
    if sizes == [count] and strides == [1]:
        runs = SAMPLE // SAMPLE_RUN
        step = count // runs
        if step > SAMPLE_RUN and step % 2 == 0:
            step -= 1  # an even step would meet the same columns of most matrices again and again
        return quiet.as_strided(view, (runs, SAMPLE_RUN), (step, 1), quiet.get_storage_offset(view))
    while (count := math.prod(sizes)) > SAMPLE:
        dimension = sizes.index(max(sizes))
        step = min(-(-count // SAMPLE), sizes[dimension])
        sizes[dimension] = -(-sizes[dimension] // step)
        strides[dimension] *= step
    return quiet.as_strided(view, sizes, strides, quiet.get_storage_offset(view))
