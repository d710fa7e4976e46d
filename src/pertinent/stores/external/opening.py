"""Find, examine and open a collection that another pipeline filled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ...ports import Embedder
from ..catalog.catalog import SqlCatalog
from ..qdrant.server import Server
from .catalog import ExternalCatalog
from .collection import Examination, examine_collection, is_external
from .index import ExternalIndex


@dataclass(frozen=True, slots=True)
class ExternalCollection:
    """The name of a collection on a server, which another pipeline may have filled."""

    connect: Callable[[], Server]
    name: str
    fields: Mapping[str, str] = field(default_factory=dict)
    """The payload path of each field, where the user names them; otherwise they are recognised."""
    base_url: str = ""
    """The address to which the source paths of points without a url are relative."""
    connect_documents: Callable[[], SqlCatalog | None] = lambda: None
    """Connects to the same pipeline's database with seed 003's table `documents`, where there is one."""

    def exists(self) -> bool:
        """Whether the collection exists and Pertinent did not make it."""
        with self.connect() as server:
            return is_external(server, self.name)

    def examine(self) -> Examination:
        """Describe the collection and its fields, and what prevents a search, if anything does."""
        with self.connect() as server:
            return examine_collection(server, self.name, self.fields, self.base_url)

    def open(self, embedder: Embedder) -> tuple[ExternalIndex, ExternalCatalog]:
        """Open the index, and the catalog of its pages and the table `documents`; the caller closes both."""
        index = ExternalIndex.open(
            self.connect(),
            self.name,
            dimension=embedder.dimension,
            fields=self.fields,
            base_url=self.base_url,
        )
        return index, ExternalCatalog(index, embedder.name, self.connect_documents())
