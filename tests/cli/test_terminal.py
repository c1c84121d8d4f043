"""Progress and output."""

from __future__ import annotations

import io
import os

import pytest

from torchlens_lsp.cli.terminal import Output, Progress


class Screen(io.StringIO):
    """A stream that says whether it is a terminal."""

    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def watch(is_terminal: bool, moments: list[tuple[float, str]], label: str = "") -> str:
    """What is written on standard error of a run that is in these phases at these seconds."""
    screen, clock = Screen(is_terminal), Clock()
    progress = Progress(screen, clock)
    progress.begin(label)
    for seconds, phase in moments:
        clock.now = 100.0 + seconds
        progress.enter(phase)
        progress.tick()
    progress.end()
    return screen.getvalue()


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_short_run_shows_no_progress(is_terminal: bool) -> None:
    assert watch(is_terminal, [(0.1, "import"), (0.9, "call")]) == ""


def test_on_a_terminal_the_line_replaces_itself_and_is_erased() -> None:
    erase = "\r\x1b[K"
    written = watch(True, [(0.5, "import"), (1.0, "import"), (1.4, "import"), (2.1, "import"), (2.2, "call")])
    assert written == (f"{erase}running, 1 s (import){erase}running, 2 s (import){erase}running, 2 s (call){erase}")


def test_elsewhere_a_line_is_written_now_and_then() -> None:
    seconds = [0.5, 1.1, 1.2, 3.0, 5.0, 5.1, 40.0, 41.0, 61.0]
    assert watch(False, [(second, "call") for second in seconds], "train") == (
        "running train, 1 s (call)\nrunning train, 5 s (call)\nrunning train, 40 s (call)\nrunning train, 61 s (call)\n"
    )


def test_a_dumb_terminal_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert watch(True, [(1.0, "call")]) == "running, 1 s (call)\n"


@pytest.mark.parametrize(
    ("is_terminal", "choice", "variables", "color"),
    [
        (True, "auto", {}, True),
        (False, "auto", {}, False),
        (True, "auto", {"NO_COLOR": "1"}, False),
        (True, "auto", {"NO_COLOR": ""}, True),
        (True, "auto", {"TERM": "dumb"}, False),
        (True, "never", {}, False),
        (False, "always", {"NO_COLOR": "1"}, True),
    ],
)
def test_when_there_is_colour(
    is_terminal: bool, choice: str, variables: dict[str, str], color: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert Output(choice, stream=Screen(is_terminal)).color is color


def test_only_a_terminal_has_an_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((66, 20)))
    assert Output(stream=Screen(True)).width == 66
    assert Output(stream=Screen(False)).width is None
    assert Output(width=50, stream=Screen(False)).width == 50
