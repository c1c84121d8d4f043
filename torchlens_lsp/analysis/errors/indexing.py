"""Rules for shapes and places that do not exist: views, dimensions, indices, single values."""

from __future__ import annotations

import re
from math import prod

from .facts import Facts, Named
from .finding import Finding, Rules, WrongSize
from .terms import sizes_text

rules = Rules()


@rules(r"shape '\[([-\d, ]*)\]' is invalid for input of size (\d+)")
def _view(facts: Facts, match: re.Match[str]) -> Finding | None:
    wanted = tuple(int(size) for size in match[1].replace(" ", "").split(",") if size)
    elements = int(match[2])
    tensor = next((named for named in facts.inputs if _elements(named) == elements), None)
    if tensor is None:
        return None
    known = prod(size for size in wanted if size >= 0)
    if -1 not in wanted:
        return Finding(f"{tensor} as {sizes_text(wanted)}: {elements} elements meet {known}")
    return Finding(f"{tensor} as {sizes_text(wanted)}: {elements} elements are no multiple of {known}")


@rules(r"view size is not compatible with input tensor's size and stride")
def _view_of_strides(facts: Facts, match: re.Match[str]) -> Finding | None:
    if facts.first is None:
        return None
    summary = f"{facts.first.text} does not lie in memory in the order of its dimensions: reshape copies, view cannot"
    return Finding(summary)


@rules(r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)")
def _dimension(facts: Facts, match: re.Match[str]) -> Finding | None:
    rank = int(match[2]) + 1
    tensor = next((named for named in facts.inputs if len(named.shape) == rank), None)
    if tensor is None:
        return None
    return Finding(f"{tensor.text} has no dimension {match[3]} ({match[1]} to {match[2]})")


@rules(r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)")
def _index(facts: Facts, match: re.Match[str]) -> Finding | None:
    at, size = int(match[2]), int(match[3])
    tensor = next((named for named in facts.inputs if named.shape[at : at + 1] == (size,)), None)
    if tensor is None:
        return None
    # What is indexed may have been picked from the named tensor first: `x[0, 7]` counts dimensions from there.
    return Finding(f"{tensor.text}: no index {match[1]} in a dimension of {size}", (WrongSize(tensor, at),))


@rules(r"too many indices for tensor of dimension (\d+)")
def _indices(facts: Facts, match: re.Match[str]) -> Finding | None:
    rank = int(match[1])
    tensor = next((named for named in facts.inputs if len(named.shape) == rank), None)
    return Finding(f"{tensor.text} has fewer dimensions than there are indices: {rank}") if tensor is not None else None


@rules(r"input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)")
def _permute(facts: Facts, match: re.Match[str]) -> Finding | None:
    tensor = next((named for named in facts.inputs if len(named.shape) == int(match[1])), None)
    return (
        Finding(f"{tensor.text} has {match[1]} dimensions, {facts.operation} names {match[2]}")
        if tensor is not None
        else None
    )


@rules(r"split_with_sizes expects split_sizes to sum exactly to (\d+) \(input tensor's size at dimension (-?\d+)\), "
       r"but got split_sizes=\[([\d, ]*)\]")  # fmt: skip
def _split(facts: Facts, match: re.Match[str]) -> Finding | None:
    tensor, at = facts.first, int(match[2])
    if tensor is None or not -len(tensor.shape) <= at < len(tensor.shape) or tensor.shape[at] != int(match[1]):
        return None
    parts = [int(size) for size in match[3].split(",")]
    wrong = WrongSize(tensor, at % len(tensor.shape))
    return Finding(f"{tensor} in parts of {' + '.join(map(str, parts))}: {match[1]} meets {sum(parts)}", (wrong,))


@rules(r"a Tensor with (\d+) elements cannot be converted to Scalar")
def _item(facts: Facts, match: re.Match[str]) -> Finding | None:
    tensor = next((named for named in facts.inputs if _elements(named) == int(match[1])), None)
    return (
        Finding(f"{tensor.text} has {match[1]} elements, {facts.operation} takes one") if tensor is not None else None
    )


@rules(r"Boolean value of Tensor with (more than one|no) values? is ambiguous")
def _truth(facts: Facts, match: re.Match[str]) -> Finding | None:
    tensor = next((named for named in facts.inputs if _elements(named) != 1), None)
    return (
        Finding(f"a test needs one value, this is {tensor} (any() or all() make one of it)")
        if tensor is not None
        else None
    )


@rules(r"Expected reduction dim (\d+) to have non-zero size|Expected reduction dim to be specified for input\.numel")
def _empty(facts: Facts, match: re.Match[str]) -> Finding | None:
    tensor = next((named for named in facts.inputs if 0 in named.shape), None)
    if tensor is None:
        return None
    at = int(match[1]) if match[1] else tensor.shape.index(0)
    if tensor.shape[at : at + 1] != (0,):
        return None
    return Finding(f"{facts.operation} of {tensor}: there is nothing in it", (WrongSize(tensor, at),))


def _elements(named: Named) -> int:
    sizes = [size for size in named.shape if isinstance(size, int)]
    return prod(sizes) if len(sizes) == len(named.shape) else -1
