"""`await` and `yield from`: the place where a coroutine or generator is suspended without any code of its own.

A `Delegate` stands between it and what it waits for, and tells the recorder when control goes and comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    def around(cls, inner: Any, activation: Any, pause: Callable[[Any], None], go_on: Callable[[Any], None]) -> Any:
        """A delegate, or `inner` itself where the interpreter has to speak for itself (an error, a plain iterable)."""
        kind = type(inner)
        if activation is None or not (kind is GeneratorType or kind is CoroutineType or hasattr(kind, "__await__")):
            return inner
        return cls(inner, activation, pause, go_on)

    def __iter__(self) -> Iterator[Any]:
        self._iterator = iter(self._inner)
        return self

    def __await__(self) -> Iterator[Any]:
        kind = type(self._inner)
        self._iterator = self._inner if kind is GeneratorType else kind.__await__(self._inner)
        return self

    def __next__(self) -> Any:
        return self._step(next, self._iterator)

    def send(self, value: Any) -> Any:
        return self._step(self._iterator.send, value)

    def throw(self, *exception: Any) -> Any:
        throw = getattr(self._iterator, "throw", None)
        if throw is None:
            self._go_on(self._activation)
            raise exception[1] if len(exception) > 1 and exception[1] is not None else exception[0]
        return self._step(throw, *exception)

    def close(self) -> None:
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
