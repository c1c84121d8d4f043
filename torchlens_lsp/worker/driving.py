"""Driving what a call only began: generators and coroutines run when somebody asks for their values.

User code runs here, in the traced call; its exceptions come out untouched.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, Iterator
from itertools import islice
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any

KEPT = 16
"""How many of the values that a generator yields are kept; the others are let go as they come."""


def drive(result: Any) -> Any:
    """What `result` comes to: a generator's first values as a list, a coroutine's result, anything else itself."""
    if isinstance(result, GeneratorType):
        return _first(result)
    if isinstance(result, CoroutineType):
        return drive(asyncio.run(_wait(result)))
    if isinstance(result, AsyncGeneratorType):
        return asyncio.run(_first_async(result))
    return result


def _first(values: Iterator[Any]) -> list[Any]:
    # Without a loop of ours: at a deadline, the frame that stands is the user's.
    kept = list(islice(values, KEPT))
    deque(values, maxlen=0)
    return kept


async def _wait(result: CoroutineType[Any, Any, Any]) -> Any:
    return await result


async def _first_async(values: AsyncIterable[Any]) -> list[Any]:
    kept: list[Any] = []
    async for value in values:
        if len(kept) < KEPT:
            kept.append(value)
    return kept
