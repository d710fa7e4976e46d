"""The index on a Qdrant server: the suite of every index, builds beside each other, and what can go wrong."""

from __future__ import annotations

import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
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
from ...servers.fixtures import Place
from ...servers.qdrant import Node, free_ports

pytestmark = pytest.mark.xdist_group("qdrant")

MADE_WITH = Fingerprint(EMBEDDER.name, EMBEDDER.dimension, "structure-1", "bm25")


class TestQdrantIndex(IndexSuite):
    """A server is an index."""

    @pytest.fixture
    def index(self, qdrant: Place, collection: str) -> Iterator[QdrantIndex]:
        opened = QdrantBuilds(qdrant.connect, collection).open(MADE_WITH)
        yield opened
        opened.close()


@pytest.fixture
def builds(qdrant: Place, collection: str) -> QdrantBuilds:
    return QdrantBuilds(qdrant.connect, collection)


@pytest.fixture
def plain(qdrant: Place) -> Iterator[QdrantClient]:
    """The same server without us, as another program sees it."""
    client = QdrantClient(url=qdrant.url, api_key=qdrant.key, timeout=30)
    yield client
    client.close()


def search(index: QdrantIndex, query: str = "messages over topics") -> dict[Any, tuple[float, float]]:
    vector = EMBEDDER.embed_queries([query])[0]
    return by_point(index.candidates(vector, query, by=["dense", "lexical"], limit=50, filters=Filters()))


def kept_with(qdrant: Place, name: str) -> Fingerprint | None:
    """What a collection was made with, as the server keeps it."""
    with qdrant.connect() as server:
        info = read_info(server, name)
        return None if info is None else read_fingerprint(info)


def many(number: int) -> list[Any]:
    """As many entries, each of another document."""
    one = entries()[0]
    return [
        replace(one, chunk=replace(one.chunk, chunk_id=f"chunk-{n}", document_id=f"page-{n}", position=n))
        for n in range(number)
    ]


def test_more_than_fits_a_page_or_a_batch(builds: QdrantBuilds) -> None:
    index = builds.open(MADE_WITH)
    given = fill(index, many(1100))
    points = [point_id(entry.chunk.chunk_id) for entry in given]
    assert index.count() == 1100
    assert {chunk.position for chunk in readable_chunks(index.scan())} == set(range(1100))
    assert len(index.chunks(points)) == len(index.embedding_keys(points)) == 1100
    index.describe([replace(entry, chunk=replace(entry.chunk, title="New")) for entry in given])
    assert {chunk.title for chunk in readable_chunks(index.scan())} == {"New"}
    index.close()


def test_only_what_is_there_can_be_described(builds: QdrantBuilds) -> None:
    index = builds.open(MADE_WITH)
    with pytest.raises(IndexFailure, match="No point"):
        index.describe(many(1))
    index.close()


def test_a_vector_of_another_length_is_not_written(builds: QdrantBuilds) -> None:
    index = builds.open(MADE_WITH)
    with pytest.raises(DimensionMismatch, match=r"3 elements.*64"):
        index.put(many(1), [np.ones(3, dtype=np.float32)])
    index.close()


