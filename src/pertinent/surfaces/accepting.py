"""Whether a new build of the index may take the old one's place: a golden set decides."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from .. import build
from ..errors import PertinentError, SyncRefused
from ..ports import Fingerprint, Written
from ..search.engine import Engine
from ..validation.comparison.compare import compare, regressions
from ..validation.criteria import merge_criteria
from ..validation.golden.formats import read
from ..validation.report import ValidationReport
from ..validation.target import PageView
from ..validation.validate import Options, validate
from ..workspace.workspace import Workspace
from .subjects import InProcess, Local


class NewBuild(InProcess):
    """A build that is not in use yet, as something to be judged."""

    def __init__(self, engine: Engine, written: Sequence[tuple[str, Written]]) -> None:
        super().__init__(engine)
        self._written = written

    def facts(self) -> Mapping[str, str]:
        return {"subject": "candidate"}

    def pages(self) -> Iterator[PageView]:
        for _, (page, _, chunks) in self._written:
            yield PageView(page.document_id, page.url, page.title, page.source_path, page.text, tuple(chunks))

    def indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        # It was filled a moment ago, from these very chunks.
        return set(chunk_ids)

    def audit(self) -> list[str]:
        return []


class Acceptance:
    """Refuses a build that does not pass, or is significantly worse than the one in use."""

    def __init__(
        self, workspace: Workspace, golden: str | os.PathLike[str], told: Callable[[str], None]
    ) -> None:
        self._workspace = workspace
        self._golden = read(os.fspath(golden))
        self._criteria = merge_criteria(workspace.settings.criteria, self._golden.criteria)
        self._told = told

    def __call__(self, engine: Engine, written: Sequence[tuple[str, Written]], old: Fingerprint) -> None:
        new_build = NewBuild(engine, written)
        new = validate(new_build, self._golden, Options(diagnose=False), self._criteria)
        self._told(f"new: {new.summary}")
        if new.verdict != "PASS":
            raise SyncRefused(f"the new index was not taken, the old one stays in use: {new.summary}")
        before = self._before(old)
        self._told(f"old: {before.summary}")
        if losses := regressions(compare(before, new), 0.0):
            raise SyncRefused(
                f"the new index was not taken, the old one stays in use: it is worse, {'; '.join(losses)}"
            )

    def _before(self, old: Fingerprint) -> ValidationReport:
        """What the build in use gets, with the embedder that it was made with."""
        settings = self._workspace.settings.model_copy(update={"embedder": old.embedder})
        try:
            made_by = build.embedder(settings)
            return validate(
                Local(self._workspace, made_by), self._golden, Options(diagnose=False), self._criteria
            )
        except PertinentError as error:
            raise SyncRefused(
                f"the new index was not taken: the old one, made with {old.embedder}, can't be searched to "
                f"compare them ({error}). `pertinent reindex` without --validate takes it all the same"
            ) from error
