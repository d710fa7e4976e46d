"""Labels on today's chunks: found by their words, whatever happened to the chunks or the page."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.indexing.chunking import chunk_page
from pertinent.sources import open_source
from pertinent.testing.embedder import HashedWords
from pertinent.testing.pages import page
from pertinent.types import Chunk, Page
from pertinent.validation.golden.golden_set import GoldenQuery, GoldenSet, Label, Unit
from pertinent.validation.labels.resolve import (
    Place,
    Resolved,
    ResolvedQuery,
    Wanted,
    label_for,
    pin,
    pinned,
    resolve,
)
from pertinent.validation.target import PageView

HANDBOOK = Path(__file__).parents[3] / "examples" / "handbook"
COUNT = HashedWords().count_tokens


def view(made: Page, target: int = 60, most: int = 256) -> PageView:
    """A page with the chunks that the real chunker makes of it."""
    chunks = tuple(chunk_page(made, COUNT, target=target, most=most))
    return PageView(made.document_id, made.url, made.title, made.source_path, made.text, chunks)


def golden(*labels: Label, unit: Unit = "passage") -> GoldenSet:
    return GoldenSet(unit=unit, queries=(GoldenQuery(id="q", text="how?", labels=labels),))


def resolve_query(pages: Iterable[PageView], *labels: Label, unit: Unit = "passage") -> ResolvedQuery:
    return resolve(golden(*labels, unit=unit), pages)["q"]


def resolve_label(pages: Iterable[PageView], unit: Unit = "passage", **fields: Any) -> Resolved:
    (found,) = resolve_query(pages, Label(**{"grade": 2, **fields}), unit=unit).labels
    return found


def at(found: Resolved, *pages: PageView) -> str:
    """The text that a label points at now."""
    (text,) = (one.text for one in pages if one.document_id == found.document_id)
    return text[found.start : found.end]


def letters(spans: Iterable[tuple[str, int, int]], pages: Iterable[PageView]) -> set[tuple[str, int]]:
    """Every character of the spans but white space, which may stand between two chunks."""
    texts = {one.document_id: one.text for one in pages}
    return {
        (name, place)
        for name, start, end in spans
        for place in range(start, end)
        if not texts[name][place].isspace()
    }


def words(chunk: Chunk) -> tuple[int, int]:
    """Where a chunk's first word begins and its last one ends; a list item may begin with its indent."""
    inner = chunk.text.strip()
    start = chunk.start + chunk.text.index(inner)
    return start, start + len(inner)


def wanted(query: ResolvedQuery) -> list[tuple[str, int, int]]:
    return [(one.document_id, one.start, one.end) for one in query.wanted]


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


