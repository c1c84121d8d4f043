"""The names under which instrumented code finds the recorder.

They stand in `builtins`, so that nothing of ours appears in a user's module, and are no identifiers, so that no
user's name can meet them and the compiler does not mangle them inside classes. Outside of a recording they stand for
functions that hand their value on, so that instrumented code that outlives its recording (a thread, an `atexit`
function) runs as if it were plain.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable
from typing import Any

VALUE = "@r"
"""`(site, value) -> value`: an evaluation, or the value just bound to a name."""
OUTCOME = "@b"
"""`(site, truth) -> truth`: the outcome of a test; `truth` is a bool already."""
CASE = "@m"
"""`(site of the first case, number of the case taken)`: the outcomes of a `match`."""
ENTER, ENTER_GENERATOR = "@e", "@ge"
"""`(function, *parameters)`: a call begins."""
EXIT, EXIT_GENERATOR = "@x", "@gx"
"""`()`: it ends, whichever way."""
ENTER_LAMBDA, EXIT_LAMBDA = "@le", "@lx"
"""`(function, *parameters) -> token` and `(token, value) -> value`."""
SYNC = "@s"
"""`()`: an exception may have skipped ends; the frame that calls it is the one that runs."""
SUSPEND, RESUME = "@y", "@u"
"""`(value) -> value`: around a `yield`."""
DELEGATE = "@w"
"""`(iterable or awaitable) -> the same, suspending and resuming`: under `yield from` and `await`."""
LOOP, ITERATION = "@ls", "@li"
"""`(site)`: a loop begins; a turn of it begins."""
MARKS = "@h"
"""`@h0[3] = 1`: statement 3 of file 0 was reached; the number of the file follows the name."""


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
    DELEGATE: _hand_on,
    CASE: _nothing,
    ENTER: _nothing,
    ENTER_GENERATOR: _nothing,
    EXIT: _nothing,
    EXIT_GENERATOR: _nothing,
    ENTER_LAMBDA: _nothing,
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
