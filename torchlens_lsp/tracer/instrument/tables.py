"""What instrumenting collects: the sites, functions and statements of one file, and nodes that call the recorder."""

from __future__ import annotations

import ast
from typing import TypeVar

from ...document.model import NONE, Function, Range, Site, Statement
from ..hooks import VALUE, at_depth
from ..text import SourceText

_N = TypeVar("_N", bound=ast.AST)


class Tables:
    """Tables of one file while it is being instrumented. Site and function numbers are global (see `SourceFile`)."""

    def __init__(self, text: str, first_site: int, first_function: int, marks: str) -> None:
        self.source = SourceText(text)
        self.first_site = first_site
        self.first_function = first_function
        self.marks = marks
        """Name of the byte array in which reached statements are marked."""
        self.sites: list[Site] = []
        self.functions: list[Function] = []
        self.statements: list[Statement] = []
        self.marked: list[bool] = []
        """By statement: whether its being reached is marked."""
        self.aliases: list[tuple[int, int]] = []
        """(target, value): bindings whose value is that of the assigned expression."""
        self.unwatched: list[str] = []
        self.function = 0
        """Index of the function whose code is being looked at."""
        self.depth = 0
        """Of how many comprehensions with frames of their own, inside of that function."""
        self._site_of: dict[int, int] = {}

    def add_site(self, kind: str, role: str, node: ast.expr | ast.arg | ast.pattern, range: Range | None = None) -> int:
        """Register a site for `node` and return its number."""
        place = range or self.source.range(node)
        self.sites.append(Site(kind, role, place, self.source.segment(node), self.function))
        return self.first_site + len(self.sites) - 1

    def add_loop(self, kind: str, header: Range) -> int:
        """Register a loop whose header stands at `header`."""
        text = self.source.lines[header.start_line].strip()
        self.sites.append(Site(kind, "loop", header, text, self.function))
        return self.first_site + len(self.sites) - 1

    def site_of(self, node: ast.AST | None) -> int:
        """The evaluation site that was given to `node` (as parsed), or NONE."""
        return self._site_of.get(id(node), NONE)

    def record(self, kind: str, node: ast.expr, original: ast.expr | None = None) -> ast.expr:
        """`node` wrapped so that its value is recorded under a new site."""
        site = self.add_site(kind, "evaluation", original or node)
        self._site_of[id(original or node)] = site
        return hook_call(at_depth(VALUE, self.depth), node, number(site, node), node)

    def record_name(self, node: ast.Name) -> ast.stmt:
        """A statement that records what was just bound to the name `node`."""
        site = self.add_site("target", "evaluation", node)
        self._site_of[id(node)] = site
        load = ast.copy_location(ast.Name(node.id, ast.Load()), node)
        return statement(hook_call(VALUE, node, number(site, node), load), node)

    def mark(self, index: int, node: ast.stmt) -> ast.stmt:
        """A statement that marks statement `index` as reached, and costs next to nothing."""
        place = ast.Subscript(ast.Name(self.marks, ast.Load()), ast.Constant(index), ast.Store())
        marker = ast.Assign([place], ast.Constant(1))
        return _located(marker, node)

    def add_statement(self) -> int:
        """Reserve a row; `set_statement` fills it."""
        self.statements.append(Statement("other", Range(0, 0, 0, 0), (0, 0), 0))
        self.marked.append(False)
        return len(self.statements) - 1

    def set_statement(
        self,
        index: int,
        kind: str,
        node: ast.stmt | ast.ExceptHandler,
        header_end: tuple[int, int],
        *,
        parent: int,
        arm: str,
        **details: object,
    ) -> None:
        """Fill a reserved row."""
        row = Statement(kind, self.source.range(node), header_end, self.function, parent=parent, arm=arm)
        self.statements[index] = row._replace(**details)  # type: ignore[arg-type]


def number(value: int, node: ast.AST) -> ast.Constant:
    """A constant at `node`'s place."""
    return _located(ast.Constant(value), node)


def hook_call(hook: str, node: ast.AST, *arguments: ast.expr) -> ast.Call:
    """A call of a recorder function at `node`'s place; the arguments keep theirs."""
    name = _located(ast.Name(hook, ast.Load()), node)
    call = ast.Call(name, list(arguments), [])
    return _place(call, node)


def statement(value: ast.expr, node: ast.AST) -> ast.Expr:
    """An expression as a statement at `node`'s place."""
    return _place(ast.Expr(value), node)


def truth_of(node: ast.expr) -> ast.expr:
    """`not not node`: its truth, asked once and in the user's own frame."""
    inner = _place(ast.UnaryOp(ast.Not(), node), node)
    return _place(ast.UnaryOp(ast.Not(), inner), node)


def _place(node: _N, like: ast.AST) -> _N:
    """Give `node` itself the location of `like`. The compiler puts it into tracebacks."""
    for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        setattr(node, name, getattr(like, name))
    return node


def _located(node: _N, like: ast.AST) -> _N:
    """Give `node` and all below it the location of `like`."""
    for child in ast.walk(node):
        if isinstance(child, (ast.expr, ast.stmt)):
            _place(child, like)
    return node