class TestPages:
    @pytest.mark.parametrize(
        "name",
        [
            {"page": "docs/nodes.md"},
            {"page": NODES.document_id},
            {"url": "https://book.example/docs/nodes"},
            {"url": "HTTPS://Book.Example:443/docs/nodes/index.html"},
            {"url": "https://book.example/docs/nodes/"},
            {"page": "gone.md", "url": "https://book.example/docs/nodes"},
        ],
    )
    def test_a_page_is_found_by_any_of_its_names(self, name: dict[str, Any]) -> None:
        found = resolve_label(BOOK, **name)
        assert (found.status, found.document_id) == ("exact", NODES.document_id)
        assert found.chunk_ids == tuple(chunk.chunk_id for chunk in NODES.chunks)
        assert (found.start, found.end) == (0, len(NODES.text))

    def test_a_page_that_is_gone_is_lost(self) -> None:
        for field, name in (("page", "docs/old.md"), ("url", "https://book.example/docs/old")):
            (found,) = resolve_query(BOOK, Label.model_validate({field: name, "grade": 2})).labels
            assert (found.status, found.document_id, found.places) == ("lost", None, ())
            assert found.detail == "the page is gone"

    def test_a_page_without_text_is_lost_but_can_be_judged_as_a_page(self) -> None:
        empty = view(page("empty", {}))
        assert resolve_label([empty], page="docs/empty.md").detail == "the page has no text"
        assert resolve_label([empty], unit="page", page="docs/empty.md").status == "exact"

    def test_a_page_that_has_no_path_here_is_found_by_the_address_that_the_set_gives_it(self) -> None:
        """An index of the live site has other paths than the source."""
        knee, hip = (view(page(name, {"Hinge": f"A hinge of the {name} bends."})) for name in ("knee", "hip"))
        site = [replace(one, source_path=f"site/{one.title}") for one in (knee, hip)]
        asked = golden(Label(page="docs/hip.md", anchor="hinge", grade=2))
        (gone,) = resolve(asked, site)["q"].labels
        assert gone.status == "lost"
        addressed = asked.model_copy(update={"pages": {"docs/hip.md": hip.url}})
        for pages in (site, [knee, hip]):
            (found,) = resolve(addressed, pages)["q"].labels
            assert (found.status, found.document_id) == ("exact", hip.document_id)

    def test_pages_without_path_or_address_are_not_those_of_a_label_without(self) -> None:
        nameless = replace(NODES, source_path="", url="")
        assert resolve_label([nameless], url="https://book.example/docs/nodes").status == "lost"
        assert resolve_label([nameless], page="docs/nodes.md").status == "lost"

    def test_of_two_sources_with_the_same_path_the_one_with_the_text_is_meant(self) -> None:
        twin = replace(TOPICS, source_path=NODES.source_path)
        found = resolve_label([twin, NODES], page="docs/nodes.md", quote="It then waits.")
        assert (found.status, found.document_id) == ("exact", NODES.document_id)

    def test_two_sources_with_the_same_path_and_text_both_count(self) -> None:
        twin = view(replace(page("nodes", {"": "Nodes are the processes of a robot."}), document_id="twin"))
        for quote in ("processes of a robot", None):
            found = resolve_label([NODES, twin], page="docs/nodes.md", quote=quote)
            assert found.status == "ambiguous"
            assert [place.document_id for place in found.places] == [NODES.document_id, "twin"]
            assert found.detail == "2 pages have this name"

    def test_an_address_tells_two_pages_with_the_same_path_apart(self) -> None:
        twin = replace(NODES, document_id="twin", url="https://other.example/nodes")
        found = resolve_label([NODES, twin], page="docs/nodes.md", url=twin.url, quote="It then waits.")
        assert (found.status, found.document_id) == ("exact", "twin")


