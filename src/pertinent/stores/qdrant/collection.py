"""A build of an index as a collection on a Qdrant server: how it is made, and told from another's.

What the build was made with is kept in the collection's metadata, under `pertinent`, and from the first
write on the id of the catalog that it belongs to. A collection without that mark is another's, and is
neither written to nor removed; nor is one of another catalog: each sync would undo the other's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any, Literal

from qdrant_client import models
from qdrant_client.http.exceptions import UnexpectedResponse

from ...errors import DimensionMismatch, FingerprintMismatch, IndexFailure, SettingsError
from ...ports import Fingerprint
from ..candidates import DENSE, LEXICAL
from ..payload import KEYWORDS
from .server import Peer, Server

MARK = "pertinent"
CATALOG = "catalog"
OLDEST = (1, 16)
"""The first version that keeps metadata with a collection."""

_FIELDS = tuple(Fingerprint.__dataclass_fields__)

Quantization = Literal["none", "scalar", "binary"]

OVERSAMPLING = 2.0
OVERSAMPLING_BITS = 8.0
"""How many times as many small vectors as hits are scored again with the whole ones, so that a score stays
a cosine; of those with a bit a dimension more, or every tenth of the best ten hits would be missed."""


@dataclass(frozen=True, slots=True)
class CollectionOptions:
    """How a new collection is kept; one that exists stays as it was made."""

    shards: int = 1
    """BM25 counts words in each shard by itself: with several shards lexical scores differ a little."""

    replicas: int = 1
    """How many peers of a cluster have each shard: with two, any one may be lost."""

    write_consistency: int = 1
    """How many replicas must have a write before it is acknowledged."""

    on_disk: bool = False
    """Read vectors and their indexes from the disk when they are asked for: little memory, slower."""

    quantization: Quantization = "none"
    """Search with vectors of a quarter (scalar) or a 32nd (binary) of the size, then score exactly."""

    def __post_init__(self) -> None:
        if not 1 <= self.write_consistency <= self.replicas or self.shards < 1:
            raise SettingsError(
                "a collection needs 1 shard or more, and from 1 to all of its replicas for a write, not "
                f"{self.shards} shards, {self.replicas} replicas and {self.write_consistency} for a write"
            )


DEFAULT = CollectionOptions()


def refuse_old(server: Server) -> None:
    """An old server would take an index and forget what it was made with."""
    version = server.version()
    if version < OLDEST:
        found, oldest = (".".join(map(str, one)) for one in (version, OLDEST))
        raise IndexFailure(
            f"the Qdrant server at {server.url} is version {found}, and an index needs {oldest} or newer"
        )


def ensure(
    server: Server, name: str, made_with: Fingerprint, options: CollectionOptions, catalog: str
) -> models.CollectionInfo:
    """Have the collection, and refuse one that is something else, or another catalog's."""
    present = info(server, name)
    if present is None:
        server.write(_create, name, made_with, options)
        present = info(server, name)
        if present is None:
            raise IndexFailure(f"the collection {name} was made at {server.url}, and is gone again")
    refuse_other(name, present, catalog)
    _check(name, present, made_with)
    # Also on opening: the run that made the collection may have been killed before this.
    for field in KEYWORDS:
        if field not in present.payload_schema:
            server.write(_index_field, name, field)
    return present


def remove(server: Server, name: str, catalog: str) -> None:
    """Remove the collection, if there is one; another's is refused."""
    present = info(server, name)
    if present is None:
        return
    if fingerprint(present) is None:
        raise IndexFailure(_foreign(name))
    refuse_other(name, present, catalog)
    server.write(_delete, name)


def info(server: Server, name: str) -> models.CollectionInfo | None:
    """What the server says of a collection, or of the one that an alias points at; None if there is none."""
    return server.read(_found, name)


def _found(peer: Peer, name: str) -> models.CollectionInfo | None:
    try:
        return peer.reading.get_collection(name)
    except UnexpectedResponse as error:
        if error.status_code == HTTPStatus.NOT_FOUND:
            return None
        raise


def fingerprint(present: models.CollectionInfo) -> Fingerprint | None:
    """What the build in a collection was made with; None where the collection is another's."""
    kept = (present.config.metadata or {}).get(MARK)
    # A field that another version of Pertinent did not know is empty, and so no present one's.
    return Fingerprint(**{name: kept.get(name, "") for name in _FIELDS}) if isinstance(kept, dict) else None


