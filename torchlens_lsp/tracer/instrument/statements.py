"""Statements: which were reached, what they bound, which way they went; and the functions they make."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from ...document.model import NONE, Function, Range, Target
from ..hooks import CASE, ENTER, EXIT, ITERATION, LOOP, UNWIND
from .chains import chain_sites, links_of
from .expressions import Expressions
from .names import QuietNames, parameters
from .tables import Tables, hook_call, number, statement

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_TryStar: type[ast.AST] = getattr(ast, "TryStar", ast.Try)

MAX_DEPTH = 150
"""Expressions that nest deeper than this run plain: wrapped, they would exceed the compiler's own limits."""


class Statements(Expressions):
    """Rewrites blocks of statements into `tables`."""

    def __init__(self, tables: Tables, quiet: QuietNames, plain: frozenset[int]) -> None:
        """`plain`: lines of statements that must stay as they are."""
        super().__init__(tables, quiet)
        self._plain = plain

    def block(self, body: list[ast.stmt], parent: int, arm: str) -> list[ast.stmt]:
        """What stands in place of a block."""
        result: list[ast.stmt] = []
        for node in body:
            index = self.tables.add_statement()
            result.append(self.tables.mark(index, node))
            self.tables.marked[index] = True
            result.extend(self._statement(node, index, parent, arm))
        return result

    def _statement(self, node: ast.stmt, index: int, parent: int, arm: str) -> list[ast.stmt]:
        rewrite = _BY_TYPE.get(type(node))
        if rewrite is None or self._must_stay(node):
            kind = _PLAIN_KINDS.get(type(node), "other")
            self.tables.set_statement(index, kind, node, self._end(node), parent=parent, arm=arm)
            return [node]
        return rewrite(self, node, index, parent, arm)

    def _must_stay(self, node: ast.stmt) -> bool:
        if node.lineno in self._plain:
            reason = "the compiler refused its recorded form"
        elif depth_of_own_expressions(node) > MAX_DEPTH:
            reason = "its expressions nest too deep"
        else:
            return False
        self.tables.unwatched.append(f"line {node.lineno}: runs unrecorded, because {reason}")
        return True

    # --- simple statements ---------------------------------------------------------------------------------------

    def _assign(self, node: ast.Assign, index: int, parent: int, arm: str) -> list[ast.stmt]:
        links = links_of(node.value)
        value = node.value
        node.value = self.expression(value)
        site = self.tables.site_of(value)
        targets: list[Target] = []
        after: list[ast.stmt] = []
        for target in node.targets:
            targets += self._bound(target, site, after)
        self._set_simple(index, "assign", node, parent, arm, targets, value, links)
        return [node, *after]

    def _annassign(self, node: ast.AnnAssign, index: int, parent: int, arm: str) -> list[ast.stmt]:
        links, value = links_of(node.value), node.value
        targets: list[Target] = []
        after: list[ast.stmt] = []
        if value is not None:
            node.value = self.expression(value)
            targets = self._bound(node.target, self.tables.site_of(value), after)
        self._set_simple(index, "annassign", node, parent, arm, targets, value, links)
        return [node, *after]

    def _augassign(self, node: ast.AugAssign, index: int, parent: int, arm: str) -> list[ast.stmt]:
        value = node.value
        node.value = self.expression(value)
        after: list[ast.stmt] = []
        targets = self._bound(node.target, NONE, after)
        self._set_simple(index, "augassign", node, parent, arm, targets, value, [])
        return [node, *after]

    def _return(self, node: ast.Return, index: int, parent: int, arm: str) -> list[ast.stmt]:
        links, value = links_of(node.value), node.value
        node.value = self.optional(value)
        self._set_simple(index, "return", node, parent, arm, [], value, links)
        return [node]

    def _expr(self, node: ast.Expr, index: int, parent: int, arm: str) -> list[ast.stmt]:
        value = node.value
        links = links_of(value)
        kind = "yield" if isinstance(value, (ast.Yield, ast.YieldFrom)) else "expr"
        shown = value.value if isinstance(value, ast.Yield) else value
        node.value = self.expression(value)
        self._set_simple(index, kind, node, parent, arm, [], shown, links)
        return [node]

    def _assert(self, node: ast.Assert, index: int, parent: int, arm: str) -> list[ast.stmt]:
        node.test, test = self.test(node.test, "assert")
        self.tables.set_statement(index, "assert", node, self._end(node), parent=parent, arm=arm, test=test)
        return [node]

    def _raise(self, node: ast.Raise, index: int, parent: int, arm: str) -> list[ast.stmt]:
        node.exc, node.cause = self.optional(node.exc), self.optional(node.cause)
        self.tables.set_statement(index, "raise", node, self._end(node), parent=parent, arm=arm)
        return [node]

    def _delete(self, node: ast.Delete, index: int, parent: int, arm: str) -> list[ast.stmt]:
        for target in node.targets:
            self._parts(target)
        self.tables.set_statement(index, "other", node, self._end(node), parent=parent, arm=arm)
        return [node]

    def _set_simple(
        self,
        index: int,
        kind: str,
        node: ast.stmt,
        parent: int,
        arm: str,
        targets: list[Target],
        value: ast.expr | None,
        links: list[ast.expr],
    ) -> None:
        self.tables.set_statement(
            index,
            kind,
            node,
            self._end(node),
            parent=parent,
            arm=arm,
            targets=tuple(targets),
            value=self.tables.site_of(value),
            chain=chain_sites(links, self.tables),
        )

    def _bound(self, target: ast.expr, value_site: int, after: list[ast.stmt]) -> list[Target]:
        """The targets below `target`; a lone one has its value's site, names of a pattern are recorded `after`."""
        end = self._end(target)
        name = self.tables.source.segment(target)
        if isinstance(target, (ast.Tuple, ast.List)):
            found: list[Target] = []
            for item in target.elts:
                found += self._bound(item, NONE, after)
            return found
        if isinstance(target, ast.Starred):
            return [inner._replace(name=name) for inner in self._bound(target.value, NONE, after)]
        if isinstance(target, ast.Name):
            if value_site == NONE:
                after.append(self.tables.record_name(target))
                return [Target(name, self.tables.site_of(target), end)]
            return [Target(name, self._alias(target, value_site), end)]
        is_attribute = isinstance(target, ast.Attribute)
        site = self._alias(target, value_site) if is_attribute and value_site != NONE else NONE
        self._parts(target)
        return [Target(name, site, end)]

    def _parts(self, target: ast.expr) -> None:
        """Rewrite what an attribute, an item or a slice that is set or deleted is taken from."""
        if isinstance(target, (ast.Tuple, ast.List)):
            for item in target.elts:
                self._parts(item)
        elif isinstance(target, ast.Attribute):
            target.value = self.expression(target.value)
        elif isinstance(target, ast.Subscript):
            target.value = self.expression(target.value)
            target.slice = self.index(target.slice)

    def _alias(self, target: ast.expr, value_site: int) -> int:
        site = self.tables.add_site("target", "evaluation", target)
        self.tables.aliases.append((site, value_site))
        return site

    # --- compound statements -------------------------------------------------------------------------------------

    def _if(self, node: ast.If, index: int, parent: int, arm: str) -> list[ast.stmt]:
        kind = "elif" if self._is_elif(node) else "if"
        node.test, test = self.test(node.test, kind)
        self.tables.set_statement(index, kind, node, self._header_end(node), parent=parent, arm=arm, test=test)
        node.body = self.block(node.body, index, "body")
        node.orelse = self.block(node.orelse, index, "else")
        return [node]

    def _is_elif(self, node: ast.If) -> bool:
        line, character = self._start(node)
        return self.tables.source.lines[line].lstrip()[:4] == "elif" and (
            self.tables.source.lines[line][:character].strip(" \t\f") == ""
        )

    def _while(self, node: ast.While, index: int, parent: int, arm: str) -> list[ast.stmt]:
        node.test, test = self.test(node.test, "while")
        loop = self._loop_site("while", node)
        header_end = self._header_end(node)
        self.tables.set_statement(index, "while", node, header_end, parent=parent, arm=arm, test=test, loop=loop)
        node.body = [self._hook(ITERATION, node, loop), *self.block(node.body, index, "body")]
        node.orelse = self.block(node.orelse, index, "else")
        return [self._hook(LOOP, node, loop), node]

    def _for(self, node: ast.For | ast.AsyncFor, index: int, parent: int, arm: str) -> list[ast.stmt]:
        iterated = node.iter
        node.iter = self.expression(iterated)
        loop = self._loop_site("for", node)
        bound: list[ast.stmt] = []
        targets = self._bound(node.target, NONE, bound)
        self.tables.set_statement(
            index,
            "for",
            node,
            self._header_end(node),
            parent=parent,
            arm=arm,
            targets=tuple(targets),
            value=self.tables.site_of(iterated),
            loop=loop,
        )
        body = self.block(node.body, index, "body")
        node.body = [self._hook(ITERATION, node, loop), *bound, *body]
        node.orelse = self.block(node.orelse, index, "else")
        return [self._hook(LOOP, node, loop), node]

    def _with(self, node: ast.With | ast.AsyncWith, index: int, parent: int, arm: str) -> list[ast.stmt]:
        bound: list[ast.stmt] = []
        targets: list[Target] = []
        for item in node.items:
            item.context_expr = self.expression(item.context_expr)
            if item.optional_vars is not None:
                targets += self._bound(item.optional_vars, NONE, bound)
        self.tables.set_statement(
            index, "with", node, self._header_end(node), parent=parent, arm=arm, targets=tuple(targets)
        )
        node.body = [*bound, *self.block(node.body, index, "body")]
        return [node]

    def _try(self, node: ast.Try, index: int, parent: int, arm: str) -> list[ast.stmt]:
        self.tables.set_statement(index, "try", node, self._header_end(node), parent=parent, arm=arm)
        node.body = self.block(node.body, index, "body")
        for handler in node.handlers:
            handler.body = self.block(handler.body, index, "except")
        node.orelse = self.block(node.orelse, index, "else")
        node.finalbody = self.block(node.finalbody, index, "finally")
        return [node]

    def _match(self, node: ast.Match, index: int, parent: int, arm: str) -> list[ast.stmt]:
        subject = node.subject
        node.subject = self.expression(subject)
        header_end = self.tables.source.header_end(self._start(node), self._start(node.cases[0].pattern))
        self.tables.set_statement(
            index, "match", node, header_end, parent=parent, arm=arm, value=self.tables.site_of(subject)
        )
        sites = [self.tables.add_site("match", "branch", case.pattern) for case in node.cases]
        irrefutable = False
        for position, case in enumerate(node.cases):
            taken = self._hook(CASE, case.pattern, sites[0], position, len(sites))
            captured = [self._captured(part) for part in ast.walk(case.pattern)]
            names = [self.tables.record_name(name) for name in captured if name is not None]
            if case.guard is not None:
                case.guard, _ = self.test(case.guard, "if")
            elif is_irrefutable(case.pattern):
                irrefutable = True
            case.body = [taken, *names, *self.block(case.body, index, "body")]
        if not irrefutable:
            last = node.cases[-1].pattern
            nothing = ast.copy_location(ast.MatchAs(None, None), last)
            taken = self._hook(CASE, last, sites[0], len(sites), len(sites))
            node.cases.append(ast.match_case(nothing, None, [taken]))
        return [node]

    def _captured(self, part: ast.AST) -> ast.Name | None:
        """The name that a pattern binds, if the pattern ends with it as it is written."""
        if not isinstance(part, (ast.MatchAs, ast.MatchStar)) or part.name is None:
            return None
        name = ast.copy_location(ast.Name(part.name, ast.Store()), part)
        name.lineno = part.end_lineno
        name.col_offset = part.end_col_offset - len(part.name.encode())
        return name if self.tables.source.segment(name) == part.name else None

    # --- definitions ---------------------------------------------------------------------------------------------

    def _function(self, node: _Function, index: int, parent: int, arm: str) -> list[ast.stmt]:
        self.defaults(node.args)
        self.function_body(node, index, parent, arm, receiver=None)
        return [node]

    def function_body(self, node: _Function, index: int, parent: int, arm: str, receiver: str | None) -> None:
        """Rewrite what a function does when it is called; its decorators, defaults and annotations are not touched."""
        tables = self.tables
        header_end = self._header_end(node)
        outer, depth, function = tables.function, tables.depth, len(tables.functions)
        kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
        name = ".".join([*self.qualified, node.name])
        whole, name_range = tables.source.range(node), self._name_range(node)
        tables.functions.append(Function(name, kind, whole, name_range, header_end, ()))
        tables.set_statement(index, "def", node, header_end, parent=parent, arm=arm, defines=function)
        tables.function, tables.depth = function, 0
        self.quiet.enter(node, receiver)
        self.qualified += [node.name, "<locals>"]
        sites, values = self.parameters(node.args, receiver)
        tables.functions[function] = tables.functions[function]._replace(parameters=sites)
        docstring, body = split_docstring(node.body)
        enter = self._hook(ENTER, node, tables.first_function + function)
        inner = [*(statement(value, node) for value in values), *self.block(body, NONE, "")]
        node.body = [*docstring, enter, self._guarded(inner, node, body[0] if body else node)]
        del self.qualified[-2:]
        self.quiet.leave()
        tables.function, tables.depth = outer, depth

    def _guarded(self, body: list[ast.stmt], node: _Function, first: ast.stmt) -> ast.stmt:
        """`body` so that its end is seen: an `except` that catches nothing tells of exceptions."""
        nothing = ast.copy_location(ast.Pass(), node)
        handler = ast.copy_location(ast.ExceptHandler(hook_call(UNWIND, node), None, [nothing]), node)
        return ast.copy_location(ast.Try(body or [nothing], [handler], [], [self._hook(EXIT, node)]), first)

    def _class(self, node: ast.ClassDef, index: int, parent: int, arm: str) -> list[ast.stmt]:
        self.tables.set_statement(index, "class", node, self._header_end(node), parent=parent, arm=arm)
        self.qualified.append(node.name)
        self._class_block(node.body, index)
        self.qualified.pop()
        return [node]

    def _class_block(self, body: Iterable[ast.stmt], parent: int) -> None:
        """Only the functions of a class are recorded: its namespace may be of a kind that minds what is looked up."""
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                index = self.tables.add_statement()
                if self._must_stay(node):
                    self.tables.set_statement(index, "def", node, self._header_end(node), parent=parent, arm="body")
                else:
                    self.function_body(node, index, parent, "body", self._receiver(node))
            elif isinstance(node, ast.ClassDef):
                self._class(node, self.tables.add_statement(), parent, "body")
            else:
                for inner in ("body", "orelse", "finalbody"):
                    self._class_block(getattr(node, inner, ()), parent)
                for handler in getattr(node, "handlers", ()):
                    self._class_block(handler.body, parent)

    @staticmethod
    def _receiver(node: _Function) -> str | None:
        if any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list):
            return None
        found = parameters(node.args)
        return found[0].arg if found and node.args.vararg is not found[0] else None

    # --- places --------------------------------------------------------------------------------------------------

    def _hook(self, hook: str, node: ast.AST, *numbers: int) -> ast.stmt:
        return statement(hook_call(hook, node, *(number(n, node) for n in numbers)), node)

    def _start(self, node: ast.stmt | ast.pattern) -> tuple[int, int]:
        return self.tables.source.position(node.lineno, node.col_offset)

    def _end(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        return self.tables.source.range(node)[2:]

    def _header_end(self, node: ast.stmt) -> tuple[int, int]:
        body: list[ast.stmt] = getattr(node, "body")  # noqa: B009 (statements with a body share no type)
        first = body[0]
        decorators = getattr(first, "decorator_list", None)
        line = min([first.lineno, *(d.lineno for d in decorators)]) if decorators else first.lineno
        start = (line - 1, 0) if line != first.lineno else self._start(first)
        return self.tables.source.header_end(self._start(node), start)

    def _name_range(self, node: _Function) -> Range:
        line, character = self._start(node)
        text = self.tables.source.lines[line]
        column = text.find(node.name, text.find("def", self._column(line, character)) + 3)
        if column < 0:  # the name stands on a line of its own, after a backslash
            return Range(line, character, line, character)
        start = character + len(text[self._column(line, character) : column].encode("utf-16-le")) // 2
        return Range(line, start, line, start + len(node.name.encode("utf-16-le")) // 2)

    def _column(self, line: int, character: int) -> int:
        """Index into the line's text of a UTF-16 character."""
        prefix = self.tables.source.lines[line].encode("utf-16-le")[: character * 2]
        return len(prefix.decode("utf-16-le", "replace"))

    def _loop_site(self, kind: str, node: ast.While | ast.For | ast.AsyncFor) -> int:
        return self.tables.add_loop(kind, Range(*self._start(node), *self._header_end(node)))


def is_irrefutable(pattern: ast.pattern) -> bool:
    """Whether `pattern` matches whatever comes, so that no case may follow it."""
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is None or is_irrefutable(pattern.pattern)
    return isinstance(pattern, ast.MatchOr) and is_irrefutable(pattern.patterns[-1])


def split_docstring(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """A body's docstring, which must stay first, and the rest."""
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return body[:1], body[1:]
    return [], body


def depth_of_own_expressions(node: ast.stmt) -> int:
    """How deep the expressions of a statement nest, its blocks apart. Counted without recursion."""
    deepest = 0
    todo: list[tuple[ast.AST, int]] = [(child, 1) for child in ast.iter_child_nodes(node)]
    while todo:
        part, depth = todo.pop()
        if isinstance(part, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            continue
        deepest = max(deepest, depth)
        todo.extend((child, depth + 1) for child in ast.iter_child_nodes(part))
    return deepest


_BY_TYPE: dict[type[ast.stmt], Callable[..., list[ast.stmt]]] = {
    ast.Assign: Statements._assign,
    ast.AnnAssign: Statements._annassign,
    ast.AugAssign: Statements._augassign,
    ast.Return: Statements._return,
    ast.Expr: Statements._expr,
    ast.Assert: Statements._assert,
    ast.Raise: Statements._raise,
    ast.Delete: Statements._delete,
    ast.If: Statements._if,
    ast.While: Statements._while,
    ast.For: Statements._for,
    ast.AsyncFor: Statements._for,
    ast.With: Statements._with,
    ast.AsyncWith: Statements._with,
    ast.Try: Statements._try,
    _TryStar: Statements._try,  # type: ignore[dict-item]
    ast.Match: Statements._match,
    ast.FunctionDef: Statements._function,
    ast.AsyncFunctionDef: Statements._function,
    ast.ClassDef: Statements._class,
}

_PLAIN_KINDS: dict[type[ast.stmt], str] = {
    ast.Raise: "raise",
    ast.Import: "import",
    ast.ImportFrom: "import",
    ast.FunctionDef: "def",
    ast.AsyncFunctionDef: "def",
    ast.ClassDef: "class",
}
"""Kinds of statements that stay as they are."""