class TestQuotes:
    @pytest.mark.parametrize(
        ("quote", "text"),
        [
            ("It then waits.", "It then waits."),
            (" It \n then\twaits. ", "It then waits."),
            ("it THEN waits.", "It then waits."),
            ('A node "may" fail - and restart.', "A node “may” fail – and restart."),
            ("Nodes are … robot.", "Nodes are the processes of a robot."),
            ("Nodes ... processes ... robot", "Nodes are the processes of a robot"),
            ("… processes of …", "processes of"),
            ("Start a node\n…\nPress Ctrl-C", "Start a node with `ros2 run`. It then waits.\n\nPress Ctrl-C"),
            ("nodes ARE … ROBOT", "Nodes are the processes of a robot"),
        ],
    )
    def test_a_quote_that_stands_once_is_exact(self, quote: str, text: str) -> None:
        found = resolve_label(BOOK, page="docs/nodes.md", quote=quote)
        assert (found.status, at(found, NODES), found.detail) == ("exact", text, "")

    def test_case_counts_where_it_tells(self) -> None:
        one = view(page("x", {"": "node NODE Node"}))
        for quote in ("node", "NODE", "Node"):
            found = resolve_label([one], page="docs/x.md", quote=quote)
            assert (found.status, at(found, one)) == ("exact", quote)

    def test_letters_that_fold_to_two_do_not_shift_what_follows(self) -> None:
        one = view(page("x", {"": "Die Straße, die İstanbul-ﬁne Straße: the END of it."}))
        found = resolve_label([one], page="docs/x.md", quote="the end of it")
        assert at(found, one) == "the END of it"

    def test_the_words_left_out_are_those_between_the_nearest(self) -> None:
        one = view(page("x", {"": ["The node starts.", "The node waits, then stops. It stops again."]}))
        found = resolve_label([one], page="docs/x.md", quote="The node … stops")
        assert (found.status, at(found, one)) == ("exact", "The node waits, then stops")

    def test_an_ellipsis_of_the_page_is_its_own(self) -> None:
        one = view(page("x", {"": "First wait ... then go. Then wait, or else, then go."}))
        found = resolve_label([one], page="docs/x.md", quote="wait ... then go")
        assert (found.status, at(found, one)) == ("exact", "wait ... then go")
        assert resolve_label([one], page="docs/x.md", quote="...").status == "exact"

    def test_parts_in_another_order_are_not_the_quote(self) -> None:
        assert resolve_label(BOOK, page="docs/nodes.md", quote="waits … Nodes are").status == "lost"

    def test_a_quote_across_chunks_counts_for_all_of_them(self) -> None:
        """Those in the middle too, which hold neither of its ends."""
        words = [f"word{number} and some more of it." for number in range(40)]
        long = view(page("long", {"": words}), target=12)
        found = resolve_label([long], page="docs/long.md", quote="word3 and … word36 and")
        inside = [chunk for chunk in long.chunks if chunk.start < found.end and chunk.end > found.start]
        assert len(inside) > 10
        assert found.chunk_ids == tuple(chunk.chunk_id for chunk in inside)

    def test_a_chunk_that_only_touches_the_quote_does_not_count(self) -> None:
        one = view(page("x", {"": ["First of all.", "Second to none."]}), target=4)
        assert len(one.chunks) == 2
        found = resolve_label([one], page="docs/x.md", quote="First of all.")
        assert found.chunk_ids == (one.chunks[0].chunk_id,)
        place = Place("x", 0, 5)
        assert not place.overlaps(Place("x", 5, 9))
        assert place.overlaps(Place("x", 4, 9))
        assert place.overlaps(Place("x", 2, 3))

    def test_a_heading_alone_is_in_no_passage(self) -> None:
        found = resolve_label(BOOK, page="docs/nodes.md", quote="Starting")
        assert found.status == "lost"
        assert "heading" in found.detail
        assert resolve_label(BOOK, unit="page", page="docs/nodes.md", quote="Starting").status == "exact"

    def test_a_heading_is_passed_over_for_the_passage_with_its_words(self) -> None:
        one = view(page("x", {"Quality of service": "It is the quality of service that counts."}))
        found = resolve_label([one], page="docs/x.md", quote="Quality of service")
        assert (found.status, at(found, one)) == ("exact", "quality of service")


class TestRepeatedText:
    QUOTE = "Press Ctrl-C to stop it."
    FIRST, SECOND = (NODES.text.find(QUOTE), NODES.text.rfind(QUOTE))

    def test_without_more_every_place_counts(self) -> None:
        query = resolve_query(BOOK, Label(page="docs/nodes.md", quote=self.QUOTE, grade=1))
        (found,) = query.labels
        assert found.status == "ambiguous"
        assert found.detail == "2 places on docs/nodes.md have this text"
        assert [place.start for place in found.places] == [self.FIRST, self.SECOND]
        assert [one.start for one in query.wanted] == [self.FIRST, self.SECOND]

    @pytest.mark.parametrize("start", [FIRST, SECOND])
    def test_the_span_tells_which(self, start: int) -> None:
        span = (start, start + len(self.QUOTE))
        found = resolve_label(BOOK, page="docs/nodes.md", quote=self.QUOTE, span=span)
        assert (found.status, found.start, found.end) == ("exact", *span)

    @pytest.mark.parametrize(
        "fields",
        [{"page": "docs/nodes.md", "anchor": "limits"}, {"url": "https://book.example/docs/nodes#limits"}],
    )
    def test_the_section_tells_which(self, fields: dict[str, Any]) -> None:
        found = resolve_label(BOOK, quote=self.QUOTE, **fields)
        assert (found.status, found.start) == ("exact", self.SECOND)

    @pytest.mark.parametrize(("start", "nearest"), [(FIRST - 3, FIRST), (SECOND + 9, SECOND)])
    def test_a_span_that_no_longer_holds_means_the_nearest(self, start: int, nearest: int) -> None:
        found = resolve_label(BOOK, page="docs/nodes.md", quote=self.QUOTE, span=(start, start + 5))
        assert (found.status, found.start) == ("relocated", nearest)

    def test_the_section_comes_before_the_nearest(self) -> None:
        found = resolve_label(
            BOOK, page="docs/nodes.md", quote=self.QUOTE, span=(self.FIRST - 3, self.FIRST), anchor="limits"
        )
        assert (found.status, found.start) == ("exact", self.SECOND)


