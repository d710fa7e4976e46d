"""Every hosted embedder, over real HTTP, against a service that misbehaves."""

from __future__ import annotations

import logging
import math
import re
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stamina.instrumentation import set_on_retry_hooks

from pertinent._internal.hosted.endpoint import Endpoint
from pertinent._internal.hosted.retries import RetryableError, RetryPolicy
from pertinent.embedders import local
from pertinent.embedders.cohere import CohereEmbedder
from pertinent.embedders.hosted import HostedEmbedder, HostedOptions, InputKind, unit_vectors
from pertinent.embedders.openai import OpenAIEmbedder
from pertinent.embedders.token_rate_limit import TokenRateLimit, estimate_tokens
from pertinent.errors import EmbedderError, SettingsError
from pertinent.indexing.chunking import chunk_page
from pertinent.ports import Vector
from pertinent.sources import open_source
from pertinent.surfaces.cli.global_options import print_retries
from pertinent.testing.pages import page
from pertinent.types import Page

from ..clock import Clock
from ..servers.faulty_api import KEY
from .wire import Fault, Wire, join_embedding_threads, unit_of

pytestmark = pytest.mark.slow

HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook"

QUICK = RetryPolicy(timeout=20, attempts=4, first_wait=0.001, longest_wait=60)
OPTIONS = HostedOptions(concurrency=3, queries=QUICK, documents=QUICK)
SHORT = RetryPolicy(timeout=0.2, attempts=2, first_wait=0.001, longest_wait=1)
IMPATIENT = HostedOptions(queries=SHORT, documents=SHORT)

Make = Callable[..., HostedEmbedder]


def cohere(wire: Wire, options: HostedOptions = OPTIONS) -> CohereEmbedder:
    return CohereEmbedder("embed-english-v3.0", KEY, base_url=wire.url, dimension=8, options=options)


def openai(wire: Wire, options: HostedOptions = OPTIONS) -> OpenAIEmbedder:
    return OpenAIEmbedder("wired", KEY, base_url=f"{wire.url}/v1", dimension=8, options=options)


@pytest.fixture(params=[cohere, openai], ids=["cohere", "openai"])
def make(request: pytest.FixtureRequest, wire: Wire) -> Iterator[Make]:
    """Return a factory of embedders that use the wire, for each provider in turn."""
    with ExitStack() as stack:
        yield lambda options=OPTIONS: stack.enter_context(closing(request.param(wire, options)))


@pytest.fixture
def unsized(wire: Wire) -> Iterator[OpenAIEmbedder]:
    """An embedder that does not know its dimension yet."""
    with closing(OpenAIEmbedder("wired", base_url=wire.url, options=OPTIONS)) as embedder:
        yield embedder


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the waits between attempts instead of sleeping."""
    slept: list[float] = []
    monkeypatch.setattr("tenacity.nap.time", SimpleNamespace(sleep=slept.append))
    return slept


def kind_of(embedder: HostedEmbedder, kind: str) -> str:
    """Return the input type that the wire receives; only Cohere's API has one."""
    return f"search_{kind}" if isinstance(embedder, CohereEmbedder) else ""


def check(embedder: HostedEmbedder, texts: Sequence[str]) -> None:
    """Check that each text has its own vector, at its own position."""
    kind = kind_of(embedder, "document")
    vectors = list(embedder.embed_documents(texts))
    assert len(vectors) == len(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert vector.dtype == np.float32
        assert np.allclose(vector, unit_of(text, kind, 8), atol=1e-6)


TEXTS = [f"text number {number}" for number in range(400)]


def test_hosted_embeds_in_batches_in_order_at_unit_length(make: Make, wire: Wire) -> None:
    embedder = make()
    check(embedder, TEXTS)
    batch = 96 if isinstance(embedder, CohereEmbedder) else 32
    sizes = [400 % batch] + [batch] * (400 // batch)
    assert sorted(len(request.texts) for request in wire.requests) == sorted(sizes)
    assert sorted(wire.paid) == sorted(TEXTS)
    assert all(request.headers["Authorization"] == f"Bearer {KEY}" for request in wire.requests)


def test_hosted_query_is_one_request(make: Make, wire: Wire) -> None:
    embedder = make()
    vector = embedder.embed_queries(["how?"])[0]
    assert np.allclose(vector, unit_of("how?", kind_of(embedder, "query"), 8), atol=1e-6)
    assert [request.texts for request in wire.requests] == [["how?"]]


def test_hosted_embeds_no_texts_without_a_request(make: Make, wire: Wire) -> None:
    assert list(make().embed_documents([])) == []
    assert wire.requests == []


def test_hosted_embedder_is_thread_safe(make: Make) -> None:
    embedder = make()
    kind = kind_of(embedder, "query")
    with ThreadPoolExecutor(8) as pool:
        vectors = pool.map(lambda text: embedder.embed_queries([text])[0], TEXTS[:60])
        for text, vector in zip(TEXTS[:60], vectors, strict=True):
            assert np.allclose(vector, unit_of(text, kind, 8), atol=1e-6)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=300))
