"""The index on a Qdrant server: the suite of every index, builds beside each other, and what can go wrong."""

from __future__ import annotations

import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from qdrant_client import QdrantClient, models

from pertinent.errors import DimensionMismatch, FingerprintMismatch, IndexFailure, SettingsError
from pertinent.identity import point_id
from pertinent.ports import Fingerprint
from pertinent.stores.qdrant.builds import QdrantBuilds
from pertinent.stores.qdrant.collection import CollectionOptions, read_fingerprint, read_info
from pertinent.stores.qdrant.index import QdrantIndex
from pertinent.stores.qdrant.server import Server
from pertinent.testing.index_suite import EMBEDDER, IndexSuite, by_point, entries, fill
from pertinent.types import Filters, readable_chunks

from ...servers.faulty import GREETING, faulty, reply
from ...servers.fixtures import Endpoint
from ...servers.qdrant import Node, free_ports

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("qdrant")]

MADE_WITH = Fingerprint(EMBEDDER.name, EMBEDDER.dimension, "structure-1", "bm25")


class TestQdrantIndex(IndexSuite):
    """A server is an index."""

    @pytest.fixture
    def index(self, qdrant: Endpoint, collection: str) -> Iterator[QdrantIndex]:
        opened = QdrantBuilds(qdrant.connect, collection).open(MADE_WITH)
        yield opened
        opened.close()


@pytest.fixture
def builds(qdrant: Endpoint, collection: str) -> QdrantBuilds:
    return QdrantBuilds(qdrant.connect, collection)


@pytest.fixture
def plain(qdrant: Endpoint) -> Iterator[QdrantClient]:
    """A client of the same server, like another program."""
    client = QdrantClient(url=qdrant.url, api_key=qdrant.key, timeout=30)
    yield client
    client.close()


def search(index: QdrantIndex, query: str = "messages over topics") -> dict[Any, tuple[float, float]]:
    vector = EMBEDDER.embed_queries([query])[0]
    return by_point(index.candidates(vector, query, by=["dense", "lexical"], limit=50, filters=Filters()))


def stored_fingerprint(qdrant: Endpoint, name: str) -> Fingerprint | None:
    """The fingerprint of a collection, as the server stores it."""
    with qdrant.connect() as server:
        info = read_info(server, name)
        return None if info is None else read_fingerprint(info)


def make_entries(number: int) -> list[Any]:
    """Entries of so many documents."""
    entry = entries()[0]
    return [
        replace(entry, chunk=replace(entry.chunk, chunk_id=f"chunk-{n}", document_id=f"page-{n}", position=n))
        for n in range(number)
    ]


def test_calls_beyond_one_page_or_batch_are_complete(builds: QdrantBuilds) -> None:
    index = builds.open(MADE_WITH)
    written = fill(index, make_entries(1100))
    points = [point_id(entry.chunk.chunk_id) for entry in written]
    assert index.count() == 1100
    assert {chunk.position for chunk in readable_chunks(index.scan())} == set(range(1100))
    assert len(index.chunks(points)) == len(index.embedding_keys(points)) == 1100
    index.describe([replace(entry, chunk=replace(entry.chunk, title="New")) for entry in written])
    assert {chunk.title for chunk in readable_chunks(index.scan())} == {"New"}
    index.close()


def test_describe_of_a_missing_point_fails(builds: QdrantBuilds) -> None:
    index = builds.open(MADE_WITH)
    with pytest.raises(IndexFailure, match="No point"):
        index.describe(make_entries(1))
    index.close()


def test_put_refuses_another_dimension(builds: QdrantBuilds) -> None:
    index = builds.open(MADE_WITH)
    with pytest.raises(DimensionMismatch, match=r"3 elements.*64"):
        index.put(make_entries(1), [np.ones(3, dtype=np.float32)])
    index.close()


