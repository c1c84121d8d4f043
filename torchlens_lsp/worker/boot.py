"""The first thing that runs in a worker, started by its path under the user's interpreter.

It takes the channel away from the standard streams, loads the package by its location under a private name, and
leaves nothing of ours on `sys.path`. It has to be read by interpreters that are too old for the rest of the package,
so that these can say so: no syntax and no library here that Python 3.0 does not have.
"""

import os
import sys

PRIVATE_NAME = "_torchlens_lsp"
OLDEST_PYTHON = (3, 10)
PYTHON_TOO_OLD_EXIT = 78
"""The same number as in `document.request`, which an old interpreter cannot import."""


def main() -> None:
    """Never returns."""
    flags = sys.flags
    if not (flags.isolated or getattr(flags, "safe_path", False)):
        del sys.path[0]  # the folder of this file, which running it by path has put there
    if sys.version_info < OLDEST_PYTHON:
        found = "%d.%d" % sys.version_info[:2]  # noqa: UP031
        oldest = "%d.%d" % OLDEST_PYTHON  # noqa: UP031
        sys.stderr.write("%s is Python %s; %s or newer is needed\n" % (sys.executable, found, oldest))  # noqa: UP031
        sys.stderr.flush()
        os._exit(PYTHON_TOO_OLD_EXIT)
    source, sink = take_channel()
    load_package()

    import importlib

    importlib.import_module(PRIVATE_NAME + ".worker.main").serve(source, sink)


def take_channel() -> "tuple[int, int]":
    """The standard streams' pipes as private descriptors. Reading standard input then gives its end; what is written
    to standard output, by native code too, goes where standard error goes.
    """
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


def load_package() -> None:
    """Load the package that this file lies in as PRIVATE_NAME: a user's `import torchlens_lsp` is the user's own."""
    import importlib.util

    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    spec = importlib.util.spec_from_file_location(
        PRIVATE_NAME, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PRIVATE_NAME] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    main()
