"""What the compiler takes as it stands and refuses in its recorded form, found statement by statement."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..hooks import MARKS
from .tables import Tables
from .whole import rewrite_module

REFUSALS = (SyntaxError, RecursionError, MemoryError, ValueError, SystemError)
"""What it may raise then: nested too deep, too many blocks."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def refused_lines(path: str, text: str) -> frozenset[int]:
    """First lines of the refused statements of the module, and of the refused functions of its classes."""
    refused: set[int] = set()
    as_written = ast.parse(text, path)
    for node, twin in zip(as_written.body, ast.parse(text, path).body, strict=True):
        if _compiles(twin, text, path):
            continue
        functions = list(_functions_of(node)) if isinstance(node, ast.ClassDef) else []
        bad = [function.lineno for function in functions if not _compiles(function, text, path)]
        refused.update(bad or [node.lineno])
    return frozenset(refused)


def _compiles(node: ast.stmt, text: str, path: str) -> bool:
    """Whether a statement's recorded form compiles; the statement cannot be used again."""
    module = ast.Module([node], [])
    try:
        rewrite_module(module, Tables(text, 0, 0, MARKS), frozenset())
        compile(module, path, "exec", dont_inherit=True)
    except REFUSALS:
        return False
    return True


def _functions_of(node: ast.AST) -> Iterator[_Function]:
    """The functions of a class and of the classes in it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function):
            yield child
        elif isinstance(child, ast.stmt):
            yield from _functions_of(child)
