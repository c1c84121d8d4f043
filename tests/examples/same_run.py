"""One call, plain or recorded, reduced to what must not differ between the two: its output's bits or its exception."""

from __future__ import annotations

import ast
import importlib
import random
import sys
import types
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from tools.fingerprint import fingerprint
from tools.watched_imports import WatchedImports
from torchlens_lsp.document.model import BUILD, CALL, Document, Durations, Example
from torchlens_lsp.tracer.recorder import Recorder

SEED = 0


@dataclass(frozen=True)
class Outcome:
    """What a run gave. Two runs are the same if these are equal."""

    output: str | None
    """Fingerprint of what the call returned and of the random state after it, None if it raised."""
    error: tuple[str, str] | None = None
    """Type and text of the exception."""


@dataclass(frozen=True)
class Job:
    """A call expression in the namespace of a module, as an example says it."""

    root: Path
    module: str
    call: str
    mode: str = "as-is"
    grad: bool = True


def run_plain(job: Job) -> Outcome:
    """Run the call with nothing of ours in place."""
    with _fresh_process_state(job):
        return _outcome(job, lambda call: call())


def run_recorded(job: Job) -> tuple[Outcome, Document]:
    """Run the call with the module's file watched and everything recorded."""
    recorder = Recorder()
    file = job.root / (job.module.replace(".", "/") + ".py")
    with _fresh_process_state(job), WatchedImports(recorder, {str(file)}):
        recorder.start()
        try:
            outcome = _outcome(job, lambda call: recorder.call(call.callee, call.args, call.kwargs), recorder)
        finally:
            recorder.stop()
    assert recorder.faults == []
    status = "ok" if outcome.error is None else "error"
    return outcome, recorder.document(status=status, example=Example(), durations=Durations())


class _Call:
    def __init__(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
        self.callee, self.args, self.kwargs = callee, args, kwargs

    def __call__(self) -> Any:
        return self.callee(*self.args, **self.kwargs)


def _outcome(job: Job, run: Any, recorder: Recorder | None = None) -> Outcome:
    try:
        _seed()
        namespace = {"torch": torch, **vars(importlib.import_module(job.module))}
        if recorder is not None:
            recorder.phase = BUILD
        call = _build(job, namespace)
        if recorder is not None:
            recorder.phase = CALL
        _seed()
        with torch.set_grad_enabled(job.grad):
            output = run(call)
    except (Exception, SystemExit) as error:
        return Outcome(None, (type(error).__name__, str(error)))
    return Outcome(fingerprint([output, torch.get_rng_state()]))


def _build(job: Job, namespace: dict[str, Any]) -> _Call:
    """Evaluate callee and arguments, as written."""
    _seed()
    tree = ast.parse(job.call, mode="eval").body
    assert isinstance(tree, ast.Call)
    callee = eval(compile(ast.Expression(tree.func), "<example>", "eval"), namespace)
    taken = ast.Call(ast.Name("collect", ast.Load()), tree.args, tree.keywords)
    code = compile(ast.fix_missing_locations(ast.Expression(taken)), "<example>", "eval")
    args, kwargs = eval(code, {**namespace, "collect": lambda *args, **kwargs: (args, kwargs)})
    if job.mode != "as-is" and isinstance(callee, torch.nn.Module):
        callee.train(job.mode == "train")
    return _Call(callee, list(args), kwargs)


def _seed() -> None:
    random.seed(SEED)
    torch.manual_seed(SEED)


@contextmanager
def _fresh_process_state(job: Job) -> Iterator[None]:
    """The module's root in front of the path, none of its modules loaded before or after, one thread, no arguments."""
    with ExitStack() as stack:
        stack.callback(torch.set_num_threads, torch.get_num_threads())
        stack.callback(setattr, sys, "argv", sys.argv)
        stack.callback(sys.path.remove, str(job.root))
        stack.callback(_unload, job.root)
        torch.set_num_threads(1)
        sys.argv = [job.module]
        sys.path.insert(0, str(job.root))
        importlib.invalidate_caches()
        yield


def _unload(root: Path) -> None:
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) if isinstance(module, types.ModuleType) else None
        if file and Path(file).is_relative_to(root):
            del sys.modules[name]
