"""Rules for what a layer was made for and did not get: channels, features, sizes of images, rows of a table."""

from __future__ import annotations

import re

from ...document.values import Tensor
from .facts import Facts, Named
from .finding import Finding, Rules, WrongSize

rules = Rules()


@rules(r"weight of size \[[\d, ]+\], expected input\[([\d, ]+)\] to have (\d+) channels, but got (\d+) channels")
def _channels(facts: Facts, match: re.Match[str]) -> Finding | None:
    shape = tuple(int(size) for size in match[1].split(","))
    image = facts.with_shape(shape)
    if image is None:  # an image without a batch: torch has put a 1 before its shape
        image = facts.with_shape(shape[1:]) if shape[0] == 1 else None
    if image is None:
        return None
    sizes = (WrongSize(image, 1 if len(image.shape) == len(shape) else 0),)
    summary = f"{facts.operation} of {image}: {match[3]} channels meet {match[2]}"
    return Finding(summary, sizes, made_for=f"{match[2]} channels")


@rules(r"running_mean should contain (\d+) elements not (\d+)")
def _norm_channels(facts: Facts, match: re.Match[str]) -> Finding | None:
    got, wanted = int(match[1]), int(match[2])
    image = facts.first
    if image is None or len(image.shape) < 2 or image.shape[1] != got:
        return None
    summary = f"{facts.operation} of {image}: {got} channels meet {wanted}"
    return Finding(summary, (WrongSize(image, 1),), made_for=f"{wanted} channels")


@rules(r"Expected more than 1 value per channel when training, got input size torch\.Size\(\[([\d, ]*)\]\)")
def _single_value(facts: Facts, match: re.Match[str]) -> Finding | None:
    image = facts.with_shape([int(size) for size in match[1].split(",")])
    if image is None:
        return None
    batch = "a batch of 1" if image.shape[0] == 1 else f"a batch of {image.shape[0]}"
    return Finding(f"{facts.operation} of {image} in train mode: {batch} leaves one value per channel")


@rules(r"Given normalized_shape=\[([\d, ]+)\], expected input with shape .* but got input of size\s*\[([\d, ]*)\]")
def _layer_norm(facts: Facts, match: re.Match[str]) -> Finding | None:
    wanted = [int(size) for size in match[1].split(",")]
    tensor = facts.with_shape([int(size) for size in match[2].split(",") if size.strip()])
    if tensor is None or len(tensor.shape) < len(wanted):
        return None
    offset = len(tensor.shape) - len(wanted)
    at = next((i for i, size in enumerate(wanted) if tensor.shape[offset + i] != size), None)
    if at is None:
        return None
    made_for = f"{wanted[0]} features" if len(wanted) == 1 else f"[{match[1]}]"
    wrong = WrongSize(tensor, offset + at)
    return Finding(f"{facts.operation} of {tensor}: {wrong.size} meets {wanted[at]}", (wrong,), made_for=made_for)


@rules(r"Expected number of channels in input to be divisible by num_groups, but got input of shape \[([\d, ]*)\] and "
       r"num_groups=(\d+)")  # fmt: skip
def _group_norm(facts: Facts, match: re.Match[str]) -> Finding | None:
    tensor = facts.with_shape([int(size) for size in match[1].split(",")])
    if tensor is None or len(tensor.shape) < 2:
        return None
    summary = f"{facts.operation} of {tensor}: {tensor.shape[1]} channels in {match[2]} groups"
    return Finding(summary, (WrongSize(tensor, 1),))


@rules(r"input\.size\(-1\) must be equal to input_size\. Expected (\d+), got (\d+)")
@rules(r"input has inconsistent input_size: got (?P<got>\d+) expected (?P<wanted>\d+)")
@rules(r"was expecting embedding dimension of (\d+), but got (\d+)")
def _features(facts: Facts, match: re.Match[str]) -> Finding | None:
    named = match.groupdict()
    wanted, got = int(named.get("wanted") or match[1]), int(named.get("got") or match[2])
    tensor = next((tensor for tensor in facts.inputs if tensor.shape[-1:] == (got,)), None)
    if tensor is None:
        return None
    wrong = WrongSize(tensor, len(tensor.shape) - 1)
    return Finding(f"{tensor}: {got} features meet {wanted}", (wrong,), made_for=f"{wanted} features")


