"""A collection that another pipeline filled, as it is found on a server: its vectors and its points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from qdrant_client import models

from ...errors import DimensionMismatch, NotFound, SettingsError
from ...identity import content_hash
from ...ports import Fingerprint
from ...types import DamagedPoint, PointId, StoredPoint, damaged_points, readable_chunks
from ..payload import to_chunk as read_own_point
from ..qdrant import collection as qdrant_collection
from ..qdrant.points import parse_point_id
from ..qdrant.server import Server
from .payload import Payload, to_chunk
from .payload_formats import Recognition, Seen, keys, recognise

SAMPLE: Final = 200
"""How many points are looked at to recognise what a collection holds."""

UNIT: Final = 1e-3
"""How far from 1 a vector's length may be for a dot product to be a cosine."""

VECTOR: Final = "vector"
"""Under this name a caller names the vector, beside the fields."""

_COMPARABLE: Final = ("Cosine", "Dot", "Euclid")
_TOLD: Final = 10


@dataclass(frozen=True, slots=True)
class Dense:
    """A dense vector that the points have; the one without a name is called ''."""

    name: str
    dimension: int
    distance: str
    refusal: str = ""
    """Why it can't be searched here, where it can't."""

    def __str__(self) -> str:
        return f"{self.name!r} ({self.dimension}, {self.distance})"


@dataclass(frozen=True, slots=True)
class Collection:
    """What the server says of a collection."""

    name: str
    points: int
    shards: int
    replicas: int
    dense: tuple[Dense, ...]
    sparse: tuple[str, ...]
    made_with: Fingerprint | None
    """What Pertinent made it with; None where another pipeline did."""


@dataclass(frozen=True, slots=True)
class Examined:
    """All that can be told of a collection without searching it."""

    server: str
    collection: Collection
    points: int
    """How many points were looked at."""
    keys: tuple[Seen, ...]
    recognition: Recognition | None
    searched: Dense | None
    hashes: int
    """How many of the points have the hash of their text."""
    damaged: tuple[DamagedPoint, ...]
    """Those of the points that searches leave out."""
    problems: tuple[str, ...]
    """Why it can't be searched; nothing where it can."""


def examine(
    server: Server, name: str, fields: Mapping[str, str] | None = None, base_url: str = ""
) -> Examined:
    """Look at a collection, and go on where something about it is of no use."""
    vector, named = split(fields)
    found = look_at(server, name)
    points = sample(server, name)
    payloads = [payload for _, payload in points]
    problems = []
    recognition = searched = None
    try:
        chosen = choose(found.dense, vector, None)
        check_lengths(server, name, chosen)
        searched = chosen
    except SettingsError as error:
        problems.append(str(error))
    try:
        recognition = recognise(payloads, named)
    except SettingsError as error:
        problems.append(str(error))
    stored: list[StoredPoint] = []
    if found.made_with is not None:
        stored = [read_own_point(payload, point) for point, payload in points]
    elif recognition is not None:
        shape = replace(recognition.shape, base_url=base_url)
        stored = [to_chunk(payload, point, shape) for point, payload in points]
    return Examined(
        server=server.url,
        collection=found,
        points=len(points),
        keys=tuple(keys(payloads)),
        recognition=recognition,
        searched=searched,
        hashes=sum(content_hash(chunk.text) == chunk.content_hash for chunk in readable_chunks(stored)),
        damaged=tuple(damaged_points(stored)),
        problems=tuple(problems),
    )


def split(fields: Mapping[str, str] | None) -> tuple[str | None, Mapping[str, str]]:
    """What a caller names: the vector to search by, and the fields of the payload."""
    named = dict(fields or {})
    return named.pop(VECTOR, None), named


def look_at(server: Server, name: str) -> Collection:
    """The collection, or the one that the alias points at; an error that says which there are."""
    found = qdrant_collection.info(server, name)
    if found is None:
        raise NotFound(f"{server.url} has no collection {name}; {_others(server)}")
    params = found.config.params
    return Collection(
        name=name,
        points=server.read(lambda peer: peer.reading.count(name, exact=True)).count,
        shards=params.shard_number or 1,
        replicas=params.replication_factor or 1,
        dense=tuple(_dense(params.vectors)),
        sparse=tuple(sorted(params.sparse_vectors or {})),
        made_with=qdrant_collection.fingerprint(found),
    )


