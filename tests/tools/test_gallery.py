"""The gallery shows the definitions that it names, and keeps what it cannot make anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.gallery import CORPUS, EXAMPLES, ROOT, Picture, kept_chapters, select, with_picture

SOURCE = """\
import functools

class Net:
    width = 3

    @functools.cache
    def forward(self):
        return 1

    def other(self):
        return 2

def helper():
    return 3
"""
OUTPUT = SOURCE + "ok · 3 ops\n"


def test_named_definitions_are_shown_with_their_class_and_decorators() -> None:
    assert select(OUTPUT, SOURCE, ("Net.forward", "helper")).split("\n") == [
        "class Net:",
        "⋮",
        "    @functools.cache",
        "    def forward(self):",
        "        return 1",
        "⋮",
        "def helper():",
        "    return 3",
        "ok · 3 ops",
    ]


def test_notes_are_shown_and_other_files_are_not() -> None:
    output = SOURCE + "\n── other.py\nx = 1   ┊ 1\nnote: something was left out\nok · 3 ops\n"
    assert select(output, SOURCE, ("helper",)).split("\n")[-4:] == [
        "def helper():",
        "    return 3",
        "note: something was left out",
        "ok · 3 ops",
    ]


def test_without_names_everything_is_shown() -> None:
    assert select(OUTPUT, SOURCE, ()) == OUTPUT.rstrip("\n")


def test_a_definition_that_is_gone_is_an_error() -> None:
    with pytest.raises(SystemExit, match=r"Net\.gone"):
        select(OUTPUT, SOURCE, ("Net.gone",))


@pytest.mark.parametrize("picture", EXAMPLES, ids=lambda picture: picture.title)
def test_what_the_gallery_shows_of_the_examples_is_there(picture: Picture) -> None:
    source = (ROOT / picture.file).read_text(encoding="utf-8")
    assert select(source, source, picture.show)


def test_chapters_of_published_models_are_kept_where_they_cannot_be_made() -> None:
    page = f"# Gallery\n\n## Another\n\ntext\n\n## {CORPUS[0].title}\n\nits text\n"
    assert list(kept_chapters(page)) == [f"## {CORPUS[0].title}\n\nits text\n"]


def test_every_example_is_in_the_gallery() -> None:
    shown = {Path(picture.file).name for picture in EXAMPLES}
    assert shown == {path.name for path in (ROOT / "examples").glob("*.py")}


def test_the_readme_has_a_place_for_its_picture() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    changed = with_picture(readme, "PICTURE\n")
    assert changed.count("PICTURE") == 1
    assert with_picture(changed, "") == with_picture(readme, "")
