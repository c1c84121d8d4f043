"""Reading any Python value without running any code of its class.

A class is looked at once and classified. After that a value is read by the methods of the built-in class that it
derives from, by its instance dictionary and by its slots: never by attribute look-up, `len`, iteration, `repr`,
comparison or hashing, all of which a user's class can override and a half-written one gets wrong.
"""

from __future__ import annotations

import enum
import types
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch.optim.lr_scheduler import LRScheduler
from torch.utils.data import DataLoader, Dataset, Sampler

from .plain import class_name, derives_from, text_of_class

TENSOR, SEQUENCE, NAMED_TUPLE, MAPPING, OBJECT, PLAIN, BARE, IGNORED = range(8)
"""What a class's instances are recorded as.

PLAIN: by a text. BARE: by the class's name alone. IGNORED: not at all where one stands alone.
"""

_mro_of: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_vars_of: Callable[[type], Any] = type.__dict__["__dict__"].__get__
_flags_of: Callable[[type], int] = type.__dict__["__flags__"].__get__
_DEFINED_BY_PYTHON = 1 << 9
"""Bit of a class's flags: made by a `class` statement, so that its members are fields."""

_IGNORED: tuple[type, ...] = (
    type,
    torch.nn.Module,
    torch.optim.Optimizer,
    LRScheduler,
    Dataset,
    DataLoader,
    Sampler,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.ModuleType,
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    types.MethodDescriptorType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.CodeType,
    types.FrameType,
    types.TracebackType,
    types.GenericAlias,
    types.UnionType,
    staticmethod,
    classmethod,
    property,
    torch.jit.ScriptFunction,
)
"""Code, and what holds code or all of a program's state: modules show themselves by what they do, and opening an
optimizer at every `optimizer.step()` would read all parameters."""


class Class(NamedTuple):
    """What is known of a class, and how its instances are read."""

    cls: type
    """Held so that its id is not given away."""
    kind: int
    name: str
    container: str
    """Kind of the row: `tuple`, `list`, `dict` or `object`; `` for what is no container."""
    read: Callable[[Any], Any]
    """The first items; for MAPPING and OBJECT (key, item) pairs; for PLAIN the text."""
    length: Callable[[Any], int]
    """How many items there are."""
    keys: tuple[str, ...] = ()
    """Field names of a named tuple."""


def classify(cls: type, most: int) -> Class:
    """Look at a class, of whose instances at most `most` items will be read."""
    name = class_name(cls)

    def found(kind: int, read: Callable[[Any], Any] = _nothing) -> Class:
        return Class(cls, kind, name, "", read, _nothing)

    if derives_from(cls, torch.Tensor):
        return found(TENSOR)
    if any(derives_from(cls, ignored) for ignored in _IGNORED):
        return found(IGNORED)
    if derives_from(cls, enum.Enum):
        return found(PLAIN, _member_reader(name))
    text = text_of_class(cls)
    if text is not None:
        return found(PLAIN, text)
    if derives_from(cls, tuple):
        fields = _field_names(cls)
        kind = NAMED_TUPLE if fields else SEQUENCE
        return Class(cls, kind, name, "tuple", _slice_reader(tuple, most), tuple.__len__, fields)
    if derives_from(cls, list):
        return Class(cls, SEQUENCE, name, "list", _slice_reader(list, most), list.__len__)
    if derives_from(cls, dict):
        return Class(cls, MAPPING, name, "dict", lambda value: list(islice(dict.items(value), most)), dict.__len__)
    for base in (set, frozenset, deque):
        if derives_from(cls, base):
            return Class(cls, SEQUENCE, name, "list", _islice_reader(base, most), base.__len__)
    return _object_class(cls, name, most) or found(BARE)


def _nothing(value: Any) -> Any:
    return 0


def _slice_reader(base: Any, most: int) -> Callable[[Any], Any]:
    get, bound = base.__getitem__, slice(0, most)
    return lambda value: get(value, bound)


def _islice_reader(base: Any, most: int) -> Callable[[Any], Any]:
    iterate = base.__iter__
    return lambda value: list(islice(iterate(value), most))


def _field_names(cls: type) -> tuple[str, ...]:
    """Field names of a named tuple class or of one of torch's `return_types`."""
    for ancestor in _mro_of(cls):
        for attribute in ("_fields", "__match_args__"):
            names = _vars_of(ancestor).get(attribute)
            if type(names) is tuple and names and all(type(name) is str for name in names):
                return names
    return ()


def _member_reader(name: str) -> Callable[[Any], str]:
    """How a member of an enumeration is written: `Color.RED`."""

    def text(value: Any) -> str:
        own = instance_dict(value) or {}
        member = dict.get(own, "_name_")
        if type(member) is str:
            return f"{name}.{member}"
        number = dict.get(own, "_value_")  # of flags that were combined
        return f"{name}({number})" if type(number) is int else name

    return text


# --- objects ----------------------------------------------------------------------------------------------------------


def instance_dict(value: Any) -> dict[Any, Any] | None:
    """The instance dictionary itself, past any `__getattribute__` or property in the way; None if there is none."""
    get = _dict_getter(type(value))
    return None if get is None else get(value)


def _dict_getter(cls: type) -> Callable[[Any], dict[Any, Any]] | None:
    for ancestor in _mro_of(cls):
        descriptor = _vars_of(ancestor).get("__dict__")
        if type(descriptor) in (types.GetSetDescriptorType, types.MemberDescriptorType):
            return descriptor.__get__  # type: ignore[no-any-return]
    return None


def _object_class(cls: type, name: str, most: int) -> Class | None:
    """How instances are read by their slots and dictionary; None if they can have neither."""
    slots: dict[str, Callable[[Any], Any]] = {}
    for ancestor in reversed(_mro_of(cls)):
        if _flags_of(ancestor) & _DEFINED_BY_PYTHON:
            for slot, descriptor in _vars_of(ancestor).items():
                if type(descriptor) is types.MemberDescriptorType:
                    slots[slot] = descriptor.__get__
    own = _dict_getter(cls)
    if not slots and own is None:
        return None

    def fields(value: Any) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        for slot, get in islice(slots.items(), most):
            try:
                found.append((slot, get(value)))
            except AttributeError:
                continue  # it was never set
        if own is not None:
            found.extend(islice(dict.items(own(value)), most - len(found)))
        return found

    def number(value: Any) -> int:
        return len(slots) + (0 if own is None else dict.__len__(own(value)))

    return Class(cls, OBJECT, name, "object", fields, number)
