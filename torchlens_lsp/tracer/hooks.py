"""The names under which instrumented code finds the recorder.

They stand in `builtins`, so that nothing of ours appears in a user's module, and are no identifiers, so that no
user's name can meet them and the compiler does not mangle them inside classes; they are long, so that no NameError
suggests one. Outside of a recording they stand for
functions that hand their value on, so that instrumented code that outlives its recording (a thread, an `atexit`
function) runs as if it were plain.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable
from typing import Any

VALUE = "@tl:value"
"""`(site, value) -> value`: an evaluation, or the value just bound to a name."""
OUTCOME = "@tl:outcome"
"""`(site, truth) -> truth`: the outcome of a test; `truth` is a bool already."""
CASE = "@tl:case"
"""`(site of the first case, number of the case taken, number of cases)`: the outcomes of a `match`."""
ENTER = "@tl:enter"
"""`(function) -> None`: a call begins."""
EXIT = "@tl:exit"
"""`()`: it ends, whichever way."""
EXIT_LAMBDA = "@tl:exit_lambda"
"""`(…, value) -> value`: a lambda ends; the first arguments are its `ENTER` and its parameters."""
UNWIND = "@tl:unwind"
"""`() -> ()`: an exception ends the call. It stands behind an `except`, so that only exceptions come by and none is
caught."""
GENERATOR = "@tl:generator"
"""`(generator) -> generator`: a generator expression was made."""
LOOP, ITERATION = "@tl:loop", "@tl:iteration"
"""`(site)`: a loop begins; a turn of it begins."""
MARKS = "@tl:marks"
"""`@tl:marks0[3] = 1`: statement 3 of file 0 was reached; the number of the file follows the name."""

DEEPEST = 4 if sys.version_info < (3, 12) else 0
"""Before 3.12 comprehensions are frames of their own: how deep in one another they are looked into."""


def at_depth(hook: str, depth: int) -> str:
    """The name of VALUE, OUTCOME or GENERATOR inside of so many comprehensions."""
    return f"{hook}-{depth}" if depth else hook


def _last(*arguments: Any) -> Any:
    return arguments[-1]


def _nothing(*arguments: Any) -> None:
    return None


def _no_exceptions() -> tuple[()]:
    return ()


PLAIN: dict[str, Callable[..., Any]] = {
    **{at_depth(hook, depth): _last for hook in (VALUE, OUTCOME, GENERATOR) for depth in range(DEEPEST + 1)},
    EXIT_LAMBDA: _last,
    UNWIND: _no_exceptions,
    CASE: _nothing,
    ENTER: _nothing,
    EXIT: _nothing,
    LOOP: _nothing,
    ITERATION: _nothing,
}


def install(hooks: dict[str, Callable[..., Any]]) -> None:
    """Put `hooks` (all of PLAIN's names) in place."""
    vars(builtins).update(hooks)


def uninstall() -> None:
    """Let instrumented code run as if it were plain."""
    vars(builtins).update(PLAIN)


def provide_marks(number: int, marks: bytearray) -> str:
    """Put `marks` where the instrumented code of file `number` looks for it; the name."""
    name = f"{MARKS}{number}"
    vars(builtins)[name] = marks
    return name


# A forked child runs the same instrumented code; what it records could never be read.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=uninstall)