class TestBuilds:
    def test_builds_coexist(self, builds: QdrantBuilds) -> None:
        first, second = builds.open(MADE_WITH), builds.open(replace(MADE_WITH, build=2))
        written = fill(first)
        assert (first.count(), second.count()) == (len(written), 0)
        assert builds.numbers() == [1, 2]
        first.close()
        builds.remove(1)
        builds.remove(1)
        assert builds.numbers() == [2]
        second.close()

    def test_active_build_has_alias(self, builds: QdrantBuilds, plain: QdrantClient, collection: str) -> None:
        first = builds.open(MADE_WITH)
        written = fill(first)
        # A build that is being filled is not in use.
        assert builds.in_use() is None
        builds.use(1)
        builds.open(replace(MADE_WITH, build=2)).close()
        assert builds.in_use() == 1
        assert plain.count(collection).count == len(written)
        builds.use(2)
        assert builds.in_use() == 2
        assert plain.count(collection).count == 0
        first.close()

    @pytest.mark.parametrize("number", [1, 2])
    def test_other_catalog_is_refused(self, qdrant: Endpoint, collection: str, number: int) -> None:
        ours = QdrantBuilds(qdrant.connect, collection, catalog=lambda: "ours")
        theirs = QdrantBuilds(qdrant.connect, collection, catalog=lambda: "theirs")
        index = ours.open(MADE_WITH)
        written = fill(index)
        ours.use(1)
        with pytest.raises(IndexFailure, match=r"another catalog.*QDRANT_COLLECTION_NAME.*DATABASE_URL"):
            theirs.open(replace(MADE_WITH, build=number))
        with pytest.raises(IndexFailure, match="another catalog"):
            theirs.remove(1)
        assert (ours.numbers(), theirs.numbers()) == ([1], [])
        assert index.count() == len(written)
        index.close()
        ours.open(MADE_WITH).close()

    def test_collection_belongs_to_the_first_writer(self, qdrant: Endpoint, collection: str) -> None:
        first, second = (
            QdrantBuilds(qdrant.connect, collection, catalog=lambda name=name: name).open(MADE_WITH)  # type: ignore[misc]
            for name in ("reader", "writer")
        )
        written = fill(second)
        for call in (
            fill,
            lambda index: index.delete_stale_points("page-1", keep=[]),
            lambda index: index.describe(written),
        ):
            with pytest.raises(IndexFailure, match="another catalog"):
                call(first)
        assert second.count() == len(written)
        assert stored_fingerprint(qdrant, f"{collection}_001") == MADE_WITH
        first.close()
        second.close()

    def test_writes_are_there_after_reopening(
        self, builds: QdrantBuilds, qdrant: Endpoint, collection: str
    ) -> None:
        first = builds.open(MADE_WITH)
        written = fill(first)
        first.close()
        reopened = builds.open(MADE_WITH)
        assert reopened.count() == len(written)
        assert stored_fingerprint(qdrant, f"{collection}_001") == MADE_WITH
        reopened.close()

    @pytest.mark.parametrize("changed", [{"embedder": "other:model"}, {"chunker": "x"}, {"lexical": "x"}])
    def test_other_fingerprint_is_refused(self, builds: QdrantBuilds, changed: dict[str, Any]) -> None:
        builds.open(MADE_WITH).close()
        with pytest.raises(FingerprintMismatch, match=f"{next(iter(changed))} .*QDRANT_COLLECTION_NAME"):
            builds.open(replace(MADE_WITH, **changed))

    def test_build_of_a_version_without_revisions_has_revision_one(
        self, builds: QdrantBuilds, plain: QdrantClient, collection: str
    ) -> None:
        builds.open(MADE_WITH).close()
        metadata = {name: value for name, value in asdict(MADE_WITH).items() if name != "model_revision"}
        plain.delete_collection(f"{collection}_001")
        theirs = models.VectorParams(size=EMBEDDER.dimension, distance=models.Distance.COSINE)
        plain.create_collection(
            f"{collection}_001", vectors_config={"dense": theirs}, metadata={"pertinent": metadata}
        )
        builds.open(replace(MADE_WITH, model_revision=1)).close()
        with pytest.raises(FingerprintMismatch, match="model_revision 1 there and 2 here"):
            builds.open(replace(MADE_WITH, model_revision=2))

    def test_build_with_another_dimension_is_refused(self, builds: QdrantBuilds) -> None:
        builds.open(MADE_WITH).close()
        with pytest.raises(DimensionMismatch, match=r"384 elements.*64"):
            builds.open(replace(MADE_WITH, dimension=384))

    def test_collection_of_another_program_is_unchanged(
        self, builds: QdrantBuilds, plain: QdrantClient, collection: str
    ) -> None:
        theirs = models.VectorParams(size=EMBEDDER.dimension, distance=models.Distance.COSINE)
        plain.create_collection(f"{collection}_001", vectors_config={"dense": theirs})
        for attempt in (lambda: builds.open(MADE_WITH), lambda: builds.remove(1)):
            with pytest.raises(IndexFailure, match=r"not made by Pertinent.*QDRANT_COLLECTION_NAME"):
                attempt()
        assert builds.numbers() == []
        assert plain.get_collection(f"{collection}_001").payload_schema == {}

    def test_alias_named_like_a_collection_is_refused(
        self, builds: QdrantBuilds, plain: QdrantClient, collection: str
    ) -> None:
        plain.create_collection(collection, vectors_config={})
        with pytest.raises(IndexFailure, match="QDRANT_COLLECTION_NAME"):
            builds.open(MADE_WITH)
        assert builds.numbers() == []

    def test_new_build_can_be_opened_concurrently(self, builds: QdrantBuilds) -> None:
        with ThreadPoolExecutor(4) as pool:
            opened = list(pool.map(builds.open, [MADE_WITH] * 4))
        fill(opened[0])
        assert len({index.count() for index in opened}) == 1
        for index in opened:
            index.close()

    def test_removed_build_error_names_reindex(self, builds: QdrantBuilds) -> None:
        index = builds.open(MADE_WITH)
        builds.remove(1)
        for call in (index.count, lambda: search(index), lambda: fill(index)):
            with pytest.raises(IndexFailure, match="`pertinent reindex`"):
                call()
        index.close()


