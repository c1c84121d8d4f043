r"""Source text as lines, measured as LSP measures them. Lines end at `\n`, `\r\n` and `\r` alone."""

from __future__ import annotations

import re

_END = re.compile(r"\r\n|\r|\n")


def split_lines(text: str) -> list[str]:
    """The lines of `text` without their ends; one more than there are line ends."""
    return _END.split(text)


def utf16_length(text: str) -> int:
    """Length of `text` in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_offset(text: str, character: int) -> int:
    """Index into `text` of a UTF-16 character; one inside a surrogate pair counts as the pair's own."""
    if text.isascii():
        return min(character, len(text))
    units = text.encode("utf-16-le", "surrogatepass")[: character * 2]
    return len(units.decode("utf-16-le", "ignore"))


class SourceLines:
    """The lines of one file."""

    def __init__(self, text: str) -> None:
        self.texts = split_lines(text)
        self._ends: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.texts)

    def end(self, line: int) -> int:
        """UTF-16 character at the end of a 0-based line, 0 beyond the last one."""
        end = self._ends.get(line)
        if end is None:
            end = self._ends[line] = utf16_length(self.texts[line]) if line < len(self.texts) else 0
        return end
