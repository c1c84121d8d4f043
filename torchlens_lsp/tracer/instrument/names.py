"""Names whose values nobody wants to see: `self`, imported modules, builtins."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

_BUILTINS = frozenset(dir(builtins))
QUIET_MODULES = frozenset({"torch", "math", "typing", "functools", "itertools", "operator"})
"""Modules whose attributes are constants and functions: `torch.float32` is not recorded."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def imported_names(tree: ast.Module) -> dict[str, str]:
    """Names that `import` statements anywhere in the file bind to modules or to what they hold: name -> top module."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found[alias.asname or alias.name] = "" if node.level else (node.module or "").split(".")[0]
    return found


def bound_names(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """Names that a function binds itself, its parameters included."""
    names = {argument.arg for argument in parameters(function.args)}
    body: Iterable[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else function.body
    for node in own_nodes(body):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
    return names


def own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes below `nodes` that are not inside a nested function, lambda or class."""
    todo = list(nodes)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, _SCOPES):
            todo.extend(ast.iter_child_nodes(node))


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters in the order they are written."""
    found = [*arguments.posonlyargs, *arguments.args]
    if arguments.vararg:
        found.append(arguments.vararg)
    found.extend(arguments.kwonlyargs)
    if arguments.kwarg:
        found.append(arguments.kwarg)
    return found


class QuietNames:
    """Which names are not recorded, scope by scope."""

    def __init__(self, tree: ast.Module) -> None:
        self._imported = imported_names(tree)
        assigned = {n.id for n in own_nodes(tree.body) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        defined = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
        self._scopes: list[set[str]] = [assigned]
        self._defined = defined
        self._receivers: list[str | None] = []

    def enter(self, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, receiver: str | None) -> None:
        """Go into a function whose first parameter `receiver` (`self`, `cls`) is not worth recording."""
        self._scopes.append(bound_names(function))
        self._receivers.append(receiver)

    def leave(self) -> None:
        """Come out of the function."""
        self._scopes.pop()
        self._receivers.pop()

    def is_quiet(self, name: str) -> bool:
        """Whether loading `name` here gives a receiver, a module, a builtin or a function or class of the file."""
        for scope, receiver in zip(reversed(self._scopes[1:]), reversed(self._receivers), strict=True):
            if name in scope:
                return name == receiver
        if name in self._scopes[0]:
            return False
        return name in self._imported or name in self._defined or name in _BUILTINS

    def is_quiet_attribute(self, node: ast.Attribute) -> bool:
        """Whether `node` is something like `torch.float32` or `nn.functional`."""
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            base = base.value
        return isinstance(base, ast.Name) and self.is_quiet(base.id) and self._imported.get(base.id) in QUIET_MODULES
