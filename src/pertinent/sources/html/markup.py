"""What an element of a page means to its reader: the words in which a site's markup is told apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ..normal_form import BlockPiece

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

Attributes = Mapping[str, str | None]


class Meaning(Enum):
    """What is to be done with an element; most are no more than their tag."""

    PLAIN = "read it by its tag"
    OUT = "leave it out, and all that is in it"
    CODE = "a code block"
    MATH = "a formula"
    LABEL = "the heading of an admonition"
    TABS = "tabs, the labels first"
    PANEL = "what stands under a tab"


@dataclass(frozen=True, slots=True)
class Markup:
    """How a kind of site writes its pages."""

    telling: frozenset[str]
    """The tags of elements that may mean more than their tag."""
    meaning: Callable[[str, Attributes], Meaning]
    """What such an element means, by its tag and attributes."""
    labels: Callable[[LexborNode], list[str]]
    """What the tabs of a container of tabs say, in order."""
    anchor: Callable[[LexborNode], str]
    """The fragment under which a heading is found, "" where there is none."""
    code: Callable[[LexborNode], list[BlockPiece]]
    """The blocks of a code block."""
