"""Reading any Python value without running any code of its class.

A class is looked at once and classified. After that a value is read by the methods of the built-in class that it
derives from, by its instance dictionary and by its slots: never by attribute look-up, `len`, iteration, `repr`,
comparison or hashing, all of which a user's class can override and a half-written one gets wrong.
"""

from __future__ import annotations

import enum
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, NamedTuple

import torch

TENSOR, PARAMETER, SEQUENCE, NAMED_TUPLE, MAPPING, OBJECT, PLAIN, IGNORED, BARE = range(9)
"""What a class's instances are recorded as. BARE: by the class's name alone."""
TENSORS = frozenset({TENSOR, PARAMETER})

_is_subclass: Callable[[type, type], bool] = lambda cls, base: type.__subclasscheck__(base, cls)  # noqa: E731
_name_of: Callable[[type], str] = type.__dict__["__name__"].__get__
_mro_of: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_vars_of: Callable[[type], Any] = type.__dict__["__dict__"].__get__

_IGNORED: tuple[type, ...] = (
    type,
    torch.nn.Module,
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
)
"""Values that are not recorded when they stand alone: code, and what holds code."""


class Class(NamedTuple):
    """What is known of a class."""

    cls: type
    """Held so that its id is not given away."""
    kind: int
    name: str
    read: Callable[[Any], Any]
    """SEQUENCE, NAMED_TUPLE: value -> (items up to a bound). MAPPING, OBJECT: -> (key, item) pairs. PLAIN: -> text."""
    length: Callable[[Any], int]
    container: str
    """`tuple`, `list`, `dict` or `object`."""
    keys: tuple[str, ...] = ()
    """Field names of a named tuple."""


def _no_length(value: Any) -> int:
    return 0


def classify(cls: type, most: int, text_of: Callable[[type], Callable[[Any], str] | None]) -> Class:
    """Look at a class. At most `most` items of a container will be read; `text_of` knows the plain classes."""
    name = _name_of(cls)

    def known(kind: int, read: Callable[[Any], Any] = _nothing, length: Any = _no_length, container: str = "") -> Class:
        return Class(cls, kind, name, read, length, container)

    if _is_subclass(cls, torch.Tensor):
        return known(PARAMETER if _is_subclass(cls, torch.nn.Parameter) else TENSOR)
    if any(_is_subclass(cls, ignored) for ignored in _IGNORED):
        return known(IGNORED)
    if _is_subclass(cls, enum.Enum):
        return known(PLAIN, _enum_reader(name))
    text = text_of(cls)
    if text is not None:
        return known(PLAIN, text)
    if _is_subclass(cls, tuple):
        fields = _fields(cls)
        if fields:
            found = known(NAMED_TUPLE, _slice_reader(tuple, most), tuple.__len__, "tuple")
            return found._replace(keys=fields)
        return known(SEQUENCE, _slice_reader(tuple, most), tuple.__len__, "tuple")
    if _is_subclass(cls, list):
        return known(SEQUENCE, _slice_reader(list, most), list.__len__, "list")
    if _is_subclass(cls, dict):
        return known(MAPPING, lambda value: list(islice(dict.items(value), most)), dict.__len__, "dict")
    for base in (set, frozenset, deque):
        if _is_subclass(cls, base):
            return known(SEQUENCE, _islice_reader(base, most), base.__len__, "list")
    if _is_subclass(cls, types.MappingProxyType):
        return known(BARE)
    fields_of = _field_reader(cls, most)
    if fields_of is None:
        return known(BARE)
    return known(OBJECT, fields_of, _no_length, "object")


def _nothing(value: Any) -> Any:
    return None


def _slice_reader(base: Any, most: int) -> Callable[[Any], Any]:
    get, bound = base.__getitem__, slice(0, most)
    return lambda value: get(value, bound)


def _islice_reader(base: Any, most: int) -> Callable[[Any], Any]:
    iterate = base.__iter__
    return lambda value: list(islice(iterate(value), most))


def _fields(cls: type) -> tuple[str, ...]:
    """Field names of a named tuple class or of one of torch's `return_types`."""
    for ancestor in _mro_of(cls):
        namespace = _vars_of(ancestor)
        for attribute in ("_fields", "__match_args__"):
            found = namespace.get(attribute)
            if type(found) is tuple and found and all(type(field) is str for field in found):
                return found
    return ()


def _enum_reader(name: str) -> Callable[[Any], str]:
    def text(value: Any) -> str:
        fields = instance_dict(value)
        member = None if fields is None else dict.get(fields, "_name_")
        return f"{name}.{member}" if type(member) is str else name

    return text


# --- objects ----------------------------------------------------------------------------------------------------------


def instance_dict(value: Any) -> dict[Any, Any] | None:
    """The instance dictionary itself, past any `__getattribute__` or property in the way."""
    for ancestor in _mro_of(type(value)):
        descriptor = _vars_of(ancestor).get("__dict__")
        if type(descriptor) is types.GetSetDescriptorType:
            found = descriptor.__get__(value)
            return found if isinstance(found, dict) else None
    return None


def _field_reader(cls: type, most: int) -> Callable[[Any], list[tuple[str, Any]]] | None:
    """A function that lists (name, value) of an instance's slots and dictionary; None if it can have neither."""
    slots: dict[str, Callable[[Any], Any]] = {}
    dictionary: Callable[[Any], Any] | None = None
    for ancestor in reversed(_mro_of(cls)):
        for name, descriptor in _vars_of(ancestor).items():
            kind = type(descriptor)
            if kind is types.MemberDescriptorType and not _is_builtin(ancestor):
                slots[name] = descriptor.__get__
            elif kind is types.GetSetDescriptorType and name == "__dict__":
                dictionary = descriptor.__get__
    if not slots and dictionary is None:
        return None
    readers = tuple(slots.items())

    def fields(value: Any) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        for name, get in readers:
            try:
                found.append((name, get(value)))
            except AttributeError:
                continue  # a slot that was never set
        own = None if dictionary is None else dictionary(value)
        if isinstance(own, dict):
            found.extend(islice(dict.items(own), most))
        return found

    return fields


def _is_builtin(cls: type) -> bool:
    """Whether a class is not defined in Python: its members are no fields of the user's."""
    return not cls.__flags__ & _HEAP_TYPE


_HEAP_TYPE = 1 << 9


def numpy_array_class() -> Any:
    """`numpy.ndarray` if the program has loaded numpy."""
    numpy = sys.modules.get("numpy")
    return None if numpy is None else vars(numpy).get("ndarray")


def first(values: Iterable[Any], number: int) -> list[Any]:
    """The first `number` of `values`."""
    return list(islice(values, number))