class TestChangedText:
    BEFORE = "The controller manager loads each controller once the hardware interface is active."

    def test_a_text_that_was_edited_is_found_by_its_likeness(self) -> None:
        now = (
            "Note this. The controller manager loads every controller once the hardware interface is active!"
        )
        one = view(page("x", {"": ["Some words before.", now, "Some words after."]}), target=8)
        found = resolve_label([one, *BOOK], page="docs/x.md", quote=self.BEFORE)
        assert (found.status, found.detail) == ("relocated", "the text has changed")
        assert at(found, one).startswith("The controller manager")
        assert at(found, one).endswith(("is active!", "is"))
        assert found.chunk_ids == (one.chunks[1].chunk_id,)

    def test_a_shortened_quote_is_found_when_one_of_its_ends_was_edited(self) -> None:
        middle = "Meanwhile a great many other things go on, of which nothing is said here."
        one = view(
            page("x", {"": f"The controller manager loads all controllers. {middle} Then it is over."})
        )
        found = resolve_label(
            [one], page="docs/x.md", quote="The controller manager loads each controller. … Then it is over."
        )
        assert (found.status, at(found, one)) == ("relocated", one.text)

    @pytest.mark.parametrize(
        "quote",
        [
            "It then waited.",  # too short to be known again
            "Nothing of the kind was ever written on any of these pages.",
            "robot. and quite another text that goes on for longer than the page does. " * 9,
        ],
    )
    def test_another_text_is_not_taken_for_it(self, quote: str) -> None:
        found = resolve_label(BOOK, page="docs/nodes.md", quote=quote)
        assert found.status == "lost"
        assert found.detail == "its text is neither on docs/nodes.md nor elsewhere"

    def test_a_short_rest_of_the_page_is_no_likeness(self) -> None:
        one = view(page("x", {"": "We begin here. The end"}))
        quote = "We begin here. … The end of all things is near, they say"
        assert resolve_label([one], page="docs/x.md", quote=quote).status == "lost"


class TestMovedText:
    QUOTE = "A queue keeps the last ten messages."

    @pytest.mark.parametrize("name", ["docs/nodes.md", "docs/gone.md"])
    def test_a_text_that_is_now_on_another_page_is_followed(self, name: str) -> None:
        found = resolve_label(BOOK, page=name, quote=self.QUOTE)
        assert (found.status, found.detail) == ("relocated", "now on docs/topics.md")
        assert at(found, TOPICS) == self.QUOTE

    def test_even_in_other_letters_or_shortened(self) -> None:
        for quote in (
            "a QUEUE keeps the last ten messages.",
            "A queue keeps … ten messages.",
            "queue keeps",
            "ueue keeps the last ten mess",
        ):
            assert resolve_label(BOOK, page="docs/gone.md", quote=quote).status == "relocated"

    def test_the_same_letters_go_before_others(self) -> None:
        loud = view(page("loud", {"": self.QUOTE.upper()}))
        found = resolve_label([loud, *BOOK], page="docs/gone.md", quote=self.QUOTE)
        assert (found.status, found.document_id) == ("relocated", TOPICS.document_id)

    def test_on_several_pages_all_count(self) -> None:
        copy = view(page("copy", {"": ["Read this.", self.QUOTE]}))
        for name in ("docs/nodes.md", "docs/gone.md"):
            found = resolve_label([*BOOK, copy], page=name, quote=self.QUOTE)
            assert found.status == "ambiguous"
            assert {place.document_id for place in found.places} == {TOPICS.document_id, copy.document_id}
            assert found.detail == "now on 2 pages, such as docs/topics.md"

    def test_on_a_renamed_page_the_span_still_tells_which(self) -> None:
        quote, start = TestRepeatedText.QUOTE, TestRepeatedText.SECOND
        found = resolve_label(BOOK, page="docs/gone.md", quote=quote, span=(start, start + len(quote)))
        assert (found.status, found.start) == ("relocated", start)
        found = resolve_label(BOOK, page="docs/gone.md", quote=quote)
        assert (found.status, len(found.places)) == ("ambiguous", 2)

    def test_a_text_that_is_nowhere_is_lost(self) -> None:
        found = resolve_label(BOOK, page="docs/gone.md", quote="No page says this.")
        assert (found.status, found.detail) == ("lost", "its text is nowhere, and its page is gone")


