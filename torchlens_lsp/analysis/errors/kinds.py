"""Rules for values that are not of the kind that was wanted: None, a tuple, too many of them, whole numbers."""

from __future__ import annotations

import re

from ...document.model import NONE, Operand, Statement
from ...document.values import Container, Other, Tensor
from .facts import Facts, short
from .finding import Finding, Rules
from .terms import dtype_of_message, tensor_text

rules = Rules()

LISTED = 3
"""Items of a container that are named."""


@rules(r"(?P<function>\w+)\(\): argument '\w+'(?: \(position \d+\))? must be Tensor, not (?P<type>\w+)")
def _not_a_tensor(facts: Facts, match: re.Match[str]) -> Finding | None:
    operand = facts.of_type(match["type"])
    if operand is None:
        return None
    return Finding(f"{_what_it_is(facts, operand)}, {match['function']} wants a tensor", value=operand)


@rules(r"^'(?P<type>\w+)' object (?:has no attribute '(?P<attribute>\w+)'|is not (?P<use>subscriptable|iterable))")
def _no_such_use(facts: Facts, match: re.Match[str]) -> Finding | None:
    if match["type"] not in ("NoneType", "tuple", "list", "dict"):
        return None
    operand = facts.of_type(match["type"])
    if operand is None:
        return None
    lack = f" and has no .{match['attribute']}" if match["attribute"] else f" and not {match['use']}"
    return Finding(_what_it_is(facts, operand) + lack, value=operand)


@rules(r"^unsupported operand type\(s\) for (?P<sign>\S+): '(?P<left>[\w.]+)' and '(?P<right>[\w.]+)'")
def _unsupported(facts: Facts, match: re.Match[str]) -> Finding | None:
    operand = facts.of_type("NoneType")
    if operand is None or "NoneType" not in (match["left"], match["right"]):
        return None
    return Finding(f"{_what_it_is(facts, operand)}, {match['sign']} wants a value", value=operand)


@rules(r"^too many values to unpack \(expected (?P<wanted>\d+)")
@rules(r"^not enough values to unpack \(expected (?:at least )?(?P<wanted>\d+), got \d+\)")
def _unpack(facts: Facts, match: re.Match[str]) -> Finding | None:
    statement = _statement(facts, "assign", "for")
    if statement is None or statement.value == NONE or statement.kind == "for":
        return None
    value_id = facts.last_value(statement.value, facts.error.call)
    value, expression = facts.value(value_id), short(facts.index.site(statement.value).expr)
    if isinstance(value, Container) and value.kind in ("tuple", "list"):
        sizes = value.type == "Size"
        what = _sizes(facts, value) if sizes else _items(facts, value)
        count = value.length
    elif isinstance(value, Tensor) and value.meta.shape and isinstance(value.meta.shape[0], int):
        what, count = tensor_text(value.meta), value.meta.shape[0]
    else:
        return None
    subject = f"{expression} is {what}" if expression else what
    values = f"{count} value" + ("" if count == 1 else "s")
    return Finding(f"{subject}: {values} for {match['wanted']} targets")


@rules(r"^tensors used as indices must be long, int, byte or bool tensors")
def _index_dtype(facts: Facts, match: re.Match[str]) -> Finding | None:
    known = ("int64", "int32", "uint8", "bool")
    index = next((named for named in facts.inputs[1:] if named.dtype not in known), None)
    if index is None:
        return None
    return Finding(f"{index.text} cannot be an index: whole numbers or bool can", dtypes=(index,))


@rules(r"expected target dtype to be [\w ]+, but got (\w+)")
@rules(r"expected scalar type Long but found (\w+)")
def _target_dtype(facts: Facts, match: re.Match[str]) -> Finding | None:
    if len(facts.inputs) < 2 or facts.inputs[1].dtype != dtype_of_message(match[1]):
        return None
    target = facts.inputs[1]
    return Finding(
        f"{facts.operation} wants classes as i64, {target.name or 'the target'} is {target}", dtypes=(target,)
    )


@rules(r"you tried to allocate (\d+) bytes")
def _memory(facts: Facts, match: re.Match[str]) -> Finding | None:
    return Finding(f"{facts.operation} asks for {_bytes(int(match[1]))}, more than there is")


def _what_it_is(facts: Facts, operand: Operand) -> str:
    """`h is None`, `h is a tuple (f32[2, 8], f32[1, 8])`."""
    value, name = facts.value(operand.value), short(operand.expr) or "this"
    if isinstance(value, Other):
        return f"{name} is {value.repr if value.type == 'NoneType' else value.type}"
    assert isinstance(value, Container)
    return f"{name} is a {value.type} {_items(facts, value)}" if value.items else f"{name} is an empty {value.type}"


def _items(facts: Facts, value: Container, depth: int = 0) -> str:
    """`(f32[2, 8], (f32[1, 8], f32[1, 8]))`; what is no tensor by its class."""
    texts = []
    for item in value.items[:LISTED]:
        inner = facts.value(item)
        if isinstance(inner, Tensor):
            texts.append(tensor_text(inner.meta))
        elif isinstance(inner, Container) and inner.kind in ("tuple", "list") and depth == 0:
            texts.append(_items(facts, inner, depth + 1))
        else:
            texts.append(inner.type if inner is not None else "?")
    if value.keys is not None:
        texts = [f"{key}: {text}" for key, text in zip(value.keys, texts, strict=False)]
    more = value.length - len(texts)
    brackets = {"list": "[]", "dict": "{}"}.get(value.kind, "()")
    return brackets[0] + ", ".join([*texts, *([f"+{more} more"] if more > 0 else [])]) + brackets[1]


def _sizes(facts: Facts, value: Container) -> str:
    sizes = [facts.value(item) for item in value.items]
    return "[" + ", ".join(size.repr if isinstance(size, Other) else "?" for size in sizes) + "]"


def _statement(facts: Facts, *kinds: str) -> Statement | None:
    """The statement of one of these kinds that the error stands in."""
    error = facts.error
    if error.range is None:
        return None
    for file in facts.document.files:
        if file.uri == error.uri:
            return next(
                (
                    row
                    for row in file.statements
                    if row.kind in kinds and row.range[:2] <= error.range[:2] and error.range[2:] <= row.range[2:]
                ),
                None,
            )
    return None


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} PiB"
