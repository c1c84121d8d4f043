"""The file's own `if __name__ == "__main__":` block as an example: it runs up to the call that is traced.

Which call that is shows when it is made: the first of a module that has parameters or whose class is the user's own; or
of a method of a module, or of a function or method of the file, that is given a module or a tensor, that is called
`main`, or on which no later call depends. Calls that can be it are found in the file's text; `MainBlock.adjust` puts a
hook around each of them into the instrumented tree.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any

from ..document.model import Range
from ..tracer.instrument.names import own_nodes
from ..tracer.text import SourceText
from .example import TracedCall
from .torch_state import Torch

BEGIN, STEP, CANDIDATE = "@main", "@step", "@candidate"
"""Names of the hooks in `builtins`; no identifiers, so that no user's name can meet them."""
MAIN_FUNCTION = "main"

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_Place = tuple[int, int, int, int]


@dataclass(frozen=True)
class Candidate:
    """A call of the block that may be the one to trace."""

    text: str
    range: Range
    is_needed_later: bool
    """Whether a later candidate depends on this one: on what it gives, or on the object whose method it is."""


class MainBlock:
    """The block as it is written. `find` gives None where a file has none."""

    def __init__(self, guard: ast.If, tree: ast.Module, text: str) -> None:
        self._guard = (guard.lineno, guard.col_offset)
        source = SourceText(text)
        bound = _bound_names([*tree.body, *guard.body])
        calls = [node for node in own_nodes(guard.body) if isinstance(node, ast.Call) and _can_be_it(node, bound)]
        # The order in which calls end is the order in which they are made.
        calls.sort(key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))
        needed = [_is_needed_later(call, guard.body, calls) for call in calls]
        self.candidates = [
            Candidate(source.segment(call), source.range(call), is_needed)
            for call, is_needed in zip(calls, needed, strict=True)
        ]
        self._index = {_place(call): index for index, call in enumerate(calls)}

    @classmethod
    def find(cls, text: str, path: str) -> MainBlock | None:
        """Raises SyntaxError where the text is no Python."""
        tree = ast.parse(text, path)
        for node in tree.body:
            if isinstance(node, ast.If) and _asks_for_main(node.test):
                return cls(node, tree, text)
        return None

    def adjust(self, tree: ast.Module) -> None:
        """Put the hooks into the (instrumented) tree of the same text."""
        for node in tree.body:
            if isinstance(node, ast.If) and (node.lineno, node.col_offset) == self._guard:
                _Hooks(self._index).visit_block(node)
                node.body.insert(0, _hook(BEGIN, node))
                node.body.append(_hook(STEP, node.body[-1]))
                ast.fix_missing_locations(tree)


class MainRun:
    """Runs a block: `begin` is told that it starts, `trace` makes the traced call, `end` does not return."""

    def __init__(
        self,
        block: MainBlock,
        file: str,
        torch: Torch,
        is_users_own: Callable[[str], bool],
        begin: Callable[[], None],
        trace: Callable[[TracedCall, Candidate], Any],
        end: Callable[[], None],
    ) -> None:
        self._block = block
        self._file = file
        self._torch = torch
        self._is_users_own = is_users_own
        self._begin = begin
        self._trace = trace
        self._end = end
        self.is_traced = False
        """Whether the traced call was made."""

    def install(self) -> None:
        """Put the hooks where the adjusted code looks for them."""
        vars(builtins).update({BEGIN: self._begin, STEP: self._step, CANDIDATE: self._candidate})

    def _step(self) -> None:
        if self.is_traced:
            self._end()

    def _candidate(self, index: int, callee: Any, /, *args: Any, **kwargs: Any) -> Any:
        call = TracedCall(callee, args, kwargs)
        candidate = self._block.candidates[index]
        if self.is_traced or not self._is_it(call, candidate):
            return callee(*args, **kwargs)
        self.is_traced = True
        return self._trace(call, candidate)

    def _is_it(self, call: TracedCall, candidate: Candidate) -> bool:
        callee = call.callee
        if self._torch.is_module(callee):
            return self._torch.has_parameters(callee) or self._has_own_code(callee)
        if isinstance(callee, type):
            return False
        if isinstance(callee, MethodType) and self._torch.is_module(callee.__self__):
            can_be_it = not self._torch.is_builtin_method(callee)
        else:
            can_be_it = _file_of(callee) == self._file
        if not can_be_it:
            return False
        gets_tensors = any(self._torch.is_module(value) or self._torch.is_tensor(value) for value in call.values())
        return gets_tensors or callee.__name__ == MAIN_FUNCTION or not candidate.is_needed_later

    def _has_own_code(self, module: Any) -> bool:
        """Whether the class of a module, or of one in it, is the user's own."""
        methods = (method for part in self._torch.submodules(module) for method in vars(type(part)).values())
        return any(isinstance(m, FunctionType) and self._is_users_own(m.__code__.co_filename) for m in methods)


