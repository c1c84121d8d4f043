"""The commands with their options."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

from .. import __version__
from ..document.request import MODES

EXIT_CODES = """\
exit codes:
  0   it ran
  1   the model raised an exception; check: something was found
  2   usage, configuration, or a bad example
  3   the deadline or the memory cap was reached
  4   the process died
  5   not trusted, or stopped by the guard
  70  a fault of torchlens-lsp: please report it
Of several runs, the highest."""

_TRACE = """\
Runs the examples of a file and prints its source with what happened written onto it.

An example is a comment such as

  # torchlens: Net(num_classes=10)(torch.randn(2, 3, 32, 32))

or an entry in pyproject.toml; a file without any runs by its own `if __name__ == "__main__":` block."""

_CHECK = """\
Runs every example that the files have in their comments or in pyproject.toml, and prints one line for each. Finds
exceptions, and NaN in any recorded value (an infinity is none). For continuous integration."""

_DOCTOR = """\
Says which root, configuration, examples, interpreter and torch apply to a file, and why. Starts nothing that lies in
the file's root."""


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The options, `command` among them. Prints and exits where argparse does: for help, the version, and misuse."""
    parser = argparse.ArgumentParser(
        prog="torchlens-lsp",
        description="See what your PyTorch code really did, written onto its source.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"torchlens-lsp {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_trace(commands)
    _add_check(commands)
    _add_doctor(commands)
    return parser.parse_args(argv)


_Commands = argparse._SubParsersAction  # the type of what `add_subparsers` gives has no public name


def _add(commands: _Commands[argparse.ArgumentParser], name: str, summary: str, text: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=summary,
        description=text,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _add_trace(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _add(commands, "trace", "run a file's examples and print what happened onto its source", _TRACE)
    parser.add_argument("file", metavar="FILE", help="the Python file")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--example", metavar="NAME", help="run this example alone")
    which.add_argument("--call", metavar="EXPR", help="run this call expression instead of the file's examples")
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="annotated source, or the whole trace documents (default: text)",
    )
    run = parser.add_argument_group("the run")
    run.add_argument("--mode", choices=MODES, help="put the modules into this mode first")
    run.add_argument("--no-grad", action="store_true", help="record no gradients")
    run.add_argument("--seed", type=_seed, metavar="N", help="the seed, before import, build and call")
    _add_run_options(run)
    run.add_argument(
        "--watch",
        action="append",
        default=[],
        metavar="WHAT",
        help="look into this as well: a path, a glob, or package:NAME for an installed package; may be repeated",
    )
    text = parser.add_argument_group("text")
    text.add_argument(
        "--width", type=_width, metavar="COLUMNS", help="cut lines to this width (default: the terminal's)"
    )
    _add_color(text)
    text.add_argument("--show-output", action="store_true", help="show what the run printed, also where it went well")


def _add_check(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _add(commands, "check", "run every example under the paths; find errors and NaN", _CHECK)
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a file, or a folder that is searched")
    _add_run_options(parser)
    _add_color(parser)


def _add_doctor(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _add(commands, "doctor", "say what applies to a file, and why", _DOCTOR)
    parser.add_argument("file", metavar="FILE", help="the Python file")
    _add_python(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")


def _add_run_options(parser: argparse._ActionsContainer) -> None:
    _add_python(parser)
    parser.add_argument("--timeout", type=_seconds, metavar="S", help="seconds for build and call (default: 20)")


def _add_python(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--python",
        metavar="INTERPRETER",
        help="the interpreter that has torch: a path, an environment's folder, or a command such as 'uv run python'",
    )


def _add_color(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return seconds


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0")
    return int(text)


MIN_WIDTH = 20


def _width(text: str) -> int:
    if not text.isdecimal() or int(text) < MIN_WIDTH:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of columns from {MIN_WIDTH}")
    return int(text)
