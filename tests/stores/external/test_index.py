"""Collections that other pipelines filled: searched, read and validated as they are, and left as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException

from pertinent.errors import DimensionMismatch, IndexFailure, InvalidInput, NotFound, SettingsError
from pertinent.identity import content_hash
from pertinent.ports import Fingerprint
from pertinent.search.engine import Engine, find_neighbors
from pertinent.search.notes import NO_LEXICAL
from pertinent.stores.external.catalog import MIN_OVERLAP, ExternalCatalog, assemble_page
from pertinent.stores.external.collection import examine_collection, is_external
from pertinent.stores.external.index import ExternalIndex
from pertinent.stores.external.opening import ExternalCollection
from pertinent.stores.external.payload import Payload, PayloadFormat, to_chunk
from pertinent.stores.qdrant.builds import QdrantBuilds
from pertinent.stores.qdrant.server import Server
from pertinent.surfaces import seed_functions
from pertinent.surfaces.library import Pertinent
from pertinent.testing.embedder import HashedWords
from pertinent.testing.index_suite import fill as fill_index
from pertinent.testing.vocabulary_suite import recount
from pertinent.types import (
    Answer,
    Chunk,
    Filters,
    PointId,
    SearchOptions,
    Vocabulary,
    WordCounts,
    readable_chunks,
)
from pertinent.validation import integrity
from pertinent.validation.golden.golden_set import GoldenSet
from pertinent.validation.target import ContentVersion, NoVerdict, PageView
from pertinent.validation.validate import validate

from ...servers.binary import require
from ...servers.fixtures import Endpoint
from ...servers.qdrant import Node
from .pipelines import EMBEDDER, PAGES, PASSAGES, PIPELINES, SITE, Pipeline, vector, write

# LlamaIndex and Haystack take seconds to import: one worker does.
pytestmark = [
    pytest.mark.xdist_group("external"),
    pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection"),
]

Filled = tuple[Pipeline, str]
ANSWERS = {
    "revolute joint limit": "A revolute joint turns between a lower and an upper limit.",
    "lost messages resends": "Reliable delivery resends lost messages; best effort does not.",
    "client waits for the response": "A client sends a request and waits for the response of the server.",
}


@pytest.fixture(scope="module")
def client(qdrant: Endpoint) -> Iterator[QdrantClient]:
    opened = QdrantClient(url=qdrant.url, api_key=qdrant.key)
    yield opened
    opened.close()


@contextmanager
def filled(client: QdrantClient, content: Callable[[QdrantClient, str], None] | list[Any]) -> Iterator[str]:
    """A collection that a pipeline fills, or one with a payload for each passage."""
    name = f"theirs-{uuid4().hex[:12]}"
    try:
        if isinstance(content, list):
            write(client, name, content, [passage.text for passage in PASSAGES])
        else:
            content(client, name)
        yield name
    finally:
        client.delete_collection(name)


@pytest.fixture(scope="module", params=PIPELINES)
def theirs(request: pytest.FixtureRequest, client: QdrantClient) -> Iterator[Filled]:
    """A collection of each pipeline; nothing here changes it."""
    pipeline = PIPELINES[request.param]
    with filled(client, pipeline.fill) as name:
        yield pipeline, name


@pytest.fixture(scope="module")
def seed_000(client: QdrantClient) -> Iterator[str]:
    with filled(client, PIPELINES["seed 000"].fill) as name:
        yield name


Open = Callable[..., ExternalIndex]
Make = Callable[..., str]


@pytest.fixture
def opened(qdrant: Endpoint) -> Iterator[Open]:
    """Opens collections, and closes them at the end."""
    indexes = []

    def connect(name: str, dimension: int | None = EMBEDDER.dimension, **options: Any) -> ExternalIndex:
        indexes.append(ExternalIndex.open(qdrant.connect(), name, dimension=dimension, **options))
        return indexes[-1]

    yield connect
    for index in indexes:
        index.close()


def share_an_id(client: QdrantClient, name: str) -> None:
    """Fill a collection whose first points have ids of their own, and whose last two share one."""
    texts = [*(f"Section {number} about messages." for number in range(198)), *ANSWERS][:200]
    texts += ["In version one the lidar starts at once.", "In version two the lidar is started by hand."]
    names = [*(f"s-{number}" for number in range(len(texts) - 2)), "lidar", "lidar"]
    payloads = [
        {"text": text, "chunk_id": chunk_id, "url": f"{SITE}/lidar", "title": "Lidar", "position": number}
        for number, (text, chunk_id) in enumerate(zip(texts, names, strict=True))
    ]
    write(client, name, payloads, texts)


def engine(index: ExternalIndex) -> Engine:
    return Engine(EMBEDDER, index, ExternalCatalog(index, EMBEDDER.name))


@pytest.mark.parametrize("hashed", [True, False])
def test_seed_004_expected_chunk_is_found_by_any_chunk_with_its_text(
    client: QdrantClient, qdrant: Endpoint, *, hashed: bool
) -> None:
    text = PASSAGES[0].text
    payloads: list[dict[str, Any]] = [
        {"chunk_id": f"{slug}-0", "text": text, "url": f"{SITE}/{slug}", "title": slug, "position": 0}
        for slug in ("arms", "legs")
    ]
    if hashed:
        payloads = [payload | {"content_hash": content_hash(text)} for payload in payloads]
    with filled(client, lambda client, name: write(client, name, payloads, [text, text])) as name:
        settings = {"embedder": EMBEDDER.name, "qdrant_url": qdrant.url, "qdrant_collection": name}
        with Pertinent.open(**settings, qdrant_api_key=qdrant.key) as pertinent:
            assert len(pertinent.search(text, 5).hits) == 1
            tests = [
                {"test_id": chunk_id, "query_text": text, "expected_results": [chunk_id]}
                for chunk_id in ("arms-0", "legs-0")
            ]
            run = pertinent.run_tests(tests, top_k=1)
    assert [test.result_accuracy for test in run.tests] == [1.0, 1.0]
    assert [[result.expected for result in test.actual_results] for test in run.tests] == [[True], [True]]


class CollectionTarget:
    """A collection as a validation target."""

    def __init__(self, index: ExternalIndex) -> None:
        self._engine = engine(index)
        self._index = index
        self._catalog = ExternalCatalog(index, EMBEDDER.name)

    def describe_pipeline(self) -> Mapping[str, str]:
        return {"subject": self._index.name}

    def search(self, text: str, options: SearchOptions) -> Answer:
        answer = self._engine.search(text, options)
        return replace(answer, hits=tuple(replace(hit, chunk=self._locate(hit.chunk)) for hit in answer.hits))

    def _locate(self, chunk: Chunk) -> Chunk:
        stored = self._catalog.chunk(chunk.chunk_id)
        return replace(chunk, start=stored.start, end=stored.end) if stored else chunk

    def content_version(self) -> ContentVersion:
        return ContentVersion()

    def pages(self) -> Iterator[PageView]:
        for record in self._catalog.pages():
            page = self._catalog.page(record.document_id)
            assert page is not None
            yield PageView.from_page(page, self._catalog.chunks(record.document_id))

    def find_indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        return set(chunk_ids)

    def audit(self) -> list[str]:
        return integrity.describe_faults(readable_chunks(self._index.scan()))


class TestEveryPipeline:
    def test_payload_format_is_recognised(self, theirs: Filled, opened: Open) -> None:
        pipeline, name = theirs
        index = opened(name)
        assert index.payload_format.name == pipeline.payload_format
        assert index.count() == len(PASSAGES)

    def test_search_is_dense_and_says_so(self, theirs: Filled, opened: Open) -> None:
        pipeline, name = theirs
        searching = engine(opened(name))
        for text, passage in ANSWERS.items():
            answer = searching.search(text)
            assert (answer.ranking, answer.notes) == ("dense", (NO_LEXICAL,))
            best = answer.hits[0]
            assert best.chunk.text.strip() == passage
            expected = next(candidate for candidate in PASSAGES if candidate.text == passage)
            if pipeline.named_by == "url":
                assert best.chunk.url == expected.url
            else:
                assert best.chunk.source_path == f"docs/{expected.slug}.md"
        asked_for = searching.search("messages", SearchOptions(ranking="dense"))
        assert (asked_for.ranking, asked_for.notes) == ("dense", ())

    def test_score_is_the_cosine(self, theirs: Filled, opened: Open) -> None:
        _, name = theirs
        index = opened(name)
        query = EMBEDDER.embed_queries(["messages over topics"])[0]
        candidates = index.candidates(query, None, by=["dense"], limit=100, filters=Filters())
        stored = index.chunks(candidates.point_ids)
        texts = {point: chunk.text for point, chunk in stored.items() if isinstance(chunk, Chunk)}
        assert candidates.bm25 is None
        assert candidates.cosine is not None
        for point, cosine in zip(candidates.point_ids, candidates.cosine, strict=True):
            assert cosine == pytest.approx(float(EMBEDDER.embed_queries([texts[point]])[0] @ query), abs=1e-5)

    def test_pages_are_assembled_in_order(self, theirs: Filled, opened: Open) -> None:
        _, name = theirs
        catalog = ExternalCatalog(opened(name))
        pages = [catalog.page(record.document_id) for record in catalog.pages()]
        texts = [" ".join(page.text.split()) for page in pages if page]
        assert sorted(texts) == sorted(" ".join(passages) for _, passages in PAGES.values())
        for page in pages:
            assert page is not None
            chunks = catalog.chunks(page.document_id)
            assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
            assert all(page.text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
            assert all(catalog.chunk(chunk.chunk_id) == chunk for chunk in chunks)

    def test_golden_set_with_quotes_is_validated(self, theirs: Filled, opened: Open) -> None:
        pipeline, name = theirs
        report = validate(CollectionTarget(opened(name)), golden(pipeline.named_by))
        assert report.mrr == 1.0
        assert report.total_queries == len(ANSWERS)
        assert report.label_faults == []
        assert report.metadata_completeness_rate == (1.0 if pipeline.complete else 0.0)
        assert report.hash_validation_pass_rate == (1.0 if pipeline.hashed else 0.0)
        assert all(case.metrics["span_recall@5"] == 1.0 for case in report.test_cases)

    def test_reading_and_validating_write_nothing(
        self,
        theirs: Filled,
        opened: Open,
        qdrant: Endpoint,
        client: QdrantClient,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        pipeline, name = theirs
        before = everything(client, name)
        sent = requests(monkeypatch)
        index = opened(name)
        catalog = ExternalCatalog(index)
        with qdrant.connect() as server:
            examine_collection(server, name)
        validate(CollectionTarget(index), golden(pipeline.named_by))
        catalog.pages()
        list(index.scan())
        assert {request for request in sent if request not in READS} == set()
        assert ("POST", "points/query") in sent
        assert everything(client, name) == before


READS = {
    ("GET", ""),
    ("GET", "collections"),
    ("POST", "points"),
    ("POST", "points/count"),
    ("POST", "points/query"),
    ("POST", "points/scroll"),
}
"""All requests to a server; `POST points` reads points by their ids."""


def requests(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Every HTTP request that is sent from now on, without the name of the collection."""
    sent: list[tuple[str, str]] = []
    send = httpx.Client.send

    def noted(self: httpx.Client, request: httpx.Request, **options: Any) -> httpx.Response:
        parts = request.url.path.strip("/").split("/")
        sent.append((request.method, "/".join(parts[2:]) if len(parts) > 1 else "/".join(parts)))
        return send(self, request, **options)

    monkeypatch.setattr(httpx.Client, "send", noted)
    return sent


