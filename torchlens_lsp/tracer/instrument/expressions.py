"""Expressions: each value that could interest anybody goes through the recorder, in the order of evaluation.

Every method takes a node as parsed and returns what stands in its place. Nodes keep their locations, so that
tracebacks, carets and the ranges of failing instructions are those of the user's text.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable

from ...document.model import NONE, Function, Test
from ..hooks import DEEPEST, ENTER, EXIT_LAMBDA, GENERATOR, OUTCOME, VALUE, at_depth
from .names import QuietNames, parameters
from .tables import Tables, hook_call, number, truth_of

# Before 3.12 the compiler gives no dependable positions inside of f-strings.
_F_STRINGS_HAVE_POSITIONS = sys.version_info >= (3, 12)

_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


class Expressions:
    """Rewrites expressions into `tables`."""

    def __init__(self, tables: Tables, quiet: QuietNames) -> None:
        self.tables = tables
        self.quiet = quiet
        self.qualified: list[str] = []
        """Qualified name's parts of the scope being looked at."""
        self._by_type: dict[type[ast.AST], Callable[..., ast.expr]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Subscript: self._subscript,
            ast.Call: self._call,
            ast.BinOp: self._binop,
            ast.UnaryOp: self._unaryop,
            ast.BoolOp: self._boolop,
            ast.Compare: self._compare,
            ast.IfExp: self._ifexp,
            ast.Lambda: self._lambda,
            ast.ListComp: self._comprehension,
            ast.SetComp: self._comprehension,
            ast.DictComp: self._comprehension,
            ast.GeneratorExp: self._generator_expression,
            ast.NamedExpr: self._walrus,
            ast.Await: self._await,
            ast.Yield: self._yield,
            ast.YieldFrom: self._yield_from,
            ast.Tuple: self._sequence,
            ast.List: self._sequence,
            ast.Set: self._sequence,
            ast.Dict: self._dict,
            ast.Starred: self._starred,
            ast.JoinedStr: self._f_string,
        }

    def expression(self, node: ast.expr) -> ast.expr:
        """What stands in place of `node`; unknown kinds of expression stay as they are."""
        rewrite = self._by_type.get(type(node))
        return rewrite(node) if rewrite else node

    def optional(self, node: ast.expr | None) -> ast.expr | None:
        """As `expression`, for what may be missing."""
        return None if node is None else self.expression(node)

    # --- tests ---------------------------------------------------------------------------------------------------

    def test(self, node: ast.expr, kind: str) -> tuple[ast.expr, Test | None]:
        """What stands in place of a test: its truth is asked once, by the user's code, and recorded."""
        if isinstance(node, ast.Constant):
            return node, None
        rewritten, test = self._truth(node)
        site = self.tables.add_site(kind, "branch", node)
        truth = rewritten if _is_bool(node) else truth_of(rewritten)
        outcome = hook_call(at_depth(OUTCOME, self.tables.depth), node, number(site, node), truth)
        return outcome, test._replace(site=site)

    def _truth(self, node: ast.expr) -> tuple[ast.expr, Test]:
        segment = self.tables.source.segment(node)
        if isinstance(node, ast.BoolOp):
            op = "and" if isinstance(node.op, ast.And) else "or"
            operands: list[Test | int | str] = []
            for index, operand in enumerate(node.values):
                text = self.tables.source.segment(operand)
                node.values[index], test = self.test(operand, op)
                operands.append(test if test is not None else text)
            return node, Test(NONE, NONE, op, tuple(operands), segment)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand, inner = self._truth(node.operand)
            return node, Test(NONE, NONE, "not", (inner,), segment)
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            rewritten = self.expression(node)
            parts = tuple(self._site_or_text(side) for side in sides)
            op = " ".join(_OPERATORS[type(op)] for op in node.ops)
            return rewritten, Test(NONE, self.tables.site_of(node), op, parts, segment)
        rewritten = self.expression(node)
        return rewritten, Test(NONE, self.tables.site_of(node), "truth", (), segment)

    def _site_or_text(self, node: ast.expr) -> int | str:
        site = self.tables.site_of(node)
        return self.tables.source.segment(node) if site == NONE else site

    # --- operators -----------------------------------------------------------------------------------------------

    def _binop(self, node: ast.BinOp) -> ast.expr:
        if is_constant(node):
            return node
        node.left = self.expression(node.left)
        node.right = self.expression(node.right)
        return self.tables.record("binop", node)

    def _unaryop(self, node: ast.UnaryOp) -> ast.expr:
        if is_constant(node):
            return node
        node.operand = self.expression(node.operand)
        return self.tables.record("unaryop", node)

    def _boolop(self, node: ast.BoolOp) -> ast.expr:
        node.values = [self.expression(value) for value in node.values]
        return self.tables.record("boolop", node)

    def _compare(self, node: ast.Compare) -> ast.expr:
        node.left = self.expression(node.left)
        node.comparators = [self.expression(side) for side in node.comparators]
        return self.tables.record("compare", node)

    def _ifexp(self, node: ast.IfExp) -> ast.expr:
        node.test, _ = self.test(node.test, "ifexp")
        node.body = self.expression(node.body)
        node.orelse = self.expression(node.orelse)
        return self.tables.record("ifexp", node)

    # --- names, parts, calls -------------------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> ast.expr:
        return node if self.quiet.is_quiet(node.id) else self.tables.record("name", node)

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        if self.quiet.is_quiet_attribute(node):
            return node
        node.value = self.expression(node.value)
        return self.tables.record("attribute", node)

    def _subscript(self, node: ast.Subscript) -> ast.expr:
        node.value = self.expression(node.value)
        node.slice = self.index(node.slice)
        return self.tables.record("subscript", node)

    def index(self, node: ast.expr) -> ast.expr:
        """The inside of `[…]`: slices are no values, their bounds are."""
        if isinstance(node, ast.Slice):
            node.lower = self.optional(node.lower)
            node.upper = self.optional(node.upper)
            node.step = self.optional(node.step)
            return node
        if isinstance(node, ast.Tuple):
            node.elts = [self.index(item) for item in node.elts]
            return node
        return self.expression(node)

    def _call(self, node: ast.Call) -> ast.expr:
        node.func = self._callee(node.func)
        node.args = [self.expression(argument) for argument in node.args]
        for keyword in node.keywords:
            keyword.value = self.expression(keyword.value)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return node
        return self.tables.record("call", node)

    def _callee(self, node: ast.expr) -> ast.expr:
        """What is called is a function: only what it is taken from is worth a look."""
        if isinstance(node, ast.Name):
            return node
        if isinstance(node, ast.Attribute):
            node.value = self.expression(node.value)
            return node
        return self.expression(node)

    def _starred(self, node: ast.Starred) -> ast.expr:
        node.value = self.expression(node.value)
        return node

    # --- displays ------------------------------------------------------------------------------------------------

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set) -> ast.expr:
        if is_constant(node) or not node.elts:
            return node
        node.elts = [self.expression(item) for item in node.elts]
        return self.tables.record(type(node).__name__.lower(), node)

    def _dict(self, node: ast.Dict) -> ast.expr:
        if is_constant(node) or not node.values:
            return node
        for index, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            node.keys[index] = self.optional(key)
            node.values[index] = self.expression(value)
        return self.tables.record("dict", node)

    def _f_string(self, node: ast.JoinedStr) -> ast.expr:
        if _F_STRINGS_HAVE_POSITIONS:
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    part.value = self.expression(part.value)
                    if isinstance(part.format_spec, ast.JoinedStr):
                        self._f_string(part.format_spec)
        return node

    # --- scopes of their own -------------------------------------------------------------------------------------

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp) -> ast.expr:
        outer = self.tables.depth
        if DEEPEST and outer == DEEPEST:
            self.tables.unwatched.append(f"line {node.lineno}: comprehensions that nest too deep run unrecorded")
            return node
        first = self.expression(node.generators[0].iter)
        self.tables.depth = outer + 1 if DEEPEST else outer
        self._generators(node.generators)
        if isinstance(node, ast.DictComp):
            node.key = self.expression(node.key)
            node.value = self.expression(node.value)
        else:
            node.elt = self.expression(node.elt)
        self.tables.depth = outer
        node.generators[0].iter = first
        return self.tables.record("comprehension", node)

    def _generator_expression(self, node: ast.GeneratorExp) -> ast.expr:
        outer = self.tables.depth
        first = self.expression(node.generators[0].iter)
        self.tables.depth = 0
        self._generators(node.generators)
        node.elt = self.expression(node.elt)
        self.tables.depth = outer
        node.generators[0].iter = first
        return hook_call(at_depth(GENERATOR, outer), node, node)

    def _generators(self, generators: list[ast.comprehension]) -> None:
        """The first iterable is apart: it is evaluated outside."""
        for index, generator in enumerate(generators):
            if index:
                generator.iter = self.expression(generator.iter)
            generator.ifs = [self.test(test, "filter")[0] for test in generator.ifs]

    def _lambda(self, node: ast.Lambda) -> ast.expr:
        self.defaults(node.args)
        tables = self.tables
        place = tables.source.range(node)
        body_start = tables.source.position(node.body.lineno, node.body.col_offset)
        outer, depth = tables.function, tables.depth
        index = tables.function = len(tables.functions)
        tables.depth = 0
        name = ".".join([*self.qualified, "<lambda>"])
        tables.functions.append(Function(name, "lambda", place, place, body_start, ()))
        self.quiet.enter(node, None)
        self.qualified += ["<lambda>", "<locals>"]
        sites, values = self.parameters(node.args, None)
        body = self.expression(node.body)
        del self.qualified[-2:]
        self.quiet.leave()
        tables.function, tables.depth = outer, depth
        tables.functions[index] = tables.functions[index]._replace(parameters=sites)
        enter = hook_call(ENTER, node, number(tables.first_function + index, node))
        node.body = hook_call(EXIT_LAMBDA, node.body, enter, *values, body)
        return node

    def parameters(self, arguments: ast.arguments, receiver: str | None) -> tuple[tuple[int, ...], list[ast.expr]]:
        """Sites of the parameters, and expressions that record them, the receiver left out."""
        sites: list[int] = []
        values: list[ast.expr] = []
        for argument in parameters(arguments):
            if argument.arg == receiver:
                continue
            range_ = self.tables.source.range(argument)
            name_range = range_._replace(
                end_line=range_.start_line,
                end_character=range_.start_character + len(argument.arg.encode("utf-16-le")) // 2,
            )
            site = self.tables.add_site("parameter", "evaluation", argument, name_range)
            local = site - self.tables.first_site
            self.tables.sites[local] = self.tables.sites[local]._replace(expr=argument.arg)
            sites.append(site)
            load = ast.copy_location(ast.Name(argument.arg, ast.Load()), argument)
            values.append(hook_call(VALUE, argument, number(site, argument), load))
        return tuple(sites), values

    def defaults(self, arguments: ast.arguments) -> None:
        """Default values are evaluated where the function is defined."""
        arguments.defaults = [self.expression(default) for default in arguments.defaults]
        arguments.kw_defaults = [self.optional(default) for default in arguments.kw_defaults]

    # --- binding and suspending ----------------------------------------------------------------------------------

    def _walrus(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.expression(node.value)
        wrapped = self.tables.record("walrus", node)
        target = self.tables.add_site("target", "evaluation", node.target)
        self.tables.aliases.append((target, self.tables.site_of(node)))
        return wrapped

    def _await(self, node: ast.Await) -> ast.expr:
        node.value = self.expression(node.value)
        return self.tables.record("await", node)

    def _yield(self, node: ast.Yield) -> ast.expr:
        node.value = self.optional(node.value)
        return node

    def _yield_from(self, node: ast.YieldFrom) -> ast.expr:
        node.value = self.expression(node.value)
        return self.tables.record("yield", node)


def _is_bool(node: ast.expr) -> bool:
    """Whether a test is a bool once its operands are: constants among them stay what they are."""
    if isinstance(node, ast.BoolOp):
        return not any(isinstance(operand, ast.Constant) for operand in node.values)
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def is_constant(node: ast.expr) -> bool:
    """Whether `node` is made of constants alone, which the compiler folds."""
    todo: list[ast.AST] = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.BinOp, ast.UnaryOp)):
            todo.extend(ast.iter_child_nodes(part))
        elif not isinstance(part, (ast.Constant, ast.operator, ast.unaryop, ast.expr_context)):
            return False
    return True
