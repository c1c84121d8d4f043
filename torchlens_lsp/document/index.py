"""Look-ups that every reader of a trace document needs, built once for each document.

The document's columns are in the order of the run; readers ask by site, by call and by function. The index answers
each such question in constant time and never copies the document: rows are positions in the document's own columns.
It reads a document and changes nothing. An index of a document that is changed afterwards is stale.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from .model import NONE, Document, Site
from .values import CONTAINER, TENSOR

_NOTHING: Sequence[int] = ()


class DocumentIndex:
    """Look-ups over one document. Every method takes NONE for an index and answers with nothing."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._sites: list[Site] = []
        self._files = array("i")
        for index, file in enumerate(document.files):
            self._sites.extend(file.sites)
            self._files.extend([index] * len(file.sites))
        sites = len(self._sites)
        self._rows = _group(document.evaluations.site, sites)
        self._branch_rows = _group(document.branches.site, sites)
        self._loop_rows = _group(document.loops.site, sites)

    # Sites

    def __len__(self) -> int:
        """The number of sites."""
        return len(self._sites)

    def site(self, site: int) -> Site:
        """The site of a global site number. Raises IndexError where there is no such site."""
        if site < 0:
            raise IndexError(f"no file holds site {site}")
        return self._sites[site]

    def file_index(self, site: int) -> int:
        """Index of the file that holds a global site number. Raises IndexError where there is no such site."""
        if site < 0:
            raise IndexError(f"no file holds site {site}")
        return self._files[site]

    # Events by site: row numbers of `document.evaluations`, `.branches` and `.loops`, in the order of the run

    def rows_of(self, site: int) -> Sequence[int]:
        """Rows of `document.evaluations` that belong to an evaluation site."""
        return self._rows[site] if site >= 0 else _NOTHING

    def branch_rows_of(self, site: int) -> Sequence[int]:
        """Rows of `document.branches` that belong to a test."""
        return self._branch_rows[site] if site >= 0 else _NOTHING

    def loop_rows_of(self, site: int) -> Sequence[int]:
        """Rows of `document.loops` that belong to a loop."""
        return self._loop_rows[site] if site >= 0 else _NOTHING

    # Calls

    def calls_of(self, file: int, function: int) -> Sequence[int]:
        """The calls of one function of one file, in order."""
        return self._calls.get((file, function), _NOTHING)

    def children_of(self, call: int) -> Sequence[int]:
        """The watched calls that came directly from a call, in order; of NONE, the outermost calls."""
        return self._children[call + 1]

    def parents_of(self, call: int) -> Iterator[int]:
        """The calls around a call, innermost first, without the call itself."""
        calls = self.document.calls
        while call != NONE and (call := calls[call].parent) != NONE:
            yield call

    def rows_in(self, call: int) -> Sequence[int]:
        """Rows of `document.evaluations` that happened in a call itself (not in calls below it)."""
        return self._rows_by_call[call] if call >= 0 else _NOTHING

    def branch_rows_in(self, call: int) -> Sequence[int]:
        """Rows of `document.branches` that happened in a call itself."""
        return self._branch_rows_by_call[call] if call >= 0 else _NOTHING

    def loop_rows_in(self, call: int) -> Sequence[int]:
        """Rows of `document.loops` that happened in a call itself."""
        return self._loop_rows_by_call[call] if call >= 0 else _NOTHING

    # Values

    def signature(self, value_id: int) -> int:
        """A number that two values share exactly if they look the same in a hint; NONE for no value.

        Tensors: same shape, dtype and device, whatever their statistics, gradient, layout and class. Containers: same
        kind, keys, true length and signatures of the items. Anything else: same type and text. The number means
        something within this index alone.
        """
        return self._signatures[value_id] if value_id >= 0 else NONE

    @property
    def signatures(self) -> Sequence[int]:
        """What `signature` says of every value, by value id: for readers that go over all of them."""
        return self._signatures

    @cached_property
    def _calls(self) -> dict[tuple[int, int], list[int]]:
        found: dict[tuple[int, int], list[int]] = {}
        for index, call in enumerate(self.document.calls):
            found.setdefault((call.file, call.function), []).append(index)
        return found

    @cached_property
    def _children(self) -> list[list[int]]:
        return _group((call.parent + 1 for call in self.document.calls), len(self.document.calls) + 1)

    @cached_property
    def _rows_by_call(self) -> list[list[int]]:
        return _group(self.document.evaluations.call, len(self.document.calls))

    @cached_property
    def _branch_rows_by_call(self) -> list[list[int]]:
        return _group(self.document.branches.call, len(self.document.calls))

    @cached_property
    def _loop_rows_by_call(self) -> list[list[int]]:
        return _group(self.document.loops.call, len(self.document.calls))

    @cached_property
    def _signatures(self) -> array[int]:
        values = self.document.values
        known: dict[object, int] = {}

        def number(structure: object) -> int:
            return known.setdefault(structure, len(known))

        metas = [number(("tensor", meta.shape, meta.dtype, meta.device)) for meta in values.metas]
        others = [number(("other", *other)) for other in values.others]
        found = array("i")
        for kind, ref in zip(values.kind, values.ref, strict=True):
            if kind == TENSOR:
                found.append(metas[ref])
            elif kind == CONTAINER:
                # A container's items come before it in the table, so theirs are known.
                container = values.containers[ref]
                items = tuple(found[item] for item in container.items)
                found.append(number((container.kind, container.keys, items, container.length)))
            else:
                found.append(others[ref])
        return found


def _group(keys: Iterable[int], size: int) -> list[list[int]]:
    """Positions by key, for keys in `0 … size - 1`; events of no key (NONE) are in no group."""
    groups: list[list[int]] = [[] for _ in range(size)]
    for position, key in enumerate(keys):
        if key >= 0:
            groups[key].append(position)
    return groups