class TestAnchors:
    def test_an_anchor_is_the_text_up_to_the_next_heading(self) -> None:
        for anchor in ("starting", "#starting"):
            found = resolve_label(BOOK, page="docs/nodes.md", anchor=anchor)
            assert found.status == "exact"
            assert at(found, NODES).startswith("Start a node")
            assert at(found, NODES).endswith("Press Ctrl-C to stop it.")
            assert found.chunk_ids == tuple(c.chunk_id for c in NODES.chunks if c.anchor == "starting")

    def test_an_address_may_carry_it_percent_encoded(self) -> None:
        one = view(page("x", {"Gait": "First.", "Poincaré maps": "They tell."}))
        found = resolve_label([one], url="https://book.example/docs/x#poincar%C3%A9-maps")
        assert (found.status, at(found, one)) == ("exact", "They tell.")

    def test_an_anchor_given_goes_before_that_of_the_address(self) -> None:
        found = resolve_label(BOOK, url="https://book.example/docs/nodes#limits", anchor="starting")
        assert at(found, NODES).startswith("Start a node")

    def test_an_anchor_that_is_not_on_its_page_is_lost_even_if_another_has_it(self) -> None:
        found = resolve_label(BOOK, page="docs/nodes.md", anchor="queues")
        assert (found.status, found.detail) == ("lost", "docs/nodes.md has no section queues")

    def test_an_anchor_with_a_slip_is_lost_and_the_right_one_named(self) -> None:
        found = resolve_label(BOOK, page="docs/nodes.md", anchor="startng")
        assert found.status == "lost"
        assert found.detail == "docs/nodes.md has no section startng; did you mean starting?"

    def test_a_section_of_a_page_that_is_gone_is_followed_where_only_one_other_has_it(self) -> None:
        found = resolve_label(BOOK, page="docs/gone.md", anchor="queues")
        assert (found.status, found.detail) == ("relocated", "now on docs/topics.md")
        for anchor, others in (("limits", 2), ("nowhere", 0)):
            found = resolve_label(BOOK, page="docs/gone.md", anchor=anchor)
            assert found.status == "lost"
            assert f"{others} others" in found.detail

    def test_a_heading_without_text_of_its_own_names_its_subsections(self) -> None:
        chunks = tuple(
            replace(chunk, section=f"Set up › {chunk.section}" if chunk.section else "")
            for chunk in NODES.chunks
        )
        for anchor in ("set-up", "set-up-1"):
            found = resolve_label([replace(NODES, chunks=chunks)], page="docs/nodes.md", anchor=anchor)
            assert found.status == "lost"
            assert "'Set up' has no text of its own" in found.detail
            assert found.detail.endswith("Starting, Limits")

    def test_two_sections_with_one_anchor_both_count(self) -> None:
        chunks = tuple(
            replace(chunk, anchor="same" if chunk.anchor in ("", "limits") else chunk.anchor)
            for chunk in NODES.chunks
        )
        found = resolve_label([replace(NODES, chunks=chunks)], page="docs/nodes.md", anchor="same")
        assert (found.status, len(found.places)) == ("ambiguous", 2)
        assert found.chunk_ids == tuple(chunk.chunk_id for chunk in chunks if chunk.anchor == "same")


