"""The examples of one file from everywhere that it can have them: its comments, its configuration, its main block."""

from __future__ import annotations

from pathlib import Path

from ..analysis.examples import FoundExample, find_examples, has_main_block, name_apart, spec_of
from ..document.request import ExampleSpec
from .config import Configuration

MAIN_BLOCK = "main-block"
"""Origin of the example that is the file's own `if __name__ == "__main__":` block, and its name."""


def examples_of(file: Path, text: str, configuration: Configuration) -> list[FoundExample]:
    """The examples of a file, in the order in which they are run: those in its comments, those in pyproject.toml.

    With neither, its main block, if it has one. Each has a name of its own.
    """
    in_comments = find_examples(text, file.as_uri())
    names = [spec_of(each).name for each in in_comments]
    found = [*in_comments, *name_apart(configuration.examples_of(file), names)]
    if not found and has_main_block(text):
        return [ExampleSpec(name=MAIN_BLOCK, origin=MAIN_BLOCK, uri=file.as_uri())]
    return found
