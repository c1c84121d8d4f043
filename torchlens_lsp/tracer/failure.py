"""Where a run failed or stands: the frames of the user's side, the failing expression, its operands."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType, TracebackType

import torch

from ..document.model import NONE, Frame, Operand, Range, RunError
from .ops import Failure
from .positions import Place, Positions, instruction_range
from .text import SourceText, utf16_length

_OVERRIDES = torch.overrides.__file__
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
MAX_FRAMES = 200
"""Frames of a stack that are told; of a deeper one (a recursion without end) the outer and the inner ones."""


class Standing:
    """One frame of a stack with what is known of its place."""

    def __init__(self, frame: FrameType, instruction: int, line: int, positions: Positions) -> None:
        code = frame.f_code
        self.path = code.co_filename
        self.function: str = getattr(code, "co_qualname", code.co_name)
        self.frame_id = id(frame)
        self.place: Place | None = positions.place(code, instruction)
        self.range = self.place.range if self.place else _range_elsewhere(self.path, frame, instruction, line)

    @property
    def uri(self) -> str:
        """URI of the file."""
        return Path(self.path).as_uri()


def of_exception(exception: BaseException, positions: Positions) -> list[Standing]:
    """The stack of a raised exception, outermost first, our own frames left out."""
    stack = list(_without_ours(_unwind(exception.__traceback__), positions))
    # At the recursion limit the last call may get as far as the recorder's own entry, which stands at the `def`.
    while len(stack) > 1 and isinstance(exception, RecursionError) and _is_at_definition(stack[-1], positions):
        stack.pop()
    return stack


def _is_at_definition(standing: Standing, positions: Positions) -> bool:
    place = standing.place
    return place is not None and any(f.range == place.range for f in positions.files[place.file].file.functions)


def of_frame(frame: FrameType | None, positions: Positions) -> list[Standing]:
    """The stack that ends in a running `frame`, outermost first."""
    found: list[tuple[FrameType, int, int]] = []
    while frame is not None:
        found.append((frame, frame.f_lasti, frame.f_lineno))
        frame = frame.f_back
    return list(_without_ours(reversed(found), positions))


def _unwind(traceback: TracebackType | None) -> Iterator[tuple[FrameType, int, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno
        traceback = traceback.tb_next


def _without_ours(frames: Iterator[tuple[FrameType, int, int]], positions: Positions) -> Iterator[Standing]:
    listed: list[tuple[FrameType, int, int]] = []
    handing_over = False
    for entry in frames:
        path = entry[0].f_code.co_filename
        if path == _OVERRIDES:
            # A function that asks for overrides is called once more below our mode: it stands there once, as plain.
            if handing_over:
                listed.pop()
            handing_over = False
        elif not path.startswith(_OURS):
            listed.append(entry)
            handing_over = True
    if len(listed) > MAX_FRAMES:
        listed = listed[: MAX_FRAMES // 2] + listed[-MAX_FRAMES // 2 :]
    for frame, instruction, line in listed:
        if os.path.isabs(frame.f_code.co_filename):
            yield Standing(frame, instruction, line, positions)


def _range_elsewhere(path: str, frame: FrameType, instruction: int, line: int) -> Range:
    """A range in a file that is not watched: exact if its text can be read, else the start of the line."""
    try:
        with open(path, encoding="utf-8") as file:
            source = SourceText(file.read())
        found = instruction_range(source, frame.f_code, instruction)
        if found is not None:
            return found
    except (OSError, ValueError, IndexError):
        pass
    return Range(max(line - 1, 0), 0, max(line - 1, 0), 0)


def innermost_watched(stack: Sequence[Standing], is_library: Callable[[str], bool]) -> Standing | None:
    """The frame that a user wants to see: the innermost of their own watched files, else of any watched file."""
    watched = [standing for standing in stack if standing.place is not None]
    own = [standing for standing in watched if not is_library(standing.path)]
    chosen = own or watched
    return chosen[-1] if chosen else None


def describe(
    exception: BaseException,
    phase: str,
    stack: list[Standing],
    shown: Standing | None,
    positions: Positions,
    call_of: Callable[[int], int],
    last_values: Callable[[int, int], int],
    failure: Failure | None,
    address: Callable[[int], str | None],
) -> RunError:
    """The error record of an exception.

    `call_of(id of a frame)` is the watched call that runs in it, `last_values(site, call)` the last value id of a site
    in a call, `failure` the torch call that raised.
    """
    error = RunError(phase, type(exception).__name__, message_of(exception))
    error.stack = [Frame(s.uri, s.range, s.function) for s in stack]
    if failure is not None and failure.exception == id(exception):
        error.op = failure.name
        error.module = address(failure.module)
    else:
        failure = None
    if isinstance(exception, SyntaxError) and exception.filename and os.path.isabs(exception.filename):
        error.uri, error.range = Path(exception.filename).as_uri(), _syntax_range(exception)
    elif shown is not None:
        error.uri, error.range = shown.uri, shown.range
        error.call = call_of(shown.frame_id)
        error.operands = operands_in(shown, error.call, positions, last_values)
    elif stack:
        error.uri, error.range = stack[-1].uri, stack[-1].range
    if failure is not None:
        known = {operand.value for operand in error.operands}
        error.operands += [Operand(name, value) for name, value in failure.operands if value not in known]
    return error


def operands_in(
    shown: Standing, call: int, positions: Positions, last_values: Callable[[int, int], int]
) -> list[Operand]:
    """Values of the sub-expressions of the failing expression, in the order of their evaluation."""
    place = shown.place
    if place is None:
        return []
    file = positions.files[place.file]
    outer = place.range
    found: list[Operand] = []
    for local, site in enumerate(file.file.sites):
        if site.role != "evaluation" or site.range == outer or site.kind in ("target", "parameter"):
            continue
        if site.range[:2] < outer[:2] or site.range[2:] > outer[2:]:
            continue
        value = last_values(file.file.first_site + local, call)
        if value != NONE:
            found.append(Operand(site.expr, value, file.file.first_site + local))
    return found


def message_of(exception: BaseException) -> str:
    """The exception's text with its notes; a text that cannot be had is said to be so."""
    try:
        text = str(exception)
        notes = [str(note) for note in getattr(exception, "__notes__", ())]
    except Exception as fault:
        return f"(the text of this {type(exception).__name__} could not be had: {type(fault).__name__})"
    return "\n".join([text, *notes])


def _syntax_range(error: SyntaxError) -> Range:
    line = max((error.lineno or 1) - 1, 0)
    text = (error.text or "").rstrip("\r\n")
    start = utf16_length(text[: max((error.offset or 1) - 1, 0)])
    end_line = max((getattr(error, "end_lineno", None) or error.lineno or 1) - 1, line)
    end = max((getattr(error, "end_offset", None) or 0) - 1, 0)
    if end_line == line:
        end = utf16_length(text[:end])
    if (end_line, end) <= (line, start):
        return Range(line, start, line, start + 1)
    return Range(line, start, end_line, end)
