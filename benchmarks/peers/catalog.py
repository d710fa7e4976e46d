"""The peers: how each is installed, what its set-up is, and which files its figures depend on."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from peers.environments import HERE, ROOT, Environment, NodeEnvironment, PythonEnvironment, Server

MINISEARCH = "minisearch@7.2.0"
PACKAGE = ROOT / "src" / "pertinent"


@dataclass(frozen=True)
class PeerEntry:
    """A peer in the comparison."""

    key: str
    title: str
    setup: str
    server: Server | None = None
    embedder: str | None = None
    """Another model than the default one, whose vectors it searches."""

    @property
    def script(self) -> Path:
        return HERE / f"{self.key}_peer.py"

    @property
    def _requirements(self) -> Path:
        return HERE / "requirements" / f"{self.key}.txt"

    def make_environment(self, cache: Path) -> Environment:
        options = ["--requirement", str(self._requirements)]
        return PythonEnvironment(
            cache / "environments" / self.key, self.script, options, [self._requirements]
        )

    def list_files(self) -> Sequence[Path]:
        """Return the files that its rankings and times depend on, beside the task."""
        return [self.script, HERE / "protocol.py", self._requirements]


class NodePeer(PeerEntry):
    """MiniSearch, which runs in Node."""

    @property
    def script(self) -> Path:
        return HERE / f"{self.key}_peer.mjs"

    def make_environment(self, cache: Path) -> Environment:
        return NodeEnvironment(cache / "environments" / self.key, self.script, [MINISEARCH])

    def list_files(self) -> Sequence[Path]:
        return [self.script]


@dataclass(frozen=True)
class OwnEntry(PeerEntry):
    """Pertinent as it stands in this repository, with the default model or another."""

    extra: str = ""

    @property
    def script(self) -> Path:
        return HERE / "pertinent_peer.py"

    def make_environment(self, cache: Path) -> Environment:
        constraints, project = ROOT / "constraints" / "dev.txt", ROOT / "pyproject.toml"
        package = f"{ROOT}[{self.extra}]" if self.extra else str(ROOT)
        return PythonEnvironment(
            cache / "environments" / self.key,
            self.script,
            ["--constraint", str(constraints), "--editable", package],
            [constraints, project],
            [PACKAGE],
        )

    def list_files(self) -> Sequence[Path]:
        return [self.script, HERE / "protocol.py", *PACKAGE.rglob("*.py")]


PEERS: tuple[PeerEntry, ...] = (
    OwnEntry("pertinent", "Pertinent", "default settings, on disk"),
    PeerEntry(
        "qdrant",
        "qdrant-client",
        "a Qdrant server that fuses its own BM25 and the vectors with RRF",
        Server(),
    ),
    PeerEntry("langchain", "LangChain", "`EnsembleRetriever` of `BM25Retriever` and FAISS, in memory"),
    PeerEntry(
        "llamaindex",
        "LlamaIndex",
        "`QueryFusionRetriever` (`reciprocal_rerank`) of `BM25Retriever` and `VectorStoreIndex`, in memory",
    ),
    PeerEntry(
        "haystack",
        "Haystack",
        "`DocumentJoiner` (reciprocal rank fusion) of both retrievers of `InMemoryDocumentStore`",
    ),
    PeerEntry("txtai", "txtai", "`Embeddings(hybrid=True)`, in memory"),
    PeerEntry("lancedb", "LanceDB", "a hybrid query with `RRFReranker`, on disk"),
    PeerEntry("chroma", "Chroma", "vectors only, on disk: its hybrid search is part of Chroma Cloud"),
    NodePeer("minisearch", "MiniSearch", "words only, as VitePress sets it up, in memory"),
)

BGE = OwnEntry(
    "pertinent-bge",
    "Pertinent with bge-small",
    "`embedder = local:bge-small-en-v1.5`, its own vectors",
    embedder="local:bge-small-en-v1.5",
    extra="bge",
)


def list_peers() -> tuple[PeerEntry, ...]:
    """Return all peers, and Pertinent with its other local model where the package has that extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return (*PEERS, BGE) if BGE.extra in project["optional-dependencies"] else PEERS
