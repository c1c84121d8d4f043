r"""Positions in source text: from the compiler's (line, UTF-8 byte) to LSP's (line, UTF-16 code unit).

Lines end at `\n`, `\r\n` and `\r` alone, as Python's tokenizer and LSP have it (not at form feeds and the like).
"""

from __future__ import annotations

import ast
import re

from ..document.model import Range

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def split_lines(text: str) -> list[str]:
    """The lines of `text` with their ends, the last one possibly empty."""
    lines = _LINE.findall(text)
    # At the very end the pattern matches the empty string once more, which is a line only after a line end.
    if len(lines) > 1 and not lines[-1] and not lines[-2].endswith(("\r", "\n")):
        lines.pop()
    return lines


def utf16_length(text: str) -> int:
    """Length of `text` in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class SourceText:
    """The text of one file with its lines, for conversions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = split_lines(text)
        self._ascii = [line.isascii() for line in self.lines]

    def character(self, line: int, byte: int) -> int:
        """UTF-16 character of UTF-8 offset `byte` in 0-based `line`."""
        if self._ascii[line]:
            return byte
        return utf16_length(self.lines[line].encode("utf-8", "surrogatepass")[:byte].decode("utf-8", "replace"))

    def position(self, lineno: int, col_offset: int) -> tuple[int, int]:
        """LSP position of the compiler's 1-based `lineno` and UTF-8 `col_offset`."""
        return lineno - 1, self.character(lineno - 1, col_offset)

    def range(self, node: ast.expr | ast.stmt | ast.arg | ast.pattern | ast.ExceptHandler) -> Range:
        """Range of a node of the tree that was parsed from this text."""
        end_lineno, end_col = node.end_lineno, node.end_col_offset
        assert end_lineno is not None and end_col is not None
        return Range(*self.position(node.lineno, node.col_offset), *self.position(end_lineno, end_col))

    def segment(self, node: ast.expr | ast.arg | ast.pattern) -> str:
        """Source text of a node, as written."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        first, last = node.lineno - 1, node.end_lineno - 1
        if first == last:
            return self._slice(first, node.col_offset, node.end_col_offset)
        parts = [self._slice(first, node.col_offset, None), *self.lines[first + 1 : last]]
        return "".join([*parts, self._slice(last, 0, node.end_col_offset)])

    def _slice(self, line: int, start: int, end: int | None) -> str:
        text = self.lines[line]
        if self._ascii[line]:
            return text[start:end]
        return text.encode("utf-8", "surrogatepass")[start:end].decode("utf-8", "replace")

    def header_end(self, start: tuple[int, int], body: tuple[int, int]) -> tuple[int, int]:
        """Where the header of a compound statement ends: after the last colon before its body.

        `start` and `body` are LSP positions of the statement and of the first statement of its body. Comments between
        the two may hold colons, so lines are scanned backwards from the body and stripped of their comments.
        """
        for line in range(body[0], start[0] - 1, -1):
            text = self.lines[line]
            if line == body[0]:
                text = self._before(line, body[1])
            code = _strip_comment(text).rstrip()
            if code.endswith(":"):
                return line, utf16_length(code)
        return body

    def _before(self, line: int, character: int) -> str:
        text = self.lines[line]
        if self._ascii[line]:
            return text[:character]
        return text.encode("utf-16-le", "surrogatepass")[: character * 2].decode("utf-16-le", "replace")


def _strip_comment(line: str) -> str:
    """`line` up to a `#` that stands outside of quotes; enough for the last line of a statement's header."""
    quote = ""
    index = 0
    while index < len(line):
        char = line[index]
        if quote:
            if char == "\\":
                index += 1
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif char == "#":
            return line[:index]
        index += 1
    return line
