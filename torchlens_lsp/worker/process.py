"""What the process around a run looks like to the code that runs in it, and its end with that of its server.

Nothing of a run's order is decided here.
"""

from __future__ import annotations

import builtins
import ctypes
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType

from .channel import leave
from .loading import MAIN

_PR_SET_PDEATHSIG = 1


def appear_as(file: str, root: str, argv: Sequence[str]) -> None:
    """Let the process look as if `python file …` had been started in `root`."""
    os.chdir(root)
    sys.argv = [file, *argv]
    # Nobody is to meet our own script there; a process that user code spawns would run it again.
    sys.modules[MAIN] = ModuleType(MAIN)


def put_in_front(folders: Sequence[str]) -> None:
    """Put folders in front of `sys.path`, the first one first, whether it is further down or not."""
    first, *others = folders
    sys.path[:0] = [first, *(folder for folder in others if folder not in sys.path)]


_BUILTINS = dict(vars(builtins))


def restore_modules(modules: Mapping[str, ModuleType]) -> None:
    """Put back what user code has dropped or replaced and the answer needs: loaded modules, and the builtins."""
    for name, module in modules.items():
        sys.modules.setdefault(name, module)
    vars(builtins).update(_BUILTINS)


def end_with_server() -> None:
    """Die when the server does, whatever user code is doing then (on Linux; elsewhere `stopping` sees to it)."""
    if not sys.platform.startswith("linux"):
        return
    server = os.getppid()
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        return
    if os.getppid() != server:
        leave(1)  # it died before the request took effect