class TestChunks:
    def test_a_chunk_that_exists_is_exact(self) -> None:
        chunk = NODES.chunks[2]
        found = resolve_label(BOOK, chunk=chunk.chunk_id)
        assert (found.status, found.start, found.end) == ("exact", *words(chunk))
        assert found.chunk_ids == (chunk.chunk_id,)

    def test_one_that_does_not_is_lost_unless_the_label_has_another_place(self) -> None:
        found = resolve_label(BOOK, chunk="nodes-123")
        assert (found.status, found.detail) == ("lost", "no passage has the id nodes-123")
        # The whole page is not what was meant.
        assert resolve_label(BOOK, chunk="nodes-123", page="docs/nodes.md").status == "lost"
        assert (
            resolve_label(BOOK, chunk="nodes-123", page="docs/topics.md", span=(0, 20)).status == "relocated"
        )

    def test_a_pinned_label_keeps_its_words_and_not_the_id(self) -> None:
        chunk = TOPICS.chunks[0]
        label = Label(chunk=chunk.chunk_id, grade=1, judge="ada", note="Why not")
        assert pinned(label, chunk, TOPICS) == Label(
            grade=1,
            page="docs/topics.md",
            quote="A queue keeps the last ten messages.",
            span=(chunk.start, chunk.end),
            judge="ada",
            note="Why not",
        )

    def test_a_long_passage_is_pinned_by_its_ends(self) -> None:
        one = view(page("x", {"": " ".join(f"w{n}" for n in range(100))}), target=200)
        label = pinned(Label(chunk="any", grade=2), one.chunks[0], one)
        assert label.quote == "w0 w1 w2 w3 w4 w5 w6 w7 … w92 w93 w94 w95 w96 w97 w98 w99"

    def test_a_passage_with_the_ends_of_another_is_pinned_by_more_of_it(self) -> None:
        ends = " ".join(f"w{n}" for n in range(10)), " ".join(f"w{n}" for n in range(90, 100))
        texts = [f"{ends[0]} {' '.join(f'{x}{n}' for n in range(80))} {ends[1]}" for x in "ab"]
        one = view(page("x", {"A": texts[0], "B": texts[1]}), target=200)
        for chunk in one.chunks:
            label = pinned(Label(chunk="any", grade=2), chunk, one)
            assert label.quote is not None
            assert 30 < len(label.quote.split()) < 40
            found = resolve_label([one], page="docs/x.md", quote=label.quote)
            assert (found.status, at(found, one)) == ("exact", chunk.text)

    def test_a_passage_that_is_there_twice_is_pinned_by_span_and_section(self) -> None:
        again = [chunk for chunk in NODES.chunks if chunk.text == TestRepeatedText.QUOTE]
        assert [chunk.anchor for chunk in again] == ["starting", "limits"]
        labels = [pinned(Label(chunk=chunk.chunk_id, grade=2), chunk, NODES) for chunk in again]
        assert [label.anchor for label in labels] == ["starting", "limits"]
        moved = view(page("nodes", {"": "Much was put in here. " * 9, **sections_of(NODES)}), target=8)
        for chunk, label in zip(again, labels, strict=True):
            (found,) = resolve_query([moved], label).labels
            assert found.start == chunk.start + len(moved.text) - len(NODES.text)

    def test_a_golden_set_is_pinned_but_for_ids_that_do_not_exist(self) -> None:
        chunk = NODES.chunks[0]
        labels = (
            Label(chunk=chunk.chunk_id, grade=2),
            Label(chunk="gone-1", grade=1),
            Label(page="docs/nodes.md", quote="It then waits.", grade=1),
            Label(chunk=chunk.chunk_id, page="docs/nodes.md", quote="It then waits.", grade=1),
        )
        made = pin(golden(*labels), iter(BOOK))
        first, *others = made.queries[0].labels
        assert (first.chunk, first.quote) == (None, "Nodes are the processes of a robot.")
        assert tuple(others) == labels[1:]
        assert pin(made, BOOK) == made

    def test_a_judge_labels_what_was_shown(self) -> None:
        chunk = NODES.chunks[0]
        label = label_for(chunk, 2, judge="ada", note="yes")
        assert (label.page, label.quote, label.span) == (
            "docs/nodes.md",
            chunk.text,
            (chunk.start, chunk.end),
        )
        assert (label.grade, label.judge, label.note, label.chunk) == (2, "ada", "yes", None)
        with pytest.raises(ValueError, match="less than or equal to 2"):
            label_for(chunk, 3)

    def test_a_passage_that_says_nothing_is_labelled_by_its_id(self) -> None:
        one = view(page("x", {"": "…", "B": "Else."}))
        found = resolve_query([one], label_for(one.chunks[0], 0))
        assert found.judgments == {one.chunks[0].chunk_id: 0}

    def test_a_passage_without_a_path_is_labelled_by_its_document(self) -> None:
        nameless = replace(
            TOPICS, source_path="", chunks=tuple(replace(chunk, source_path="") for chunk in TOPICS.chunks)
        )
        found = resolve_query([nameless], label_for(nameless.chunks[0], 1))
        assert found.judgments == {nameless.chunks[0].chunk_id: 1}


