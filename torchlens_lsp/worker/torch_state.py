"""The worker's grip on torch and on the sources of randomness, taken before user code runs and can change them.

torch is imported here, when it is asked for, and nowhere else in the worker.
"""

from __future__ import annotations

import importlib.util
import random
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..document import request

OLDEST_TORCH = (2, 1)
_NUMPY_SEEDS = 2**32


class UnusableInterpreterError(Exception):
    """The interpreter cannot run what the worker needs. `kind` is one of `request.CONFIGURATION_FAULTS`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Torch:
    """What a run needs of torch; without torch (`None`), the little that a run can do without it."""

    def __init__(self, torch: Any = None) -> None:
        self._torch = torch
        if torch is None:
            return
        self._manual_seed: Callable[[int], object] = torch.manual_seed
        self._set_num_threads: Callable[[int], None] = torch.set_num_threads
        self._no_grad: Callable[[], AbstractContextManager[Any]] = torch.no_grad
        self._module: type = torch.nn.Module
        self._modules: Callable[[Any], Iterator[Any]] = torch.nn.Module.modules
        self._parameters: Callable[[Any], Iterator[Any]] = torch.nn.Module.parameters
        self._tensor: type = torch.Tensor

    def seed(self, seed: int) -> None:
        """Set the state of all generators of random numbers that are loaded."""
        random.seed(seed)
        numpy_random = sys.modules.get("numpy.random")
        if numpy_random is not None:
            numpy_random.seed(seed % _NUMPY_SEEDS)
        if self._torch is not None:
            self._manual_seed(seed)

    def set_threads(self, threads: int) -> None:
        """Set on how many threads one operation runs."""
        if self._torch is not None:
            self._set_num_threads(threads)

    def gradients(self, wanted: bool) -> AbstractContextManager[Any]:
        """Within it, gradients are recorded as the user's code has it, or not at all."""
        return nullcontext() if wanted or self._torch is None else self._no_grad()

    def is_module(self, value: object) -> bool:
        """Whether it is a `torch.nn.Module`."""
        return self._torch is not None and isinstance(value, self._module)

    def is_tensor(self, value: object) -> bool:
        """Whether it is a `torch.Tensor`."""
        return self._torch is not None and isinstance(value, self._tensor)

    def is_float(self, value: Any) -> bool:
        """Whether it is a tensor of floating point numbers."""
        return self.is_tensor(value) and bool(value.is_floating_point())

    def submodules(self, module: Any) -> Iterator[Any]:
        """A module and all modules in it."""
        return self._modules(module)

    def has_parameters(self, module: Any) -> bool:
        """Whether a module, or one in it, has any parameter."""
        return any(True for _ in self._parameters(module))

    def is_builtin_method(self, method: Any) -> bool:
        """Whether a bound method of a module is one that every module has, as `eval` is."""
        return getattr(self._module, method.__name__, None) is method.__func__

    def namespace(self) -> dict[str, Any]:
        """What an example finds beside the names of its file."""
        return {} if self._torch is None else {"torch": self._torch}


def import_torch() -> Any:
    """The torch of this interpreter. Raises UnusableInterpreterError where it is missing, broken, or too old."""
    if importlib.util.find_spec("torch") is None:
        raise UnusableInterpreterError(
            request.TORCH_MISSING, f"{sys.executable} has no torch: {_command('install torch')} installs it"
        )
    try:
        import torch
    except ImportError as error:
        message = f"torch cannot be imported by {sys.executable}: {error}"
        raise UnusableInterpreterError(request.TORCH_MISSING, message) from error
    version = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
    if version < OLDEST_TORCH:
        oldest = ".".join(map(str, OLDEST_TORCH))
        raise UnusableInterpreterError(
            request.TORCH_TOO_OLD,
            f"{sys.executable} has torch {torch.__version__}; {oldest} or newer is needed: "
            f"{_command('install --upgrade torch')} upgrades it",
        )
    return torch


def _command(what: str) -> str:
    executable = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f"`{executable} -m pip {what}`"
