"""Where a collection may be that another pipeline filled: whether it is there, what it holds, its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from ...ports import Embedder
from ..catalog.catalog import SqlCatalog
from ..qdrant.server import Server
from .catalog import ForeignCatalog
from .collection import Examined, examine, is_foreign
from .index import ForeignIndex, refusal


@dataclass(frozen=True, slots=True)
class ForeignCollection:
    """A name on a server, under which another pipeline may have a collection."""

    connect: Callable[[], Server]
    name: str
    fields: Mapping[str, str] = field(default_factory=dict)
    """Which field of its points is which, where that is not to be recognised."""
    base_url: str = ""
    """The address below which the source paths of points without a url stand."""
    connect_documents: Callable[[], SqlCatalog | None] = lambda: None
    """Connects to the same pipeline's database with seed 003's table `documents`, where there is one."""

    def exists(self) -> bool:
        """Whether there is one, and it is not ours."""
        with self.connect() as server:
            return is_foreign(server, self.name)

    def examine(self) -> Examined:
        with self.connect() as server:
            return examine(server, self.name, self.fields, self.base_url)

    def open(self, embedder: Embedder) -> tuple[ForeignIndex, ForeignCatalog]:
        """The index, and the catalog that is made from it and the table `documents`; close both."""
        index = ForeignIndex.open(
            self.connect(),
            self.name,
            dimension=embedder.dimension,
            fields=self.fields,
            base_url=self.base_url,
        )
        return index, ForeignCatalog(index, embedder.name, self.connect_documents())

    def refuse(self) -> NoReturn:
        """Say that nothing is written there, and what to do."""
        raise refusal(self.name)
