"""The builds of an index on a Qdrant server, a collection each; an alias names the one in use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qdrant_client import models

from ...errors import IndexFailure
from ...ports import Fingerprint
from .collection import (
    DEFAULT,
    CollectionOptions,
    check_owner,
    check_server_version,
    choose_oversampling,
    delete_collection,
    ensure_collection,
    is_owned,
    list_names,
    read_info,
)
from .index import QdrantIndex
from .server import Peer, Server

_MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class QdrantBuilds:
    """`ports.Builds` on a server.

    Build 3 of the index `book` is the collection `book_003`. The alias `book` points at the build in use, for
    other clients of the server; Pertinent itself reads from its catalog which one is in use.
    """

    connect: Callable[[], Server]
    name: str
    options: CollectionOptions = DEFAULT
    catalog: Callable[[], str] = str
    """Returns the id of the catalog that owns the builds; no other catalog's builds are touched."""

    def open(self, made_with: Fingerprint) -> QdrantIndex:
        """Open a build; create its collection if it does not exist."""
        server = self.connect()
        try:
            check_server_version(server)
            self._check_name_is_free(server)
            self._check_alias_owner(server)
            name = self._collection(made_with.build)
            info = ensure_collection(server, name, made_with, self.options, self.catalog())
        except BaseException:
            server.close()
            raise
        return QdrantIndex(server, name, made_with, self.catalog(), choose_oversampling(info))

    def use(self, number: int) -> None:
        """Point the alias at the build, in one atomic change; raise IndexFailure if it is not ours."""
        with self.connect() as server:
            if self._read_alias(server) != number:
                self._check_alias_owner(server)
                server.write(self._set_alias, number)

    def exists(self, number: int) -> bool:
        """Whether there is a collection of this number, of any catalog."""
        with self.connect() as server:
            return read_info(server, self._collection(number)) is not None

    def in_use(self) -> int | None:
        """Return the build that the alias points at."""
        with self.connect() as server:
            return self._read_alias(server)

    def numbers(self) -> list[int]:
        """List the builds of this catalog."""
        with self.connect() as server:
            builds = [(number, name) for name in list_names(server) if (number := self._number(name))]
            return sorted(number for number, name in builds if self._is_ours(server, name))

    def is_empty(self) -> bool:
        """Whether the alias points at no build."""
        return self.in_use() is None

    def remove(self, number: int) -> None:
        """Delete the collection of a build."""
        with self.connect() as server:
            delete_collection(server, self._collection(number), self.catalog())

    def disk_use(self, number: int) -> int:  # noqa: ARG002 - all collections alike
        """Return 0: a collection takes no space on this machine."""
        return 0

    def _collection(self, number: int) -> str:
        return f"{self.name}_{number:03}"

    def _number(self, collection: str) -> int | None:
        suffix = collection.removeprefix(f"{self.name}_")
        is_number = suffix.isdecimal() and len(suffix) <= _MAX_DIGITS
        return int(suffix) if is_number and self._collection(int(suffix)) == collection else None

    def _is_ours(self, server: Server, collection: str) -> bool:
        info = read_info(server, collection)
        return info is not None and is_owned(info, self.catalog())

    def _check_name_is_free(self, server: Server) -> None:
        """Raise IndexFailure if a collection has the name of the alias."""
        if self.name in list_names(server):
            raise IndexFailure(
                f"{server.url} has a collection {self.name} that Pertinent did not make, so an index can't "
                "have that name: set QDRANT_COLLECTION_NAME to another name"
            )

    def _check_alias_owner(self, server: Server) -> None:
        """Raise IndexFailure if the alias points at a build of another catalog."""
        number = self._read_alias(server)
        info = None if number is None else read_info(server, self._collection(number))
        if number is not None and info is not None:
            check_owner(self._collection(number), info, self.catalog())

    def _read_alias(self, server: Server) -> int | None:
        aliases = server.read(lambda peer: peer.reading.get_aliases()).aliases
        target = next((alias.collection_name for alias in aliases if alias.alias_name == self.name), "")
        return self._number(target)

    def _set_alias(self, peer: Peer, number: int) -> None:
        target = models.CreateAlias(collection_name=self._collection(number), alias_name=self.name)
        peer.writing.update_collection_aliases([models.CreateAliasOperation(create_alias=target)])
