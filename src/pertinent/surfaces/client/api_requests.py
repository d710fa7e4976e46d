"""The requests of the HTTP API, each with the function that reads its response."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote

from ...limits import MAX_NEIGHBORS, RETRIEVAL_IMPLEMENTATION, SUGGESTIONS, check_count, check_text
from ...ports import PageRecord
from ...types import Answer, Chunk, SearchOptions, Suggestion
from . import api_responses
from .api_responses import AuditStatus, ServiceStatus

if TYPE_CHECKING:
    from ...validation.seed_tests import ValidationRun
    from ...validation.target import ContentVersion, PageView

Result = TypeVar("Result")

SUCCESS = 200
UNAVAILABLE = 503


@dataclass(frozen=True, slots=True)
class ApiRequest(Generic[Result]):
    """A request of the API, and how to read its response."""

    method: str
    path: str
    read: Callable[[Mapping[str, Any]], Result]
    """Reads the body of a successful response."""
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    statuses: frozenset[int] = frozenset({SUCCESS})
    """The statuses whose body is a result."""
    can_be_not_found: bool = False
    """Whether a 404 means that the resource does not exist, and not that the address is wrong."""

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of httpx's `request`."""
        return {
            "method": self.method,
            "url": self.path,
            "params": dict(self.query) or None,
            "json": self.body,
            "headers": dict(self.headers),
        }


def build_search(text: str, options: SearchOptions) -> ApiRequest[Answer]:
    """Search with options within the limits of the API."""
    filters = {name: value for name, value in asdict(options.filters).items() if value is not None}
    body = {
        "query_text": text,
        "top_k": options.top_k,
        "similarity_threshold": options.threshold,
        "ranking": options.ranking,
        "filters": filters or None,
        "per_page": options.per_page,
        "distinct": options.distinct,
        "fallback": options.fallback,
        "correct": options.correct,
        "rerank": options.rerank,
        # Adds the times and the candidates that are not among the hits, which an `Answer` has.
        "explain": True,
    }
    headers = {"cache-control": "no-cache"} if options.bypass_cache else {}
    return ApiRequest("POST", "/api/v1/search", api_responses.read_answer, body=body, headers=headers)


def build_suggest(prefix: str, limit: int) -> ApiRequest[list[Suggestion]]:
    """Ask for pages and sections whose name fits."""
    typed, most = SUGGESTIONS.check_typed(prefix), SUGGESTIONS.check_top_k(limit)
    return ApiRequest("GET", "/api/v1/suggest", api_responses.read_suggestions, {"q": typed, "limit": most})


def build_chunk(chunk_id: str, around: int) -> ApiRequest[list[Chunk]]:
    """Ask for a chunk and its neighbours."""
    path = f"/api/v1/chunks/{_quote_id('chunk_id', chunk_id)}"
    query: dict[str, str | int] = {"around": check_count("around", around, MAX_NEIGHBORS, minimum=0)}
    return ApiRequest("GET", path, api_responses.read_chunks, query, can_be_not_found=True)


def build_pages() -> ApiRequest[list[PageRecord]]:
    """Ask for a record of every page."""
    return ApiRequest("GET", "/api/v1/documents", api_responses.read_page_records)


def build_listing() -> ApiRequest[tuple[list[PageRecord], dict[str, str]]]:
    """Ask for a record of every page, and for name and location of each source."""
    return ApiRequest("GET", "/api/v1/documents", api_responses.read_listing)


def build_sources() -> ApiRequest[dict[str, str]]:
    """Ask for name and location of each source."""
    return ApiRequest("GET", "/api/v1/documents", api_responses.read_sources)


def build_content_version() -> ApiRequest[ContentVersion]:
    """Ask for the state of the pages, by which a validation notices a sync."""
    return ApiRequest("GET", "/api/v1/documents", api_responses.read_content_version)


def build_page(document_id: str) -> ApiRequest[PageView]:
    """Ask for a page with its text and its chunks."""
    path = f"/api/v1/documents/{_quote_id('document_id', document_id)}"
    return ApiRequest("GET", path, api_responses.read_page, can_be_not_found=True)


def build_run_tests(tests: Sequence[Mapping[str, Any]], top_k: int) -> ApiRequest[ValidationRun]:
    """Run seed 004's validation tests."""
    from ...validation.seed_tests import parse_tests

    body = {
        "tests": [test.model_dump(mode="json") for test in parse_tests(tests)],
        "top_k": RETRIEVAL_IMPLEMENTATION.check_top_k(top_k),
    }
    return ApiRequest("POST", "/api/v1/validate", api_responses.read_validation_run, body=body)


def build_start_audit() -> ApiRequest[AuditStatus]:
    """Start an audit of the stored data; an older service has no such route."""
    return ApiRequest("POST", "/api/v1/audits", api_responses.read_audit, body={}, can_be_not_found=True)


def build_audit(audit_id: str) -> ApiRequest[AuditStatus]:
    """Ask for the result of an audit."""
    path = f"/api/v1/audits/{_quote_id('audit_id', audit_id)}"
    return ApiRequest("GET", path, api_responses.read_audit, can_be_not_found=True)


def build_health() -> ApiRequest[ServiceStatus]:
    """Ask which parts of the service answer; 503 is an answer, too."""
    statuses = frozenset({SUCCESS, UNAVAILABLE})
    return ApiRequest("GET", "/api/v1/health", api_responses.read_health, statuses=statuses)


def build_models() -> ApiRequest[dict[str, str | None]]:
    """Ask for the embedder of the index, and the reranker if there is one."""
    return ApiRequest("GET", "/api/v1/index", api_responses.read_models)


def _quote_id(name: str, identifier: str) -> str:
    # httpx would resolve `.` and `..` as steps of a path.
    return quote(check_text(name, identifier), safe="").replace(".", "%2E")
