"""What one look at a value costs, in microseconds.

    python -m benchmarks.values [--seconds 1.0]

Under a function mode, as in a recording. A figure is the least mean of many short loops, the loop's own cost taken
off: what the code needs, not what the machine was busy with. Beside the figures stands a sum of the same tensor, the
least that a look at all elements can take.

Exits 1 if a figure is over its limit.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from torchlens_lsp.document.values import ValueTable
from torchlens_lsp.tracer.values import ValueRecorder

LOOP_SECONDS = 0.0005
"""Of one loop: short enough to fit between two interruptions."""

Look = Callable[[Any], Any]


class PassOn(TorchFunctionMode):
    """As a recording's mode, doing nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def microseconds(look: Look, value: Any, seconds: float) -> float:
    """Least mean time of `look(value)`."""
    number = 1
    while _loop(look, value, number) < LOOP_SECONDS:
        number *= 2
    best = float("inf")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        best = min(best, _loop(look, value, number))
    return best / number * 1e6


def _loop(look: Look, value: Any, number: int) -> float:
    started = time.perf_counter()
    for _ in range(number):
        look(value)
    return time.perf_counter() - started


@dataclass(frozen=True)
class Case:
    """A tensor to look at."""

    name: str
    value: Any
    limits: tuple[float | None, float | None, float | None, float | None]
    """Of a look at a known state, a new state, an output, and with full statistics."""


def cases() -> list[Case]:
    """Tensors that models are made of."""
    torch.manual_seed(0)
    small = torch.randn(64, 64)
    large = torch.randn(1 << 20)
    return [
        Case("float32, 4096 elements", small, (0.5, 1.7, 6.0, 16.0)),
        Case("  which requires grad", small.clone().requires_grad_(), (0.5, 1.7, 7.0, 17.0)),
        Case("  a view of it", small.t(), (0.5, 1.7, 4.0, None)),
        Case("  transposed", torch.randn(64, 64).t(), (0.5, 1.7, None, None)),
        Case("  every second column", torch.randn(64, 128)[:, ::2], (0.5, 1.7, None, None)),
        Case("  expanded", torch.randn(64, 1).expand(64, 64), (0.5, 1.7, None, None)),
        Case("  masked with -inf", torch.full((64, 64), -torch.inf).triu(1), (0.5, 1.7, None, None)),
        Case("  float16", small.half(), (0.5, 1.7, None, None)),
        Case("  int64", small.long(), (0.5, 1.7, 2.5, None)),
        Case("float32, 8 elements", torch.randn(2, 4), (0.5, 1.7, 5.0, 10.0)),
        Case("float32, a scalar", torch.randn(()), (0.5, 1.7, 4.0, 8.0)),
        Case("  made in inference mode", made_in_inference_mode(64, 64), (None, None, None, None)),
        Case("float32, 1M elements", large, (0.5, 1.7, None, None)),
        Case("  transposed", torch.randn(1024, 1024).t(), (0.5, 1.7, None, None)),
        Case("  float16", large.half(), (0.5, 1.7, None, None)),
    ]


def made_in_inference_mode(*shape: int) -> torch.Tensor:
    """A tensor without version counter."""
    with torch.inference_mode():
        return torch.randn(*shape)


def others() -> list[tuple[str, Any, float]]:
    """(name, value, limit) of values that are no tensors."""

    class Settings:
        def __init__(self) -> None:
            self.__dict__.update({f"field{number}": number for number in range(40)})

    return [
        ("int", 5, 0.4),
        ("str", "text", 0.4),
        ("None", None, 0.4),
        ("x.shape", torch.ones(2, 3).shape, 0.5),
        ("(2, 3)", (2, 3), 4.0),
        ("a module", torch.nn.Linear(2, 2), 0.6),
        ("a parameter", torch.nn.Parameter(torch.randn(8, 8)), 3.5),
        ("a list of 1M numbers", list(range(1_000_000)), 10.0),
        ("12 pairs of tensors", [(torch.randn(2), torch.randn(2)) for _ in range(12)], 60.0),
        ("an object of 40 numbers", Settings(), 3.0),
    ]


def main(arguments: list[str]) -> int:
    """Print the tables; 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.3, help="time for each figure")
    seconds = parser.parse_args(arguments).seconds
    torch.set_num_threads(1)
    recorder = ValueRecorder(ValueTable(), share=1e9)
    missed = []

    def check(name: str, figure: float, limit: float | None) -> str:
        if limit is not None and figure > limit:
            missed.append(f"{name}: {figure:.2f} over {limit}")
        return f"{figure:9.2f}"

    def anew(look: Look) -> Look:
        def on_a_new_state(value: Any) -> None:
            recorder.changed(value)
            look(value)

        return on_a_new_state

    def known(value: Any) -> int:
        return recorder.record(value, False)

    looks: list[Look] = [anew(known), anew(recorder.record_output), anew(lambda value: recorder.record(value, True))]
    print(f"{'µs a look':28}{'known':>9}{'new':>9}{'output':>9}{'full':>9}{'a sum':>9}")
    for case in cases():
        a_sum = microseconds(torch._C.TensorBase.sum, case.value, seconds)
        with PassOn():
            recorder.record(case.value, False)
            figures = [microseconds(known, case.value, seconds)]
            forgetting = microseconds(recorder.changed, case.value, seconds)
            figures += [microseconds(look, case.value, seconds) - forgetting for look in looks]
        cells = [check(case.name.strip(), figure, limit) for figure, limit in zip(figures, case.limits, strict=True)]
        print(f"{case.name:28}{''.join(cells)}{a_sum:9.2f}")
    print()
    with PassOn():
        for name, value, limit in others():
            print(f"{name:28}{check(name, microseconds(known, value, seconds), limit)}")
    for line in missed:
        print(f"over its limit: {line}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