class TestBuilds:
    def test_they_live_beside_each_other(self, builds: QdrantBuilds) -> None:
        first, second = builds.open(MADE_WITH), builds.open(replace(MADE_WITH, build=2))
        given = fill(first)
        assert (first.count(), second.count()) == (len(given), 0)
        assert builds.numbers() == [1, 2]
        first.close()
        builds.remove(1)
        builds.remove(1)
        assert builds.numbers() == [2]
        second.close()

    def test_the_alias_points_at_the_one_in_use(
        self, builds: QdrantBuilds, plain: QdrantClient, collection: str
    ) -> None:
        first = builds.open(MADE_WITH)
        given = fill(first)
        # One that is being filled is nobody's yet.
        assert builds.in_use() is None
        builds.use(1)
        builds.open(replace(MADE_WITH, build=2)).close()
        assert builds.in_use() == 1
        assert plain.count(collection).count == len(given)
        builds.use(2)
        assert builds.in_use() == 2
        assert plain.count(collection).count == 0
        first.close()

    @pytest.mark.parametrize("number", [1, 2])
    def test_another_catalog_is_kept_out(self, qdrant: Place, collection: str, number: int) -> None:
        ours = QdrantBuilds(qdrant.connect, collection, catalog=lambda: "ours")
        theirs = QdrantBuilds(qdrant.connect, collection, catalog=lambda: "theirs")
        index = ours.open(MADE_WITH)
        given = fill(index)
        ours.use(1)
        with pytest.raises(IndexFailure, match=r"another catalog.*QDRANT_COLLECTION_NAME.*DATABASE_URL"):
            theirs.open(replace(MADE_WITH, build=number))
        with pytest.raises(IndexFailure, match="another catalog"):
            theirs.remove(1)
        assert (ours.numbers(), theirs.numbers()) == ([1], [])
        assert index.count() == len(given)
        index.close()
        ours.open(MADE_WITH).close()

    def test_a_collection_belongs_to_the_catalog_that_writes_first(
        self, qdrant: Place, collection: str
    ) -> None:
        first, second = (
            QdrantBuilds(qdrant.connect, collection, catalog=lambda name=name: name).open(MADE_WITH)  # type: ignore[misc]
            for name in ("one that only looks", "one that writes")
        )
        given = fill(second)
        for call in (
            fill,
            lambda index: index.delete_stale_points("page-1", keep=[]),
            lambda index: index.describe(given),
        ):
            with pytest.raises(IndexFailure, match="another catalog"):
                call(first)
        assert second.count() == len(given)
        assert kept_with(qdrant, f"{collection}_001") == MADE_WITH
        first.close()
        second.close()

    def test_what_was_written_is_there_when_opened_again(
        self, builds: QdrantBuilds, qdrant: Place, collection: str
    ) -> None:
        first = builds.open(MADE_WITH)
        given = fill(first)
        first.close()
        again = builds.open(MADE_WITH)
        assert again.count() == len(given)
        assert kept_with(qdrant, f"{collection}_001") == MADE_WITH
        again.close()

    @pytest.mark.parametrize("changed", [{"embedder": "other:model"}, {"chunker": "x"}, {"lexical": "x"}])
    def test_one_made_with_other_things_is_refused(
        self, builds: QdrantBuilds, changed: dict[str, Any]
    ) -> None:
        builds.open(MADE_WITH).close()
        with pytest.raises(FingerprintMismatch, match=f"{next(iter(changed))} .*QDRANT_COLLECTION_NAME"):
            builds.open(replace(MADE_WITH, **changed))

    def test_another_dimension_is_refused_with_both_numbers(self, builds: QdrantBuilds) -> None:
        builds.open(MADE_WITH).close()
        with pytest.raises(DimensionMismatch, match=r"384 elements.*64"):
            builds.open(replace(MADE_WITH, dimension=384))

    def test_the_collection_of_another_program_is_left_alone(
        self, builds: QdrantBuilds, plain: QdrantClient, collection: str
    ) -> None:
        theirs = models.VectorParams(size=EMBEDDER.dimension, distance=models.Distance.COSINE)
        plain.create_collection(f"{collection}_001", vectors_config={"dense": theirs})
        for attempt in (lambda: builds.open(MADE_WITH), lambda: builds.remove(1)):
            with pytest.raises(IndexFailure, match=r"not made by Pertinent.*QDRANT_COLLECTION_NAME"):
                attempt()
        assert builds.numbers() == []
        assert plain.get_collection(f"{collection}_001").payload_schema == {}

    def test_a_name_that_a_collection_has_is_refused(
        self, builds: QdrantBuilds, plain: QdrantClient, collection: str
    ) -> None:
        plain.create_collection(collection, vectors_config={})
        with pytest.raises(IndexFailure, match="QDRANT_COLLECTION_NAME"):
            builds.open(MADE_WITH)
        assert builds.numbers() == []

    def test_many_may_open_a_new_one_at_once(self, builds: QdrantBuilds) -> None:
        with ThreadPoolExecutor(4) as pool:
            opened = list(pool.map(builds.open, [MADE_WITH] * 4))
        fill(opened[0])
        assert len({index.count() for index in opened}) == 1
        for index in opened:
            index.close()

    def test_a_build_that_was_removed_says_how_to_make_it_anew(self, builds: QdrantBuilds) -> None:
        index = builds.open(MADE_WITH)
        builds.remove(1)
        for call in (index.count, lambda: search(index), lambda: fill(index)):
            with pytest.raises(IndexFailure, match="`pertinent reindex`"):
                call()
        index.close()


