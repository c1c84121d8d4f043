"""Rules for sizes that do not meet: products, sums, concatenations, targets of a loss."""

from __future__ import annotations

import re
from math import prod

from ...document.values import Container
from ..wording import dtype_name
from .facts import Facts, Named
from .finding import Finding, Rules, WrongSize
from .terms import sizes_text

rules = Rules()

_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "true_divide": "/", "truediv": "/", "matmul": "@",
    "iadd": "+", "isub": "-", "imul": "*", "itruediv": "/", "radd": "+", "rsub": "-", "rmul": "*", "pow": "**",
    "and": "&", "or": "|", "xor": "^", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
_PRODUCTS = frozenset({"matmul", "mm", "bmm", "mv", "dot", "baddbmm", "addmm", "addbmm", "addmv"})


@rules(r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)")
def _matrix_product(facts: Facts, match: re.Match[str]) -> Finding | None:
    rows, inner, wanted, columns = map(int, match.groups())
    left = next((named for named in facts.inputs if _as_matrix(named) == (rows, inner)), None)
    if left is None:
        return None
    weight = facts.parameter("weight")
    if weight is not None and facts.op == "linear" and weight.shape == (columns, wanted):
        right = dtype_name(weight.dtype) + sizes_text((wanted, columns))
        made_for = f"{wanted} features"
    else:
        others = [*facts.inputs, *facts.parameters]
        other = next((named for named in others if named is not left and named.shape == (wanted, columns)), None)
        if other is None:
            return None
        right, made_for = str(other), ""
    sizes = (WrongSize(left, len(left.shape) - 1),)
    return Finding(f"{left} @ {right}: {inner} meets {wanted}", sizes, made_for=made_for)


@rules(r"size mismatch, got input \((\d+)\), mat \((\d+)x(\d+)\), vec \((\d+)\)")
def _matrix_vector(facts: Facts, match: re.Match[str]) -> Finding | None:
    _, rows, inner, length = map(int, match.groups())
    matrix, vector = _with_shape(facts, (rows, inner)), _with_shape(facts, (length,))
    if matrix is None or vector is None:
        return None
    sizes = (WrongSize(matrix, 1), WrongSize(vector, 0))
    return Finding(f"{matrix} @ {vector}: {inner} meets {length}", sizes)


@rules(r"inconsistent tensor size, expected tensor \[(\d+)\] and src \[(\d+)\]")
def _dot(facts: Facts, match: re.Match[str]) -> Finding | None:
    left, right = (_with_shape(facts, (int(size),)) for size in match.groups())
    if left is None or right is None:
        return None
    sizes = (WrongSize(left, 0), WrongSize(right, 0))
    return Finding(f"{left} @ {right}: {left.shape[0]} meets {right.shape[0]}", sizes)


@rules(r"Expected size for first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]")
def _batched_product(facts: Facts, match: re.Match[str]) -> Finding | None:
    if facts.op not in _PRODUCTS or len(facts.inputs) != 2:
        return None
    left, right = facts.inputs
    if len(left.shape) < 2 or len(right.shape) < 2:
        return None
    batch, inner, other_batch, other_inner = map(int, match.groups())
    if inner != other_inner and (left.shape[-1], right.shape[-2]) == (inner, other_inner):
        sizes = (WrongSize(left, len(left.shape) - 1), WrongSize(right, len(right.shape) - 2))
        return Finding(f"{left} @ {right}: {inner} meets {other_inner}", sizes)
    if batch != other_batch and (left.shape[0], right.shape[0]) == (batch, other_batch):
        sizes = (WrongSize(left, 0), WrongSize(right, 0))
        return Finding(f"{left} @ {right}: a batch of {batch} meets one of {other_batch}", sizes)
    return None


@rules(r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)")
def _broadcast(facts: Facts, match: re.Match[str]) -> Finding | None:
    first, second, at = map(int, match.groups())
    found = _broadcast_pair(facts.inputs, first, second, at)
    if found is None:
        return None
    sign = _SIGNS.get(facts.operation)
    texts = [str(wrong.tensor) for wrong in found]
    between = f" {sign} ".join(texts) if sign else f"{facts.operation} of {' and '.join(texts)}"
    return Finding(f"{between}: {first} meets {second}", found)


def _broadcast_pair(inputs: list[Named], first: int, second: int, at: int) -> tuple[WrongSize, WrongSize] | None:
    """The two inputs whose sizes meet in dimension `at` of the result, aligned at the right."""
    pairs = [(left, right) for left in inputs for right in inputs if left is not right]
    # A mask among the inputs may have the same shape as what is masked: tensors of one dtype come first.
    for left, right in sorted(pairs, key=lambda pair: pair[0].dtype != pair[1].dtype):
        rank = max(len(left.shape), len(right.shape))
        one, other = at - rank + len(left.shape), at - rank + len(right.shape)
        if one < 0 or other < 0 or at >= rank:
            continue
        if left.shape[one] == first and right.shape[other] == second:
            return WrongSize(left, one), WrongSize(right, other)
    return None


@rules(r"The expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\) at non-singleton dimension "
       r"(\d+)\.\s+Target sizes: \[([\d, ]*)\]\.\s+Tensor sizes: \[([\d, ]*)\]")  # fmt: skip
