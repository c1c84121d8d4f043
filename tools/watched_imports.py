"""Imports of chosen files, compiled by a recorder: a tracer test's stand-in for the worker's own loading."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Collection, Sequence

from torchlens_lsp.tracer.recorder import Recorder


class WatchedImports(importlib.abc.MetaPathFinder):
    """While entered, finds what Python's own path finder finds, and lets the recorder compile the watched files."""

    def __init__(self, recorder: Recorder, files: Collection[str]) -> None:
        self.recorder = recorder
        self.files = files
        """Absolute paths."""
        self.loaded: list[str] = []

    def __enter__(self) -> WatchedImports:
        sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *exception: object) -> None:
        sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Replace the loader of a watched file."""
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin not in self.files:
            return None
        spec.loader = _Loader(name, spec.origin, self)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, watched: WatchedImports) -> None:
        super().__init__(name, path)
        self._watched = watched

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        self._watched.loaded.append(path)
        return self._watched.recorder.compile(path, importlib.util.decode_source(self.get_data(path)))