@pytest.mark.parametrize("options", [{"shards": 0}, {"replicas": 0}, {"replicas": 2, "write_consistency": 3}])
def test_options_that_contradict_each_other_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match="replicas"):
        CollectionOptions(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("quantization", ["none", "scalar", "binary"])
def test_finished_on_disk_and_quantised_scores_are_still_exact(
    qdrant: Place, collection: str, plain: QdrantClient, quantization: Any
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
    given = many(2000)
    index.put(given, list(vectors))
    index.finish()
    info = plain.get_collection(f"{collection}_001")
    assert info.status == models.CollectionStatus.GREEN
    assert (info.indexed_vectors_count or 0) > 2000
    assert (info.config.quantization_config is not None) == (quantization != "none")
    exact = {point_id(entry.chunk.chunk_id): vector for entry, vector in zip(given, vectors, strict=True)}
    found = 0
    for number in range(20):
        query = vectors[number] + 0.05 * rng.normal(size=128).astype(np.float32)
        query /= np.linalg.norm(query)
        cosines = by_point(index.candidates(query, None, by=["dense"], limit=50, filters=Filters()))
        for point, (cosine, _) in cosines.items():
            assert cosine == pytest.approx(float(exact[point] @ query), abs=1e-5)  # type: ignore[index]
        nearest = np.argsort(-(vectors @ query))[:10]
        found += sum(point_id(f"chunk-{n}") in cosines for n in nearest)
    # One bit for each dimension is too little for vectors without any pattern.
    assert found / 200 >= (0.5 if quantization == "binary" else 0.97)
    index.close()


class TestKey:
    def test_the_right_one_opens(self, qdrant_node: Node, collection: str) -> None:
        connect = partial(Server, qdrant_node.url, f"{qdrant_node.key}\n")
        builds = QdrantBuilds(connect, collection)
        index = builds.open(MADE_WITH)
        fill(index)
        assert search(index)
        index.close()
        builds.remove(1)

    @pytest.mark.parametrize("key", ["s3cret-key", None])
    def test_a_wrong_one_is_an_error_that_does_not_show_it(self, qdrant_node: Node, key: str | None) -> None:
        with Server(qdrant_node.url, key) as server:
            index = QdrantIndex(server, "any", MADE_WITH)
            builds = QdrantBuilds(lambda: Server(qdrant_node.url, key), "any")
            for call in (
                index.count,
                lambda: search(index),
                lambda: fill(index),
                lambda: builds.open(MADE_WITH),
            ):
                with pytest.raises(IndexFailure, match="QDRANT_API_KEY") as caught:
                    call()
                told = "".join(traceback.format_exception(caught.value)) + repr(server)
                assert "s3cret" not in told
                assert str(qdrant_node.key) not in told

    @pytest.mark.parametrize("key", ["ключ", "two\nlines", "nul\0"])
    def test_one_that_no_header_can_carry_is_refused(self, key: str) -> None:
        with pytest.raises(SettingsError, match="QDRANT_API_KEY") as caught:
            Server("http://127.0.0.1:6333", key)
        assert key not in "".join(traceback.format_exception(caught.value))


class TestAddress:
    @pytest.mark.parametrize(
        "url",
        [
            "",
            ",",
            "localhost:6333",
            "ftp://host",
            "http://",
            "http://host:port",
            "http://ok,no",
            "http://h:0",
        ],
    )
    def test_one_that_cannot_be_used_is_refused(self, url: str) -> None:
        with pytest.raises(SettingsError, match="qdrant_url"):
            Server(url)

    def test_a_password_in_it_is_refused_and_not_shown(self) -> None:
        with pytest.raises(SettingsError, match="QDRANT_API_KEY") as caught:
            Server("http://me:s3cret@127.0.0.1:1", timeout=1)
        assert "s3cret" not in str(caught.value)

    def test_the_next_one_is_asked_when_one_does_not_answer(self, qdrant_node: Node, collection: str) -> None:
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
    def test_a_server_that(self, fault: str) -> None:
        answer, message = FAULTS[fault]
        with faulty(answer) as server:
            began = time.monotonic()
            with pytest.raises(IndexFailure, match=message) as caught:
                QdrantBuilds(lambda: Server(server.url, timeout=2), "any").open(MADE_WITH)
            assert time.monotonic() - began < 4
            assert server.url in str(caught.value)

    def test_a_server_that_is_not_there(self) -> None:
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
    def test_what_may_pass_is_tried_again(self, failure: bytes) -> None:
        answers = iter([reply("200 OK", GREETING), failure, reply("200 OK", b'{"result": {"count": 7}}')])
        with faulty(lambda _: next(answers)) as broken, Server(broken.url) as server:
            assert QdrantIndex(server, "any", MADE_WITH).count() == 7
        assert len(broken.asked) == 3

    def test_what_will_not_pass_is_not_tried_again(self) -> None:
        bad = reply("400 Bad Request", b'{"status": {"error": "Wrong input"}}')
        with (
            faulty(lambda path: reply("200 OK", GREETING) if path == "/" else bad) as broken,
            Server(broken.url) as server,
            pytest.raises(IndexFailure, match="400: Wrong input"),
        ):
            QdrantIndex(server, "any", MADE_WITH).count()
        assert len(broken.asked) == 2

    def test_a_server_that_freezes_while_it_is_searched(self, qdrant_node: Node, collection: str) -> None:
        connect = partial(Server, qdrant_node.url, qdrant_node.key, timeout=2)
        index = QdrantBuilds(connect, collection).open(MADE_WITH)
        fill(index)
        before = search(index)
        with qdrant_node.frozen():
            began = time.monotonic()
            with pytest.raises(IndexFailure, match="did not answer in time"):
                search(index)
            assert time.monotonic() - began < 4
        assert search(index) == before
        index.close()

    def test_acknowledged_writes_survive_a_kill(self, qdrant_node: Node, collection: str) -> None:
        connect = partial(Server, qdrant_node.url, qdrant_node.key, timeout=2)
        index = QdrantBuilds(connect, collection).open(MADE_WITH)
        given = fill(index, many(300))
        qdrant_node.kill()
        with pytest.raises(IndexFailure, match="can't be reached"):
            search(index)
        qdrant_node.start()
        qdrant_node.wait()
        assert index.count() == len(given)
        assert len(search(index)) > 0
        index.close()

    def test_one_that_was_closed(self, builds: QdrantBuilds) -> None:
        index = builds.open(MADE_WITH)
        index.close()
        index.close()
        with pytest.raises(IndexFailure, match="was closed"):
            index.count()


def test_the_client_is_loaded_only_when_asked_for() -> None:
    script = "import sys, pertinent.build; sys.exit('qdrant_client' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
