"""User code, hostile by accident: it neither reaches the channel nor escapes its process nor outlives its run."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from torchlens_lsp.server.worker_client import run_once

from .conftest import PLAIN_BOOT, Project, output_of

pytestmark = pytest.mark.timeout(60)
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


# --- the channel ------------------------------------------------------------------------------------------------------


def test_what_is_printed_goes_to_the_log(project: Project) -> None:
    project.write(
        "model.py",
        """
        import ctypes, os, subprocess, sys

        def f():
            print("from print")
            os.write(1, b"from a descriptor\\n")
            ctypes.CDLL(None).puts(b"from native code")
            subprocess.run(["echo", "from a child"])
            sys.stderr.write("from stderr\\n")
            return 1
        """,
    )
    assert output_of(project.run("f()")) == "1"
    for source in ("print", "a descriptor", "native code", "a child", "stderr"):
        assert f"from {source}\n" in project.log


def test_a_million_lines_are_cut_and_the_run_is_not(project: Project) -> None:
    project.write("model.py", "def f():\n    for i in range(1_000_000):\n        print(i)\n    return 1\n")
    assert output_of(project.run("f()", timeout=30.0, env={"PYTHONUNBUFFERED": ""})) == "1"
    assert project.log.startswith("0\n1\n")
    assert len(project.log) < 2 << 20
    assert project.log.endswith("more bytes, which are not shown\n")


def test_standard_input_is_empty(project: Project) -> None:
    project.write("model.py", "import sys\nfirst = sys.stdin.read()\ndef f(): return first, input()\n")
    document = project.run("f()")
    assert document.error is not None
    assert document.error.type == "EOFError"
    assert project.line_of(document) == 3


@pytest.mark.parametrize(
    "trick",
    [
        "sys.stdout = sys.stderr = sys.__stdout__ = sys.stdin = None",
        "sys.stdout.close(); sys.stderr.close()",
        "os.close(0); os.close(1); os.close(2)",
        "sys.stdout.detach()",
        "os.dup2(os.open(os.devnull, os.O_RDWR), 1)",
        "os.chdir('/')",
        "sys.path.clear(); sys.meta_path.clear(); sys.path_hooks.clear()",
        "[sys.modules.pop(name) for name in list(sys.modules) if name != 'sys']",
        "atexit.register(time.sleep, 60)",
        "threading.Thread(target=time.sleep, args=(60,)).start()",
        "threading.Thread(target=spin, daemon=True).start()",
        "gc.disable(); gc.set_threshold(0)",
        "warnings.simplefilter('error')",
        "signal.signal(signal.SIGPIPE, signal.SIG_DFL); signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "os._exit = sys.exit = os.getpid = os.kill = None",
        "builtins.print = builtins.open = builtins.exit = None",
        "sys.setrecursionlimit(50)",
        "sys.setswitchinterval(100)",
    ],
)
def test_the_answer_comes_whatever_user_code_leaves_behind(project: Project, trick: str) -> None:
    project.write(
        "model.py",
        f"""
        import atexit, builtins, gc, os, signal, sys, threading, time, warnings

        def spin():
            while True:
                print(end="")

        def f():
            {trick}
            return 7
        """,
    )
    started = time.monotonic()
    assert output_of(project.run("f()")) == "7"
    assert time.monotonic() - started < 8


def test_without_its_descriptors_the_worker_says_nothing_and_its_client_does(project: Project) -> None:
    project.write("model.py", "import os\ndef f():\n    os.closerange(3, 1000)\n    return 7\n")
    assert project.run("f()").status == "crashed"


def test_a_forked_child_that_comes_back_does_not_answer(project: Project) -> None:
    project.write(
        "model.py",
        """
        import os, time

        def f():
            if os.fork():
                time.sleep(0.5)
                return "parent"
            return "child"
        """,
    )
    assert output_of(project.run("f()")) == "'parent'"


def test_a_forked_child_that_raises_does_not_answer(project: Project) -> None:
    project.write(
        "model.py",
        """
        import os, time

        def f():
            if not os.fork():
                raise ValueError
            time.sleep(0.5)
            return "parent"
        """,
    )
    assert output_of(project.run("f()")) == "'parent'"


def test_worker_pools_of_the_users_run(project: Project) -> None:
    project.write(
        "model.py",
        """
        import multiprocessing

        def square(x):
            return x * x

        def f(method):
            with multiprocessing.get_context(method).Pool(2) as pool:
                return pool.map(square, [1, 2, 3])
        """,
    )
    assert output_of(project.run("f('fork')")) == "[1, 4, 9]"
    assert output_of(project.run("f('spawn')")) == "[1, 4, 9]"


# --- what user code sees ----------------------------------------------------------------------------------------------


def test_the_process_looks_like_a_plain_start_of_the_file(project: Project) -> None:
    project.write(
        "model.py",
        """
        import os, sys

        def f():
            main = sys.modules["__main__"]
            return os.getcwd(), sys.argv, os.environ["COLOUR"], hash("a") == hash("a"), vars(main).get("__file__")
        """,
    )
    document = project.run("f()", argv=("--fast", "1"), env={"COLOUR": "red"})
    file = str(project.root / "model.py")
    assert output_of(document) == repr((str(project.root), [file, "--fast", "1"], "red", True, None))


def test_hashes_are_the_same_in_every_run(project: Project) -> None:
    project.write("model.py", "def f(): return list({'a', 'b', 'c', 'd', 'e'})\n")
    assert output_of(project.run("f()")) == output_of(project.run("f()"))


def test_numbers_are_random_in_the_same_way_before_import_build_and_call(project: Project) -> None:
    project.write("model.py", "import random\nfirst = random.random()\ndef f(x): return first, x, random.random()\n")
    found = eval(output_of(project.run("f(random.random())", seed=3)))
    assert len(set(found)) == 1
    assert found != eval(output_of(project.run("f(random.random())", seed=4)))


def test_nothing_of_ours_can_be_imported_or_found(project: Project) -> None:
    project.write(
        "model.py",
        """
        import sys

        def f():
            try:
                import torchlens_lsp
            except ModuleNotFoundError:
                return [p for p in sys.path if "worker" in p], "torchlens_lsp" in sys.modules
        """,
    )
    # Without site-packages, where this project may be installed as a user's own would be.
    request = project.request("f()", "model.py", env={"PYTHONPATH": ""})
    found = project.run_request(request, [sys.executable, "-S"], boot=PLAIN_BOOT)
    assert output_of(found) == "([], False)"


def test_a_users_own_install_of_ours_is_the_one_they_get(project: Project) -> None:
    project.write("elsewhere/torchlens_lsp/__init__.py", "mine = True\n")
    project.write("model.py", "import torchlens_lsp\ndef f(): return torchlens_lsp.mine\n")
    assert output_of(project.run("f()", env={"PYTHONPATH": str(project.root / "elsewhere")})) == "True"


@on_linux
def test_the_run_has_a_group_of_its_own_and_low_priority(project: Project) -> None:
    project.write("model.py", "import os\ndef f(): return os.getsid(0) == os.getpid(), os.getpriority(0, 0)\n")
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert output_of(project.run("f()")) == repr((True, min(own + 10, 19)))


# --- what it leaves running -------------------------------------------------------------------------------------------


@on_linux
@pytest.mark.parametrize(
    "start",
    [
        "subprocess.Popen(command)",
        "subprocess.Popen(command, start_new_session=True, env={})",
        "os.fork() or subprocess.Popen(command, start_new_session=True) and os._exit(0)",
        "os.fork() or os.setsid() or os.fork() and os._exit(0) or os.execvp(command[0], command)",
    ],
    ids=["child", "session", "orphan", "daemon"],
)
@pytest.mark.parametrize("end", ["return", "os._exit(1)", "while True: pass"])
def test_no_process_of_a_run_outlives_it(project: Project, start: str, end: str) -> None:
    pid_file = project.root / "pid"
    project.write(
        "model.py",
        f"""
        import os, subprocess, time

        command = ["/bin/sh", "-c", "echo $$ > {pid_file}; exec /bin/sleep 60"]

        def f():
            {start}
            while not os.path.exists({str(pid_file)!r}) or not open({str(pid_file)!r}).read():
                time.sleep(0.01)
            {end}
        """,
    )
    project.run("f()", timeout=1.0)
    assert not Path(f"/proc/{int(pid_file.read_text())}").exists(), "alive, or a zombie that nobody waits for"


@on_linux
def test_a_cancelled_run_leaves_nothing(project: Project) -> None:
    pid_file = project.root / "pid"
    project.write(
        "model.py",
        f"import os, time\nopen({str(pid_file)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)\n",
    )

    async def cancel() -> None:
        run = asyncio.create_task(run_once([sys.executable], project.request("f()"), boot=PLAIN_BOOT))
        while not pid_file.exists() or not pid_file.read_text():
            await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(cancel())
    assert not is_alive(int(pid_file.read_text()))


@on_linux
def test_a_worker_dies_with_its_server(project: Project) -> None:
    pid_file = project.root / "pid"
    project.write(
        "model.py",
        f"import os, time\nopen({str(pid_file)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)\n",
    )
    server = project.write(
        "server.py",
        f"""
        import asyncio, sys
        sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})
        from pathlib import Path
        from torchlens_lsp.document.request import ExampleSpec, RunRequest
        from torchlens_lsp.server.worker_client import run_once

        request = RunRequest({str(project.root / "model.py")!r}, {str(project.root)!r}, ExampleSpec(call="f()"))
        asyncio.run(run_once([sys.executable], request, boot=Path({str(PLAIN_BOOT)!r})))
        """,
    )
    pid = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, str(server)])
    while not pid_file.exists() or not pid_file.read_text():
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    give_up = time.monotonic() + 5
    while is_alive(int(pid_file.read_text())) and time.monotonic() < give_up:
        time.sleep(0.01)
    assert not is_alive(int(pid_file.read_text()))
