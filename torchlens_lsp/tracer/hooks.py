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
from collections.abc import Callable
from typing import Any

VALUE = "@tl:value"
"""`(site, value) -> value`: an evaluation, or the value just bound to a name."""
OUTCOME = "@tl:outcome"
"""`(site, truth) -> truth`: the outcome of a test; `truth` is a bool already."""
CASE = "@tl:case"
"""`(site of the first case, number of the case taken)`: the outcomes of a `match`."""
ENTER = "@tl:enter"
"""`(function, *parameters) -> None`: a call begins."""
EXIT = "@tl:exit"
"""`()`: it ends, whichever way."""
EXIT_LAMBDA = "@tl:exit_lambda"
"""`(None, value) -> value`: a lambda ends; the first argument is its `ENTER`."""
SYNC = "@tl:sync"
"""`()`: an exception may have skipped ends; the frame that calls it is the one that runs."""
SUSPEND, RESUME = "@tl:suspend", "@tl:resume"
"""`(value) -> value`: around a `yield`."""
YIELD_FROM, AWAIT = "@tl:yield_from", "@tl:await"
"""`(iterable)` and `(awaitable) -> the same, suspending and resuming`."""
LOOP, ITERATION = "@tl:loop", "@tl:iteration"
"""`(site)`: a loop begins; a turn of it begins."""
MARKS = "@tl:marks"
"""`@tl:marks0[3] = 1`: statement 3 of file 0 was reached; the number of the file follows the name."""


def _value(site: int, value: Any) -> Any:
    return value


def _hand_on(value: Any) -> Any:
    return value


def _nothing(*arguments: Any) -> None:
    return None


PLAIN: dict[str, Callable[..., Any]] = {
    VALUE: _value,
    OUTCOME: _value,
    EXIT_LAMBDA: _value,
    SUSPEND: _hand_on,
    RESUME: _hand_on,
    YIELD_FROM: _hand_on,
    AWAIT: _hand_on,
    CASE: _nothing,
    ENTER: _nothing,
    EXIT: _nothing,
    SYNC: _nothing,
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
