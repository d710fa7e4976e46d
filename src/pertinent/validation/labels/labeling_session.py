"""Labelling: choose the passages that a judge is shown, order them, and record the judgments.

Passages are pooled from all rankings, so that no ranking is favoured. Unjudged passages from the top of a
ranking come first. Within that, the passages of a query are shuffled, in a different order for each judge, so
that their order does not give away rank or score. Skipped passages come last.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...errors import InvalidInput, NotFound
from ...limits import RANKINGS
from ...types import Chunk, SearchOptions
from ..golden import formats
from ..golden.golden_set import GoldenQuery, GoldenSet, Label, Unit
from ..target import PageView, ValidationTarget
from .agreement import GradesByPassage, Passage
from .judgments import (
    Judgment,
    JudgmentLog,
    check_judge_name,
    check_note,
    create_judgment,
    merge_judgments,
)
from .pinning import label_chunk
from .resolve import ResolvedLabel, resolve_labels
from .votes import Judge, Specificity, Vote, merge_by_judge

POOL_DEPTH = 10
"""How many results of each ranking are pooled."""

TOP_RANKS = 5
"""Passages up to this rank are judged first: P@5 looks no further."""

SHUFFLE_SEED = 20251216


@dataclass(frozen=True, slots=True)
class PooledPassage:
    """A passage that at least one ranking returns for a query."""

    query: GoldenQuery
    chunk: Chunk
    rank: int
    """Its best rank in any ranking."""
    passage: Passage


@dataclass(frozen=True, slots=True)
class LabelingProgress:
    """How many passages a judge has judged."""

    judged: int
    skipped: int
    """How many of the remaining passages were skipped."""
    total: int


def pool_passages(
    target: ValidationTarget, golden: GoldenSet, advance: Callable[[], None] = lambda: None
) -> list[PooledPassage]:
    """Pool the top results of all rankings for every answerable query.

    Args:
        target: What searches.
        golden: The golden set.
        advance: Called after each query.
    """
    pooled: list[PooledPassage] = []
    for query in golden.queries:
        if query.answerable:
            pooled += _pool_query(target, query, golden.unit)
        advance()
    return pooled


def _pool_query(target: ValidationTarget, query: GoldenQuery, unit: Unit) -> Iterable[PooledPassage]:
    best: dict[Passage, PooledPassage] = {}
    for ranking in RANKINGS:
        options = SearchOptions(
            top_k=POOL_DEPTH,
            ranking=ranking,
            per_page=1 if unit == "page" else None,
            filters=query.filters.to_filters(),
        )
        try:
            answer = target.search(query.text, options)
        except InvalidInput:  # an edge case, such as the empty query, or a ranking that the index lacks
            continue
        for rank, hit in enumerate(answer.hits, start=1):
            passage = Passage(query.id, hit.chunk.document_id if unit == "page" else hit.chunk.chunk_id)
            if passage not in best or rank < best[passage].rank:
                best[passage] = PooledPassage(query, hit.chunk, rank, passage)
    return best.values()


def order_queue(
    pooled: Sequence[PooledPassage],
    grades: GradesByPassage,
    judge: Judge = None,
    skipped: frozenset[Passage] = frozenset(),
    seed: int = SHUFFLE_SEED,
) -> list[PooledPassage]:
    """Order the passages that a judge has not judged; for a judge without a name, those nobody has judged.

    Args:
        pooled: All passages.
        grades: The grades so far.
        judge: The judge.
        skipped: The passages that the judge has skipped; they come last.
        seed: The seed of the shuffle.
    """
    query_numbers: dict[str, int] = {}
    for candidate in pooled:
        query_numbers.setdefault(candidate.query.id, len(query_numbers))

    def sort_key(candidate: PooledPassage) -> tuple[bool, bool, bool, int, str]:
        return (
            candidate.passage in skipped,
            bool(grades.get(candidate.passage)),
            candidate.rank > TOP_RANKS,
            query_numbers[candidate.query.id],
            _shuffle_key(candidate, judge, seed),
        )

    waiting = [candidate for candidate in pooled if not _is_judged(candidate, grades, judge)]
    return sorted(waiting, key=sort_key)


def _is_judged(candidate: PooledPassage, grades: GradesByPassage, judge: Judge) -> bool:
    by_judge = grades.get(candidate.passage, {})
    return bool(by_judge) if judge is None else judge in by_judge


def _shuffle_key(candidate: PooledPassage, judge: Judge, seed: int) -> str:
    # A hash, not random.shuffle: the remaining passages keep their order while others are judged.
    text = f"{seed}\0{judge or ''}\0{candidate.query.id}\0{candidate.chunk.chunk_id}"
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class LabelingState:
    """What a judge sees: the next passage, if there is one, and the progress."""

    candidate: PooledPassage | None
    progress: LabelingProgress
    undoable: bool
    """Whether the judge has a judgment to undo."""


@dataclass(frozen=True, slots=True)
class LabelingSession:
    """A golden set with the passages to judge. Safe to use from many threads.

    The golden file and the passages are read once, when the session is opened. The judgments are read each
    time, so that several sessions may work on one golden set.

    Examples:
        >>> session = LabelingSession.open(target, "golden.yaml")  # doctest: +SKIP
        >>> state = session.state("ann")  # doctest: +SKIP
        >>> session.judge(state.candidate, 2, "ann")  # doctest: +SKIP
    """

    golden: GoldenSet
    log: JudgmentLog
    candidates: Mapping[tuple[str, str], PooledPassage]
    """The passages by the ids of query and chunk."""
    file_votes: Sequence[tuple[Passage, Vote]]
    """What the labels of the golden file say."""
    covered: Mapping[str, tuple[str, ...]]
    """The passages that each earlier judgment covers, by its id."""
    breadcrumbs: Mapping[str, str]
    """The breadcrumb of each passage."""

    @classmethod
    def open(
        cls,
        target: ValidationTarget,
        spec: str,
        *,
        query: str | None = None,
        pooled: bool = True,
        advance: Callable[[], None] = lambda: None,
    ) -> LabelingSession:
        """Open a session.

        Args:
            target: What searches.
            spec: The golden file; see `read_golden`.
            query: The id of the only query to label; all queries unless given.
            pooled: Whether to search for passages. Agreement can be measured without.
            advance: Called after each query.
        """
        if spec.startswith("beir:"):
            raise InvalidInput("golden", f"{spec} is a folder; only a golden file can be labelled")
        golden = formats.read_golden(spec, include_judgments=False)
        chosen = golden if query is None else _select_query(golden, query)
        log = JudgmentLog.for_golden_file(spec)
        pages = list(target.pages())
        file_votes, covered = _resolve_judgments(golden, log.read_effective(), pages, str(log.path))
        passages = pool_passages(target, chosen, advance) if pooled else ()
        return cls(
            golden=golden,
            log=log,
            candidates={(passage.query.id, passage.chunk.chunk_id): passage for passage in passages},
            file_votes=file_votes,
            covered=covered,
            breadcrumbs=_list_breadcrumbs(pages, golden.unit),
        )

    def state(self, judge: Judge) -> LabelingState:
        """Find the passage that the judge should judge next, and the judge's progress."""
        judge = check_judge_name(judge)
        judgments = self.log.read_effective()
        own = [judgment for judgment in judgments if judgment.judge == judge]
        skipped = frozenset(
            Passage(judgment.query, name)
            for judgment in own
            if judgment.label is None
            for name in self._passage_names(judgment)
        )
        total = len(self.candidates)
        queue = order_queue(list(self.candidates.values()), self._merge_grades(judgments), judge, skipped)
        skipped_count = sum(candidate.passage in skipped for candidate in queue)
        progress = LabelingProgress(total - len(queue), skipped_count, total)
        return LabelingState(queue[0] if queue else None, progress, bool(own))

    def find(self, query: str, chunk: str) -> PooledPassage:
        """Find a passage by the ids of its query and chunk."""
        if (query, chunk) not in self.candidates:
            raise NotFound(f"the passage {chunk!r} is not one of those to judge for the query {query!r}")
        return self.candidates[query, chunk]

    def judge(
        self, candidate: PooledPassage, grade: int | None, judge: Judge, note: str | None = None
    ) -> None:
        """Save how well a passage answers its query.

        Args:
            candidate: The passage.
            grade: 0, 1 or 2; None skips the passage.
            judge: The judge's name.
            note: The judge's note.
        """
        name, text = check_judge_name(judge), check_note(note)
        label = None if grade is None else self._create_label(candidate.chunk, grade, name, text)
        self.log.add(create_judgment(candidate.query.id, candidate.chunk.chunk_id, name, label))

    def undo(self, judge: Judge) -> Judgment | None:
        """Undo the judge's last judgment, and return it; None if there is none."""
        return self.log.undo(check_judge_name(judge))

    def grades(self) -> GradesByPassage:
        """The grades of all judges, the golden file included."""
        return self._merge_grades(self.log.read_effective())

    def _create_label(self, chunk: Chunk, grade: int, judge: Judge, note: str | None) -> Label:
        if self.golden.unit == "passage":
            return label_chunk(chunk, grade, judge, note)
        return Label(grade=grade, page=chunk.source_path or chunk.document_id, judge=judge, note=note)

    def _merge_grades(self, judgments: Sequence[Judgment]) -> GradesByPassage:
        specificity = Specificity.PAGE if self.golden.unit == "page" else Specificity.PASSAGE
        votes = [
            (Passage(judgment.query, name), Vote(judgment.label.judge, specificity, judgment.label.grade))
            for judgment in judgments
            if judgment.label is not None
            for name in self._passage_names(judgment)
        ]
        return merge_by_judge([*self.file_votes, *votes])

    def _passage_names(self, judgment: Judgment) -> tuple[str, ...]:
        if judgment.id in self.covered:
            return self.covered[judgment.id]
        # A skip, or a judgment since the session was opened: it is of the passage as it was shown.
        candidate = self.candidates.get((judgment.query, judgment.chunk))
        return (candidate.passage.name if candidate else judgment.chunk,)


