"""Whose fault an exception is: the example's, or that of the code it calls; and what to say of a broken example.

Everything said here is about an exception that was raised already. Looking names up may run a property or a
`__getattr__` of the user's; nothing else of theirs runs.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

from .example import CODE_NAME, TracedCall
from .torch_state import Torch

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
MAX_SIGNATURE = 300
"""Characters of a signature that are shown."""
_INDEX_LOOKUPS = ("embedding", "embedding_bag")
"""Functions of torch.nn.functional whose `input` holds row numbers of their `weight`."""

IsWatched = Callable[[str], bool]
"""Whether the file at a path is the user's own."""


def reached_user_code(exception: BaseException, is_watched: IsWatched) -> bool:
    """Whether the exception passed through a watched file."""
    return any(is_watched(frame.f_code.co_filename) for frame in _frames(exception))


def of_expression(exception: BaseException, call: ast.Call, setup: ast.Module, namespace: Mapping[str, Any]) -> str:
    """What is wrong with an example whose own code, the `setup` or the `call`, raised `exception`."""
    message = str(exception)
    if isinstance(exception, (NameError, AttributeError)):
        return message + _suggestion(exception, namespace)
    if isinstance(exception, TypeError):
        for node in (*ast.walk(setup), *ast.walk(call)):
            if isinstance(node, ast.Call):
                callee = _looked_up(node.func, namespace)
                if callee is not None and _is_about(message, callee):
                    return f"{message}\n{signature(callee, ast.unparse(node.func))}"
    return message or type(exception).__name__


def of_call(exception: BaseException, call: TracedCall, torch: Torch) -> str | None:
    """What is wrong with the arguments of an example whose traced call raised `exception` before any user code ran;
    None where its arguments fit the callee.
    """
    if not isinstance(exception, TypeError):
        return None
    callee = call.callee
    if not callable(callee):
        return f"{exception}: the example calls what its callee gives, a {type(callee).__name__}"
    target = callee.forward if torch.is_module(callee) else callee
    try:
        inspect.signature(target).bind(*call.args, **(call.kwargs or {}))
    except TypeError as mismatch:
        name = type(callee).__name__ + ".forward" if torch.is_module(callee) else _name_of(callee)
        return f"{mismatch}\n{signature(target, name)}"
    except ValueError:  # a callee without a signature
        return None
    return None


def of_indices(exception: BaseException, call: TracedCall, torch: Torch) -> str | None:
    """What to pass instead, where the example passes floating point numbers and the call looks rows up by them."""
    if not isinstance(exception, (RuntimeError, IndexError, TypeError)):
        return None
    for frame in _frames(exception):
        if frame.f_code.co_name not in _INDEX_LOOKUPS:
            continue
        indices: Any = frame.f_locals.get("input")
        table: Any = frame.f_locals.get("weight")
        if not torch.is_float(indices) or not torch.is_tensor(table):
            continue
        for value in call.values():
            if torch.is_float(value) and _same_data(value, indices):
                shape = tuple(value.shape)
                fitting = f"torch.randint(0, {table.shape[0]}, {shape})"
                passed = f"{str(value.dtype).removeprefix('torch.')}{list(shape)}"
                return (
                    f"The example passes {passed} where whole numbers below {table.shape[0]} are looked up in an "
                    f"embedding: `{fitting}` fits\n{exception}"
                )
    return None


def signature(callee: Any, name: str) -> str:
    """How `callee` is called, under the name that the user knows it by."""
    try:
        text = str(inspect.signature(callee))
    except Exception:  # the defaults' own `repr` is part of it
        return f"{name}(…)"
    return name + (text if len(text) <= MAX_SIGNATURE else text[:MAX_SIGNATURE] + "…")


def _frames(exception: BaseException) -> Iterator[FrameType]:
    """The frames that the exception passed through, ours left out."""
    traceback = exception.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if not frame.f_code.co_filename.startswith(_OURS) and frame.f_code.co_filename != CODE_NAME:
            yield frame
        traceback = traceback.tb_next


def _suggestion(exception: NameError | AttributeError, namespace: Mapping[str, Any]) -> str:
    if not isinstance(exception.name, str):
        return ""
    if isinstance(exception, AttributeError):
        known = _names_of(exception.obj)
    else:
        known = [*(name for name in namespace if name.isidentifier()), *dir(builtins)]
    near = difflib.get_close_matches(exception.name, known, n=3)
    return f". Did you mean {' or '.join(repr(name) for name in near)}?" if near else ""


def _names_of(value: Any) -> list[str]:
    try:
        return dir(value)
    except Exception:  # a `__dir__` of the user's
        return []


def _looked_up(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """What a name or a chain of attributes stands for; None for anything that would have to be evaluated."""
    if isinstance(node, ast.Name):
        return namespace.get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Attribute):
        value = _looked_up(node.value, namespace)
        return None if value is None else getattr(value, node.attr, None)
    return None


def _is_about(message: str, callee: Any) -> bool:
    """Whether the interpreter's message about wrong arguments names `callee`: `Net.__init__() missing …`."""
    function = getattr(callee, "__init__", None) if isinstance(callee, type) else callee
    names = {getattr(function, "__qualname__", None), getattr(callee, "__qualname__", None)}
    return any(isinstance(name, str) and message.startswith(f"{name}()") for name in names)


def _name_of(callee: Any) -> str:
    return getattr(callee, "__qualname__", None) or type(callee).__name__


def _same_data(one: Any, other: Any) -> bool:
    """Whether two tensors are the same, or one is a view of the other."""
    if one is other:
        return True
    try:
        return bool(one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError):  # no storage: sparse, or on no device
        return False