class _Hooks(ast.NodeTransformer):
    """Puts a hook around each candidate, and one ahead of each statement; nested definitions stay as they are."""

    def __init__(self, index: dict[_Place, int]) -> None:
        self._index = index

    def visit_block(self, guard: ast.If) -> None:
        guard.body = [self.visit(node) for node in guard.body]
        _put_steps(guard)

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, _SCOPES) else super().visit(node)

    def visit_Call(self, node: ast.Call) -> ast.Call:
        place = _place(node)
        self.generic_visit(node)
        index = None if _is_hook(node) else self._index.get(place)
        if index is None:
            return node
        arguments = [ast.Constant(index), node.func, *node.args]
        return ast.copy_location(ast.Call(ast.Name(CANDIDATE, ast.Load()), arguments, node.keywords), node)


def _put_steps(node: ast.AST) -> None:
    """Put a step ahead of each statement that stands in a block of `node`."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _SCOPES):
            _put_steps(child)
    for name in ("body", "orelse", "finalbody"):
        body = getattr(node, name, None)
        if not isinstance(body, list):
            continue
        result: list[ast.stmt] = []
        for statement in body:
            # The recorder marks a statement as reached just ahead of it; the step comes before that.
            if not _is_recorders(statement) and not (result and _is_mark(result[-1])):
                result.append(_hook(STEP, statement))
            result.append(statement)
        setattr(node, name, result)


def _is_recorders(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and _is_hook(statement.value)


def _is_mark(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Subscript):
        return False
    holder = statement.targets[0].value
    return isinstance(holder, ast.Name) and not holder.id.isidentifier()


def _is_hook(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and not node.func.id.isidentifier()


def _hook(name: str, node: ast.AST) -> ast.stmt:
    call = ast.Call(ast.Name(name, ast.Load()), [], [])
    statement = ast.Expr(call)
    for part in (statement, call, call.func):
        ast.copy_location(part, node)
    return statement


def _asks_for_main(test: ast.expr) -> bool:
    """Whether a test has `__name__ == "__main__"` in it, on its own or with `and`."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_asks_for_main(part) for part in test.values)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = [test.left, test.comparators[0]]
    return any(isinstance(s, ast.Name) and s.id == "__name__" for s in sides) and any(
        isinstance(s, ast.Constant) and s.value == "__main__" for s in sides
    )


def _bound_names(body: list[ast.stmt]) -> set[str]:
    """Names that the statements bind otherwise than by `import`."""
    names: set[str] = set()
    for node in own_nodes(body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
    return names


def _can_be_it(call: ast.Call, bound: set[str]) -> bool:
    """Whether a call's callee comes from the file: only these get a hook, which is a frame that others may notice."""
    root: ast.expr = call.func
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    return root.id in bound if isinstance(root, ast.Name) else isinstance(root, ast.Call)


def _is_needed_later(call: ast.Call, body: list[ast.stmt], calls: list[ast.Call]) -> bool:
    """Whether a later one of `calls` depends on `call`, through names that hold what it gives or what it may change."""
    place = _place(call)
    names = _loads(call.func) if isinstance(call.func, ast.Attribute) else set()
    for value, targets in sorted(_bindings(body), key=lambda binding: _place(binding[0])):
        if _place(value)[2:] >= place[2:] and (names & _loads(value) or any(p is call for p in ast.walk(value))):
            names |= targets
    return any(_place(other)[:2] > place[2:] and names & _loads(other) for other in calls)


def _bindings(body: list[ast.stmt]) -> Iterator[tuple[ast.expr, set[str]]]:
    """Expressions with the names that they, or parts of them, are bound to."""
    for node in own_nodes(body):
        if isinstance(node, ast.Assign):
            yield node.value, {name for target in node.targets for name in _stores(target)}
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
            yield node.value, _stores(node.target)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield node.iter, _stores(node.target)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield node.context_expr, _stores(node.optional_vars)


def _loads(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _stores(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _place(node: Any) -> _Place:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _file_of(callee: Any) -> str:
    """The file of the function behind `callee`, its decorators' wrappers taken off; empty where there is none."""
    function = callee.__func__ if isinstance(callee, MethodType) else callee
    function = inspect.unwrap(function) if isinstance(function, FunctionType) else function
    return function.__code__.co_filename if isinstance(function, FunctionType) else ""