def _resolve_judgments(
    golden: GoldenSet, judgments: Sequence[Judgment], pages: Sequence[PageView], where: str
) -> tuple[list[tuple[Passage, Vote]], dict[str, tuple[str, ...]]]:
    """Resolve the labels of the golden file to votes, and those of judgments to the passages they cover."""
    resolved = resolve_labels(merge_judgments(golden, judgments, where), pages)
    file_votes: list[tuple[Passage, Vote]] = []
    by_query: dict[str, list[Judgment]] = defaultdict(list)
    for judgment in judgments:
        if judgment.label is not None:
            by_query[judgment.query].append(judgment)
    covered: dict[str, tuple[str, ...]] = {}
    for query in golden.queries:
        labels = resolved[query.id].labels
        for label in labels[: len(query.labels)]:
            names = _covered_names(label, golden.unit)
            file_votes += [(Passage(query.id, name), label.vote) for name in names]
        for judgment, label in zip(by_query[query.id], labels[len(query.labels) :], strict=True):
            covered[judgment.id] = _covered_names(label, golden.unit)
    return file_votes, covered


def _covered_names(label: ResolvedLabel, unit: Unit) -> tuple[str, ...]:
    """The chunks, or pages, that a label covers."""
    if unit == "passage":
        return label.chunk_ids
    return tuple(dict.fromkeys(span.document_id for span in label.spans))


def _select_query(golden: GoldenSet, query_id: str) -> GoldenSet:
    queries = tuple(query for query in golden.queries if query.id == query_id)
    if not queries:
        raise InvalidInput("query", f"the golden set has no query with the id {query_id!r}")
    if not queries[0].answerable:
        raise InvalidInput("query", f"{query_id!r} has no answer, so there is nothing to judge for it")
    return golden.model_copy(update={"queries": queries})


def _list_breadcrumbs(pages: Iterable[PageView], unit: Unit) -> dict[str, str]:
    if unit == "page":
        return {page.document_id: page.title for page in pages}
    return {chunk.chunk_id: chunk.breadcrumb for page in pages for chunk in page.chunks}
