"""The responses of the HTTP API as the library's own types, and its errors as the library's own errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from uuid import UUID

from ...errors import EmbedderError, IndexFailure, InvalidInput, NotFound, PertinentError, SettingsError
from ...ports import PageRecord
from ...types import Answer, Chunk, DamagedPoint, Excluded, Hit, PointId, Scores, Suggestion

if TYPE_CHECKING:
    from ...validation.seed_tests import ValidationRun
    from ...validation.target import ContentVersion, PageView

Record = TypeVar("Record", PageRecord, Suggestion)


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """Which parts of a service answer, as its health check says."""

    status: Literal["ok", "degraded", "error"]
    """`ok`: both stores answer. `degraded`: only the index does. `error`: the index does not."""
    index: bool
    catalog: bool
    reranker: bool | None = None
    """Whether the reranker answered the last search that needed it; None if none is set."""


@dataclass(frozen=True, slots=True)
class AuditStatus:
    """An audit of the stored data of a service."""

    audit_id: str
    faults: list[str] | None
    """A line for each fault; None while the audit waits or runs."""


def read_answer(body: Mapping[str, Any]) -> Answer:
    """Read the answer of a search with `explain`."""
    params, explanation = body["search_params"], body["explain"]
    return Answer(
        query=_read_text(body["query_text"]),
        ranking=params["ranking"],
        hits=tuple(map(_read_hit, body["results"])),
        top_k=_read_number(params["top_k"]),
        threshold=_read_score(params["similarity_threshold"]),
        created_at=_read_text(body["created_at"]),
        timings={_read_text(stage): _read_float(ms) for stage, ms in explanation["stages_ms"].items()},
        excluded=tuple(
            Excluded(_read_hit(candidate), candidate["reason"]) for candidate in explanation["left_out"]
        ),
        notes=tuple(map(_read_text, body["notes"])),
        damaged=tuple(map(_read_damaged_point, body["damaged"])),
        searched_for=_read_text(body["searched_for"]),
        corrected=_read_flag(body["corrected"]),
        cached=_read_flag(body["cached"]),
        rerank_share=_read_score(params["rerank_share"]),
    )


def _read_hit(result: Mapping[str, Any]) -> Hit:
    metadata = result["metadata"]
    chunk = _read_chunk({**metadata, "content": result["content"]})
    features = (result["scores"][name] for name in Scores._fields)
    scores = Scores(*(None if feature is None else _read_float(feature) for feature in features))
    point_id = _read_point_id(result["similarity"]["result_embedding_id"])
    return Hit(chunk, _read_score(result["similarity_score"]), scores, point_id)


def _read_score(score: object) -> float:
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0.0 <= score <= 1.0:
        raise ValueError(f"a score must be a number from 0 to 1, not {str(score)[:20]}")
    return score


def _read_float(number: object) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) < math.inf:
        raise TypeError(f"a finite number is expected, not {str(number)[:20]}")
    return float(number)


def _read_point_id(text: str) -> PointId:
    return int(text) if text.isdecimal() else UUID(text)


def _read_damaged_point(point: Mapping[str, Any]) -> DamagedPoint:
    problems = tuple(map(_read_text, point["problems"]))
    return DamagedPoint(
        _read_point_id(point["point_id"]),
        _read_text(point["chunk_id"]),
        _read_text(point["document_id"]),
        problems,
    )


def _read_chunk(result: Mapping[str, Any]) -> Chunk:
    return Chunk(
        chunk_id=_read_text(result["chunk_id"]),
        document_id=_read_text(result["document_id"]),
        url=_read_text(result["url"]),
        anchor=_read_text(result["anchor"]),
        title=_read_text(result["document_title"]),
        section=_read_text(result["section"]),
        position=_read_number(result["position"]),
        start=_read_number(result["start"]),
        end=_read_number(result["end"]),
        text=_read_text(result["content"]),
        content_hash=_read_text(result["content_hash"]),
        source_path=_read_text(result["source_path"]),
        slug=_read_text(result["slug"]),
        source_type=_read_text(result["source_type"]),
        created_at=None if result["created_at"] is None else _read_text(result["created_at"]),
    )


def _read_text(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"text is expected, not {str(text)[:20]}")
    text.encode()  # raises ValueError for half of a surrogate pair, which no file or terminal takes
    return text


def _read_number(number: object) -> int:
    """Return a position or an offset; one that is unknown is -1 in a `Chunk`."""
    if number is None:
        return -1
    if not isinstance(number, int):
        raise TypeError(f"a whole number is expected, not {str(number)[:20]}")
    return number


def _read_flag(flag: object) -> bool:
    if not isinstance(flag, bool):
        raise TypeError(f"true or false is expected, not {str(flag)[:20]}")
    return flag


_READERS: Mapping[Any, Callable[[object], object]] = {
    "str": _read_text,
    "int": _read_number,
    "bool": _read_flag,
}
"""How to read the fields of a record, by their annotation."""


def _read_record(record_type: type[Record], body: Mapping[str, Any]) -> Record:
    """Read a dataclass whose fields are texts, whole numbers and flags."""
    values: Any = {field.name: _READERS[field.type](body[field.name]) for field in fields(record_type)}
    return record_type(**values)


def read_suggestions(body: Mapping[str, Any]) -> list[Suggestion]:
    """Read the pages and sections whose name fits."""
    return [_read_record(Suggestion, suggestion) for suggestion in body["suggestions"]]


def read_chunks(body: Mapping[str, Any]) -> list[Chunk]:
    """Read a chunk and its neighbours."""
    return list(map(_read_chunk, body["chunks"]))


def read_page_records(body: Mapping[str, Any]) -> list[PageRecord]:
    """Read a record of every page."""
    return [_read_record(PageRecord, record) for record in body["documents"]]


def read_sources(body: Mapping[str, Any]) -> dict[str, str]:
    """Read name and location of each source; a location that the service does not return is empty."""
    return {_read_text(source["name"]): _read_text(source["location"] or "") for source in body["sources"]}


def read_listing(body: Mapping[str, Any]) -> tuple[list[PageRecord], dict[str, str]]:
    """Read a record of every page, and name and location of each source."""
    return read_page_records(body), read_sources(body)


def read_content_version(body: Mapping[str, Any]) -> ContentVersion:
    """Read how many pages are pending, the build in use, and a record of every page."""
    from ...validation.target import ContentVersion

    return ContentVersion(_read_number(body["pending"]), (body["build"], read_page_records(body)))


def read_page(body: Mapping[str, Any]) -> PageView:
    """Read a page with its text, its sections and its chunks."""
    from ...validation.target import PageSection, PageView

    sections = tuple(
        PageSection(
            _read_text(section["section"]),
            _read_text(section["anchor"]),
            _read_number(section["start"]),
            _read_number(section["end"]),
        )
        for section in body["sections"]
    )
    return PageView(
        document_id=_read_text(body["document_id"]),
        url=_read_text(body["url"]),
        title=_read_text(body["title"]),
        source_path=_read_text(body["source_path"]),
        text=_read_text(body["text"]),
        sections=sections,
        chunks=tuple(map(_read_chunk, body["passages"])),
    )


def read_validation_run(body: Mapping[str, Any]) -> ValidationRun:
    """Read the results of seed 004's validation tests."""
    from ...validation.seed_tests import ValidationRun

    return ValidationRun.model_validate(body)


