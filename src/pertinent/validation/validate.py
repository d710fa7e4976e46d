"""Run the steps of a validation in order.

read the pages → resolve the labels → warm up → run every query → judge → diagnose → audit → report
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from .._internal.clock import utc_now
from .._internal.messages import format_count
from .._internal.progress import NoProgress, Progress
from ..errors import EmbedderError, NotFound, StoreError
from .acceptance_checks import check_concurrency, run_checks
from .criteria import Criteria, merge_criteria
from .diagnosis import Diagnosis, FailureAnalyzer
from .golden.golden_set import GoldenSet
from .labels.resolve import resolve_labels
from .options import ValidationOptions
from .report import ValidationReport
from .report_builder import ReportBuilder
from .runner import QueryRunner, fetch_deep_rankings, run_queries
from .scoring import Case, judge_outcomes
from .target import ContentVersion, NoVerdict, PageView, ValidationTarget

__all__ = ["NoVerdict", "ValidationOptions", "validate"]


def validate(
    target: ValidationTarget,
    golden: GoldenSet,
    options: ValidationOptions = ValidationOptions(),  # noqa: B008 - it is frozen
    criteria: Criteria | None = None,
    progress: Progress | None = None,
) -> ValidationReport:
    """Run the golden set on the target and judge the results.

    Args:
        target: The pipeline to validate.
        golden: The queries and their labels.
        options: How the queries are run.
        criteria: What the verdict requires; the golden set's own criteria unless given.
        progress: Is informed of each stage and each query.

    Returns:
        The report with its verdict.

    Raises:
        NoVerdict: The pages cannot be read, a sync changes them, or no search is answered as requested.
    """
    progress = progress or NoProgress()
    golden, options = _apply_limit(golden, options)
    criteria = merge_criteria({}, criteria or golden.criteria)
    started = utc_now()
    version = _read_version(target)
    pages = _read_pages(target)
    resolved = resolve_labels(golden, pages)
    runner = QueryRunner(target, options.ranking, options.threshold, golden.unit, options.rerank)
    _warm_up(runner)
    progress.stage("Running queries", len(golden.queries))
    outcomes = run_queries(runner, golden.queries, options.concurrency, progress.advance)
    progress.stage("Reading deep rankings", len(outcomes))
    outcomes = fetch_deep_rankings(runner, outcomes, options.concurrency, progress.advance)
    cases = judge_outcomes(golden, outcomes, resolved, criteria)
    checks = run_checks(cases, pages, golden.answer_threshold)
    if options.together:
        progress.stage("Running 50 queries at once", None)
        checks.append(check_concurrency(runner, cases))
    chunks = {chunk.chunk_id: chunk for page in pages for chunk in page.chunks}
    analyzer = FailureAnalyzer(runner, chunks, golden.answer_threshold)
    diagnoses = _diagnose(analyzer, cases, progress) if options.diagnose else [None] * len(cases)
    if options.audit:
        progress.stage("Auditing", None)
    audit = target.audit() if options.audit else None
    if _read_version(target) != version:
        raise NoVerdict(
            "pages changed during the run, so there is no verdict: validate again when no sync is running"
        )
    builder = ReportBuilder(target, golden, options, criteria, started, pages, resolved, cases)
    return builder.build(checks, diagnoses, audit)


def _apply_limit(golden: GoldenSet, options: ValidationOptions) -> tuple[GoldenSet, ValidationOptions]:
    """Keep the queries that are run; a limit that leaves none out is removed from the options."""
    if options.limit is None or options.limit >= len(golden.queries):
        return golden, replace(options, limit=None)
    return golden.model_copy(update={"queries": golden.queries[: options.limit]}), options


def _read_pages(target: ValidationTarget) -> list[PageView]:
    with _require_pages():
        return list(target.pages())


def _read_version(target: ValidationTarget) -> ContentVersion:
    """Return the state of the pages; raise NoVerdict if a sync has written only a part of them."""
    with _require_pages():
        version = target.content_version()
    if version.pending:
        pages = format_count(version.pending, "page is", "pages are")
        raise NoVerdict(
            f"{pages} only partly written, so there is no verdict: a sync is running or was interrupted. "
            "Validate again when it has ended; `pertinent index` completes an interrupted one"
        )
    return version


@contextmanager
def _require_pages() -> Iterator[None]:
    try:
        yield
    except (StoreError, EmbedderError, NotFound) as error:  # NotFound: a sync has just removed a page
        raise NoVerdict(f"the pages can't be read, so there is no verdict: {error}") from error


def _warm_up(runner: QueryRunner) -> None:
    try:
        runner.warm_up()
    except (StoreError, EmbedderError) as error:
        raise NoVerdict(f"no search is answered, so there is no verdict: {error}") from error


def _diagnose(analyzer: FailureAnalyzer, cases: Sequence[Case], progress: Progress) -> list[Diagnosis | None]:
    progress.stage("Diagnosing failures", sum(not case.passed for case in cases))
    diagnoses = []
    for case in cases:
        diagnoses.append(analyzer.diagnose(case))
        if not case.passed:
            progress.advance()
    return diagnoses
