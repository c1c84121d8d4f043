r"""The examples that stand in a source file's comments: from text to recipes for runs.

A comment `# torchlens: CALL`, or `# torchlens[name]: CALL`, is an example; a call whose brackets are not closed goes
on in the comment lines directly below. Comments are found without parsing the file, because it may be half-typed, or
written for a newer Python than ours. Nothing is run, imported or read here: whether the names of a call exist shows
when it is run.

Ranges are LSP's: 0-based lines, UTF-16 characters; lines end at `\n`, `\r\n` and `\r` alone.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..document.model import Range
from ..document.request import ExampleSpec
from .lines import utf16_length

COMMENT = "comment"
"""The origin of the examples found here."""
DEFAULT_NAME = "default"
SYNTAX_ERROR, NOT_A_CALL, EMPTY, DUPLICATE_NAME, MISSING_COLON = (
    "SyntaxError",
    "NotACall",
    "EmptyExample",
    "DuplicateName",
    "MissingColon",
)
"""Kinds of faults, as a document's `error.type` names them; the first two are also the worker's."""

_A_CALL = "a call, such as `Net()(torch.randn(2, 3))`"

_LEXER = re.compile(
    r'''(?P<comment>\#[^\r\n]*)
    | (?P<long>"""|\'\'\')(?:[^\\]|\\.)*?(?:(?P<closed>(?P=long))|\Z)
    | (?P<short>["'])(?:(?!(?P=short))[^\\\r\n]|\\(?:\r\n|.))*(?:(?P=short))?''',
    re.DOTALL | re.VERBOSE,
)
_LINE_END = re.compile(r"\r\n|\r|\n")
_LONE_COMMENT = re.compile(r"(?<![^\r\n])[ \t\f]*(?P<comment>#[^\r\n]*)")
_MARK = re.compile(r"#+[ \t]*torchlens[ \t]*(?:\[(?P<name>[^\]]*)\])?[ \t]*:")
_ALMOST_A_MARK = re.compile(r"#+[ \t]*torchlens(?:[ \t]*\[[^\]]*\]|(?=[ \t]+[A-Za-z_][\w.]*\())")
_CONTINUED = re.compile(r"#+[ \t]*")
_NEWER_SYNTAX = re.compile(r"\b(?:[rb]?[ft]|[ft][rb])['\"]", re.IGNORECASE)
"""Strings with expressions in them: the one part of an expression whose syntax has changed since our oldest Python."""
_MAIN_GUARD = re.compile(
    r"""(?<![^\r\n])if\b(?=[^\r\n]*(?:
        \b__name__[ \t]*==[ \t]*(?P<after>["'])__main__(?P=after)
        | (?P<before>["'])__main__(?P=before)[ \t]*==[ \t]*__name__\b))""",
    re.VERBOSE,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class BrokenExample:
    """An example that cannot be run as it is written."""

    example: ExampleSpec
    """As far as it could be read."""
    kind: str
    message: str
    """What is wrong and what to do about it."""
    range: Range | None
    """The part that is wrong; None where it stands in no file."""


FoundExample = ExampleSpec | BrokenExample


def find_examples(text: str, uri: str | None = None) -> list[FoundExample]:
    """The examples in a file's comments, in the order of the file.

    Examples without a name are `default`, `default 2` and so on, names that are given by hand left out; a name that
    is given twice breaks the later example. `uri` is the file's, for the examples to say where they stand.
    """
    if "torchlens" not in text:
        return []
    lines = _Lines(text)
    comments = {comment.line: comment for comment in _comments(text, lines)}
    found: list[FoundExample] = []
    for comment in comments.values():
        example = _read(comment, comments)
        if example is not None:
            found.append(_with_uri(example, uri))
    return name_apart(found)


def name_apart(found: Sequence[FoundExample], taken: Iterable[str] = ()) -> list[FoundExample]:
    """The examples with a name of its own for each: see `find_examples`. `taken` are names that are used already."""
    used = set(taken)
    given = {spec_of(each).name for each in found}
    result: list[FoundExample] = []
    for each in found:
        spec = spec_of(each)
        if not spec.name:
            name = next(name for name in _default_names() if name not in used and name not in given)
            each = with_spec(each, replace(spec, name=name))
        elif spec.name in used and not isinstance(each, BrokenExample):
            message = f"another example is named `{spec.name}` already: each needs a name of its own"
            each = BrokenExample(spec, DUPLICATE_NAME, message, spec.range or Range(0, 0, 0, 0))
        used.add(spec_of(each).name)
        result.append(each)
    return result


def spec_of(found: FoundExample) -> ExampleSpec:
    """The recipe, as far as it could be read."""
    return found.example if isinstance(found, BrokenExample) else found


def with_spec(found: FoundExample, spec: ExampleSpec) -> FoundExample:
    """The same example, or the same fault, with another recipe."""
    return replace(found, example=spec) if isinstance(found, BrokenExample) else spec


def fault_of_call(call: str) -> tuple[str, str] | None:
    """Kind and message of what is wrong with an example's call for certain; None where only a run can tell.

    A call in syntax that is perhaps newer than our own Python is left to the interpreter that will run it.
    """
    if not call.strip():
        return EMPTY, f"there is nothing to run: write {_A_CALL}"
    brackets = _Brackets()
    for line, part in enumerate(_LINE_END.split(call)):
        brackets.feed(part, line)
    fault = brackets.fault or brackets.unclosed()
    if fault is not None:
        return SYNTAX_ERROR, fault.message
    return _fault_of_closed_call(call)


def has_main_block(text: str) -> bool:
    """Whether the file has an `if __name__ == "__main__":` at its top level."""
    guards = [match.start() for match in _MAIN_GUARD.finditer(text)]
    if not guards:
        return False
    inside = [match.span() for match in _LEXER.finditer(text)]
    return any(not any(start < guard < end for start, end in inside) for guard in guards)


# --- comments --------------------------------------------------------------------------------------------------------


class _Lines:
    """Positions in a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def place(self, offset: int) -> tuple[int, int, str]:
        """Line, UTF-16 character, and what stands before it on its line."""
        line = bisect_right(self._starts, offset) - 1
        before = self._text[self._starts[line] : offset]
        return line, utf16_length(before), before


@dataclass(frozen=True)
class _Comment:
    line: int
    character: int
    text: str
    is_alone: bool
    """Whether nothing else stands on its line."""

    def range(self, start: int = 0, end: int | None = None) -> Range:
        """Range of a part of the comment, given by the indices of a slice."""
        first = self.character + utf16_length(self.text[:start])
        return Range(self.line, first, self.line, first + utf16_length(self.text[start:end]))


def _comments(text: str, lines: _Lines) -> Iterator[_Comment]:
    matches: list[re.Match[str]] = []
    for match in _LEXER.finditer(text):
        if match["long"] and not match["closed"]:
            # Somewhere quotes do not match, and what is inside of a string cannot be told from what is outside.
            matches = list(_LONE_COMMENT.finditer(text))
            break
        if match["comment"]:
            matches.append(match)
    for match in matches:
        line, character, before = lines.place(match.start("comment"))
        yield _Comment(line, character, match["comment"].rstrip(), not before.strip())


# --- one example -----------------------------------------------------------------------------------------------------


def _read(comment: _Comment, comments: dict[int, _Comment]) -> FoundExample | None:
    """The example that begins in `comment`, if one does."""
    mark = _MARK.match(comment.text)
    if mark is None:
        return _almost(comment)
    parts, brackets = _parts(comment, mark.end(), comments)
    call = "\n".join(part.text for part in parts).strip()
    last = parts[-1].comment
    start, end = comment.range(), last.range()
    name = (mark["name"] or "").strip()
    spec = ExampleSpec(name=name, call=call, origin=COMMENT, range=Range(*start[:2], *end[2:]))
    fault = brackets.fault or (brackets.unclosed() if call else None)
    if fault is not None:
        part = parts[fault.line]
        where = part.comment.range(part.start + fault.index, part.start + fault.index + fault.length)
        return BrokenExample(spec, SYNTAX_ERROR, fault.message, where)
    known = _fault_of_closed_call(call)
    if known is not None:
        kind, message = known
        return BrokenExample(spec, kind, message, Range(*parts[0].range_of_text()[:2], *end[2:]) if call else start)
    return spec


@dataclass(frozen=True)
class _Part:
    """What one comment line has of an example's call."""

    comment: _Comment
    start: int
    """Index in the comment's text at which it begins."""

    @property
    def text(self) -> str:
        return self.comment.text[self.start :]

    def range_of_text(self) -> Range:
        return self.comment.range(self.start)


def _parts(comment: _Comment, start: int, comments: dict[int, _Comment]) -> tuple[list[_Part], _Brackets]:
    """The comment lines over which a call goes on, and the state of its brackets at the end."""
    brackets = _Brackets()
    text = comment.text
    parts = [_Part(comment, start + len(text[start:]) - len(text[start:].lstrip()))]
    brackets.feed(parts[0].text, 0)
    while brackets.is_open:
        following = comments.get(comment.line + len(parts))
        if following is None or not following.is_alone or _MARK.match(following.text):
            break
        mark = _CONTINUED.match(following.text)
        parts.append(_Part(following, mark.end() if mark else 0))
        brackets.feed(parts[-1].text, len(parts) - 1)
    return parts, brackets


def _almost(comment: _Comment) -> BrokenExample | None:
    match = _ALMOST_A_MARK.match(comment.text)
    if match is None:
        return None
    call = comment.text[match.end() :].strip()
    spec = ExampleSpec(name="", call=call, origin=COMMENT, range=comment.range())
    mark = comment.text[: match.end()].lstrip("# \t")
    return BrokenExample(
        spec, MISSING_COLON, f"a colon is missing: `# {mark}: {call or 'CALL'}`", comment.range(0, match.end())
    )


def _fault_of_closed_call(call: str) -> tuple[str, str] | None:
    if not call:
        return EMPTY, f"there is nothing to run: write {_A_CALL}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            node = ast.parse(call.strip(), "<example>", "eval").body
    except SyntaxError as error:
        if _NEWER_SYNTAX.search(call):
            return None
        return SYNTAX_ERROR, f"the example is no Python expression: {error.msg}; it has to be {_A_CALL}"
    except (ValueError, RecursionError, MemoryError) as error:
        return SYNTAX_ERROR, f"the example cannot be read: {error}"
    if not isinstance(node, ast.Call):
        return NOT_A_CALL, f"the example calls nothing: it has to be {_A_CALL}"
    return None


def _with_uri(found: FoundExample, uri: str | None) -> FoundExample:
    return with_spec(found, replace(spec_of(found), uri=uri))


def _default_names() -> Iterator[str]:
    yield DEFAULT_NAME
    number = 2
    while True:
        yield f"{DEFAULT_NAME} {number}"
        number += 1


# --- brackets --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Fault:
    message: str
    line: int
    index: int
    length: int = 1


class _Brackets:
    """Follows brackets and strings through the lines of an expression."""

    def __init__(self) -> None:
        self.fault: _Fault | None = None
        self._stack: list[tuple[str, int, int]] = []
        self._quote = ""
        self._quoted_at = (0, 0)

    @property
    def is_open(self) -> bool:
        """Whether the expression goes on in the next line."""
        return self.fault is None and bool(self._stack or self._quote)

    def unclosed(self) -> _Fault | None:
        """What is still open."""
        if self._quote:
            return _Fault(f"the string is never closed: {self._quote} is missing", *self._quoted_at, len(self._quote))
        if not self._stack:
            return None
        bracket, line, index = self._stack[-1]
        return _Fault(
            f"`{bracket}` is never closed: close it with `{_CLOSING[bracket]}`, or go on in the comment lines directly "
            "below",
            line,
            index,
        )

    def feed(self, text: str, line: int) -> None:
        """The next line; `line` is its number, for the places of faults."""
        index = 0
        while index < len(text) and self.fault is None:
            index += self._step(text, line, index)
        if len(self._quote) == 1 and self.fault is None:
            self.fault = self.unclosed()

    def _step(self, text: str, line: int, index: int) -> int:
        """Look at the character at `index`, and say how far to go on."""
        char = text[index]
        if self._quote:
            if char == "\\":
                return 2
            if text.startswith(self._quote, index):
                length = len(self._quote)
                self._quote = ""
                return length
        elif char in "\"'":
            self._quote = char * 3 if text.startswith(char * 3, index) else char
            self._quoted_at = (line, index)
            return len(self._quote)
        elif char == "#":
            return len(text) - index
        elif char in _CLOSING:
            self._stack.append((char, line, index))
        elif char in _CLOSING.values():
            if not self._stack:
                self.fault = _Fault(f"`{char}` closes nothing", line, index)
            elif _CLOSING[self._stack[-1][0]] != char:
                opened = self._stack[-1][0]
                self.fault = _Fault(
                    f"`{char}` cannot close `{opened}`: `{_CLOSING[opened]}` is missing before it", line, index
                )
            else:
                self._stack.pop()
        return 1