@pytest.mark.parametrize("options", [{"shards": 0}, {"replicas": 0}, {"replicas": 2, "write_consistency": 3}])
def test_contradictory_options_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match="replicas"):
        CollectionOptions(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("quantization", ["none", "scalar", "binary"])
def test_scores_on_disk_and_quantised_are_exact(
    qdrant: Endpoint, collection: str, plain: QdrantClient, quantization: Any
) -> None:
    options = CollectionOptions(on_disk=True, quantization=quantization)
    index = QdrantBuilds(qdrant.connect, collection, options).open(replace(MADE_WITH, dimension=128))
    # The least that a server indexes is set far above what a test writes.
    plain.update_collection(
        f"{collection}_001", optimizers_config=models.OptimizersConfigDiff(indexing_threshold=100)
    )
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(2000, 128)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    written = make_entries(2000)
    index.put(written, list(vectors))
    index.finish()
    info = plain.get_collection(f"{collection}_001")
    assert info.status == models.CollectionStatus.GREEN
    assert (info.indexed_vectors_count or 0) > 2000
    assert (info.config.quantization_config is not None) == (quantization != "none")
    exact = {point_id(entry.chunk.chunk_id): vector for entry, vector in zip(written, vectors, strict=True)}
    recalled = 0
    for number in range(20):
        query = vectors[number] + 0.05 * rng.normal(size=128).astype(np.float32)
        query /= np.linalg.norm(query)
        cosines = by_point(index.candidates(query, None, by=["dense"], limit=50, filters=Filters()))
        for point, (cosine, _) in cosines.items():
            assert cosine == pytest.approx(float(exact[point] @ query), abs=1e-5)  # type: ignore[index]
        nearest = np.argsort(-(vectors @ query))[:10]
        recalled += sum(point_id(f"chunk-{n}") in cosines for n in nearest)
    # One bit for each dimension is too little for vectors without any pattern.
    assert recalled / 200 >= (0.5 if quantization == "binary" else 0.97)
    index.close()


class TestKey:
    def test_valid_key_is_accepted(self, qdrant_node: Node, collection: str) -> None:
        connect = partial(Server, qdrant_node.url, f"{qdrant_node.key}\n")
        builds = QdrantBuilds(connect, collection)
        index = builds.open(MADE_WITH)
        fill(index)
        assert search(index)
        index.close()
        builds.remove(1)

    @pytest.mark.parametrize("key", ["s3cret-key", None])
    def test_invalid_key_is_not_shown_in_the_error(self, qdrant_node: Node, key: str | None) -> None:
        with Server(qdrant_node.url, key) as server:
            index = QdrantIndex(server, "any", MADE_WITH)
            builds = QdrantBuilds(lambda: Server(qdrant_node.url, key), "any")
            opening = partial(builds.open, MADE_WITH)
            for call in (index.count, partial(search, index), partial(fill, index), opening):
                with pytest.raises(IndexFailure, match="QDRANT_API_KEY") as caught:
                    call()
                output = "".join(traceback.format_exception(caught.value)) + repr(server)
                assert "s3cret" not in output
                assert str(qdrant_node.key) not in output

    @pytest.mark.parametrize("key", ["ключ", "two\nlines", "nul\0"])
    def test_key_that_is_no_header_value_is_refused(self, key: str) -> None:
        with pytest.raises(SettingsError, match="QDRANT_API_KEY") as caught:
            Server("http://127.0.0.1:6333", key)
        assert key not in "".join(traceback.format_exception(caught.value))


class TestAddress:
    @pytest.mark.parametrize("url", [
        "", ",", "localhost:6333", "ftp://host", "http://", "http://host:port", "http://ok,no",
        "http://h:0",
    ])  # fmt: skip
    def test_invalid_url_is_refused(self, url: str) -> None:
        with pytest.raises(SettingsError, match="qdrant_url"):
            Server(url)

    def test_url_with_a_password_is_refused_and_not_shown(self) -> None:
        with pytest.raises(SettingsError, match="QDRANT_API_KEY") as caught:
            Server("http://me:s3cret@127.0.0.1:1", timeout=1)
        assert "s3cret" not in str(caught.value)

    def test_read_fails_over_to_the_next_address(self, qdrant_node: Node, collection: str) -> None:
        dead = f"http://127.0.0.1:{free_ports(2)}"
        with faulty(None) as mute, Server(f"{mute.url},{dead},{qdrant_node.url}", qdrant_node.key) as server:
            began = time.monotonic()
            assert server.version() >= (1, 16)
            assert time.monotonic() - began < 10
            assert server.url == qdrant_node.url


def _html(_: str) -> bytes:
    return reply("200 OK", b"<html>Welcome</html>", "Content-Type: text/html")


FAULTS: dict[str, tuple[Callable[[str], bytes] | None, str]] = {
    "says nothing": (None, "did not answer in time.*QDRANT_URL"),
    "hangs up": (lambda _: b"", "can't be reached.*QDRANT_URL"),
    "fails": (
        lambda _: reply("500 Internal Server Error", b'{"status": {"error": "disk full"}}'),
        "500: disk full",
    ),
    "is overloaded": (lambda _: reply("503 Service Unavailable", b"busy"), "can't be reached"),
    "speaks no HTTP": (lambda _: b"\x00\x01 nothing known\n", "can't be reached.*QDRANT_URL"),
    "shows a page": (_html, "not a Qdrant server.*QDRANT_URL"),
    "speaks other JSON": (lambda _: reply("200 OK", b'{"ok": true}'), "not a Qdrant server.*QDRANT_URL"),
    "is old": (
        lambda _: reply("200 OK", GREETING.replace(b"1.16.3", b"1.12.4")),
        r"1\.12\.4, and .* 1\.16 or newer",
    ),
    "breaks off": (lambda _: reply("200 OK", GREETING)[:-20], "can't be reached"),
}


class TestFailures:
    @pytest.mark.parametrize("fault", FAULTS)
    def test_faulty_server_is_an_index_failure(self, fault: str) -> None:
        answer, message = FAULTS[fault]
        with faulty(answer) as server:
            began = time.monotonic()
            with pytest.raises(IndexFailure, match=message) as caught:
                QdrantBuilds(lambda: Server(server.url, timeout=2), "any").open(MADE_WITH)
            assert time.monotonic() - began < 4
            assert server.url in str(caught.value)

    @pytest.mark.parametrize(
        "beginning",
        [b"HTTP/1.1 200 OK\r\nX-Endless: ", reply("200 OK", b"{" * 99_999)[:-99_998]],
        ids=["head", "body"],
    )
    def test_server_that_drips_its_response_times_out(self, beginning: bytes) -> None:
        with (
            faulty(lambda _: beginning, drip=b"x") as server,
            Server(server.url, timeout=0.5) as dripping,
            pytest.raises(IndexFailure, match="did not answer in time"),
        ):
            dripping.version()

    def test_unreachable_server_is_an_index_failure(self) -> None:
        url = f"http://127.0.0.1:{free_ports(2)}"
        with pytest.raises(IndexFailure, match=f"{url} can't be reached.*QDRANT_URL") as caught:
            QdrantBuilds(lambda: Server(url, timeout=2), "any").open(MADE_WITH)
        assert caught.value.__cause__ is not None

    @pytest.mark.parametrize(
        "failure",
        [
            reply("500 Internal Server Error", b"{}"),
            reply("429 Too Many Requests", b"{}", "Retry-After: 1"),
            b"",
        ],
        ids=["failed", "overloaded", "hung up"],
    )
    def test_temporary_failure_is_retried(self, failure: bytes) -> None:
        answers = iter([reply("200 OK", GREETING), failure, reply("200 OK", b'{"result": {"count": 7}}')])
        with faulty(lambda _: next(answers)) as broken, Server(broken.url) as server:
            assert QdrantIndex(server, "any", MADE_WITH).count() == 7
        assert len(broken.paths) == 3

    def test_permanent_failure_is_not_retried(self) -> None:
        bad = reply("400 Bad Request", b'{"status": {"error": "Wrong input"}}')
        with (
            faulty(lambda path: reply("200 OK", GREETING) if path == "/" else bad) as broken,
            Server(broken.url) as server,
            pytest.raises(IndexFailure, match="400: Wrong input"),
        ):
            QdrantIndex(server, "any", MADE_WITH).count()
        assert len(broken.paths) == 2

    def test_frozen_server_times_out(self, qdrant_node: Node, collection: str) -> None:
        connect = partial(Server, qdrant_node.url, qdrant_node.key, timeout=2)
        index = QdrantBuilds(connect, collection).open(MADE_WITH)
        fill(index)
        expected = search(index)
        with qdrant_node.frozen():
            began = time.monotonic()
            with pytest.raises(IndexFailure, match="did not answer in time"):
                search(index)
            assert time.monotonic() - began < 4
        assert search(index) == expected
        index.close()

    def test_acknowledged_writes_survive_a_kill(self, qdrant_node: Node, collection: str) -> None:
        connect = partial(Server, qdrant_node.url, qdrant_node.key, timeout=2)
        index = QdrantBuilds(connect, collection).open(MADE_WITH)
        written = fill(index, make_entries(300))
        qdrant_node.kill()
        with pytest.raises(IndexFailure, match="can't be reached"):
            search(index)
        qdrant_node.start()
        qdrant_node.wait()
        assert index.count() == len(written)
        assert len(search(index)) > 0
        index.close()

    def test_closed_index_raises(self, builds: QdrantBuilds) -> None:
        index = builds.open(MADE_WITH)
        index.close()
        index.close()
        with pytest.raises(IndexFailure, match="was closed"):
            index.count()


def test_qdrant_client_is_imported_lazily() -> None:
    script = "import sys, pertinent.build; sys.exit('qdrant_client' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
