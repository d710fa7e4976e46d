"""Chunks: exact slices, along the page's structure, never larger than the embedder accepts."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pertinent import identity
from pertinent.embedders.local import LocalEmbedder
from pertinent.indexing.chunking import FEW_WORDS, MAX_CHARACTERS, chunk_page, context, embedded_text
from pertinent.sources.normal_form import BlockPiece, HeadingPiece, Piece, assemble
from pertinent.testing.embedder import HashedWords
from pertinent.testing.pages import page
from pertinent.types import Chunk, FrontMatter, Page

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
        assert COUNT([embedded_text(chunk)])[0] <= 200 or "```" in chunk.text
        assert 0 < len(chunk.text) <= MAX_CHARACTERS < 2000


@given(PIECES)
@settings(max_examples=100)
def test_chunk_has_the_text_of_several_sections_only_if_one_has_few_words(pieces: list[Piece]) -> None:
    document = make_page(pieces)
    spans = [(s.blocks[0].start, s.blocks[-1].end) for s in document.sections]
    for chunk in chunks(document):
        lengths = [end - start for start, end in spans if max(start, chunk.start) < min(end, chunk.end)]
        assert len(lengths) == 1 or min(lengths) < FEW_WORDS


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


def test_code_block_is_whole_beyond_the_window_of_the_embedder() -> None:
    code = "```py\n" + "\n".join(f"call_{n}(one, two, three)" for n in range(50)) + "\n```"
    _, second = chunks(page("code", {"": ["word " * 30 + "end.", "app.py", code]}), target=40, most=60)
    assert second.text == f"app.py\n\n{code}"
    assert COUNT([second.text])[0] > 60


def test_part_of_a_long_code_block_can_be_understood() -> None:
    functions = [f"def f{n}():\n" + f"    call({n})\n" * 40 + f"    return {n}" for n in range(20)]
    document = make_page([BlockPiece("code", "```py\n" + "\n\n".join(functions) + "\n```")])
    parts = [chunk.text for chunk in chunks(document, target=200, most=256)]
    assert "\n\n".join(parts) == document.text
    for text in parts:
        assert COUNT([text])[0] >= 200 / 3
        assert text.removeprefix("```py\n").startswith("def f")
        assert text.removesuffix("\n```").splitlines()[-1].startswith("    return")


def test_a_few_words_join_their_neighbour_in_the_section() -> None:
    long = " ".join(["word"] * 55) + "."
    result = chunks(page("words", {"Long": [long, "Required."]}), target=40, most=60)
    assert [chunk.text for chunk in result] == [f"{long}\n\nRequired."]


def test_a_few_words_take_the_last_paragraph_above_them() -> None:
    first, second = (" ".join([word] * 17) + "." for word in ("first", "second"))
    few = "Required on Android and iOS, too."
    result = chunks(page("words", {"Long": [first, second, few]}), target=40, most=48)
    assert [chunk.text for chunk in result] == [first, f"{second}\n\n{few}"]


def test_section_of_a_few_words_begins_at_its_heading() -> None:
    pieces: list[Piece] = [
        HeadingPiece(1, "A title", ""),
        BlockPiece("prose", "word " * 30 + "end."),
        HeadingPiece(3, "Empty", "empty"),
        HeadingPiece(2, "Configuration of the robot's joints", "configuration"),
        HeadingPiece(3, "The format of the feed", "feed"),
        BlockPiece("code", "```ts\ntype Feed = string;\n```"),
    ]
    _, feed = chunks(make_page(pieces), target=200, most=256)
    assert feed.text.startswith(
        "## Configuration of the robot's joints\n\n### The format of the feed\n\n```ts"
    )
    assert feed.citation == "https://a.example/b#feed"


def test_few_words_above_a_subsection_join_it() -> None:
    long = " ".join(["word"] * 30) + "."
    pieces: list[Piece] = [
        HeadingPiece(2, "Commands", "commands"),
        BlockPiece("prose", "All commands:"),
        HeadingPiece(3, "start", "start"),
        BlockPiece("prose", long),
        HeadingPiece(3, "restart", "restart"),
        BlockPiece("prose", long),
        HeadingPiece(3, "stop", "stop"),
        BlockPiece("prose", "Stops it."),
    ]
    start, _, stop = chunks(make_page(pieces), target=60, most=80)
    assert start.text == f"## Commands\n\nAll commands:\n\n### start\n\n{long}"
    assert (start.section, start.anchor) == ("Commands › start", "start")
    assert (stop.text, stop.anchor) == ("### stop\n\nStops it.", "stop")


def test_sections_of_a_few_words_join_each_other() -> None:
    pieces: list[Piece] = []
    for name in ("one", "two"):
        pieces += [HeadingPiece(2, name, name), BlockPiece("prose", "word " * 20 + "end.")]
    for name in ("android", "ios"):
        pieces += [HeadingPiece(2, name, name), BlockPiece("prose", "Required.")]
    *_, last = chunks(make_page(pieces))
    assert last.text == "## android\n\nRequired.\n\n## ios\n\nRequired."
    assert (last.section, last.anchor) == ("android", "android")


def test_short_entries_of_a_glossary_are_chunks_of_their_own() -> None:
    pieces: list[Piece] = []
    for name in ("joint", "link", "node"):
        pieces += [HeadingPiece(2, name, name), BlockPiece("prose", f"What a {name} is.")]
    result = chunks(make_page(pieces))
    assert [chunk.text for chunk in result] == [f"What a {name} is." for name in ("joint", "link", "node")]


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


@pytest.mark.parametrize("text", ["x" * 50_000, "word " * 10_000, "A sentence. " * 5_000])
def test_tokens_of_a_huge_paragraph_are_not_counted_at_once(text: str) -> None:
    counted: list[str] = []

    def count(texts: Sequence[str]) -> list[int]:
        counted.extend(texts)
        return COUNT(texts)

    chunk_page(page("blob", {"": text}), count, target=40, most=60)
    assert max(map(len, counted)) <= MAX_CHARACTERS


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
    text = (
        "A joint has limits, which are given in radians for one that turns and in metres for one that slides."
    )
    (chunk,) = chunks(page("joints", {"Limits": text}, title="Joints"))
    assert embedded_text(chunk) == f"Joints › Limits\n\n{text}"
    assert chunk.text == text


def test_front_matter_is_embedded_with_the_first_chunk_only() -> None:
    text = (
        "A joint has limits, which are given in radians for one that turns and in metres for one that slides."
    )
    plain = page("joints", {"Limits": text, "Types": text}, title="Joints")
    front_matter = FrontMatter("How far it turns.", ("hinge", "axis"), ("mechanics",), "Joint limits")
    first, second = chunks(replace(plain, front_matter=front_matter))
    described = "Joint limits · How far it turns. · hinge, axis · mechanics"
    assert embedded_text(first, front_matter) == f"Joints › Limits\n\n{described}\n\n{text}"
    assert embedded_text(second, front_matter) == f"Joints › Types\n\n{text}"
    assert [first, second] == chunks(plain)  # ids, spans, texts and hashes


def test_endless_front_matter_is_cut() -> None:
    (chunk,) = chunks(page("joints", {"": "A joint turns."}, title="Joints"))
    text = embedded_text(chunk, FrontMatter("word " * 10_000))
    assert text.endswith("\n\nA joint turns.")
    assert len(text) < 600


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


def test_very_long_word_is_cut_in_little_memory() -> None:
    word = "0123456789" * 5_000
    document = page("guide/data", {"Data": word})

    def count(texts: Sequence[str]) -> list[int]:
        return [len(text) // 4 + 1 for text in texts]

    tracemalloc.start()
    try:
        result = list(chunk_page(document, count, target=60, most=128))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 * len(word)
    assert "".join(chunk.text for chunk in result).count("0123456789") > 4_000
    assert all(document.text[chunk.start : chunk.end] == chunk.text for chunk in result)
