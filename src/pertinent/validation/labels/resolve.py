"""Labels to today's chunks: where the place of each label stands now, and which passages cover it.

A label is found by its words, so it outlives another chunk size, text put in above it and a page
that was renamed. What is not certain says so: `relocated`, `ambiguous` or `lost`, with the reason.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from ...identity import canonical_url
from ...types import Chunk
from ..golden.golden_set import GoldenQuery, GoldenSet, Label, Unit, dump
from ..metrics import median_grade
from ..target import PageView
from .quotes import Leaf, Place, Wording, fold, narrowed, wordings

__all__ = [
    "Place",
    "Resolved",
    "ResolvedQuery",
    "Status",
    "Wanted",
    "label_for",
    "pin",
    "pinned",
    "resolve",
]

Status = Literal["exact", "relocated", "ambiguous", "lost"]

KEPT_WORDS = 8
"""How many words a shortened quote keeps at either end."""


class Wanted(NamedTuple):
    """What a passage covers of a place that answers; together they are what a search should find."""

    document_id: str
    start: int
    end: int
    grade: int


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a label's place stands now; a lost one has no document."""

    label: Label
    status: Status
    document_id: str | None
    start: int
    end: int
    chunk_ids: tuple[str, ...]
    detail: str = ""
    others: tuple[Place, ...] = ()
    """The further places of an ambiguous label; they count as much as the first."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Every place that counts."""
        if self.document_id is None:
            return ()
        return (Place(self.document_id, self.start, self.end), *self.others)


@dataclass(frozen=True, slots=True)
class ResolvedQuery:
    """A query's labels as they stand today, and the judgments that follow from them."""

    query_id: str
    labels: tuple[Resolved, ...]
    judgments: Mapping[str, int]
    """Grades by chunk id or, where a golden set judges pages, by document id."""
    wanted: tuple[Wanted, ...]
    external_ids: Mapping[str, str]
    """What the source itself calls each page that has a judgment: its path, or BEIR's `_id`."""
    copies: Mapping[str, Sequence[Chunk]] = field(default_factory=dict)
    """The chunks that share the text of a judged one, by the id of each, where there are several."""

    def text_of(self, chunk_id: str) -> str:
        """One id for all copies of a text: a search shows it once, from whichever page."""
        return self.copies[chunk_id][0].chunk_id if chunk_id in self.copies else chunk_id

    @property
    def texts(self) -> dict[str, int]:
        """The judgments with each text once: what a search can find, and is measured by."""
        return {self.text_of(one): grade for one, grade in self.judgments.items()}


def resolve(golden: GoldenSet, pages: Iterable[PageView]) -> dict[str, ResolvedQuery]:
    """Every query's labels on these pages, by the query's id."""
    corpus = _Corpus(pages, golden.unit, golden.pages)
    return {query.id: _resolve_query(query, corpus) for query in golden.queries}


def pin(golden: GoldenSet, pages: Iterable[PageView]) -> GoldenSet:
    """The golden set with page, quote and span in place of each chunk id that exists."""
    corpus = _Corpus(pages, "passage")

    def lasting(label: Label) -> Label:
        known = None if label.quote else corpus.chunks.get(label.chunk or "")
        return _pinned(label, *known) if known else label

    labels = ({"labels": tuple(map(lasting, query.labels))} for query in golden.queries)
    queries = (query.model_copy(update=new) for query, new in zip(golden.queries, labels, strict=True))
    return golden.model_copy(update={"queries": tuple(queries)})


def lasting(golden: GoldenSet, pages: Sequence[PageView], path: str) -> None:
    """Write the golden set so that none of its labels depends on how pages are cut."""
    dump(pin(golden, pages), path)


def pinned(label: Label, chunk: Chunk, page: PageView) -> Label:
    """The label with the chunk's page, words and span in place of its id."""
    return _pinned(label, chunk, Leaf(page, "passage"))


def label_for(chunk: Chunk, grade: int, judge: str | None = None, note: str | None = None) -> Label:
    """A label on a passage that was shown to a judge."""
    place = _words_of(chunk)
    alone = PageView(chunk.document_id, chunk.url, chunk.title, chunk.source_path, chunk.text.strip(), ())
    quote = _quote(chunk, Place(chunk.document_id, 0, place.end - place.start), Leaf(alone, "page"))
    return Label(
        grade=grade,
        page=chunk.source_path or chunk.document_id,
        quote=quote,
        chunk=None if quote else chunk.chunk_id,
        span=place[1:] if place.start < place.end else None,
        judge=judge,
        note=note,
    )


