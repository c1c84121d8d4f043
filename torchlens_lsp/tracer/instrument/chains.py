"""Method chains that are spread over several lines: each link is worth a hint of its own."""

from __future__ import annotations

import ast

from ...document.model import NONE
from .tables import Tables


def links_of(node: ast.expr | None) -> list[ast.expr]:
    """The expressions of a chain `a.b().c[0].d()`, outermost first; only the links, not what the chain starts from."""
    links: list[ast.expr] = []
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Attribute):
                break
            links.append(node)
            node = node.func.value
        else:
            links.append(node)
            node = node.value
    return links


def chain_sites(links: list[ast.expr], tables: Tables) -> tuple[int, ...]:
    """Sites of the last link on each line, first line first; empty where the chain stands on one line."""
    by_line: dict[int, int] = {}
    for link in links:
        site = tables.site_of(link)
        if site != NONE and link.end_lineno is not None:
            by_line.setdefault(link.end_lineno, site)
    return tuple(by_line[line] for line in sorted(by_line)) if len(by_line) > 1 else ()