def everything(client: QdrantClient, name: str) -> tuple[Any, ...]:
    """All that the server keeps: settings, indexes, payloads and vectors."""
    records, _ = client.scroll(name, limit=1000, with_payload=True, with_vectors=True)
    info = client.get_collection(name)
    return records, info.config, info.payload_schema, client.get_aliases().aliases


def golden(named_by: str) -> GoldenSet:
    """Each question with the words that answer it, on the page as the collection names it."""
    queries = []
    for number, (text, passage) in enumerate(ANSWERS.items()):
        slug = next(candidate.slug for candidate in PASSAGES if candidate.text == passage)
        location = {"url": f"{SITE}/{slug}"} if named_by == "url" else {"page": f"docs/{slug}.md"}
        quote = " ".join(passage.split()[1:6])
        label = {"grade": 2, "quote": quote, **location}
        queries.append({"id": f"q{number}", "text": text, "labels": [label]})
    return GoldenSet.model_validate({"name": "quotes", "queries": queries})


@pytest.mark.slow
def test_read_only_key_is_enough(tmp_path: Path) -> None:
    """The server itself refuses every change that this key asks for."""
    node = ReadOnly(require(), tmp_path, key="all-may-change")
    node.start()
    try:
        node.wait()
        writer = QdrantClient(url=node.url, api_key=node.key)
        PIPELINES["seed 000"].fill(writer, "theirs")
        writer.close()
        index = ExternalIndex.open(Server(node.url, ReadOnly.READING), "theirs", dimension=EMBEDDER.dimension)
        report = validate(CollectionTarget(index), golden("url"))
        assert report.mrr == 1.0
        index.close()
        with Server(node.url, ReadOnly.READING) as server:
            assert examine_collection(server, "theirs").problems == ()
            with pytest.raises(IndexFailure, match="does not permit this"):
                server.write(lambda peer: peer.writing.delete_collection("theirs"))
    finally:
        node.stop()