def belongs(present: models.CollectionInfo, catalog: str) -> bool:
    """Whether a collection is a build of this catalog's, or of none yet."""
    return fingerprint(present) is not None and _owner(present) in ("", catalog)


def claim(server: Server, name: str, made_with: Fingerprint, catalog: str) -> None:
    """Have the collection belong to the catalog; refused where it is another's."""
    present = info(server, name)
    if present is None:
        return
    if catalog and fingerprint(present) is not None and not _owner(present):
        server.write(_mark, name, {**asdict(made_with), CATALOG: catalog})
        present = info(server, name) or present
    refuse_other(name, present, catalog)


def _owner(present: models.CollectionInfo) -> str:
    return str((present.config.metadata or {}).get(MARK, {}).get(CATALOG, ""))


def _mark(peer: Peer, name: str, mark: Mapping[str, Any]) -> None:
    peer.writing.update_collection(name, metadata={MARK: mark})


def refuse_other(name: str, present: models.CollectionInfo, catalog: str) -> None:
    """Refuse the collection that another catalog fills."""
    if fingerprint(present) is not None and not belongs(present, catalog):
        raise IndexFailure(
            f"the collection {name} belongs to another catalog, on another machine or in another folder, and "
            "is left alone: set QDRANT_COLLECTION_NAME to another, or DATABASE_URL to the catalog that both "
            "are to share. If that catalog is lost, remove the collection from the server"
        )


def _check(name: str, present: models.CollectionInfo, made_with: Fingerprint) -> None:
    """Refuse a collection of another's, and one that was made with other things."""
    found = fingerprint(present)
    dense = present.config.params.vectors
    if found is None or not isinstance(dense, Mapping) or DENSE not in dense:
        raise IndexFailure(_foreign(name))
    if dense[DENSE].size != made_with.dimension:
        raise DimensionMismatch(made_with.dimension, dense[DENSE].size, "dimension")
    if found != made_with:
        differences = [
            f"{field} {getattr(found, field)!r} there and {getattr(made_with, field)!r} here"
            for field in _FIELDS
            if getattr(found, field) != getattr(made_with, field)
        ]
        raise FingerprintMismatch(
            f"the collection {name} is that of another index: {'; '.join(differences)}. Set "
            "QDRANT_COLLECTION_NAME to another"
        )


def _foreign(name: str) -> str:
    return (
        f"the collection {name} was not made by Pertinent, and is left alone: set QDRANT_COLLECTION_NAME "
        "to another"
    )


def _create(peer: Peer, name: str, made_with: Fingerprint, options: CollectionOptions) -> None:
    try:
        peer.writing.create_collection(
            name,
            vectors_config={
                DENSE: models.VectorParams(
                    size=made_with.dimension, distance=models.Distance.COSINE, on_disk=options.on_disk
                )
            },
            sparse_vectors_config={
                LEXICAL: models.SparseVectorParams(
                    modifier=models.Modifier.IDF, index=models.SparseIndexParams(on_disk=options.on_disk)
                )
            },
            shard_number=options.shards,
            replication_factor=options.replicas,
            write_consistency_factor=options.write_consistency,
            hnsw_config=models.HnswConfigDiff(on_disk=options.on_disk),
            quantization_config=_quantization(options),
            metadata={MARK: asdict(made_with)},
        )
    except UnexpectedResponse as error:
        # Another process, or our own attempt before this one, was faster.
        if error.status_code != HTTPStatus.CONFLICT:
            raise


def _quantization(options: CollectionOptions) -> Any:
    # The small vectors are what is searched, so they stay in memory.
    if options.quantization == "scalar":
        scalar = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
        return models.ScalarQuantization(scalar=scalar)
    if options.quantization == "binary":
        return models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
    return None


def oversampling(present: models.CollectionInfo) -> float:
    """How many times as many points as are wanted must be looked at for the collection's quantisation."""
    of_bits = isinstance(present.config.quantization_config, models.BinaryQuantization)
    return OVERSAMPLING_BITS if of_bits else OVERSAMPLING


def _index_field(peer: Peer, name: str, field: str) -> None:
    # Not waited for: it is made before whatever is written next.
    peer.writing.create_payload_index(name, field, models.PayloadSchemaType.KEYWORD, wait=False)


def _delete(peer: Peer, name: str) -> None:
    peer.writing.delete_collection(name)
