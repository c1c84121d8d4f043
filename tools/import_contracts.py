"""A contract for import-linter: one package may import what its list allows, and nothing else.

import-linter's own contracts forbid what they list. The invariants of ARCHITECTURE.md are stronger: `analysis` is
pure because *everything* but the standard library and `document` is out of reach, the package that somebody adds
next year included. Hence a list of what is allowed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

STANDARD_LIBRARY = "<stdlib>"
"""Stands in `allowed` for every module of the standard library."""


class AllowedImportsContract(Contract):
    """No module of `importer` imports anything outside `importer` and `allowed`.

    Options:
        importer: the package that is restricted.
        allowed: names of packages, ours or others', and `<stdlib>`. A package of ours stands for all of its modules
            (the root of all, which is in every module's name, for itself alone).
        as_package: false restricts the module `importer` alone, not what lies in it (true unless said).
    """

    type_name = "allowed_imports"

    importer = fields.StringField()
    allowed = fields.SetField(subfield=fields.StringField())
    as_package = fields.BooleanField(required=False, default=True)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Hold every direct import of the package against the list."""
        importer = str(self.importer)
        allowed = {str(name) for name in self.allowed}  # type: ignore[attr-defined]
        if importer not in graph.modules:
            raise ValueError(f"module {importer!r} does not exist")
        restricted = {importer} | (graph.find_descendants(importer) if self.as_package else set())
        forbidden = [
            detail
            for module in sorted(restricted)
            for imported in sorted(graph.find_modules_directly_imported_by(module) - restricted)
            if not _is_allowed(imported, allowed, set(self.session_options["root_packages"]))
            for detail in graph.get_import_details(importer=module, imported=imported)
        ]
        return ContractCheck(kept=not forbidden, metadata={"forbidden": forbidden})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print one line for each import that is not allowed."""
        forbidden: Iterable[dict[str, Any]] = check.metadata["forbidden"]
        for detail in forbidden:
            output.print_error(
                f"{detail['importer']} may not import {detail['imported']} (line {detail['line_number']}): "
                f"{detail['line_contents'].strip()}"
            )


def _is_allowed(module: str, allowed: set[str], roots: set[str]) -> bool:
    """Whether `module` or a package that it lies in is in the list."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names and top not in roots:
        return STANDARD_LIBRARY in allowed
    if module in allowed:
        return True
    parents = [module[:i] for i, character in enumerate(module) if character == "."]
    return any(parent in allowed and parent not in roots for parent in parents)
