"""What a rule finds out about an error, and the table that rules stand in."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ...document.model import Operand
from .facts import Facts, Named


@dataclass(frozen=True)
class WrongSize:
    """A size that did not fit: of which tensor and in which of its dimensions, counted from 0."""

    tensor: Named
    dimension: int

    @property
    def size(self) -> int | str:
        """The size itself."""
        return self.tensor.shape[self.dimension]


@dataclass(frozen=True)
class Finding:
    """An error in words, and what in it is worth tracing back."""

    summary: str
    sizes: tuple[WrongSize, ...] = ()
    """Sizes whose origin explains the error."""
    dtypes: tuple[Named, ...] = ()
    """Tensors whose dtype's origin explains the error."""
    made_for: str = ""
    """What the failed layer was made for: `128 features`."""
    value: Operand | None = None
    """A value that is not what was wanted (None, a tuple) and whose origin explains the error."""


Rule = Callable[[Facts, "re.Match[str]"], Finding | None]


@dataclass
class Rules:
    """Rules by what torch's or Python's message looks like, tried in order."""

    _rules: list[tuple[re.Pattern[str], Rule]] = field(default_factory=list)

    def __call__(self, pattern: str) -> Callable[[Rule], Rule]:
        """Add a rule for messages in which `pattern` is found."""

        def add(rule: Rule) -> Rule:
            self._rules.append((re.compile(pattern), rule))
            return rule

        return add

    def find(self, facts: Facts) -> Finding | None:
        """What the first rule that knows this error finds."""
        for pattern, rule in self._rules:
            match = pattern.search(facts.message)
            if match is not None and (finding := rule(facts, match)) is not None:
                return finding
        return None
