"""All processes of a run: found, measured, ended.

A run's processes are those of the worker's group and session, their children, whatever carries the run's mark in its
environment, and orphans: on Linux, processes whose parent is gone become children of this one, which ends them and
takes note of their end. Reads /proc; where there is none, the group alone is ended (on Windows, the worker alone), and
nothing is measured.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .launch import MARK

PROC = Path("/proc")
_PR_SET_CHILD_SUBREAPER = 36
MAX_DEFAULT_MEMORY = 16 << 30
"""Bytes; the default cap is half of what is free at the start, and at most this."""
KILL_SECONDS = 2.0
"""How long processes that were killed may take to be gone."""


@dataclass(frozen=True)
class _Process:
    pid: int
    state: str
    parent: int
    group: int
    session: int
    started: int
    """In ticks since the machine's start: with the pid, the identity of a process."""

    @property
    def is_alive(self) -> bool:
        return self.state not in "ZX"


_leaders: set[int] = set()
"""Leaders of the runs that are under way in this process."""


class ProcessTree:
    """The processes of the run whose worker is `leader`, the leader of its own session."""

    def __init__(self, leader: int, mark: str) -> None:
        self._leader = leader
        self._mark = f"{MARK}={mark}".encode()
        _leaders.add(leader)
        own = _read(leader)
        self._started = own.started if own is not None else 0
        self._seen: dict[int, int] = {}
        """By pid: when it was started."""

    def memory(self, limit: int) -> int:
        """Bytes that the run's processes use; 0 where it cannot be measured.

        What processes share is counted once, as far as it takes that to see whether they use more than `limit`:
        looking closer holds them up.
        """
        pids = [process.pid for process in self._members() if process.is_alive]
        resident = sum(_resident(pid) for pid in pids)
        return resident if resident <= limit else sum(_proportional(pid) for pid in pids)

    def kill(self) -> None:
        """End all processes of the run, once. Returns when they are gone, or after KILL_SECONDS."""
        if self._leader not in _leaders:
            return
        if not PROC.is_dir():
            _kill_group(self._leader)
            _leaders.discard(self._leader)
            return
        give_up = time.monotonic() + KILL_SECONDS
        while True:
            found = self._members(to_end=True)
            alive = [process.pid for process in found if process.is_alive]
            for pid in alive:
                _kill(pid)
            for process in found:
                if process.parent == os.getpid() and process.pid != self._leader:
                    _reap(process.pid)
            if not alive or time.monotonic() >= give_up:
                _leaders.discard(self._leader)
                return
            time.sleep(0.01)

    def _members(self, to_end: bool = False) -> list[_Process]:
        """The run's processes. Marks and orphans are looked for only on demand: a mark is a file for each process."""
        processes = {process.pid: process for process in map(_read, _pids()) if process is not None}
        found: set[int] = set()
        for pid, process in processes.items():
            is_ours = self._leader in (pid, process.group, process.session) or self._seen.get(pid) == process.started
            if is_ours or (to_end and (self._is_orphan(process) or self._is_marked(pid))):
                found.add(pid)
        children = found
        while children:
            children = {pid for pid, process in processes.items() if process.parent in children and pid not in found}
            found |= children
        self._seen = {pid: processes[pid].started for pid in found}
        return [processes[pid] for pid in found]

    def _is_orphan(self, process: _Process) -> bool:
        """Whether a process came to this one when its parent ended, and can be of no other run."""
        came_to_us = process.parent == os.getpid() and process.session != os.getsid(0)
        return came_to_us and process.started >= self._started and _leaders == {self._leader}

    def _is_marked(self, pid: int) -> bool:
        try:
            return self._mark in (PROC / str(pid) / "environ").read_bytes().split(b"\0")
        except OSError:  # gone, or another user's
            return False


def adopt_orphans() -> None:
    """From now on, descendants of this process whose parent has ended become its children (Linux)."""
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def default_memory_limit() -> int | None:
    """Half of the memory that is free now; None where it is not known."""
    free = [amount for amount in (_available(), _left_in_group()) if amount is not None]
    return min(min(free) // 2, MAX_DEFAULT_MEMORY) if free else None


def _available() -> int | None:
    try:
        for line in (PROC / "meminfo").read_text().split("\n"):
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except (OSError, ValueError):
        pass
    return None


def _left_in_group(group: Path = Path("/sys/fs/cgroup")) -> int | None:
    """What the container's own limit leaves."""
    try:
        limit = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(int(limit) - used, 0)


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir(PROC) if name.isdigit()]
    except OSError:
        return []


def _read(pid: int) -> _Process | None:
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The second field is the program's name in parentheses, which may hold anything.
    fields = text.rpartition(")")[2].split()
    return _Process(pid, fields[0], int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))


def _resident(pid: int) -> int:
    try:
        return int((PROC / str(pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _proportional(pid: int) -> int:
    """What a process uses, pages that it shares divided among those that share them; slow where it uses much."""
    try:
        for line in (PROC / str(pid) / "smaps_rollup").read_text().split("\n"):
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    except (OSError, ValueError):
        pass
    return _resident(pid)


def _kill(pid: int) -> None:
    with contextlib.suppress(OSError):  # gone
        os.kill(pid, signal.SIGKILL)


def _reap(pid: int) -> None:
    with contextlib.suppress(OSError):
        os.waitpid(pid, os.WNOHANG)


def _kill_group(leader: int) -> None:
    try:
        if sys.platform == "win32":
            os.kill(leader, signal.SIGTERM)  # which is TerminateProcess there
        else:
            os.killpg(leader, signal.SIGKILL)
    except OSError:
        return
