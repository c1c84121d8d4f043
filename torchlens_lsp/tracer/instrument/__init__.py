"""Instrumenting: from the text of a file to code that does the same and tells the recorder what it does.

`instrument` parses the text, wraps every interesting expression, binding, test and loop in a call of the recorder
(`tracer.hooks`) with its location kept, and compiles the result. What cannot be wrapped runs plain and is named in
`SourceFile.unwatched`; a file is never refused for our sake.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType

from ...document.model import Function, Range, SourceFile
from ..hooks import ENTER, EXIT, MARKS
from .names import QuietNames
from .statements import Statements, split_docstring
from .tables import Tables, hook_call, number, statement

# What the compiler may raise for a tree that it would accept in its plain form: nested too deep, too many blocks.
_REFUSALS = (SyntaxError, RecursionError, MemoryError, ValueError, SystemError)


@dataclass(frozen=True)
class Instrumented:
    """The instrumented form of one file."""

    code: CodeType
    file: SourceFile
    marked: list[bool]
    """By statement: whether the recorder is told when it is reached."""
    aliases: list[tuple[int, int]]
    """(target site, value site): bindings that have the value of an expression."""


Adjust = Callable[[ast.Module], None]
"""Changes an instrumented tree in place before it is compiled."""


def instrument(
    path: str,
    text: str,
    uri: str,
    *,
    first_site: int,
    first_function: int,
    marks: str,
    adjust: Adjust | None = None,
) -> Instrumented:
    """Instrument `text` as the module at `path`.

    Raises what `compile(text, path, "exec")` raises where the text is no Python. `first_site` and `first_function`
    begin this file's numbers; `marks` names the byte array for reached statements.
    """
    try:
        return _instrument(path, text, uri, first_site, first_function, marks, frozenset(), adjust)
    except _REFUSALS:
        compile(text, path, "exec", dont_inherit=True)
        refused = _refused_lines(path, text)
        return _instrument(path, text, uri, first_site, first_function, marks, refused, adjust)


def _instrument(
    path: str,
    text: str,
    uri: str,
    first_site: int,
    first_function: int,
    marks: str,
    plain: frozenset[int],
    adjust: Adjust | None,
) -> Instrumented:
    tree = ast.parse(text, path)
    tables = Tables(text, first_site, first_function, marks)
    _rewrite_module(tree, tables, plain)
    if adjust is not None:
        adjust(tree)
    code = compile(tree, path, "exec", dont_inherit=True)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    file = SourceFile(
        uri, digest, first_site, tables.sites, tables.functions, tables.statements, unwatched=tables.unwatched
    )
    return Instrumented(code, file, tables.marked, tables.aliases)


def _rewrite_module(tree: ast.Module, tables: Tables, plain: frozenset[int]) -> None:
    last = len(tables.source.lines) - 1
    end = tables.source.character(last, len(tables.source.lines[last].rstrip("\r\n").encode("utf-8", "surrogatepass")))
    whole = Range(0, 0, last, end)
    tables.functions.append(Function("<module>", "module", whole, Range(0, 0, 0, 0), (0, 0), ()))
    rewriter = Statements(tables, QuietNames(tree))
    rewriter.plain_lines = plain
    docstring, rest = split_docstring(tree.body)
    futures = [node for node in rest if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    body = [node for node in rest if node not in futures]
    if not body:
        return
    # Not in a `try`: a module may hold what is allowed at its top alone, and `exec` ends with it either way.
    enter = statement(hook_call(ENTER, body[0], number(tables.first_function, body[0])), body[0])
    leave = statement(hook_call(EXIT, body[-1]), body[-1])
    tree.body = [*docstring, *futures, enter, *rewriter.block(body, -1, ""), leave]


def _refused_lines(path: str, text: str) -> frozenset[int]:
    """First lines of the innermost statements that the compiler refuses in their wrapped form, found one by one."""
    refused: set[int] = set()
    todo = list(ast.parse(text, path).body)
    while todo:
        node = todo.pop()
        if _compiles_alone(node, text, path):
            continue
        inner = [child for child in ast.walk(node) if isinstance(child, ast.stmt) and child is not node]
        bad = [child for child in inner if not _compiles_alone(child, text, path)]
        refused.add(bad[0].lineno if bad and isinstance(node, ast.ClassDef) else node.lineno)
    return frozenset(refused)


def _compiles_alone(node: ast.stmt, text: str, path: str) -> bool:
    """Whether the wrapped form of the statement at `node`'s place compiles, inside a function for `return` and such."""
    whole = ast.parse(text, path)
    twin = next(n for n in ast.walk(whole) if type(n) is type(node) and getattr(n, "lineno", 0) == node.lineno)
    assert isinstance(twin, ast.stmt)
    module = ast.Module([twin], [])
    try:
        _rewrite_module(module, Tables(text, 0, 0, MARKS), frozenset())
        compile(module, path, "exec", dont_inherit=True)
    except _REFUSALS:
        return False
    return True
