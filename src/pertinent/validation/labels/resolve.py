"""Resolve labels to the current chunks: find the text of each label, and the chunks that cover it.

A label is found by its words. So it stays valid when the chunk size changes, when text is inserted above it,
and when its page is renamed. A label that is not found for certain has the status `relocated`, `ambiguous` or
`lost`, with the reason.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from ..._internal.messages import format_count, format_list
from ...identity import canonical_url
from ...types import SECTION_SEPARATOR, Chunk, find_shared_ids
from ..golden.golden_set import GoldenQuery, GoldenSet, Label, Unit
from ..target import NoVerdict, PageView
from .page_names import share_page_name
from .quotes import (
    MIN_SIMILAR_LENGTH,
    IndexedPage,
    Reading,
    TextSpan,
    fold_text,
    readings_of,
    shortest_spans,
)
from .votes import Specificity, Vote, merge_votes

LabelStatus = Literal["exact", "relocated", "ambiguous", "lost"]

MAX_CANDIDATES = 3
"""How many pages that may replace one that is gone are named."""


@dataclass(frozen=True, slots=True)
class ResolvedLabel:
    """A label with the spans where it was found; a lost one has none."""

    label: Label
    status: LabelStatus
    spans: tuple[TextSpan, ...] = ()
    """More than one if the label is ambiguous; all of them count."""
    chunk_ids: tuple[str, ...] = ()
    """The chunks that cover the spans."""
    detail: str = ""
    """Why the status is not exact."""
    specificity: Specificity = Specificity.PAGE
    covered_sections: int = 0
    """The number of sections if the label is on a whole page, else 0."""

    @property
    def vote(self) -> Vote:
        """What the label says about all that it covers."""
        return Vote(self.label.judge, self.specificity, self.label.grade)


@dataclass(frozen=True, slots=True)
class ResolvedQuery:
    """A query's labels on the current chunks, and the grades that follow from them."""

    query_id: str
    labels: tuple[ResolvedLabel, ...]
    judgments: Mapping[str, int]
    """Grades by chunk id or, where a golden set judges pages, by document id."""
    relevant_spans: tuple[TextSpan, ...]
    """The parts of chunks that answer the query: what a search should find."""
    external_ids: Mapping[str, str]
    """The id of each judged page in its source: its path, or BEIR's `_id`."""
    copies: Mapping[str, Sequence[Chunk]] = field(default_factory=dict)
    """The chunks that share the text of a judged one, by its id; only where there are several."""

    def text_id(self, chunk_id: str) -> str:
        """One id for all chunks with the same text, since a search shows the text only once."""
        return self.copies[chunk_id][0].chunk_id if chunk_id in self.copies else chunk_id

    @property
    def text_grades(self) -> dict[str, int]:
        """The judgments with each text once, by its `text_id`."""
        return {self.text_id(chunk_id): grade for chunk_id, grade in self.judgments.items()}


def resolve_labels(golden: GoldenSet, pages: Iterable[PageView]) -> dict[str, ResolvedQuery]:
    """Resolve the labels of every query on these pages.

    Args:
        golden: The golden set.
        pages: All pages of the index, with their chunks.

    Returns:
        The resolved queries by id. No label is left out: one that is not found has the status `lost`.

    Raises:
        NoVerdict: Chunks with different texts share an id.
    """
    pages = list(pages)
    if shared := find_shared_ids(chunk for page in pages for chunk in page.chunks):
        ids = format_count(len(shared), "chunk id is", "chunk ids are")
        raise NoVerdict(
            f"{ids} shared by chunks with different texts ({format_list(shared, MAX_CANDIDATES)}), so "
            "results can't be matched with labels. In a collection of another pipeline, name its fields in "
            "`qdrant_fields`, without `chunk_id`: each chunk then has the id of its point"
        )
    corpus = _Corpus(pages, golden.unit, golden.pages)
    return {query.id: _resolve_query(query, corpus) for query in golden.queries}


