"""The gate of `reindex --validate`: a new build is activated only if a golden set accepts it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from .. import build
from ..errors import PertinentError, SyncRefused
from ..ports import Fingerprint, PageWrite
from ..search.engine import Engine
from ..validation.comparison.compare import compare_reports, explain_unjudged, find_regressions
from ..validation.criteria import merge_criteria
from ..validation.golden.formats import read_golden
from ..validation.report import ValidationReport
from ..validation.target import ContentVersion, PageView
from ..validation.validate import ValidationOptions, validate
from ..workspace.workspace import Workspace
from .validation_targets import InProcessPipeline, LocalPipeline


class NewBuild(InProcessPipeline):
    """A build that is not in use yet, while `reindex` holds the write lock."""

    def __init__(self, engine: Engine, writes: Iterable[tuple[str, PageWrite]]) -> None:
        super().__init__(engine)
        self._writes = writes

    def describe_pipeline(self) -> Mapping[str, str]:
        return {"subject": "candidate"}

    def content_version(self) -> ContentVersion:
        # No sync can run.
        return ContentVersion()

    def pages(self) -> Iterator[PageView]:
        for _, write in self._writes:
            yield PageView.from_page(write.page, write.chunks)

    def find_indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        # The build was filled from these chunks just now.
        return set(chunk_ids)

    def audit(self) -> list[str]:
        return []


class OldBuild(LocalPipeline):
    """The build in use, while `reindex` holds the write lock."""

    def content_version(self) -> ContentVersion:
        # No sync can run; pages that an interrupted one left unfinished must not prevent a reindex.
        return ContentVersion()


class ReindexGate:
    """Refuses a build that does not pass, or is significantly worse than the one in use.

    Args:
        workspace: The index with the build in use.
        golden: The golden set, as a path or `beir:FOLDER`.
        notify: Receives the summary of each validation.
    """

    def __init__(
        self, workspace: Workspace, golden: str | os.PathLike[str], notify: Callable[[str], None]
    ) -> None:
        self._workspace = workspace
        self._golden = read_golden(os.fspath(golden))
        self._criteria = merge_criteria(workspace.settings.criteria, self._golden.criteria)
        self._notify = notify

    def __call__(self, engine: Engine, writes: Iterable[tuple[str, PageWrite]], old: Fingerprint) -> None:
        new_build = NewBuild(engine, writes)
        new = validate(new_build, self._golden, ValidationOptions(diagnose=False), self._criteria)
        self._notify(f"new: {new.summary}")
        if new.verdict != "PASS":
            raise SyncRefused(f"the new index was not activated, the old one stays in use: {new.summary}")
        old_report = self._validate_old(old)
        self._notify(f"old: {old_report.summary}")
        comparison = compare_reports(old_report, new)
        if unjudged := explain_unjudged(comparison.changes):
            self._notify(f"old and new: {unjudged}")
        if losses := find_regressions(comparison, 0.0):
            raise SyncRefused(
                f"the new index is worse and was not activated; the old one stays in use: {'; '.join(losses)}"
            )

    def _validate_old(self, old: Fingerprint) -> ValidationReport:
        """Validate the build in use, with the embedder and the language that it was made with."""
        settings = self._workspace.settings.model_copy(update={"embedder": old.embedder})
        try:
            embedder = build.create_embedder(settings)
            old_build = OldBuild(self._workspace, embedder, build.index_language(old))
            return validate(old_build, self._golden, ValidationOptions(diagnose=False), self._criteria)
        except PertinentError as error:
            raise SyncRefused(
                "the new index was not activated, since it can't be compared with the old one, which was "
                f"made with {old.embedder} and can't be searched ({error}). `pertinent reindex` without "
                "--validate activates the new one anyway"
            ) from error