def _pinned(label: Label, chunk: Chunk, leaf: Leaf) -> Label:
    made = label_for(chunk, label.grade, label.judge, label.note)
    quote = _quote(chunk, _words_of(chunk), leaf)
    # Where the page says the same twice, the section helps the span to tell which is meant.
    anchor = label.anchor or (None if quote else chunk.anchor or None)
    return made.model_copy(update={"url": label.url, "anchor": anchor, "quote": quote or made.quote})


def _words_of(chunk: Chunk) -> Place:
    """A chunk's place without the white space at its ends, such as the indent of a list item."""
    start = chunk.end - len(chunk.text.lstrip())
    return Place(chunk.document_id, start, start + len(chunk.text.strip()))


def _quote(chunk: Chunk, place: Place, leaf: Leaf) -> str | None:
    """The chunk's two ends, as short as they tell its place; None where even the whole does not."""
    words = chunk.text.split()
    kept = KEPT_WORDS
    while 2 * kept + 4 < len(words):
        quote = " ".join([*words[:kept], "…", *words[-kept:]])
        if narrowed(leaf.stands(quote)) == [place]:
            return quote
        kept *= 2
    whole = " ".join(words)
    tells = whole.replace("…", "").strip() and leaf.stands(whole) == [place]
    return whole if tells else None


class _Corpus:
    """All pages, by every name that a label may use."""

    def __init__(
        self, pages: Iterable[PageView], unit: Unit, addresses: Mapping[str, str] | None = None
    ) -> None:
        self.unit = unit
        self._addresses = addresses or {}
        self.leaves = [Leaf(page, unit) for page in pages]
        self.by_id = {leaf.page.document_id: leaf for leaf in self.leaves}
        self.chunks = {chunk.chunk_id: (chunk, leaf) for leaf in self.leaves for chunk in leaf.page.chunks}
        self.known: dict[Hashable, _Found] = {}
        self._by_hash: dict[str, list[Chunk]] = defaultdict(list)
        for chunk, _ in self.chunks.values():
            self._by_hash[chunk.content_hash].append(chunk)
        self.by_anchor: dict[str, list[Leaf]] = defaultdict(list)
        self._by_path: dict[str, list[Leaf]] = defaultdict(list)
        self._by_url: dict[str, list[Leaf]] = defaultdict(list)
        for leaf in self.leaves:
            self._by_path[leaf.page.source_path].append(leaf)
            self._by_url[unquote(canonical_url(leaf.page.url))].append(leaf)
            for anchor in {chunk.anchor for chunk in leaf.page.chunks}:
                self.by_anchor[anchor].append(leaf)

    def same_text(self, chunk: Chunk) -> list[Chunk]:
        """The chunk and its copies on other pages."""
        return self._by_hash[chunk.content_hash]

    def named(self, label: Label) -> list[Leaf]:
        """The pages that a label names: more than one where two sources have the same path."""
        by_path = self._by_path.get(label.page, []) if label.page else []
        if not by_path and label.page in self.by_id:
            by_path = [self.by_id[label.page]]
        url = label.url or self._addresses.get(label.page or "")
        by_url = self._by_url.get(unquote(canonical_url(url)), []) if url else []
        return [leaf for leaf in by_path if leaf in by_url] or by_path or by_url

    @cached_property
    def _by_word(self) -> dict[str, list[Leaf]]:
        found: dict[str, list[Leaf]] = defaultdict(list)
        for leaf in self.leaves:
            for word in set(leaf.folded.split(" ")):
                found[word].append(leaf)
        return found

    def holding(self, wording: Wording) -> Sequence[Leaf]:
        """The pages that may hold a wording: those with the rarest of its words.

        The first and the last word of a part may be a piece of the page's word, the others not.
        """
        inner = [word for part in wording.parts for word in fold(part).split(" ")[1:-1]]
        return min((self._by_word.get(word, []) for word in inner), key=len, default=self.leaves)


class _Found(NamedTuple):
    status: Status
    places: Sequence[Place] = ()
    detail: str = ""


