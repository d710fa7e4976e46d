"""What a validation can judge: the pipeline in this process, or a service at an address."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from uuid import UUID

from .._internal.retry_after import parse_retry_after
from ..errors import EmbedderError, IndexFailure, InvalidInput, NotFound, PertinentError, SettingsError
from ..health import audit
from ..identity import point_id
from ..limits import ENGINE, check_options
from ..ports import Embedder
from ..search.engine import Engine
from ..types import Answer, Chunk, DamagedPoint, Hit, Scores, SearchOptions, damaged_points, readable_chunks
from ..validation import integrity
from ..validation.target import PageView
from ..workspace.workspace import Workspace

if TYPE_CHECKING:
    import httpx

TIMEOUT_SECONDS = 60.0
NO_CACHE = {"cache-control": "no-cache"}
"""Cached answers must not be measured."""
MAX_RETRIES = 5
"""How often a request is retried if the service answers that its rate limit is reached."""


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
        return {
            "subject": "local",
            "pertinent": version("pertinent"),
            **self._workspace.catalog().provenance(),
            "ranking": self._workspace.settings.ranking,
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
            *audit.find_drift(inventory),
            *audit.find_altered_texts(inventory),
            *audit.find_wrong_slices(inventory),
            *audit.find_wrong_positions(inventory),
            *audit.find_stale_vectors(inventory, index, fingerprint.embedder),
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

    client: httpx.Client

    @classmethod
    def connect(cls, url: str, key: str | None = None) -> RemoteService:
        """Create a client of the service at an address; nothing is requested yet."""
        import httpx

        if not url.startswith(("http://", "https://")):
            raise InvalidInput("url", f"must begin with http:// or https://, not {url!r}")
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return cls(httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=TIMEOUT_SECONDS))

    def describe_pipeline(self) -> Mapping[str, str]:
        health = self._get("/api/v1/health")
        return {"subject": str(self.client.base_url), "embedder": str(health.get("embedder", ""))}

    def search(self, text: str, options: SearchOptions) -> Answer:
        fields = {
            "query_text": text,
            "top_k": options.top_k,
            "similarity_threshold": options.threshold,
            "ranking": options.ranking,
            "per_page": options.per_page,
            "filters": {name: value for name, value in asdict(options.filters).items() if value} or None,
            "distinct": None if options.distinct else False,
        }
        request = {name: value for name, value in fields.items() if value is not None}
        response = self._send(lambda: self.client.post("/api/v1/search", json=request, headers=NO_CACHE))
        with self._reading_response():
            return Answer(
                query=text,
                ranking=response["search_params"]["ranking"],
                hits=tuple(_parse_hit(result) for result in response["results"]),
                top_k=options.top_k,
                threshold=options.threshold,
                created_at=response["created_at"],
                timings={"remote": response["query_time_ms"]},
                damaged=tuple(_parse_damaged_point(point) for point in response.get("damaged", ())),
            )

    def pages(self) -> Iterator[PageView]:
        listing = self._get("/api/v1/documents")
        with self._reading_response():
            document_ids = [record["document_id"] for record in listing["documents"]]
        for document_id in document_ids:
            page = self._get(f"/api/v1/documents/{document_id}")
            with self._reading_response():
                chunks = tuple(_parse_passage(passage, page) for passage in page["passages"])
                view = PageView(
                    page["document_id"], page["url"], page["title"], page["source_path"], page["text"], chunks
                )
            yield view

    def find_indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        # The API does not tell the index and the catalog apart.
        return set(chunk_ids)

    def audit(self) -> list[str]:
        pages = list(self.pages())
        gaps = [f"the chunks of {name} don't run 0, 1, 2 …" for name in integrity.find_pages_with_gaps(pages)]
        return [*integrity.describe_faults(chunk for page in pages for chunk in page.chunks), *gaps]

    @contextmanager
    def _reading_response(self) -> Iterator[None]:
        """Raise IndexFailure if the response lacks a field or has one of the wrong type."""
        try:
            yield
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise IndexFailure(
                f"{self.client.base_url} is not a Pertinent service: unexpected response ({error!r})"
            ) from error

    def _get(self, path: str) -> dict[str, Any]:
        return self._send(lambda: self.client.get(path))

    def _send(self, request: Callable[[], httpx.Response]) -> dict[str, Any]:
        """Send a request, retry it while the rate limit is reached, and return the JSON of the response.

        Raises:
            PertinentError: The error that the service reports, or IndexFailure if it does not answer.
        """
        import httpx

        try:
            response = request()
            for _ in range(MAX_RETRIES):
                if response.status_code != httpx.codes.TOO_MANY_REQUESTS:
                    break
                time.sleep(_seconds_to_wait(response.headers.get("retry-after", "1")))
                response = request()
            body = response.json()
        except httpx.HTTPError as error:
            raise IndexFailure(f"{self.client.base_url} does not answer: {error}") from error
        except ValueError as error:
            raise IndexFailure(f"{self.client.base_url} gave an answer that is not JSON") from error
        if response.is_success and isinstance(body, dict):
            return body
        message = str(body.get("message", body) if isinstance(body, dict) else body)
        raise _make_error(response.status_code, message)


def _seconds_to_wait(retry_after: str) -> float:
    """Return the seconds to wait, from the header Retry-After."""
    seconds = parse_retry_after(retry_after)
    return 1.0 if seconds is None else min(seconds, TIMEOUT_SECONDS)


def _make_error(status: int, message: str) -> PertinentError:
    """Return the error that the service meant by its status and message."""
    match status:
        case 400:
            field, colon, problem = message.partition(": ")
            names_field = colon and " " not in field
            return InvalidInput(field, problem) if names_field else InvalidInput("query", message)
        case 401:
            return SettingsError(f"the service requires an API key: {message}")
        case 404:
            return NotFound(message)
        case 502:
            return EmbedderError(message)
    return IndexFailure(f"the service failed with {status}: {message}")


def _parse_hit(result: Mapping[str, Any]) -> Hit:
    metadata = result["metadata"]
    fields = {**metadata, "position": result["position"], "content": result["content"]}
    chunk = _parse_chunk(fields, result["chunk_id"], metadata["source_path"], metadata["source_type"])
    scores = Scores(*(result["scores"].get(name) for name in Scores._fields))
    return Hit(chunk, result["similarity_score"], scores, point_id(chunk.chunk_id))


def _parse_passage(passage: Mapping[str, Any], page: Mapping[str, Any]) -> Chunk:
    return _parse_chunk(passage, passage["chunk_id"], page["source_path"], source_type="")


def _parse_chunk(fields: Mapping[str, Any], chunk_id: str, source_path: str, source_type: str) -> Chunk:
    return Chunk(
        chunk_id=chunk_id,
        document_id=fields["document_id"],
        url=fields["url"],
        anchor=fields["anchor"],
        title=fields["document_title"],
        section=fields["section"],
        position=fields["position"],
        start=_parse_offset(fields["start"]),
        end=_parse_offset(fields["end"]),
        text=fields["content"],
        content_hash=fields["content_hash"],
        source_path=source_path,
        slug="",
        source_type=source_type,
        created_at=fields["created_at"],
    )


def _parse_offset(offset: int | None) -> int:
    """Return the offset in the page's text; a chunk whose place is unknown has -1."""
    return -1 if offset is None else offset


def _parse_damaged_point(point: Mapping[str, Any]) -> DamagedPoint:
    name = str(point["point_id"])
    identifier = int(name) if name.isdecimal() else UUID(name)
    return DamagedPoint(identifier, point["chunk_id"], tuple(point["problems"]))
