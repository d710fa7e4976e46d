"""A vector index over a collection that another pipeline filled: it is read, and never written to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn, Self

from qdrant_client import models

from ...errors import DimensionMismatch, InvalidInput, SettingsError, SyncRefused
from ...identity import canonical_url
from ...ports import Entry, Vector
from ...types import Candidates, Filters, PointId, StoredPoint
from ..qdrant.points import format_point_id, parse_point_id
from ..qdrant.server import Peer, Server
from .collection import Dense, check_lengths, choose, look_at, sample, split
from .payload import Payload, Shape, to_chunk, value_at, words_of
from .payload_formats import recognise

PAGE = 512
"""How many points are read at once."""

WIDER = 4
"""By how much more is asked for where the server let through what a filter does not admit."""

NO_POINTS = Shape("no points yet", {})
"""The shape of a collection without points; the next points that its pipeline writes tell their own."""

# With quantised vectors the few best are scored again with the exact ones: a score stays a cosine.
_EXACT_SCORES = models.SearchParams(
    quantization=models.QuantizationSearchParams(rescore=True, oversampling=2.0)
)


class ForeignIndex:
    """Points of another pipeline, searched by their dense vector. Safe to use from many threads."""

    sides = ("dense",)
    """A sparse vector that others made is not our BM25, and is not used."""

    version = None
    """Its pipeline may write to it at any time."""

    def __init__(
        self, server: Server, name: str, fields: Mapping[str, str], dense: Dense, base_url: str = ""
    ) -> None:
        self._server = server
        self.name = name
        self._fields = fields
        self._base_url = base_url
        self.dense = dense
        self._shape: Shape | None = None

    @property
    def shape(self) -> Shape:
        """Where the points have each field, named or recognised: when there are points to look at."""
        if self._shape is not None:
            return self._shape
        with _name_in_errors(self.name):
            payloads = [payload for _, payload in sample(self._server, self.name)]
            if not payloads and not self._fields:
                return NO_POINTS
            check_lengths(self._server, self.name, self.dense)
            shape = replace(recognise(payloads, self._fields).shape, base_url=self._base_url)
        if payloads:
            self._shape = shape
        return shape

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
        """The collection, its fields recognised or named; closing it closes the server.

        Where `dimension` is given, it is the embedder's, and the vector must have it. Which of several
        vectors is searched may be named beside the fields, as `vector`. Points without a url have the
        address of their source path, below `base_url` where it is given.
        """
        vector, named_fields = split(fields)
        try:
            with _name_in_errors(name):
                dense = choose(look_at(server, name).dense, vector, dimension)
            index = cls(server, name, named_fields, dense, base_url)
            _ = index.shape  # what can't be searched is refused now
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
        text: str | None,  # noqa: ARG002 - there is nothing to look words up in
        *,
        by: Sequence[str],
        limit: int,
        filters: Filters,
    ) -> Candidates:
        """The points nearest to the vector, with their cosines; there is no lexical side."""
        if vector is None or "dense" not in by:
            raise InvalidInput("ranking", f"the collection {self.name} has no lexical side; choose dense")
        if len(vector) != self.dense.dimension:
            raise DimensionMismatch(len(vector), self.dense.dimension)
        found = self._nearest(vector.tolist(), limit, filters)
        scores = [_cosine(one.score, self.dense.distance) for one in found]
        return Candidates([parse_point_id(one.id) for one in found], scores, None)

    def _nearest(self, vector: list[float], limit: int, filters: Filters) -> list[models.ScoredPoint]:
        shape = self.shape
        if shape is NO_POINTS:
            return []
        wanted = _filter(filters, shape)
        asked = limit
        while True:
            found = self._server.read(self._query, vector, asked, wanted, filters)
            kept = [one for one in found if self._admits(one.payload or {}, filters)]
            if len(kept) >= limit or len(found) < asked:
                return kept[:limit]
            asked *= WIDER

    def _query(
        self, peer: Peer, vector: list[float], limit: int, wanted: models.Filter | None, filters: Filters
    ) -> list[models.ScoredPoint]:
        return peer.reading.query_points(
            self.name,
            query=vector,
            using=self.dense.name or None,
            limit=limit,
            query_filter=wanted,
            search_params=_EXACT_SCORES,
            with_payload=[self.shape.fields["url"]] if filters.url else False,
        ).points

    def _admits(self, payload: Payload, filters: Filters) -> bool:
        """Whether the address is the one asked for or below it: a server may match words of it."""
        if not filters.url:
            return True
        url = words_of("url", value_at(payload, self.shape.fields["url"]))
        return _below(url, canonical_url(filters.url))

    def chunks(self, point_ids: Sequence[PointId]) -> dict[PointId, StoredPoint]:
        found = self._retrieve(point_ids)
        return {point: to_chunk(payload, point, self.shape) for point, payload in found}

    def embedding_keys(self, point_ids: Sequence[PointId]) -> dict[PointId, str]:
        """Which of the points exist; from what they were embedded, their pipeline alone knows."""
        return dict.fromkeys((point for point, _ in self._retrieve(point_ids)), "")

    def _retrieve(self, point_ids: Sequence[PointId]) -> Iterator[tuple[PointId, Payload]]:
        for start in range(0, len(point_ids), PAGE):
            names = [format_point_id(point) for point in point_ids[start : start + PAGE]]
            for record in self._server.read(
                lambda peer, names: peer.reading.retrieve(self.name, names), names
            ):
                yield parse_point_id(record.id), record.payload or {}

    def points(self) -> Iterator[tuple[PointId, Payload]]:
        """Every point as it is stored, in the order of the ids."""
        offset: Any = None
        while True:
            records, offset = self._server.read(self._scroll, offset)
            yield from ((parse_point_id(record.id), record.payload or {}) for record in records)
            if offset is None:
                return

    def _scroll(self, peer: Peer, offset: Any) -> tuple[list[models.Record], Any]:
        return peer.reading.scroll(self.name, limit=PAGE, offset=offset)

    def scan(self) -> Iterator[StoredPoint]:
        return (to_chunk(payload, point, self.shape) for point, payload in self.points())

    def count(self) -> int:
        return self._server.read(lambda peer: peer.reading.count(self.name, exact=True)).count

    def put(self, entries: Sequence[Entry], vectors: Sequence[Vector]) -> None:  # noqa: ARG002
        self.refuse()

    def describe(self, entries: Sequence[Entry]) -> None:  # noqa: ARG002
        self.refuse()

    def delete_stale_points(self, document_id: str, *, keep: Sequence[PointId]) -> None:  # noqa: ARG002
        self.refuse()

    def refuse(self) -> NoReturn:
        """Say that nothing is written here, and what to do."""
        raise refusal(self.name)

    def flush(self) -> None:
        """Nothing was written."""

    def finish(self) -> None:
        """Nothing was written."""

    def close(self) -> None:
        self._server.close()


@contextmanager
def _name_in_errors(name: str) -> Iterator[None]:
    try:
        yield
    except SettingsError as error:
        raise SettingsError(f"the collection {name}: {error}") from error


def refusal(name: str) -> SyncRefused:
    """The answer to whoever would change the collection."""
    return SyncRefused(
        f"the collection {name} is another pipeline's and is never written to: let that pipeline change it, "
        "or set QDRANT_COLLECTION_NAME to another name for an index of your own"
    )


def _cosine(score: float, distance: str) -> float:
    """A score between unit vectors as their cosine."""
    return 1 - score * score / 2 if distance == "Euclid" else score


def _filter(filters: Filters, shape: Shape) -> models.Filter | None:
    """Filters as conditions on the shape's own fields; one that it has no field for is refused."""
    must: list[models.Condition] = []
    for name in ("document_id", "section", "url", "source_type"):
        value = getattr(filters, name)
        if value:
            path = _path(name, shape)
            any_of = _addresses(path, value) if name == "url" else _values(path, value)
            must.append(models.Filter(should=any_of))
    return models.Filter(must=must) if must else None


def _path(name: str, shape: Shape) -> str:
    path = shape.fields.get(name)
    if path is None:
        raise InvalidInput("filter", f"the points of this collection have no {name} to filter by")
    if path.startswith("_node_content."):
        raise InvalidInput("filter", f"{name} stands in {path}, where the server can't look")
    return path


def _values(path: str, value: str) -> list[models.Condition]:
    """The text itself, or the number that it writes."""
    meant: list[str | int] = [value]
    if value.isascii() and value.isdecimal():
        meant.append(int(value))
    return [models.FieldCondition(key=path, match=models.MatchValue(value=one)) for one in meant]


def _addresses(path: str, url: str) -> list[models.Condition]:
    """The page at an address and all that is below it; without an index of words, `text` is a part."""
    page = canonical_url(url).rstrip("/")
    return [
        models.FieldCondition(key=path, match=models.MatchValue(value=page)),
        *(
            models.FieldCondition(key=path, match=models.MatchText(text=page + mark))
            for mark in ("/", "#", "?")
        ),
    ]


def _below(url: str, page: str) -> bool:
    try:
        here = canonical_url(url)
    except ValueError:
        return False
    return here == page or here.startswith((page.rstrip("/") + "/", page + "?"))
