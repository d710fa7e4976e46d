"""What every catalog must do; a test class inherits it and gives a fixture `catalog`, empty and open.

class TestMyCatalog(CatalogSuite):
    @pytest.fixture
    def catalog(self): ...
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ..errors import InvalidInput
from ..identity import chunk_ids, content_hash
from ..ports import Catalog, Description, Fingerprint
from ..types import Block, Chunk, Page, Section

Written = tuple[Page, str, Sequence[Chunk]]

NOON = "2025-12-14T12:00:00Z"
LATER = "2025-12-14T12:00:01.000250Z"
HOSTILE = [
    "'; DROP TABLE documents; --",
    'a "quoted" %s %(name)s :name ? $1 {} \\x00 \\',
    "𝔘𝔫𝔦 🤖 e\u0301 \u202eabc \ufeff\uffff",
    "line\r\nbreak\u2028\t\x01\x7f",
    " ",
]


def written(name: str, texts: Sequence[str], *, title: str = "Nodes", created_at: str = NOON) -> Written:
    """Make a page of paragraphs, a chunk each, as a sync would commit it."""
    text = "\n\n".join(texts)
    blocks, at = [], 0
    for each in texts:
        blocks.append(Block("prose", at, at + len(each)))
        at += len(each) + 2
    sections = (Section(("Basics", "Nodes & topics"), "nodes", tuple(blocks)), Section((), "", ()))
    page = Page(name, f"https://x.org/{name}", title, f"docs/{name}.md", name, "docs", text, sections)
    chunks = [
        Chunk(
            chunk_id=chunk_id,
            document_id=page.document_id,
            url=page.url,
            anchor="nodes",
            title=page.title,
            section="Basics › Nodes & topics",
            position=position,
            start=block.start,
            end=block.end,
            text=each,
            content_hash=content_hash(each),
            source_path=page.source_path,
            slug=page.slug,
            source_type=page.source_type,
            created_at=created_at,
        )
        for position, (chunk_id, each, block) in enumerate(
            zip(chunk_ids(name, texts), texts, blocks, strict=True)
        )
    ]
    return page, content_hash(text), chunks


_name = st.sampled_from(["a", "b", "c", "d"])
_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
_time = st.datetimes().map(lambda time: time.isoformat() + "Z")
_page = st.builds(
    lambda name, texts, title, created_at: written(name, texts, title=title, created_at=created_at),
    _name,
    st.lists(_text, max_size=5),
    _text,
    _time,
)
_commits = st.lists(
    st.tuples(st.lists(_page, max_size=3, unique_by=lambda item: item[0].document_id), st.lists(_name)),
    max_size=4,
)


class CatalogSuite:
    """The behaviour that the rest of Pertinent relies on."""

    def test_an_empty_catalog_knows_nothing(self, catalog: Catalog) -> None:
        assert catalog.pages() == []
        assert catalog.pages("s") == []
        assert catalog.page("a") is None
        assert catalog.chunks("a") == []
        assert catalog.chunk("a-1") is None
        assert catalog.describe([]) == catalog.describe(["a-1"]) == {}
        assert catalog.pending() == []
        assert dict(catalog.sources()) == {}
        assert catalog.fingerprint() is None
        catalog.ping()

    def test_a_page_and_its_chunks_come_back_equal(self, catalog: Catalog) -> None:
        page, page_hash, chunks = written("a", ["one", "two", "one"], created_at=LATER)
        catalog.commit("s", [(page, page_hash, chunks)])
        assert catalog.page("a") == page
        assert catalog.chunks("a") == chunks
        assert [catalog.chunk(chunk.chunk_id) for chunk in chunks] == chunks
        (record,) = catalog.pages()
        assert (record.document_id, record.url, record.title) == ("a", page.url, page.title)
        assert (record.source, record.source_path) == ("s", page.source_path)
        assert (record.page_hash, record.chunks) == (page_hash, 3)

    def test_a_changed_page_replaces_its_chunks_and_keeps_the_age_of_those_that_stay(
        self, catalog: Catalog
    ) -> None:
        catalog.commit("s", [written("a", ["one", "two"]), written("b", ["one"])])
        page, page_hash, chunks = written("a", ["new", "two"], title="Other", created_at=LATER)
        catalog.commit("s", [(page, page_hash, chunks)])
        assert catalog.chunks("a") == [chunks[0], replace(chunks[1], created_at=NOON)]
        assert catalog.page("a") == page
        assert len(catalog.chunks("b")) == 1

    def test_a_removed_page_takes_its_chunks_along(self, catalog: Catalog) -> None:
        gone, stays = written("a", ["one", "two"]), written("b", ["one"])
        catalog.commit("s", [gone, stays])
        catalog.commit("s", [], removed=["a", "never there"])
        assert [record.document_id for record in catalog.pages()] == ["b"]
        assert catalog.describe([chunk.chunk_id for chunk in gone[2]]) == {}
        assert catalog.chunks("b") == stays[2]

    def test_a_page_may_have_no_chunks(self, catalog: Catalog) -> None:
        catalog.commit("s", [written("a", ["one"])])
        catalog.commit("s", [written("a", [])])
        assert [record.chunks for record in catalog.pages()] == [0]
        assert catalog.chunks("a") == []

    def test_pages_are_listed_by_source_and_path(self, catalog: Catalog) -> None:
        catalog.commit("t", [written("a", ["one"])])
        catalog.commit("s", [written(name, ["one"]) for name in ("c", "B", "b")])
        assert [record.document_id for record in catalog.pages()] == ["B", "b", "c", "a"]
        assert [record.document_id for record in catalog.pages("t")] == ["a"]

    def test_pending_notes_end_with_the_commit_of_their_page(self, catalog: Catalog) -> None:
        catalog.begin(iter(["a", "b", "c"]))
        catalog.begin(["b"])
        catalog.begin([])
        assert catalog.pending() == ["a", "b", "c"]
        catalog.commit("s", [written("a", ["one"])], removed=["b"])
        assert catalog.pending() == ["c"]

    def test_describe_takes_any_number_of_ids(self, catalog: Catalog) -> None:
        page, page_hash, chunks = written("a", [str(number) for number in range(300)])
        catalog.commit("s", [(page, page_hash, chunks)])
        asked = [chunk.chunk_id for chunk in chunks] + [f"missing-{number}" for number in range(70_000)]
        expected = Description(page.source_path, page.slug, page.title)
        assert catalog.describe(asked) == {chunk.chunk_id: expected for chunk in chunks}

    def test_a_long_title_is_cut_where_the_column_is_narrow_and_whole_elsewhere(
        self, catalog: Catalog
    ) -> None:
        page, page_hash, chunks = written("a", ["one"], title="title " * 100)
        catalog.commit("s", [(page, page_hash, chunks)])
        title = catalog.describe([chunks[0].chunk_id])[chunks[0].chunk_id].title
        assert title is not None
        assert len(title) <= 255
        assert title.endswith("…")
        assert catalog.chunks("a") == chunks
        assert catalog.page("a") == page

    def test_sources_and_fingerprint_are_remembered(self, catalog: Catalog) -> None:
        catalog.register("handbook", "/old")
        catalog.register("handbook", "/new")
        catalog.register("beir", "/corpus")
        assert dict(catalog.sources()) == {"handbook": "/new", "beir": "/corpus"}
        for dimension in (384, 1024):
            fingerprint = Fingerprint("local:m", dimension, "1", "bm25 k1=1.2 b=0.5")
            catalog.set_fingerprint(fingerprint)
            assert catalog.fingerprint() == fingerprint

    @pytest.mark.parametrize("text", HOSTILE)
    def test_hostile_strings_are_only_text(self, catalog: Catalog, text: str) -> None:
        page, page_hash, chunks = written("a", [text, "x" + text], title=text)
        catalog.begin([text])
        catalog.commit(text, [(page, page_hash, chunks)])
        catalog.register(text, text)
        assert catalog.page("a") == page
        assert catalog.chunks("a") == chunks
        assert len(catalog.pages(text)) == 1
        assert catalog.pending() == [text]
        assert dict(catalog.sources()) == {text: text}
        assert catalog.page(text) is None
        assert catalog.chunk(text) is None
        assert catalog.describe([text]) == {}

    @pytest.mark.parametrize("text", ["nul \0 here", "lone \ud800 surrogate"])
    def test_text_that_no_database_keeps_is_refused_by_name(self, catalog: Catalog, text: str) -> None:
        page, page_hash, chunks = written("a", ["one"])
        bad = [
            (replace(page, text=text), page_hash, []),
            (replace(page, sections=(Section((text,), "", ()),)), page_hash, []),
            (page, page_hash, [replace(chunks[0], text=text)]),
        ]
        for each, field in zip(bad, ("text", "sections", "snippet"), strict=True):
            with pytest.raises(InvalidInput, match=field):
                catalog.commit("s", [written("b", ["fine"]), each])
        with pytest.raises(InvalidInput, match="document_id"):
            catalog.begin(["fine", text])
        with pytest.raises(InvalidInput, match="location"):
            catalog.register("s", text)
        assert catalog.pages() == []
        assert catalog.pending() == []
        assert catalog.page(text) is None
        assert catalog.chunk(text) is None
        assert catalog.describe([text]) == {}
        assert catalog.chunks(text) == []
        assert catalog.pages(text) == []

    def test_a_commit_that_contradicts_itself_is_refused_whole(self, catalog: Catalog) -> None:
        page, page_hash, chunks = written("a", ["one"])
        for bad, field in [
            (replace(chunks[0], chunk_id="x" * 51), "chunk_id"),
            (replace(chunks[0], title="of another page"), "title"),
            (replace(chunks[0], created_at="yesterday"), "created_at"),
            (replace(chunks[0], created_at="2025-12-14T12:00:00+02:00"), "created_at"),
        ]:
            with pytest.raises(InvalidInput, match=field):
                catalog.commit("s", [(page, page_hash, [bad])])
        with pytest.raises(InvalidInput, match="chunk_id"):
            catalog.commit("s", [(page, page_hash, [*chunks, *chunks])])
        with pytest.raises(InvalidInput, match="document_id"):
            catalog.commit("s", [(page, page_hash, chunks), (page, page_hash, [])])
        with pytest.raises(InvalidInput, match="slug"):
            catalog.commit(
                "s", [(replace(page, slug="s" * 101), page_hash, [replace(chunks[0], slug="s" * 101)])]
            )
        assert catalog.pages() == []

    @given(commits=_commits)
    @settings(
        max_examples=40,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    def test_whatever_was_committed_is_given_back(
        self, catalog: Catalog, commits: list[tuple[list[Written], list[str]]]
    ) -> None:
        catalog.commit("s", [], [record.document_id for record in catalog.pages()])
        pages: dict[str, Written] = {}
        for items, names in commits:
            removed = [name for name in names if name not in {page.document_id for page, _, _ in items}]
            catalog.commit("s", items, removed)
            for name in removed:
                pages.pop(name, None)
            for page, page_hash, chunks in items:
                known = {chunk.chunk_id: chunk for chunk in pages.get(page.document_id, (page, "", []))[2]}
                aged = [
                    replace(chunk, created_at=known.get(chunk.chunk_id, chunk).created_at) for chunk in chunks
                ]
                pages[page.document_id] = (page, page_hash, aged)
            assert {
                record.document_id: (
                    catalog.page(record.document_id),
                    record.page_hash,
                    catalog.chunks(record.document_id),
                )
                for record in catalog.pages()
            } == pages

    def test_a_build_is_known_as_begun_until_it_is_taken(self, catalog: Catalog) -> None:
        first = Fingerprint("one", 8, "chunker", "lexical")
        second = replace(first, embedder="two", build=2)
        assert catalog.building() is None
        catalog.set_fingerprint(first)
        catalog.begin_build(replace(second, build=7))
        catalog.begin_build(second)
        assert (catalog.building(), catalog.fingerprint(), catalog.previous()) == (second, first, None)
        catalog.activate_build(second, [("s", written("a", ["one"]))])
        assert (catalog.building(), catalog.fingerprint(), catalog.previous()) == (None, second, first)
        # Another process took the same build too: the way back stays.
        catalog.activate_build(second, [])
        assert catalog.previous() == first

    def test_it_has_one_id_whoever_asks(self, catalog: Catalog) -> None:
        with ThreadPoolExecutor(8) as pool:
            found = set(pool.map(lambda _: catalog.catalog_id(), range(8)))
        assert len(found) == 1
        assert found != {""}

    def test_fifty_threads_read_whole_pages_while_one_writes(self, catalog: Catalog) -> None:
        versions = [written("a", [f"{version} {number}" for number in range(10)]) for version in range(2)]
        fixed = written("b", [str(number) for number in range(5)])
        ids = [chunk.chunk_id for chunk in fixed[2]]
        catalog.commit("s", [versions[0], fixed])
        done = Event()

        def read(_: int) -> int:
            rounds = 0
            while not (done.wait(0.01) and rounds):
                assert [chunk.text for chunk in catalog.chunks("a")] in (
                    [chunk.text for chunk in chunks] for _, _, chunks in versions
                )
                assert catalog.page("a") in [page for page, _, _ in versions]
                assert len(catalog.describe(ids)) == 5
                rounds += 1
            return rounds

        with ThreadPoolExecutor(50) as pool:
            readers = [pool.submit(read, number) for number in range(50)]
            try:
                for number in range(20):
                    catalog.begin(["a"])
                    catalog.commit("s", [versions[number % 2]])
            finally:
                done.set()
            assert all(reader.result() for reader in readers)