def _resolve_query(query: GoldenQuery, corpus: _Corpus) -> ResolvedQuery:
    labels = tuple(_resolved(label, corpus) for label in query.labels)
    judgments = _agreed(labels, corpus)
    names: dict[str, str] = {}
    wanted: dict[Place, Wanted] = {}
    for one in labels:
        for place in one.places:
            leaf = corpus.by_id[place.document_id]
            names[place.document_id] = leaf.name
            for chunk in leaf.covering(place) if one.label.grade else ():
                # Headings and gaps are in no passage: with them, nothing could find all that is wanted.
                part = Place(place.document_id, max(place.start, chunk.start), min(place.end, chunk.end))
                grade = judgments[place.document_id if corpus.unit == "page" else chunk.chunk_id]
                if grade:
                    wanted[part] = Wanted(*part, min(grade, one.label.grade))
    judged = [] if corpus.unit == "page" else [corpus.chunks[one][0] for one in judgments]
    copies = {one.chunk_id: same for one in judged if len(same := corpus.same_text(one)) > 1}
    return ResolvedQuery(query.id, labels, judgments, tuple(wanted.values()), names, copies)


def _agreed(labels: Iterable[Resolved], corpus: _Corpus) -> dict[str, int]:
    """A grade for each passage, or page: a judge's highest, and of several judges' the lower median."""
    votes: dict[str, dict[str | None, int]] = defaultdict(dict)
    for one in labels:
        judge, grade = one.label.judge, one.label.grade
        for place in one.places:
            chunks = corpus.by_id[place.document_id].covering(place)
            same = [one.chunk_id for chunk in chunks for one in corpus.same_text(chunk)]
            for name in [place.document_id] if corpus.unit == "page" else same:
                votes[name][judge] = max(grade, votes[name].get(judge, 0))
    return {name: median_grade(vote.values()) for name, vote in votes.items()}


def _resolved(label: Label, corpus: _Corpus) -> Resolved:
    pointed_at = (label.page, label.url, label.anchor, label.quote, label.span, label.chunk)
    if pointed_at not in corpus.known:
        # Queries share places, as the wordings of one question do.
        corpus.known[pointed_at] = _found(label, corpus)
    status, places, detail = corpus.known[pointed_at]
    if not places:
        return Resolved(label, "lost", None, 0, 0, (), detail)
    chunks = [chunk for place in places for chunk in corpus.by_id[place.document_id].covering(place)]
    ids = tuple(dict.fromkeys(chunk.chunk_id for chunk in chunks))
    return Resolved(label, status, *places[0], ids, detail, tuple(places[1:]))


def _found(label: Label, corpus: _Corpus) -> _Found:
    if label.chunk in corpus.chunks:
        chunk, _ = corpus.chunks[label.chunk]
        return _Found("exact", [Place(chunk.document_id, chunk.start, chunk.end)])
    if not (label.page or label.url):
        return _Found("lost", detail=f"no passage has the id {label.chunk}")
    leaves = corpus.named(label)
    if label.chunk and not label.quote and not _anchor(label):
        return _by_span(label, leaves)
    if label.quote:
        return _by_quote(label, label.quote, leaves, corpus)
    if anchor := _anchor(label):
        return _by_anchor(anchor, leaves, corpus)
    wholes = [(leaf, Place(leaf.page.document_id, 0, len(leaf.page.text))) for leaf in leaves]
    exact = [_Found("exact", [place]) for leaf, place in wholes if leaf.counts(place)]
    return _best(exact) or _Found("lost", detail=f"the page {'has no text' if leaves else 'is gone'}")


def _by_span(label: Label, leaves: Sequence[Leaf]) -> _Found:
    """Where a chunk stood that is no more."""
    if label.span is not None and len(leaves) == 1:
        place = Place(leaves[0].page.document_id, *label.span)
        if leaves[0].counts(place):
            return _Found("relocated", [place], f"chunk {label.chunk} is gone; its span was taken")
    return _Found("lost", detail=f"no passage has the id {label.chunk}")


def _anchor(label: Label) -> str:
    """The label's anchor, or the one in its address."""
    return (label.anchor or unquote(urlsplit(label.url or "").fragment)).removeprefix("#")