class _Corpus:
    """All pages, by every name that a label may use."""

    def __init__(self, pages: Iterable[PageView], unit: Unit, addresses: Mapping[str, str]) -> None:
        self.unit = unit
        self.pages = [IndexedPage(page, unit) for page in pages]
        self.by_id = {page.page.document_id: page for page in self.pages}
        self.chunks = {chunk.chunk_id: chunk for page in self.pages for chunk in page.page.chunks}
        self.by_anchor: dict[str, list[IndexedPage]] = defaultdict(list)
        self.matches: dict[Hashable, _Match] = {}
        """Cache: queries share labels, as the paraphrases of a question do."""
        self._addresses = addresses
        self._by_text: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in self.chunks.values():
            self._by_text[chunk.text].append(chunk)
        self._by_path: dict[str, list[IndexedPage]] = defaultdict(list)
        self._by_url: dict[str, list[IndexedPage]] = defaultdict(list)
        for page in self.pages:
            self._by_path[page.page.source_path].append(page)
            self._by_url[unquote(canonical_url(page.page.url))].append(page)
            for anchor in {section.anchor for section in page.page.sections}:
                self.by_anchor[anchor].append(page)

    def find_copies(self, chunk: Chunk) -> list[Chunk]:
        """Find the chunks with the same text, the chunk itself included."""
        return self._by_text[chunk.text]

    def find_pages(self, label: Label) -> list[IndexedPage]:
        """Find the pages that a label names: more than one if two sources have the same path."""
        by_path = self._by_path.get(label.page, []) if label.page else []
        if not by_path and label.page in self.by_id:
            by_path = [self.by_id[label.page]]
        url = label.url or self._addresses.get(label.page or "")
        by_url = self._by_url.get(unquote(canonical_url(url)), []) if url else []
        return [page for page in by_path if page in by_url] or by_path or by_url

    def may_be_moved_page(self, label: Label, page: IndexedPage) -> bool:
        """Whether the page that a label names, which is gone, may be this one under another address."""
        names = (label.page, label.url, self._addresses.get(label.page or ""))
        return share_page_name(filter(None, names), filter(None, (page.page.source_path, page.page.url)))

    @cached_property
    def _by_word(self) -> dict[str, list[IndexedPage]]:
        pages: dict[str, list[IndexedPage]] = defaultdict(list)
        for page in self.pages:
            for word in set(page.folded.split(" ")):
                pages[word].append(page)
        return pages

    def find_candidates(self, reading: Reading) -> Sequence[IndexedPage]:
        """Find the pages that may have a reading: those with the rarest of its words.

        The first and the last word of a part are not looked up, since they may be pieces of words.
        """
        inner = [word for part in reading.parts for word in fold_text(part).split(" ")[1:-1]]
        return min((self._by_word.get(word, []) for word in inner), key=len, default=self.pages)


class _Match(NamedTuple):
    status: LabelStatus
    spans: Sequence[TextSpan] = ()
    detail: str = ""


def _resolve_query(query: GoldenQuery, corpus: _Corpus) -> ResolvedQuery:
    labels = tuple(_resolve_label(label, corpus) for label in query.labels)
    judgments = merge_votes(_list_votes(labels, corpus))
    names: dict[str, str] = {}
    relevant_spans: dict[TextSpan, None] = {}
    for label in labels:
        for span in label.spans:
            page = corpus.by_id[span.document_id]
            names[span.document_id] = page.name
            for chunk in page.chunks_covering(span) if label.label.grade else ():
                # Headings and gaps are in no chunk, so no search could find them.
                part = TextSpan(span.document_id, max(span.start, chunk.start), min(span.end, chunk.end))
                if judgments[span.document_id if corpus.unit == "page" else chunk.chunk_id]:
                    relevant_spans[part] = None
    judged = [] if corpus.unit == "page" else [corpus.chunks[chunk_id] for chunk_id in judgments]
    copies = {chunk.chunk_id: same for chunk in judged if len(same := corpus.find_copies(chunk)) > 1}
    return ResolvedQuery(query.id, labels, judgments, tuple(relevant_spans), names, copies)


def _list_votes(labels: Iterable[ResolvedLabel], corpus: _Corpus) -> Iterator[tuple[str, Vote]]:
    """List the votes of the labels on each chunk, or page."""
    for label in labels:
        for span in label.spans:
            chunks = corpus.by_id[span.document_id].chunks_covering(span)
            ids = [copy.chunk_id for chunk in chunks for copy in corpus.find_copies(chunk)]
            for judged_id in [span.document_id] if corpus.unit == "page" else ids:
                yield judged_id, label.vote


