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
from typing import Any

import torch

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

_COMPLEX_HALF = getattr(torch, "complex32", None)

CONVERTED = frozenset({CONVERTED_FLOAT, CONVERTED_INTEGER})
INTEGRAL = frozenset({INTEGER, BOOL, CONVERTED_INTEGER})
CAN_BE_NOT_FINITE = frozenset({FLOAT, HALF, CONVERTED_FLOAT, COMPLEX})

Figures = tuple["float | None", "float | None", "float | None", "float | None", "int | None", "int | None", bool]
"""The fields of `Stats`."""
ALL_FINITE: Figures = (None, None, None, None, 0, 0, False)
NOTHING_READ: Figures = (None, None, None, None, None, None, False)

_total, _item, _tolist, _vector_norm = quiet.total, quiet.item, quiet.tolist, quiet.vector_norm
_get_shape, _get_dtype, _get_storage = quiet.get_shape, quiet.get_dtype, quiet.get_storage


Elements = tuple[Any, int, int, bool]
"""The distinct elements of a tensor: (a view of them, how many, how often each occurs in the tensor, whether their
memory has no gaps). They occur more than once where the tensor was expanded."""


def elements_of(tensor: Any, count: int, size: int) -> Elements | None:
    """Distinct elements of a strided `tensor` of `count` elements, which take `size` bytes; None if they are not there.

    A tensor whose storage was freed (`untyped_storage().resize_(0)`) keeps its shape, and reading it would crash.
    """
    held, itemsize = quiet.get_storage(tensor).nbytes(), size // count
    offset = quiet.get_storage_offset(tensor)
    if quiet.is_contiguous(tensor):
        return (tensor, count, 1, True) if offset * itemsize + size <= held else None
    sizes, strides = [], []
    copies, last = 1, offset
    for length, stride in zip(_get_shape(tensor), quiet.get_stride(tensor)):  # noqa: B905 (3.10 is slower with it)
        if length == 1:
            continue
        if stride == 0:
            copies *= length
            continue
        sizes.append(length)
        strides.append(stride)
        last += (length - 1) * stride
    if (last + 1) * itemsize > held:
        return None
    distinct = count // copies
    flat = _without_gaps(sizes, strides)
    if flat:
        sizes, strides = [distinct], [1]
    return quiet.as_strided(tensor, sizes, strides, offset), distinct, copies, flat


def _is_there(tensor: Any, itemsize: int) -> bool:
    """Whether the last element of a strided tensor lies within its storage."""
    last = quiet.get_storage_offset(tensor)
    for length, stride in zip(_get_shape(tensor), quiet.get_stride(tensor)):  # noqa: B905
        last += (length - 1) * stride
    return bool((last + 1) * itemsize <= _get_storage(tensor).nbytes())


def _without_gaps(sizes: list[int], strides: list[int]) -> bool:
    """Whether these dimensions, in some order, are those of a contiguous tensor."""
    expected = 1
    for stride, size in sorted(zip(strides, sizes, strict=True)):
        if stride != expected:
            return False
        expected *= size
    return True


# --- the watch --------------------------------------------------------------------------------------------------------


