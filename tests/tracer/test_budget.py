"""Statistics take a share of the run's time and no more; the watch on outputs always runs."""

from __future__ import annotations

import torch

from torchlens_lsp.document.values import Stats, Tensor, ValueTable
from torchlens_lsp.tracer.budget import ALLOWANCE, ELEMENT_SECONDS, READ_SECONDS, REFUSED, Budget
from torchlens_lsp.tracer.values import ValueRecorder


class Clock:
    """Goes only when told, and by `step` whenever it is looked at."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 100.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def read(budget: Budget, clock: Clock, seconds: float, elements: int = 2) -> bool:
    """Whether a read was allowed, which then took so many seconds."""
    started = budget.start(elements)
    if started == REFUSED:
        return False
    clock.now += seconds
    budget.end(started)
    return True


def test_a_short_run_has_the_allowance() -> None:
    clock = Clock()
    budget = Budget(0.0, clock)
    assert read(budget, clock, ALLOWANCE)
    assert not read(budget, clock, 0.0)
    assert budget.refused == 1


def test_then_it_has_its_share_of_the_time() -> None:
    clock = Clock()
    budget = Budget(0.1, clock)
    reads = 0
    for _ in range(1000):
        clock.now += 0.001
        reads += read(budget, clock, 0.001)
    elapsed = clock.now - 100.0
    assert budget.spent <= ALLOWANCE + 0.1 * elapsed + 0.001
    assert budget.spent >= 0.09 * elapsed
    assert reads + budget.refused == 1000


def test_a_large_tensor_waits_until_there_is_time_for_all_of_it() -> None:
    clock = Clock()
    budget = Budget(0.1, clock)
    elements = int(1 / ELEMENT_SECONDS)
    assert not read(budget, clock, 1.0, elements)
    clock.now += 10 * (1 + READ_SECONDS)
    assert read(budget, clock, 1.0, elements)


def test_a_single_number_is_always_read() -> None:
    clock = Clock()
    budget = Budget(0.0, clock)
    assert read(budget, clock, 2 * ALLOWANCE)
    assert not read(budget, clock, 0.0)
    assert read(budget, clock, 0.0, elements=1)


def test_a_new_phase_starts_anew() -> None:
    clock = Clock()
    budget = Budget(0.1, clock)
    clock.now += 1000.0
    budget.begin()
    assert not read(budget, clock, 1.0, int(1 / ELEMENT_SECONDS)), "the import's time is not the call's"
    assert read(budget, clock, 2 * ALLOWANCE)
    assert not read(budget, clock, 0.0)
    budget.begin()
    assert read(budget, clock, 0.0)


def stats(table: ValueTable, row: int) -> Stats | None:
    found = table[row]
    assert isinstance(found, Tensor)
    return found.stats


class TestRecorder:
    def test_without_time_there_is_metadata(self) -> None:
        table, clock = ValueTable(), Clock(step=1.0)
        recorder = ValueRecorder(table, share=0.0, clock=clock)
        first, second = torch.ones(300), torch.ones(300)
        assert stats(table, recorder.record(first, True)) is not None
        row = recorder.record(second, True)
        assert stats(table, row) is None
        assert recorder.budget.refused == 1

    def test_the_watch_always_runs(self) -> None:
        table = ValueTable()
        recorder = ValueRecorder(table, share=0.0, clock=Clock(step=1.0))
        recorder.record(torch.ones(300), True)
        for _ in range(5):
            output = torch.full((300,), torch.nan)
            row = recorder.record_output(output)
            assert recorder.record(output, True) == row
            assert stats(table, row) == Stats(nan=300, inf=0)

    def test_what_was_refused_is_read_when_there_is_time(self) -> None:
        table, clock = ValueTable(), Clock()
        recorder = ValueRecorder(table, share=0.1, clock=clock)
        tensor = torch.ones(1 << 24).view(-1)
        row = recorder.record_output(tensor)
        assert recorder.record(tensor, True) == row
        before = stats(table, row)
        clock.now += 100
        assert recorder.record(tensor, True) == row
        after = stats(table, row)
        assert before is not None
        assert after is not None
        assert (before.min, after.min) == (None, 1.0)

    def test_begin_phase(self) -> None:
        table, clock = ValueTable(), Clock(step=0.001)
        recorder = ValueRecorder(table, share=0.0, clock=clock)
        assert stats(table, recorder.record(torch.ones(300), True)) is not None
        assert stats(table, recorder.record(torch.ones(300), True)) is None
        recorder.begin_phase()
        assert stats(table, recorder.record(torch.ones(300), True)) is not None
