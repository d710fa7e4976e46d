"""What can be validated: the pipeline of this process, and a service at an address."""

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

SECONDS = 60.0
ANEW = {"cache-control": "no-cache"}
"""What was answered before must not be measured."""
PATIENCE = 5
"""How often a service that says it is asked too often is asked again."""


class InProcess:
    """An engine in this process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def search(self, text: str, options: SearchOptions) -> Answer:
        return self._engine.search(ENGINE.check_query(text), check_options(options))


class Local(InProcess):
    """The pipeline that the settings name, in this process."""

    def __init__(self, workspace: Workspace, embedder: Embedder | None = None) -> None:
        workspace.require()
        self._workspace = workspace
        made_by = embedder or workspace.embedder()
        # Cached answers and vectors must not be measured.
        uncached = getattr(made_by, "inner", made_by)
        ranking = workspace.settings.ranking
        super().__init__(Engine(uncached, workspace.index(), workspace.catalog(), ranking=ranking))

    def facts(self) -> Mapping[str, str]:
        made_with = self._workspace.catalog().fingerprint()
        known = asdict(made_with) if made_with else {}
        return {
            "subject": "local",
            "pertinent": version("pertinent"),
            **{name: str(value) for name, value in known.items()},
            "ranking": self._workspace.settings.ranking,
        }

    def search(self, text: str, options: SearchOptions) -> Answer:
        answer = super().search(text, options)
        if not self._workspace.is_foreign:
            return answer
        return replace(answer, hits=tuple(replace(hit, chunk=self._placed(hit.chunk)) for hit in answer.hits))

    def _placed(self, chunk: Chunk) -> Chunk:
        """The chunk with its span: points of others don't tell it, the pages put together from them do."""
        there = self._workspace.catalog().chunk(chunk.chunk_id)
        return replace(chunk, start=there.start, end=there.end) if there else chunk

    def pages(self) -> Iterator[PageView]:
        catalog = self._workspace.catalog()
        for record in catalog.pages():
            page = catalog.page(record.document_id)
            chunks = tuple(catalog.chunks(record.document_id))
            text = page.text if page else ""
            yield PageView(record.document_id, record.url, record.title, record.source_path, text, chunks)

    def indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        if self._workspace.is_foreign:
            # Its pages were read from the index itself.
            return set(chunk_ids)
        points = [point_id(chunk_id) for chunk_id in chunk_ids]
        stored = self._workspace.index().chunks(points)
        return {chunk.chunk_id for chunk in readable_chunks(stored.values())}

    def audit(self) -> list[str]:
        index, catalog = self._workspace.index(), self._workspace.catalog()
        if self._workspace.is_foreign:
            points = list(index.scan())
            damaged = integrity.describe_damaged_points(damaged_points(points))
            return [*damaged, *integrity.describe_faults(readable_chunks(points))]
        stored = audit.take_inventory(index, catalog)
        made_with = catalog.fingerprint()
        findings = [
            *audit.find_drift(stored),
            *audit.find_altered_texts(stored),
            *audit.find_wrong_slices(stored),
            *audit.find_wrong_positions(stored),
            *audit.find_stale_vectors(stored, index, made_with.embedder if made_with else ""),
            *audit.find_wrong_vectors(stored, index, self._workspace.embedder()),
        ]
        incomplete = integrity.describe_faults(
            chunk for chunk in stored.in_index.values() if integrity.find_damage(chunk)
        )
        return [
            *integrity.describe_damaged_points(stored.damaged),
            *incomplete,
            *(finding.problem for finding in findings),
        ]