class ReadOnly(Node):
    """A server with a key that may only read."""

    READING = "may-only-read"

    def _environment(self) -> dict[str, str]:
        return {**super()._environment(), "QDRANT__SERVICE__READ_ONLY_API_KEY": self.READING}


class TestVectors:
    @pytest.fixture
    def make_collection(self, client: QdrantClient) -> Iterator[Make]:
        """Makes collections of seed 000's points with other vectors."""
        names = []

        def make(vectors: Any, convert: Callable[[list[float]], Any] = list, **options: Any) -> str:
            names.append(f"theirs-{uuid4().hex[:12]}")
            client.create_collection(names[-1], vectors, **options)
            points = []
            for number, passage in enumerate(PASSAGES):
                page: dict[str, Any] = {"url": passage.url, "title": passage.title}
                payload = {**page, "content": passage.text, "chunk_index": number}
                stored = convert(vector(passage.text))
                points.append(models.PointStruct(id=str(UUID(int=number)), vector=stored, payload=payload))
            client.upsert(names[-1], points, wait=True)
            return names[-1]

        yield make
        for name in names:
            client.delete_collection(name)

    @pytest.mark.parametrize("distance", [models.Distance.DOT, models.Distance.EUCLID])
    def test_dot_and_euclid_of_unit_vectors_are_converted_to_cosines(
        self, make_collection: Make, opened: Open, distance: models.Distance
    ) -> None:
        index = opened(make_collection(models.VectorParams(size=64, distance=distance)))
        answer = engine(index).search("revolute joint limit", SearchOptions(ranking="dense", top_k=6))
        query = EMBEDDER.embed_queries(["revolute joint limit"])[0]
        for hit in answer.hits:
            cosine = float(EMBEDDER.embed_queries([hit.chunk.text])[0] @ query)
            assert hit.score == pytest.approx(max(0.0, cosine), abs=1e-5)
        assert answer.hits[0].chunk.title == "Joints"

    @pytest.mark.parametrize("distance", [models.Distance.DOT, models.Distance.EUCLID])
    def test_dot_and_euclid_need_unit_vectors(
        self, make_collection: Make, opened: Open, distance: models.Distance
    ) -> None:
        params = models.VectorParams(size=64, distance=distance)
        name = make_collection(params, lambda values: [2 * element for element in values])
        with pytest.raises(
            SettingsError, match=f"with {distance.value} only vectors of length 1 .* length 2"
        ):
            opened(name)

    def test_manhattan_distance_is_refused(self, make_collection: Make, opened: Open) -> None:
        name = make_collection(models.VectorParams(size=64, distance=models.Distance.MANHATTAN))
        with pytest.raises(SettingsError, match="Manhattan distance can't be converted to a cosine"):
            opened(name)

    def test_multivectors_are_refused(self, make_collection: Make, opened: Open) -> None:
        many = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
        params = models.VectorParams(size=64, distance=models.Distance.COSINE, multivector_config=many)
        name = make_collection(params, lambda values: [values, values])
        with pytest.raises(SettingsError, match="several vectors for each point"):
            opened(name)

    def test_other_dimension_is_refused_with_both_numbers(self, seed_000: str, opened: Open) -> None:
        with pytest.raises(DimensionMismatch, match=r"384 .* 64"):
            opened(seed_000, 384)
        index = opened(seed_000)
        with pytest.raises(DimensionMismatch, match=r"3 .* 64"):
            index.candidates(np.ones(3, dtype=np.float32), None, by=["dense"], limit=5, filters=Filters())

    def test_vector_that_fits_the_embedder_is_chosen_and_ties_need_a_name(
        self, make_collection: Make, opened: Open
    ) -> None:
        cosine = models.Distance.COSINE
        params = {
            name: models.VectorParams(size=size, distance=cosine)
            for name, size in (("meaning", 64), ("image", 8), ("other", 64))
        }
        every = lambda values: {"meaning": values, "image": values[:8], "other": values[::-1]}  # noqa: E731
        name = make_collection(params, every)
        with pytest.raises(SettingsError, match=r"several dense vectors, 'meaning' .*'other' .*vector = "):
            opened(name)
        with pytest.raises(SettingsError, match="no dense vector 'sound'; there are 'image'"):
            opened(name, fields={"vector": "sound"})
        for chosen in (opened(name, fields={"vector": "meaning"}), opened(name, fields={"vector": "other"})):
            assert chosen.dense.dimension == 64
        best = engine(opened(name, fields={"vector": "meaning"})).search("revolute joint limit").hits[0]
        assert best.chunk.title == "Joints"
        assert opened(name, 8).dense.name == "image"

    def test_collection_without_a_dense_vector_is_refused(self, make_collection: Make, opened: Open) -> None:
        sparse = {"words": models.SparseVectorParams()}
        words = {"words": models.SparseVector(indices=[1], values=[1.0])}
        name = make_collection({}, lambda _: words, sparse_vectors_config=sparse)
        with pytest.raises(SettingsError, match="no dense vector"):
            opened(name)

    def test_quantised_vectors_have_exact_scores(self, make_collection: Make, opened: Open) -> None:
        scalar = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
        params = models.VectorParams(size=64, distance=models.Distance.COSINE)
        name = make_collection(params, quantization_config=models.ScalarQuantization(scalar=scalar))
        hit = engine(opened(name)).search(PASSAGES[0].text).hits[0]
        assert hit.score == pytest.approx(1.0, abs=1e-6)