def _resolve_label(label: Label, corpus: _Corpus) -> ResolvedLabel:
    pointer = (label.page, label.url, label.anchor, label.quote, label.span, label.chunk)
    if pointer not in corpus.matches:
        corpus.matches[pointer] = _match_label(label, corpus)
    status, spans, detail = corpus.matches[pointer]
    chunks = [chunk for span in spans for chunk in corpus.by_id[span.document_id].chunks_covering(span)]
    chunk_ids = tuple(dict.fromkeys(chunk.chunk_id for chunk in chunks))
    sections = len({chunk.anchor for chunk in chunks}) if _covers_page(label) else 0
    specificity = _specificity_of(label, corpus)
    return ResolvedLabel(label, status, tuple(spans), chunk_ids, detail, specificity, sections)


def _match_label(label: Label, corpus: _Corpus) -> _Match:
    if label.chunk in corpus.chunks:
        chunk = corpus.chunks[label.chunk]
        return _Match("exact", [TextSpan(chunk.document_id, chunk.start, chunk.end)])
    if not (label.page or label.url):
        return _Match("lost", detail=f"no chunk has the id {label.chunk}")
    pages = corpus.find_pages(label)
    if (label.chunk or label.span) and not label.quote and not _anchor_of(label):
        return _match_span(label, pages)
    if label.quote:
        return _match_quote(label, label.quote, pages, corpus)
    if anchor := _anchor_of(label):
        return _match_anchor(label, anchor, pages, corpus)
    spans = [(page, TextSpan(page.page.document_id, 0, len(page.page.text))) for page in pages]
    matches = [_Match("exact", [span]) for page, span in spans if page.is_findable(span)]
    return _best_match(matches) or _Match("lost", detail=f"the page {'has no text' if pages else 'is gone'}")


def _match_span(label: Label, pages: Sequence[IndexedPage]) -> _Match:
    """Match a label by its span: one without a quote, or on a chunk that no longer exists."""
    if label.span is not None and len(pages) == 1:
        span = TextSpan(pages[0].page.document_id, *label.span)
        if span.end <= len(pages[0].page.text) and pages[0].is_findable(span):
            if not label.chunk:
                return _Match("exact", [span])
            return _Match("relocated", [span], f"chunk {label.chunk} is gone; its span is used instead")
    if label.chunk:
        return _Match("lost", detail=f"no chunk has the id {label.chunk}")
    reasons = {0: "the page is gone", 1: "the page has no text there"}
    return _Match("lost", detail=reasons.get(len(pages), f"{len(pages)} pages have this name"))


def _anchor_of(label: Label) -> str:
    """The label's anchor, or the one in its address."""
    return (label.anchor or unquote(urlsplit(label.url or "").fragment)).removeprefix("#")


def _covers_page(label: Label) -> bool:
    return not (label.chunk or label.span or label.quote or _anchor_of(label))


def _specificity_of(label: Label, corpus: _Corpus) -> Specificity:
    if corpus.unit == "page" or _covers_page(label):
        return Specificity.PAGE
    is_section = _anchor_of(label) and not label.quote and label.chunk not in corpus.chunks
    return Specificity.SECTION if is_section else Specificity.PASSAGE


def _match_anchor(label: Label, anchor: str, pages: Sequence[IndexedPage], corpus: _Corpus) -> _Match:
    """Match a section; on another page only if that may be the same page, since many have such a section."""
    if pages:
        sections = [spans for page in pages if (spans := page.find_sections(anchor))]
        best = _best_match([_match_spans(spans, "sections have this anchor") for spans in sections])
        return best or _Match("lost", detail=_explain_missing_section(pages[0], anchor))
    elsewhere = corpus.by_anchor.get(anchor, [])
    if len(elsewhere) == 1 and corpus.may_be_moved_page(label, elsewhere[0]):
        return _Match("relocated", elsewhere[0].find_sections(anchor), f"now on {elsewhere[0].name}")
    if not elsewhere:
        return _Match("lost", detail=f"the page is gone, and no other has a section {anchor}")
    names = format_list([page.name for page in elsewhere], MAX_CANDIDATES)
    detail = f"the page is gone; if another one replaces it, name that: {names} (with a section {anchor})"
    return _Match("lost", detail=detail)