def watch(tensor: Any, kind: int, count: int, size: int) -> tuple[int, int] | None:
    """(NaN, Inf) of all of `tensor`, a strided one of `count` > 0 elements; None where they cannot be known."""
    if count > PIECE and kind != COMPLEX and quiet.is_neg(tensor):
        tensor = quiet.negated_view(tensor)  # else summing would copy all of it
    view, distinct, copies = tensor, count, 1
    if count > SAMPLE or not _is_there(tensor, size // count):
        elements = elements_of(tensor, count, size)
        if elements is None:
            return None
        view, distinct, copies, _ = elements
        if distinct > (CONVERTED_CAP if kind == CONVERTED_FLOAT else WHOLE_CAP):
            return None
    total = sum(listed(view)) if distinct <= TINY and kind != COMPLEX else _sum(view, kind)
    if total - total == 0.0:
        return 0, 0
    if kind in (FLOAT, HALF) and total == total:
        # Infinities of one sign, or large numbers whose sum is too large: a NaN would have made it NaN.
        nan, inf = 0, sum(_number(quiet.equal(piece, total)) for piece in _pieces(view))
    else:
        nan, inf = _count_not_finite(view, kind)
    return nan * copies, inf * copies


def listed(view: Any) -> list[Any]:
    """The elements of a few as Python numbers."""
    depth, values = quiet.get_dim(view), _tolist(view)
    if depth == 0:
        return [values]
    for _ in range(depth - 1):
        values = list(chain.from_iterable(values))
    return values  # type: ignore[no-any-return]


def _sum(view: Any, kind: int) -> float:
    """A sum that is NaN or infinite if any element is (or if it is too large); of complex ones, of their parts.

    It meets every element at the speed of memory, and allocates nothing.
    """
    if kind == COMPLEX:
        view = quiet.view_as_real(quiet.conjugate(view) if quiet.is_conj(view) else view)
        kind = HALF if _get_dtype(view) is torch.float16 else FLOAT
    if kind == CONVERTED_FLOAT:
        return float(sum(_item(_total(piece)) for piece in _converted(view, torch.float64)))
    total: float = _item(_total(view))
    if kind == HALF and total - total != 0.0:
        total = _item(_total(view, dtype=torch.float32))
    return total


def _count_not_finite(view: Any, kind: int) -> tuple[int, int]:
    """(NaN, Inf) where both may be."""
    nan = not_finite = 0
    for piece in _converted(view, torch.float32) if kind == CONVERTED_FLOAT else _pieces(view):
        if _get_dtype(piece) is _COMPLEX_HALF:
            piece = quiet.convert(piece, torch.complex64)
        nan += _number(quiet.not_equal(piece, piece))
        not_finite += quiet.get_count(piece) - _number(_finite(piece))
    return nan, not_finite - nan


def _finite(piece: Any) -> Any:
    """Where a tensor is finite; `torch.isfinite` takes three times as long."""
    return quiet.equal(quiet.subtract(piece, piece), 0)


def _number(mask: Any) -> int:
    return int(_item(quiet.count_nonzero(mask)))


def _pieces(view: Any) -> Iterator[Any]:
    """Views that together are `view`, none larger than PIECE."""
    sizes = tuple(_get_shape(view))
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


def read(tensor: Any, kind: int, count: int, size: int) -> Figures:
    """All figures of `tensor`, a strided one of `count` elements that take `size` bytes, whose dtype is of `kind`."""
    if count == 0 or kind == QUANTIZED:
        return ALL_FINITE
    if kind == COMPLEX:
        counts = watch(tensor, kind, count, size)
        return NOTHING_READ if counts is None else (None, None, None, None, *counts, False)
    if count > PIECE and kind not in INTEGRAL and quiet.is_neg(tensor):
        return _negated(read(quiet.negated_view(tensor), kind, count, size))
    elements = elements_of(tensor, count, size)
    if elements is None:
        return NOTHING_READ
    view, distinct, copies, flat = elements
    if distinct <= TINY:
        return _of_few(view, copies, kind in INTEGRAL)
    if not flat and distinct <= SAMPLE:
        view, flat = quiet.contiguous(view), True
    lowest, highest, nan, inf = _whole(view, distinct, kind)
    if copies > 1:
        nan, inf = nan and nan * copies, inf and inf * copies
    sampled = distinct > SAMPLE
    if sampled:
        view = quiet.contiguous(_sample(view, distinct, flat))
        distinct = quiet.get_count(view)
    if kind in INTEGRAL:
        mean = _item(_total(quiet.convert(view, torch.float64))) / distinct
        return lowest, highest, mean, None, nan, inf, sampled
    if kind != FLOAT or _get_dtype(view) is torch.bfloat16:
        view = quiet.convert(view, torch.float32)
    if nan != 0 or inf != 0:
        view = quiet.masked_select(view, _finite(view))
        distinct = quiet.get_count(view)
        if not distinct:
            return lowest, highest, None, None, nan, inf, sampled
    mean = _item(_total(view)) / distinct
    square = _item(_vector_norm(view)) ** 2 / distinct
    variance = square - mean * mean
    if not variance > TRUSTED_VARIANCE * square:  # nearly equal elements, or an overflow
        view = quiet.convert(view, torch.float64)
        mean = _item(_total(view)) / distinct
        variance = _item(_vector_norm(quiet.subtract(view, mean))) ** 2 / distinct
    number = distinct * copies
    deviation = math.sqrt(variance * number / (number - 1)) if number > 1 else None
    return lowest, highest, mean, deviation, nan, inf, sampled


def _negated(figures: Figures) -> Figures:
    lowest, highest, mean, *others = figures
    return (  # type: ignore[return-value]
        None if highest is None else -highest,
        None if lowest is None else -lowest,
        None if mean is None else -mean,
        *others,
    )


def _of_few(view: Any, copies: int, integral: bool) -> Figures:
    """All figures of a few elements, by Python's arithmetic."""
    values = listed(view)
    nan = inf = 0
    total = sum(values)
    if total - total != 0:
        finite = [value for value in values if value - value == 0.0]
        nan = sum([value != value for value in values])
        inf = len(values) - len(finite) - nan
        values = finite
        if not values:
            return None, None, None, None, nan * copies, inf * copies, False
    mean = math.fsum(values) / len(values)
    deviation = None
    number = len(values) * copies
    if number > 1 and not integral:
        squares = math.fsum([(value - mean) ** 2 for value in values]) * copies
        deviation = math.sqrt(squares / (number - 1))
    return float(min(values)), float(max(values)), mean, deviation, nan * copies, inf * copies, False


_Whole = tuple["float | None", "float | None", "int | None", "int | None"]
"""Minimum and maximum of the finite elements, and the numbers of NaN and Inf."""


def _whole(view: Any, count: int, kind: int) -> _Whole:
    if count > (CONVERTED_CAP if kind in CONVERTED else WHOLE_CAP):
        return (None, None, 0, 0) if kind in INTEGRAL else (None, None, None, None)
    if kind in CONVERTED:
        return _whole_by_pieces(_converted(view, torch.float64))
    try:
        low, high = quiet.aminmax(view)
    except RuntimeError:  # older torch has none for some dtypes
        return _whole_by_pieces(_converted(view, torch.float64))
    lowest, highest = float(_item(low)), float(_item(high))
    if lowest - lowest == 0.0 and highest - highest == 0.0:  # it hands NaN and infinity on
        return lowest, highest, 0, 0
    return _whole_by_pieces(_pieces(view))


def _whole_by_pieces(pieces: Iterator[Any]) -> _Whole:
    lowest, highest = math.inf, -math.inf
    nan = inf = 0
    for piece in pieces:
        mask = _finite(piece)
        count, finite = quiet.get_count(piece), _number(mask)
        if finite < count:
            nan_here = _number(quiet.not_equal(piece, piece))
            nan += nan_here
            inf += count - finite - nan_here
            if not finite:
                continue
            piece = quiet.masked_select(piece, mask)
        low, high = quiet.aminmax(piece)
        lowest, highest = min(lowest, float(_item(low))), max(highest, float(_item(high)))
    return (None, None, nan, inf) if lowest > highest else (lowest, highest, nan, inf)


def _sample(view: Any, count: int, flat: bool) -> Any:
    """About SAMPLE elements of `view`, evenly spread over it, as a view."""
    offset = quiet.get_storage_offset(view)
    if flat:
        runs = SAMPLE // SAMPLE_RUN
        step = count // runs
        if step > SAMPLE_RUN and step % 2 == 0:
            step -= 1  # an even step would meet the same columns of most matrices again and again
        return quiet.as_strided(view, (runs, SAMPLE_RUN), (step, 1), offset)
    sizes, strides = list(_get_shape(view)), list(quiet.get_stride(view))
    while (count := math.prod(sizes)) > SAMPLE:
        dimension = sizes.index(max(sizes))
        step = min(-(-count // SAMPLE), sizes[dimension])
        sizes[dimension] = -(-sizes[dimension] // step)
        strides[dimension] *= step
    return quiet.as_strided(view, sizes, strides, offset)