ADMITTED = [
    (Filters(document_id="services"), {"services"}),
    (Filters(section="Part 3"), {"topics"}),
    (Filters(url=f"{SITE}/services"), {"services"}),
    (Filters(url=f"{SITE}/services/"), {"services"}),
    (Filters(url=f"{SITE}/serv"), set()),
    (Filters(url=f"{SITE}/guide"), {"guide/joints"}),
    (Filters(url=SITE), set(PAGES)),
    (Filters(url="https://book.example"), set(PAGES)),
    (Filters(source_type="docusaurus-page", section="Part 1"), set(PAGES)),
    (Filters(source_type="other"), set()),
]


class TestFilters:
    @pytest.mark.parametrize(
        "indexed", [None, models.PayloadSchemaType.KEYWORD, models.PayloadSchemaType.TEXT]
    )
    def test_filters_use_the_fields_of_the_payload_format(
        self, client: QdrantClient, opened: Open, indexed: models.PayloadSchemaType | None
    ) -> None:
        """Whether its pipeline has indexed the url: not at all, as a keyword, or as text."""
        with filled(client, PIPELINES["seed 004"].fill) as name:
            if indexed:
                client.create_payload_index(name, "metadata.url", indexed, wait=True)
            searching = engine(opened(name))
            for filters, expected in ADMITTED:
                answer = searching.search("messages", SearchOptions(top_k=20, filters=filters))
                assert {hit.chunk.document_id for hit in answer.hits} == expected, filters

    @pytest.mark.parametrize(
        "indexed", [None, models.PayloadSchemaType.KEYWORD, models.PayloadSchemaType.TEXT]
    )
    def test_url_filter_finds_every_spelling_of_an_address(
        self, client: QdrantClient, opened: Open, indexed: models.PayloadSchemaType | None
    ) -> None:
        """Of each pair of addresses, one is stored percent-encoded, the other as people write it."""
        paths = ["文档", "文档/介绍", quote("文档/安装"), "über", quote("über/uns")]
        paths += ["my%20docs/a", "my docs/b", "a%20b/über", "m%c3%bcll", "文档集"]
        payloads = [{"content": "same", "url": f"{SITE}/{path}", "title": "t"} for path in paths]
        found = {
            "文档": {1, 2, 3},
            quote("文档"): {1, 2, 3},
            "文档/介绍": {2},
            quote("文档/介绍"): {2},
            "文档/安装": {3},
            "über": {4, 5},
            "%C3%BCber#anchor": {4, 5},
            "my%20docs": {6, 7},
            "a%20b/über": {8},
            "m%c3%bcll": {9},
            "文": set(),
        }

        def fill(client: QdrantClient, name: str) -> None:
            write(client, name, payloads, ["same words"] * len(payloads))
            if indexed:
                client.create_payload_index(name, "url", indexed, wait=True)

        with filled(client, fill) as name:
            index = opened(name)
            query = EMBEDDER.embed_queries(["same words"])[0]
            for path, points in found.items():
                filters = Filters(url=f"{SITE}/{path}")
                candidates = index.candidates(query, None, by=["dense"], limit=20, filters=filters)
                assert set(candidates.point_ids) == points, path

    def test_url_filter_is_exact_on_a_text_index(
        self, client: QdrantClient, opened: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A text index matches more than the filter allows, so further points are requested."""
        urls = [f"{SITE}/guides/a-{number}" for number in range(100)]
        payloads = [{"content": "same", "url": url, "title": "t"} for url in [*urls, f"{SITE}/guide/a"]]

        def fill(client: QdrantClient, name: str) -> None:
            write(client, name, payloads, ["same words"] * len(payloads))
            kind, tokenizer = models.TextIndexType.TEXT, models.TokenizerType.PREFIX
            params = models.TextIndexParams(type=kind, tokenizer=tokenizer)
            client.create_payload_index(name, "url", params, wait=True)

        with filled(client, fill) as name:
            index = opened(name)
            query = EMBEDDER.embed_queries(["same words"])[0]
            sent = requests(monkeypatch)
            filters = Filters(url=f"{SITE}/guide")
            candidates = index.candidates(query, None, by=["dense"], limit=5, filters=filters)
        assert candidates.point_ids == [101]
        assert sent.count(("POST", "points/query")) > 1

    def test_numeric_field_is_filtered_by_its_text(self, client: QdrantClient, opened: Open) -> None:
        payloads = [
            {"content": passage.text, "url": passage.url, "title": passage.title, "document_id": number}
            for number, passage in enumerate(PASSAGES)
        ]
        with filled(client, payloads) as name:
            answer = engine(opened(name)).search("joint", SearchOptions(filters=Filters(document_id="5")))
        assert [hit.chunk.title for hit in answer.hits] == ["Joints"]

    def test_filter_without_a_field_is_refused(self, seed_000: str, opened: Open) -> None:
        for filters in (Filters(section="Limits"), Filters(document_id="x"), Filters(source_type="x")):
            with pytest.raises(InvalidInput, match=r"have no .* to filter by"):
                engine(opened(seed_000)).search("messages", SearchOptions(filters=filters))

    def test_words_alone_can_not_be_searched(self, seed_000: str, opened: Open) -> None:
        index = opened(seed_000)
        with pytest.raises(InvalidInput, match="can't be searched by words"):
            engine(index).search("messages", SearchOptions(ranking="lexical"))
        with pytest.raises(InvalidInput, match="can't be searched by words"):
            index.candidates(None, "messages", by=["lexical"], limit=5, filters=Filters())


class TestOpening:
    def test_missing_collection_error_lists_existing_ones(self, seed_000: str, opened: Open) -> None:
        with pytest.raises(NotFound, match=r"has no collection nowhere; there are .*theirs-"):
            opened("nowhere")

    def test_unrecognised_fields_can_be_configured(self, client: QdrantClient, opened: Open) -> None:
        payloads = [
            {"body": {"plain": passage.text}, "at": passage.url, "nth": passage.position + 1}
            for passage in PASSAGES
        ]
        with filled(client, payloads) as name:
            with pytest.raises(SettingsError, match=rf"{name}: .* body\.plain \(6 of 6\).*qdrant_fields"):
                opened(name)
            fields = {"text": "body.plain", "url": "at", "order_index": "nth"}
            index = opened(name, fields=fields)
            hit = engine(index).search("revolute joint limit").hits[0]
            assert (hit.chunk.url, hit.chunk.position) == (f"{SITE}/guide/joints", 0)
            assert list(integrity.find_damage(hit.chunk)) == ["title", "timestamp", "content_hash"]

    def test_rule_29_point_without_url_and_source_path_is_left_out_and_counted(
        self, client: QdrantClient, qdrant: Endpoint, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        payloads = [
            {"text": passage.text, **({"url": passage.url} if number else {})}
            for number, passage in enumerate(PASSAGES)
        ]
        with filled(client, payloads) as name:
            monkeypatch.setenv("QDRANT_URL", qdrant.url)
            monkeypatch.setenv("QDRANT_COLLECTION_NAME", name)
            monkeypatch.setenv("PERTINENT_EMBEDDER", EMBEDDER.name)
            monkeypatch.setenv("PERTINENT_QDRANT_FIELDS", '{"text": "text", "url": "url"}')
            vector = EMBEDDER.embed_queries([PASSAGES[0].text])[0].tolist()
            with pytest.warns(UserWarning, match="1 damaged point was left out .*: point 1 .*url is missing"):
                results = seed_functions.retrieve_content_chunks(vector, limit=6)
            seed_functions.close_shared()
        assert len(results) == 5
        # The position on the page was not stored.
        assert {result.position for result in results} == {0}

    def test_empty_collection_has_no_fields_and_no_hits(self, client: QdrantClient, opened: Open) -> None:
        with filled(client, lambda c, n: write(c, n, [], [])) as name:
            assert opened(name).payload_format.fields == {}
            assert engine(opened(name)).search("anything").hits == ()
            assert engine(opened(name, fields={"text": "body"})).search("anything").hits == ()

    def test_is_external_knows_own_collections(
        self, qdrant: Endpoint, collection: str, seed_000: str
    ) -> None:
        made_with = Fingerprint(EMBEDDER.name, EMBEDDER.dimension, "structure-1", "bm25")
        builds = QdrantBuilds(qdrant.connect, collection)
        ours = builds.open(made_with)
        fill_index(ours)
        builds.use(made_with.build)
        with qdrant.connect() as server:
            assert not is_external(server, collection)
            assert not is_external(server, "nowhere")
            assert is_external(server, seed_000)
            examined = examine_collection(server, collection)
        assert examined.collection.made_with == made_with
        assert examined.recognition is not None
        assert examined.recognition.payload_format.name == "pertinent"
        ours.close()

    def test_external_collection_opens_index_and_catalog(self, qdrant: Endpoint, seed_000: str) -> None:
        external = ExternalCollection(qdrant.connect, seed_000)
        assert external.exists()
        assert not ExternalCollection(qdrant.connect, "nowhere").exists()
        assert external.examine().collection.points == len(PASSAGES)
        index, catalog = external.open(EMBEDDER)
        assert index.count() == sum(page.chunks for page in catalog.pages())
        index.close()
        with pytest.raises(DimensionMismatch):
            external.open(HashedWords(dimension=8))

    def test_alias_is_followed_to_its_collection(
        self, qdrant: Endpoint, client: QdrantClient, seed_000: str, opened: Open
    ) -> None:
        alias = f"alias-{uuid4().hex[:12]}"
        create = models.CreateAlias(collection_name=seed_000, alias_name=alias)
        client.update_collection_aliases([models.CreateAliasOperation(create_alias=create)])
        with qdrant.connect() as server:
            assert is_external(server, alias)
        assert engine(opened(alias)).search("joint").hits


class TestPositionBase:
    @pytest.mark.parametrize("first", [0, 0.0, "0", 1])
    def test_order_index_counts_from_zero_if_any_point_has_it(
        self, client: QdrantClient, opened: Open, qdrant: Endpoint, first: float | str
    ) -> None:
        """The sample of the points has no zero."""
        later = range(2, 252)
        texts = [*(f"Filler {number}." for number in later), "Welcome to the heat pump."]
        payloads = [
            {"text": text, "chunk_id": f"m-{number}", "source_path": "m.md", "slug": "m", "title": "Manual",
             "order_index": number, "url": f"{SITE}/m"}
            for number, text in zip([*later, first], texts, strict=True)
        ]  # fmt: skip
        with filled(client, lambda c, n: write(c, n, payloads, texts)) as name:
            hits = engine(opened(name)).search("welcome heat pump", SearchOptions(top_k=1)).hits
            with qdrant.connect() as server:
                recognition = examine_collection(server, name).recognition
        assert [(hit.chunk.text, hit.chunk.position) for hit in hits] == [(texts[-1], 0)]
        assert recognition is not None
        assert recognition.payload_format.position_base == int(first)

    def test_server_that_is_too_slow_for_the_filter_is_searched(
        self, client: QdrantClient, qdrant: Endpoint, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without an index of the field, the server reads every point."""
        payloads = [
            {"text": passage.text, "chunk_id": f"m-{number}", "source_path": "m.md", "slug": "m",
             "title": "Manual", "order_index": number + 1, "url": f"{SITE}/m"}
            for number, passage in enumerate(PASSAGES)
        ]  # fmt: skip
        scroll = QdrantClient.scroll

        def scroll_slowly(peer: QdrantClient, *arguments: Any, **options: Any) -> Any:
            if options.get("scroll_filter") is not None:
                raise ResponseHandlingException(httpx.ReadTimeout("timed out"))
            return scroll(peer, *arguments, **options)

        monkeypatch.setattr(QdrantClient, "scroll", scroll_slowly)
        with filled(client, payloads) as name, qdrant.connect() as server:
            recognition = examine_collection(server, name).recognition
        assert recognition is not None
        assert recognition.payload_format.position_base == 1

    def test_server_that_refuses_the_filter_is_searched(self, client: QdrantClient, opened: Open) -> None:
        """In strict mode, a server may refuse filters by fields without an index."""
        payloads = [
            {"text": passage.text, "chunk_id": f"m-{number}", "source_path": "m.md", "slug": "m",
             "title": "Manual", "order_index": number + 1, "url": f"{SITE}/m"}
            for number, passage in enumerate(PASSAGES)
        ]  # fmt: skip
        with filled(client, payloads) as name:
            strict = models.StrictModeConfig(enabled=True, unindexed_filtering_retrieve=False)
            client.update_collection(name, strict_mode_config=strict)
            hits = engine(opened(name)).search(PASSAGES[0].text, SearchOptions(top_k=1)).hits
        assert [hit.chunk.position for hit in hits] == [0]


class TestSharedIds:
    def test_search_returns_both_chunks(self, client: QdrantClient, opened: Open) -> None:
        with filled(client, share_an_id) as name:
            hits = (
                engine(opened(name))
                .search("the lidar starts by hand in version", SearchOptions(top_k=2))
                .hits
            )
        assert [hit.chunk.chunk_id for hit in hits] == ["lidar", "lidar"]
        assert len({hit.chunk.text for hit in hits}) == 2

    def test_validation_gives_no_verdict_and_names_them(
        self, client: QdrantClient, qdrant: Endpoint, tmp_path: Path
    ) -> None:
        """A label on one of the chunks would count for the other."""
        labels = [{"url": f"{SITE}/lidar", "quote": "In version one the lidar starts at once."}]
        golden = {"name": "g", "queries": [{"text": "the lidar is started by hand", "labels": labels}]}
        with (
            filled(client, share_an_id) as name,
            Pertinent.open(
                tmp_path,
                qdrant_url=qdrant.url,
                qdrant_api_key=qdrant.key,
                qdrant_collection=name,
                embedder=EMBEDDER.name,
            ) as pertinent,
            pytest.raises(NoVerdict, match=r"1 chunk id is shared .* \(lidar\).*`qdrant_fields`, without"),
        ):
            pertinent.validate(GoldenSet.model_validate(golden))


class TestCatalog:
    def test_pages_are_listed_with_the_collection_for_a_source(self, seed_000: str, opened: Open) -> None:
        index = opened(seed_000)
        catalog = ExternalCatalog(index, "testing:hashed-words")
        assert [(page.url, page.chunks) for page in catalog.pages()] == sorted(
            (f"{SITE}/{slug}", len(texts)) for slug, (_, texts) in PAGES.items()
        )
        assert catalog.sources() == {seed_000: index.url}
        assert len(catalog.pages(seed_000)) == len(PAGES)
        assert catalog.pages("another") == []
        assert catalog.describe(["1"]) == {}
        assert [catalog.page_record(page.document_id) for page in catalog.pages()] == catalog.pages()
        assert catalog.page_record("nowhere") is None
        assert catalog.page("nowhere") is None
        assert catalog.chunk("nowhere") is None
        assert (catalog.is_empty(), catalog.has_chunks()) == (False, True)
        provenance = catalog.provenance()
        assert (provenance["embedder"], provenance["dimension"]) == ("testing:hashed-words", "64")
        assert "retrieval-validation" in provenance["chunker"]
        catalog.ping()
        catalog.close()

    def test_find_points_maps_chunks_to_points(self, theirs: Filled, opened: Open) -> None:
        index = opened(theirs[1])
        catalog = ExternalCatalog(index)
        chunk_ids = [chunk.chunk_id for page in catalog.pages() for chunk in catalog.chunks(page.document_id)]
        points = catalog.find_points([*chunk_ids, "nowhere"])
        assert list(points) == chunk_ids
        stored = readable_chunks(index.chunks(list(points.values())).values())
        assert {chunk.chunk_id for chunk in stored} == set(chunk_ids)

    def test_chunk_has_its_neighbours(self, seed_000: str, opened: Open) -> None:
        catalog = ExternalCatalog(opened(seed_000))
        around = find_neighbors(catalog, "2", around=1)
        assert [chunk.text for chunk in around] == PAGES["topics"][1]

    def test_catalog_is_read_again_after_it_expires(
        self, client: QdrantClient, opened: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with filled(client, PIPELINES["seed 000"].fill) as name:
            catalog = ExternalCatalog(opened(name))
            assert len(catalog.pages()) == 3
            client.delete(name, models.PointIdsList(points=[6]), wait=True)
            assert len(catalog.pages()) == 3
            monkeypatch.setattr("pertinent.stores.external.catalog.CACHE_SECONDS", 0.0)
            assert len(catalog.pages()) == 2


class TestVocabulary:
    def test_words_and_names_of_each_pipeline_are_those_of_its_pages(
        self, theirs: tuple[Pipeline, str], opened: Open
    ) -> None:
        catalog = ExternalCatalog(opened(theirs[1]))
        vocabulary = catalog.vocabulary()
        assert vocabulary == recount(catalog)
        assert vocabulary.chunks == len(PASSAGES)
        assert vocabulary.words["messages"].texts >= 3
        pages = [name for name in catalog.section_names() if not name.section]
        assert [name.document_id for name in pages] == [page.document_id for page in catalog.pages()]
        assert len(set(catalog.section_names())) == len(catalog.section_names())

    def test_sections_follow_their_page(self, client: QdrantClient, opened: Open) -> None:
        texts = ["Nodes talk.", "Topics carry.", "Topics last.", "Joints turn."]
        sections = ["", "Talking › Topics", "Talking › Topics", "Joints"]
        payloads: list[dict[str, Any]] = [
            {
                "chunk_id": str(number),
                "text": text,
                "url": f"{SITE}/nodes",
                "title": "Nodes",
                "section": section,
                "position": number,
            }
            for number, (text, section) in enumerate(zip(texts, sections, strict=True))
        ]
        with filled(client, lambda client, name: write(client, name, payloads, texts)) as name:
            catalog = ExternalCatalog(opened(name))
            names = catalog.section_names()
            assert [section_name.section for section_name in names] == ["", "Talking › Topics", "Joints"]
            assert {section_name.title for section_name in names} == {"Nodes"}
            words = catalog.vocabulary().words
            assert words["topics"] == WordCounts(titles=0, headings=1, texts=2)
            assert words["nodes"] == WordCounts(titles=1, headings=0, texts=4)

    def test_points_are_read_once_and_again_after_a_while(
        self, client: QdrantClient, opened: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with filled(client, PIPELINES["seed 000"].fill) as name:
            index = opened(name)
            catalog = ExternalCatalog(index)
            scans = 0
            read_points = index.points

            def count_scans() -> Iterator[tuple[PointId, Payload]]:
                nonlocal scans
                scans += 1
                return read_points()

            monkeypatch.setattr(index, "points", count_scans)
            monkeypatch.setattr("pertinent.stores.external.catalog.CACHE_SECONDS", 0.0)
            version, vocabulary = catalog.vocabulary_version(), catalog.vocabulary()
            assert "revolute" in vocabulary.words
            client.delete(name, models.PointIdsList(points=[6]), wait=True)
            assert (catalog.vocabulary_version(), catalog.vocabulary()) == (version, vocabulary)
            assert (len(catalog.section_names()), scans) == (3, 1)
            monkeypatch.setattr("pertinent.stores.external.catalog.VOCABULARY_SECONDS", 0.0)
            assert catalog.vocabulary_version() == version + 1
            assert catalog.vocabulary_version() == version + 1  # read again, but nothing has changed
            assert "revolute" not in catalog.vocabulary().words
            assert len(catalog.section_names()) == 2

    def test_large_collection_has_no_vocabulary_and_is_not_read_for_it(
        self, seed_000: str, opened: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("pertinent.stores.external.catalog.MAX_VOCABULARY_POINTS", len(PASSAGES) - 1)
        index = opened(seed_000)
        monkeypatch.setattr(index, "points", lambda: pytest.fail("all points were read"))
        catalog = ExternalCatalog(index)
        assert catalog.vocabulary() == Vocabulary({}, 0)
        assert catalog.section_names() == []
        assert catalog.vocabulary_version() == catalog.vocabulary_version()


def chunks_of(texts: Sequence[str]) -> list[Chunk]:
    payload_format = PayloadFormat("named", {"text": "t", "url": "u"})
    points = (to_chunk({"t": text, "u": SITE}, number, payload_format) for number, text in enumerate(texts))
    return list(readable_chunks(points))


@given(st.lists(st.text(alphabet="ab \n", max_size=60), min_size=1, max_size=8))
def test_every_chunk_is_a_slice_of_its_page(texts: list[str]) -> None:
    texts = [text for text in texts if text.strip()]
    assume(texts)
    page, placed = assemble_page(chunks_of(texts))
    assert [page.text[chunk.start : chunk.end] for chunk in placed] == texts
    assert [chunk.position for chunk in placed] == list(range(len(texts)))


@given(st.text(min_size=200, max_size=400), st.integers(MIN_OVERLAP, 60))
def test_chunks_that_overlap_give_back_the_text_that_they_were_cut_from(text: str, overlap: int) -> None:
    """If the text repeats itself, the overlap is ambiguous and the page may be shorter."""
    size = 100
    texts = [text[start : start + size] for start in range(0, len(text) - overlap, size - overlap)]
    assume(all(part.strip() for part in texts))
    page, _ = assemble_page(chunks_of(texts))
    assert len(page.text) <= len(text)
    starts = range(len(text) - MIN_OVERLAP)
    repeats = len({text[start : start + MIN_OVERLAP] for start in starts}) < len(starts)
    assert repeats or page.text == text
