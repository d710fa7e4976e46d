"""The suite for the vocabulary and the section names of a catalog; see `catalog_suite`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ..errors import InvalidInput
from ..ports import Catalog, CatalogReader, Fingerprint, PageWrite
from ..search.word_counts import count_words
from ..types import Chunk, SectionName, Vocabulary, WordCounts
from .catalog_suite import FRONT_MATTER, NO_FRONT_MATTER, page_write, require

_page_name = st.sampled_from(["a", "b", "c", "d"])
_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
_heading = st.text(st.sampled_from("aB-9_. éß"), max_size=8)
_worded_page = st.builds(
    lambda name, texts, title, path, front_matter: page_write(
        name, texts, title=title, path=path, front_matter=front_matter
    ),
    _page_name,
    st.lists(st.one_of(_text, st.sampled_from(["useNodes", "use nodes", "x" * 65])), max_size=4),
    st.sampled_from(["Nodes", "Use nodes", "", "use_nodes"]),
    st.tuples(_heading, _heading),
    st.sampled_from([NO_FRONT_MATTER, FRONT_MATTER]),
)
_worded_commits = st.lists(
    st.tuples(
        st.booleans(),
        st.lists(_worded_page, max_size=3, unique_by=lambda write: write.page.document_id),
        st.lists(_page_name, max_size=2),
    ),
    max_size=6,
)


def recount(catalog: CatalogReader) -> Vocabulary:
    """Count the words of all pages from scratch."""
    chunks = [chunk for record in catalog.pages() for chunk in catalog.chunks(record.document_id)]
    titles = {record.document_id: record.title for record in catalog.pages()}

    def searched_text(chunk: Chunk) -> str:
        front_matter = require(catalog.page(chunk.document_id)).front_matter
        return f"{front_matter.text_above(chunk.position)} {chunk.text}"

    passages = ((chunk.document_id, chunk.section, searched_text(chunk)) for chunk in chunks)
    return Vocabulary(count_words(titles, passages), len(chunks))


class VocabularySuite:
    """The behaviour of a catalog's vocabulary."""

    def test_empty_catalog_has_no_words_and_no_names(self, catalog: Catalog) -> None:
        assert catalog.vocabulary() == Vocabulary({}, 0)
        assert catalog.section_names() == []

    def test_vocabulary_counts_pages_sections_and_chunks(self, catalog: Catalog) -> None:
        long_word = "x" * 64
        catalog.commit(
            "s",
            [
                page_write(
                    "a", ["A node sends.", "Two: node, NODE."], title="Node", path=("Node", "Sending")
                ),
                page_write("b", [f"useNode {long_word} {long_word}x"], title="Topics", path=("Node",)),
                page_write("c", [], title="Node"),
            ],
        )
        vocabulary = catalog.vocabulary()
        assert vocabulary.chunks == 3
        assert vocabulary.words == {
            "node": WordCounts(titles=2, headings=1, texts=3),
            "sending": WordCounts(titles=0, headings=1, texts=2),
            "topics": WordCounts(titles=1, headings=0, texts=1),
            "usenode": WordCounts(titles=0, headings=0, texts=1),
            **dict.fromkeys(["a", "sends", "two", "use", long_word], WordCounts(0, 0, 1)),
        }

    def test_vocabulary_follows_changed_and_removed_pages(self, catalog: Catalog) -> None:
        catalog.commit("s", [page_write("a", ["red", "blue"]), page_write("b", ["red"])])
        assert catalog.vocabulary().words["nodes"] == WordCounts(titles=2, headings=2, texts=3)
        catalog.commit("s", [page_write("a", ["green"], title="Colours")])
        words = catalog.vocabulary().words
        assert words["nodes"] == WordCounts(titles=1, headings=2, texts=2)
        assert words["red"] == words["green"] == WordCounts(0, 0, 1)
        assert words["colours"] == WordCounts(1, 0, 1)
        assert "blue" not in words
        catalog.commit("s", [], removed=["a", "never there"])
        assert catalog.vocabulary().words.keys() == {"red", "nodes", "basics", "topics"}
        catalog.commit("s", [page_write("b", [])])
        assert catalog.vocabulary() == Vocabulary({"nodes": WordCounts(1, 0, 0)}, 0)
        catalog.commit("s", [], removed=["b"])
        assert catalog.vocabulary() == Vocabulary({}, 0)

    def test_front_matter_is_counted_with_the_first_chunk(self, catalog: Catalog) -> None:
        catalog.commit("s", [page_write("a", ["red", "blue robots"], front_matter=FRONT_MATTER)])
        words = catalog.vocabulary().words
        assert words["robots"] == WordCounts(titles=0, headings=0, texts=2)
        assert words["ros"] == words["about"] == words["usenodes"] == WordCounts(0, 0, 1)
        catalog.commit("s", [page_write("a", ["red", "blue robots"])])
        assert catalog.vocabulary().words["robots"] == WordCounts(0, 0, 1)
        assert "ros" not in catalog.vocabulary().words

    def test_activated_build_recounts_the_vocabulary(self, catalog: Catalog) -> None:
        fingerprint = Fingerprint("m", 8, "chunker", "lexical", build=2)
        catalog.commit("s", [page_write("a", ["red blue"]), page_write("b", ["red"])])
        catalog.activate_build(fingerprint, [("s", page_write("a", ["red", "green"]))])
        words = catalog.vocabulary().words
        assert (words["red"].texts, words["green"].texts) == (2, 1)
        assert "blue" not in words
        assert catalog.vocabulary() == recount(catalog)

    def test_refused_commit_leaves_the_vocabulary_unchanged(self, catalog: Catalog) -> None:
        catalog.commit("s", [page_write("a", ["red"])])
        before = catalog.vocabulary(), catalog.vocabulary_version()
        with pytest.raises(InvalidInput):
            catalog.commit("s", [page_write("a", ["green"]), page_write("b", ["nul \0"])])
        assert (catalog.vocabulary(), catalog.vocabulary_version()) == before

    def test_vocabulary_version_changes_with_the_pages(self, catalog: Catalog) -> None:
        fingerprint = Fingerprint("m", 8, "chunker", "lexical", build=2)
        versions = [catalog.vocabulary_version()]
        changes: list[Callable[[], None]] = [
            lambda: catalog.commit("s", [page_write("a", ["red"])]),
            lambda: catalog.commit("s", [page_write("a", ["red"], title="Other")]),
            lambda: catalog.commit("s", [], removed=["a"]),
            lambda: catalog.activate_build(fingerprint, [("s", page_write("a", ["red"]))]),
        ]
        for change in changes:
            change()
            versions.append(catalog.vocabulary_version())
        assert versions == sorted(set(versions))
        catalog.begin(["a"])
        catalog.register("s", "/docs")
        catalog.commit("s", [])
        assert catalog.vocabulary_version() == versions[-1]

    @given(commits=_worded_commits)
    @settings(
        max_examples=60,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    def test_vocabulary_after_any_changes_equals_a_recount(
        self, catalog: Catalog, commits: list[tuple[bool, list[PageWrite], list[str]]]
    ) -> None:
        catalog.commit("s", [], [record.document_id for record in catalog.pages()])
        assert catalog.vocabulary() == Vocabulary({}, 0)
        for activates, writes, removed in commits:
            if activates:
                build = Fingerprint("m", 8, "chunker", "lexical")
                catalog.activate_build(build, [("s", write) for write in writes])
            else:
                catalog.commit("s", writes, removed)
            assert catalog.vocabulary() == recount(catalog)

    def test_section_names_list_each_page_with_its_sections_in_order(self, catalog: Catalog) -> None:
        write = page_write("b", ["one", "two", "three", "four"], title="Nodes", path=("Zed",))
        sections = [("", ""), ("Zed", "zed"), ("Zed", "zed"), ("Zed › Ask", "ask")]
        chunks = [
            replace(chunk, section=section, anchor=anchor)
            for chunk, (section, anchor) in zip(write.chunks, sections, strict=True)
        ]
        catalog.commit("s", [replace(write, chunks=chunks), page_write("B", ["one"], title="Topics")])
        catalog.commit("s", [page_write("c", [], title="Empty")])
        assert catalog.section_names() == [
            SectionName("B", "https://x.org/B", "", "Topics", ""),
            SectionName("B", "https://x.org/B", "nodes", "Topics", "Basics › Nodes & topics"),
            SectionName("b", "https://x.org/b", "", "Nodes", ""),
            SectionName("b", "https://x.org/b", "zed", "Nodes", "Zed"),
            SectionName("b", "https://x.org/b", "ask", "Nodes", "Zed › Ask"),
            SectionName("c", "https://x.org/c", "", "Empty", ""),
        ]
