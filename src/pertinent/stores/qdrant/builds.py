"""The builds of an index on a Qdrant server, side by side, and which of them is in use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qdrant_client import models

from ...errors import IndexFailure
from ...ports import Fingerprint
from .collection import (
    DEFAULT,
    CollectionOptions,
    belongs,
    ensure,
    info,
    oversampling,
    refuse_old,
    refuse_other,
    remove,
)
from .index import QdrantIndex
from .server import Peer, Server


@dataclass(frozen=True, slots=True)
class QdrantBuilds:
    """The builds of an index on a server, a collection each.

    Build 3 of the index `book` is the collection `book_003`. The alias `book` points at the build in use,
    for whoever else looks at the server; here the catalog says which that is.
    """

    connect: Callable[[], Server]
    name: str
    options: CollectionOptions = DEFAULT
    catalog: Callable[[], str] = str
    """The id of the catalog that the builds belong to; no other's builds are listed, opened or removed."""

    def open(self, made_with: Fingerprint) -> QdrantIndex:
        server = self.connect()
        try:
            refuse_old(server)
            self._refuse_homonym(server)
            self._refuse_neighbour(server)
            name = self._collection(made_with.build)
            present = ensure(server, name, made_with, self.options, self.catalog())
        except BaseException:
            server.close()
            raise
        return QdrantIndex(server, name, made_with, self.catalog(), oversampling(present))

    def use(self, number: int) -> None:
        """Point the alias at the build, at once for everybody."""
        with self.connect() as server:
            server.write(self._point_at, number)

    def in_use(self) -> int | None:
        """The build that the alias points at."""
        with self.connect() as server:
            return self._in_use(server)

    def numbers(self) -> list[int]:
        with self.connect() as server:
            found = server.read(lambda peer: peer.reading.get_collections()).collections
            candidates = [(number, one.name) for one in found if (number := self._number(one.name))]
            return sorted(number for number, name in candidates if self._is_ours(server, name))

    def remove(self, number: int) -> None:
        with self.connect() as server:
            remove(server, self._collection(number), self.catalog())

    def _collection(self, number: int) -> str:
        return f"{self.name}_{number:03}"

    def _number(self, collection: str) -> int | None:
        tail = collection.removeprefix(f"{self.name}_")
        return int(tail) if tail.isdecimal() and self._collection(int(tail)) == collection else None

    def _is_ours(self, server: Server, collection: str) -> bool:
        present = info(server, collection)
        return present is not None and belongs(present, self.catalog())

    def _refuse_homonym(self, server: Server) -> None:
        """The alias can't have the name of a collection."""
        found = server.read(lambda peer: peer.reading.get_collections()).collections
        if self.name in [one.name for one in found]:
            raise IndexFailure(
                f"{server.url} has a collection {self.name} that Pertinent did not make, so an index can't "
                "go by that name: set QDRANT_COLLECTION_NAME to another"
            )

    def _refuse_neighbour(self, server: Server) -> None:
        """Another catalog's builds may have other numbers than ours; the alias is one for all."""
        number = self._in_use(server)
        present = None if number is None else info(server, self._collection(number))
        if number is not None and present is not None:
            refuse_other(self._collection(number), present, self.catalog())

    def _in_use(self, server: Server) -> int | None:
        aliases = server.read(lambda peer: peer.reading.get_aliases()).aliases
        target = next((one.collection_name for one in aliases if one.alias_name == self.name), "")
        return self._number(target)

    def _point_at(self, peer: Peer, number: int) -> None:
        target = models.CreateAlias(collection_name=self._collection(number), alias_name=self.name)
        peer.writing.update_collection_aliases([models.CreateAliasOperation(create_alias=target)])
