"""Formulas of built pages, as the TeX that they were written in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


def formula(node: LexborNode) -> tuple[str, bool]:
    """A formula between dollar signs, and whether it stands by itself; without its TeX, its plain text."""
    math = node if node.tag == "math" else node.css_first("math")
    shown = math.attributes if math is not None else {}
    source = node.css_first("annotation")
    tex = (source.text() if source is not None else shown.get("alttext") or "").strip()
    if not tex:
        return node.text(), False
    return (f"$$ {tex} $$", True) if shown.get("display") == "block" else (f"${tex}$", False)
