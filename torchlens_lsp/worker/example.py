"""Examples: from a call expression to a callee with its arguments, ready to be traced.

The expression's outermost call is what gets traced, so its callee and arguments are evaluated here, in the namespace
of the file. User code runs in here; its exceptions come out untouched. `blame` says whose fault they are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import CodeType, ModuleType
from typing import Any

from ..document.request import ExampleSpec
from .torch_state import Torch

CODE_NAME = "<example>"
"""What tracebacks call the example's own code."""
_COLLECT = "@collect"
"""No identifier, so that no name of the user's can meet it."""
MAX_DEPTH = 4
"""How deep modules and tensors are looked for in arguments."""


class BadExampleError(Exception):
    """An example that cannot be run as it is written. `kind` is the type of the error to report."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class TracedCall:
    """What is traced."""

    callee: Any
    """Callable, unless the example is broken."""
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] | None = None

    def values(self) -> Iterator[Any]:
        """The arguments and what containers among them hold."""
        return _inside((*self.args, *(self.kwargs or {}).values()), MAX_DEPTH)

    def modules(self, torch: Torch) -> list[Any]:
        """The modules that the call runs: the callee, or the one that it is bound to, or those among the arguments."""
        callee = self.callee
        while isinstance(callee, partial):
            callee = callee.func
        for value in (callee, getattr(callee, "__self__", None)):
            if torch.is_module(value):
                return [value]
        return [value for value in self.values() if torch.is_module(value)]


class Example:
    """One example as it was written. Raises BadExampleError where it is no call expression."""

    def __init__(self, spec: ExampleSpec) -> None:
        self._spec = spec
        self.setup = _parse_setup(spec.setup)
        self.call = parse_call(spec.call)
        self.namespace: dict[str, Any] = {}

    def build(self, module: ModuleType, torch: Torch) -> TracedCall:
        """Evaluate the setup, the callee and the arguments, in this order; then set mode and device."""
        self.namespace = {**torch.namespace(), **vars(module)}
        exec(_compiled(self.setup, "exec"), self.namespace)
        callee = eval(_compiled(ast.Expression(self.call.func), "eval"), self.namespace)
        args, kwargs = self._arguments()
        call = TracedCall(callee, args, kwargs)
        if self._spec.mode != "as-is":
            for found in call.modules(torch):
                found.train(self._spec.mode == "train")
        return call if self._spec.device == "cpu" else _moved(call, self._spec.device, torch)

    def _arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, in the order and by the rules of a call."""
        collect = ast.copy_location(ast.Name(_COLLECT, ast.Load()), self.call.func)
        node = ast.copy_location(ast.Call(collect, self.call.args, self.call.keywords), self.call)
        self.namespace[_COLLECT] = lambda *args, **kwargs: (args, kwargs)
        try:
            found: tuple[tuple[Any, ...], dict[str, Any]] = eval(
                _compiled(ast.Expression(node), "eval"), self.namespace
            )
        finally:
            self.namespace.pop(_COLLECT, None)
        return found


def parse_call(text: str) -> ast.Call:
    """The outermost call of an example's text."""
    try:
        node = ast.parse(text.strip(), CODE_NAME, "eval").body
    except (SyntaxError, ValueError) as error:
        raise BadExampleError("SyntaxError", _syntax_message("The example", error)) from error
    if not isinstance(node, ast.Call):
        raise BadExampleError(
            "NotACall",
            f"The example has to be a call, such as `Net()(torch.randn(2, 3))`: `{text.strip()}` calls nothing",
        )
    return node


def _parse_setup(text: str) -> ast.Module:
    try:
        return ast.parse(text, CODE_NAME)
    except (SyntaxError, ValueError) as error:
        raise BadExampleError("SyntaxError", _syntax_message("The example's setup", error)) from error


def _syntax_message(what: str, error: Exception) -> str:
    if not isinstance(error, SyntaxError):
        return f"{what} is no Python: {error}"
    line = (error.text or "").rstrip("\r\n")
    return f"{what} is no Python: {error.msg}" + (f", in `{line.strip()}`" if line.strip() else "")


def _compiled(tree: ast.Expression | ast.Module, mode: str) -> CodeType:
    code: CodeType = compile(tree, CODE_NAME, mode, dont_inherit=True)
    return code


def _moved(call: TracedCall, device: str, torch: Torch) -> TracedCall:
    """The call with its modules and tensors on `device`; modules are moved in place."""
    for module in call.modules(torch):
        module.to(device)

    def move(value: Any, depth: int) -> Any:
        if torch.is_tensor(value):
            return value.to(device)
        if depth and type(value) in (list, tuple):
            return type(value)(move(item, depth - 1) for item in value)
        if depth and type(value) is dict:
            return {key: move(item, depth - 1) for key, item in value.items()}
        return value

    kwargs = {name: move(value, MAX_DEPTH) for name, value in (call.kwargs or {}).items()}
    return TracedCall(call.callee, tuple(move(value, MAX_DEPTH) for value in call.args), kwargs)


def _inside(values: tuple[Any, ...] | list[Any], depth: int) -> Iterator[Any]:
    for value in values:
        yield value
        if depth and isinstance(value, (list, tuple)):
            yield from _inside(list(value), depth - 1)
        elif depth and isinstance(value, dict):
            yield from _inside(list(value.values()), depth - 1)
