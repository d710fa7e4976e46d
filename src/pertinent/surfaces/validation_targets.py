"""What a validation can judge: the pipeline in this process, or a service at an address."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ..errors import IndexFailure, InvalidInput
from ..health import audit
from ..limits import ENGINE, check_options
from ..ports import Embedder
from ..search.engine import Engine
from ..types import Answer, Chunk, SearchOptions, damaged_points, readable_chunks
from ..validation import integrity
from ..validation.target import ContentVersion, PageView
from ..workspace.workspace import Workspace
from .client.api_requests import build_content_version, build_models, build_search
from .page_view import count_pending

if TYPE_CHECKING:
    from .._internal.progress import Progress
    from ..validation.golden.golden_set import GoldenSet
    from ..validation.report import ValidationReport
    from ..validation.target import ValidationTarget
    from .client import PertinentClient

TIMEOUT_SECONDS = 60.0
MAX_RETRIES = 5


class InProcessPipeline:
    """A search engine in this process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def search(self, text: str, options: SearchOptions) -> Answer:
        return self._engine.search(ENGINE.check_query(text), check_options(options))


class LocalPipeline(InProcessPipeline):
    """The pipeline of a workspace: its embedder, its index and its catalog."""

    def __init__(self, workspace: Workspace, embedder: Embedder | None = None) -> None:
        workspace.require()
        self._workspace = workspace
        embedder = embedder or workspace.embedder()
        # Cached vectors must not be measured; the engine has no cache either.
        uncached = getattr(embedder, "inner", embedder)
        super().__init__(workspace.create_engine(uncached, workspace.index()))

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
            page = catalog.page(record.document_id)
            chunks = tuple(catalog.chunks(record.document_id))
            text = page.text if page else ""
            yield PageView(record.document_id, record.url, record.title, record.source_path, text, chunks)

    def find_indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        points = self._workspace.catalog().find_points(chunk_ids)
        stored = self._workspace.index().chunks(list(points.values()))
        return {chunk.chunk_id for chunk in readable_chunks(stored.values())}

    def audit(self) -> list[str]:
        fingerprint = self._workspace.catalog().fingerprint()
        if fingerprint is None:
            # Pertinent did not make the index: only what holds for every point can be checked.
            points = list(self._workspace.index().scan())
            damaged = integrity.describe_damaged_points(damaged_points(points))
            return [*damaged, *integrity.describe_faults(readable_chunks(points))]
        index = self._workspace.writable_index()
        inventory = audit.take_inventory(index, self._workspace.catalog())
        findings = [
            *audit.find_unreadable_pages(inventory),
            *audit.find_drift(inventory),
            *audit.find_wrong_descriptions(inventory, self._workspace.catalog()),
            *audit.find_altered_texts(inventory),
            *audit.find_altered_pages(inventory),
            *audit.find_wrong_slices(inventory),
            *audit.find_wrong_positions(inventory),
            *audit.find_stale_vectors(inventory, index, fingerprint.embedder),
            *audit.find_damaged_vectors(inventory, index),
            *audit.find_wrong_word_weights(inventory, index, fingerprint.lexical),
            *audit.find_damaged_filters(inventory, index),
            *audit.find_wrong_vocabulary(inventory, self._workspace.catalog()),
            *audit.find_wrong_vectors(inventory, index, self._workspace.embedder()),
        ]
        incomplete = integrity.describe_faults(
            chunk for chunk in inventory.in_index.values() if integrity.find_damage(chunk)
        )
        problems = [finding.problem for finding in findings]
        return [*integrity.describe_damaged_points(inventory.damaged), *incomplete, *problems]


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
        return {"subject": self.client.url, **{name: model for name, model in models.items() if model}}

    def search(self, text: str, options: SearchOptions) -> Answer:
        # Cached answers must not be measured.
        return self.client.send(build_search(text, replace(options, bypass_cache=True)))

    def content_version(self) -> ContentVersion:
        return self.client.send(build_content_version())

    def pages(self) -> Iterator[PageView]:
        for record in self.client.pages():
            yield self.client.page(record.document_id)

    def find_indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        # The API does not tell the index and the catalog apart.
        return set(chunk_ids)

    def audit(self) -> list[str]:
        pages = list(self.pages())
        gaps = [f"the chunks of {name} don't run 0, 1, 2 …" for name in integrity.find_pages_with_gaps(pages)]
        return [*integrity.describe_faults(chunk for page in pages for chunk in page.chunks), *gaps]


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