def is_foreign(server: Server, name: str) -> bool:
    """Whether there is a collection of that name, and another pipeline made it."""
    found = qdrant_collection.info(server, name)
    return found is not None and qdrant_collection.fingerprint(found) is None


def sample(server: Server, name: str) -> list[tuple[PointId, Payload]]:
    """The first points in the order of their ids: the same ones each time."""
    records, _ = server.read(lambda peer: peer.reading.scroll(name, limit=SAMPLE))
    return [(parse_point_id(record.id), record.payload or {}) for record in records]


def choose(dense: Sequence[Dense], wanted: str | None, dimension: int | None) -> Dense:
    """The vector to search by: the one that is named, else the only one that fits the embedder."""
    able = _named(dense, wanted) if wanted is not None else _fitting(dense, dimension)
    if len(able) > 1:
        raise SettingsError(
            f"the points have several dense vectors, {_list(able)}: name one in pertinent.toml, "
            '[qdrant_fields] with vector = "…"'
        )
    (chosen,) = able
    if chosen.refusal:
        raise SettingsError(f"the vector {chosen} can't be searched: {chosen.refusal}")
    if dimension is not None and dimension != chosen.dimension:
        raise DimensionMismatch(dimension, chosen.dimension, "embedder")
    return chosen


def _named(dense: Sequence[Dense], wanted: str) -> Sequence[Dense]:
    found = [one for one in dense if one.name == wanted]
    if not found:
        raise SettingsError(f"the points have no dense vector {wanted!r}; there are {_list(dense) or 'none'}")
    return found


def _fitting(dense: Sequence[Dense], dimension: int | None) -> Sequence[Dense]:
    if not dense:
        raise SettingsError("the points have no dense vector, so nothing can be searched by meaning")
    sound = [one for one in dense if not one.refusal] or dense
    return [one for one in sound if one.dimension == dimension] or sound


def _list(dense: Sequence[Dense]) -> str:
    return ", ".join(map(str, dense))


def check_lengths(server: Server, name: str, dense: Dense) -> None:
    """Refuse distances that can't be turned into a cosine: only between unit vectors can they."""
    if dense.distance == "Cosine":
        return
    records, _ = server.read(
        lambda peer: peer.reading.scroll(
            name, limit=SAMPLE, with_payload=False, with_vectors=[dense.name] if dense.name else True
        )
    )
    found = [_vector(record.vector, dense.name) for record in records]
    lengths = [float(np.linalg.norm(np.asarray(one, dtype=np.float64))) for one in found if one is not None]
    off = next((length for length in lengths if abs(length - 1) > UNIT), None)
    if off is not None:
        raise SettingsError(
            f"the vector {dense} can't be searched: {dense.distance} tells a cosine only between vectors of "
            f"length 1, and there is one of length {off:.3g}. Copy the collection into one with Cosine"
        )


def _dense(config: Any) -> list[Dense]:
    """The dense vectors by name; a collection may have a single one without."""
    params: Mapping[str, models.VectorParams]
    params = {"": config} if isinstance(config, models.VectorParams) else config or {}
    return [Dense(name, one.size, one.distance.value, _refusal(one)) for name, one in sorted(params.items())]


def _refusal(params: models.VectorParams) -> str:
    if params.multivector_config is not None:
        return "it has several vectors for each point"
    if params.datatype == models.Datatype.UINT8:
        return "its elements are whole numbers, which no embedder gives"
    if params.distance.value not in _COMPARABLE:
        return f"a {params.distance.value} distance can't be turned into a cosine"
    return ""


def _vector(found: Any, name: str) -> Any:
    return found.get(name) if isinstance(found, Mapping) else found


def _others(server: Server) -> str:
    names = sorted(one.name for one in server.read(lambda peer: peer.reading.get_collections()).collections)
    if not names:
        return "it has none at all"
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    return f"there are {', '.join(names[:_TOLD])}{more}"
