"""How the markup of a kind of site is read: the role of an element, beyond what its tag says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ..normal_form import BlockPiece

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

Attributes = Mapping[str, str | None]


class Role(Enum):
    """The role of an element; most elements are read by their tag."""

    BY_TAG = "read it by its tag"
    IGNORED = "skip it and all its content"
    CODE = "a code block"
    MATH = "a formula"
    ADMONITION = "a note, tip or warning"
    LABEL = "the title of an admonition"
    TABS = "tabs, the labels first"
    PANEL = "the content of a tab"


@dataclass(frozen=True, slots=True)
class Markup:
    """The markup of a kind of site."""

    tags: frozenset[str]
    """The tags of elements that may have a role of their own."""
    role: Callable[[str, Attributes], Role]
    """Gives the role of such an element from its tag and attributes."""
    tab_labels: Callable[[LexborNode], list[str]]
    """Gives the labels of a container of tabs, in order."""
    admonition_kind: Callable[[Attributes], str]
    """Gives the kind of an admonition, such as `note`; empty where it is unknown."""
    anchor: Callable[[LexborNode], str]
    """Gives the fragment of a heading; empty where it has none."""
    code: Callable[[LexborNode], list[BlockPiece]]
    """Gives the blocks of a code block."""
