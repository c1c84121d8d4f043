"""Rules for tensors whose dtypes do not go together."""

from __future__ import annotations

import re

from .facts import Facts, Named
from .finding import Finding, Rules
from .terms import dtype_of_message

rules = Rules()


@rules(r"must have the same dtype, but got:? (\w+) (?:and|!=) (\w+)")
@rules(r"to have the same dtype, but got:? (\w+) (?:and|!=) (\w+)")
@rules(r"Input type \(([\w. ]+)\) and (?:weight|bias) type \(([\w.]+)\) should be the same")
@rules(r"expected scalar type (\w+) but found (\w+)")
@rules(r"expected .* to have type (\w+) but got (\w+)")
def _two_dtypes(facts: Facts, match: re.Match[str]) -> Finding | None:
    dtypes = [dtype_of_message(word) for word in match.groups()]
    tensors = [*facts.inputs, *facts.parameters]
    pair = [next((named for named in tensors if named.dtype == dtype), None) for dtype in dtypes]
    if pair[0] is None or pair[1] is None or pair[0].dtype == pair[1].dtype:
        return None
    first, second = sorted((pair[0], pair[1]), key=tensors.index)
    return Finding(f"{_named(first)} meets {_named(second)}: {first.dtype_text} is not {second.dtype_text}",
                   dtypes=(first, second))  # fmt: skip


@rules(r"one of the following scalar types: Long, Int; but got (\S+) instead")
def _index(facts: Facts, match: re.Match[str]) -> Finding | None:
    dtype = dtype_of_message(match[1])
    indices = next((named for named in facts.inputs if named.dtype == dtype), None)
    if indices is None:
        return None
    return Finding(f"{facts.operation} looks up whole numbers, {_named(indices)} has none", dtypes=(indices,))


@rules(r"not implemented for '(\w+)'")
@rules(r"Input dtype must be either a floating point or complex dtype\. Got: (\w+)")
def _not_implemented(facts: Facts, match: re.Match[str]) -> Finding | None:
    dtype = dtype_of_message(match[1])
    tensor = next((named for named in facts.inputs if named.dtype == dtype), None)
    if tensor is None:
        return None
    return Finding(f"{facts.operation} knows no {tensor.dtype_text}: {_named(tensor)}", dtypes=(tensor,))


def _named(named: Named) -> str:
    return named.text
