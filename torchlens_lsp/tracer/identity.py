"""Knowing a tensor again without keeping it alive. Function modes are off."""

from __future__ import annotations

from typing import Any
from weakref import ref

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from . import quiet
from .objects import instance_dict
from .plain import derives_from


class PlaceInStorage:
    """Knows a parameter again by its storage and its place in it.

    A parameter must have no weak references: `torch.utils.swap_tensors`, with which modules replace their parameters,
    refuses tensors that have any.
    """

    __slots__ = ("_offset", "_shape", "_storage", "_stride")

    def __init__(self, parameter: Any) -> None:
        # While a weak reference to a storage lives, no other storage can have its address.
        self._storage = StorageWeakRef(quiet.get_storage(parameter))  # type: ignore[no-untyped-call]
        self._shape = quiet.get_shape(parameter)
        self._stride = quiet.get_stride(parameter)
        self._offset = quiet.get_storage_offset(parameter)

    def is_of(self, parameter: Any) -> bool:
        """Whether `parameter` is where the one that this was made of was."""
        return bool(
            quiet.get_storage(parameter)._cdata == self._storage.cdata
            and quiet.get_shape(parameter) == self._shape
            and quiet.get_storage_offset(parameter) == self._offset
            and quiet.get_stride(parameter) == self._stride
        )


def is_parameter(tensor: Any) -> bool:
    """Whether a tensor is a Parameter: by its class or, where it holds a subclass, by its mark."""
    cls = type(tensor)
    if cls is torch.Tensor:
        return False
    return derives_from(cls, torch.nn.Parameter) or (instance_dict(tensor) or {}).get("_is_param") is True


def refers_to(reference: Any, tensor: Any) -> bool:
    """Whether `reference`, a weak one or a PlaceInStorage, is one to `tensor`."""
    if type(reference) is ref:
        return reference() is tensor
    return is_parameter(tensor) and bool(reference.is_of(tensor))
