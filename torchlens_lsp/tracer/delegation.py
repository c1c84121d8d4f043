"""`await` and `yield from`: the place where a coroutine or generator is suspended without any code of its own.

A `Delegate` stands between it and what it waits for, and tells the recorder when control goes and comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import CO_ITERABLE_COROUTINE
from types import CoroutineType, GeneratorType
from typing import Any


class Delegate:
    """Drives `inner` as `await` and `yield from` would (PEP 380), pausing `activation` whenever something comes up."""

    __slots__ = ("_activation", "_go_on", "_inner", "_iterator", "_pause")

    def __init__(self, inner: Any, activation: Any, pause: Callable[[Any], None], go_on: Callable[[Any], None]) -> None:
        self._inner = inner
        self._iterator: Any = None
        self._activation = activation
        self._pause = pause
        self._go_on = go_on

    @classmethod
    def for_yield_from(cls, inner: Any, *recorder: Any) -> Any:
        """A delegate for a generator. Plain iterables are left alone, and coroutines to the interpreter's judgement."""
        return cls(inner, *recorder) if type(inner) is GeneratorType else inner

    @classmethod
    def for_await(cls, inner: Any, *recorder: Any) -> Any:
        """A delegate for an awaitable; what is none is left to the interpreter's judgement."""
        kind = type(inner)
        if kind is GeneratorType:
            return cls(inner, *recorder) if inner.gi_code.co_flags & CO_ITERABLE_COROUTINE else inner
        return cls(inner, *recorder) if hasattr(kind, "__await__") else inner

    def __iter__(self) -> Iterator[Any]:
        self._iterator = iter(self._inner)
        return self

    def __await__(self) -> Iterator[Any]:
        kind = type(self._inner)
        iterator = self._inner if kind is GeneratorType else kind.__await__(self._inner)
        if type(iterator) is CoroutineType or not hasattr(type(iterator), "__next__"):
            return iterator  # type: ignore[no-any-return]  # the interpreter refuses it in its own words
        self._iterator = iterator
        return self

    def __next__(self) -> Any:
        return self._step(next, self._iterator)

    def send(self, value: Any) -> Any:
        """As a generator's: go on, with `value` as what the `yield` inside gives."""
        return self._step(self._iterator.send, value)

    def throw(self, *exception: Any) -> Any:
        """As a generator's: raise inside. What cannot be thrown into has it raised here."""
        throw = getattr(self._iterator, "throw", None)
        if throw is None:
            self._go_on(self._activation)
            raise exception[1] if len(exception) > 1 and exception[1] is not None else exception[0]
        return self._step(throw, *exception)

    def close(self) -> None:
        """As a generator's: end what is inside; the one who waits goes on, to end as well."""
        close = getattr(self._iterator, "close", None)
        self._go_on(self._activation)
        if close is not None:
            close()

    def _step(self, step: Callable[..., Any], *arguments: Any) -> Any:
        self._go_on(self._activation)
        # An exception, StopIteration among them, goes on in the frame that waits: its activation stays as it is.
        value = step(*arguments)
        self._pause(self._activation)
        return value
