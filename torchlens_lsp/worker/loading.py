"""Loading of the user's files: watched ones in their instrumented form, all of them as a plain import would.

A finder ahead of all others lets these find the module, and only exchanges the loader where the file is watched. What
a module can see of itself (`__file__`, `__spec__`, `__cached__`, resources, source) stays what it was; instrumented
code is never written to the disk.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType

from .naming import Place
from .source import Sources, normal
from .watch import Watch

Compile = Callable[[str, str], CodeType]
"""From path and text to the code of a watched module; raises SyntaxError where the text is no Python."""

MAIN = "__main__"


class WatchedLoader(SourceFileLoader):
    """Loads one watched file from its text, unsaved or on disk."""

    def __init__(self, fullname: str, path: str, sources: Sources, compile: Compile) -> None:
        super().__init__(fullname, path)
        self._sources = sources
        self._compile = compile

    def get_code(self, fullname: str) -> CodeType:
        """The instrumented code; neither read from nor written to a cache."""
        self._sources.show(self.path)
        return self._compile(self.path, self._sources.text(self.path))

    def get_source(self, fullname: str) -> str:
        """The text with the line ends that Python makes of them."""
        return self._sources.text(self.path).replace("\r\n", "\n").replace("\r", "\n")

    def get_data(self, path: str) -> bytes:
        """The bytes of a file, of this one or of one of its package's resources."""
        unsaved = self._sources.overlay(path)
        return super().get_data(path) if unsaved is None else unsaved.encode("utf-8", "surrogatepass")


class Finder(MetaPathFinder):
    """Gives watched files their loader, whoever finds them."""

    def __init__(self, watch: Watch, sources: Sources, compile: Compile) -> None:
        self._watch = watch
        self._sources = sources
        self._compile = compile

    def install(self) -> None:
        """Go ahead of all other finders."""
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the other finders find, with our loader where the file is watched."""
        spec = self._found_by_others(fullname, path, target) or self._unsaved(fullname, path)
        # A loader of another type is somebody's who changes the source as well: leave it alone.
        is_plain = spec is not None and type(spec.loader) is SourceFileLoader
        if spec is not None and is_plain and spec.origin and self._watch.watches(spec.origin, fullname):
            spec.loader = self.loader(fullname, spec.origin)
        return spec

    def loader(self, fullname: str, path: str) -> WatchedLoader:
        """The loader of one watched file."""
        return WatchedLoader(fullname, path, self._sources, self._compile)

    def _found_by_others(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find is not None else None
            if isinstance(spec, ModuleSpec):
                return spec
        return None

    def _unsaved(self, fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """A module whose file is only in an editor yet."""
        name = fullname.rpartition(".")[2]
        for folder in sys.path if path is None else path:
            for tail in (os.path.join(name, "__init__.py"), name + ".py"):
                file = os.path.join(folder, tail)
                if self._sources.overlay(file) is not None:
                    return importlib.util.spec_from_file_location(fullname, file)
        return None


def load(file: str, place: Place, finder: Finder) -> ModuleType:
    """Import `file` under its name, its packages first. Raises what importing it raises."""
    if place.in_package:
        module = importlib.import_module(place.name)
        if normal(getattr(module, "__file__", None) or "") == normal(file):
            return module
        # Another package of that name was found first: an installed one, or one that finds its parts itself.
    return _run(_module_of(file, place.name, place, finder), place.name)


def load_as_main(file: str, place: Place, finder: Finder) -> ModuleType:
    """Run `file` as the program: as `python file` does or, inside of a package, `python -m package.file`."""
    parent = place.name if place.is_package else place.name.rpartition(".")[0]
    if parent:
        importlib.import_module(parent)
    module = _module_of(file, place.name, place, finder)
    module.__name__ = MAIN
    if not place.in_package:
        module.__spec__ = None
        module.__package__ = None
        module.__cached__ = None  # type: ignore[attr-defined]
    return _run(module, MAIN)


def _module_of(file: str, name: str, place: Place, finder: Finder) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        name,
        file,
        loader=finder.loader(name, file),
        submodule_search_locations=[os.path.dirname(file)] if place.is_package else None,
    )
    assert spec is not None
    return importlib.util.module_from_spec(spec)


def _run(module: ModuleType, name: str) -> ModuleType:
    loader = module.__loader__
    assert isinstance(loader, WatchedLoader)
    code = loader.get_code(loader.name)
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    # A module may put something else into its place.
    return sys.modules.get(name, module)