@dataclass(frozen=True, slots=True)
class Remote:
    """A service that speaks our HTTP API."""

    client: httpx.Client

    @classmethod
    def at(cls, url: str, key: str | None = None) -> Remote:
        """The service at an address."""
        import httpx

        if not url.startswith(("http://", "https://")):
            raise InvalidInput("url", f"must begin with http:// or https://, not {url!r}")
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return cls(httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=SECONDS))

    def facts(self) -> Mapping[str, str]:
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
        body = {name: value for name, value in fields.items() if value is not None}
        found = self._told(lambda: self.client.post("/api/v1/search", json=body, headers=ANEW))
        with self._understood():
            return Answer(
                query=text,
                ranking=found["search_params"]["ranking"],
                hits=tuple(_hit(one) for one in found["results"]),
                top_k=options.top_k,
                threshold=options.threshold,
                created_at=found["created_at"],
                timings={"remote": found["query_time_ms"]},
                damaged=tuple(_damaged_point(point) for point in found.get("damaged", ())),
            )

    def pages(self) -> Iterator[PageView]:
        listed = self._get("/api/v1/documents")
        with self._understood():
            names = [record["document_id"] for record in listed["documents"]]
        for name in names:
            page = self._get(f"/api/v1/documents/{name}")
            with self._understood():
                chunks = tuple(_passage(one, page) for one in page["passages"])
                view = PageView(
                    page["document_id"], page["url"], page["title"], page["source_path"], page["text"], chunks
                )
            yield view

    def indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        # The service does not tell its stores apart.
        return set(chunk_ids)

    def audit(self) -> list[str]:
        pages = list(self.pages())
        wrong = integrity.find_pages_with_gaps(pages)
        gaps = [f"the chunks of {name} don't run 0, 1, 2 …" for name in wrong]
        return [*integrity.describe_faults(chunk for page in pages for chunk in page.chunks), *gaps]

    @contextmanager
    def _understood(self) -> Iterator[None]:
        try:
            yield
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise IndexFailure(
                f"{self.client.base_url} is no service of ours: {error!r} is missing"
            ) from error

    def _get(self, path: str) -> dict[str, Any]:
        return self._told(lambda: self.client.get(path))

    def _told(self, ask: Callable[[], httpx.Response]) -> dict[str, Any]:
        """What the service answers; its errors become ours."""
        import httpx

        try:
            answer = ask()
            for _ in range(PATIENCE):
                if answer.status_code != httpx.codes.TOO_MANY_REQUESTS:
                    break
                time.sleep(_seconds_to_wait(answer.headers.get("retry-after", "1")))
                answer = ask()
            body = answer.json()
        except httpx.HTTPError as error:
            raise IndexFailure(f"{self.client.base_url} does not answer: {error}") from error
        except ValueError as error:
            raise IndexFailure(f"{self.client.base_url} gave an answer that is not JSON") from error
        if answer.is_success and isinstance(body, dict):
            return body
        message = str(body.get("message", body) if isinstance(body, dict) else body)
        raise _error(answer.status_code, message)


def _seconds_to_wait(retry_after: str) -> float:
    """Return the seconds to wait, from the header Retry-After."""
    seconds = parse_retry_after(retry_after)
    return 1.0 if seconds is None else min(seconds, SECONDS)


def _error(status: int, message: str) -> PertinentError:
    match status:
        case 400:
            return InvalidInput(*_split(message))
        case 401:
            return SettingsError(f"the service wants a key: {message}")
        case 404:
            return NotFound(message)
        case 502:
            return EmbedderError(message)
    return IndexFailure(f"the service failed with {status}: {message}")


def _split(message: str) -> tuple[str, str]:
    field, colon, rest = message.partition(": ")
    return (field, rest) if colon and " " not in field else ("query", message)


def _hit(found: Mapping[str, Any]) -> Hit:
    source = found["metadata"]
    chunk = Chunk(
        chunk_id=found["chunk_id"],
        document_id=source["document_id"],
        url=source["url"],
        anchor=source["anchor"],
        title=source["document_title"],
        section=source["section"],
        position=found["position"],
        start=_number(source["start"]),
        end=_number(source["end"]),
        text=found["content"],
        content_hash=source["content_hash"],
        source_path=source["source_path"],
        slug="",
        source_type=source["source_type"],
        created_at=source["created_at"],
    )
    parts = Scores(found["scores"]["cosine"], found["scores"]["lexical"])
    return Hit(chunk, found["similarity_score"], parts, point_id(chunk.chunk_id))


def _damaged_point(body: Mapping[str, Any]) -> DamagedPoint:
    name = str(body["point_id"])
    point = int(name) if name.isdecimal() else UUID(name)
    return DamagedPoint(point, body["chunk_id"], tuple(body["problems"]))


def _number(value: int | None) -> int:
    return -1 if value is None else value


def _passage(found: Mapping[str, Any], page: Mapping[str, Any]) -> Chunk:
    return Chunk(
        chunk_id=found["chunk_id"],
        document_id=found["document_id"],
        url=found["url"],
        anchor=found["anchor"],
        title=found["document_title"],
        section=found["section"],
        position=found["position"],
        start=_number(found["start"]),
        end=_number(found["end"]),
        text=found["content"],
        content_hash=found["content_hash"],
        source_path=page["source_path"],
        slug="",
        source_type="",
        created_at=found["created_at"],
    )
