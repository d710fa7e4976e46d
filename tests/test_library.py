"""The Python API: `Pertinent`, and the functions of seeds 001 and 002."""

from __future__ import annotations

import inspect
import json
import math
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import pertinent
from pertinent import Filters, Pertinent
from pertinent._internal.process_name import name_process
from pertinent.errors import (
    FingerprintMismatch,
    IndexFailure,
    InvalidInput,
    NotFound,
    StoreError,
    SyncRefused,
)
from pertinent.indexing.sync import Indexer
from pertinent.types import SearchOptions

MARKDOWN = {
    "topics.md": (
        "# Topics\n\nNodes exchange messages over topics.\n\n"
        "## Quality of service\n\nReliable or best effort.\n"
    ),
    "services.md": "# Services\n\nA service answers one request with one response.\n",
    "joints.md": "# Joints\n\nA revolute joint turns between limits.\n",
}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "book" / "docs"
    folder.mkdir(parents=True)
    for name, text in MARKDOWN.items():
        (folder / name).write_text(text)
    return folder


def open_library(folder: Path, **settings: Any) -> Pertinent:
    return Pertinent.open(folder, **({"embedder": "testing:hashed-words"} | settings))


@pytest.fixture
def library(book: Path, tmp_path: Path) -> Iterator[Pertinent]:
    """An open library with the book, in the folder `data`."""
    with open_library(tmp_path / "data") as opened:
        opened.index(book, base_url="https://book.example/docs")
        yield opened


@pytest.fixture
def folder(book: Path, tmp_path: Path) -> Path:
    """The folder of a closed library with the book."""
    with open_library(tmp_path / "data") as opened:
        opened.index(book)
    return tmp_path / "data"


