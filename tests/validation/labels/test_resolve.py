"""Labels on today's chunks: found by their words, whatever happened to the chunks or the page."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.sources import open_source
from pertinent.testing.pages import page
from pertinent.types import Page
from pertinent.validation.golden.golden_set import GoldenQuery, GoldenSet, Label, Unit
from pertinent.validation.labels.pinning import label_chunk
from pertinent.validation.labels.quotes import SortedBounds, TextSpan
from pertinent.validation.labels.resolve import resolve_labels
from pertinent.validation.target import PageSection, PageView

from .pages import (
    BOOK,
    FIRST,
    NODES,
    REPEATED,
    SECOND,
    TOPICS,
    golden_set,
    resolve_label,
    resolve_query,
    text_at,
    trimmed_span,
    view,
    view_text,
)

HANDBOOK = Path(__file__).parents[3] / "examples" / "handbook"
NODES_URL = "https://book.example/docs/nodes"


class TestPages:
    @pytest.mark.parametrize(
        "name",
        [
            {"page": "docs/nodes.md"},
            {"page": NODES.document_id},
            {"url": NODES_URL},
            {"url": "HTTPS://Book.Example:443/docs/nodes/index.html"},
            {"url": f"{NODES_URL}/"},
            {"page": "gone.md", "url": NODES_URL},
        ],
    )
    def test_page_is_found_by_any_of_its_names(self, name: dict[str, Any]) -> None:
        label = resolve_label(BOOK, **name)
        assert (label.status, label.spans) == ("exact", (TextSpan(NODES.document_id, 0, len(NODES.text)),))
        assert label.chunk_ids == tuple(chunk.chunk_id for chunk in NODES.chunks)

    @pytest.mark.parametrize("name", [{"page": "docs/old.md"}, {"url": "https://book.example/docs/old"}])
    def test_page_that_is_gone_is_lost(self, name: dict[str, Any]) -> None:
        label = resolve_label(BOOK, **name)
        assert (label.status, label.spans, label.detail) == ("lost", (), "the page is gone")

    def test_page_without_text_is_lost_unless_pages_are_judged(self) -> None:
        empty = view(page("empty", {}))
        assert resolve_label([empty], page="docs/empty.md").detail == "the page has no text"
        assert resolve_label([empty], unit="page", page="docs/empty.md").status == "exact"

    def test_page_is_found_by_the_address_that_the_golden_set_gives_its_path(self) -> None:
        """An index of the live site has other paths than the source."""
        knee, hip = (view(page(name, {"Hinge": f"A hinge of the {name} bends."})) for name in ("knee", "hip"))
        site = [replace(source, source_path=f"site/{source.title}") for source in (knee, hip)]
        golden = golden_set(Label(page="docs/hip.md", anchor="hinge"))
        assert resolve_labels(golden, site)["q"].labels[0].status == "lost"
        addressed = golden.model_copy(update={"pages": {"docs/hip.md": hip.url}})
        for pages in (site, [knee, hip]):
            (label,) = resolve_labels(addressed, pages)["q"].labels
            assert (label.status, label.spans[0].document_id) == ("exact", hip.document_id)

    @pytest.mark.parametrize("name", [{"url": NODES_URL}, {"page": "docs/nodes.md"}])
    def test_pages_without_path_or_address_match_no_name(self, name: dict[str, Any]) -> None:
        assert resolve_label([replace(NODES, source_path="", url="")], **name).status == "lost"

    def test_quote_chooses_between_pages_with_the_same_path(self) -> None:
        twin = replace(TOPICS, source_path=NODES.source_path)
        label = resolve_label([twin, NODES], page="docs/nodes.md", quote="It then waits.")
        assert (label.status, label.spans[0].document_id) == ("exact", NODES.document_id)

    @pytest.mark.parametrize("quote", ["processes of a robot", None])
    def test_two_pages_with_the_same_path_and_text_both_count(self, quote: str | None) -> None:
        twin = view(replace(page("nodes", {"": "Nodes are the processes of a robot."}), document_id="twin"))
        label = resolve_label([NODES, twin], page="docs/nodes.md", quote=quote)
        assert (label.status, label.detail) == ("ambiguous", "2 pages have this name")
        assert [span.document_id for span in label.spans] == [NODES.document_id, "twin"]

    def test_address_decides_between_pages_with_the_same_path(self) -> None:
        twin = replace(NODES, document_id="twin", url="https://other.example/nodes")
        label = resolve_label([NODES, twin], page="docs/nodes.md", url=twin.url, quote="It then waits.")
        assert (label.status, label.spans[0].document_id) == ("exact", "twin")


class TestShortQuotesOfPagesThatAreGone:
    @pytest.mark.parametrize("quote", ["a", ".", "the", "a … e", "A NODE"])
    def test_few_words_in_several_places_are_lost(self, quote: str) -> None:
        label = resolve_label(BOOK, page="docs/gone.md", quote=quote)
        assert (label.status, label.spans) == ("lost", ())
        assert "too short to be recognised on another page" in label.detail

    @pytest.mark.parametrize("name", ["docs/gone.md", "docs/topics.md"])
    def test_few_words_in_one_place_of_another_page_are_lost(self, name: str) -> None:
        label = resolve_label(BOOK, page=name, quote="then waits")
        assert (label.status, label.spans) == ("lost", ())
        assert label.detail.endswith("; 1 place has it, on docs/nodes.md")

    def test_few_words_in_one_place_of_the_same_page_are_relocated(self) -> None:
        label = resolve_label(BOOK, page="old/02-nodes.mdx", quote="then waits")
        assert (label.status, label.detail) == ("relocated", "now on docs/nodes.md")


ELLIPSIS_PAGE = view_text("First wait ... then go. Then wait, or else, then go.")
FOLDING_PAGE = view_text("Die Straße, die İstanbul-ﬁne Straße: the END of it.")
NEAREST_PAGE = view_text(["The node starts.", "The node waits, then stops. It stops again."])
HEADING_PAGE = view(page("x", {"Quality of service": "It is the quality of service that counts."}))


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
    def test_quote_that_is_there_once_is_exact(self, quote: str, text: str) -> None:
        label = resolve_label(BOOK, page="docs/nodes.md", quote=quote)
        assert (label.status, text_at(label, NODES), label.detail) == ("exact", text, "")

    @pytest.mark.parametrize(
        ("book", "quote", "text"),
        [
            pytest.param(view_text("node NODE Node"), "node", "node", id="lower case"),
            pytest.param(view_text("node NODE Node"), "NODE", "NODE", id="upper case"),
            pytest.param(view_text("node NODE Node"), "Node", "Node", id="title case"),
            pytest.param(FOLDING_PAGE, "the end of it", "the END of it", id="letters that fold to two"),
            pytest.param(NEAREST_PAGE, "The node … stops", "The node waits, then stops", id="nearest parts"),
            pytest.param(ELLIPSIS_PAGE, "wait ... then go", "wait ... then go", id="the page's own ellipsis"),
            pytest.param(ELLIPSIS_PAGE, "...", "...", id="only an ellipsis"),
            pytest.param(HEADING_PAGE, "Quality of service", "quality of service", id="heading is ignored"),
        ],
    )
    def test_strictest_reading_in_a_passage_is_exact(self, book: PageView, quote: str, text: str) -> None:
        label = resolve_label([book], page="docs/x.md", quote=quote)
        assert (label.status, text_at(label, book)) == ("exact", text)

    def test_quote_does_not_leave_out_headings(self) -> None:
        sections = {
            "A": "A call is due at once. It waits.",
            "B": "Another call waits.",
            "C": "A third is over.",
        }
        book = view(page("x", sections))
        for quote in ("A call … is over.", "A call is due at once … a third is over."):
            label = resolve_label([book], page="docs/x.md", quote=quote)
            assert (label.status, label.spans) == ("lost", ())
        assert resolve_label([book], page="docs/x.md", quote="A call … waits.").status == "exact"

    def test_quote_does_not_leave_out_a_long_text(self) -> None:
        for count, status in ((300, "exact"), (600, "lost")):
            book = view_text(f"It begins. {'more ' * count}It ends.")
            assert resolve_label([book], page="docs/x.md", quote="It begins. … It ends.").status == status

    @pytest.mark.parametrize(("added", "status"), [(10, "exact"), (60, "lost")])
    def test_passage_with_a_known_length_grows_little(self, added: int, status: str) -> None:
        """Otherwise an edit of its end would extend it to a later use of the same words."""
        book = view_text(f"It begins. {'more ' * (20 + added)}It ends.")
        span = (0, len(f"It begins. {'more ' * 20}It ends."))
        label = resolve_label([book], page="docs/x.md", quote="It begins. … It ends.", span=span)
        assert label.status == status

    def test_edited_end_is_found_before_a_later_use_of_its_words(self) -> None:
        end = "and so a call is made by the one who makes it."
        edited = end.replace("so a call", "so 1 call")
        book = view_text(f"A timer is due. Then {edited} {'Other words follow here. ' * 20} At last {end}")
        span = (0, len(f"A timer is due. Then {end}"))
        label = resolve_label([book], page="docs/x.md", quote=f"A timer is due. … {end}", span=span)
        assert (label.status, text_at(label, book)) == ("relocated", f"A timer is due. Then {edited}")

    def test_parts_in_another_order_are_lost(self) -> None:
        assert resolve_label(BOOK, page="docs/nodes.md", quote="waits … Nodes are").status == "lost"

    def test_quote_across_chunks_counts_for_all_of_them(self) -> None:
        """Those in the middle too, which hold neither of its ends."""
        long = view_text([f"word{number} and some more of it." for number in range(40)], target=12)
        label = resolve_label([long], page="docs/x.md", quote="word3 and … word36 and")
        (span,) = label.spans
        inside = [chunk for chunk in long.chunks if chunk.start < span.end and chunk.end > span.start]
        assert len(inside) > 10
        assert label.chunk_ids == tuple(chunk.chunk_id for chunk in inside)

    def test_chunk_that_only_touches_the_quote_does_not_count(self) -> None:
        book = view_text(["First of all.", "Second to none."], target=4)
        first, _ = book.chunks
        assert resolve_label([book], page="docs/x.md", quote="First of all.").chunk_ids == (first.chunk_id,)
        span = TextSpan("x", 0, 5)
        overlaps = [span.overlaps(TextSpan("x", start, end)) for start, end in ((5, 9), (4, 9), (2, 3))]
        assert overlaps == [False, True, True]

    def test_heading_alone_is_lost_unless_pages_are_judged(self) -> None:
        label = resolve_label(BOOK, page="docs/nodes.md", quote="Starting")
        assert label.status == "lost"
        assert "heading" in label.detail
        assert resolve_label(BOOK, unit="page", page="docs/nodes.md", quote="Starting").status == "exact"


SPANS = st.tuples(st.integers(0, 12), st.integers(1, 6)).map(lambda span: (span[0], sum(span)))


@given(sections=st.lists(SPANS, max_size=6), span=SPANS)
def test_sorted_bounds_count_the_spans_that_share_a_character(
    sections: list[tuple[int, int]], span: tuple[int, int]
) -> None:
    bounds = SortedBounds([PageSection("", "", start, end) for start, end in sections])
    shared = [set(range(*section)) & set(range(*span)) for section in sections]
    assert bounds.count_overlaps(TextSpan("page", *span)) == sum(map(bool, shared))


class TestRepeatedText:
    def test_every_span_of_a_repeated_quote_counts(self) -> None:
        query = resolve_query(BOOK, Label(page="docs/nodes.md", quote=REPEATED, grade=1))
        (label,) = query.labels
        assert (label.status, label.detail) == ("ambiguous", "2 places on docs/nodes.md have this text")
        assert [span.start for span in label.spans] == [FIRST, SECOND]
        assert [span.start for span in query.relevant_spans] == [FIRST, SECOND]

    @pytest.mark.parametrize(
        ("fields", "status", "start"),
        [
            pytest.param({"span": (FIRST, FIRST + len(REPEATED))}, "exact", FIRST, id="first span"),
            pytest.param({"span": (SECOND, SECOND + len(REPEATED))}, "exact", SECOND, id="second span"),
            pytest.param({"anchor": "limits"}, "exact", SECOND, id="section"),
            pytest.param({"url": f"{NODES_URL}#limits"}, "exact", SECOND, id="section in the address"),
            pytest.param({"span": (FIRST - 3, FIRST + 2)}, "relocated", FIRST, id="nearest to an old span"),
            pytest.param({"span": (SECOND + 9, SECOND + 14)}, "relocated", SECOND, id="nearest, second"),
            pytest.param(
                {"span": (FIRST - 3, FIRST), "anchor": "limits"},
                "exact",
                SECOND,
                id="section, not the nearest",
            ),
        ],
    )
    def test_span_or_section_chooses(self, fields: dict[str, Any], status: str, start: int) -> None:
        label = resolve_label(BOOK, page="docs/nodes.md", quote=REPEATED, **fields)
        assert (label.status, label.spans[0].start, len(label.spans)) == (status, start, 1)


class TestChangedText:
    def test_edited_text_is_found_by_similarity(self) -> None:
        old = "The controller manager loads each controller once the hardware interface is active."
        new = (
            "Note this. The controller manager loads every controller once the hardware interface is active!"
        )
        book = view_text(["Some words before.", new, "Some words after."], target=8)
        label = resolve_label([book, *BOOK], page="docs/x.md", quote=old)
        assert (label.status, label.detail) == ("relocated", "the text has changed")
        assert text_at(label, book).startswith("The controller manager")
        assert text_at(label, book).endswith(("is active!", "is"))
        assert label.chunk_ids == (book.chunks[1].chunk_id,)

    def test_shortened_quote_with_an_edited_end_is_found(self) -> None:
        middle = "Meanwhile a great many other things go on, of which nothing is said here."
        book = view_text(f"The controller manager loads all controllers. {middle} Then it is over.")
        quote = "The controller manager loads each controller. … Then it is over."
        label = resolve_label([book], page="docs/x.md", quote=quote)
        assert (label.status, text_at(label, book)) == ("relocated", book.text)

    def test_edited_end_counts_after_the_text_that_a_quote_may_leave_out(self) -> None:
        end = "Then the manager unloads every controller, and the arm of the robot comes to rest. " * 2
        book = view_text(f"The manager loads all controllers. {'Much happens. ' * 135}{end.strip()}")
        quote = f"The manager loads all controllers. … {end.replace('every', 'each').strip()}"
        label = resolve_label([book], page="docs/x.md", quote=quote)
        assert label.status == "relocated"
        assert text_at(label, book).startswith(book.text[:-10])

    @pytest.mark.parametrize(
        "quote",
        [
            "It then waited.",  # too short to be recognised
            "Nothing of the kind was ever written on any of these pages.",
            "robot. and quite another text that goes on for longer than the page does. " * 9,
        ],
    )
    def test_different_text_is_lost(self, quote: str) -> None:
        label = resolve_label(BOOK, page="docs/nodes.md", quote=quote)
        assert label.status == "lost"
        assert label.detail == "its text is neither on docs/nodes.md nor on any other page"

    def test_long_text_is_found_only_if_it_has_not_changed(self) -> None:
        """The time of a search for similar text grows with the cube of its length."""
        long = " ".join(f"sentence {number} of a long passage" for number in range(700))
        book = view_text(f"{long}.")
        assert resolve_label([book], page="docs/x.md", quote=long).status == "exact"
        started = time.process_time()
        edited = long.replace("sentence 350", "phrase 350")
        assert resolve_label([book], page="docs/x.md", quote=edited).status == "lost"
        assert time.process_time() - started < 3

    def test_short_end_of_the_page_is_not_similar(self) -> None:
        book = view_text("We begin here. The end")
        quote = "We begin here. … The end of all things is near, they say"
        assert resolve_label([book], page="docs/x.md", quote=quote).status == "lost"


class TestMovedText:
    QUOTE = "A queue keeps the last ten messages."

    @pytest.mark.parametrize("name", ["docs/nodes.md", "docs/gone.md"])
    def test_text_on_another_page_is_relocated(self, name: str) -> None:
        label = resolve_label(BOOK, page=name, quote=self.QUOTE)
        assert (label.status, label.detail) == ("relocated", "now on docs/topics.md")
        assert text_at(label, TOPICS) == self.QUOTE

    @pytest.mark.parametrize(
        ("name", "quote"),
        [
            ("docs/gone.md", "a QUEUE keeps the last ten messages."),
            ("docs/gone.md", "A queue … the last ten messages."),
            ("old/topics.md", "A queue keeps … ten messages."),
            ("old/topics.md", "queue keeps"),
            ("docs/gone.md", "ueue keeps the last ten mess"),
        ],
    )
    def test_folded_or_shortened_text_on_another_page_is_relocated(self, name: str, quote: str) -> None:
        assert resolve_label(BOOK, page=name, quote=quote).status == "relocated"

    def test_page_with_the_same_case_is_preferred(self) -> None:
        loud = view(page("loud", {"": self.QUOTE.upper()}))
        label = resolve_label([loud, *BOOK], page="docs/gone.md", quote=self.QUOTE)
        assert (label.status, label.spans[0].document_id) == ("relocated", TOPICS.document_id)

    @pytest.mark.parametrize("name", ["docs/nodes.md", "docs/gone.md"])
    def test_text_on_several_other_pages_is_ambiguous(self, name: str) -> None:
        copy = view(page("copy", {"": ["Read this.", self.QUOTE]}))
        label = resolve_label([*BOOK, copy], page=name, quote=self.QUOTE)
        assert (label.status, label.detail) == ("ambiguous", "now on 2 pages, such as docs/topics.md")
        assert {span.document_id for span in label.spans} == {TOPICS.document_id, copy.document_id}

    def test_span_chooses_on_a_renamed_page_too(self) -> None:
        span = (SECOND, SECOND + len(REPEATED))
        label = resolve_label(BOOK, page="docs/gone.md", quote=REPEATED, span=span)
        assert (label.status, label.spans[0].start) == ("relocated", SECOND)
        label = resolve_label(BOOK, page="docs/gone.md", quote=REPEATED)
        assert (label.status, len(label.spans)) == ("ambiguous", 2)

    def test_text_on_no_page_is_lost(self) -> None:
        label = resolve_label(BOOK, page="docs/gone.md", quote="No page says this.")
        assert (label.status, label.detail) == ("lost", "its text is on no page, and its page is gone")


class TestAnchors:
    @pytest.mark.parametrize(
        "fields",
        [
            {"page": "docs/nodes.md", "anchor": "starting"},
            {"page": "docs/nodes.md", "anchor": "#starting"},
            {"url": f"{NODES_URL}#limits", "anchor": "starting"},
        ],
    )
    def test_anchor_is_the_text_up_to_the_next_heading(self, fields: dict[str, Any]) -> None:
        label = resolve_label(BOOK, **fields)
        text = text_at(label, NODES)
        assert label.status == "exact"
        assert (text[:12], text[-len(REPEATED) :]) == ("Start a node", REPEATED)
        assert label.chunk_ids == tuple(c.chunk_id for c in NODES.chunks if c.anchor == "starting")

    def test_anchor_in_an_address_may_be_percent_encoded(self) -> None:
        book = view(page("x", {"Gait": "First.", "Poincaré maps": "They tell."}))
        label = resolve_label([book], url="https://book.example/docs/x#poincar%C3%A9-maps")
        assert (label.status, text_at(label, book)) == ("exact", "They tell.")

    @pytest.mark.parametrize(
        ("name", "anchor", "status", "detail"),
        [
            ("docs/nodes.md", "queues", "lost", "docs/nodes.md has no section queues"),
            (
                "docs/nodes.md",
                "startng",
                "lost",
                "docs/nodes.md has no section startng; did you mean starting?",
            ),
            ("old/topics.md", "queues", "relocated", "now on docs/topics.md"),
            (
                "docs/gone.md",
                "queues",
                "lost",
                "the page is gone; if another one replaces it, name that: docs/topics.md "
                "(with a section queues)",
            ),
            (
                "docs/gone.md",
                "limits",
                "lost",
                "the page is gone; if another one replaces it, name that: docs/nodes.md, docs/topics.md "
                "(with a section limits)",
            ),
            ("docs/gone.md", "nowhere", "lost", "the page is gone, and no other has a section nowhere"),
        ],
    )
    def test_missing_section_is_explained(self, name: str, anchor: str, status: str, detail: str) -> None:
        label = resolve_label(BOOK, page=name, anchor=anchor)
        assert (label.status, label.detail) == (status, detail)

    @pytest.mark.parametrize(
        ("fields", "status"),
        [
            ({"page": "install/queues/topics.md"}, "relocated"),
            ({"page": "docs/03-Topics.mdx"}, "relocated"),
            ({"page": "docs/topics/README.md"}, "relocated"),
            ({"page": "docs\\topics\\index.md"}, "relocated"),
            ({"url": "http://localhost:3000/docs/topics.html"}, "relocated"),
            ({"url": "https://old.example/topics/"}, "relocated"),
            ({"page": "docs/gone.md", "url": "https://old.example/topics/"}, "relocated"),
            ({"page": "docs/topics-2.md"}, "lost"),
            ({"page": "docs/topics/queues.md"}, "lost"),
            ({"page": "docs/1.0-topics.md"}, "lost"),
            ({"url": "https://book.example/docs/topics?page=2"}, "lost"),
            ({"url": "https://book.example/"}, "lost"),
            ({"page": "index.md"}, "lost"),
        ],
    )
    def test_section_of_a_page_that_is_gone_is_found_on_one_with_its_name(
        self, fields: dict[str, Any], status: str
    ) -> None:
        label = resolve_label(BOOK, anchor="queues", **fields)
        assert label.status == status
        assert "docs/topics.md" in label.detail

    def test_section_of_a_home_page_is_found_on_another_host(self) -> None:
        home = replace(TOPICS, source_path="", url="https://book.example/")
        label = resolve_label([NODES, home], url="http://localhost:3000/index.html#queues")
        assert (label.status, label.detail) == ("relocated", "now on https://book.example/")

    @pytest.mark.parametrize("anchor", ["set-up", "set-up-1"])
    def test_heading_without_text_names_its_subsections(self, anchor: str) -> None:
        sections = tuple(
            section._replace(section=f"Set up › {section.section}" if section.section else "")
            for section in NODES.sections
        )
        label = resolve_label([replace(NODES, sections=sections)], page="docs/nodes.md", anchor=anchor)
        assert label.status == "lost"
        assert "'Set up' has no text of its own" in label.detail
        assert label.detail.endswith("Starting, Limits")

    def test_two_sections_with_one_anchor_both_count(self) -> None:
        sections = tuple(
            section._replace(anchor="same" if section.anchor in ("", "limits") else section.anchor)
            for section in NODES.sections
        )
        label = resolve_label([replace(NODES, sections=sections)], page="docs/nodes.md", anchor="same")
        assert (label.status, len(label.spans)) == ("ambiguous", 2)
        in_both = tuple(chunk.chunk_id for chunk in NODES.chunks if chunk.anchor in ("", "limits"))
        assert label.chunk_ids == in_both

    def test_short_section_is_found_in_the_chunk_that_it_shares(self) -> None:
        words = "A few words about the motor of the left knee, so that this section is long enough."
        motor = view(page("motor", {"": words, "Speed": "Two turns.", "Torque": "Nine newton metres."}))
        shared = motor.chunks[-1]
        assert (shared.anchor, "Two turns." in shared.text, "Nine" in shared.text) == ("speed", True, True)
        for anchor, text in [("speed", "Two turns."), ("torque", "Nine newton metres.")]:
            label = resolve_label([motor], page="docs/motor.md", anchor=anchor)
            assert (label.status, text_at(label, motor)) == ("exact", text)
            assert label.chunk_ids == (shared.chunk_id,)

    @given(texts=st.lists(st.text("ab ", max_size=200).map("x {}y".format), min_size=1))
    def test_every_section_is_found_at_every_chunk_size(self, texts: list[str]) -> None:
        source = page("x", {f"Section {number}": text for number, text in enumerate(texts)})
        for target in (8, 60):
            book = view(source, target)
            for number, text in enumerate(texts):
                label = resolve_label([book], page="docs/x.md", anchor=f"section-{number}")
                assert (label.status, text_at(label, book)) == ("exact", text)


class TestSpans:
    def test_span_without_a_quote_is_exact(self) -> None:
        label = resolve_label(BOOK, page="docs/nodes.md", span=(FIRST, FIRST + 5))
        assert (label.status, text_at(label, NODES)) == ("exact", REPEATED[:5])
        assert len(label.chunk_ids) == 1

    @pytest.mark.parametrize("fields", [{}, {"chunk": "nodes-123"}])
    @pytest.mark.parametrize("unit", ["passage", "page"])
    def test_span_beyond_the_end_of_the_page_is_lost(self, unit: Unit, fields: dict[str, Any]) -> None:
        end = len(NODES.text)
        label = resolve_label(BOOK, unit, page="docs/nodes.md", span=(end - 5, end + 1), **fields)
        assert (label.status, label.spans) == ("lost", ())

    @pytest.mark.parametrize("pages", [[TOPICS], [NODES, replace(NODES, document_id="twin")]])
    def test_span_on_no_page_or_on_two_is_lost(self, pages: Sequence[PageView]) -> None:
        assert resolve_label(pages, page="docs/nodes.md", span=(0, 5)).status == "lost"


class TestChunks:
    def test_chunk_that_exists_is_exact(self) -> None:
        chunk = NODES.chunks[2]
        label = resolve_label(BOOK, chunk=chunk.chunk_id)
        assert (label.status, label.spans) == ("exact", (TextSpan(NODES.document_id, *trimmed_span(chunk)),))
        assert label.chunk_ids == (chunk.chunk_id,)

    @pytest.mark.parametrize(
        ("fields", "status"),
        [
            ({}, "lost"),
            ({"page": "docs/nodes.md"}, "lost"),  # the whole page is not what was meant
            ({"page": "docs/topics.md", "span": (0, 20)}, "relocated"),
        ],
    )
    def test_chunk_that_is_gone_is_lost_without_a_span(self, fields: dict[str, Any], status: str) -> None:
        label = resolve_label(BOOK, chunk="nodes-123", **fields)
        assert label.status == status
        assert "nodes-123" in label.detail


class TestJudgments:
    def test_highest_of_equally_specific_labels_counts(self) -> None:
        labels = (
            Label(page="docs/topics.md", grade=0),
            Label(page="docs/topics.md", quote="A queue", grade=1),
            Label(page="docs/topics.md", quote="ten messages", grade=2),
        )
        queues, limits = TOPICS.chunks
        for order in permutations(labels):
            query = resolve_query(BOOK, *order)
            assert query.judgments == {queues.chunk_id: 2, limits.chunk_id: 0}
            assert len(query.relevant_spans) == 2

    @pytest.mark.parametrize(
        ("fields", "grade"),
        [
            ([{"grade": 2}, {"anchor": "limits", "grade": 0}], 0),
            ([{"grade": 2}, {"quote": "None at all.", "grade": 0}], 0),
            ([{"grade": 0}, {"quote": "None at all.", "grade": 1}], 1),
            ([{"anchor": "limits", "grade": 2}, {"quote": "None at all.", "grade": 1}], 1),
            ([{"anchor": "limits", "grade": 2}, {"chunk": TOPICS.chunks[1].chunk_id, "grade": 0}], 0),
            ([{"anchor": "limits", "grade": 0}, {"quote": "None at all.", "grade": 0}], 0),
            ([{"anchor": "limits", "grade": 0}, {"anchor": "limits", "grade": 1}], 1),
            ([{"grade": 2}, {"anchor": "limits", "chunk": "gone", "grade": 0}, {"anchor": "limits"}], 2),
        ],
    )
    def test_most_specific_label_on_a_chunk_counts(self, fields: list[dict[str, Any]], grade: int) -> None:
        """A passage before a section, and a section before the page; the highest grade of equal ones."""
        for order in permutations([Label(page="docs/topics.md", **label) for label in fields]):
            query = resolve_query(BOOK, *order)
            assert query.judgments[TOPICS.chunks[1].chunk_id] == grade
            limits = [span for span in query.relevant_spans if span.overlaps(TOPICS.chunks[1])]
            assert bool(limits) == bool(grade)

    def test_anchor_in_an_address_is_as_specific_as_one_beside_it(self) -> None:
        url = TOPICS.url
        query = resolve_query(BOOK, Label(url=url), Label(url=f"{url}#limits", grade=0))
        assert query.judgments == {TOPICS.chunks[0].chunk_id: 2, TOPICS.chunks[1].chunk_id: 0}

    def test_labels_of_judged_pages_are_equally_specific(self) -> None:
        """A passage that does not help makes no page irrelevant."""
        passage = Label(page="docs/topics.md", quote="A queue", grade=0)
        query = resolve_query(BOOK, Label(page="docs/topics.md"), passage, unit="page")
        assert query.judgments == {TOPICS.document_id: 2}

    @pytest.mark.parametrize(
        ("grades", "median"),
        [
            ({"a": [2], "b": [1]}, 1),
            ({"a": [0], "b": [2]}, 0),
            ({"a": [2], "b": [2], "c": [0]}, 2),
            ({"a": [0], "b": [0], "c": [2]}, 0),
            ({"a": [0], "b": [1], "c": [1], "d": [2]}, 1),
            ({"a": [1]}, 1),
            ({"a": [0, 1, 1], "b": [2], "c": [2]}, 2),  # one judge does not outvote others by repetition
        ],
    )
    def test_lower_median_of_the_judges_counts(self, grades: dict[str, list[int]], median: int) -> None:
        labels = [
            Label(page="docs/topics.md", anchor="limits", grade=grade, judge=judge)
            for judge, judged_grade in grades.items()
            for grade in judged_grade
        ]
        query = resolve_query(BOOK, *labels)
        assert query.judgments == {TOPICS.chunks[1].chunk_id: median}
        assert len(query.relevant_spans) == bool(median)

    @pytest.mark.parametrize("stored_hash", ["", "0" * 64])
    def test_copies_are_known_by_their_text_not_by_the_stored_hash(self, stored_hash: str) -> None:
        """The points of an external collection may have no hash, or the hash of something else."""
        notice = "Keep your fingers away from the hinge."
        arm, leg = (view(page(name, {"Notice": notice, "More": f"About the {name}."})) for name in ("a", "b"))
        pages = [
            replace(source, chunks=tuple(replace(chunk, content_hash=stored_hash) for chunk in source.chunks))
            for source in (arm, leg)
        ]
        query = resolve_query(pages, Label(page="docs/a.md", anchor="notice"))
        copies = [source.chunks[0].chunk_id for source in pages]
        assert query.judgments == dict.fromkeys(copies, 2)
        assert query.text_grades == {copies[0]: 2}

    def test_lost_label_judges_nothing(self) -> None:
        query = resolve_query(BOOK, Label(page="docs/gone.md"))
        assert (query.judgments, query.relevant_spans, query.external_ids) == ({}, (), {})

    def test_pages_are_judged_by_their_document(self) -> None:
        query = resolve_query(
            BOOK,
            Label(page="docs/topics.md", quote="A queue", grade=1),
            Label(page="docs/topics.md", quote="None at all.", grade=2),
            Label(page="docs/nodes.md", grade=0),
            unit="page",
        )
        names = {TOPICS.document_id: "docs/topics.md", NODES.document_id: "docs/nodes.md"}
        assert query.judgments == {TOPICS.document_id: 2, NODES.document_id: 0}
        assert query.external_ids == names

    def test_beir_document_is_judged_under_its_own_id(self, tmp_path: Path) -> None:
        (tmp_path / "corpus.jsonl").write_text('{"_id": 7, "title": "T", "text": "Some text."}\n')
        pages = read_pages(f"beir:{tmp_path}")
        query = resolve_query(pages, Label(page="7", grade=1), unit="page")
        assert query.judgments == {pages[0].document_id: 1}
        assert query.external_ids == {pages[0].document_id: "7"}

    def test_relevant_spans_leave_headings_out(self) -> None:
        """A heading is in no chunk: if it were relevant, no search could find everything."""
        query = resolve_query(BOOK, Label(page="docs/topics.md"))
        spans = [TextSpan(TOPICS.document_id, chunk.start, chunk.end) for chunk in TOPICS.chunks]
        assert list(query.relevant_spans) == spans

    def test_judgments_have_every_query_by_id(self) -> None:
        queries = (GoldenQuery(id="b", text="?"), GoldenQuery(id="a", text="?"))
        assert [*resolve_labels(GoldenSet(queries=queries), iter(BOOK))] == ["b", "a"]


def read_pages(source: str, target: int = 60) -> list[PageView]:
    return [view(entry, target) for entry in open_source(source).read() if isinstance(entry, Page)]


def letters_in(spans: Iterable[Sequence[Any]], pages: Iterable[PageView]) -> set[tuple[str, int]]:
    """The positions of all letters in spans; white space between two chunks may be in neither."""
    texts = {source.document_id: source.text for source in pages}
    return {
        (document_id, position)
        for document_id, start, end in spans
        for position in range(start, end)
        if not texts[document_id][position].isspace()
    }


class TestOtherChunks:
    @pytest.mark.parametrize(("old_size", "new_size"), [(60, 30), (60, 120), (120, 60), (30, 200)])
    def test_handbook_chunks_resolve_to_the_same_letters(self, old_size: int, new_size: int) -> None:
        old, new = read_pages(str(HANDBOOK), old_size), read_pages(str(HANDBOOK), new_size)
        chunks = [chunk for source in old for chunk in source.chunks]
        new_chunks = {chunk.chunk_id: chunk for source in new for chunk in source.chunks}
        assert len(chunks) != len(new_chunks)
        queries = [
            GoldenQuery(id=str(number), text="?", labels=(label_chunk(chunk, 2),))
            for number, chunk in enumerate(chunks)
        ]
        resolved = resolve_labels(GoldenSet(queries=tuple(queries)), new)
        for number, chunk in enumerate(chunks):
            query = resolved[str(number)]
            (label,) = query.labels
            assert (label.status, label.spans[0][1:]) == ("exact", trimmed_span(chunk))
            letters = letters_in([(chunk.document_id, chunk.start, chunk.end)], old)
            assert letters_in(query.relevant_spans, new) == letters
            covering = [new_chunks[chunk_id] for chunk_id in query.judgments]
            assert letters <= letters_in([(c.document_id, c.start, c.end) for c in covering], new)

    def test_sections_quotes_and_pages_of_the_handbook_resolve_to_the_same_letters(self) -> None:
        old, new = read_pages(str(HANDBOOK)), read_pages(str(HANDBOOK), 25)
        for source in old:
            for label in (
                Label(page=source.source_path),
                Label(url=f"{source.url}#{source.chunks[3].anchor}"),
                Label(page=source.source_path, quote=" ".join(source.chunks[5].text.split()[:12])),
            ):
                before, after = resolve_query(old, label), resolve_query(new, label)
                assert before.labels[0].status == after.labels[0].status != "lost"
                assert letters_in(before.relevant_spans, old) == letters_in(after.relevant_spans, new)

    @pytest.mark.slow
    @pytest.mark.parametrize(("folder", "status"), [("docs", "exact"), ("old", "relocated")])
    def test_ten_thousand_labels_are_resolved(self, folder: str, status: str) -> None:
        """Each quote must be looked up, not searched on every page: that would take hours."""
        pages = [
            view(page(f"p{n}", {"": [f"Page p{n} says in line {k} that all is well." for k in range(40)]}))
            for n in range(2000)
        ]
        labels = [
            Label(page=f"{folder}/p{n}.md", quote=f"Page p{n} says in line {k} that")
            for n in range(2000)
            for k in (0, 9, 19, 29, 39)
        ]
        assert {label.status for label in resolve_query(pages, *labels).labels} == {status}
