"""Every file in `files/` is traced and held against the markers in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.markers import facts, markers

FILES = sorted((Path(__file__).parent / "files").glob("*.py"))

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_happened_is_what_the_markers_say(path: Path, request: pytest.FixtureRequest) -> None:
    text = path.read_text(encoding="utf-8")
    found = facts.facts_in(facts.trace(path), path)
    problems = markers.compare(markers.parse(text), found, text)
    if problems and request.config.getoption("--update-markers"):
        path.write_text(markers.rewrite(text, found), encoding="utf-8")
        pytest.fail(f"{path.name} was rewritten: look at the difference")
    assert not problems, "\n".join([str(path), *problems])
