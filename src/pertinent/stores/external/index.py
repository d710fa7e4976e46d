"""Search a collection that another pipeline filled; it is never written to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self
from urllib.parse import unquote, urldefrag

import numpy as np
from qdrant_client import models

from ...errors import DimensionMismatch, InvalidInput, SettingsError
from ...identity import canonical_url
from ...ports import Vector
from ...types import Candidates, Filters, PointId, StoredPoint
from ..payload import is_at_or_below
from ..qdrant.points import format_point_id, parse_point_id, read_scores
from ..qdrant.server import Peer, Server
from .collection import (
    DenseVector,
    check_unit_length,
    choose_vector,
    read_collection,
    recognize_points,
    sample_points,
    split_fields,
)
from .payload import Payload, PayloadFormat, read_path, read_text, to_chunk

PAGE_SIZE = 512
"""How many points are read with one request."""

WIDEN_BY = 4
"""The factor by which a query is widened when the server returned points that the filter excludes."""

NO_POINTS = PayloadFormat("no points yet", {})
"""The format of an empty collection; it is recognised once its pipeline has written points."""

# Quantised vectors only preselect; rescoring with the exact vectors keeps a score a cosine.
_EXACT_SCORES = models.SearchParams(
    quantization=models.QuantizationSearchParams(rescore=True, oversampling=2.0)
)


class ExternalIndex:
    """`ports.IndexReader` over points of another pipeline, by their dense vector; thread-safe."""

    sides = ("dense",)
    """A sparse vector of another pipeline is not our BM25, and is not used."""

    version = None
    """Its pipeline may write to it at any time."""

    def __init__(
        self, server: Server, name: str, fields: Mapping[str, str], dense: DenseVector, base_url: str = ""
    ) -> None:
        self._server = server
        self.name = name
        self._fields = fields
        self._base_url = base_url
        self.dense = dense
        self._payload_format: PayloadFormat | None = None

    @property
    def payload_format(self) -> PayloadFormat:
        """The payload path of each field, named by the user or recognised once there are points."""
        if self._payload_format is not None:
            return self._payload_format
        with _name_in_errors(self.name):
            payloads = [payload for _, payload in sample_points(self._server, self.name)]
            if not payloads and not self._fields:
                return NO_POINTS
            check_unit_length(self._server, self.name, self.dense)
            recognized = recognize_points(self._server, self.name, payloads, self._fields).payload_format
            payload_format = replace(recognized, base_url=self._base_url)
        if payloads:
            self._payload_format = payload_format
        return payload_format

    @classmethod
    def open(
        cls,
        server: Server,
        name: str,
        *,
        dimension: int | None = None,
        fields: Mapping[str, str] | None = None,
        base_url: str = "",
    ) -> Self:
        """Open a collection; raise SettingsError if it can't be searched.

        Args:
            server: The server; closing the index closes it.
            name: The collection, or an alias of it.
            dimension: The dimension of the embedder, which the vector must have.
            fields: The payload path of each field, and under `vector` the name of the vector to search.
                Without fields the payload format is recognised.
            base_url: The address to which the source paths of points without a url are relative.
        """
        vector, named_fields = split_fields(fields)
        try:
            with _name_in_errors(name):
                dense = choose_vector(read_collection(server, name).dense, vector, dimension)
            index = cls(server, name, named_fields, dense, base_url)
            _ = index.payload_format  # raises now if the collection can't be searched
        except BaseException:
            server.close()
            raise
        return index

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._server.url

    def candidates(
        self,
        vector: Vector | None,
        text: str | None,  # noqa: ARG002 - there is no lexical side
        *,
        by: Sequence[str],
        limit: int,
        filters: Filters,
    ) -> Candidates:
        """Return the points nearest to the vector, with their cosines."""
        if vector is None or "dense" not in by:
            raise InvalidInput(
                "ranking", f"the collection {self.name} can't be searched by words; choose dense"
            )
        if len(vector) != self.dense.dimension:
            raise DimensionMismatch(len(vector), self.dense.dimension)
        scores = read_scores(self._find_nearest(vector.tolist(), limit, filters))
        cosines = [_cosine(score, self.dense.distance) for score in scores.values()]
        return Candidates(list(scores), cosines, None)

    def _find_nearest(self, vector: list[float], limit: int, filters: Filters) -> list[models.ScoredPoint]:
        payload_format = self.payload_format
        if payload_format is NO_POINTS:
            return []
        conditions = _filter(filters, payload_format)
        query_limit = limit
        while True:
            points = self._server.read(self._query, vector, query_limit, conditions, filters)
            admitted = [point for point in points if self._admits(point.payload or {}, filters)]
            if len(admitted) >= limit or len(points) < query_limit:
                return admitted[:limit]
            query_limit *= WIDEN_BY

    def _query(
        self, peer: Peer, vector: list[float], limit: int, conditions: models.Filter | None, filters: Filters
    ) -> list[models.ScoredPoint]:
        return peer.reading.query_points(
            self.name,
            query=vector,
            using=self.dense.name or None,
            limit=limit,
            query_filter=conditions,
            search_params=_EXACT_SCORES,
            with_payload=[self.payload_format.fields["url"]] if filters.url else False,
        ).points

    def _admits(self, payload: Payload, filters: Filters) -> bool:
        """Whether the url is the one of the filter or below it; the server's match is only approximate."""
        if not filters.url:
            return True
        url = read_text("url", read_path(payload, self.payload_format.fields["url"]))
        return is_at_or_below(url, filters.url)

    def chunks(self, point_ids: Sequence[PointId]) -> dict[PointId, StoredPoint]:
        """Read the chunks of the points that exist."""
        chunks: dict[PointId, StoredPoint] = {}
        for start in range(0, len(point_ids), PAGE_SIZE):
            names = [format_point_id(point) for point in point_ids[start : start + PAGE_SIZE]]
            for record in self._server.read(
                lambda peer, names: peer.reading.retrieve(self.name, names), names
            ):
                point = parse_point_id(record.id)
                chunks[point] = to_chunk(record.payload or {}, point, self.payload_format)
        return chunks

    def vectors(self, point_ids: Sequence[PointId]) -> dict[PointId, Vector]:
        """Read the searched vectors of the points that exist."""
        names = [format_point_id(point) for point in point_ids]
        records = self._server.read(self._vectors, names)
        vectors = {parse_point_id(record.id): self.dense.read(record.vector) for record in records}
        return {
            point: np.asarray(vector, np.float32) for point, vector in vectors.items() if vector is not None
        }

    def _vectors(self, peer: Peer, names: list[str | int]) -> list[models.Record]:
        return peer.reading.retrieve(self.name, names, with_payload=False, with_vectors=self.dense.selector)

    def points(self) -> Iterator[tuple[PointId, Payload]]:
        """Yield id and payload of every point, ordered by id."""
        offset: Any = None
        while True:
            records, offset = self._server.read(self._scroll, offset)
            yield from ((parse_point_id(record.id), record.payload or {}) for record in records)
            if offset is None:
                return

    def _scroll(self, peer: Peer, offset: Any) -> tuple[list[models.Record], Any]:
        return peer.reading.scroll(self.name, limit=PAGE_SIZE, offset=offset)

    def scan(self) -> Iterator[StoredPoint]:
        """Yield every point as a chunk, or with what is wrong with it."""
        return (to_chunk(payload, point, self.payload_format) for point, payload in self.points())

    def count(self) -> int:
        """Count the points."""
        return self._server.read(lambda peer: peer.reading.count(self.name, exact=True)).count

    def close(self) -> None:
        """Close the connections to the server."""
        self._server.close()