def test_hosted_embeds_any_texts_in_order(make: Make, wire: Wire, texts: list[str]) -> None:
    wire.requests.clear()
    wire.paid.clear()
    embedder = make()
    check(embedder, texts)
    assert sorted(wire.paid) == sorted(texts)
    assert all(len(request.texts) <= 96 for request in wire.requests)


# Failures that pass


@pytest.mark.parametrize("fault", ["429", "500", "503", "cut", "dropped"])
def test_failed_batch_is_retried_and_the_order_stays(make: Make, wire: Wire, fault: Fault) -> None:
    wire.faults.extend([None, fault, fault, None, fault])
    embedder = make()
    check(embedder, TEXTS)
    batches = len({tuple(request.texts) for request in wire.requests})
    assert len(wire.requests) == batches + 3


def test_timeout_is_retried(make: Make, wire: Wire) -> None:
    wire.faults.append("slow")
    check(make(IMPATIENT), TEXTS[:3])
    assert len(wire.requests) == 2


@pytest.mark.parametrize("fault", ["429", "503"])
def test_retry_waits_as_long_as_retry_after(make: Make, wire: Wire, naps: list[float], fault: Fault) -> None:
    wire.retry_after = "7"
    wire.faults.extend([fault, fault])
    check(make(), TEXTS[:3])
    assert naps == [7.0, 7.0]


def test_retry_waits_grow_exponentially(make: Make, wire: Wire, naps: list[float]) -> None:
    wire.faults.extend(["429", "500", "cut"])
    check(make(), TEXTS[:3])
    assert len(naps) == 3
    for nap, least in zip(naps, (0.001, 0.002, 0.004), strict=True):
        assert least <= nap <= least + 0.001


def test_retry_after_beyond_the_longest_wait_is_an_error(make: Make, wire: Wire, naps: list[float]) -> None:
    wire.retry_after = "3600"
    wire.always = "429"
    with pytest.raises(EmbedderError, match=r"HTTP 429 .* asks to wait 3600 s"):
        make().embed_queries(["how?"])[0]
    assert naps == []
    assert len(wire.requests) == 1


# Failures that stay


def failure(embedder: HostedEmbedder) -> EmbedderError:
    """Return the error of a query and of documents, which is the same."""
    with pytest.raises(EmbedderError) as of_query:
        embedder.embed_queries(["how?"])[0]
    with pytest.raises(EmbedderError) as of_documents:
        list(embedder.embed_documents(TEXTS[:3]))
    assert type(of_query.value) is type(of_documents.value) is EmbedderError
    return of_documents.value


@pytest.mark.parametrize("fault", ["429", "500", "cut", "dropped"])
def test_retries_end_after_the_last_attempt(make: Make, wire: Wire, naps: list[float], fault: Fault) -> None:
    wire.always = fault
    assert "tried 4 times" in str(failure(make()))
    assert len(wire.requests) == 8
    assert len(naps) == 6


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("400", "HTTP 400"),
        ("401", r"refused the key \(HTTP 401\): check [A-Z]+_API_KEY$"),
        ("403", r"HTTP 403.* [A-Z]+_API_KEY"),
        ("404", r"has no model '(embed-english-v3\.0|wired)'"),
        ("dimension", r"sent a vector with 9 elements instead of 8"),
        ("count", r"sent (2 vectors for 3 texts|0 vectors for 1 texts)"),
        ("nan", "sent a vector with NaN"),
        ("zeros", "sent a vector of zeros"),
        ("words", "sent a vector with elements that are not numbers"),
        ("nonsense", "sent a response that is not JSON.*Welcome"),
        ("latin", "sent a response that is not JSON"),
        ("digits", "sent a response that is not JSON"),
        ("empty", "sent a response without embeddings"),
        ("list", "sent a response without embeddings"),
        ("null", "sent a response without embeddings"),
        ("deep", "sent a response (that is not JSON|without embeddings)"),
        ("bomb", "the response is larger than 64 MB"),
    ],
)
def test_permanent_failure_is_not_retried(make: Make, wire: Wire, fault: Fault, message: str) -> None:
    wire.always = fault
    error = failure(make())
    assert re.search(message, str(error)), str(error)
    assert len(wire.requests) == 2


