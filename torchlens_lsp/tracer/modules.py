"""The stack of `nn.Module` calls: which module runs, under which address, for the how-manieth time.

One patch of `nn.Module.__call__` for the length of the traced call, in the thread that traces; hooks fire as ever.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from threading import get_ident
from typing import Any

import torch
from torch import nn

from ..document.model import NONE, Module
from .ops import OpMode

_FAST_PATHS = (nn.TransformerEncoderLayer, nn.TransformerEncoder, nn.MultiheadAttention)
"""Modules that leave their fast path when any torch function mode is on: they are not to notice ours."""


class _Entry:
    __slots__ = ("address", "calls", "parameters", "reference", "root", "site", "type")

    def __init__(self, module: nn.Module, root: int, address: str, site: int) -> None:
        self.reference = weakref.ref(module)
        self.root = root
        self.address = address
        self.type = type(module).__name__
        self.calls = 0
        self.site = site
        self.parameters = 0


class ModuleStack:
    """Registered modules, and the stack of those that run."""

    def __init__(self) -> None:
        self.stack: list[tuple[int, int]] = [(NONE, 0)]
        """(module, pass) of the running calls, outermost first; never empty."""
        self.entries: list[_Entry] = []
        self.roots: list[str] = []
        """Class names of the outermost modules."""
        self.parameter_names: dict[int, str] = {}
        """By id of the parameter: its name in the tree."""
        self.buffers: dict[int, str] = {}
        self._index: dict[int, int] = {}
        self._made_at: dict[int, tuple[weakref.ref[nn.Module], int]] = {}
        self._original: Callable[..., Any] | None = None

    # --- where modules were made ---------------------------------------------------------------------------------

    def saw(self, value: object, site: int) -> bool:
        """Remember the first site at which a module was seen: the expression that made it."""
        if not isinstance(value, nn.Module):
            return False
        known = self._made_at.get(id(value))
        if known is None or known[0]() is not value:
            self._made_at[id(value)] = (weakref.ref(value), site)
        return True

    # --- addresses -----------------------------------------------------------------------------------------------

    def register(self, root: nn.Module) -> int:
        """Give `root` and all modules below it their addresses; the index of `root`."""
        known = self.index(root)
        if known != NONE:
            return known
        with torch._C.DisableTorchFunction():
            return self._register(root)

    def _register(self, root: nn.Module) -> int:
        number = len(self.roots)
        self.roots.append(type(root).__name__)
        first = len(self.entries)
        todo: list[tuple[str, nn.Module]] = [("", root)]
        while todo:
            address, module = todo.pop(0)
            if self.index(module) != NONE:
                continue
            made = self._made_at.get(id(module))
            entry = _Entry(module, number, address, made[1] if made and made[0]() is module else NONE)
            self._index[id(module)] = len(self.entries)
            self.entries.append(entry)
            self._register_tensors(module, address, entry)
            children = vars(module).get("_modules") or {}
            todo[:0] = [
                (f"{address}.{name}" if address else name, child)
                for name, child in children.items()
                if isinstance(child, nn.Module)
            ]
        return first

    def _register_tensors(self, module: nn.Module, address: str, entry: _Entry) -> None:
        prefix = f"{address}." if address else ""
        for name, parameter in (vars(module).get("_parameters") or {}).items():
            if parameter is not None:
                self.parameter_names.setdefault(id(parameter), prefix + name)
                entry.parameters += _numel(parameter)
        for name, buffer in (vars(module).get("_buffers") or {}).items():
            if buffer is not None:
                self.buffers.setdefault(id(buffer), prefix + name)

    def index(self, module: object) -> int:
        """Index of a registered module, or NONE."""
        index = self._index.get(id(module), NONE)
        return index if index != NONE and self.entries[index].reference() is module else NONE

    def address(self, index: int) -> str | None:
        """Full address of a registered module; roots are told apart by their class where there are several."""
        if index == NONE:
            return None
        entry = self.entries[index]
        if len(self.roots) == 1:
            return entry.address
        name = self.roots[entry.root]
        if self.roots.count(name) > 1:
            name = f"{name}#{self.roots[: entry.root + 1].count(name)}"
        return f"{name}.{entry.address}" if entry.address else name

    def table(self) -> list[Module]:
        """All registered modules, in order of registration, with parameters counted over their children too."""
        by_address = {(entry.root, entry.address): index for index, entry in enumerate(self.entries)}
        totals = [0] * len(self.entries)
        for entry in self.entries:
            address = entry.address
            while True:
                holder = by_address.get((entry.root, address))
                if holder is not None:
                    totals[holder] += entry.parameters
                if not address:
                    break
                address = address.rpartition(".")[0]
        return [
            Module(self.address(index) or "", entry.type, entry.calls, totals[index], entry.site)
            for index, entry in enumerate(self.entries)
        ]

    # --- the patch -----------------------------------------------------------------------------------------------

    def patch(self, mode: OpMode, unchanged: Callable[[nn.Module, tuple[Any, ...], Any, int], None]) -> None:
        """Let this thread's module calls be seen. `unchanged` is told of modules that return their very input."""
        if self._original is not None:
            return
        original = self._original = nn.Module.__call__
        owner, stack = get_ident(), self.stack
        op_count = mode.op_count

        def call(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            if get_ident() != owner:
                return original(module, *args, **kwargs)
            index = self._index.get(id(module), NONE)
            if index == NONE or self.entries[index].reference() is not module:
                index = NONE if len(stack) > 1 else self.register(module)
            if index == NONE:
                stack.append((NONE, 0))
            else:
                entry = self.entries[index]
                entry.calls += 1
                stack.append((index, entry.calls))
            depth, before = len(stack), op_count()
            try:
                if isinstance(module, _FAST_PATHS):
                    with mode.unnoticed():
                        output = original(module, *args, **kwargs)
                else:
                    output = original(module, *args, **kwargs)
                if args and output is args[0] and op_count() == before:
                    unchanged(module, args, output, index)
                return output
            finally:
                del stack[depth - 1 :]

        call.__name__ = "__call__"
        nn.Module.__call__ = call  # type: ignore[method-assign]

    def restore(self) -> None:
        """Take the patch away again."""
        if self._original is not None:
            nn.Module.__call__ = self._original  # type: ignore[method-assign]
            self._original = None


def _numel(parameter: torch.Tensor) -> int:
    try:
        return int(parameter.numel())
    except Exception:  # uninitialized (lazy) parameters have none
        return 0
