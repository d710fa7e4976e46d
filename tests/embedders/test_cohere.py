"""Cohere's protocol as its SDK speaks it; what it shares with others is in test_hosted.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

import pertinent
from pertinent import Pertinent
from pertinent._internal.hosted.retries import RetryPolicy
from pertinent.embedders.cohere import CohereEmbedder
from pertinent.embedders.hosted import HostedOptions
from pertinent.embedders.model_sizes import COHERE
from pertinent.errors import EmbedderError, SettingsError
from pertinent.ports import Embedder

from ..servers.faulty_api import KEY
from .wire import Wire

DIMENSION = 1024
ONCE = RetryPolicy(timeout=20, attempts=1, first_wait=0.001, longest_wait=1)
OPTIONS = HostedOptions(queries=ONCE, documents=ONCE)


@pytest.fixture
def embedder(wire: Wire) -> Iterator[CohereEmbedder]:
    embedder = CohereEmbedder("embed-english-v3.0", SecretStr(KEY), base_url=wire.url, options=OPTIONS)
    yield embedder
    embedder.close()


def test_cohere_sends_queries_and_documents_with_their_input_type(embedder: Embedder, wire: Wire) -> None:
    query = embedder.embed_queries(["nodes"])[0]
    (document,) = embedder.embed_documents(["nodes"])
    assert [request.body for request in wire.requests] == [
        {
            "model": "embed-english-v3.0",
            "input_type": f"search_{kind}",
            "texts": ["nodes"],
            "embedding_types": ["float"],
            "truncate": "END",
        }
        for kind in ("query", "document")
    ]
    assert {request.path for request in wire.requests} == {"/v2/embed"}
    assert query.shape == document.shape == (1024,)
    assert float(query @ document) < 0.9


def test_known_cohere_model_needs_no_request_for_its_sizes(embedder: Embedder, wire: Wire) -> None:
    assert (embedder.name, embedder.model) == ("cohere:embed-english-v3.0", "embed-english-v3.0")
    assert (embedder.dimension, embedder.max_tokens) == (1024, 512)
    assert embedder.count_tokens(["Nodes talk.", ""]) == [5, 2]
    assert wire.requests == []
    assert {model: size.dimension for model, size in COHERE.items()} == {
        "embed-english-v3.0": 1024,
        "embed-multilingual-v3.0": 1024,
        "embed-english-light-v3.0": 384,
        "embed-multilingual-light-v3.0": 384,
        "embed-v4.0": 1536,
    }


def test_unknown_cohere_model_learns_its_dimension_from_a_request(wire: Wire) -> None:
    wire.dimension = 5
    embedder = CohereEmbedder("embed-v9.0", KEY, base_url=f"{wire.url}/", options=OPTIONS)
    assert embedder.dimension == 5
    assert [request.texts for request in wire.requests] == [["dimension"]]
    embedder.close()


def test_cohere_vector_of_another_length_is_an_error(embedder: Embedder, wire: Wire) -> None:
    wire.dimension = 384
    with pytest.raises(EmbedderError, match=r"Cohere at http.* 384 elements instead of 1024 for"):
        embedder.embed_queries(["nodes"])[0]


@pytest.mark.parametrize("fault", ["500", "429", "dropped"])
def test_cohere_sdk_does_not_retry_by_itself(embedder: Embedder, wire: Wire, fault: str) -> None:
    wire.always = fault  # type: ignore[assignment]
    with pytest.raises(EmbedderError) as caught:
        embedder.embed_queries(["nodes"])[0]
    assert len(wire.requests) == 1
    assert "tried" not in str(caught.value)


def test_cohere_sdk_error_is_the_cause_unless_it_contains_the_key(embedder: Embedder, wire: Wire) -> None:
    from cohere.core import ApiError

    for fault, tactless, has_cause in (("400", False, True), ("400", True, False), ("401", False, False)):
        wire.always, wire.tactless = fault, tactless  # type: ignore[assignment]
        with pytest.raises(EmbedderError) as caught:
            embedder.embed_queries(["nodes"])[0]
        assert isinstance(caught.value.__cause__, ApiError) is has_cause


def test_seed_002_cohere_alone_is_recorded_by_its_full_name(
    wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "nodes.md").write_text("# Nodes\n\nNodes talk over topics.\n")
    monkeypatch.setenv("PERTINENT_EMBEDDER", "cohere")
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    monkeypatch.setenv("PERTINENT_COHERE_BASE_URL", wire.url)
    with Pertinent.open() as opened:
        opened.index(tmp_path / "docs")
        fingerprint = opened.workspace.catalog().fingerprint()
    assert fingerprint is not None
    assert (fingerprint.embedder, fingerprint.dimension) == ("cohere:embed-english-v3.0", 1024)
    embedding = pertinent.generate_query_embedding("Who talks?")
    assert (embedding.model, len(embedding.vector)) == ("embed-english-v3.0", 1024)
    # The full name opens the same index.
    with Pertinent.open(embedder="cohere:embed-english-v3.0") as opened:
        assert opened.search("Who talks?").hits


def test_cohere_without_a_key_is_a_settings_error() -> None:
    for missing in (None, "", "  ", SecretStr("")):
        with pytest.raises(SettingsError, match="set COHERE_API_KEY"):
            CohereEmbedder("embed-english-v3.0", missing)


def test_cohere_without_its_sdk_names_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cohere", None)
    with pytest.raises(SettingsError, match=r"pip install 'pertinent\[cohere\]'"):
        CohereEmbedder("embed-english-v3.0", KEY)