@pytest.mark.parametrize("fault", ["slow", "dripping head", "dripping body"])
def test_timeout_error_names_the_time_limit(make: Make, wire: Wire, fault: Fault) -> None:
    wire.always = fault
    assert "did not answer within 0.2 s; tried 2 times" in str(failure(make(IMPATIENT)))


def test_retry_after_of_no_calendar_is_ignored(make: Make, wire: Wire, naps: list[float]) -> None:
    wire.retry_after = "Sat, 01 Jan 10000 00:00:00 GMT"
    wire.faults.append("429")
    check(make(), ["a"])
    assert len(naps) == 1


def test_unreachable_service_is_named_in_the_error(make: Make, wire: Wire, naps: list[float]) -> None:
    embedder = make()
    wire.__exit__()
    try:
        error = failure(embedder)
    finally:
        wire.over = threading.Event()
    assert wire.url in str(error)
    assert error.__cause__ is not None


def test_failure_of_a_later_batch_comes_after_earlier_vectors(make: Make, wire: Wire) -> None:
    embedder = make(HostedOptions(concurrency=1, documents=QUICK))
    wire.faults.append(None)
    wire.always = "400"
    vectors: list[Vector] = []
    with pytest.raises(EmbedderError, match="HTTP 400"):
        vectors.extend(embedder.embed_documents(TEXTS))
    assert len(vectors) == len(wire.requests[0].texts)


# The key


def dump(value: object) -> str:
    return repr(vars(value)) if hasattr(value, "__dict__") else repr(value)


@pytest.mark.parametrize("fault", [None, *get_args(Fault)])
def test_key_is_in_no_log_repr_or_error(
    make: Make,
    wire: Wire,
    naps: list[float],
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    fault: Fault | None,
) -> None:
    caplog.set_level(logging.DEBUG)
    wire.always = fault
    embedder = make(IMPATIENT if fault in ("slow", "dripping head", "dripping body") else OPTIONS)
    outputs = [repr(embedder), str(embedder), dump(embedder)]
    try:
        embedder.embed_queries(["how?"])[0]
        assert fault is None
    except EmbedderError as error:
        outputs += [str(error), repr(error), *traceback.format_exception(error)]
    outputs += [dump(record) for record in caplog.records]
    logged = any(record.name.startswith("httpx") for record in caplog.records)
    assert logged or fault in ("slow", "dropped", "cut", "dripping head")
    outputs += [caplog.text, *capfd.readouterr()]
    for text in outputs:
        assert KEY not in text
        assert KEY[3:] not in text


@pytest.mark.parametrize("kind", [CohereEmbedder, OpenAIEmbedder])
def test_key_with_invalid_characters_is_refused_without_showing_it(kind: Any) -> None:
    for bad in ("sk-\nsecret", "sk-sécret", "sk-\x00secret"):
        with pytest.raises(SettingsError, match="_API_KEY") as caught:
            kind("model", bad)
        assert "cret" not in str(caught.value)


def test_key_is_stripped(wire: Wire) -> None:
    embedder = OpenAIEmbedder("wired", f" {KEY}\n", base_url=wire.url, options=OPTIONS)
    embedder.embed_queries(["how?"])[0]
    embedder.close()
    assert wire.requests[0].headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "url", ["https://me:sesame@host/v1", "https://host/v1?key=sesame", "host", "", "http://[x"]
)
@pytest.mark.parametrize("kind", [CohereEmbedder, OpenAIEmbedder])
def test_address_that_is_invalid_or_holds_a_secret_is_refused(kind: Any, url: str) -> None:
    with pytest.raises(SettingsError, match="base_url") as caught:
        kind("model", KEY, base_url=url or "ftp://host")
    assert "sesame" not in str(caught.value)


# The dimension


def test_unknown_dimension_takes_one_request(unsized: OpenAIEmbedder, wire: Wire) -> None:
    assert wire.requests == []
    assert [unsized.dimension, unsized.dimension] == [8, 8]
    assert len(wire.requests) == 1


def test_first_response_sets_the_dimension(unsized: OpenAIEmbedder, wire: Wire) -> None:
    unsized.embed_queries(["how?"])
    assert unsized.dimension == 8
    assert len(wire.requests) == 1
    wire.dimension = 9
    with pytest.raises(EmbedderError, match="9 elements instead of 8"):
        unsized.embed_queries(["how?"])


def test_uneven_response_does_not_set_the_dimension(unsized: OpenAIEmbedder, wire: Wire) -> None:
    wire.faults.append("dimension")
    with pytest.raises(EmbedderError, match="elements"):
        list(unsized.embed_documents(TEXTS[:3]))
    wire.dimension = 5
    assert unsized.dimension == 5


