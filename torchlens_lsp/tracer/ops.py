"""Ops: a torch function mode that records each outermost torch call, one row for each output tensor.

The interpreter takes the mode away while a recorded function runs, so that what a composite function calls inside
is not seen again. Functions that give no tensor (`size`, `item`) are no ops.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from ..document.model import NONE
from .events import Instruction
from .values import ValueRecorder

MAX_NESTING = 3
"""How deep tensors are looked for in the arguments of an op."""

_getframe = sys._getframe
_ref = weakref.ref
_new_row: Callable[..., Any] = tuple.__new__
_Tensor, _Parameter = torch.Tensor, torch.nn.Parameter
_OVERRIDES = torch.overrides.__file__
_pop: Callable[[], Any] = torch._C._pop_torch_function_stack
_push: Callable[[Any], None] = torch._C._push_on_torch_function_stack
_depth: Callable[[], int] = torch._C._len_torch_function_stack


class OpRow(NamedTuple):
    """One output of one recorded call."""

    name: str
    """The function's `__name__`."""
    output: int
    """Value id."""
    output_index: int
    parents: tuple[int, ...]
    parameters: tuple[int, ...]
    """Ids of the parameters among the arguments."""
    caller: Instruction | None
    """What made the call."""
    watched: Instruction | None
    """The nearest instruction of watched code, the caller itself or one that led to it."""
    module: int
    module_pass: int
    call: int
    seconds: float
    at: int


class Failure(NamedTuple):
    """The last torch call that raised."""

    exception: int
    """Its id: the exception itself would keep the user's frames alive."""
    name: str
    operands: list[tuple[str, int]]
    """(name, value id) of the tensors that went in."""
    module: int


