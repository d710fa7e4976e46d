"""Describe a collection that another pipeline filled: its vectors, its fields, and what prevents a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from qdrant_client import models

from ...errors import DimensionMismatch, IndexFailure, NotFound, SettingsError
from ...identity import content_hash
from ...ports import Fingerprint
from ...types import DamagedPoint, PointId, StoredPoint, damaged_points, readable_chunks
from ..payload import to_chunk as read_own_point
from ..qdrant import collection as qdrant_collection
from ..qdrant.points import parse_point_id
from ..qdrant.server import Server
from .payload import Payload, to_chunk
from .payload_formats import FieldUsage, Recognition, list_paths, recognize_format

SAMPLE: Final = 200
"""How many points are read to recognise the payload format."""

LENGTH_TOLERANCE: Final = 1e-3
"""How far from 1 the length of a unit vector may be."""

VECTOR: Final = "vector"
"""The key under which the user names the vector to search, among the fields."""

_SUPPORTED_DISTANCES: Final = ("Cosine", "Dot", "Euclid")
_LISTED: Final = 10


@dataclass(frozen=True, slots=True)
class DenseVector:
    """A dense vector of the points; the unnamed one has the name ''."""

    name: str
    dimension: int
    distance: str
    refusal: str = ""
    """Why it can't be searched; empty if it can."""

    def __str__(self) -> str:
        return f"{self.name!r} ({self.dimension}, {self.distance})"

    @property
    def selector(self) -> list[str] | bool:
        """What a request for this vector names; the unnamed one is requested by True."""
        return [self.name] if self.name else True

    def read(self, stored: Any) -> Any:
        """Return this vector from the vectors of a point; None if the point does not have it."""
        return stored.get(self.name) if isinstance(stored, Mapping) else stored


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection as the server describes it."""

    name: str
    points: int
    shards: int
    replicas: int
    dense: tuple[DenseVector, ...]
    sparse: tuple[str, ...]
    made_with: Fingerprint | None
    """What Pertinent made it with; None if another pipeline made it."""


@dataclass(frozen=True, slots=True)
class Examination:
    """All that is known of a collection without searching it."""

    server: str
    collection: Collection
    points: int
    """How many points were sampled."""
    keys: tuple[FieldUsage, ...]
    recognition: Recognition | None
    searched: DenseVector | None
    hashes: int
    """How many of the sampled points have the hash of their text."""
    damaged: tuple[DamagedPoint, ...]
    """The sampled points that searches leave out."""
    problems: tuple[str, ...]
    """Why it can't be searched; empty if it can."""


def examine_collection(
    server: Server, name: str, fields: Mapping[str, str] | None = None, base_url: str = ""
) -> Examination:
    """Describe a collection; what makes it unsearchable is listed in `problems`, not raised.

    Args:
        server: The server of the collection.
        name: The collection, or an alias of it.
        fields: The payload path of each field, and under `vector` the name of the vector to search.
        base_url: The address to which the source paths of points without a url are relative.
    """
    vector, named_fields = split_fields(fields)
    collection = read_collection(server, name)
    points = sample_points(server, name)
    payloads = [payload for _, payload in points]
    problems = []
    recognition = searched = None
    try:
        chosen = choose_vector(collection.dense, vector, None)
        check_unit_length(server, name, chosen)
        searched = chosen
    except SettingsError as error:
        problems.append(str(error))
    try:
        recognition = recognize_points(server, name, payloads, named_fields)
    except SettingsError as error:
        problems.append(str(error))
    stored: list[StoredPoint] = []
    if collection.made_with is not None:
        stored = [read_own_point(payload, point) for point, payload in points]
    elif recognition is not None:
        payload_format = replace(recognition.payload_format, base_url=base_url)
        stored = [to_chunk(payload, point, payload_format) for point, payload in points]
    return Examination(
        server=server.url,
        collection=collection,
        points=len(points),
        keys=tuple(list_paths(payloads)),
        recognition=recognition,
        searched=searched,
        hashes=sum(content_hash(chunk.text) == chunk.content_hash for chunk in readable_chunks(stored)),
        damaged=tuple(damaged_points(stored)),
        problems=tuple(problems),
    )


def recognize_points(
    server: Server, name: str, payloads: Sequence[Payload], named: Mapping[str, str]
) -> Recognition:
    """Recognise the payload format of sampled points; raise SettingsError if no format fits.

    Whether positions count from 0 may not show in a sample: of a long page, few points are in it.
    """
    recognition = recognize_format(payloads, named)
    payload_format = recognition.payload_format
    if named or not payload_format.position_base:
        return recognition
    if not _has_position_zero(server, name, payload_format.fields["position"]):
        return recognition
    return replace(recognition, payload_format=replace(payload_format, position_base=0))


def _has_position_zero(server: Server, name: str, path: str) -> bool:
    """Whether any point has a zero at the path; False if the server does not say.

    Without an index of that field, the server may refuse the filter, or take too long.
    """
    zero = models.Filter(
        should=[
            models.FieldCondition(key=path, range=models.Range(gte=0, lte=0)),
            models.FieldCondition(key=path, match=models.MatchValue(value="0")),
        ]
    )
    try:
        points, _ = server.read(
            lambda peer: peer.reading.scroll(name, scroll_filter=zero, limit=1, with_payload=False)
        )
    except IndexFailure:
        return False
    return bool(points)