# Batches, without a wire


Ask = Callable[[Sequence[str]], Any]


class Scripted(HostedEmbedder):
    """Answers requests with a function of the test; a vector encodes the number that its text is."""

    def __init__(self, ask: Ask, batch: int = 96, options: HostedOptions = OPTIONS) -> None:
        endpoint = Endpoint("a script", "http://nowhere", "scripted", "NO_KEY")
        super().__init__("script:x", endpoint, dimension=2, max_tokens=512, batch_size=batch, options=options)
        self.ask = ask
        self.batches: list[list[str]] = []

    def _request(self, texts: Sequence[str], kind: InputKind, timeout: float) -> object:
        self.batches.append(list(texts))
        return self.ask(texts)

    def close(self) -> None: ...


def angles(texts: Sequence[str]) -> list[list[float]]:
    return [[math.cos(int(text) / 999), math.sin(int(text) / 999)] for text in texts]


def number(vector: Any) -> int:
    return round(math.atan2(vector[1], vector[0]) * 999)


@given(count=st.integers(0, 1000), batch=st.integers(1, 96), concurrency=st.integers(1, 4))
@settings(max_examples=50)
def test_each_text_is_requested_once_in_full_batches(count: int, batch: int, concurrency: int) -> None:
    embedder = Scripted(angles, batch, HostedOptions(concurrency=concurrency))
    texts = [str(number) for number in range(count)]
    assert [number(vector) for vector in embedder.embed_documents(texts)] == list(range(count))
    batches = sorted(embedder.batches, key=lambda texts: int(texts[0]))
    assert [text for texts in batches for text in texts] == texts
    assert all(len(texts) == batch for texts in batches[:-1])


@given(take=st.integers(1, 300), concurrency=st.integers(1, 4))
@settings(max_examples=30)
def test_at_most_concurrency_batches_are_requested_ahead(take: int, concurrency: int) -> None:
    embedder = Scripted(angles, 10, HostedOptions(concurrency=concurrency))
    vectors = embedder.embed_documents([str(number) for number in range(1000)])
    assert embedder.batches == []
    for _ in range(take):
        next(vectors)
    vectors.close()  # type: ignore[attr-defined]
    assert len(embedder.batches) <= math.ceil(take / 10) - 1 + concurrency


def test_batches_are_requested_concurrently() -> None:
    together = threading.Barrier(3)

    def ask(texts: Sequence[str]) -> Any:
        together.wait(timeout=30)
        return angles(texts)

    vectors = Scripted(ask, 10).embed_documents([str(n) for n in range(60)])
    assert [number(vector) for vector in vectors] == list(range(60))


def test_closed_generator_cancels_pending_requests() -> None:
    failing = threading.Event()

    def ask(texts: Sequence[str]) -> Any:
        if texts == ["0"]:
            return angles(texts)
        failing.wait(timeout=30)
        raise RetryableError("not now")

    embedder = Scripted(ask, 1, HostedOptions(concurrency=2, documents=QUICK))
    vectors = embedder.embed_documents(["0", "1", "2"])
    next(vectors)
    vectors.close()  # type: ignore[attr-defined]
    failing.set()
    join_embedding_threads()
    assert embedder.batches.count(["1"]) <= 1
    assert ["2"] not in embedder.batches


# Vectors, tokens, budgets, waits: pure


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20).filter(any))
def test_unit_vectors_scales_any_finite_vector(numbers: list[float]) -> None:
    (vector,) = unit_vectors([numbers], 1)
    assert float(np.linalg.norm(vector.astype(np.float64))) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    "embeddings", [None, {}, "x", [None], [1.0], [[]], [[None]], [[math.inf]], [[10**400]], [[[1.0]]]]
)
def test_unit_vectors_refuses_other_values(embeddings: object) -> None:
    with pytest.raises(ValueError, match=r"^(an|a) "):
        unit_vectors(embeddings, 1)


@given(st.text(), st.text())
def test_estimate_tokens_is_additive(first: str, second: str) -> None:
    assert estimate_tokens("") == 2
    assert estimate_tokens(f"{first} {second}") == estimate_tokens(first) + estimate_tokens(second) - 2
    assert estimate_tokens(first) <= 2 + 2 * len(first)