class OpMode(TorchFunctionMode):
    """Records ops into `rows` while it is on the stack of torch function modes."""

    def __init__(
        self,
        origin: Callable[[FrameType], tuple[Instruction | None, int]],
        module_stack: Sequence[tuple[int, int]],
        recorder: ValueRecorder,
        parameter_names: dict[int, str],
        buffers: dict[int, str],
        budget: int,
        fault: Callable[[], None],
    ) -> None:
        """`origin` gives the nearest watched instruction of a frame and its callers, and the call that it is in."""
        super().__init__()
        self.rows: list[OpRow] = []
        self.dropped = 0
        self.failure: Failure | None = None
        self.evaluations: Sequence[Any] = ()
        """The rows of evaluations, for their number."""
        self._origin = origin
        self._module_stack = module_stack
        self._record_output = recorder.record_output
        self._record = recorder.record
        self._operation_begins = recorder.operation_begins
        self._parameter_names = parameter_names
        self._buffers = buffers
        self._budget = budget
        self._fault = fault
        self._producers: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        self._names: dict[Any, str] = {}
        """By function."""
        self._hidden_from = 0
        self.is_on = False
        """Whether this mode is on the stack of the thread that traces."""

    def op_count(self) -> int:
        """How many rows there are, those beyond the budget included."""
        return len(self.rows) + self.dropped

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._operation_begins()
        start = perf_counter()
        try:
            output = func(*args, **kwargs) if kwargs else func(*args)
        except Exception as error:
            self._note_failure(error, func, args, kwargs or {})
            raise
        if type(output) in _NO_TENSORS and (output is not None or getattr(func, "__name__", "") != "__setitem__"):
            return output
        try:
            self._add(func, args, kwargs, output, perf_counter() - start, _getframe(1))
        except Exception:
            self._fault()
        return output

    # --- rows ----------------------------------------------------------------------------------------------------

    def _add(self, func: Any, args: Any, kwargs: Any, output: Any, seconds: float, frame: FrameType) -> None:
        if type(output) is _Tensor:
            outputs: Sequence[torch.Tensor] = (output,)
        else:
            outputs = [args[0]] if output is None else tensors_in(output)
            if not outputs:
                return
        rows = self.rows
        if len(rows) + len(outputs) > self._budget:
            self.dropped += len(outputs)
            return
        while frame.f_code.co_filename == _OVERRIDES and frame.f_back is not None:
            frame = frame.f_back
        name = self._names.get(func)
        if name is None:
            name = self._names[func] = _name_of(func)
        watched, call = self._origin(frame)
        parents, parameters = self._parents(args, kwargs, call)
        caller = frame.f_code, frame.f_lasti
        module, module_pass = self._module_stack[-1]
        source = args[0] if args and type(args[0]) is _Tensor and name != "as_strided" else None
        at = len(self.evaluations)
        for index, tensor in enumerate(outputs):
            value = self._record_output(tensor, source)
            row = (
                name, value, index, parents, parameters, caller, watched,
                module, module_pass, call, seconds, at,
            )  # fmt: skip
            rows.append(_new_row(OpRow, row))
            self._producers[id(tensor)] = (_ref(tensor), len(rows) - 1)

    def _parents(self, args: Any, kwargs: Any, call: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Rows that the arguments came out of, and ids of the parameters among them."""
        tensors: list[torch.Tensor] = []
        for argument in (*args, *kwargs.values()) if kwargs else args:
            kind = type(argument)
            if kind is _Tensor or kind is _Parameter:
                tensors.append(argument)
            elif kind not in _NO_TENSORS:
                _collect(argument, tensors, 0)
        parents: list[int] = []
        parameters: list[int] = []
        names, producers = self._parameter_names, self._producers
        for tensor in tensors:
            key = id(tensor)
            known = producers.get(key)
            if known is not None and known[0]() is tensor:
                if known[1] not in parents:
                    parents.append(known[1])
            elif key in names:
                parameters.append(key)
            elif key in self._buffers:
                self.add_source("buffer", tensor, call)
                parents.append(len(self.rows) - 1)
        return tuple(parents), tuple(parameters)

    def produced(self, tensor: torch.Tensor, row: OpRow) -> None:
        """Add a row and remember that `tensor` came out of it."""
        self.rows.append(row)
        self._producers[id(tensor)] = (_ref(tensor), len(self.rows) - 1)

    def producer(self, tensor: torch.Tensor, call: int = NONE) -> int:
        """Row that `tensor` came out of; a buffer of the model becomes a row at its first use; NONE for others."""
        known = self._producers.get(id(tensor))
        if known is not None and known[0]() is tensor:
            return known[1]
        if id(tensor) in self._buffers:
            self.add_source("buffer", tensor, call)
            return len(self.rows) - 1
        return NONE

    def add_source(self, name: str, tensor: torch.Tensor, call: int = NONE) -> None:
        """Add an `input`, or a `buffer` that is first used in `call`."""
        value = self._record(tensor, True)
        row = OpRow(name, value, 0, (), (), None, None, NONE, 0, call, 0.0, len(self.evaluations))
        self.produced(tensor, row)

    def _note_failure(self, error: BaseException, func: Any, args: Any, kwargs: Any) -> None:
        try:
            operands: list[tuple[str, int]] = []
            named = [*((f"argument {n + 1}", a) for n, a in enumerate(args)), *kwargs.items()]
            for name, argument in named:
                for tensor in tensors_in(argument):
                    operands.append((self._parameter_names.get(id(tensor), name), self._record(tensor, False)))
            self.failure = Failure(id(error), _name_of(func), operands, self._module_stack[-1][0])
        except Exception:
            self._fault()

    def add_output(self, tensor: torch.Tensor) -> None:
        """Add an `output`; the tensor goes on to be what its op made."""
        producer = self.producer(tensor)
        parents = () if producer == NONE else (producer,)
        value = self._record(tensor, True)
        row = OpRow("output", value, 0, parents, (), None, None, NONE, 0, NONE, 0.0, len(self.evaluations))
        self.rows.append(row)

    def add_identity(self, tensor: torch.Tensor, module: tuple[int, int]) -> None:
        """Add an `identity`: a module returned its very input and recorded no op."""
        watched, call = self._origin(_getframe(1))
        producer = self.producer(tensor, call)
        parents = () if producer == NONE else (producer,)
        row = OpRow(
            "identity", self._record(tensor, False), 0, parents, (), None, watched,
            *module, call, 0.0, len(self.evaluations),
        )  # fmt: skip
        self.produced(tensor, row)

    # --- being on the stack of modes -----------------------------------------------------------------------------

    def begin(self) -> None:
        """Go onto this thread's stack of modes."""
        if not self.is_on:
            _push(self)
            self.is_on = True

    def end(self) -> None:
        """Leave the stack, wherever in it modes that the user pushed and left there have put us."""
        if not self.is_on:
            return
        self.is_on = False
        above: list[Any] = []
        while _depth():
            mode = _pop()
            if mode is self:
                break
            above.append(mode)
        for mode in reversed(above):
            _push(mode)

    @contextmanager
    def unnoticed(self) -> Iterator[None]:
        """Hide this mode from `torch.overrides.has_torch_function` as modules with a fast path ask it."""
        if self._hidden_from:
            yield
            return
        original = torch.overrides.has_torch_function

        def has_torch_function(arguments: Any) -> bool:
            if not _depth() or not isinstance(mode := _pop(), OpMode):
                return original(arguments)
            try:
                return original(arguments)
            finally:
                _push(mode)

        torch.overrides.has_torch_function = has_torch_function  # type: ignore[assignment]
        self._hidden_from += 1
        try:
            yield
        finally:
            self._hidden_from -= 1
            torch.overrides.has_torch_function = original

    def forget(self) -> None:
        """Drop everything that holds objects of the user's."""
        self._producers.clear()
        self._names.clear()
        self.rows.clear()


_NO_TENSORS = frozenset({type(None), bool, int, float, complex, str, torch.Size, torch.dtype, torch.device})


def tensors_in(value: Any) -> list[torch.Tensor]:
    """The tensors in `value` and, to a depth, in its tuples, lists and dicts, without calling any code of theirs."""
    found: list[torch.Tensor] = []
    _collect(value, found, 0)
    return found


def _collect(value: Any, found: list[torch.Tensor], depth: int) -> None:
    kind = type(value)
    if kind is _Tensor or kind is _Parameter:
        found.append(value)
    elif kind is tuple or kind is list:
        if depth < MAX_NESTING:
            for item in value:
                item_kind = type(item)
                if item_kind is _Tensor:
                    found.append(item)
                elif item_kind not in _NO_TENSORS:
                    _collect(item, found, depth + 1)
    elif kind in _NO_TENSORS:
        return
    elif isinstance(value, _Tensor):
        found.append(value)
    elif isinstance(value, (tuple, list, dict)) and depth < MAX_NESTING:
        # By the built-in classes' own methods: a subclass may have put anything in their place.
        items: Any = (
            dict.values(value)
            if isinstance(value, dict)
            else tuple.__iter__(value)
            if isinstance(value, tuple)
            else list.__iter__(value)
        )
        for item in items:
            _collect(item, found, depth + 1)


def _name_of(func: Any) -> str:
    name = getattr(func, "__name__", None) or type(func).__name__
    if name == "__get__":  # a property such as `.T`: the descriptor knows its name
        name = getattr(getattr(func, "__self__", None), "__name__", name)
    return str(name)
