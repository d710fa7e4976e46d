"""Labelling: which passages a judge is shown, in which order, and what has been judged so far.

The passages are pooled from all rankings, so that none of them is favoured. What stands at the top of
some list and nobody has judged comes first; within that the passages of a query are shuffled, for each
judge in another way, so that neither rank nor score shows through. What was skipped comes at the end.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...errors import InvalidInput, NotFound
from ...limits import RANKINGS
from ...types import Chunk, SearchOptions
from ..golden import formats as exchange
from ..golden.golden_set import GoldenQuery, GoldenSet, Label, Unit
from ..target import PageView, ValidationTarget
from .agreement import Judge, Passage, Views
from .judgments import Judgment, Log, checked_judge, checked_note, judgment, merged
from .resolve import Resolved, label_for, resolve

DEPTH = 10
"""How far down each ranking is read."""

TOP = 5
"""Down to which rank a passage belongs to the top, which is judged first: P@5 looks no further."""

SEED = 20251216


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that some ranking gives for a query, and its best rank."""

    query: GoldenQuery
    chunk: Chunk
    rank: int
    passage: Passage


@dataclass(frozen=True, slots=True)
class Tally:
    """How far a judge is."""

    judged: int
    skipped: int
    total: int

    @property
    def left(self) -> int:
        """How many passages still wait, those that were skipped among them."""
        return self.total - self.judged


def pool(
    subject: ValidationTarget, golden: GoldenSet, advance: Callable[[], None] = lambda: None
) -> list[Candidate]:
    """What the rankings give for every query that may have an answer."""
    found: list[Candidate] = []
    for query in golden.queries:
        if query.answerable:
            found += _pooled(subject, query, golden.unit)
        advance()
    return found


def _pooled(subject: ValidationTarget, query: GoldenQuery, unit: Unit) -> Iterable[Candidate]:
    best: dict[Passage, Candidate] = {}
    for ranking in RANKINGS:
        try:
            options = SearchOptions(
                top_k=DEPTH,
                ranking=ranking,
                per_page=1 if unit == "page" else None,
                filters=query.filters.to_filters(),
            )
            answer = subject.search(query.text, options)
        except InvalidInput:  # an edge case, such as the empty query, or a side that the index lacks
            continue
        for rank, hit in enumerate(answer.hits, start=1):
            passage = Passage(query.id, hit.chunk.document_id if unit == "page" else hit.chunk.chunk_id)
            if passage not in best or rank < best[passage].rank:
                best[passage] = Candidate(query, hit.chunk, rank, passage)
    return best.values()


def queue(
    candidates: Sequence[Candidate],
    views: Views,
    judge: Judge = None,
    skipped: frozenset[Passage] = frozenset(),
    seed: int = SEED,
) -> list[Candidate]:
    """What a judge has not judged, in the order in which it is shown; without a name, what nobody has."""
    places = {query: place for place, query in enumerate(dict.fromkeys(one.query.id for one in candidates))}

    def order(one: Candidate) -> tuple[bool, bool, bool, int, str]:
        known = bool(views.get(one.passage))
        return (
            one.passage in skipped,
            known,
            one.rank > TOP,
            places[one.query.id],
            _shuffled(one, judge, seed),
        )

    return sorted((one for one in candidates if not done(one, views, judge)), key=order)


def done(candidate: Candidate, views: Views, judge: Judge) -> bool:
    """Whether a judge need not look at it any more."""
    said = views.get(candidate.passage, {})
    return bool(said) if judge is None else judge in said


