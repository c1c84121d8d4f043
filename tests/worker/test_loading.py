"""A file runs as its project would load it, with unsaved text, and with nothing to be noticed by it."""

from __future__ import annotations

import pytest

from .conftest import Project, files_of, output_of

pytestmark = pytest.mark.timeout(60)


def test_relative_imports_work_and_what_is_imported_is_watched(project: Project) -> None:
    project.write("src/pkg/__init__.py", "")
    project.write("src/pkg/parts/__init__.py", "from .blocks import double\n")
    project.write("src/pkg/parts/blocks.py", "def double(x): return 2 * x\n")
    project.write("src/pkg/net.py", "from .parts import double\ndef f(x): return double(x), __name__, __package__\n")
    document = project.run("f(4)", "src/pkg/net.py")
    assert output_of(document) == "(8, 'pkg.net', 'pkg')"
    assert files_of(document) == {"net.py", "blocks.py", "__init__.py"}


def test_a_namespace_package_of_two_files(project: Project) -> None:
    project.write("app/models/blocks.py", "def double(x): return 2 * x\n")
    project.write("app/models/net.py", "from app.models.blocks import double\ndef f(x): return double(x), __name__\n")
    assert output_of(project.run("f(4)", "app/models/net.py")) == "(8, 'app.models.net')"


def test_a_script_is_not_main(project: Project) -> None:
    project.write("model.py", "def f(): return __name__\nif __name__ == '__main__':\n    raise ValueError\n")
    assert output_of(project.run("f()")) == "'model'"


def test_an_error_in_a_package_around_the_file_is_shown_there(project: Project) -> None:
    project.write("pkg/__init__.py", "\n\n1 / 0\n")
    project.write("pkg/net.py", "def f(): return 1\n")
    assert project.line_of(project.run("f()", "pkg/net.py"), "pkg/__init__.py") == 3


def test_the_file_of_the_request_is_meant_although_another_has_its_name(project: Project) -> None:
    project.write("installed/pkg/__init__.py", "")
    project.write("installed/pkg/net.py", "def f(): return 'installed'\n")
    project.write("root/pkg/__init__.py", f"__path__ = [{str(project.root / 'installed' / 'pkg')!r}]\n")
    project.write("root/pkg/net.py", "def f(): return 'own'\n")
    assert output_of(project.run("f()", "root/pkg/net.py")) == "'own'"


def test_a_file_that_is_not_there_is_an_error_at_the_example(project: Project) -> None:
    document = project.run("f()", "gone.py", uri="file:///example.py")
    assert document.status == "error"
    assert document.error is not None
    assert (document.error.type, document.error.uri) == ("FileNotFoundError", "file:///example.py")


# --- unsaved text -----------------------------------------------------------------------------------------------------


def test_unsaved_text_replaces_what_is_on_disk_in_imported_files_too(project: Project) -> None:
    model = project.write("model.py", "raise ValueError\n")
    layers = project.write("layers.py", "raise ValueError\n")
    overlays = {str(model): "import layers\ndef f(): return layers.g()\n", str(layers): "def g(): return 'unsaved'\n"}
    assert output_of(project.run("f()", overlays=overlays)) == "'unsaved'"


@pytest.mark.parametrize("name", ["fresh.py", "fresh/__init__.py"])
def test_a_file_that_was_never_saved_can_be_imported(project: Project, name: str) -> None:
    project.write("model.py", "from fresh import g\ndef f(): return g()\n")
    overlays = {str(project.root / name): "def g(): return __file__\n"}
    assert output_of(project.run("f()", overlays=overlays)) == repr(str(project.root / name))


def test_source_is_read_from_the_unsaved_text(project: Project) -> None:
    model = project.write("model.py", "def f(): return 'disk'\n")
    line = "    return inspect.getsource(f), linecache.getline(__file__, 3)"
    unsaved = f"import inspect, linecache\r\n\r\ndef f():\r\n{line}\r\n"
    found = eval(output_of(project.run("f()", overlays={str(model): unsaved})))
    assert found == (f"def f():\n{line}\n", "def f():\n")


# --- what a module sees of itself -------------------------------------------------------------------------------------

