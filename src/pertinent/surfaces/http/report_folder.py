"""The folder of validation reports: a summary of each report, read once and cached."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ..._internal.messages import count_queries
from ..._internal.regular_files import read_regular_file
from ..._internal.safe_json import parse_json
from ...validation import report_files
from ...validation.criteria import Criterion
from ...validation.report_defaults import Verdict

MAX_REPORTS = 500
"""How many reports are listed, the latest."""

P_AT_5_CRITERION = "queries with P@5"
"""How the name of the criterion starts that sets the share of queries with a high P@5."""


class ListedGoldenSet(BaseModel):
    """The golden set of a report."""

    name: str
    queries: int
    scored: int


class RunOptions(BaseModel):
    """The options of a validation that differ from the defaults."""

    model_config = ConfigDict(frozen=True)

    limit: int | None = None
    threshold: float = 0.0


class ReportSummary(BaseModel):
    """The figures of a report that a list shows; its queries are not read."""

    model_config = ConfigDict(frozen=True)

    name: str = ""
    """The file name."""
    timestamp: str
    verdict: Verdict
    summary: str
    avg_precision_at_5: float
    avg_precision_at_5_answerable: float
    mrr: float
    mrr_answerable: float
    p95_latency_ms: float
    golden: ListedGoldenSet
    criteria: list[Criterion]
    fingerprints: dict[str, str]
    options: RunOptions = RunOptions()

    @property
    def share(self) -> float | None:
        """The share of queries with a high P@5; None if it was not judged."""
        criterion = self.find_criterion(P_AT_5_CRITERION)
        return criterion.value if criterion and criterion.passed is not None else None

    @property
    def ranking(self) -> str:
        """The ranking that was validated; empty if no query was answered."""
        return self.fingerprints.get("ranking", "")

    @property
    def trend_key(self) -> tuple[object, ...]:
        """Equal for reports that can be compared: the same queries, run with the same options."""
        return self.fingerprints.get("golden", ""), self.ranking, self.options

    @property
    def title(self) -> str:
        """The golden set, the ranking and the options."""
        limit, threshold = self.options.limit, self.options.threshold
        parts = [
            self.golden.name,
            f"{self.ranking} ranking" if self.ranking else "",
            f"the first {count_queries(limit).removeprefix('1 ')} only" if limit else "",
            f"threshold {threshold:g}" if threshold else "",
        ]
        return ", ".join(part for part in parts if part)

    def find_criterion(self, prefix: str) -> Criterion | None:
        """Return the criterion whose name starts with the prefix."""
        return next((criterion for criterion in self.criteria if criterion.name.startswith(prefix)), None)


@dataclass(slots=True)
class ReportFolder:
    """The reports of a folder; a file is read again only if it has changed."""

    folder: Path
    _cache: dict[str, tuple[object, ReportSummary | None]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def list_reports(self) -> tuple[list[ReportSummary], list[str]]:
        """Return the latest reports, newest first, and the names of files that can't be read."""
        with self._lock:
            paths = report_files.list_reports(self.folder)[-MAX_REPORTS:]
            by_name = {path.name: self._summarize(path) for path in paths}
            self._cache = {name: self._cache[name] for name in by_name if name in self._cache}
        summaries = [summary for summary in by_name.values() if summary]
        summaries.sort(key=lambda summary: (summary.timestamp, summary.name), reverse=True)
        return summaries, [name for name, summary in by_name.items() if summary is None]

    def find_path(self, name: str) -> Path | None:
        """Return the file of a report; None if there is none, or if the name is not one of a report."""
        if not report_files.FILE_NAME.fullmatch(name):
            return None
        path = self.folder / name
        return path if path.is_file() else None

    def _summarize(self, path: Path) -> ReportSummary | None:
        try:
            stat = path.stat()
            state = (stat.st_mtime_ns, stat.st_size)
            if path.name not in self._cache or self._cache[path.name][0] != state:
                self._cache[path.name] = (state, _read_summary(path))
            return self._cache[path.name][1]
        except OSError:
            return None


def _read_summary(path: Path) -> ReportSummary | None:
    try:
        summary = ReportSummary.model_validate(parse_json(read_regular_file(path)))
        return summary.model_copy(update={"name": path.name})
    except ValueError:  # also a ValidationError
        return None


def group_comparable(reports: list[ReportSummary]) -> Iterator[list[ReportSummary]]:
    """Group reports that can be compared.

    Args:
        reports: The newest first.

    Yields:
        Groups of reports, each with the oldest first; the group with the newest report comes first.

    """
    newest: dict[tuple[object, ...], int] = {}
    for position, summary in enumerate(reports):
        newest.setdefault(summary.trend_key, position)
    ordered = sorted(reports, key=lambda summary: newest[summary.trend_key])
    return (list(group)[::-1] for _, group in groupby(ordered, key=lambda summary: summary.trend_key))
