"""A change to a file's instrumented tree, made between the instrumenter and the compiler.

The recorder takes text and gives code. What has to be changed in between has no other way in than the call of
`compile` that it makes, which is why that stands under our hand for as long as it compiles one file.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def adjusted(adjust: Callable[[ast.Module], None]) -> Iterator[None]:
    """Within it, `adjust` is given each module's tree that is compiled. No user code may run meanwhile."""
    plain = builtins.compile

    def compile_adjusted(source: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(source, ast.Module):
            adjust(source)
        return plain(source, *args, **kwargs)

    builtins.compile = compile_adjusted
    try:
        yield
    finally:
        builtins.compile = plain
