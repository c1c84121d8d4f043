"""Instrumenting: from the text of a file to code that does the same and tells the recorder what it does.

`instrument` parses the text, wraps every interesting expression, binding, test and loop in a call of the recorder
(`tracer.hooks`) with its location kept, and compiles the result. What cannot be wrapped runs plain and is named in
`SourceFile.unwatched`; a file is never refused for our sake.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType

from ...document.model import SourceFile
from .refused import REFUSALS, refused_lines
from .tables import Tables
from .whole import rewrite_module

RECURSION_LIMIT = 2500
"""While a file is instrumented: enough for what the compiler takes, and little enough for its use of the C stack."""


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

    def attempt(plain: frozenset[int]) -> Instrumented:
        tree = ast.parse(text, path)
        tables = Tables(text, first_site, first_function, marks)
        rewrite_module(tree, tables, plain)
        if adjust is not None:
            adjust(tree)
        code = compile(tree, path, "exec", dont_inherit=True)
        return _instrumented(code, uri, text, tables)

    with _room_for_recursion():
        try:
            return attempt(frozenset())
        except REFUSALS:
            pass
        code = compile(text, path, "exec", dont_inherit=True)
        try:
            return attempt(refused_lines(path, text))
        except REFUSALS:
            tables = Tables(text, first_site, first_function, marks)
            tables.unwatched.append("the whole file: runs unrecorded, because the compiler refused its recorded form")
            return _instrumented(code, uri, text, tables)


def _instrumented(code: CodeType, uri: str, text: str, tables: Tables) -> Instrumented:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    file = SourceFile(
        uri, digest, tables.first_site, tables.sites, tables.functions, tables.statements, unwatched=tables.unwatched
    )
    return Instrumented(code, file, tables.marked, tables.aliases)


@contextmanager
def _room_for_recursion() -> Iterator[None]:
    """Files are instrumented wherever they are imported, which may be deep."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