def _shuffled(candidate: Candidate, judge: Judge, seed: int) -> str:
    # A hash and not a shuffled list: what is left keeps its order while others are judged.
    told = f"{seed}\0{judge or ''}\0{candidate.query.id}\0{candidate.chunk.chunk_id}"
    return hashlib.sha256(told.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Look:
    """What a judge finds on the desk: the passage that is next, if there is one."""

    candidate: Candidate | None
    progress: Tally
    undoable: bool
    """Whether the judge has said anything that could be taken back."""


@dataclass(frozen=True, slots=True)
class Desk:
    """A golden set laid out for its judges; safe to use from many threads.

    The golden file and the passages are as they were when it was opened. The judgments are read anew each
    time, so that several desks may be at work on one golden set.
    """

    golden: GoldenSet
    log: Log
    candidates: Mapping[tuple[str, str], Candidate]
    """By the ids of the query and of the passage that is shown."""
    written: Views
    """What the golden file says."""
    covered: Mapping[str, tuple[str, ...]]
    """Which passages each judgment is of that was there at the opening."""
    breadcrumbs: Mapping[str, str]
    """Where each passage stands."""

    @classmethod
    def open(
        cls,
        subject: ValidationTarget,
        spec: str,
        *,
        query: str | None = None,
        pooled: bool = True,
        advance: Callable[[], None] = lambda: None,
    ) -> Desk:
        """The golden set that `spec` names, or one query of it, with what the subject finds for it."""
        if spec.startswith("beir:"):
            raise InvalidInput("golden", f"{spec} is a folder; only a golden file can be labelled")
        golden = exchange.read(spec, judged=False)
        chosen = golden if query is None else _only(golden, query)
        log = Log.beside(spec)
        said = log.standing()
        pages = list(subject.pages())
        written, covered = _settled(golden, said, pages, str(log.path))
        found = pool(subject, chosen, advance) if pooled else ()
        return cls(
            golden=golden,
            log=log,
            candidates={(one.query.id, one.chunk.chunk_id): one for one in found},
            written=written,
            covered=covered,
            breadcrumbs=_breadcrumbs(pages, golden.unit),
        )

    def look(self, judge: Judge) -> Look:
        """What the judge is to look at now."""
        judge = checked_judge(judge)
        said = self.log.standing()
        mine = [one for one in said if one.judge == judge]
        skipped = frozenset(
            Passage(one.query, name) for one in mine if one.label is None for name in self._names(one)
        )
        total = len(self.candidates)
        waiting = queue(list(self.candidates.values()), self._views(said), judge, skipped)
        progress = Tally(total - len(waiting), sum(one.passage in skipped for one in waiting), total)
        return Look(waiting[0] if waiting else None, progress, bool(mine))

    def find(self, query: str, chunk: str) -> Candidate:
        """The passage that was shown."""
        if (query, chunk) not in self.candidates:
            raise NotFound(f"the passage {chunk!r} is not among those to be judged for the query {query!r}")
        return self.candidates[query, chunk]

    def judge(self, candidate: Candidate, grade: int | None, judge: Judge, note: str | None = None) -> None:
        """Save how well a passage answers: 0, 1 or 2; None skips it."""
        name, said = checked_judge(judge), checked_note(note)
        label = None if grade is None else self._label(candidate.chunk, grade, name, said)
        self.log.add(judgment(candidate.query.id, candidate.chunk.chunk_id, name, label))

    def undo(self, judge: Judge) -> Judgment | None:
        """Take back the judge's last word, and tell what it was; None where there is nothing."""
        return self.log.undo(checked_judge(judge))

    def views(self) -> Views:
        """Who has said what of which passage, the golden file included."""
        return self._views(self.log.standing())

    def _label(self, chunk: Chunk, grade: int, judge: Judge, note: str | None) -> Label:
        if self.golden.unit == "passage":
            return label_for(chunk, grade, judge, note)
        return Label(grade=grade, page=chunk.source_path or chunk.document_id, judge=judge, note=note)

    def _views(self, said: Sequence[Judgment]) -> Views:
        views = defaultdict(dict, {passage: dict(grades) for passage, grades in self.written.items()})
        for one in said:
            if one.label is not None:
                _add(views, one.query, self._names(one), one.label)
        return views

    def _names(self, one: Judgment) -> tuple[str, ...]:
        if one.id in self.covered:
            return self.covered[one.id]
        # Said since the opening, or skipped: then it is of the passage as it was shown.
        shown = self.candidates.get((one.query, one.chunk))
        return (shown.passage.name if shown else one.chunk,)


def _settled(
    golden: GoldenSet, said: Sequence[Judgment], pages: Sequence[PageView], where: str
) -> tuple[Views, dict[str, tuple[str, ...]]]:
    """What the golden file says of today's passages, and of which of them each judgment is."""
    resolved = resolve(merged(golden, said, where), pages)
    written: dict[Passage, dict[Judge, int]] = defaultdict(dict)
    of_judges: dict[str, list[Judgment]] = defaultdict(list)
    for one in said:
        if one.label is not None:
            of_judges[one.query].append(one)
    covered: dict[str, tuple[str, ...]] = {}
    for query in golden.queries:
        labels = resolved[query.id].labels
        for found in labels[: len(query.labels)]:
            _add(written, query.id, _names(found, golden.unit), found.label)
        for one, found in zip(of_judges[query.id], labels[len(query.labels) :], strict=True):
            covered[one.id] = _names(found, golden.unit)
    return written, covered


def _add(views: Mapping[Passage, dict[Judge, int]], query: str, names: Iterable[str], label: Label) -> None:
    for name in names:
        grades = views[Passage(query, name)]
        grades[label.judge] = max(label.grade, grades.get(label.judge, 0))


def _names(found: Resolved, unit: Unit) -> tuple[str, ...]:
    """The passages, or pages, that a label is of."""
    if unit == "passage":
        return found.chunk_ids
    return tuple(dict.fromkeys(place.document_id for place in found.places))


def _only(golden: GoldenSet, wanted: str) -> GoldenSet:
    queries = tuple(query for query in golden.queries if query.id == wanted)
    if not queries:
        raise InvalidInput("query", f"the golden set has no query with the id {wanted!r}")
    if not queries[0].answerable:
        raise InvalidInput("query", f"{wanted!r} has no answer, so there is nothing to judge for it")
    return golden.model_copy(update={"queries": queries})


def _breadcrumbs(pages: Iterable[PageView], unit: Unit) -> dict[str, str]:
    if unit == "page":
        return {page.document_id: page.title for page in pages}
    return {chunk.chunk_id: chunk.breadcrumb for page in pages for chunk in page.chunks}
