"""A file as a whole: what must stay at its top, and the call that its own code is."""

from __future__ import annotations

import ast

from ...document.model import NONE, Function, Range
from ..hooks import ENTER, EXIT
from .names import QuietNames
from .statements import Statements, split_docstring
from .tables import Tables, hook_call, number, statement


def rewrite_module(tree: ast.Module, tables: Tables, plain: frozenset[int]) -> None:
    """Rewrite a module in place; statements on the `plain` lines stay as they are."""
    last = len(tables.source.lines) - 1
    end = tables.source.character(last, len(tables.source.lines[last].rstrip("\r\n").encode("utf-8", "surrogatepass")))
    whole = Range(0, 0, last, end)
    tables.functions.append(Function("<module>", "module", whole, Range(0, 0, 0, 0), (0, 0), ()))
    rewriter = Statements(tables, QuietNames(tree), plain)
    docstring, rest = split_docstring(tree.body)
    # Only at the top: one that stands further down is an error, and has to stay one.
    futures: list[ast.stmt] = []
    while rest and _is_future(rest[0]):
        futures.append(rest[0])
        rest = rest[1:]
    if not rest:
        return
    # Not in a `try`, which would make one block more for all; a module that raises is known by its frame's being gone.
    enter = statement(hook_call(ENTER, rest[0], number(tables.first_function, rest[0])), rest[0])
    leave = statement(hook_call(EXIT, rest[-1]), rest[-1])
    tree.body = [*docstring, *futures, enter, *rewriter.block(rest, NONE, ""), leave]


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__" and node.level == 0