def sections_of(one: PageView) -> Mapping[str, list[str]]:
    """The sections of a page that have a heading, to make another page from."""
    headings = dict.fromkeys(chunk.section for chunk in one.chunks if chunk.section)
    return {name: [chunk.text for chunk in one.chunks if chunk.section == name] for name in headings}


class TestJudgments:
    def test_the_highest_of_the_labels_on_a_chunk_counts(self) -> None:
        labels = (
            Label(page="docs/topics.md", grade=0),
            Label(page="docs/topics.md", quote="A queue", grade=1),
            Label(page="docs/topics.md", quote="ten messages", grade=2),
        )
        queues, limits = TOPICS.chunks
        for order in permutations(labels):
            query = resolve_query(BOOK, *order)
            assert query.judgments == {queues.chunk_id: 2, limits.chunk_id: 0}
            assert sorted(one.grade for one in query.wanted) == [1, 2]

    @pytest.mark.parametrize(
        ("grades", "agreed"),
        [([2, 1], 1), ([0, 2], 0), ([2, 2, 0], 2), ([0, 0, 2], 0), ([0, 1, 1, 2], 1), ([1], 1)],
    )
    def test_of_several_judges_of_a_place_the_lower_median_counts(
        self, grades: Sequence[int], agreed: int
    ) -> None:
        judges = [
            Label(page="docs/topics.md", anchor="limits", grade=grade, judge=f"judge {number}")
            for number, grade in enumerate(grades)
        ]
        query = resolve_query(BOOK, *judges)
        assert query.judgments == {TOPICS.chunks[1].chunk_id: agreed}
        assert [one.grade for one in query.wanted] == ([agreed] if agreed else [])

    def test_one_judge_does_not_outvote_another_by_saying_it_twice(self) -> None:
        said = [("ada", 0), ("ada", 1), ("ada", 1), ("bob", 2), ("eve", 2)]
        labels = [Label(page="docs/topics.md", anchor="limits", grade=g, judge=who) for who, g in said]
        assert resolve_query(BOOK, *labels).judgments == {TOPICS.chunks[1].chunk_id: 2}

    def test_a_label_that_is_lost_judges_nothing(self) -> None:
        query = resolve_query(BOOK, Label(page="docs/gone.md", grade=2))
        assert (query.judgments, query.wanted, query.external_ids) == ({}, (), {})

    def test_pages_are_judged_by_their_document(self) -> None:
        query = resolve_query(
            BOOK,
            Label(page="docs/topics.md", quote="A queue", grade=1),
            Label(page="docs/topics.md", quote="None at all.", grade=2),
            Label(page="docs/nodes.md", grade=0),
            unit="page",
        )
        assert query.judgments == {TOPICS.document_id: 2, NODES.document_id: 0}
        assert query.external_ids == {
            TOPICS.document_id: "docs/topics.md",
            NODES.document_id: "docs/nodes.md",
        }

    def test_a_beir_document_is_judged_under_its_own_id(self, tmp_path: Path) -> None:
        (tmp_path / "corpus.jsonl").write_text('{"_id": 7, "title": "T", "text": "Some text."}\n')
        pages = [view(one) for one in open_source(f"beir:{tmp_path}").read() if isinstance(one, Page)]
        query = resolve_query(pages, Label(page="7", grade=1), unit="page")
        assert query.judgments == {pages[0].document_id: 1}
        assert query.external_ids == {pages[0].document_id: "7"}

    def test_what_is_wanted_is_what_passages_can_cover(self) -> None:
        """A heading is in no chunk: if it were wanted, no search could find everything."""
        query = resolve_query(BOOK, Label(page="docs/topics.md", grade=2))
        assert query.wanted == tuple(
            Wanted(TOPICS.document_id, chunk.start, chunk.end, 2) for chunk in TOPICS.chunks
        )

    def test_every_query_is_there_by_its_id(self) -> None:
        queries = (GoldenQuery(id="b", text="?"), GoldenQuery(id="a", text="?"))
        assert [*resolve(GoldenSet(queries=queries), iter(BOOK))] == ["b", "a"]


