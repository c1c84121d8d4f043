"""How much of a run's time looking at values may take."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

SHARE = 0.04
"""Part of the elapsed time that statistics may take."""
ALLOWANCE = 0.0005
"""Seconds that they may take at once, so that a short run has them too."""
READ_SECONDS = 10e-6
"""What a read is expected to take however small the tensor."""
ELEMENT_SECONDS = 0.2e-9
"""What each element is expected to add."""
REFUSED = -1.0


class Budget:
    """Allows reads as long as they take at most an allowance and `share` of the time since the budget began.

    A single number is always read: it may be what decides a branch, and what is told of that may not hang on how busy
    the machine was.
    """

    def __init__(
        self, share: float | None = None, clock: Callable[[], float] = perf_counter, allowance: float = ALLOWANCE
    ) -> None:
        self.clock = clock
        """Seconds, from anywhere."""
        self.spent = 0.0
        """Seconds that reads have taken."""
        self.refused = 0
        """Reads that were not allowed."""
        self._share = SHARE if share is None else share
        self._allowance = allowance
        self._began = clock()

    def begin(self) -> None:
        """Start anew: time that an earlier phase left over is not for the next."""
        self.spent = 0.0
        self._began = self.clock()

    def start(self, elements: int) -> float:
        """The time now if a tensor of so many elements may be read, REFUSED if there is no time for it."""
        now = self.clock()
        expected = READ_SECONDS + elements * ELEMENT_SECONDS
        if elements == 1 or self.spent + expected <= self._allowance + self._share * (now - self._began):
            return now
        self.refused += 1
        return REFUSED

    def end(self, started: float) -> None:
        """Count the read that began at `started`."""
        self.spent += self.clock() - started
