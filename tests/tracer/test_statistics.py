"""Figures of tensors of every dtype and layout, against the plainest computation there is."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from torchlens_lsp.document.values import Stats, Tensor, ValueTable
from torchlens_lsp.tracer import statistics
from torchlens_lsp.tracer.values import ValueRecorder

INF, NAN = math.inf, math.nan


def stats_of(tensor: torch.Tensor) -> Stats | None:
    """What a recording says of `tensor`, time being no matter."""
    table = ValueTable()
    value = table[ValueRecorder(table, share=1e9).record(tensor, True)]
    assert isinstance(value, Tensor)
    return value.stats


def watched(tensor: torch.Tensor) -> tuple[int | None, int | None]:
    """(NaN, Inf) as the watch on outputs says them."""
    table = ValueTable()
    value = table[ValueRecorder(table).record_output(tensor)]
    assert isinstance(value, Tensor)
    return (value.stats.nan, value.stats.inf) if value.stats else (None, None)


def expected(tensor: torch.Tensor) -> Stats:
    """The figures by Python's arithmetic, element by element."""
    values = tensor.detach().to(torch.float64 if not tensor.is_complex() else tensor.dtype).flatten().tolist()
    if tensor.is_complex():
        nan = sum(v.real != v.real or v.imag != v.imag for v in values)
        return Stats(nan=nan, inf=sum(math.isinf(v.real) or math.isinf(v.imag) for v in values))
    finite = [v for v in values if math.isfinite(v)]
    mean = math.fsum(finite) / len(finite) if finite else None
    deviation = None
    if mean is not None and len(finite) > 1 and tensor.dtype.is_floating_point:
        deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in finite) / (len(finite) - 1))
    return Stats(
        min(finite, default=None),
        max(finite, default=None),
        mean,
        deviation,
        sum(math.isnan(v) for v in values),
        sum(math.isinf(v) for v in values),
    )


def agrees(tensor: torch.Tensor, tolerance: float = 1e-4) -> None:
    """Assert that what is recorded of `tensor` is what it is."""
    found, wanted = stats_of(tensor), expected(tensor)
    assert found is not None
    assert (found.min, found.max, found.nan, found.inf) == (wanted.min, wanted.max, wanted.nan, wanted.inf)
    scale = max(abs(wanted.min or 0), abs(wanted.max or 0))
    assert found.mean == (None if wanted.mean is None else pytest.approx(wanted.mean, tolerance, tolerance * scale))
    assert found.std == (None if wanted.std is None else pytest.approx(wanted.std, tolerance, 1e-7 * scale))
    assert watched(tensor) == (wanted.nan, wanted.inf)


FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
FLOAT8 = [getattr(torch, name) for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz") if hasattr(torch, name)]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool]
UNSIGNED = [getattr(torch, name) for name in ("uint16", "uint32", "uint64") if hasattr(torch, name)]
COMPLEX = [torch.complex64, torch.complex128, torch.complex32]
SIZES = [1, 2, 16, 17, 500]
"""Below and above where Python's own arithmetic takes over."""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", FLOATS + FLOAT8, ids=str)
def test_floats(dtype: torch.dtype, size: int) -> None:
    torch.manual_seed(size)
    agrees((torch.randn(size) * 3).to(dtype))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", INTEGERS + UNSIGNED, ids=str)
def test_integers_have_no_deviation(dtype: torch.dtype, size: int) -> None:
    torch.manual_seed(size)
    tensor = torch.randint(0, 100, (size,)).to(dtype)
    agrees(tensor)
    found = stats_of(tensor)
    assert found is not None
    assert found.std is None


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_complex_numbers_have_counts_alone(dtype: torch.dtype, size: int) -> None:
    tensor = torch.complex(torch.randn(size), torch.randn(size)).to(dtype)
    assert stats_of(tensor) == Stats(nan=0, inf=0)
    tensor[0] = complex(0, NAN)
    assert stats_of(tensor) == Stats(nan=1, inf=0)
    tensor[-1] = complex(INF, 0)
    assert stats_of(tensor) == Stats(nan=int(size > 1), inf=1)
    assert stats_of(tensor.conj()) == Stats(nan=int(size > 1), inf=1)
    assert watched(tensor.conj()) == (int(size > 1), 1)


NOT_FINITE: dict[str, Callable[[torch.Tensor], object]] = {
    "one NaN": lambda t: t.__setitem__(3, NAN),
    "one Inf": lambda t: t.__setitem__(3, INF),
    "both infinities": lambda t: t.__setitem__(slice(2, 4), torch.tensor([INF, -INF])),
    "NaN and Inf": lambda t: t.__setitem__(slice(0, 5), torch.tensor([NAN, INF, NAN, -INF, 1.0])),
    "a mask": lambda t: t.__setitem__(slice(1, None), -INF),
    "nothing finite": lambda t: t.fill_(NAN),
    "only Inf": lambda t: t.fill_(INF),
    "the last is NaN": lambda t: t.__setitem__(-1, NAN),
}


@pytest.mark.parametrize("size", [8, 500])
@pytest.mark.parametrize("dtype", [*FLOATS, torch.float8_e5m2], ids=str)
@pytest.mark.parametrize("case", NOT_FINITE)
def test_figures_are_of_the_finite_elements(case: str, dtype: torch.dtype, size: int) -> None:
    torch.manual_seed(0)
    tensor = torch.randn(size)
    NOT_FINITE[case](tensor)
    agrees(tensor.to(dtype))


LAYOUTS: dict[str, Callable[[], torch.Tensor]] = {
    "contiguous": lambda: torch.randn(20, 30),
    "transposed": lambda: torch.randn(20, 30).t(),
    "permuted": lambda: torch.randn(4, 5, 6, 7).permute(2, 0, 3, 1),
    "channels last": lambda: torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last),
    "every second column": lambda: torch.randn(20, 60)[:, ::2],
    "a slice": lambda: torch.randn(50, 30)[7:20],
    "expanded": lambda: torch.randn(20, 1).expand(20, 30),
    "expanded twice": lambda: torch.randn(20, 1, 1).expand(7, 20, 3, 2),
    "an expanded scalar": lambda: torch.randn(()).expand(5, 6),
    "overlapping windows": lambda: torch.randn(100).unfold(0, 10, 1),
    "overlapping, as many as are stored": lambda: torch.randn(16).as_strided((4, 4), (1, 1)),
    "a scalar": lambda: torch.randn(()),
    "a window far into a storage": lambda: torch.randn(1000).as_strided((3, 5), (7, 2), 500),
    "flipped": lambda: torch.randn(20, 30).flip(0),
    "requires grad": lambda: torch.randn(20, 30, requires_grad=True),
    "negated view": lambda: torch.complex(torch.randn(100), torch.randn(100)).conj().imag,
    "ones of size one": lambda: torch.randn(1, 20, 1, 3, 1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    torch.manual_seed(0)
    tensor = LAYOUTS[layout]()
    agrees(tensor)
    with torch.no_grad():
        first = tensor.reshape(-1)[:1].clone()
        if tensor.is_contiguous():
            tensor.view(-1)[:1] = NAN
            agrees(tensor)
            tensor.view(-1)[:1] = first


def test_copies_of_an_expanded_element_are_counted_each() -> None:
    tensor = torch.tensor([[NAN], [INF], [2.0]]).expand(3, 1000)
    assert stats_of(tensor) == Stats(2.0, 2.0, 2.0, 0.0, 1000, 1000)
    assert watched(tensor) == (1000, 1000)


def test_nearly_equal_elements_keep_their_deviation() -> None:
    torch.manual_seed(0)
    agrees(torch.randn(5000) * 0.01 + 10_000, tolerance=1e-3)
    agrees(torch.full((1000,), 0.1))
    agrees(torch.zeros(1000))


def test_numbers_too_large_for_their_squares_or_sums() -> None:
    agrees(torch.tensor([1e30, -1e30, 3e30]).repeat(100))
    agrees(torch.full((100,), 3e38))
    agrees(torch.full((2000,), 60000.0, dtype=torch.float16))
    agrees(torch.full((100,), 2**62, dtype=torch.int64))


def test_nothing_to_read() -> None:
    assert stats_of(torch.randn(0, 5)) == Stats(nan=0, inf=0)
    assert watched(torch.randn(0, 5)) == (0, 0)
    assert stats_of(torch.randn(3, device="meta")) is None
    assert watched(torch.randn(3, device="meta")) == (None, None)


def test_one_element_has_no_deviation() -> None:
    assert stats_of(torch.tensor([3.0])) == Stats(3.0, 3.0, 3.0, None, 0, 0)


class TestLarge:
    """Beyond the sample's size: minimum, maximum and counts stay exact, mean and deviation are of a sample."""

    SHAPE = (300, 1001)

    @pytest.mark.parametrize("make", ["contiguous", "transposed", "sliced"])
    def test_large(self, make: str) -> None:
        torch.manual_seed(0)
        tensor = torch.randn(self.SHAPE) + 1
        if make == "transposed":
            tensor = tensor.t()
        if make == "sliced":
            tensor = (torch.randn(300, 2002) + 1)[:, ::2]
        found, wanted = stats_of(tensor), expected(tensor)
        assert found is not None
        assert found.sampled
        assert (found.min, found.max, found.nan, found.inf) == (wanted.min, wanted.max, 0, 0)
        assert found.mean == pytest.approx(1, abs=0.03)
        assert found.std == pytest.approx(1, abs=0.03)

    def test_columns_are_sampled_alike(self) -> None:
        """A tensor whose columns differ would show if the sample met some of them only."""
        tensor = torch.arange(512.0).repeat(1024, 1)
        found = stats_of(tensor)
        assert found is not None
        assert found.mean == pytest.approx(255.5, rel=0.02)

    def test_one_nan_among_many(self) -> None:
        tensor = torch.randn(self.SHAPE)
        tensor[123, 456] = NAN
        tensor[0, 0] = -INF
        found = stats_of(tensor)
        assert found is not None
        assert (found.nan, found.inf) == (1, 1)
        assert found.mean == pytest.approx(0, abs=0.03)
        assert watched(tensor) == (1, 1)

    def test_more_than_one_piece(self) -> None:
        tensor = torch.zeros(3, statistics.PIECE)
        tensor[:, -1] = NAN
        tensor[1, 0] = INF
        assert watched(tensor) == (3, 1)
        assert watched(tensor.t()) == (3, 1)

    def test_an_expanded_giant_is_as_small_as_what_it_repeats(self) -> None:
        giant = torch.tensor([[1.0], [3.0]]).expand(2, 1 << 40)
        found = stats_of(giant)
        assert found is not None
        assert (found.min, found.max, found.mean, found.nan) == (1.0, 3.0, 2.0, 0)
        assert found.std == pytest.approx(1.0)

    def test_beyond_the_cap_nothing_is_looked_at(self) -> None:
        windows = torch.zeros(1 << 20).as_strided((1 << 19, 1 << 19), (1, 1))
        assert watched(windows) == (None, None)
        found = stats_of(windows)
        assert found is not None
        assert (found.min, found.nan, found.sampled) == (None, None, True)
        assert found.mean == 0.0


class TestUnusual:
    """Tensors whose elements are not in strided memory of their own."""

    def test_freed_storage(self) -> None:
        tensor = torch.randn(100, 10)
        views = tensor[50:], tensor.view(-1), tensor.t(), tensor[:, 3:]
        tensor.untyped_storage().resize_(0)
        for freed in (tensor, *views):
            assert stats_of(freed) is None
            assert watched(freed) == (None, None)

    def test_shrunk_storage(self) -> None:
        tensor = torch.randn(100, 10)
        tensor.untyped_storage().resize_(400)
        assert stats_of(tensor) is None

    def test_sparse(self) -> None:
        dense = torch.zeros(4, 5)
        dense[1, 2], dense[3, 4] = NAN, 7.0
        for sparse in (dense.to_sparse(), dense.to_sparse_csr(), dense.to_sparse_csc()):
            assert watched(sparse) == (1, 0)
            assert stats_of(sparse) is None

    def test_nested(self) -> None:
        parts = [torch.ones(2, 3), torch.tensor([[NAN, INF, 0.0]])]
        assert watched(torch.nested.nested_tensor(parts)) == (1, 1)

    @pytest.mark.skipif(not hasattr(torch.nested, "nested_tensor_from_jagged"), reason="this torch has none")
    def test_jagged(self) -> None:
        parts = [torch.ones(2, 3), torch.tensor([[NAN, INF, 0.0]])]
        assert watched(torch.nested.nested_tensor(parts, layout=torch.jagged)) == (1, 1)

    def test_quantized_is_finite(self) -> None:
        tensor = torch.quantize_per_tensor(torch.randn(50), 0.1, 0, torch.qint8)
        assert stats_of(tensor) == Stats(nan=0, inf=0)
        assert watched(tensor) == (0, 0)

    def test_dtypes_that_torch_only_names(self) -> None:
        for name in ("bits8", "uint4", "float4_e2m1fn_x2"):
            dtype = getattr(torch, name, None)
            if dtype is not None:
                assert stats_of(torch.zeros(4, dtype=torch.uint8).view(dtype)) is None
