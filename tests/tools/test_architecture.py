"""The code map names files that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_file_of_the_code_map_exists() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    code_map = page.partition("## Code map")[2].partition("\n## ")[0]
    folder = ROOT
    for paragraph in code_map.split("\n\n"):
        heading = re.match(r"\s*\*\*`([^`]+)`\*\*", paragraph)
        if heading:
            folder = ROOT / heading[1]
            assert folder.is_dir(), heading[1]
        for name in re.findall(r"`([\w./]+(?:\.py|/))`", paragraph.partition("** ")[2]):
            assert (folder / name).exists() or (ROOT / name).exists(), f"{folder.name}: {name}"


def test_every_part_of_the_package_is_on_the_map() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for init in (ROOT / "torchlens_lsp").glob("*/__init__.py"):
        assert f"**`torchlens_lsp/{init.parent.name}/`**" in page
