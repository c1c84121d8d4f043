"""How much of a run's time reading statistics may take."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

SHARE = 0.08
"""Part of the elapsed time that statistics may take."""
ALLOWANCE = 0.001
"""Seconds that they may take at once, so that a short run has them too."""
READ_SECONDS = 10e-6
"""What a read takes however small the tensor."""
ELEMENT_SECONDS = 0.2e-9
"""What each element adds."""


class Budget:
    """Allows reads while they have taken at most `share` of the time since the budget began, and an allowance."""

    def __init__(self, share: float | None = None, clock: Callable[[], float] = perf_counter) -> None:
        self.clock = clock
        self.spent = 0.0
        self.refused = 0
        """Reads that were not allowed."""
        self._share = SHARE if share is None else share
        self._began = clock()

    def begin(self) -> None:
        """Start anew: time that an earlier phase left over is not for the next."""
        self.spent = 0.0
        self._began = self.clock()

    def allows(self, elements: int) -> bool:
        """Whether there is time to read a tensor of so many elements."""
        expected = READ_SECONDS + elements * ELEMENT_SECONDS
        if self.spent + expected <= ALLOWANCE + self._share * (self.clock() - self._began):
            return True
        self.refused += 1
        return False

    def spend(self, started: float, elements: int) -> None:
        """Count a read that began at `started`."""
        self.spent += self.clock() - started