def _expand(facts: Facts, match: re.Match[str]) -> Finding | None:
    target, own = _sizes(match[4]), _sizes(match[5])
    tensor = facts.with_shape(own)
    if tensor is None:
        return None
    wrong = WrongSize(tensor, int(match[3]) - len(target) + len(own))
    if wrong.dimension < 0:
        return None
    if facts.op == "__setitem__":
        return Finding(f"{tensor} into a place of {sizes_text(target)}: {match[2]} meets {match[1]}", (wrong,))
    return Finding(f"{tensor} as {sizes_text(target)}: {match[2]} cannot become {match[1]}", (wrong,))


@rules(r"Expected size (\d+) but got size (\d+) for tensor number (\d+) in the list")
def _cat(facts: Facts, match: re.Match[str]) -> Finding | None:
    wanted, got, number = map(int, match.groups())
    items = _listed(facts)
    if not number < len(items) or len(items[0].shape) != len(items[number].shape):
        return None
    along = re.search(r"except in dimension (\d+)", facts.message)
    skip = int(along[1]) if along else -1
    pairs = enumerate(zip(items[0].shape, items[number].shape, strict=True))
    at = next((d for d, sizes in pairs if d != skip and sizes == (wanted, got)), None)
    if at is None:
        return None
    sizes = (WrongSize(items[0], at), WrongSize(items[number], at))
    where = f" in dimension {at}" if len(items[0].shape) > 1 else ""
    dim = f", dim={skip}" if along else ""
    return Finding(f"{facts.operation}({items[0]}, {items[number]}{dim}): {wanted} meets {got}{where}", sizes)


@rules(r"stack expects each tensor to be equal size, but got \[([\d, ]*)\] at entry 0 and \[([\d, ]*)\] at entry (\d+)")
def _stack(facts: Facts, match: re.Match[str]) -> Finding | None:
    items, number = _listed(facts), int(match[3])
    if number >= len(items) or items[0].shape != _sizes(match[1]) or items[number].shape != _sizes(match[2]):
        return None
    first, other = items[0], items[number]
    if len(first.shape) != len(other.shape):
        return Finding(f"stack({first}, {other}): {len(first.shape)} dimensions meet {len(other.shape)}")
    at = next(d for d, pair in enumerate(zip(first.shape, other.shape, strict=True)) if pair[0] != pair[1])
    sizes = (WrongSize(first, at), WrongSize(other, at))
    return Finding(f"stack({first}, {other}): {first.shape[at]} meets {other.shape[at]} in dimension {at}", sizes)


@rules(r"Tensors must have same number of dimensions: got (\d+) and (\d+)")
def _cat_ranks(facts: Facts, match: re.Match[str]) -> Finding | None:
    items = _listed(facts)
    other = next((named for named in items if len(named.shape) == int(match[2])), None)
    if not items or other is None or len(items[0].shape) != int(match[1]):
        return None
    return Finding(f"{facts.operation}({items[0]}, {other}): {match[1]} dimensions meet {match[2]}")


@rules(r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)")
def _loss_batch(facts: Facts, match: re.Match[str]) -> Finding | None:
    if len(facts.inputs) < 2:
        return None
    scores, target = facts.inputs[:2]
    if (scores.shape[:1], target.shape[:1]) != ((int(match[1]),), (int(match[2]),)):
        return None
    sizes = (WrongSize(scores, 0), WrongSize(target, 0))
    return Finding(f"{facts.operation} of {scores} and {target}: {match[1]} meets {match[2]}", sizes)


@rules(r"einsum\(\): subscript (\w+) has size (\d+) for operand (\d+) which does not broadcast with previously seen "
       r"size (\d+)")  # fmt: skip
def _einsum(facts: Facts, match: re.Match[str]) -> Finding | None:
    if len(facts.inputs) < 2:
        return None
    operands = ", ".join(str(named) for named in facts.inputs)
    return Finding(f"einsum of {operands}: for {match[1]}, {match[4]} meets {match[2]}")


@rules(r"The shape of the mask \[([\d, ]*)\] at index (\d+) does not match the shape of the indexed tensor "
       r"\[([\d, ]*)\] at index (\d+)")  # fmt: skip
def _mask(facts: Facts, match: re.Match[str]) -> Finding | None:
    mask, tensor = facts.with_shape(_sizes(match[1])), facts.with_shape(_sizes(match[3]))
    if mask is None or tensor is None:
        return None
    sizes = (WrongSize(tensor, int(match[4])), WrongSize(mask, int(match[2])))
    return Finding(f"{tensor}[{mask}]: {sizes[0].size} meets {sizes[1].size}", sizes)


def _listed(facts: Facts) -> list[Named]:
    """The tensors of the list that was to be joined."""
    for operand in facts.expressions:
        value = facts.value(operand.value)
        if isinstance(value, Container) and value.kind in ("tuple", "list"):
            items = facts.items(value)
            if len(items) == value.length:
                return items
    return facts.inputs


def _with_shape(facts: Facts, shape: tuple[int, ...]) -> Named | None:
    return facts.with_shape(shape) or next((named for named in facts.parameters if named.shape == shape), None)


def _as_matrix(named: Named) -> tuple[int, int] | None:
    """The two sizes that a product sees of a tensor, its leading dimensions as one."""
    sizes = [size for size in named.shape if isinstance(size, int)]
    if not sizes or len(sizes) != len(named.shape):
        return None
    return prod(sizes[:-1]), sizes[-1]


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.replace(" ", "").split(",") if size)
