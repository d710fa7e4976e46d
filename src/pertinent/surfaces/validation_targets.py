"""What a validation can judge: the pipeline in this process, or a service at an address."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ..errors import IndexFailure, InvalidInput, NotFound
from ..limits import ENGINE, check_options
from ..ports import Embedder
from ..search.engine import Engine
from ..types import Answer, Chunk, SearchOptions, readable_chunks
from ..validation.target import ContentVersion, NoVerdict, PageView
from ..workspace.workspace import Workspace
from .answer_check import describe_mismatch
from .client.api_requests import (
    build_audit,
    build_content_version,
    build_models,
    build_start_audit,
)
from .page_view import count_pending
from .stored_data_audit import audit_stored_data

if TYPE_CHECKING:
    from .._internal.progress import Progress
    from ..validation.golden.golden_set import GoldenSet
    from ..validation.report import ValidationReport
    from ..validation.target import ValidationTarget
    from .client import PertinentClient

TIMEOUT_SECONDS = 60.0
MAX_RETRIES = 5

AUDIT_POLL_SECONDS = 1.0
"""How long to wait between two requests for the result of an audit; the service waits, too."""


class InProcessPipeline:
    """A search engine in this process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def search(self, text: str, options: SearchOptions) -> Answer:
        return self._engine.search(ENGINE.check_query(text), check_options(options))


class LocalPipeline(InProcessPipeline):
    """The pipeline of a workspace: its embedder, its index and its catalog.

    Args:
        workspace: The workspace.
        embedder: The embedder of the index, if it is not that of the settings.
        language: The language of the index, if it is not that of the settings.
    """

    def __init__(
        self, workspace: Workspace, embedder: Embedder | None = None, language: str | None = None
    ) -> None:
        workspace.require()
        self._workspace = workspace
        embedder = embedder or workspace.embedder()
        # Cached vectors must not be measured; the engine has no cache either.
        uncached = getattr(embedder, "inner", embedder)
        super().__init__(workspace.create_engine(uncached, workspace.index(), language=language))

    def describe_pipeline(self) -> Mapping[str, str]:
        reranking = self._workspace.reranking
        return {
            "subject": "local",
            "pertinent": version("pertinent"),
            **self._workspace.catalog().provenance(),
            "ranking": self._workspace.settings.ranking,
            **({"reranker": str(reranking)} if reranking else {}),
        }

    def search(self, text: str, options: SearchOptions) -> Answer:
        answer = super().search(text, options)
        if all(hit.chunk.start >= 0 for hit in answer.hits):
            return answer
        hits = tuple(replace(hit, chunk=self._add_span(hit.chunk)) for hit in answer.hits)
        return replace(answer, hits=hits)

    def _add_span(self, chunk: Chunk) -> Chunk:
        """Add a missing span: external points lack it, but the pages assembled from them have it."""
        stored = self._workspace.catalog().chunk(chunk.chunk_id) if chunk.start < 0 else None
        return replace(chunk, start=stored.start, end=stored.end) if stored else chunk

    def content_version(self) -> ContentVersion:
        catalog = self._workspace.catalog()
        pending = count_pending(self._workspace)
        return ContentVersion(pending, (catalog.fingerprint(), catalog.pages()))

    def pages(self) -> Iterator[PageView]:
        catalog = self._workspace.catalog()
        for record in catalog.pages():
            # A sync that has removed a page meanwhile is noticed by the content version.
            if (page := catalog.page(record.document_id)) is not None:
                yield PageView.from_page(page, catalog.chunks(record.document_id))

    def find_indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        points = self._workspace.catalog().find_points(chunk_ids)
        stored = self._workspace.index().chunks(list(points.values()))
        return {chunk.chunk_id for chunk in readable_chunks(stored.values())}

    def audit(self) -> list[str]:
        return audit_stored_data(self._workspace)


@dataclass(frozen=True, slots=True)
class RemoteService:
    """A service with Pertinent's HTTP API."""

    client: PertinentClient

    @classmethod
    def connect(cls, url: str, key: str | None = None) -> RemoteService:
        """Create a client of the service at an address; nothing is requested yet."""
        from .client import PertinentClient

        return cls(PertinentClient(url, key, timeout=TIMEOUT_SECONDS, retries=MAX_RETRIES))

    def describe_pipeline(self) -> Mapping[str, str]:
        health = self.client.health()
        if not health.index:
            raise IndexFailure(f"the index of {self.client.url} does not answer")
        models = self.client.send(build_models())
        parts = {**models, "ranking": self.client.default_ranking}
        return {"subject": self.client.url, **{name: part for name, part in parts.items() if part}}

    def search(self, text: str, options: SearchOptions) -> Answer:
        # Cached answers must not be measured.
        options = replace(options, ranking=options.ranking or self.client.default_ranking, bypass_cache=True)
        answer = self.client.run_search(text, options)
        if difference := describe_mismatch(text, options, answer):
            raise NoVerdict(
                f"{self.client.url} ran another search than the requested one, so there is no verdict: "
                f"{difference}"
            )
        return answer

    def content_version(self) -> ContentVersion:
        return self.client.send(build_content_version())

    def pages(self) -> Iterator[PageView]:
        for record in self.client.pages():
            yield self.client.page(record.document_id)

    def find_indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        # The API does not tell the index and the catalog apart.
        return set(chunk_ids)

    def audit(self) -> list[str]:
        try:
            audit = self.client.send(build_start_audit())
        except NotFound as error:
            raise NoVerdict(
                f"the service at {self.client.url} is of an older version, which can't audit its stored "
                "data: run `pertinent validate --audit` where its index is, with the service stopped"
            ) from error
        try:
            while (faults := self.client.send(build_audit(audit.audit_id)).faults) is None:
                time.sleep(AUDIT_POLL_SECONDS)
        except NotFound as error:
            raise NoVerdict(f"the audit was lost, so there is no verdict: {error}") from error
        return faults


def validate_golden(
    target: ValidationTarget,
    golden: str | os.PathLike[str] | GoldenSet,
    criteria: Mapping[str, Any],
    progress: Progress | None = None,
    **options: Any,
) -> ValidationReport:
    """Run a golden set on a pipeline.

    Args:
        target: The pipeline.
        golden: A file, `beir:FOLDER`, or a golden set made in Python.
        criteria: The criteria of the settings; those of the golden set take precedence.
        progress: Receives the stages and steps of the work.
        options: Those of `ValidationOptions`.
    """
    from ..validation.criteria import merge_criteria
    from ..validation.golden.formats import read_golden
    from ..validation.golden.golden_set import GoldenSet
    from ..validation.validate import ValidationOptions, validate

    if not isinstance(golden, str | os.PathLike | GoldenSet):
        raise InvalidInput("golden", f"must be a file, beir:FOLDER or a GoldenSet, not {golden!r}")
    golden_set = golden if isinstance(golden, GoldenSet) else read_golden(os.fspath(golden))
    merged = merge_criteria(criteria, golden_set.criteria)
    return validate(target, golden_set, ValidationOptions(**options), merged, progress)