def _by_anchor(anchor: str, leaves: Sequence[Leaf], corpus: _Corpus) -> _Found:
    found = [places for leaf in leaves if (places := leaf.sections(anchor))]
    if leaves:
        best = _best([_one_or_all(places, "sections have this anchor") for places in found])
        return best or _Found("lost", detail=_no_section(leaves[0], anchor))
    others = corpus.by_anchor.get(anchor, [])
    if len(others) == 1:
        return _Found("relocated", others[0].sections(anchor), f"now on {others[0].name}")
    return _Found("lost", detail=f"the page is gone, and {len(others)} others have a section {anchor}")


def _no_section(leaf: Leaf, anchor: str) -> str:
    """Why there is no text under an anchor: a heading above other headings may have none of its own."""
    meant = {_letters(anchor), _letters(re.sub(r"-\d+$", "", anchor))}
    steps = [step for chunk in leaf.page.chunks for step in pairwise(chunk.section.split(" › "))]
    below = {lower: upper for upper, lower in steps if _letters(upper) in meant}
    if not below:
        return f"{leaf.name} has no section {anchor}{_suggest(anchor, leaf.page.chunks)}"
    heading = next(iter(below.values()))
    return f"the heading {heading!r} has no text of its own; label its subsections: {', '.join(below)}"


def _suggest(anchor: str, chunks: Iterable[Chunk]) -> str:
    close = get_close_matches(anchor, sorted({chunk.anchor for chunk in chunks}), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _by_quote(label: Label, quote: str, leaves: Sequence[Leaf], corpus: _Corpus) -> _Found:
    verbatim = _best([_chosen(found, leaf, label) for leaf in leaves if (found := leaf.stands(quote))])
    if verbatim:
        return verbatim
    if any(leaf.find(wording) for leaf in leaves for wording in wordings(quote)):
        return _Found("lost", detail="stands only in a heading, which is in no passage; give its anchor")
    changed = [found for leaf in leaves if (found := leaf.resembles(quote))]
    outcome = _best([_Found("relocated", found, "the text has changed") for found in changed])
    return outcome or _elsewhere(label, quote, leaves, corpus)


def _chosen(found: Sequence[Place], leaf: Leaf, label: Label) -> _Found:
    """Which of the places is meant, all of them on one page."""
    still = [place for place in found if place[1:] == label.span]
    if still:
        return _Found("exact", still)
    sections = leaf.sections(anchor) if (anchor := _anchor(label)) else []
    places = narrowed(found)
    places = [place for place in places if any(map(place.overlaps, sections))] or places
    if label.span and len(places) > 1:
        start = label.span[0]
        nearest = min(places, key=lambda place: abs(place.start - start))
        return _Found("relocated", [nearest], "stands elsewhere on the page now, and more than once")
    return _one_or_all(places, f"places on {leaf.name} have this text")


def _elsewhere(label: Label, quote: str, leaves: Sequence[Leaf], corpus: _Corpus) -> _Found:
    """The quote on other pages than its own, which is gone or no longer has it."""
    for wording in wordings(quote):
        holding = corpus.holding(wording)
        hits = [(leaf, list(filter(leaf.counts, leaf.find(wording)))) for leaf in holding]
        hits = [(leaf, found) for leaf, found in hits if found]
        if len(hits) == 1:
            ((leaf, found),) = hits
            moved = _chosen(found, leaf, label)
            status: Status = "ambiguous" if moved.status == "ambiguous" else "relocated"
            return _Found(status, moved.places, f"now on {leaf.name}")
        if hits:
            every = [place for _, found in hits for place in narrowed(found)]
            return _Found("ambiguous", every, f"now on {len(hits)} pages, such as {hits[0][0].name}")
    where = f"neither on {leaves[0].name} nor elsewhere" if leaves else "nowhere, and its page is gone"
    return _Found("lost", detail=f"its text is {where}")


def _best(outcomes: Sequence[_Found]) -> _Found | None:
    """The surest of the pages that share a name, and all of them where they are equally sure."""
    for status in ("exact", "relocated", "ambiguous"):
        same = [one for one in outcomes if one.status == status]
        if len(same) > 1:
            every = [place for one in same for place in one.places]
            return _Found("ambiguous", every, f"{len(same)} pages have this name")
        if same:
            return same[0]
    return None


def _one_or_all(places: Sequence[Place], what: str) -> _Found:
    if len(places) == 1:
        return _Found("exact", places)
    return _Found("ambiguous", places, f"{len(places)} {what}")
