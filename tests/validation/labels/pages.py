"""A small book with real chunks, and short ways to resolve a label on it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pertinent.indexing.chunking import chunk_page
from pertinent.testing.embedder import HashedWords
from pertinent.testing.pages import page
from pertinent.types import Chunk, Page
from pertinent.validation.golden.golden_set import GoldenQuery, GoldenSet, Label, Unit
from pertinent.validation.labels.resolve import ResolvedLabel, ResolvedQuery, resolve_labels
from pertinent.validation.target import PageView


def view(source: Page, target: int = 60, most: int = 256) -> PageView:
    """A page with the chunks that the real chunker cuts it into."""
    return PageView.from_page(
        source, chunk_page(source, HashedWords().count_tokens, target=target, most=most)
    )


def view_text(text: str | list[str], target: int = 60) -> PageView:
    """The page docs/x.md with this text."""
    return view(page("x", {"": text}), target)


def golden_set(*labels: Label, unit: Unit = "passage") -> GoldenSet:
    return GoldenSet(unit=unit, queries=(GoldenQuery(id="q", text="how?", labels=labels),))


def resolve_query(pages: Iterable[PageView], *labels: Label, unit: Unit = "passage") -> ResolvedQuery:
    return resolve_labels(golden_set(*labels, unit=unit), pages)["q"]


def resolve_label(pages: Iterable[PageView], unit: Unit = "passage", **fields: Any) -> ResolvedLabel:
    (label,) = resolve_query(pages, Label(**fields), unit=unit).labels
    return label


def text_at(label: ResolvedLabel, *pages: PageView) -> str:
    """The text that a label points at, in its first span."""
    (text,) = (page.text for page in pages if page.document_id == label.spans[0].document_id)
    return text[label.spans[0].start : label.spans[0].end]


def trimmed_span(chunk: Chunk) -> tuple[int, int]:
    """A chunk's span without white space at its ends; a list item may begin with its indent."""
    inner = chunk.text.strip()
    start = chunk.start + chunk.text.index(inner)
    return start, start + len(inner)


NODES = view(
    page(
        "nodes",
        {
            "": "Nodes are the processes of a robot.",
            "Starting": ["Start a node with `ros2 run`. It then waits.", "Press Ctrl-C to stop it."],
            "Limits": ["A node “may” fail – and restart.", "Press Ctrl-C to stop it."],
        },
    ),
    target=8,
)
TOPICS = view(page("topics", {"Queues": "A queue keeps the last ten messages.", "Limits": "None at all."}))
BOOK = [NODES, TOPICS]
REPEATED = "Press Ctrl-C to stop it."
FIRST, SECOND = NODES.text.find(REPEATED), NODES.text.rfind(REPEATED)