def handbook(target: int) -> list[PageView]:
    return [view(one, target) for one in open_source(str(HANDBOOK)).read() if isinstance(one, Page)]


def per_chunk(chunks: Iterable[Chunk]) -> GoldenSet:
    """A golden set with a query for each chunk, labelled as a judge would."""
    return GoldenSet(
        queries=tuple(
            GoldenQuery(id=str(number), text="?", labels=(label_for(chunk, 2),))
            for number, chunk in enumerate(chunks)
        )
    )


class TestOtherChunks:
    @pytest.mark.parametrize(("before", "after"), [(60, 30), (60, 120), (120, 60), (30, 200)])
    def test_every_label_of_the_handbook_means_the_same_characters(self, before: int, after: int) -> None:
        old, new = handbook(before), handbook(after)
        chunks = [chunk for one in old for chunk in one.chunks]
        assert len(chunks) != sum(len(one.chunks) for one in new)
        resolved = resolve(per_chunk(chunks), new)
        for number, chunk in enumerate(chunks):
            query = resolved[str(number)]
            (found,) = query.labels
            assert (found.status, found.start, found.end) == ("exact", *words(chunk))
            meant = letters([(chunk.document_id, chunk.start, chunk.end)], old)
            assert letters(wanted(query), new) == meant
            covered = [c for one in new for c in one.chunks if c.chunk_id in query.judgments]
            assert meant <= letters([(c.document_id, c.start, c.end) for c in covered], new)

    def test_sections_quotes_and_pages_of_the_handbook_mean_the_same_too(self) -> None:
        old, new = handbook(60), handbook(25)
        labels = [
            label
            for one in old
            for label in (
                Label(page=one.source_path, grade=1),
                Label(url=f"{one.url}#{one.chunks[3].anchor}", grade=1),
                Label(page=one.source_path, quote=" ".join(one.chunks[5].text.split()[:12]), grade=1),
            )
        ]
        for label in labels:
            before, after = resolve_query(old, label), resolve_query(new, label)
            assert before.labels[0].status == after.labels[0].status != "lost"
            assert letters(wanted(before), old) == letters(wanted(after), new)

    words = st.lists(st.sampled_from(["a", "node", "stops.", "…", "Ends", "ß"]), min_size=1, max_size=60)
    paragraphs = st.lists(words.map(" ".join), min_size=1, max_size=4)

    @given(st.lists(paragraphs, min_size=1, max_size=4), st.integers(4, 60), st.integers(4, 60))
    def test_any_passage_however_repeated_is_found_in_its_place(
        self, sections: list[list[str]], before: int, after: int
    ) -> None:
        made = page("x", {f"Part {number}": texts for number, texts in enumerate(sections)})
        old, new = view(made, before), view(made, after)
        for label in (label_for, lambda chunk, grade: pinned(Label(chunk="x", grade=grade), chunk, old)):
            for chunk in old.chunks:
                made_label = label(chunk, 2)
                if made_label.quote is None:
                    continue
                (found,) = resolve_query([new], made_label).labels
                assert (found.status, found.start, found.end) == ("exact", *words(chunk))

    @pytest.mark.slow
    def test_ten_thousand_labels_take_seconds(self) -> None:
        pages = [
            view(page(f"p{n}", {"": [f"Page p{n} says in line {k} that all is well." for k in range(40)]}))
            for n in range(2000)
        ]
        quotes = [(n, f"Page p{n} says in line {k} that") for n in range(2000) for k in (0, 9, 19, 29, 39)]
        kept = [Label(page=f"docs/p{n}.md", quote=quote, grade=2) for n, quote in quotes]
        moved = [Label(page=f"old/p{n}.md", quote=quote, grade=2) for n, quote in quotes]
        for labels, status in ((kept, "exact"), (moved, "relocated")):
            start = time.perf_counter()
            query = resolve_query(pages, *labels)
            assert time.perf_counter() - start < 10
            assert {found.status for found in query.labels} == {status}
