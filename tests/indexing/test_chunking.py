"""Chunks: exact slices, along the page's structure, never larger than the embedder accepts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pertinent import identity
from pertinent.embedders.local import LocalEmbedder
from pertinent.indexing.chunking import MAX_CHARACTERS, chunk_page, context, embedded_text
from pertinent.sources.normal_form import BlockPiece, HeadingPiece, Piece, assemble
from pertinent.testing.embedder import HashedWords
from pertinent.testing.pages import page
from pertinent.types import Chunk, Page

COUNT = HashedWords().count_tokens

WORDS = st.text("abcdefg é漢。.!? \n\t`|", max_size=300)
PROSE = st.builds(BlockPiece, st.sampled_from(["prose", "item"]), WORDS)
CODE = st.builds(lambda text: BlockPiece("code", f"```py\n{text}\n```"), WORDS)
TABLE = st.builds(
    lambda rows: BlockPiece("table", "\n".join(f"| {row.strip()} |" for row in rows)),
    st.lists(st.text("abc d", max_size=30), min_size=1, max_size=40),
)
HEADINGS = st.builds(
    HeadingPiece, st.integers(1, 6), st.text("ABC d", min_size=1, max_size=40), st.text("ab-", max_size=8)
)
PIECES = st.lists(st.one_of(PROSE, CODE, TABLE, HEADINGS), max_size=25)


def make_page(pieces: Sequence[Piece], title: str = "A title") -> Page:
    text, sections = assemble(pieces, title)
    return Page("page-1", "https://a.example/b", title, "b.md", "b", "markdown-page", text, sections)


def chunks(document: Page, target: int = 40, most: int = 60) -> list[Chunk]:
    return chunk_page(document, COUNT, target=target, most=most)


@given(PIECES)
@settings(max_examples=300)
def test_chunk_is_an_exact_slice_of_its_page(pieces: list[Piece]) -> None:
    document = make_page(pieces)
    for chunk in chunks(document):
        assert chunk.text == document.text[chunk.start : chunk.end]
        assert chunk.content_hash == identity.content_hash(chunk.text)


@given(PIECES)
@settings(max_examples=300)
def test_each_character_is_in_exactly_one_chunk(pieces: list[Piece]) -> None:
    document = make_page(pieces)
    covered = [0] * len(document.text)
    for chunk in chunks(document):
        for position in range(chunk.start, chunk.end):
            covered[position] += 1
    assert all(count <= 1 for count in covered)
    for section in document.sections:
        for block in section.blocks:
            for position in range(block.start, block.end):
                assert covered[position] or document.text[position].isspace()


@given(PIECES)
@settings(max_examples=200)
def test_chunk_positions_start_at_zero_and_ids_are_unique(pieces: list[Piece]) -> None:
    result = chunks(make_page(pieces))
    assert [chunk.position for chunk in result] == list(range(len(result)))
    assert len({chunk.chunk_id for chunk in result}) == len(result)
    assert all(len(chunk.chunk_id) <= 50 for chunk in result)


@given(PIECES)
@settings(max_examples=200)
def test_chunk_with_its_context_fits_the_embedder(pieces: list[Piece]) -> None:
    document = make_page(pieces)
    for chunk in chunk_page(document, COUNT, target=40, most=200):
        assert COUNT([embedded_text(chunk)])[0] <= 200
        assert 0 < len(chunk.text) <= MAX_CHARACTERS < 2000


@given(PIECES)
@settings(max_examples=100)
def test_chunk_never_crosses_a_heading(pieces: list[Piece]) -> None:
    document = make_page(pieces)
    spans = [(s.blocks[0].start, s.blocks[-1].end) for s in document.sections]
    for chunk in chunks(document):
        assert any(start <= chunk.start and chunk.end <= end for start, end in spans)


@given(PIECES)
@settings(max_examples=50)
def test_chunking_is_deterministic(pieces: list[Piece]) -> None:
    assert chunks(make_page(pieces)) == chunks(make_page(pieces))


@given(st.lists(st.one_of(CODE, TABLE, HEADINGS, PROSE), max_size=15))
@settings(max_examples=200)
def test_code_and_tables_that_fit_are_not_split(pieces: list[Piece]) -> None:
    document = make_page(pieces)
    result = chunk_page(document, COUNT, target=40, most=200)
    for section in document.sections:
        room = 200 - COUNT([context(document.title, " › ".join(section.path))])[0]
        for block in section.blocks:
            text = document.text[block.start : block.end]
            if COUNT([text])[0] - 2 <= room and len(text) <= MAX_CHARACTERS:
                assert any(c.start <= block.start and block.end <= c.end for c in result)


def test_long_code_fence_is_split_between_lines() -> None:
    lines = [f"line_{n} = call({n})" for n in range(200)]
    document = page("code", {"Long": ["```py\n" + "\n".join(lines) + "\n```"]})
    for chunk in chunks(document):
        assert all(line in [*lines, "```py", "```"] for line in chunk.text.split("\n"))


def test_long_table_is_split_between_rows() -> None:
    rows = [f"| row {n} | value {n} |" for n in range(100)]
    document = make_page([BlockPiece("table", "\n".join(rows))])
    for chunk in chunks(document):
        assert all(row in rows for row in chunk.text.split("\n"))


def test_long_prose_is_split_between_sentences() -> None:
    sentences = [f"This is sentence number {n} of many." for n in range(60)]
    for chunk in chunks(page("prose", {"": " ".join(sentences)})):
        assert chunk.text.startswith("This is")
        assert chunk.text.endswith("many.")


def test_endless_word_is_split_between_characters() -> None:
    document = page("blob", {"": "x" * 10_000})
    result = chunks(document)
    assert "".join(chunk.text for chunk in result) == document.text
    assert all(len(chunk.text) < 2000 for chunk in result)


def test_small_paragraph_joins_its_neighbour() -> None:
    body = " ".join(["word"] * 38)
    (only,) = chunks(page("small", {"": ["For example:", body]}), target=40, most=80)
    assert only.text == f"For example:\n\n{body}"


def test_title_of_a_listing_stays_with_its_code() -> None:
    body = " ".join(["word"] * 38)
    code = "```py\n" + "\n".join(f"call({n})" for n in range(8)) + "\n```"
    first, second = chunks(page("listing", {"": [body, "robot/urdf.xml", code]}), target=40, most=60)
    assert first.text == body
    assert second.text == f"robot/urdf.xml\n\n{code}"


def test_title_of_a_note_stays_with_its_text() -> None:
    body, note = " ".join(["word"] * 38), " ".join(["note"] * 20) + "."
    first, second = chunks(page("note", {"": [body, "How to tell", note]}), target=40, most=60)
    assert (first.text, second.text) == (body, f"How to tell\n\n{note}")


def test_chunk_has_title_heading_path_and_anchor() -> None:
    pieces: list[Piece] = [
        HeadingPiece(1, "A title", ""),
        HeadingPiece(2, "Outer", "outer"),
        HeadingPiece(3, "Inner", "inner"),
        BlockPiece("prose", "Text."),
        HeadingPiece(2, "Next", "next"),
        BlockPiece("prose", "More."),
    ]
    first, second = chunks(make_page(pieces))
    assert (first.title, first.section, first.anchor) == ("A title", "Outer › Inner", "inner")
    assert first.citation == "https://a.example/b#inner"
    assert first.breadcrumb == "A title › Outer › Inner"
    assert (second.section, second.anchor) == ("Next", "next")


def test_embedded_text_adds_title_and_section_to_the_stored_text() -> None:
    (chunk,) = chunks(page("joints", {"Limits": "A joint has limits."}, title="Joints"))
    assert embedded_text(chunk) == "Joints › Limits\n\nA joint has limits."
    assert chunk.text == "A joint has limits."


@given(st.text(max_size=400), st.text(max_size=400))
def test_context_is_short_and_keeps_the_nearest_heading(title: str, section: str) -> None:
    line = context(title, section)
    assert len(line) <= 181
    assert line.endswith((section or title)[-59:])


def test_chunk_fits_by_a_tokenizer_that_counts_white_space() -> None:
    def count(texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + text.count("\n") + 2 for text in texts]

    document = page("spaced", {"": ["one two three"] * 40})
    for chunk in chunk_page(document, count, target=60, most=64):
        assert count([embedded_text(chunk)])[0] <= 64


def test_long_cjk_title_leaves_room_for_the_text() -> None:
    document = page("signs", {"節" * 300: "word " * 100}, title="漢" * 300)
    result = chunk_page(document, COUNT, target=60, most=128)
    assert len(result) <= 4


def test_empty_page_has_no_chunks() -> None:
    assert chunks(page("empty", {})) == []


@pytest.fixture(scope="module")
def minilm() -> LocalEmbedder:
    return LocalEmbedder.load_minilm()


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=600), max_size=5))
@settings(max_examples=60)
def test_chunk_is_not_truncated_by_minilm(minilm: LocalEmbedder, texts: list[str]) -> None:
    pieces: list[Piece] = [HeadingPiece(2, "漢字" * 60, "x")]
    pieces += [BlockPiece("prose", text) for text in texts]
    document = make_page(pieces)
    for chunk in chunk_page(document, minilm.count_tokens, target=200, most=minilm.max_tokens):
        assert minilm.count_tokens([embedded_text(chunk)])[0] <= minilm.max_tokens
