"""Labels by page, quote and span: they find their passage again however the pages are cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.testing.pages import page
from pertinent.types import Chunk
from pertinent.validation.golden.golden_set import Label
from pertinent.validation.labels.pinning import label_chunk, pin_labels
from pertinent.validation.target import PageView

from .pages import (
    BOOK,
    NODES,
    REPEATED,
    TOPICS,
    golden_set,
    resolve_label,
    resolve_query,
    text_at,
    trimmed_span,
    view,
    view_text,
)


def pin(chunk: Chunk, page: PageView, **fields: str) -> Label:
    golden = golden_set(Label.model_validate({"chunk": chunk.chunk_id, "grade": 1, **fields}))
    (label,) = pin_labels(golden, [page]).queries[0].labels
    return label


def test_pinned_label_has_the_words_and_not_the_id() -> None:
    chunk = TOPICS.chunks[0]
    assert pin(chunk, TOPICS, judge="ada", note="Why not") == Label(
        grade=1, page="docs/topics.md", quote="A queue keeps the last ten messages.",
        span=(chunk.start, chunk.end), judge="ada", note="Why not",
    )  # fmt: skip


def test_long_passage_is_pinned_by_its_ends() -> None:
    book = view_text(" ".join(f"w{n}" for n in range(100)), target=200)
    label = pin(book.chunks[0], book)
    assert label.quote == "w0 w1 w2 w3 w4 w5 w6 w7 … w92 w93 w94 w95 w96 w97 w98 w99"


def test_passages_with_the_same_ends_are_pinned_by_more_words() -> None:
    first, last = " ".join(f"w{n}" for n in range(10)), " ".join(f"w{n}" for n in range(90, 100))
    texts = [f"{first} {' '.join(f'{letter}{n}' for n in range(80))} {last}" for letter in "ab"]
    book = view(page("x", {"A": texts[0], "B": texts[1]}), target=200)
    for chunk in book.chunks:
        label = pin(chunk, book)
        assert label.quote is not None
        assert 30 < len(label.quote.split()) < 40
        resolved = resolve_label([book], page="docs/x.md", quote=label.quote)
        assert (resolved.status, text_at(resolved, book)) == ("exact", chunk.text)


def test_repeated_passage_is_pinned_by_span_and_section() -> None:
    repeated = [chunk for chunk in NODES.chunks if chunk.text == REPEATED]
    labels = [pin(chunk, NODES) for chunk in repeated]
    assert [label.anchor for label in labels] == ["starting", "limits"]
    headings = dict.fromkeys(chunk.section for chunk in NODES.chunks if chunk.section)
    sections = {name: [chunk.text for chunk in NODES.chunks if chunk.section == name] for name in headings}
    moved = view(page("nodes", {"": "Much was put in here. " * 9, **sections}), target=8)
    for chunk, label in zip(repeated, labels, strict=True):
        (resolved,) = resolve_query([moved], label).labels
        assert resolved.spans[0].start == chunk.start + len(moved.text) - len(NODES.text)


def test_only_labels_with_a_known_chunk_and_no_quote_are_pinned() -> None:
    chunk = NODES.chunks[0]
    labels = (
        Label(chunk=chunk.chunk_id, grade=2),
        Label(chunk="gone-1", grade=1),
        Label(page="docs/nodes.md", quote="It then waits.", grade=1),
        Label(chunk=chunk.chunk_id, page="docs/nodes.md", quote="It then waits.", grade=1),
    )
    pinned = pin_labels(golden_set(*labels), iter(BOOK))
    first, *following = pinned.queries[0].labels
    assert (first.chunk, first.quote) == (None, "Nodes are the processes of a robot.")
    assert tuple(following) == labels[1:]
    assert pin_labels(pinned, BOOK) == pinned


def test_label_chunk_quotes_what_was_shown() -> None:
    chunk = NODES.chunks[0]
    label = label_chunk(chunk, 2, judge="ada", note="yes")
    assert (label.page, label.quote, label.span) == ("docs/nodes.md", chunk.text, (chunk.start, chunk.end))
    assert (label.grade, label.judge, label.note, label.chunk) == (2, "ada", "yes", None)
    with pytest.raises(ValueError, match="less than or equal to 2"):
        label_chunk(chunk, 3)


def test_passage_without_words_is_labelled_by_its_id() -> None:
    book = view(page("x", {"": "…", "B": "Else."}))
    chunk = book.chunks[0]
    assert resolve_query([book], label_chunk(chunk, 0)).judgments == {chunk.chunk_id: 0}


def test_passage_without_a_path_is_labelled_by_its_document() -> None:
    chunks = tuple(replace(chunk, source_path="") for chunk in TOPICS.chunks)
    nameless = replace(TOPICS, source_path="", chunks=chunks)
    assert resolve_query([nameless], label_chunk(chunks[0], 1)).judgments == {chunks[0].chunk_id: 1}


words = st.lists(st.sampled_from(["a", "node", "stops.", "…", "Ends", "ß"]), min_size=1, max_size=60)
paragraphs = st.lists(words.map(" ".join), min_size=1, max_size=4)


@given(st.lists(paragraphs, min_size=1, max_size=4), st.integers(4, 60), st.integers(4, 60))
def test_any_passage_is_found_again(sections: list[list[str]], old_size: int, new_size: int) -> None:
    source = page("x", {f"Part {number}": texts for number, texts in enumerate(sections)})
    old, new = view(source, old_size), view(source, new_size)
    labelers: list[Callable[[Chunk], Label]] = [
        lambda chunk: label_chunk(chunk, 2),
        lambda chunk: pin(chunk, old),
    ]
    for create_label in labelers:
        for chunk in old.chunks:
            label = create_label(chunk)
            if label.quote is not None:
                (resolved,) = resolve_query([new], label).labels
                assert (resolved.status, resolved.spans[0][1:]) == ("exact", trimmed_span(chunk))
