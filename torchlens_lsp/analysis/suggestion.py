"""Examples to offer for a file that has none: a call for each of its models, as far as its text tells.

A guess from the layers, to be read by a person before anything is made of it: it is never run unasked. What the text
does not tell stands as `...`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

MAX_SUGGESTIONS = 3
UNKNOWN = "..."
"""What stands for what has to be filled in; torch refuses it with a clear message where it is left."""
_BATCH, _LENGTH, _SIDE = 2, 16, 32
"""Sizes of dimensions that a layer leaves open."""

_MODULE = re.compile(r"(?:^|\.)\w*(?:Module|Model)$")
_CLASS = re.compile(r"(?<![^\r\n])class[ \t]+(\w+)[ \t]*\(([^)]*)\)")
_SHAPES = {
    "Linear": "{size}",
    "LazyLinear": UNKNOWN,
    "Conv1d": f"{{size}}, {_LENGTH}",
    "Conv2d": f"{{size}}, {_SIDE}, {_SIDE}",
    "Conv3d": f"{{size}}, {_LENGTH}, {_LENGTH}, {_LENGTH}",
    "LSTM": f"{_LENGTH}, {{size}}",
    "GRU": f"{_LENGTH}, {{size}}",
    "RNN": f"{_LENGTH}, {{size}}",
}
"""By layer: the dimensions of its input after the batch, given the size that it is made for."""


def suggest_examples(text: str) -> list[str]:
    """Call expressions for the models of a file: at most MAX_SUGGESTIONS, those that no other model is made of first.

    Empty where the file defines no class that is, by the names of its bases, a module.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [f"{name}({UNKNOWN})({UNKNOWN})" for name in _names_in_text(text)][:MAX_SUGGESTIONS]
    models = _models(tree)
    parts = {name for node in models.values() for name in _names_used(node) if name in models and name != node.name}
    ordered = sorted((name for name in models if _method(name, "forward", models)), key=lambda name: name in parts)
    return [_call(name, models) for name in ordered][:MAX_SUGGESTIONS]


def _names_in_text(text: str) -> Iterator[str]:
    for match in _CLASS.finditer(text):
        if any(_MODULE.search(base.strip()) for base in match[2].split(",")):
            yield match[1]


def _models(tree: ast.Module) -> dict[str, ast.ClassDef]:
    """Classes that are modules by the name of a base, or by a base of the file that is one; in the file's order."""
    found: dict[str, ast.ClassDef] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base) for base in node.bases]
            if any(base in found or _MODULE.search(base) for base in bases):
                found[node.name] = node
    return found


def _names_used(node: ast.ClassDef) -> Iterator[str]:
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def _call(name: str, models: dict[str, ast.ClassDef]) -> str:
    init, forward = _method(name, "__init__", models), _method(name, "forward", models)
    making = ", ".join(f"{parameter}={UNKNOWN}" for parameter in _required(init))
    given = _required(forward)
    arguments = [_input(init)] if given else []
    arguments += [f"{parameter}={UNKNOWN}" for parameter in given[1:]]
    return f"{name}({making})({', '.join(arguments)})"


def _method(model: str, name: str, models: dict[str, ast.ClassDef]) -> ast.FunctionDef | None:
    """A method of a class, or of the nearest base of the file that has it."""
    line, seen = [model], {model}
    while line:
        node = models[line.pop(0)]
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and each.name == name:
                return each
        # Classes that are defined twice may name each other as bases.
        bases = [ast.unparse(base) for base in node.bases]
        line += [base for base in bases if base in models and base not in seen]
        seen.update(bases)
    return None


def _required(function: ast.FunctionDef | None) -> list[str]:
    """Parameters that have to be given, the first one (`self`) apart."""
    if function is None:
        return []
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    needed = positional[1 : len(positional) - len(arguments.defaults)]
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [each.arg for each in [*needed, *(each for each, default in keywords if default is None)]]


def _input(init: ast.FunctionDef | None) -> str:
    """A first argument of `forward`: what the first layer that is made takes."""
    known = _defaults(init)
    calls = (node for node in ast.walk(init) if isinstance(node, ast.Call)) if init is not None else iter(())
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        layer = ast.unparse(call.func).rpartition(".")[2]
        size = _whole(call.args[0] if call.args else None, known)
        if layer == "Embedding":
            return f"torch.randint({size or UNKNOWN}, ({_BATCH}, {_LENGTH}))"
        if layer in _SHAPES:
            return f"torch.randn({_BATCH}, {_SHAPES[layer].format(size=size)})" if size else f"torch.randn({UNKNOWN})"
    return f"torch.randn({UNKNOWN})"


def _defaults(init: ast.FunctionDef | None) -> dict[str, int]:
    """Whole numbers that parameters have unless they are given."""
    if init is None:
        return {}
    positional = [*init.args.posonlyargs, *init.args.args]
    pairs: list[tuple[ast.arg, ast.expr | None]] = [
        *zip(positional[len(positional) - len(init.args.defaults) :], init.args.defaults, strict=True),
        *zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True),
    ]
    sizes = ((argument.arg, _whole(default, {})) for argument, default in pairs)
    return {name: size for name, size in sizes if size is not None}


def _whole(node: ast.expr | None, known: dict[str, int]) -> int | None:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return known.get(node.id) if isinstance(node, ast.Name) else None