@contextmanager
def _name_in_errors(name: str) -> Iterator[None]:
    try:
        yield
    except SettingsError as error:
        raise SettingsError(f"the collection {name}: {error}") from error


def _cosine(score: float, distance: str) -> float:
    """Convert the score of two unit vectors to their cosine."""
    return 1 - score * score / 2 if distance == "Euclid" else score


def _filter(filters: Filters, payload_format: PayloadFormat) -> models.Filter | None:
    """Translate filters to conditions on the fields of the format; raise InvalidInput if it lacks one."""
    must: list[models.Condition] = []
    for name in ("document_id", "section", "url", "source_type"):
        value = getattr(filters, name)
        if value:
            path = _filter_path(name, payload_format)
            any_of = _match_url(path, value) if name == "url" else _match_value(path, value)
            must.append(models.Filter(should=any_of))
    return models.Filter(must=must) if must else None


def _filter_path(name: str, payload_format: PayloadFormat) -> str:
    path = payload_format.fields.get(name)
    if path is None:
        raise InvalidInput("filter", f"the points of this collection have no {name} to filter by")
    if path.startswith("_node_content."):
        raise InvalidInput("filter", f"{name} is stored in {path}, which the server can't filter by")
    return path


def _match_value(path: str, value: str) -> list[models.Condition]:
    """Match the text, or the number if the text is one."""
    values: list[str | int] = [value]
    if value.isascii() and value.isdecimal():
        values.append(int(value))
    return [models.FieldCondition(key=path, match=models.MatchValue(value=match)) for match in values]


def _match_url(path: str, url: str) -> list[models.Condition]:
    """Match a page and the pages below it; without a full-text index, MatchText matches a substring.

    Some pipelines store addresses percent-encoded, others store them as people write them.
    """
    page = canonical_url(url).rstrip("/")
    conditions: list[models.Condition] = []
    for spelling in dict.fromkeys((page, unquote(page), urldefrag(url).url.rstrip("/"))):
        matches: list[models.Match] = [models.MatchValue(value=spelling)]
        matches += [models.MatchText(text=spelling + mark) for mark in ("/", "#", "?")]
        conditions += [models.FieldCondition(key=path, match=match) for match in matches]
    return conditions