def _explain_missing_section(page: IndexedPage, anchor: str) -> str:
    """Explain why there is no text under an anchor: a heading above other headings may have none."""
    slugs = {_letters_of(anchor), _letters_of(re.sub(r"-\d+$", "", anchor))}
    paths = [section.section.split(SECTION_SEPARATOR) for section in page.page.sections]
    steps = [step for path in paths for step in pairwise(path)]
    subsections = {lower: upper for upper, lower in steps if _letters_of(upper) in slugs}
    if subsections:
        heading = next(iter(subsections.values()))
        names = ", ".join(subsections)
        return f"the heading {heading!r} has no text of its own; label its subsections: {names}"
    anchors = sorted({section.anchor for section in page.page.sections})
    close = get_close_matches(anchor, anchors, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"{page.name} has no section {anchor}{hint}"


def _letters_of(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _match_quote(label: Label, quote: str, pages: Sequence[IndexedPage], corpus: _Corpus) -> _Match:
    length = _length_of(label)
    exact = [_choose_spans(spans, page, label) for page in pages if (spans := page.find_quote(quote, length))]
    if best := _best_match(exact):
        return best
    if any(page.find_reading(reading, length) for page in pages for reading in readings_of(quote)):
        return _Match("lost", detail="is only in a heading, which is in no chunk; give its anchor")
    similar = [spans for page in pages if (spans := page.find_similar(quote, length))]
    best = _best_match([_Match("relocated", spans, "the text has changed") for spans in similar])
    return best or _match_elsewhere(label, quote, pages, corpus)


def _length_of(label: Label) -> int | None:
    return label.span[1] - label.span[0] if label.span else None


def _choose_spans(spans: Sequence[TextSpan], page: IndexedPage, label: Label) -> _Match:
    """Choose between the spans of a quote on one page, by the label's span and section."""
    unmoved = [span for span in spans if span[1:] == label.span]
    if unmoved:
        return _Match("exact", unmoved)
    anchor = _anchor_of(label)
    sections = page.find_sections(anchor) if anchor else []
    shortest = shortest_spans(spans)
    chosen = [span for span in shortest if any(map(span.overlaps, sections))] or shortest
    if label.span and len(chosen) > 1:
        start = label.span[0]
        nearest = min(chosen, key=lambda span: abs(span.start - start))
        return _Match("relocated", [nearest], "has moved on the page, which has its text more than once")
    return _match_spans(chosen, f"places on {page.name} have this text")


def _match_elsewhere(label: Label, quote: str, pages: Sequence[IndexedPage], corpus: _Corpus) -> _Match:
    """Match a quote on other pages, if its own is gone or no longer has it.

    A few words identify no passage: if they counted on any page, almost any result would. They count in a
    single place, of a page that may be the label's own under another address.
    """
    for reading in readings_of(quote):
        candidates = corpus.find_candidates(reading)
        readings = ((page, page.find_reading(reading, _length_of(label))) for page in candidates)
        hits = [(page, same) for page, spans in readings if (same := list(filter(page.is_findable, spans)))]
        matches = sum(len(spans) for _, spans in hits)
        is_same_page = not pages and matches == 1 and corpus.may_be_moved_page(label, hits[0][0])
        if matches and not is_same_page and max(map(len, reading.parts)) < MIN_SIMILAR_LENGTH:
            names = format_list([page.name for page, _ in hits], MAX_CANDIDATES)
            count = format_count(matches, "place has", "places have")
            detail = f"its text is too short to be recognised on another page; {count} it, on {names}"
            return _Match("lost", detail=detail)
        if len(hits) == 1:
            ((page, spans),) = hits
            match = _choose_spans(spans, page, label)
            status: LabelStatus = "ambiguous" if match.status == "ambiguous" else "relocated"
            return _Match(status, match.spans, f"now on {page.name}")
        if hits:
            every = [span for _, spans in hits for span in shortest_spans(spans)]
            return _Match("ambiguous", every, f"now on {len(hits)} pages, such as {hits[0][0].name}")
    where = (
        f"neither on {pages[0].name} nor on any other page" if pages else "on no page, and its page is gone"
    )
    return _Match("lost", detail=f"its text is {where}")


def _best_match(matches: Sequence[_Match]) -> _Match | None:
    """The surest match of pages with the same name; all of them if they are equally sure."""
    for status in ("exact", "relocated", "ambiguous"):
        same = [match for match in matches if match.status == status]
        if len(same) > 1:
            every = [span for match in same for span in match.spans]
            return _Match("ambiguous", every, f"{len(same)} pages have this name")
        if same:
            return same[0]
    return None


def _match_spans(spans: Sequence[TextSpan], what: str) -> _Match:
    if len(spans) == 1:
        return _Match("exact", spans)
    return _Match("ambiguous", spans, f"{len(spans)} {what}")