FACTS = """
import importlib.resources, inspect, linecache, pickle, sys

class Thing:
    value = 3

def facts():
    spec = __spec__
    return {
        "name": __name__,
        "file": __file__,
        "package": __package__,
        "doc": __doc__,
        "cached": __cached__,
        "spec": (spec.name, spec.origin, spec.cached, spec.has_location, spec.parent),
        "source": inspect.getsource(facts),
        "module source": inspect.getsource(sys.modules[__name__]),
        "line": linecache.getline(__file__, 2),
        "loader source": __loader__.get_source(__name__),
        "data": __loader__.get_data(__file__),
        "is package": __loader__.is_package(__name__),
        "resource": importlib.resources.files(__package__).joinpath("data.txt").read_text(),
        "pickled": pickle.loads(pickle.dumps(Thing())).value,
        "class": pickle.loads(pickle.dumps(Thing)) is Thing,
    }
"""


def test_a_watched_module_sees_of_itself_what_a_plain_import_shows(project: Project) -> None:
    project.write("pkg/__init__.py", "")
    project.write("pkg/data.txt", "resource")
    project.write("pkg/parts.py", FACTS)
    project.write("pkg/net.py", "from .parts import facts\n")
    project.write("plain/model.py", "import pkg.parts\ndef f(): return pkg.parts.facts()\n")
    watched = eval(output_of(project.run("facts()", "pkg/net.py")))
    unwatched_root = str(project.root / "plain")
    document = project.run("f()", "plain/model.py", root=unwatched_root, env={"PYTHONPATH": str(project.root)})
    assert files_of(document) == {"model.py"}
    assert watched == eval(output_of(document))


def test_no_compiled_code_of_watched_files_is_written(project: Project) -> None:
    project.write("model.py", "import layers\ndef f(): return 1\n")
    project.write("layers.py", "")
    project.run("f()")
    assert not list(project.root.rglob("*.pyc"))


def test_a_module_can_be_loaded_again_and_still_be_watched(project: Project) -> None:
    project.write("model.py", "import importlib, layers\ndef f(): return importlib.reload(layers) is layers\n")
    project.write("layers.py", "")
    document = project.run("f()")
    assert output_of(document) == "True"
    assert document.environment["files"].count("layers.py") == 2


def test_other_finders_and_loaders_keep_their_say(project: Project) -> None:
    project.write(
        "model.py",
        """
        import importlib.machinery, sys

        class Loader(importlib.machinery.SourceFileLoader):
            def source_to_code(self, data, path, *, _optimization=-1):
                return super().source_to_code(data.replace(b"1", b"2"), path)

        class Finder:
            def find_spec(self, name, path=None, target=None):
                spec = importlib.machinery.PathFinder.find_spec(name, path)
                if name == "layers":
                    spec.loader = Loader(name, spec.origin)
                return spec

        sys.meta_path.insert(0, Finder())
        import layers

        def f():
            return layers.one
        """,
    )
    project.write("layers.py", "one = 1\n")
    assert output_of(project.run("f()", env={"PYTHONDONTWRITEBYTECODE": "1"})) == "2"


@pytest.mark.parametrize(
    "text",
    [
        "# -*- coding: latin-1 -*-\ns = 'é'\n".encode("latin-1") + b"def f(): return s\n",
        b"\xef\xbb\xbfs = '\xc3\xa9'\ndef f(): return s\n",
        "s = 'é'\r\ndef f():\r\n    return s\r\n".encode(),
        "s = 'é'\rdef f():\r    return s\r".encode(),
        "s = 'é'\n\x0c\ndef f():\n    return s".encode(),
    ],
    ids=["coding comment", "byte order mark", "CRLF", "lone CR", "form feed"],
)
def test_a_file_is_decoded_as_python_decodes_it(project: Project, text: bytes) -> None:
    project.write("model.py", text)
    assert output_of(project.run("f()")) == "'é'"


@pytest.mark.parametrize("text", [b"x = '\xe9'\n", b"# coding: nonsense\n", b"x = 1\0\n"])
def test_a_file_that_cannot_be_decoded_is_an_error_of_the_import(project: Project, text: bytes) -> None:
    project.write("model.py", text)
    document = project.run("f()")
    assert document.status == "error"
    assert document.error is not None
    assert document.error.type in ("SyntaxError", "ValueError")
    assert document.error.phase == "import"
