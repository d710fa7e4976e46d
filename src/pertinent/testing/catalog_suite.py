"""The suite that every catalog must pass; a test class inherits it, with an empty catalog as a fixture.

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
from ..ports import Catalog, Description, Fingerprint, PageWrite
from ..types import SECTION_SEPARATOR, Block, Chunk, CommitIds, FrontMatter, Page, Section

NOON = "2025-12-14T12:00:00Z"
LATER = "2025-12-14T12:00:01.000250Z"
HOSTILE = [
    "'; DROP TABLE documents; --",
    'a "quoted" %s %(name)s :name ? $1 {} \\x00 \\',
    "𝔘𝔫𝔦 🤖 e\u0301 \u202eabc \ufeff\uffff",
    "line\r\nbreak\u2028\t\x01\x7f",
    " ",
]


BASICS = ("Basics", "Nodes & topics")
NO_FRONT_MATTER = FrontMatter()
FRONT_MATTER = FrontMatter("About useNodes", ("ros", "topics"), ("robots",), "Nodes")


def page_write(
    name: str,
    texts: Sequence[str],
    *,
    title: str = "Nodes",
    created_at: str = NOON,
    path: tuple[str, ...] = BASICS,
    front_matter: FrontMatter = NO_FRONT_MATTER,
) -> PageWrite:
    """Create a page of paragraphs in one section, one chunk each, as a sync commits it."""
    text = "\n\n".join(texts)
    blocks, start = [], 0
    for paragraph in texts:
        blocks.append(Block("prose", start, start + len(paragraph)))
        start += len(paragraph) + 2
    sections = (Section(path, "nodes", tuple(blocks)), Section((), "", ()))
    source_path = f"docs/{name}.md"
    url = f"https://x.org/{name}"
    page = Page(name, url, title, source_path, name, "docs", text, sections, front_matter)
    chunks = [
        Chunk(
            chunk_id=chunk_id,
            document_id=page.document_id,
            url=page.url,
            anchor="nodes",
            title=page.title,
            section=SECTION_SEPARATOR.join(path),
            position=position,
            start=block.start,
            end=block.end,
            text=paragraph,
            content_hash=content_hash(paragraph),
            source_path=page.source_path,
            slug=page.slug,
            source_type=page.source_type,
            created_at=created_at,
        )
        for position, (chunk_id, paragraph, block) in enumerate(
            zip(chunk_ids(name, texts), texts, blocks, strict=True)
        )
    ]
    return PageWrite(page, content_hash(text), chunks)


_name = st.sampled_from(["a", "b", "c", "d"])
_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
_time = st.datetimes().map(lambda time: time.isoformat() + "Z")
_page = st.builds(
    lambda name, texts, title, created_at, front_matter: page_write(
        name, texts, title=title, created_at=created_at, front_matter=front_matter
    ),
    _name,
    st.lists(_text, max_size=5),
    _text,
    _time,
    st.sampled_from([NO_FRONT_MATTER, FRONT_MATTER]),
)
_commits = st.lists(
    st.tuples(st.lists(_page, max_size=3, unique_by=lambda write: write.page.document_id), st.lists(_name)),
    max_size=4,
)


def require(page: Page | None) -> Page:
    """Return the page; fail if there is none."""
    assert page is not None
    return page


class CatalogSuite:
    """The behaviour of a catalog."""

    def test_empty_catalog_has_no_pages_and_no_fingerprint(self, catalog: Catalog) -> None:
        assert catalog.is_empty()
        assert not catalog.has_chunks()
        assert catalog.pages() == []
        assert catalog.pages("s") == []
        assert catalog.page_record("a") is None
        assert catalog.page("a") is None
        assert catalog.chunks("a") == []
        assert catalog.chunk("a-1") is None
        assert catalog.describe([]) == catalog.describe(["a-1"]) == {}
        assert catalog.pending() == []
        assert dict(catalog.sources()) == {}
        assert catalog.fingerprint() is None
        assert catalog.provenance() == {}
        catalog.ping()

    def test_committed_page_and_chunks_are_read_back_equal(self, catalog: Catalog) -> None:
        write = page_write("a", ["one", "two", "one"], created_at=LATER)
        page, chunks = write.page, list(write.chunks)
        catalog.commit("s", [write])
        assert catalog.page("a") == page
        assert catalog.chunks("a") == chunks
        assert [catalog.chunk(chunk.chunk_id) for chunk in chunks] == chunks
        (record,) = catalog.pages()
        assert catalog.page_record("a") == record
        assert (catalog.is_empty(), catalog.has_chunks()) == (False, True)
        assert (record.document_id, record.url, record.title) == ("a", page.url, page.title)
        assert (record.source, record.source_path) == ("s", page.source_path)
        assert (record.page_hash, record.chunks) == (write.page_hash, 3)

    def test_changed_page_replaces_chunks_and_keeps_created_at_of_unchanged_ones(
        self, catalog: Catalog
    ) -> None:
        catalog.commit("s", [page_write("a", ["one", "two"]), page_write("b", ["one"])])
        write = page_write("a", ["new", "two"], title="Other", created_at=LATER)
        page, chunks = write.page, list(write.chunks)
        catalog.commit("s", [write])
        assert catalog.chunks("a") == [chunks[0], replace(chunks[1], created_at=NOON)]
        assert catalog.page("a") == page
        assert len(catalog.chunks("b")) == 1

    def test_removing_a_page_deletes_its_chunks(self, catalog: Catalog) -> None:
        gone, stays = page_write("a", ["one", "two"]), page_write("b", ["one"])
        catalog.commit("s", [gone, stays])
        catalog.commit("s", [], removed=["a", "never there"])
        assert [record.document_id for record in catalog.pages()] == ["b"]
        assert catalog.describe([chunk.chunk_id for chunk in gone.chunks]) == {}
        assert catalog.chunks("b") == stays.chunks

    def test_page_may_have_no_chunks(self, catalog: Catalog) -> None:
        catalog.commit("s", [page_write("a", ["one"])])
        catalog.commit("s", [page_write("a", [])])
        assert [record.chunks for record in catalog.pages()] == [0]
        assert (catalog.is_empty(), catalog.has_chunks()) == (False, False)
        assert catalog.chunks("a") == []

    def test_pages_are_listed_by_source_and_path(self, catalog: Catalog) -> None:
        catalog.commit("t", [page_write("a", ["one"])])
        catalog.commit("s", [page_write(name, ["one"]) for name in ("c", "B", "b")])
        assert [record.document_id for record in catalog.pages()] == ["B", "b", "c", "a"]
        assert [record.document_id for record in catalog.pages("t")] == ["a"]

    def test_commit_clears_the_pending_marks_of_its_pages(self, catalog: Catalog) -> None:
        catalog.begin(iter(["a", "b", "c"]))
        catalog.begin(["b"])
        catalog.begin([])
        assert catalog.pending() == ["a", "b", "c"]
        catalog.commit("s", [page_write("a", ["one"])], removed=["b"])
        assert catalog.pending() == ["c"]

    def test_describe_takes_any_number_of_ids(self, catalog: Catalog) -> None:
        write = page_write("a", [str(number) for number in range(300)])
        page, chunks = write.page, list(write.chunks)
        catalog.commit("s", [write])
        ids = [chunk.chunk_id for chunk in chunks] + [f"missing-{number}" for number in range(70_000)]
        expected = Description(page.source_path, page.slug, page.title)
        assert catalog.describe(ids) == {chunk.chunk_id: expected for chunk in chunks}

    def test_long_title_is_truncated_only_where_the_column_is_narrow(self, catalog: Catalog) -> None:
        write = page_write("a", ["one"], title="title " * 100)
        page, chunks = write.page, list(write.chunks)
        catalog.commit("s", [write])
        title = catalog.describe([chunks[0].chunk_id])[chunks[0].chunk_id].title
        assert title is not None
        assert len(title) <= 255
        assert title.endswith("…")
        assert catalog.chunks("a") == chunks
        assert catalog.page("a") == page

    def test_sources_and_fingerprint_are_stored(self, catalog: Catalog) -> None:
        catalog.register("handbook", "/old")
        catalog.register("handbook", "/new")
        catalog.register("beir", "/corpus")
        assert dict(catalog.sources()) == {"handbook": "/new", "beir": "/corpus"}
        for dimension in (384, 1024):
            fingerprint = Fingerprint("local:m", dimension, "1", "bm25 k1=1.2 b=0.5")
            catalog.set_fingerprint(fingerprint)
            assert catalog.fingerprint() == fingerprint
            assert catalog.provenance()["dimension"] == str(dimension)

    @pytest.mark.parametrize("text", HOSTILE)
    def test_hostile_strings_are_stored_as_text(self, catalog: Catalog, text: str) -> None:
        write = page_write("a", [text, "x" + text], title=text)
        page, chunks = write.page, list(write.chunks)
        catalog.begin([text])
        catalog.commit(text, [write])
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
    def test_unstorable_text_is_refused_with_its_field(self, catalog: Catalog, text: str) -> None:
        write = page_write("a", ["one"])
        page, chunks = write.page, list(write.chunks)
        bad = [
            PageWrite(replace(page, text=text), "", []),
            PageWrite(replace(page, sections=(Section((text,), "", ()),)), "", []),
            PageWrite(page, "", [replace(chunks[0], text=text)]),
        ]
        for unstorable, field in zip(bad, ("text", "sections", "snippet"), strict=True):
            with pytest.raises(InvalidInput, match=field):
                catalog.commit("s", [page_write("b", ["fine"]), unstorable])
        with pytest.raises(InvalidInput, match="document_id"):
            catalog.begin(["fine", text])
        with pytest.raises(InvalidInput, match="location"):
            catalog.register("s", text)
        assert catalog.pages() == []
        assert catalog.pending() == []
        assert catalog.page_record(text) is None
        assert catalog.page(text) is None
        assert catalog.chunk(text) is None
        assert catalog.describe([text]) == {}
        assert catalog.chunks(text) == []
        assert catalog.pages(text) == []

    def test_inconsistent_commit_is_refused_as_a_whole(self, catalog: Catalog) -> None:
        write = page_write("a", ["one"])
        page, chunks = write.page, list(write.chunks)
        for bad, field in [
            (replace(chunks[0], chunk_id="x" * 51), "chunk_id"),
            (replace(chunks[0], title="of another page"), "title"),
            (replace(chunks[0], created_at="yesterday"), "created_at"),
            (replace(chunks[0], created_at="2025-12-14T12:00:00+02:00"), "created_at"),
        ]:
            with pytest.raises(InvalidInput, match=field):
                catalog.commit("s", [replace(write, chunks=[bad])])
        with pytest.raises(InvalidInput, match="chunk_id"):
            catalog.commit("s", [replace(write, chunks=[*chunks, *chunks])])
        with pytest.raises(InvalidInput, match="document_id"):
            catalog.commit("s", [write, replace(write, chunks=[])])
        long_slug = "s" * 101
        with pytest.raises(InvalidInput, match="slug"):
            catalog.commit(
                "s", [PageWrite(replace(page, slug=long_slug), "", [replace(chunks[0], slug=long_slug)])]
            )
        assert catalog.pages() == []

    @given(commits=_commits)
    @settings(
        max_examples=40,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    def test_any_commits_are_read_back_equal(
        self, catalog: Catalog, commits: list[tuple[list[PageWrite], list[str]]]
    ) -> None:
        catalog.commit("s", [], [record.document_id for record in catalog.pages()])
        expected: dict[str, PageWrite] = {}
        for writes, names in commits:
            removed = [name for name in names if name not in {write.page.document_id for write in writes}]
            catalog.commit("s", writes, removed)
            for name in removed:
                expected.pop(name, None)
            for write in writes:
                existing = expected.get(write.page.document_id)
                created = {
                    chunk.chunk_id: chunk.created_at for chunk in (existing.chunks if existing else ())
                }
                aged = [
                    replace(chunk, created_at=created.get(chunk.chunk_id, chunk.created_at))
                    for chunk in write.chunks
                ]
                expected[write.page.document_id] = replace(write, chunks=aged)
            assert {
                record.document_id: PageWrite(
                    require(catalog.page(record.document_id)),
                    record.page_hash,
                    catalog.chunks(record.document_id),
                )
                for record in catalog.pages()
            } == expected

    def test_last_begun_build_stays_recorded(self, catalog: Catalog) -> None:
        first = Fingerprint("one", 8, "chunker", "lexical")
        second = replace(first, embedder="two", build=2)
        assert catalog.last_begun_build() is None
        catalog.set_fingerprint(first)
        catalog.begin_build(replace(second, build=7))
        catalog.begin_build(second)
        assert catalog.last_begun_build() == second
        assert (catalog.fingerprint(), catalog.previous()) == (first, None)
        catalog.activate_build(second, [("s", page_write("a", ["one"]))])
        assert (catalog.fingerprint(), catalog.previous()) == (second, first)
        # Another process activated the same build too: the previous one is still known.
        catalog.activate_build(second, [])
        assert catalog.previous() == first
        catalog.activate_build(first, [])
        catalog.forget_previous()
        assert catalog.last_begun_build() == second

    def test_announced_commit_is_the_last_one_when_it_is_made(self, catalog: Catalog) -> None:
        assert catalog.commits() == CommitIds("", ())
        last, first = catalog.announce_commit()
        assert (last, catalog.commits()) == ("", CommitIds("", (first,)))
        catalog.commit("docs", [page_write("a", ["one"])])
        assert catalog.commits() == CommitIds(first, ())
        _, not_made = catalog.announce_commit()
        last, second = catalog.announce_commit()
        assert (last, catalog.commits()) == (first, CommitIds(first, (not_made, second)))
        catalog.activate_build(Fingerprint("one", 8, "chunker", "lexical"), [])
        assert catalog.commits() == CommitIds(second, ())

    def test_catalog_id_is_the_same_for_all_threads(self, catalog: Catalog) -> None:
        with ThreadPoolExecutor(8) as pool:
            ids = set(pool.map(lambda _: catalog.catalog_id(), range(8)))
        assert len(ids) == 1
        assert ids != {""}

    def test_fifty_threads_read_consistent_pages_while_one_writes(self, catalog: Catalog) -> None:
        versions = [page_write("a", [f"{letter} {number}" for number in range(10)]) for letter in "xy"]
        fixed = page_write("b", [str(number) for number in range(5)])
        ids = [chunk.chunk_id for chunk in fixed.chunks]
        catalog.commit("s", [versions[0], fixed])
        done = Event()

        def read(_: int) -> int:
            rounds = 0
            while not (done.wait(0.01) and rounds):
                assert [chunk.text for chunk in catalog.chunks("a")] in (
                    [chunk.text for chunk in version.chunks] for version in versions
                )
                assert catalog.page("a") in [version.page for version in versions]
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