@rules(r"Expected (\d)D \(unbatched\) or (\d)D \(batched\) input to (\w+), but got input of size: \[([\d, ]*)\]")
def _convolution_rank(facts: Facts, match: re.Match[str]) -> Finding | None:
    tensor = facts.with_shape([int(size) for size in match[4].split(",") if size.strip()])
    if tensor is None:
        return None
    wanted = f"wants {match[2]}, or {match[1]} without a batch"
    return Finding(f"{match[3]} of {tensor}: {_count(tensor)}, {wanted}")


@rules(r"expected ((?:\dD(?: or )?)+) input \(got (\d)D input\)")
def _norm_rank(facts: Facts, match: re.Match[str]) -> Finding | None:
    tensor = next((named for named in facts.inputs if len(named.shape) == int(match[2])), None)
    if tensor is None:
        return None
    return Finding(f"{tensor} has {_count(tensor)}, the layer wants {match[1].replace('D', '')}")


@rules(r"Calculated padded input size per channel: \(([\dx ]+)\)\. Kernel size: \(([\dx ]+)\)")
def _kernel(facts: Facts, match: re.Match[str]) -> Finding | None:
    if facts.first is None:
        return None
    padded = "" if _ends_in(facts.first, match[1]) else " (padding counted)"
    return Finding(f"{facts.operation} of {facts.first}: a kernel of {match[2]} over {match[1]}{padded}")


@rules(r"Given input size: \([\dx ]+\)\. Calculated output size: \(([-\dx ]+)\)\. Output size is too small")
def _nothing_left(facts: Facts, match: re.Match[str]) -> Finding | None:
    if facts.first is None:
        return None
    return Finding(f"{facts.operation} of {facts.first}: nothing would be left ({match[1]})")


@rules(r"^index out of range in self")
def _table(facts: Facts, match: re.Match[str]) -> Finding | None:
    indices, table = facts.first, facts.parameter("weight")
    if facts.op != "embedding" or indices is None or table is None:
        return None
    return _rows(facts, indices, table.shape[0], f"{table.shape[0]} rows")


@rules(r"Target (-?\d+) is out of bounds")
def _target(facts: Facts, match: re.Match[str]) -> Finding | None:
    if len(facts.inputs) < 2 or len(facts.inputs[0].shape) == 0:
        return None
    scores, target = facts.inputs[:2]
    classes = scores.shape[1] if len(scores.shape) > 1 else scores.shape[0]
    return Finding(f"{target.text} asks for class {match[1]}, {scores} has {classes} (0 to {_last(classes)})")


def _rows(facts: Facts, indices: Named, rows: int | str, made_for: str) -> Finding:
    value = facts.value(indices.value)
    stats = value.stats if isinstance(value, Tensor) else None
    wanted = f"the table has {rows} rows"
    if stats is not None and stats.min is not None and stats.max is not None:
        lowest, highest = int(stats.min), int(stats.max)
        reach = f"goes up to {highest}" if lowest >= 0 else f"goes down to {lowest}"
        return Finding(f"{indices.text} {reach}, {wanted} (0 to {_last(rows)})", made_for=made_for)
    return Finding(f"{indices.text} holds an index out of range, {wanted} (0 to {_last(rows)})", made_for=made_for)


def _last(count: int | str) -> str:
    return str(count - 1) if isinstance(count, int) else f"{count} - 1"


def _count(tensor: Named) -> str:
    rank = len(tensor.shape)
    return f"{rank} dimension" + ("" if rank == 1 else "s")


def _ends_in(tensor: Named, sizes: str) -> bool:
    wanted = tuple(int(size) for size in sizes.split("x"))
    return tensor.shape[-len(wanted) :] == wanted
