"""What a caller of the tracer can choose."""

from __future__ import annotations

from dataclasses import dataclass

EVALUATION_BUDGET = 200_000
"""Evaluations kept with all their metadata before only the first few of each site are."""
ALWAYS_KEPT = 16
"""Evaluations of each site that are kept whatever the budget says."""


@dataclass(frozen=True)
class Options:
    """Options of one recording.

    `statistics` reads minimum, maximum, mean and deviation at the first two evaluations of a site in each call, and
    looks once at every op's output for NaN and Inf; without it no element of a tensor is read. `statistics_share` is
    the part of the run's elapsed time that the figures may take; the watch is apart from it.
    """

    statistics: bool = True
    statistics_share: float | None = None
    evaluation_budget: int = EVALUATION_BUDGET
    op_budget: int = 200_000
    call_budget: int = 200_000
