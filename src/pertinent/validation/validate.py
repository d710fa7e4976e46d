"""A validation from its beginning to its verdict: the one place that knows the order of its steps.

read the pages → resolve the labels → warm up → ask every query → judge → diagnose → audit → verdict
"""

from __future__ import annotations

from collections.abc import Sequence

from .._internal.clock import utc_now
from .._internal.progress import Progress, Silent
from ..errors import EmbedderError, PertinentError, StoreError
from ..types import Chunk, SearchOptions
from .acceptance_checks import at_once, checks
from .criteria import Criteria, merged
from .diagnosis import Diagnosis, Doctor
from .golden.golden_set import GoldenSet
from .labels.resolve import resolve_labels
from .options import Options
from .report import ValidationReport
from .report_builder import Assembly
from .runner import Retrieval, ask_all, read_all
from .scoring import Case, judge
from .subject import PageView, Subject

__all__ = ["NoVerdict", "Options", "validate"]


class NoVerdict(PertinentError):
    """The pipeline is broken, so nothing can be said about its retrieval."""


def validate(
    subject: Subject,
    golden: GoldenSet,
    options: Options = Options(),  # noqa: B008 - it is frozen
    criteria: Criteria | None = None,
    progress: Progress | None = None,
) -> ValidationReport:
    """Run the golden set on the subject, and say what is to be thought of it."""
    watched = progress or Silent()
    criteria = merged({}, criteria or golden.criteria)
    started = utc_now()
    pages = _read(subject)
    resolved = resolve_labels(golden, pages)
    retrieval = Retrieval(subject, options.ranking, options.threshold, golden.unit)
    _warm_up(retrieval)
    watched.stage("Asking", len(golden.queries))
    asked = ask_all(retrieval, golden.queries, options.concurrency, watched.advance)
    watched.stage("Reading on", len(asked))
    outcomes = read_all(retrieval, asked, options.concurrency, watched.advance)
    cases = judge(golden, outcomes, resolved, criteria)
    found = checks(cases, pages, golden.answer_threshold)
    if options.together:
        watched.stage("Asking fifty at once", None)
        found.append(at_once(retrieval, cases))
    doctor = Doctor(retrieval, _by_id(pages), golden.answer_threshold)
    diagnoses = _diagnoses(doctor, cases, watched) if options.diagnose else [None] * len(cases)
    if options.audit:
        watched.stage("Auditing", None)
    audit = subject.audit() if options.audit else None
    return Assembly(subject, golden, options, criteria, started, pages, resolved, cases).report(
        found, diagnoses, audit
    )


def _read(subject: Subject) -> list[PageView]:
    try:
        return list(subject.pages())
    except (StoreError, EmbedderError) as error:
        raise NoVerdict(f"the pages can't be read, so there is no verdict: {error}") from error


def _warm_up(retrieval: Retrieval) -> None:
    retrieval.warm_up()
    try:
        retrieval.subject.search("is anybody there", SearchOptions(top_k=1, ranking=retrieval.ranking))
    except (StoreError, EmbedderError) as error:
        raise NoVerdict(f"no search is answered, so there is no verdict: {error}") from error


def _by_id(pages: Sequence[PageView]) -> dict[str, Chunk]:
    return {chunk.chunk_id: chunk for page in pages for chunk in page.chunks}


def _diagnoses(doctor: Doctor, cases: Sequence[Case], watched: Progress) -> list[Diagnosis | None]:
    watched.stage("Looking into failures", sum(not case.passed for case in cases))
    found = []
    for case in cases:
        found.append(doctor.diagnose(case))
        if not case.passed:
            watched.advance()
    return found
