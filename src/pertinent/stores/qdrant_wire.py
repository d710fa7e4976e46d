"""How a Qdrant server is asked for points and given them: over gRPC, or over HTTP where that is closed.

These two are all that is worth the second way. On loopback, in client's CPU time: two questions for 50
points take 1.4 ms over gRPC and 3.5 ms over HTTP, 32 points to write take 6.5 ms and 13.8 ms. Reading
payloads is the other way round (512 of them 62 ms and 11 ms), so all else goes over HTTP. The stubs are
called directly: qdrant-client's own conversion from gRPC takes longer than the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from qdrant_client import QdrantClient, grpc, models
from qdrant_client.conversions.conversion import payload_to_grpc

from ..types import PointId


class Terms(NamedTuple):
    """A sparse vector."""

    indices: Sequence[int]
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Question:
    """Which points of one side are nearest to a vector; asked of all, or of those that match or are named."""

    side: str
    nearest_to: Sequence[float] | Terms
    limit: int
    matches: Mapping[str, str] = field(default_factory=dict)
    among: Sequence[PointId] = ()
    oversampling: float = 1.0
    """How many times as many quantised vectors are looked at, to be scored again with the whole ones."""


class Point(NamedTuple):
    """A point to be written."""

    point_id: UUID
    vectors: Mapping[str, Sequence[float] | Terms]
    payload: Mapping[str, Any]


Scored = tuple[list[PointId], list[float]]
"""The points that were found, best first, and their scores."""


class Wire(Protocol):
    """One way of speaking to a server."""

    def ask(self, collection: str, questions: Sequence[Question]) -> list[Scored]: ...

    def put(self, collection: str, points: Sequence[Point]) -> None:
        """Return when the points can be found, and would be found after a failure of the power."""


class OverHttp:
    """Speaks JSON."""

    def __init__(self, reading: QdrantClient, writing: QdrantClient) -> None:
        self._reading = reading
        self._writing = writing

    def ask(self, collection: str, questions: Sequence[Question]) -> list[Scored]:
        batch = models.QueryRequestBatch(searches=[_http_query(one) for one in questions])
        found = self._reading.http.search_api.query_batch_points(collection, query_request_batch=batch).result
        return [
            ([known_by(one.id) for one in answer.points], [one.score for one in answer.points])
            for answer in found or []
        ]

    def put(self, collection: str, points: Sequence[Point]) -> None:
        made = [
            models.PointStruct(
                id=str(point.point_id),
                vector={side: _http_vector(vector) for side, vector in point.vectors.items()},
                payload=dict(point.payload),
            )
            for point in points
        ]
        self._writing.upsert(collection, made, wait=True, ordering=models.WriteOrdering.MEDIUM)


def _http_query(question: Question) -> models.QueryRequest:
    return models.QueryRequest(
        query=models.NearestQuery(nearest=_http_vector(question.nearest_to)),
        using=question.side,
        limit=question.limit,
        filter=_http_filter(question),
        params=models.SearchParams(
            quantization=models.QuantizationSearchParams(rescore=True, oversampling=question.oversampling)
        ),
        with_payload=False,
    )


def _http_vector(vector: Sequence[float] | Terms) -> list[float] | models.SparseVector:
    if isinstance(vector, Terms):
        return models.SparseVector(indices=list(vector.indices), values=list(vector.values))
    return list(vector)


def _http_filter(question: Question) -> models.Filter | None:
    must: list[models.Condition] = [matching(key, value) for key, value in question.matches.items()]
    if question.among:
        must.append(models.HasIdCondition(has_id=[named(one) for one in question.among]))
    return models.Filter(must=must) if must else None


def matching(key: str, value: str) -> models.FieldCondition:
    """The condition that a field has a value."""
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def named(point: PointId) -> str | int:
    """A point's id as JSON has it."""
    return point if isinstance(point, int) else str(point)


def known_by(name: str | int | UUID) -> PointId:
    """A point's id from JSON."""
    return UUID(name) if isinstance(name, str) else name


class OverGrpc:
    """Speaks protocol buffers."""

    def __init__(self, client: QdrantClient, read_timeout: float, write_timeout: float) -> None:
        self._client = client
        self._read_timeout = read_timeout
        self._write_timeout = write_timeout

    def ask(self, collection: str, questions: Sequence[Question]) -> list[Scored]:
        batch = grpc.QueryBatchPoints(
            collection_name=collection, query_points=[_grpc_query(collection, one) for one in questions]
        )
        found = self._client.grpc_points.QueryBatch(batch, timeout=self._read_timeout).result
        return [
            ([_grpc_id(one.id) for one in answer.result], [one.score for one in answer.result])
            for answer in found
        ]

    def put(self, collection: str, points: Sequence[Point]) -> None:
        made = [
            grpc.PointStruct(
                id=_grpc_name(point.point_id),
                vectors=grpc.Vectors(
                    vectors=grpc.NamedVectors(
                        vectors={side: _grpc_vector(vector) for side, vector in point.vectors.items()}
                    )
                ),
                payload=payload_to_grpc(dict(point.payload)),
            )
            for point in points
        ]
        ordering = grpc.WriteOrdering(type=grpc.WriteOrderingType.Medium)
        upsert = grpc.UpsertPoints(collection_name=collection, points=made, wait=True, ordering=ordering)
        self._client.grpc_points.Upsert(upsert, timeout=self._write_timeout)


def _grpc_query(collection: str, question: Question) -> grpc.QueryPoints:
    return grpc.QueryPoints(
        collection_name=collection,
        query=grpc.Query(nearest=_grpc_input(question.nearest_to)),
        using=question.side,
        limit=question.limit,
        filter=_grpc_filter(question),
        params=grpc.SearchParams(
            quantization=grpc.QuantizationSearchParams(rescore=True, oversampling=question.oversampling)
        ),
        with_payload=grpc.WithPayloadSelector(enable=False),
    )


def _grpc_input(vector: Sequence[float] | Terms) -> grpc.VectorInput:
    if isinstance(vector, Terms):
        return grpc.VectorInput(sparse=grpc.SparseVector(indices=vector.indices, values=vector.values))
    return grpc.VectorInput(dense=grpc.DenseVector(data=vector))


def _grpc_vector(vector: Sequence[float] | Terms) -> grpc.Vector:
    if isinstance(vector, Terms):
        return grpc.Vector(sparse=grpc.SparseVector(indices=vector.indices, values=vector.values))
    return grpc.Vector(dense=grpc.DenseVector(data=vector))


def _grpc_filter(question: Question) -> grpc.Filter | None:
    must = [
        grpc.Condition(field=grpc.FieldCondition(key=key, match=grpc.Match(keyword=value)))
        for key, value in question.matches.items()
    ]
    if question.among:
        ids = [_grpc_name(one) for one in question.among]
        must.append(grpc.Condition(has_id=grpc.HasIdCondition(has_id=ids)))
    return grpc.Filter(must=must) if must else None


def _grpc_name(point: PointId) -> grpc.PointId:
    return grpc.PointId(num=point) if isinstance(point, int) else grpc.PointId(uuid=str(point))


def _grpc_id(name: grpc.PointId) -> PointId:
    return UUID(name.uuid) if name.uuid else name.num
