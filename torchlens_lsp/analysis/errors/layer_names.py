"""What a module of the model is called in its source, and where it was made."""

from __future__ import annotations

from typing import NamedTuple

from ...document.index import DocumentIndex
from ...document.model import NONE, Range


class Layer(NamedTuple):
    """A module of the model as its source has it."""

    name: str
    """As written: `self.head`; else the module's address, or its class."""
    uri: str
    range: Range


def made(address: str, index: DocumentIndex) -> Layer | None:
    """The module of that address, where it was made; None where that is unknown."""
    document = index.document
    module = next((module for module in document.modules if module.address == address), None)
    if module is None or module.site == NONE:
        return None
    file = document.files[index.file_index(module.site)]
    names = [row.targets[0].name for row in file.statements if row.value == module.site and len(row.targets) == 1]
    name = names[0] if names else address or f"the {module.type}"
    return Layer(name, file.uri, index.site(module.site).range)