@pytest.mark.parametrize(("text", "tokens"), [
    ("node", 1), ("communication", 3), ("2024", 2), ("a.b", 3), ("漢字", 2), ("Привет", 3), ("🤖", 2),
    ("é", 1),
])  # fmt: skip
def test_estimate_tokens_of_single_words(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens + 2


def test_estimate_tokens_is_close_to_wordpiece() -> None:
    """Against a real tokenizer, BERT's."""
    wordpiece = local._make_wordpiece(local._VOCABULARY)
    chunks = []
    for handbook_page in open_source(str(HANDBOOK)).read():
        assert isinstance(handbook_page, Page)
        chunks += chunk_page(handbook_page, Scripted(angles).count_tokens, target=200, most=512)
    ratios = [estimate_tokens(c.text) / len(wordpiece.encode(c.text).ids) for c in chunks]
    assert len(ratios) > 50
    assert min(ratios) > 0.8
    assert sum(ratio < 1 for ratio in ratios) < len(ratios) * 0.05
    assert 1.0 < sum(ratios) / len(ratios) < 1.25


def test_chunks_fit_the_model_by_the_estimate() -> None:
    embedder = Scripted(angles)
    long = page("long", {"": " ".join(f"word{n}" for n in range(3000))})
    chunks = chunk_page(long, embedder.count_tokens, target=200, most=512)
    assert all(count <= 512 for count in embedder.count_tokens([chunk.text for chunk in chunks]))


@given(
    budget=st.integers(1, 1000),
    spends=st.lists(st.tuples(st.integers(0, 1200), st.floats(0, 90)), max_size=40),
)
def test_token_rate_limit_holds_in_every_minute(budget: int, spends: list[tuple[int, float]]) -> None:
    clock = Clock()
    tokens = TokenRateLimit(budget, clock)
    spent: list[tuple[float, int]] = []
    for count, pause in spends:
        clock.now += pause
        tokens.spend(count, clock)
        spent.append((clock.now, min(count, budget)))
    for until, _ in spent:
        assert sum(used for when, used in spent if until - 59.999 < when <= until) <= budget


def test_token_rate_limit_does_not_wait_below_the_limit() -> None:
    clock = Clock()
    tokens = TokenRateLimit(100, clock)
    for _ in range(4):
        tokens.spend(25, clock)
    assert clock.now == 1000.0
    tokens.spend(25, clock)
    assert clock.now == 1060.0
    unlimited = TokenRateLimit(None, clock)
    unlimited.spend(10**9, clock)
    assert clock.now == 1060.0


def test_token_rate_limit_is_not_spent_by_a_cancelled_request() -> None:
    clock, cancelled = Clock(), threading.Event()
    tokens = TokenRateLimit(100, clock)
    tokens.spend(100, clock)
    cancelled.set()
    tokens.spend(100, cancelled)
    assert len(tokens._spent) == 1


def test_token_rate_limit_delays_documents_but_not_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(threading, "Event", lambda: clock)
    embedder = Scripted(angles, 1, HostedOptions(concurrency=1, tokens_per_minute=6))
    embedder._rate_limit = TokenRateLimit(6, clock)
    for _ in range(5):
        embedder.embed_queries(["1"])[0]
    assert clock.now == 1000.0
    assert len(list(embedder._embed(["1"], "document", clock))) == 1
    list(embedder._embed(["2"], "document", clock))
    assert clock.now == 1000.0
    list(embedder._embed(["3"], "document", clock))
    assert clock.now == 1060.0


@pytest.mark.parametrize(
    ("body", "quote"),
    [
        ({"message": "no\n such  thing"}, "; it says: no such thing"),
        ({"error": {"message": "no", "code": 4}}, "; it says: no"),
        ({"error": "no"}, "; it says: no"),
        ({"detail": "no"}, "; it says: no"),
        ({"message": 7}, ""),
        ({}, ""),
        (None, ""),
        (["no"], ""),
        ("x" * 1000, "; it says: " + "x" * 299 + "…"),
    ],
)
def test_quote_message_finds_the_message_of_any_error_body(body: object, quote: str) -> None:
    assert Endpoint("it", "http://nowhere", "model", "NO_KEY").quote_message(body) == quote


def test_retry_is_logged_to_stderr_in_one_line_without_the_key(capsys: pytest.CaptureFixture[str]) -> None:
    quick = HostedOptions(queries=RetryPolicy(timeout=5, attempts=2, first_wait=0.01, longest_wait=1))
    print_retries()
    try:
        with Wire() as wire:
            wire.faults.append("500")
            with closing(cohere(wire, quick)) as embedder:
                embedder.embed_queries(["a knee"])
    finally:
        set_on_retry_hooks(None)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(r"pertinent: .*HTTP 500.*; retrying in 0\.\d s\n", printed.err)
    assert KEY not in printed.err
