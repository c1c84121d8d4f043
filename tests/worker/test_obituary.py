"""What is said of a run whose worker could not answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlens_lsp.document.model import Durations, Range
from torchlens_lsp.document.request import ExampleSpec, RunRequest
from torchlens_lsp.server.worker_log import MAX_FORWARDED, MAX_TAIL, WorkerLog
from torchlens_lsp.server.worker_obituary import describe_exit, frames_of, obituary

CURRENT = """Fatal Python error: Segmentation fault

Thread 0x00007f0000000001 [loader] (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 324 in wait

Current thread 0x00007f0000000002 (most recent call first):
  File "/env/lib/python3.11/site-packages/torch/nn/functional.py", line 20 in linear
  File "{file}", line 3 in forward
  File "{file}", line 9 in <module>

Extension modules: numpy.core._multiarray_umath, torch._C (total: 12)
"""
OTHERS = """Thread 0x00007f0000000001 (most recent call first):
  File "/x.py", line 1 in helper

Thread 0x00007f0000000002 (most recent call first):
  File "/y.py", line 5 in inner
  File "/y.py", line 9 in outer

Thread 0x00007f0000000003 (most recent call first):
  <no Python frame>
"""


@pytest.fixture
def request_(tmp_path: Path) -> RunRequest:
    file = tmp_path / "modèle.py"
    file.write_text("a\nb\r\n    é𝔁 = self.net(x)  \nc\n", encoding="utf-8")
    example = ExampleSpec(call="f()", uri="file:///example.py", range=Range(2, 0, 2, 5))
    return RunRequest(str(file), str(tmp_path), example)


def test_the_place_is_the_innermost_line_of_the_users_own(request_: RunRequest) -> None:
    traceback = CURRENT.format(file=request_.file)
    document = obituary(request_, "crashed", "ProcessDied", "gone", "call", traceback, Durations())
    assert document.error is not None
    assert document.error.uri == Path(request_.file).as_uri()
    assert document.error.range == Range(2, 4, 2, 4 + len("é𝔁 = self.net(x)") + 1)
    assert [frame.function for frame in document.error.stack] == ["<module>", "forward", "linear"]


def test_unsaved_text_is_what_the_line_is_of(request_: RunRequest) -> None:
    request = RunRequest(request_.file, request_.root, request_.example, overlays={request_.file: "\n\n\tx()\n"})
    document = obituary(request, "crashed", "", "", "call", CURRENT.format(file=request.file), Durations())
    assert document.error is not None
    assert document.error.range == Range(2, 1, 2, 4)


def test_without_a_traceback_the_place_is_the_example(request_: RunRequest) -> None:
    document = obituary(request_, "timeout", "Timeout", "late", "import", "", Durations())
    assert document.error is not None
    assert (document.error.uri, document.error.range) == ("file:///example.py", Range(2, 0, 2, 5))


def test_where_no_thread_is_the_current_one_it_is_the_oldest_that_tells_something() -> None:
    assert [(frame.path, frame.line, frame.function) for frame in frames_of(OTHERS)] == [
        ("/y.py", 9, "outer"),
        ("/y.py", 5, "inner"),
    ]
    assert frames_of("nothing of the kind") == []


def test_names_are_read_as_faulthandler_writes_them() -> None:
    escaped = 'Current thread 0x1 (most recent call first):\n  File "/caf\\xe9/\\u4e2d.py", line 1 in f\\xfc\n'
    assert frames_of(escaped)[0][::2] == ("/café/中.py", "fü")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (3, "ended itself with exit status 3"),
        (-11, "was killed by SIGSEGV (segmentation fault)"),
        (-15, "was killed by SIGTERM"),
        (-200, "was killed by signal 200"),
        (0xC0000005, "was ended by the system: access violation"),
    ],
)
def test_exits_are_described(status: int, words: str) -> None:
    assert describe_exit(status) == words


def test_a_log_hands_on_its_beginning_and_keeps_its_end() -> None:
    heard: list[str] = []
    log = WorkerLog(heard.append)
    line = "line é\n".encode()
    for _ in range(3 * MAX_FORWARDED // len(line)):
        log.feed(line)
    log.feed(b"the last one\r\n\n")
    log.end()
    assert len("".join(heard[:-1]).encode()) == pytest.approx(MAX_FORWARDED, abs=2)
    assert heard[-1].startswith("\n… and ")
    assert log.last_lines(2) == ["line é", "the last one"]
    assert len("".join(log.last_lines(MAX_TAIL))) < 2 * MAX_TAIL


def test_characters_that_come_in_pieces_are_whole_in_the_log() -> None:
    heard: list[str] = []
    log = WorkerLog(heard.append)
    for byte in "é中".encode():
        log.feed(bytes([byte]))
    assert "".join(heard) == "é中"