@pytest.fixture
def indexed(book: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the bare functions find an index."""
    monkeypatch.setenv("PERTINENT_EMBEDDER", "testing:hashed-words")
    with Pertinent.open() as opened:
        opened.index(book, base_url="https://book.example/docs")
    return book


def test_public_names() -> None:
    assert sorted(pertinent.__all__) == [
        "Answer", "AsyncPertinentClient", "Chunk", "Filters", "Hit", "Pertinent", "PertinentClient",
        "PertinentError", "QueryEmbedding", "RetrievalResult", "Suggestion", "generate_query_embedding",
        "retrieve", "retrieve_content_chunks", "validate",
    ]  # fmt: skip
    for name in pertinent.__all__:
        assert getattr(pertinent, name) is not None
        assert name in dir(pertinent)
    with pytest.raises(AttributeError):
        _ = pertinent.nothing


class TestSuggest:
    """Pages and sections by what has been typed of their name."""

    def test_suggest_returns_pages_and_sections(self, library: Pertinent) -> None:
        (section,) = library.suggest("quality of ser")
        assert section.breadcrumb == "Topics › Quality of service"
        assert section.url == "https://book.example/docs/topics#quality-of-service"
        (page,) = library.suggest("jonits")
        assert (page.title, page.section, page.is_page) == ("Joints", "", True)
        assert isinstance(page, pertinent.Suggestion)

    def test_suggest_follows_a_sync(self, library: Pertinent, book: Path, monkeypatch: Any) -> None:
        monkeypatch.setattr("pertinent.search.book_words_cache.CHECK_SECONDS", 0.0)
        assert library.suggest("actua") == []
        (book / "actuators.md").write_text("# Actuators\n\nAn actuator moves a joint.\n")
        (book / "joints.md").unlink()
        library.index(book, base_url="https://book.example/docs", allow_shrink=True)
        assert [suggestion.title for suggestion in library.suggest("actua")] == ["Actuators"]
        assert library.suggest("joints") == []

    def test_suggest_limits_the_list(self, library: Pertinent) -> None:
        assert len(library.suggest("s", limit=1)) == 1 < len(library.suggest("s"))
        assert library.suggest("") == []

    @pytest.mark.parametrize(
        ("prefix", "limit", "message"),
        [
            ("x", 0, "limit: must be between 1 and 50, not 0"),
            ("x", 51, "limit: must be between 1 and 50, not 51"),
            ("x", True, "limit: must be a whole number"),
            ("x" * 2001, 8, "prefix: has 2001 characters; it must have at most 2000"),
            (None, 8, "prefix: must be text, not None"),
            ("\ud800", 8, "prefix: contains half of a surrogate pair"),
        ],
    )
    def test_suggest_refuses_bad_input(
        self, library: Pertinent, prefix: Any, limit: Any, message: str
    ) -> None:
        with pytest.raises(InvalidInput, match=message):
            library.suggest(prefix, limit)


class TestSeed001:
    """RAG Retrieval Testing: Query Request, Retrieved Chunk, Query Response."""

    def test_seed_001_response_has_the_query_and_the_number_of_results(self, indexed: Path) -> None:
        response = pertinent.retrieve("revolute joint")
        assert response["query"] == "revolute joint"
        assert response["metadata"]["total_results"] == len(response["results"]) <= 5
        assert isinstance(response["metadata"]["query_time_ms"], int)
        assert response["metadata"]["query_time_ms"] >= 0
        assert datetime.fromisoformat(response["metadata"]["timestamp"]).tzinfo is not None
        assert response["metadata"]["timestamp"].endswith("Z")
        json.dumps(response, allow_nan=False)

    def test_seed_001_retrieved_chunk_has_six_required_fields(self, indexed: Path) -> None:
        for chunk in pertinent.retrieve("revolute joint")["results"]:
            assert chunk["content"].strip()
            assert urlsplit(chunk["url"]).scheme == "https"
            assert urlsplit(chunk["url"]).netloc
            assert isinstance(chunk["position"], int)
            assert chunk["position"] >= 0
            assert 0.0 <= chunk["similarity_score"] <= 1.0
            assert chunk["chunk_id"]
            assert datetime.fromisoformat(chunk["created_at"]).tzinfo is not None
            assert chunk["created_at"].endswith("Z")

    def test_seed_001_results_are_ordered_by_similarity(self, indexed: Path) -> None:
        scores = [chunk["similarity_score"] for chunk in pertinent.retrieve("messages")["results"]]
        assert scores == sorted(scores, reverse=True)

    def test_seed_001_content_is_the_stored_original(self, indexed: Path) -> None:
        first = pertinent.retrieve("revolute joint")["results"][0]
        assert first["content"] == "A revolute joint turns between limits."
        assert first["url"] == "https://book.example/docs/joints"

    def test_seed_001_include_metadata_controls_optional_fields(self, indexed: Path) -> None:
        with_it = pertinent.retrieve("quality of service")["results"][0]
        without = pertinent.retrieve("quality of service", include_metadata=False)["results"][0]
        required = {"content", "url", "position", "similarity_score", "chunk_id", "created_at", "citation"}
        assert set(without) == required
        assert set(with_it) - set(without) == {
            "title", "section", "anchor", "start", "end", "algorithm", "scores",
        }  # fmt: skip
        assert with_it["anchor"] == "quality-of-service"
        assert with_it["algorithm"] == "hybrid-similarity"
        assert set(with_it["scores"]) == {
            "cosine", "lexical", "title", "heading", "page", "numbers", "base", "rerank",
        }  # fmt: skip

    def test_seed_001_citation_is_the_url_with_its_anchor(self, indexed: Path) -> None:
        for include_metadata in (True, False):
            response = pertinent.retrieve("quality of service", include_metadata=include_metadata)
            assert response["results"][0]["url"] == "https://book.example/docs/topics"
            assert response["results"][0]["citation"] == "https://book.example/docs/topics#quality-of-service"

    def test_seed_001_top_k_and_threshold_limit_the_results(self, indexed: Path) -> None:
        assert len(pertinent.retrieve("messages", top_k=2)["results"]) == 2
        assert pertinent.retrieve("messages", threshold=1.0)["results"] == []
        assert pertinent.retrieve("messages", top_k=20)["metadata"]["total_results"] == 4

    @pytest.mark.parametrize(
        ("arguments", "field"),
        [
            ({"query_text": ""}, "query_text"),
            ({"query_text": " \n "}, "query_text"),
            ({"query_text": "x" * 2001}, "query_text"),
            ({"query_text": None}, "query_text"),
            ({"query_text": "a", "top_k": 0}, "top_k"),
            ({"query_text": "a", "top_k": 21}, "top_k"),
            ({"query_text": "a", "top_k": 1.5}, "top_k"),
            ({"query_text": "a", "threshold": -0.1}, "threshold"),
            ({"query_text": "a", "threshold": 1.1}, "threshold"),
            ({"query_text": "a", "threshold": math.nan}, "threshold"),
            ({"query_text": "a", "include_metadata": "yes"}, "include_metadata"),
        ],
    )
    def test_seed_001_bad_input_is_a_value_error_that_names_the_field(
        self, indexed: Path, arguments: dict[str, Any], field: str
    ) -> None:
        with pytest.raises(ValueError, match=field):
            pertinent.retrieve(**arguments)

    def test_seed_001_defaults_are_5_results_no_threshold_and_metadata(self) -> None:
        parameters = inspect.signature(pertinent.retrieve).parameters
        defaults = {name: parameter.default for name, parameter in parameters.items()}
        assert list(defaults) == ["query_text", "top_k", "threshold", "include_metadata"]
        assert defaults["query_text"] is inspect.Parameter.empty
        assert (defaults["top_k"], defaults["threshold"], defaults["include_metadata"]) == (5, 0.0, True)

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            *(("query_text", value) for value in (5, True, b"a", ["a"], "joint \ud800", "\u2003")),
            *(("top_k", value) for value in (True, "5", None, math.inf, math.nan, 10**30)),
            *(("threshold", value) for value in (True, "0.5", None, math.inf, -math.inf, 10**400)),
            *(("include_metadata", value) for value in (1, 0, None, "false")),
        ],
    )
    def test_seed_001_other_type_is_refused_by_name(self, indexed: Path, field: str, value: object) -> None:
        arguments: dict[str, Any] = {"query_text": "joint", field: value}
        with pytest.raises(ValueError, match=field):
            pertinent.retrieve(**arguments)

    @pytest.mark.parametrize(
        "arguments", [{"top_k": 1}, {"top_k": 20}, {"threshold": 0.0}, {"threshold": 1.0}, {"threshold": 0}]
    )
    def test_seed_001_ends_of_each_range_are_accepted(self, indexed: Path, arguments: dict[str, Any]) -> None:
        response = pertinent.retrieve("messages", **arguments)
        assert len(response["results"]) <= arguments.get("top_k", 5)

    def test_seed_001_threshold_is_the_lowest_score_returned(self, indexed: Path) -> None:
        query = "a service answers messages over topics"
        results = pertinent.retrieve(query)["results"]
        second = results[1]["similarity_score"]
        assert results[2]["similarity_score"] < second
        assert pertinent.retrieve(query, threshold=second)["results"] == results[:2]
        above = pertinent.retrieve(query, threshold=math.nextafter(second, 1.0))
        assert (above["results"], above["metadata"]["total_results"]) == (results[:1], 1)

    def test_seed_001_query_is_echoed_with_its_white_space(self, indexed: Path) -> None:
        assert pertinent.retrieve("  joint\n")["query"] == "  joint\n"

    def test_seed_001_query_may_have_2000_characters(self, indexed: Path) -> None:
        assert pertinent.retrieve("x" * 2000)["query"] == "x" * 2000

    def test_seed_001_lifecycle_stages_are_timed(self, indexed: Path) -> None:
        stages = pertinent.retrieve("messages")["metadata"]["stages_ms"]
        assert list(stages) == ["received", "embedded", "searched", "filtered", "formatted"]


class TestSeed002:
    """RAG Retrieval Layer: generate_query_embedding and retrieve_content_chunks."""

    def test_seed_002_query_embedding_has_vector_text_and_model(self, indexed: Path) -> None:
        embedding = pertinent.generate_query_embedding("revolute joint")
        assert len(embedding.vector) == 64
        assert all(isinstance(component, float) for component in embedding.vector)
        assert embedding.query_text == "revolute joint"
        assert embedding.model == "hashed-words"

    @pytest.mark.parametrize("query", ["", "   ", "x" * 1001, None, 7])
    def test_seed_002_invalid_query_is_a_value_error(self, indexed: Path, query: Any) -> None:
        with pytest.raises(ValueError, match="query"):
            pertinent.generate_query_embedding(query)

    def test_seed_002_query_may_have_1000_characters(self, indexed: Path) -> None:
        assert pertinent.generate_query_embedding("x" * 1000).query_text == "x" * 1000

    def test_seed_002_retrieve_content_chunks_finds_chunks_for_a_vector(self, indexed: Path) -> None:
        vector = pertinent.generate_query_embedding("revolute joint").vector
        results = pertinent.retrieve_content_chunks(vector)
        assert 0 < len(results) <= 5
        assert results[0].text == "A revolute joint turns between limits."
        assert results[0].source_url == "https://book.example/docs/joints"
        assert results[0].title == "Joints"
        assert results[0].position == 0
        assert results[0].chunk_id
        assert all(0.0 <= result.relevance_score <= 1.0 and result.text for result in results)

    def test_seed_002_limit_is_respected(self, indexed: Path) -> None:
        vector = pertinent.generate_query_embedding("messages").vector
        assert len(pertinent.retrieve_content_chunks(vector, limit=2)) == 2
        with pytest.raises(ValueError, match="limit"):
            pertinent.retrieve_content_chunks(vector, limit=0)

    def test_seed_002_dimension_mismatch_names_both_dimensions(self, indexed: Path) -> None:
        with pytest.raises(ValueError, match=r"1024 elements.*made for 64"):
            pertinent.retrieve_content_chunks([0.0] * 1024)

    def test_seed_002_no_result_is_an_empty_list(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PERTINENT_EMBEDDER", "testing:hashed-words")
        (tmp_path / "empty").mkdir()
        (tmp_path / "empty" / "page.md").write_text("---\ntitle: Empty\n---\n")
        with Pertinent.open() as opened:
            opened.index(tmp_path / "empty")
        assert pertinent.retrieve_content_chunks([0.1] * 64) == []

    def test_seed_002_failed_search_is_an_exception(self) -> None:
        with pytest.raises(NotFound, match="pertinent index"):
            pertinent.retrieve_content_chunks([0.1] * 64)


def test_search_many_answers_in_order(library: Pertinent) -> None:
    texts = ["revolute joint", "request response", "messages over topics"] * 10
    answers = library.search_many(texts, top_k=1)
    assert [answer.query for answer in answers] == texts
    assert [a.hits for a in answers] == [library.search(text, top_k=1).hits for text in texts]
    with pytest.raises(ValueError, match="text"):
        library.search_many(["fine", ""])
    for no_list in ("one text", None, 5):
        with pytest.raises(InvalidInput, match="texts: must be a list of texts"):
            library.search_many(no_list)  # type: ignore[arg-type]
    assert len(library.search_many(text for text in texts)) == len(texts)  # type: ignore[arg-type]
    (answer,) = library.search_many(["messages"], filters={"url": "https://book.example/docs/joints"})
    assert {hit.chunk.title for hit in answer.hits} == {"Joints"}


def test_search_accepts_filters_as_a_mapping_and_refuses_unknown_ones(library: Pertinent) -> None:
    answer = library.search("messages", filters={"url": "https://book.example/docs/topics"})
    assert {hit.chunk.title for hit in answer.hits} == {"Topics"}
    with pytest.raises(ValueError, match="filter: 'author' is none of document_id, section, url"):
        library.search("messages", filters={"author": "me"})
    with pytest.raises(ValueError, match="filter"):
        library.search("messages", filters={"url": ""})
    with pytest.raises(ValueError, match="filter: contains half of a surrogate pair"):
        library.search("messages", filters={"section": "\udcff"})
    for odd in ({"url": "http://[x"}, {"section": ["a"]}, [("a", "b")], Filters(section=["a"])):  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="filter"):
            library.search("messages", filters=odd)  # type: ignore[arg-type]


@pytest.mark.parametrize("folder", ["指南", "%E6%8C%87%E5%8D%97", "%e6%8c%87%e5%8d%97"])
def test_url_filter_finds_pages_however_their_address_is_escaped(
    library: Pertinent, book: Path, folder: str
) -> None:
    (book / "指南").mkdir()
    (book / "指南" / "start.md").write_text("# Start\n\nMessages of the guide.\n")
    library.index(book, base_url="https://book.example/docs")
    answer = library.search("messages", filters={"url": f"https://book.example/docs/{folder}"})
    assert [hit.chunk.title for hit in answer.hits] == ["Start"]


def test_chunk_returns_the_passage_with_its_neighbours(library: Pertinent) -> None:
    hit = library.search("quality of service", top_k=1).hits[0]
    assert [c.position for c in library.chunk(hit.chunk.chunk_id, around=1)] == [0, 1]
    with pytest.raises(ValueError, match="around"):
        library.chunk(hit.chunk.chunk_id, around=-1)


def test_search_before_indexing_is_an_error_and_creates_no_folder(tmp_path: Path) -> None:
    with open_library(tmp_path / "nothing") as opened:
        with pytest.raises(NotFound, match="pertinent index"):
            opened.search("messages")
        with pytest.raises(NotFound):
            opened.pages()
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("setting", [{"chunk_tokens": 100}, {"embedder": "local:all-MiniLM-L6-v2"}])
def test_fingerprint_mismatch_names_reindex(book: Path, folder: Path, setting: dict[str, Any]) -> None:
    with open_library(folder, **setting) as library:
        message = r"in the index and.*in the settings.*pertinent reindex"
        with pytest.raises(FingerprintMismatch, match=message):
            library.search("messages")
        with pytest.raises(FingerprintMismatch, match=message):
            library.index(book)


@pytest.mark.parametrize("pending", [False, True])
def test_lost_index_is_an_error_and_reindex_rebuilds_it(folder: Path, *, pending: bool) -> None:
    with open_library(folder) as library:
        hits = library.search("messages").hits
        if pending:
            library.workspace.writable_catalog().begin([library.pages()[0].document_id])
    shutil.rmtree(folder / "index")
    with open_library(folder) as library:
        with pytest.raises(IndexFailure, match="reindex"):
            library.search("messages")
        library.reindex()
        assert library.search("messages").hits == hits


@pytest.mark.parametrize("setting", [{"chunk_tokens": 20}, {"embedder": "local:all-MiniLM-L6-v2"}])
def test_reindex_needs_no_source(book: Path, tmp_path: Path, setting: dict[str, Any]) -> None:
    folder = tmp_path / "data"
    (book / "topics.md").write_text(MARKDOWN["topics.md"] + "\n\n" + "Long sentence here, of words. " * 9)
    with open_library(folder) as opened:
        opened.index(book)
        before = [page.url for page in opened.pages()]
    for file in book.iterdir():
        file.unlink()
    with Pertinent.open(folder, **({"embedder": "testing:hashed-words"} | setting)) as opened:
        assert opened.reindex() == sum(page.chunks for page in opened.pages())
        assert [page.url for page in opened.pages()] == before
        assert opened.search("revolute joint").hits[0].chunk.title == "Joints"


def test_failed_reindex_keeps_the_old_index_in_use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_library(folder) as library:
        hits = library.search("messages").hits
        with monkeypatch.context() as patch:
            patch.setattr(Indexer, "_embed", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                library.reindex()
        assert library.search("messages").hits == hits
    with open_library(folder) as library:
        assert library.search("messages").hits == hits


def test_remove_deletes_a_source_by_its_name(book: Path, tmp_path: Path) -> None:
    with open_library(tmp_path / "data") as opened:
        opened.index(book, name="one")
        (book / "topics.md").rename(tmp_path / "own.md")
        opened.index(tmp_path / "own.md", name="two")
        with pytest.raises(NotFound, match="one, two"):
            opened.remove("three")
        assert opened.remove("one") == 3
        assert [page.source for page in opened.pages()] == ["two"]
        assert {hit.chunk.title for hit in opened.search("joint").hits} == {"Topics"}


def test_close_releases_the_index_and_ends_searches(library: Pertinent, tmp_path: Path) -> None:
    library.close()
    with pytest.raises(StoreError, match="closed"):
        library.search("joint")
    with open_library(tmp_path / "data") as second:
        assert second.search("joint").hits


def test_index_refuses_a_full_disk(book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 10**6))
    with (
        open_library(tmp_path / "data") as opened,
        pytest.raises(IndexFailure, match="100 MB are needed"),
    ):
        opened.index(book)
    assert not (tmp_path / "data").exists()


def test_index_refuses_a_second_folder_of_the_same_name(book: Path, tmp_path: Path) -> None:
    same_name = tmp_path / "elsewhere" / "book" / "docs"
    same_name.mkdir(parents=True)
    (same_name / "own.md").write_text("# Own\n\nAnother book of the same name.\n")
    with open_library(tmp_path / "data") as opened:
        opened.index(book)
        with pytest.raises(SyncRefused, match="--name"):
            opened.index(same_name)
        opened.index(same_name, name="second")
        assert len(opened.pages()) == 4
        (tmp_path / "moved").mkdir()
        shutil.move(book, tmp_path / "moved" / "docs")
        opened.index(tmp_path / "moved" / "docs", name="book")
        assert len(opened.pages()) == 4


def test_generate_query_embedding_creates_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERTINENT_EMBEDDER", "testing:hashed-words")
    pertinent.generate_query_embedding("a query")
    assert list(Path.cwd().iterdir()) == []


def test_retrieve_content_chunks_ignores_the_length_of_the_vector(indexed: Path) -> None:
    vector = pertinent.generate_query_embedding("revolute joint").vector
    expected = pertinent.retrieve_content_chunks(vector)
    for factor in (1e-6, 1000.0, 1e20):
        results = pertinent.retrieve_content_chunks([component * factor for component in vector])
        assert [result.chunk_id for result in results] == [result.chunk_id for result in expected]
        assert results[0].relevance_score == pytest.approx(expected[0].relevance_score, abs=1e-5)
    for bad in ([0.0] * 64, ["0.1"] * 64):
        with pytest.raises(ValueError, match="query_embedding"):
            pertinent.retrieve_content_chunks(bad)  # type: ignore[arg-type]


@pytest.mark.slow
def test_search_works_during_reindex(book: Path, tmp_path: Path) -> None:
    for number in range(60):
        (book / f"extra-{number}.md").write_text(f"# Extra {number}\n\nFiller about nothing, {number}.\n")
    with open_library(tmp_path / "data") as opened:
        opened.index(book)
        expected = opened.search("revolute joint", top_k=1).hits
        engine = opened.workspace.engine()
        done = threading.Event()

        def reindex() -> None:
            for _ in range(3):
                opened.reindex()
            done.set()

        working = threading.Thread(target=reindex)
        working.start()
        answers = 0
        while not done.is_set() or answers < 10:
            assert opened.search("revolute joint", top_k=1).hits == expected
            answers += 1
        working.join()
        assert engine.search("revolute joint", SearchOptions(top_k=1)).hits == expected


@pytest.mark.slow
def test_reindex_is_refused_while_another_process_holds_the_index(library: Pertinent, tmp_path: Path) -> None:
    library.workspace.index()
    command = [str(Path(sys.executable).with_name("pertinent")), "reindex"]
    options = ["--folder", str(tmp_path / "data"), "--embedder", "testing:hashed-words"]
    environment = {**os.environ, "PERTINENT_LOCK_TIMEOUT": "0"}
    second = subprocess.run(
        [*command, *options], capture_output=True, text=True, check=False, env=environment
    )
    assert second.returncode == 1
    assert f"gave up after 0 s: {name_process()} has this index open" in second.stderr
    assert library.search("revolute joint").hits


def test_reindex_deletes_old_builds(library: Pertinent, tmp_path: Path) -> None:
    builds = tmp_path / "data" / "index"
    (builds / "099").mkdir()
    library.reindex()
    # The current build and the previous one are kept.
    assert sorted(build.name for build in builds.iterdir()) == ["001", "100"]


def test_index_refuses_another_embedder_before_it_is_loaded(book: Path, folder: Path) -> None:
    with open_library(folder, embedder="onnx:/nowhere") as library, pytest.raises(FingerprintMismatch):
        library.index(book)
