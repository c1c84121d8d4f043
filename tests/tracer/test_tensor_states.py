"""The same tensor in the same state is one row; every change that torch counts is a new one; nothing is kept alive."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Callable
from functools import partial

import pytest
import torch

from torchlens_lsp.document.model import NONE
from torchlens_lsp.document.values import Tensor, ValueTable
from torchlens_lsp.tracer.values import ValueRecorder


class Recording:
    """A recorder with all the time it wants, and what it wrote."""

    def __init__(self, sees_operations: Callable[[], bool] | None = None, share: float = 1e9) -> None:
        self.table = ValueTable()
        self.recorder = ValueRecorder(self.table, share=share, sees_operations=sees_operations)
        self.record = self.recorder.record
        self.record_output = self.recorder.record_output

    def tensor(self, row: int) -> Tensor:
        found = self.table[row]
        assert isinstance(found, Tensor)
        return found

    def minimum(self, row: int) -> float | None:
        stats = self.tensor(row).stats
        return None if stats is None else stats.min


@pytest.fixture
def recording() -> Recording:
    return Recording()


class TestOneState:
    def test_the_same_tensor_is_one_row(self, recording: Recording) -> None:
        tensor = torch.randn(3)
        row = recording.record(tensor, True)
        assert recording.record(tensor, True) == recording.record(tensor, False) == row
        assert recording.record_output(tensor) == row

    def test_statistics_read_later_are_filled_into_the_row_of_the_output(self, recording: Recording) -> None:
        tensor = torch.randn(100)
        row = recording.record_output(tensor)
        assert recording.minimum(row) is None
        assert recording.record(tensor, False) == row
        assert recording.record(tensor, True) == row
        assert recording.minimum(row) == tensor.min().item()

    def test_what_was_not_read_is_one_row_for_equal_metadata(self, recording: Recording) -> None:
        tensors = [torch.randn(3, 4) for _ in range(5)]
        assert len({recording.record(tensor, False) for tensor in tensors}) == 1
        assert recording.record(torch.randn(4, 3), False) != recording.record(tensors[0], False)

    def test_a_shared_row_never_gets_the_statistics_of_one(self, recording: Recording) -> None:
        one, other = torch.randn(3), torch.randn(3)
        shared = recording.record(one, False)
        assert recording.record(other, False) == shared
        assert recording.record(one, True) != shared
        assert recording.tensor(shared).stats is None

    def test_outputs_have_rows_of_their_own(self, recording: Recording) -> None:
        outputs = [torch.randn(3) for _ in range(3)]
        assert len({recording.record_output(output) for output in outputs}) == 3

    def test_equal_tensors_are_not_the_same(self, recording: Recording) -> None:
        one, other = torch.ones(3), torch.ones(3)
        assert recording.record(one, True) != recording.record(other, True)

    def test_without_statistics_no_element_is_read(self) -> None:
        table = ValueTable()
        recorder = ValueRecorder(table, statistics=False)
        tensor = torch.full((3,), float("nan"))
        row = recorder.record_output(tensor)
        assert recorder.record(tensor, True) == row
        found = table[row]
        assert isinstance(found, Tensor)
        assert found.stats is None


CHANGES: dict[str, Callable[[torch.Tensor], object]] = {
    "in-place": lambda t: t.add_(1),
    "item": lambda t: t.__setitem__(0, 5.0),
    "through a view": lambda t: t[1:].mul_(2),
    "through detach": lambda t: t.detach().zero_(),
    "out=": lambda t: torch.add(torch.ones(3), 1, out=t),
    "foreach": lambda t: torch._foreach_add_([t], 1.0),
    "resize_": lambda t: t.resize_(7),
    "unsqueeze_": lambda t: t.unsqueeze_(0),
    "set_": lambda t: t.set_(torch.ones(5)),
    "copy_": lambda t: t.copy_(torch.ones(3)),
    "index_fill_": lambda t: t.index_fill_(0, torch.tensor([0]), 9.0),
    "requires_grad_": lambda t: t.requires_grad_(),
}


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_tensor_is_a_new_row(recording: Recording, change: str, full: bool) -> None:
    tensor = torch.tensor([1.0, 2.0, 3.0])
    before = recording.record_output(tensor)
    recording.record(tensor, True)
    CHANGES[change](tensor)
    after = recording.record(tensor, full)
    assert after != before
    assert recording.tensor(after).meta.shape == tuple(tensor.shape)
    assert recording.tensor(after).meta.requires_grad == tensor.requires_grad
    if full:
        assert recording.minimum(after) == tensor.min().item()
    assert recording.minimum(before) == 1.0


def test_an_op_in_place_gives_a_new_row_for_the_same_tensor(recording: Recording) -> None:
    tensor = torch.tensor([1.0, 2.0])
    first = recording.record_output(tensor)
    second = recording.record_output(tensor.log_())
    third = recording.record_output(tensor.sub_(1).log_())
    assert len({first, second, third}) == 3
    stats = recording.tensor(third).stats
    assert stats is not None
    assert (stats.nan, stats.inf) == (2, 0)


def test_what_the_counter_misses_can_be_told(recording: Recording) -> None:
    tensor = torch.ones(3)
    row = recording.record(tensor, True)
    tensor.numpy()[0] = -7.0
    assert recording.record(tensor, True) == row, "the known limit"
    recording.recorder.changed(tensor)
    assert recording.minimum(recording.record(tensor, True)) == -7.0


def test_a_new_tensor_at_an_old_address_is_new(recording: Recording) -> None:
    rows, ids = set(), set()
    for number in range(50):
        tensor = torch.full((1000,), float(number))
        ids.add(id(tensor))
        row = recording.record(tensor, True)
        assert recording.minimum(row) == number
        rows.add(row)
        del tensor
    assert len(rows) == 50
    assert len(ids) < 50, "the test needs reused ids to say anything"


ACTIONS: list[Callable[[random.Random, list[torch.Tensor]], object]] = [
    lambda r, pool: pool.append(torch.randn(r.choice([3, 40]))),
    lambda r, pool: pool.append(torch.nn.Parameter(torch.randn(r.choice([3, 40])))),
    lambda r, pool: pool.append(r.choice(pool)[::2]),
    lambda r, pool: pool.append(r.choice(pool).view(-1)),
    lambda r, pool: pool.append(r.choice(pool).detach()),
    lambda r, pool: pool.append(r.choice(pool).relu()),
    lambda r, pool: pool.append(r.choice(pool).expand(3, -1)[0]),
    lambda r, pool: pool.append(r.choice(pool)),
    lambda r, pool: r.choice(pool).mul_(r.uniform(-2, 2)),
    lambda r, pool: r.choice(pool).fill_(r.choice([1.0, torch.nan, -torch.inf])),
    lambda r, pool: r.choice(pool).__setitem__(0, r.choice([2.0, torch.nan])),
    lambda r, pool: r.choice(pool).copy_(torch.randn(1)),
    lambda r, pool: pool.pop(r.randrange(len(pool))) if len(pool) > 3 else None,
    lambda r, pool: pool.__delitem__(slice(3, None)),
]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_every_row_says_what_was_there(seed: int) -> None:
    choose = random.Random(seed)
    torch.manual_seed(seed)
    recording = Recording()
    pool = [torch.randn(40), torch.randn(3), torch.nn.Parameter(torch.randn(40))]
    with torch.no_grad():
        for _ in range(300):
            choose.choice(ACTIONS)(choose, pool)
            tensor = choose.choice(pool)
            look = choose.choice([recording.record_output, partial(recording.record, full=choose.random() < 0.7)])
            found = recording.tensor(look(tensor))
            assert found.meta.shape == tuple(tensor.shape)
            assert found.meta.type == type(tensor).__name__
            if found.stats is not None:
                assert found.stats.nan == tensor.isnan().sum()
                assert found.stats.inf == tensor.isinf().sum()
                finite = tensor[tensor.isfinite()]
                if found.stats.min is not None:
                    assert (found.stats.min, found.stats.max) == (finite.min(), finite.max())
                    assert found.stats.mean == pytest.approx(finite.mean().item(), rel=1e-4, abs=1e-5)


class TestViews:
    """A view of a tensor that is known to be finite is not looked at, and never wrong."""

    def finite(self, recording: Recording, row: int) -> bool:
        stats = recording.tensor(row).stats
        assert stats is not None
        return stats.nan == stats.inf == 0

    def test_of_a_finite_tensor(self, recording: Recording) -> None:
        base = torch.randn(40, 50)
        recording.record_output(base)
        for view in (base.t(), base[3:5], base.view(-1), base.unsqueeze(1).expand(40, 9, 50), base.flatten()[::3]):
            assert self.finite(recording, recording.record_output(view))

    def test_of_a_tensor_with_nan(self, recording: Recording) -> None:
        base = torch.randn(40, 50)
        base[3, 3] = torch.nan
        recording.record_output(base)
        assert not self.finite(recording, recording.record_output(base.t()))
        assert self.finite(recording, recording.record_output(base[5:]))

    def test_after_a_change_of_the_base(self, recording: Recording) -> None:
        base = torch.randn(40, 50)
        recording.record_output(base)
        view = base.t()
        base[0, 0] = torch.nan
        assert not self.finite(recording, recording.record_output(view))

    def test_by_another_dtype(self, recording: Recording) -> None:
        base = torch.full((100,), -1, dtype=torch.int32)
        recording.record_output(base)
        assert not self.finite(recording, recording.record_output(base.view(torch.float32)))

    def test_beyond_the_base(self, recording: Recording) -> None:
        whole = torch.full((100,), torch.nan)
        whole[:50] = 1.0
        base = whole[:50].detach()
        assert self.finite(recording, recording.record_output(base))
        assert not self.finite(recording, recording.record_output(base.as_strided((100,), (1,))))

    def test_of_a_parameter(self, recording: Recording) -> None:
        parameter = torch.nn.Parameter(torch.randn(5, 6))
        recording.record(parameter, True)
        assert self.finite(recording, recording.record_output(parameter.t()))


class TestInference:
    """Tensors without a version counter."""

    def test_each_look_is_a_new_state(self, recording: Recording) -> None:
        with torch.inference_mode():
            tensor = torch.ones(100)
            first = recording.record(tensor, True)
            tensor.add_(1)
            second = recording.record(tensor, True)
            assert (recording.minimum(first), recording.minimum(second)) == (1.0, 2.0)
            tensor.add_(1)
            third = recording.record(tensor, False)
            assert recording.tensor(third).stats is None

    def test_what_an_operation_gave_is_known_until_the_next_begins(self) -> None:
        seen = True
        recording = Recording(lambda: seen)
        with torch.inference_mode():
            recording.recorder.operation_begins()
            tensor = torch.ones(100)
            row = recording.record_output(tensor)
            assert recording.record(tensor, False) == recording.record(tensor, True) == row
            assert recording.minimum(row) == 1.0
            recording.recorder.operation_begins()
            tensor.add_(1)
            assert recording.record(tensor, False) != row
            assert recording.record_output(tensor) != row

    def test_nothing_is_known_where_operations_go_unseen(self) -> None:
        seen = True
        recording = Recording(lambda: seen)
        with torch.inference_mode():
            tensor = torch.ones(100)
            row = recording.record_output(tensor)
            seen = False
            tensor.add_(1)
            assert recording.record(tensor, False) != row

    def test_an_ordinary_tensor_in_inference_mode_keeps_its_counter(self, recording: Recording) -> None:
        tensor = torch.ones(3)
        row = recording.record(tensor, True)
        with torch.inference_mode():
            assert recording.record(tensor, True) == row
            tensor.add_(1)
            assert recording.record(tensor, True) != row


needs_swapping = pytest.mark.skipif(not hasattr(torch.utils, "swap_tensors"), reason="this torch swaps none")


class TestParameters:
    """Parameters are known without a weak reference, which `swap_tensors` would refuse."""

    def test_one_row(self, recording: Recording) -> None:
        layer = torch.nn.Linear(3, 4)
        row = recording.record(layer.weight, True)
        assert recording.record(layer.weight, False) == recording.record(layer.weight, True) == row
        assert recording.tensor(row).meta.type == "Parameter"

    def test_changes(self, recording: Recording) -> None:
        parameter = torch.nn.Parameter(torch.ones(3, 4))
        rows = [recording.record(parameter, True)]
        with torch.no_grad():
            parameter.add_(1)
        rows.append(recording.record(parameter, True))
        parameter.data = torch.full((3, 4), 5.0)
        rows.append(recording.record(parameter, True))
        parameter.data = torch.full((2,), 6.0)
        rows.append(recording.record(parameter, True))
        parameter.requires_grad_(False)
        rows.append(recording.record(parameter, True))
        assert [recording.minimum(row) for row in rows] == [1.0, 2.0, 5.0, 6.0, 6.0]
        assert len(set(rows)) == 5

    def test_a_new_one_at_an_old_address_is_new(self, recording: Recording) -> None:
        for number in range(50):
            parameter = torch.nn.Parameter(torch.full((1000,), float(number)))
            assert recording.minimum(recording.record(parameter, True)) == number
            del parameter

    @needs_swapping
    def test_they_can_be_swapped(self, recording: Recording) -> None:
        layer = torch.nn.Linear(3, 4)
        recording.record(layer.weight, True)
        recording.record(layer.bias, False)
        torch.__future__.set_swap_module_params_on_conversion(True)
        try:
            layer.to(torch.float64)
        finally:
            torch.__future__.set_swap_module_params_on_conversion(False)
        assert recording.tensor(recording.record(layer.weight, True)).meta.dtype == "float64"

    @needs_swapping
    def test_a_subclass_held_by_a_parameter_can_be_swapped(self, recording: Recording) -> None:
        class Tagged(torch.Tensor):
            pass

        parameter = torch.nn.Parameter(torch.ones(3).as_subclass(Tagged))
        assert type(parameter) is Tagged
        recording.record(parameter, True)
        torch.utils.swap_tensors(parameter, torch.nn.Parameter(torch.ones(2)))


class TestLifetime:
    @pytest.mark.parametrize("parameter", [False, True])
    @pytest.mark.parametrize("output", [False, True])
    def test_a_tensor_dies_with_its_last_reference(self, output: bool, parameter: bool) -> None:
        recording = Recording()
        tensor = torch.randn(100)
        if parameter:
            tensor = torch.nn.Parameter(tensor)
        died = []
        weakref.finalize(tensor, died.append, True)
        storage = torch.UntypedStorage._weak_ref(tensor.untyped_storage())
        gc.disable()
        try:
            if output:
                recording.record_output(tensor)
            recording.record(tensor, True)
            recording.record([tensor, {"a": tensor}], True)
            recording.record(tensor.view(10, 10), True)
            del tensor
            assert died == [True]
            assert torch.UntypedStorage._expired(storage)
        finally:
            gc.enable()
            torch.UntypedStorage._free_weak_ref(storage)

    def test_the_memory_of_tensors_is_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("torchlens_lsp.tracer.tensors.MAX_STATES", 10)
        recording = Recording()
        kept = [torch.full((2,), float(number)) for number in range(100)]
        for number, tensor in enumerate(kept):
            assert recording.minimum(recording.record(tensor, True)) == number
        assert len(recording.recorder._states) <= 10

    def test_forget_leaves_nothing(self) -> None:
        recording = Recording()
        tensor, parameter = torch.randn(3), torch.nn.Parameter(torch.randn(3))

        class Thing:
            pass

        recording.record(tensor, True)
        recording.record(parameter, True)
        recording.record(Thing(), True)
        recording.recorder.forget()
        assert weakref.getweakrefcount(tensor) == 0
        died = []
        weakref.finalize(Thing, died.append, True)
        del Thing
        gc.collect()
        assert died == [True]

    def test_no_reference_cycles(self) -> None:
        gc.collect()
        gc.disable()
        try:
            recording = Recording()
            recording.record([torch.randn(3), torch.nn.Parameter(torch.randn(3)), {"a": 1}], True)
            died = []
            weakref.finalize(recording.recorder, died.append, True)
            del recording
            assert died == [True]
        finally:
            gc.enable()


def test_it_admits_one_look_at_a_time(recording: Recording) -> None:
    """A finalizer that runs within a look, of code that is watched, must not disturb it."""
    inner: list[int] = []

    class Shy(torch.Tensor):
        @staticmethod
        def __new__(cls: type) -> torch.Tensor:
            return torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined,no-any-return]
                cls, (3,), dispatch_sizes_strides_policy="sizes"
            )

        @classmethod
        def __torch_dispatch__(cls, func: object, types: object, args: object = (), kwargs: object = None) -> object:
            inner.append(recording.record(torch.ones(2), True))
            return (3,)

    row = recording.record(Shy(), True)
    assert inner
    assert set(inner) == {NONE}
    assert recording.tensor(row).meta.shape == (3,)
    assert torch._C._is_torch_function_enabled()
