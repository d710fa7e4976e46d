"""A build of an index as a collection on a Qdrant server: how it is created, and who owns it.

The metadata of the collection has the fingerprint of the build, under `pertinent`, and from the first write
on the id of the catalog that owns it, with the ids of its last commits. A collection without that metadata
belongs to another pipeline, and is neither written to nor deleted. The same holds for a collection of another
catalog: each sync would undo the other's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from http import HTTPStatus
from typing import Any, Literal

from qdrant_client import models
from qdrant_client.http.exceptions import UnexpectedResponse

from ...errors import DimensionMismatch, FingerprintMismatch, IndexFailure, SettingsError
from ...ports import Fingerprint
from ..candidates import DENSE, LEXICAL
from ..commit_record import parse_record
from ..payload import KEYWORDS
from .server import Peer, Server

MARK = "pertinent"
CATALOG = "catalog"
COMMITS = "commits"
OLDEST = (1, 16)
"""The first version of Qdrant that stores metadata with a collection."""

_DEFAULTS = {field.name: "" if field.default is MISSING else field.default for field in fields(Fingerprint)}
"""The fields of a fingerprint, as an older version left them out: one without a default matches no value."""

Quantization = Literal["none", "scalar", "binary"]

OVERSAMPLING = 2.0
"""How many candidates of the quantised vectors are rescored with the exact vectors, per hit."""
BINARY_OVERSAMPLING = 8.0
"""The same for binary quantisation; with less, one in ten of the best ten hits would be missed."""


@dataclass(frozen=True, slots=True)
class CollectionOptions:
    """Options of a new collection; an existing one keeps those it was created with."""

    shards: int = 1
    """Each shard has its own document frequencies: with several shards lexical scores differ a little."""

    replicas: int = 1
    """How many peers of a cluster have a copy of each shard: with two, one peer may fail."""

    write_consistency: int = 1
    """How many replicas must apply a write before it is acknowledged."""

    on_disk: bool = False
    """Read vectors and their indexes from the disk: less memory, slower searches."""

    quantization: Quantization = "none"
    """Search with vectors of a quarter (scalar) or a 32nd (binary) of the size, then rescore exactly."""

    def __post_init__(self) -> None:
        if not 1 <= self.write_consistency <= self.replicas or self.shards < 1:
            raise SettingsError(
                "a collection needs at least 1 shard, and a write consistency from 1 to the number of "
                f"replicas, not {self.shards} shards, {self.replicas} replicas and write consistency "
                f"{self.write_consistency}"
            )


DEFAULT = CollectionOptions()


def check_server_version(server: Server) -> None:
    """Raise IndexFailure if the server is too old to store the fingerprint of a build."""
    version = server.version()
    if version < OLDEST:
        actual, oldest = (".".join(map(str, numbers)) for numbers in (version, OLDEST))
        raise IndexFailure(
            f"the Qdrant server at {server.url} is version {actual}, and an index needs {oldest} or newer"
        )


def ensure_collection(
    server: Server, name: str, made_with: Fingerprint, options: CollectionOptions, catalog: str
) -> models.CollectionInfo:
    """Create the collection if it does not exist; raise an error if it is not this build of this catalog."""
    info = read_info(server, name)
    if info is None:
        server.write(_create, name, made_with, options)
        info = read_info(server, name)
        if info is None:
            raise IndexFailure(f"the collection {name} was created at {server.url}, but no longer exists")
    check_owner(name, info, catalog)
    _check_build(name, info, made_with)
    # Also for an existing collection: the run that created it may have been killed before this.
    for field in KEYWORDS:
        if field not in info.payload_schema:
            server.write(_index_field, name, field)
    return info


def delete_collection(server: Server, name: str, catalog: str) -> None:
    """Delete the collection if it exists; raise IndexFailure if it is not this catalog's."""
    info = read_info(server, name)
    if info is None:
        return
    if read_fingerprint(info) is None:
        raise _make_not_ours_error(name)
    check_owner(name, info, catalog)
    server.write(_delete, name)


def list_names(server: Server) -> list[str]:
    """List the names of all collections on the server."""
    collections = server.read(lambda peer: peer.reading.get_collections()).collections
    return [collection.name for collection in collections]


def read_info(server: Server, name: str) -> models.CollectionInfo | None:
    """Read the description of a collection or alias; None if it does not exist."""
    return server.read(_get_collection, name)


def _get_collection(peer: Peer, name: str) -> models.CollectionInfo | None:
    try:
        return peer.reading.get_collection(name)
    except UnexpectedResponse as error:
        if error.status_code == HTTPStatus.NOT_FOUND:
            return None
        raise


