"""Every way in which a run can end is an outcome, at the right line."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from torchlens_lsp.document.request import (
    CANNOT_START,
    DIED,
    INTERNAL,
    OUT_OF_MEMORY,
    PYTHON_TOO_OLD,
    TIMEOUT,
)

from .conftest import Project, output_of

pytestmark = pytest.mark.timeout(60)
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measured and signalled on Linux alone")


def test_what_the_call_returns_is_the_output(project: Project) -> None:
    project.write("model.py", "def double(x):\n    return 2 * x\n")
    document = project.run("double(21)")
    assert output_of(document) == "42"
    assert document.durations.import_s > 0
    assert document.durations.call_s > 0


@pytest.mark.parametrize(
    "exception", ["ValueError('no')", "SystemExit(3)", "KeyboardInterrupt('no')", "GeneratorExit()", "MemoryError()"]
)
@pytest.mark.parametrize("phase", ["import", "build", "call"])
def test_an_exception_of_the_users_code_is_an_error_at_its_line(project: Project, exception: str, phase: str) -> None:
    project.write(
        "model.py",
        f"""
        def fail():
            raise {exception}

        if {phase == "import"}:
            fail()
        """,
    )
    document = project.run({"import": "print()", "build": "str(fail())", "call": "fail()"}[phase])
    assert document.status == "error"
    assert document.error is not None
    assert (document.error.type, document.error.phase) == (exception.partition("(")[0], phase)
    assert project.line_of(document) == 3


def test_a_call_of_exit_says_with_which_status(project: Project) -> None:
    project.write("model.py", "import sys\nsys.exit()\n")
    document = project.run("print()")
    assert document.error is not None
    assert (document.error.type, document.error.message) == ("SystemExit", "exit status 0")


def test_an_exit_comes_with_what_was_printed_before_it(project: Project) -> None:
    project.write(
        "model.py",
        """
        import argparse

        parser = argparse.ArgumentParser()
        parser.add_argument("--width", required=True)
        options = parser.parse_args()
        """,
    )
    document = project.run("f()")
    assert document.error is not None
    assert (document.error.type, document.error.message) == ("SystemExit", "2")
    assert project.line_of(document) == 6
    (note,) = document.notes
    assert note.startswith("The last that the run printed:\nusage: model.py")
    assert "the following arguments are required: --width" in note


def test_a_syntax_error_is_an_error_of_the_import(project: Project) -> None:
    project.write("model.py", "x = 1\ndef f(:\n")
    document = project.run("f()")
    assert document.status == "error"
    assert document.error is not None
    assert (document.error.type, document.error.phase) == ("SyntaxError", "import")
    assert project.line_of(document) == 2


def test_a_syntax_error_of_an_imported_file_is_shown_there(project: Project) -> None:
    project.write("model.py", "import layers\n")
    project.write("layers.py", "\n\nx = = 1\n")
    assert project.line_of(project.run("print()"), "layers.py") == 3


@pytest.mark.parametrize("hang", ["while True:\n        pass", "import time\n    time.sleep(60)"])
def test_at_the_deadline_the_run_ends_where_it_stood(project: Project, hang: str) -> None:
    project.write("model.py", f"def f():\n    {hang}\n")
    document = project.run("f()", timeout=0.3)
    assert document.status == "timeout"
    assert document.error is not None
    assert document.error.type == TIMEOUT
    assert document.error.message == "still here after 0.3 s"
    assert project.line_of(document) in (2, 3)
    assert 0.2 < document.durations.call_s < 5


def test_imports_have_a_deadline_of_their_own(project: Project) -> None:
    project.write("model.py", "import time\ntime.sleep(3)\ndef f(): return 1\n")
    assert output_of(project.run("f()", timeout=0.2, import_timeout=30.0)) == "1"
    document = project.run("f()", timeout=30.0, import_timeout=1.5)
    assert document.status == "timeout"
    assert document.error is not None
    assert document.error.phase == "import"
    assert project.line_of(document) == 2


def test_build_and_call_share_one_deadline(project: Project) -> None:
    project.write("model.py", "import time\nnap = time.sleep\ndef f(x):\n    nap(2)\n")
    document = project.run("f(nap(0.4))", timeout=0.6)
    assert document.status == "timeout"
    assert document.durations.call_s < 1.5


@pytest.mark.parametrize(
    "trick",
    [
        "signal.setitimer(signal.ITIMER_REAL, 0); signal.signal(signal.SIGALRM, signal.SIG_IGN)",
        "faulthandler.cancel_dump_traceback_later()",
        "signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "sys.setrecursionlimit(60)",
        "sys.settrace(lambda *a: None); threading.settrace(lambda *a: None)",
        "sys.modules.clear()",
        "[setattr(builtins, n, None) for n in ('open', 'print', 'compile')]",
    ],
)
def test_code_that_changes_the_interpreter_does_not_escape_the_deadline(project: Project, trick: str) -> None:
    project.write(
        "model.py",
        f"""
        import builtins, faulthandler, signal, sys, threading

        def f():
            {trick}
            while True:
                pass
        """,
    )
    document = project.run("f()", timeout=0.3)
    assert document.status == "timeout"
    assert project.line_of(document) in (6, 7)


@on_linux
@pytest.mark.parametrize(
    ("hang", "line"),
    [
        ("sum(itertools.repeat(0))", 5),
        ("signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()); native(60)", 5),
    ],
)
def test_native_code_that_holds_the_interpreter_is_put_down(
    project: Project, monkeypatch: pytest.MonkeyPatch, hang: str, line: int
) -> None:
    monkeypatch.setattr("torchlens_lsp.server.worker_client.GRACE_SECONDS", 0.3)
    project.write(
        "model.py", f"import ctypes, itertools, signal\nnative = ctypes.CDLL(None).sleep\n\ndef f():\n    {hang}\n"
    )
    document = project.run("f()", timeout=0.3)
    assert document.status == "timeout"
    assert document.error is not None
    assert document.error.message == "still here after 0.3 s, in native code that did not give way"
    assert document.error.phase == "call"
    if "pthread_sigmask" not in hang:  # with every signal blocked nothing can be known
        assert project.line_of(document) == line


@pytest.mark.parametrize(
    ("death", "words"),
    [
        ("ctypes.string_at(0)", "was killed by SIGSEGV (segmentation fault)"),
        ("os.abort()", "was killed by SIGABRT (aborted by native code)"),
    ],
)
def test_a_crash_of_native_code_is_shown_at_its_line(project: Project, death: str, words: str) -> None:
    project.write("model.py", f"import ctypes, os\n\ndef f():\n    {death}\n")
    document = project.run("f()")
    assert document.status == "crashed"
    assert document.error is not None
    assert (document.error.type, document.error.message) == (DIED, f"the process {words}")
    assert project.line_of(document) == 4
    assert [frame.function for frame in document.error.stack if frame.uri == document.error.uri] == ["f"]


@pytest.mark.parametrize(
    ("death", "words"),
    [
        ("os._exit(3)", "ended itself with exit status 3"),
        ("os._exit(0)", "ended itself with exit status 0"),
        (
            "os.kill(os.getpid(), 9)",
            "was killed by SIGKILL (by the system, which may have run out of memory, or by another program)",
        ),
    ],
)
def test_a_process_that_is_gone_is_described(project: Project, death: str, words: str) -> None:
    project.write("model.py", f"import os\n\ndef f():\n    print('last words', flush=True)\n    {death}\n")
    document = project.run("f()", uri="file:///example.py")
    assert document.status == "crashed"
    assert document.error is not None
    assert document.error.message == f"the process {words}"
    assert document.error.uri == "file:///example.py"
    assert document.notes == ["The last that the run printed:\nlast words"]


@on_linux
def test_at_the_memory_cap_the_run_ends_with_what_was_recorded(project: Project) -> None:
    project.write(
        "model.py",
        """
        import time

        def f():
            kept = []
            while True:
                kept.append(bytearray(8 << 20))
                time.sleep(0.02)
        """,
    )
    document = project.run("f()", memory_limit=100 << 20)
    assert document.status == "out-of-memory"
    assert document.error is not None
    assert document.error.type == OUT_OF_MEMORY
    assert re.match(r"used 1\d\d MB, more than its cap of 100 MB", document.error.message)
    assert document.environment["files"]
    assert project.line_of(document) in (6, 7, 8)


@on_linux
def test_memory_of_children_counts_and_what_they_share_counts_once(project: Project) -> None:
    project.write(
        "model.py",
        """
        import os, time

        def f(megabytes, children):
            shared = b"x" * (megabytes << 20)
            for _ in range(children):
                if not os.fork():
                    time.sleep(1.5)
                    os._exit(0)
            time.sleep(1)
            return 1

        def g(megabytes):
            if not os.fork():
                own = b"x" * (megabytes << 20)
                time.sleep(30)
            time.sleep(30)
        """,
    )
    assert output_of(project.run("f(100, 3)", memory_limit=200 << 20)) == "1"
    assert project.run("g(150)", memory_limit=100 << 20).status == "out-of-memory"


def test_an_interpreter_that_is_not_there_is_said_to_be(project: Project) -> None:
    document = project.run_request(project.request("f()"), interpreter=str(project.root / "python"))
    assert document.status == "error"
    assert document.error is not None
    assert document.error.type == CANNOT_START
    assert str(project.root / "python") in document.error.message


def test_a_program_that_is_no_python_is_said_to_be(project: Project) -> None:
    script = project.write("interpreter", "#!/bin/sh\necho 'what is this?' >&2\nexit 9\n")
    script.chmod(0o755)
    document = project.run_request(project.request("f()"), interpreter=str(script))
    assert document.error is not None
    assert document.error.type == CANNOT_START
    problem = "cannot run the worker, and ended itself with exit status 9: what is this?"
    assert document.error.message == f"{script} {problem}"


def test_a_python_that_is_too_old_is_said_to_be(project: Project) -> None:
    """The interpreter is this one, told that it is another."""
    old = project.write(
        "old.py",
        """
        import runpy, sys
        sys.path.insert(0, "")
        sys.version_info = (3, 8, 2)
        runpy.run_path(sys.argv[1], run_name="__main__")
        """,
    )
    script = project.write("interpreter", f'#!/bin/sh\nexec "{sys.executable}" "{old}" "$@"\n')
    script.chmod(0o755)
    document = project.run_request(project.request("f()"), interpreter=str(script))
    assert document.status == "error"
    assert document.error is not None
    assert document.error.type == PYTHON_TOO_OLD
    assert document.error.message == f"{sys.executable} is Python 3.8; 3.10 or newer is needed"


def test_a_fault_of_ours_never_looks_like_the_users(project: Project) -> None:
    project.write("model.py", "def f(): return 1\n")
    boot = project.boot_with("plain_boot.PlainRecorder.document = lambda self, **facts: 1 / 0")
    document = project.run_request(project.request("f()"), boot=boot)
    assert document.status == "crashed"
    assert document.error is not None
    assert (document.error.type, document.error.message) == (INTERNAL, "ZeroDivisionError: division by zero")
    assert "ZeroDivisionError" in project.log


def test_a_file_that_cannot_be_prepared_runs_plain_and_a_note_says_so(project: Project) -> None:
    path = project.write("model.py", "def f(): return 1\n")
    boot = project.boot_with("plain_boot.PlainRecorder.compile = lambda self, path, text, **options: 1 / 0")
    document = project.run_request(project.request("f()"), boot=boot)
    assert output_of(document) == "1"
    assert document.notes == [f"{path} could not be prepared for recording and ran unrecorded."]


def test_an_answer_that_cannot_be_read_is_a_fault_of_ours(project: Project) -> None:
    project.write("model.py", "def f(): return 1\n")
    boot = project.boot_with("plain_boot.PlainRecorder.stop = lambda self: 1 / 0")
    document = project.run_request(project.request("f()"), boot=boot)
    assert document.status == "crashed"
    assert document.error is not None
    assert document.error.type == INTERNAL
    assert "ZeroDivisionError" in document.error.message


@pytest.fixture
def without_signals(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A boot file for a system without signals to spare, which the client takes this one for too."""
    monkeypatch.setattr("torchlens_lsp.server.worker_client.stop_signals", lambda: None)
    return project.boot_with("import signal; del signal.SIGRTMIN")


@pytest.mark.parametrize("hang", ["while True: pass", "time.sleep(60)"])
def test_without_signals_the_worker_keeps_the_clock(project: Project, without_signals: Path, hang: str) -> None:
    project.write("model.py", f"import time\ndef f():\n    {hang}\n")
    document = project.run_request(project.request("f()", timeout=0.3), boot=without_signals)
    assert document.status == "timeout"
    assert project.line_of(document) == 3


def test_without_signals_too_a_run_in_time_answers(project: Project, without_signals: Path) -> None:
    project.write("model.py", "import time\ndef f(): return time.sleep(0.2)\n")
    request = project.request("f()", timeout=5.0)
    assert output_of(project.run_request(request, boot=without_signals)) == "None"