def read_audit(body: Mapping[str, Any]) -> AuditStatus:
    """Read the id of an audit, and the faults that it found."""
    faults = body["faults"]
    if faults is not None and not isinstance(faults, list):
        raise TypeError(f"a list is expected, not {str(faults)[:20]}")
    return AuditStatus(
        _read_text(body["id"]), None if faults is None else [_read_text(fault) for fault in faults]
    )


def read_health(body: Mapping[str, Any]) -> ServiceStatus:
    """Read which parts of the service answer."""
    status = body["status"]
    if status not in ("ok", "degraded", "error"):
        raise ValueError(f"a status is ok, degraded or error, not {str(status)[:20]}")
    reranker = body.get("reranker")
    return ServiceStatus(
        status,
        _read_flag(body["index"]),
        _read_flag(body["catalog"]),
        None if reranker is None else _read_flag(reranker),
    )


def read_models(body: Mapping[str, Any]) -> dict[str, str | None]:
    """Read embedder and reranker from the description of the index; a reranker that is not set is None."""
    models = {name: body[name] for name in ("embedder", "reranker")}
    return {name: None if model is None else _read_text(model) for name, model in models.items()}


def make_error(status: int, error: str, message: str, request: str) -> PertinentError:
    """Return the library's own error for an error response.

    Args:
        status: The HTTP status.
        error: The identifier of the error in the body; empty without one.
        message: The message in the body.
        request: Names the request, as the end of a message; empty without an id.
    """
    match status, error:
        case (400, "validation_error") | ((413 | 431), _):
            field, colon, problem = message.partition(": ")
            if not colon or " " in field:
                field, problem = "request", message
            return InvalidInput(field, f"{problem}{request}")
        case 401, _:
            return SettingsError(
                f"the service refused the request: {message}; `PertinentClient(url, api_key)` sends a key"
                f"{request}"
            )
        case 403, _:
            return SettingsError(f"the service refused the request: {message}{request}")
        case 404, "not_found":
            return NotFound(f"{message}{request}")
        case 502, "upstream_error":
            return EmbedderError(f"{message}{request}")
    return IndexFailure(f"the service failed with {status}: {message}{request}")