def read_fingerprint(info: models.CollectionInfo) -> Fingerprint | None:
    """Read the fingerprint of the build in a collection; None if Pertinent did not make the collection."""
    metadata = (info.config.metadata or {}).get(MARK)
    if not isinstance(metadata, dict):
        return None
    return Fingerprint(**{name: metadata.get(name, default) for name, default in _DEFAULTS.items()})


def is_owned(info: models.CollectionInfo, catalog: str) -> bool:
    """Whether a collection is a build of this catalog, or of no catalog yet."""
    return read_fingerprint(info) is not None and _owner(info) in ("", catalog)


def claim_collection(server: Server, name: str, made_with: Fingerprint, catalog: str) -> None:
    """Record the catalog as the owner of the collection; raise IndexFailure if another catalog owns it."""
    info = read_info(server, name)
    if info is None:
        return
    if catalog and read_fingerprint(info) is not None and not _owner(info):
        server.write(_set_metadata, name, {**asdict(made_with), CATALOG: catalog})
        info = read_info(server, name) or info
    check_owner(name, info, catalog)


def read_commits(server: Server, name: str) -> tuple[str, ...]:
    """Read the ids of the catalog's commits that were recorded last."""
    info = read_info(server, name)
    metadata = (info.config.metadata or {}).get(MARK, {}) if info is not None else {}
    return parse_record(metadata[COMMITS]) if COMMITS in metadata else ()


def write_commits(
    server: Server, name: str, made_with: Fingerprint, catalog: str, commit_ids: Sequence[str]
) -> None:
    """Record the ids of the catalog's commits in a collection that the catalog has claimed."""
    metadata = {**asdict(made_with), CATALOG: catalog, COMMITS: list(commit_ids)}
    server.write(_set_metadata, name, metadata)


def _owner(info: models.CollectionInfo) -> str:
    return str((info.config.metadata or {}).get(MARK, {}).get(CATALOG, ""))


def _set_metadata(peer: Peer, name: str, metadata: Mapping[str, Any]) -> None:
    peer.writing.update_collection(name, metadata={MARK: metadata})


def check_owner(name: str, info: models.CollectionInfo, catalog: str) -> None:
    """Raise IndexFailure if another catalog owns the collection."""
    if read_fingerprint(info) is not None and not is_owned(info, catalog):
        raise IndexFailure(
            f"the collection {name} belongs to another catalog, on another machine or in another folder, and "
            "was not changed: set QDRANT_COLLECTION_NAME to another name, or DATABASE_URL to the catalog "
            "that both share. If that catalog is lost, delete the collection from the server"
        )


def _check_build(name: str, info: models.CollectionInfo, made_with: Fingerprint) -> None:
    """Raise an error if the collection is not the build that the fingerprint names."""
    existing = read_fingerprint(info)
    dense = info.config.params.vectors
    if existing is None or not isinstance(dense, Mapping) or DENSE not in dense:
        raise _make_not_ours_error(name)
    if dense[DENSE].size != made_with.dimension:
        raise DimensionMismatch(made_with.dimension, dense[DENSE].size, "dimension")
    if existing != made_with:
        differences = [
            f"{field} {getattr(existing, field)!r} there and {getattr(made_with, field)!r} here"
            for field in _DEFAULTS
            if getattr(existing, field) != getattr(made_with, field)
        ]
        raise FingerprintMismatch(
            f"the collection {name} is that of another index: {'; '.join(differences)}. Set "
            "QDRANT_COLLECTION_NAME to another name"
        )


def _make_not_ours_error(name: str) -> IndexFailure:
    return IndexFailure(
        f"the collection {name} was not made by Pertinent, and was not changed: set QDRANT_COLLECTION_NAME "
        "to another name"
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
        # Another process, or an earlier attempt of ours that timed out, has created it.
        if error.status_code != HTTPStatus.CONFLICT:
            raise


def _quantization(options: CollectionOptions) -> Any:
    # The quantised vectors are searched, so they stay in memory.
    if options.quantization == "scalar":
        scalar = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
        return models.ScalarQuantization(scalar=scalar)
    if options.quantization == "binary":
        return models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
    return None


def choose_oversampling(info: models.CollectionInfo) -> float:
    """Return the oversampling that the quantisation of the collection needs."""
    is_binary = isinstance(info.config.quantization_config, models.BinaryQuantization)
    return BINARY_OVERSAMPLING if is_binary else OVERSAMPLING


def _index_field(peer: Peer, name: str, field: str) -> None:
    # No need to wait: the server creates it before it applies the next write.
    peer.writing.create_payload_index(name, field, models.PayloadSchemaType.KEYWORD, wait=False)


def _delete(peer: Peer, name: str) -> None:
    peer.writing.delete_collection(name)