def split_fields(fields: Mapping[str, str] | None) -> tuple[str | None, Mapping[str, str]]:
    """Separate the name of the vector from the payload fields that the user names."""
    payload_fields = dict(fields or {})
    return payload_fields.pop(VECTOR, None), payload_fields


def read_collection(server: Server, name: str) -> Collection:
    """Describe a collection or alias; raise NotFound, with the names that exist, if it is missing."""
    info = qdrant_collection.read_info(server, name)
    if info is None:
        raise NotFound(f"{server.url} has no collection {name}; {_list_collections(server)}")
    params = info.config.params
    return Collection(
        name=name,
        points=server.read(lambda peer: peer.reading.count(name, exact=True)).count,
        shards=params.shard_number or 1,
        replicas=params.replication_factor or 1,
        dense=tuple(_dense_vectors(params.vectors)),
        sparse=tuple(sorted(params.sparse_vectors or {})),
        made_with=qdrant_collection.read_fingerprint(info),
    )


def is_external(server: Server, name: str) -> bool:
    """Whether the collection exists and another pipeline made it."""
    info = qdrant_collection.read_info(server, name)
    return info is not None and qdrant_collection.read_fingerprint(info) is None


def sample_points(server: Server, name: str) -> list[tuple[PointId, Payload]]:
    """Read the first points by id, the same ones each time."""
    records, _ = server.read(lambda peer: peer.reading.scroll(name, limit=SAMPLE))
    return [(parse_point_id(record.id), record.payload or {}) for record in records]


def choose_vector(dense: Sequence[DenseVector], name: str | None, dimension: int | None) -> DenseVector:
    """Return the vector with the given name, or the only one that fits the dimension of the embedder."""
    matching = _vectors_named(dense, name) if name is not None else _vectors_fitting(dense, dimension)
    if len(matching) > 1:
        raise SettingsError(
            f"the points have several dense vectors, {_join(matching)}: name one in pertinent.toml, "
            '[qdrant_fields] with vector = "…"'
        )
    (chosen,) = matching
    if chosen.refusal:
        raise SettingsError(f"the vector {chosen} can't be searched: {chosen.refusal}")
    if dimension is not None and dimension != chosen.dimension:
        raise DimensionMismatch(dimension, chosen.dimension, "embedder")
    return chosen


def _vectors_named(dense: Sequence[DenseVector], name: str) -> Sequence[DenseVector]:
    matching = [vector for vector in dense if vector.name == name]
    if not matching:
        raise SettingsError(f"the points have no dense vector {name!r}; there are {_join(dense) or 'none'}")
    return matching


def _vectors_fitting(dense: Sequence[DenseVector], dimension: int | None) -> Sequence[DenseVector]:
    if not dense:
        raise SettingsError("the points have no dense vector, so they can't be searched by meaning")
    searchable = [vector for vector in dense if not vector.refusal] or dense
    return [vector for vector in searchable if vector.dimension == dimension] or searchable


def _join(dense: Sequence[DenseVector]) -> str:
    return ", ".join(map(str, dense))


def check_unit_length(server: Server, name: str, dense: DenseVector) -> None:
    """Raise SettingsError if the distance can't be converted to a cosine: the vectors must have length 1."""
    if dense.distance == "Cosine":
        return
    records, _ = server.read(
        lambda peer: peer.reading.scroll(name, limit=SAMPLE, with_payload=False, with_vectors=dense.selector)
    )
    vectors = [dense.read(record.vector) for record in records]
    lengths = [float(np.linalg.norm(np.asarray(v, dtype=np.float64))) for v in vectors if v is not None]
    wrong = next((length for length in lengths if abs(length - 1) > LENGTH_TOLERANCE), None)
    if wrong is not None:
        raise SettingsError(
            f"the vector {dense} can't be searched: with {dense.distance} only vectors of length 1 have a "
            f"cosine, and there is one of length {wrong:.3g}. Copy the collection into one with Cosine"
        )


def _dense_vectors(config: Any) -> list[DenseVector]:
    """List the dense vectors by name; a collection may have a single one without a name."""
    params: Mapping[str, models.VectorParams]
    params = {"": config} if isinstance(config, models.VectorParams) else config or {}
    return [
        DenseVector(name, vector.size, vector.distance.value, _refusal(vector))
        for name, vector in sorted(params.items())
    ]


def _refusal(params: models.VectorParams) -> str:
    if params.multivector_config is not None:
        return "it has several vectors for each point"
    if params.datatype == models.Datatype.UINT8:
        return "its elements are whole numbers, which no embedder returns"
    if params.distance.value not in _SUPPORTED_DISTANCES:
        return f"a {params.distance.value} distance can't be converted to a cosine"
    return ""


def _list_collections(server: Server) -> str:
    names = sorted(qdrant_collection.list_names(server))
    if not names:
        return "it has no collections"
    unlisted = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"there are {', '.join(names[:_LISTED])}{unlisted}"
