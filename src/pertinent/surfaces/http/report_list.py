"""The reports of a folder in short: what a list of them shows, and nothing of their queries."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ..._internal.messages import count_queries
from ...validation import report
from ...validation.criteria import Criterion
from ...validation.defaults import Verdict

MOST = 500
"""How many reports are listed, the latest."""

SHARE = "queries with P@5"
"""How the name of the criterion begins that says how many queries have a high enough P@5."""


class GoldenName(BaseModel):
    """Which golden set a report is of."""

    name: str
    queries: int
    scored: int


class Way(BaseModel):
    """How a report was made, where that was not as usual."""

    model_config = ConfigDict(frozen=True)

    limit: int | None = None
    threshold: float = 0.0


class Short(BaseModel):
    """A report in short."""

    model_config = ConfigDict(frozen=True)

    name: str = ""
    """Of its file."""
    timestamp: str
    verdict: Verdict
    summary: str
    avg_precision_at_5: float
    avg_precision_at_5_answerable: float
    mrr: float
    mrr_answerable: float
    p95_latency_ms: float
    golden: GoldenName
    criteria: list[Criterion]
    fingerprints: dict[str, str]
    options: Way = Way()

    @property
    def share(self) -> float | None:
        """The share of the queries whose P@5 is high enough; None where it was not judged."""
        criterion = self.criterion(SHARE)
        return criterion.value if criterion and criterion.passed is not None else None

    @property
    def ranking(self) -> str:
        """The ranking that answered; nothing where no query was answered."""
        return self.fingerprints.get("ranking", "")

    @property
    def mark(self) -> tuple[object, ...]:
        """The same for reports whose figures make one line: of the same queries, asked in the same way."""
        return self.fingerprints.get("golden", ""), self.ranking, self.options

    @property
    def title(self) -> str:
        """What was asked, and how."""
        limit, threshold = self.options.limit, self.options.threshold
        parts = [
            self.golden.name,
            f"{self.ranking} ranking" if self.ranking else "",
            f"the first {count_queries(limit).removeprefix('1 ')} only" if limit else "",
            f"threshold {threshold:g}" if threshold else "",
        ]
        return ", ".join(part for part in parts if part)

    def criterion(self, name: str) -> Criterion | None:
        """The criterion whose name begins so."""
        return next((one for one in self.criteria if one.name.startswith(name)), None)


@dataclass(slots=True)
class ReportList:
    """The reports of a folder; each file is read once, and again when it has changed."""

    folder: Path
    _known: dict[str, tuple[object, Short | None]] = field(default_factory=dict)
    _reading: threading.Lock = field(default_factory=threading.Lock)

    def read(self) -> tuple[list[Short], list[str]]:
        """The latest reports, the newest first, and the names of files that are none."""
        with self._reading:
            paths = report.list_reports(self.folder)[-MOST:]
            found = {path.name: self._short(path) for path in paths}
            self._known = {name: self._known[name] for name in found if name in self._known}
        shorts = sorted((one for one in found.values() if one), key=lambda one: (one.timestamp, one.name))
        return shorts[::-1], [name for name, one in found.items() if one is None]

    def path(self, name: str) -> Path | None:
        """The file of a report; None for what is no name of one, and for what is not there."""
        if not report.FILE_NAME.fullmatch(name):
            return None
        path = self.folder / name
        return path if path.is_file() else None

    def _short(self, path: Path) -> Short | None:
        try:
            stat = path.stat()
            state = (stat.st_mtime_ns, stat.st_size)
            if path.name not in self._known or self._known[path.name][0] != state:
                self._known[path.name] = (state, _parsed(path))
            return self._known[path.name][1]
        except OSError:
            return None


def _parsed(path: Path) -> Short | None:
    try:
        summary = Short.model_validate(json.loads(path.read_bytes()))
        return summary.model_copy(update={"name": path.name})
    except (ValueError, RecursionError):  # a ValidationError is a ValueError
        return None


def comparable(reports: list[Short]) -> Iterator[list[Short]]:
    """The reports of the same queries asked in the same way, oldest first; those with the latest first."""
    latest = {one.mark: number for number, one in reversed(list(enumerate(reports)))}
    ordered = sorted(reports, key=lambda one: latest[one.mark])
    return (list(group)[::-1] for _, group in groupby(ordered, key=lambda one: one.mark))
