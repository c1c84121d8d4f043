"""Write the tables of docs/configuration.md from the table of settings in the code.

    python -m tools.settings_page [--write]

Without --write, says whether the page is as it should be, and exits 1 if it is not.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from torchlens_lsp.server.settings import EXAMPLE_SETTINGS, SETTINGS, Setting

PAGE = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"
BEGIN, END = "<!-- {}: begin (written by `python -m tools.settings_page --write`) -->\n", "<!-- {}: end -->"
TABLES = {"settings": SETTINGS, "example settings": EXAMPLE_SETTINGS}


def section(settings: Iterable[Setting]) -> Iterator[str]:
    """The Markdown for some settings."""
    for setting in settings:
        yield f"### `{setting.name}`\n"
        yield f"{setting.description}\n"
        yield f"{_capitalised(setting.kind.name)}; {_default(setting)}.\n"
        yield f"```toml\n{setting.example}\n```\n"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _default(setting: Setting) -> str:
    if setting.is_required:
        return "has to be set"
    if setting.default_text:
        return f"default: {setting.default_text}"
    default = setting.default
    if default in ({}, (), ""):
        return "default: empty"
    return f"default: `{json.dumps(int(default) if isinstance(default, float) and default.is_integer() else default)}`"


def with_tables(page: str) -> str:
    """The page with its tables written anew."""
    for name, settings in TABLES.items():
        begin, end = BEGIN.format(name), END.format(name)
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise SystemExit(f"{PAGE} has no place for the {name}")
        page = before + begin + "\n" + "\n".join(section(settings)) + end + after
    return page


def main() -> int:
    """Check the page, or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    before = PAGE.read_text(encoding="utf-8")
    after = with_tables(before)
    if options.write:
        PAGE.write_text(after, encoding="utf-8")
    elif before != after:
        print(f"{PAGE} lags behind the code: python -m tools.settings_page --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
