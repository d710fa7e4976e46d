"""What every hosted embedder must do, over real HTTP and against a service that misbehaves."""

from __future__ import annotations

import logging
import math
import re
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stamina.instrumentation import set_on_retry_hooks

from pertinent.embedders import hosted, local
from pertinent.embedders.cohere import CohereEmbedder
from pertinent.embedders.hosted import HostedEmbedder, Kind, MayPass, Patience, Service, Terms, TokenBudget
from pertinent.embedders.openai import OpenAIEmbedder
from pertinent.errors import EmbedderError, SettingsError
from pertinent.indexing.chunking import chunk_page
from pertinent.ports import Vector
from pertinent.sources import open_source
from pertinent.surfaces.cli.global_options import print_retries
from pertinent.testing.pages import page
from pertinent.types import Page

from .wire import KEY, Fault, Wire, unit_of

HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook"

QUICK = Patience(timeout=20, attempts=4, first_wait=0.001, longest_wait=60)
TERMS = Terms(concurrency=3, queries=QUICK, documents=QUICK)
IMPATIENT = Terms(
    queries=Patience(timeout=0.2, attempts=2, first_wait=0.001, longest_wait=1),
    documents=Patience(timeout=0.2, attempts=2, first_wait=0.001, longest_wait=1),
)

Make = Callable[..., HostedEmbedder]


def cohere(wire: Wire, terms: Terms = TERMS) -> CohereEmbedder:
    return CohereEmbedder("embed-english-v3.0", KEY, base_url=wire.url, dimension=8, terms=terms)


def openai(wire: Wire, terms: Terms = TERMS) -> OpenAIEmbedder:
    return OpenAIEmbedder("wired", KEY, base_url=f"{wire.url}/v1", dimension=8, terms=terms)


@pytest.fixture
def wire() -> Iterator[Wire]:
    with Wire() as server:
        yield server


@pytest.fixture(params=[cohere, openai], ids=["cohere", "openai"])
def make(request: pytest.FixtureRequest, wire: Wire) -> Iterator[Make]:
    """Makes an embedder that asks the wire, of each kind in turn."""
    made: list[HostedEmbedder] = []

    def making(terms: Terms = TERMS) -> HostedEmbedder:
        made.append(request.param(wire, terms))
        return made[-1]

    yield making
    for embedder in made:
        embedder.close()


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the embedder would have slept between attempts."""
    slept: list[float] = []
    monkeypatch.setattr("tenacity.nap.time", SimpleNamespace(sleep=slept.append))
    return slept


def kind_of(embedder: HostedEmbedder, kind: str) -> str:
    """As what the wire embeds a text: only Cohere's protocol tells it."""
    return f"search_{kind}" if isinstance(embedder, CohereEmbedder) else ""


def check(embedder: HostedEmbedder, texts: Sequence[str]) -> None:
    """Every text has its own vector, at its own place."""
    kind = kind_of(embedder, "document")
    vectors = list(embedder.embed_documents(texts))
    assert len(vectors) == len(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert vector.dtype == np.float32
        assert np.allclose(vector, unit_of(text, kind, 8), atol=1e-6)


TEXTS = [f"text number {number}" for number in range(400)]


def test_vectors_come_in_order_at_unit_length_in_batches(make: Make, wire: Wire) -> None:
    embedder = make()
    check(embedder, TEXTS)
    batch = 96 if isinstance(embedder, CohereEmbedder) else 32
    assert sorted(len(asked.texts) for asked in wire.asked) == sorted(
        [400 % batch] + [batch] * (400 // batch)
    )
    assert sorted(wire.paid) == sorted(TEXTS)
    assert all(asked.headers["Authorization"] == f"Bearer {KEY}" for asked in wire.asked)


def test_a_query_is_one_text(make: Make, wire: Wire) -> None:
    embedder = make()
    vector = embedder.embed_queries(["how?"])[0]
    assert np.allclose(vector, unit_of("how?", kind_of(embedder, "query"), 8), atol=1e-6)
    assert [asked.texts for asked in wire.asked] == [["how?"]]


def test_no_texts_ask_nothing(make: Make, wire: Wire) -> None:
    assert list(make().embed_documents([])) == []
    assert wire.asked == []


def test_many_threads_may_ask_at_once(make: Make) -> None:
    embedder = make()
    kind = kind_of(embedder, "query")
    with ThreadPoolExecutor(8) as pool:
        asked = pool.map(lambda text: embedder.embed_queries([text])[0], TEXTS[:60])
        for text, vector in zip(TEXTS[:60], asked, strict=True):
            assert np.allclose(vector, unit_of(text, kind, 8), atol=1e-6)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=300))
def test_any_texts_come_back_in_order_over_the_wire(make: Make, wire: Wire, texts: list[str]) -> None:
    wire.asked.clear()
    wire.paid.clear()
    embedder = make()
    check(embedder, texts)
    assert sorted(wire.paid) == sorted(texts)
    assert all(len(asked.texts) <= 96 for asked in wire.asked)


# What passes


@pytest.mark.parametrize("fault", ["429", "500", "503", "cut", "dropped"])
def test_a_batch_that_failed_is_asked_for_again_and_the_order_is_kept(
    make: Make, wire: Wire, fault: Fault
) -> None:
    wire.faults.extend([None, fault, fault, None, fault])
    embedder = make()
    check(embedder, TEXTS)
    batches = len({tuple(asked.texts) for asked in wire.asked})
    assert len(wire.asked) == batches + 3


def test_a_time_out_is_asked_for_again(make: Make, wire: Wire) -> None:
    wire.faults.append("slow")
    check(make(IMPATIENT), TEXTS[:3])
    assert len(wire.asked) == 2


@pytest.mark.parametrize("fault", ["429", "503"])
def test_retry_after_is_honoured(make: Make, wire: Wire, naps: list[float], fault: Fault) -> None:
    wire.retry_after = "7"
    wire.faults.extend([fault, fault])
    check(make(), TEXTS[:3])
    assert naps == [7.0, 7.0]


def test_without_retry_after_the_waits_grow(make: Make, wire: Wire, naps: list[float]) -> None:
    wire.faults.extend(["429", "500", "cut"])
    check(make(), TEXTS[:3])
    assert len(naps) == 3
    for nap, least in zip(naps, (0.001, 0.002, 0.004), strict=True):
        assert least <= nap <= least + 0.001


def test_a_wait_that_is_too_long_is_not_waited(make: Make, wire: Wire, naps: list[float]) -> None:
    wire.retry_after = "3600"
    wire.always = "429"
    with pytest.raises(EmbedderError, match=r"HTTP 429 .* asks to wait 3600 s"):
        make().embed_queries(["how?"])[0]
    assert naps == []
    assert len(wire.asked) == 1


# What does not pass


def failure(embedder: HostedEmbedder) -> EmbedderError:
    """Both ways of asking fail, and in the same way."""
    with pytest.raises(EmbedderError) as of_query:
        embedder.embed_queries(["how?"])[0]
    with pytest.raises(EmbedderError) as of_documents:
        list(embedder.embed_documents(TEXTS[:3]))
    assert type(of_query.value) is type(of_documents.value) is EmbedderError
    return of_documents.value


@pytest.mark.parametrize("fault", ["429", "500", "cut", "dropped"])
def test_attempts_end(make: Make, wire: Wire, naps: list[float], fault: Fault) -> None:
    wire.always = fault
    assert "tried 4 times" in str(failure(make()))
    assert len(wire.asked) == 8
    assert len(naps) == 6


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("400", "HTTP 400"),
        ("401", r"refused the key \(HTTP 401\): check [A-Z]+_API_KEY$"),
        ("403", r"HTTP 403.* [A-Z]+_API_KEY"),
        ("404", r"has no model '(embed-english-v3\.0|wired)'"),
        ("dimension", r"sent a vector of 9 elements, where it should have 8"),
        ("count", r"sent (2 vectors for 3 texts|0 vectors for 1 texts)"),
        ("nan", "sent a vector with NaN"),
        ("zeros", "sent a vector of zeros"),
        ("words", "sent a vector with elements that are no numbers"),
        ("nonsense", "sent an answer that is no JSON.*Welcome"),
        ("empty", "sent an answer that has no embeddings"),
        ("list", "sent an answer that has no embeddings"),
    ],
)
def test_what_will_not_pass_is_not_asked_for_again(make: Make, wire: Wire, fault: Fault, said: str) -> None:
    wire.always = fault
    error = failure(make())
    assert re.search(said, str(error)), str(error)
    assert len(wire.asked) == 2


def test_a_time_out_says_how_long_was_waited(make: Make, wire: Wire) -> None:
    wire.always = "slow"
    assert "did not answer within 0.2 s; tried 2 times" in str(failure(make(IMPATIENT)))


def test_a_service_that_is_not_there_is_named(make: Make, wire: Wire, naps: list[float]) -> None:
    embedder = make()
    wire.__exit__()
    try:
        error = failure(embedder)
    finally:
        wire.over = threading.Event()
    assert wire.url in str(error)
    assert error.__cause__ is not None


def test_a_failure_at_a_later_batch_comes_after_the_vectors_before_it(make: Make, wire: Wire) -> None:
    embedder = make(Terms(concurrency=1, documents=QUICK))
    wire.faults.append(None)
    wire.always = "400"
    taken: list[Vector] = []
    with pytest.raises(EmbedderError, match="HTTP 400"):
        taken.extend(embedder.embed_documents(TEXTS))
    assert len(taken) == len(wire.asked[0].texts)


# The key


def everything(value: object) -> str:
    return repr(vars(value)) if hasattr(value, "__dict__") else repr(value)


@pytest.mark.parametrize("fault", [None, *get_args(Fault)])
def test_the_key_is_shown_nowhere(
    make: Make,
    wire: Wire,
    naps: list[float],
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    fault: Fault | None,
) -> None:
    caplog.set_level(logging.DEBUG)
    wire.always = fault
    embedder = make(IMPATIENT)
    shown = [repr(embedder), str(embedder), everything(embedder)]
    try:
        embedder.embed_queries(["how?"])[0]
        assert fault is None
    except EmbedderError as error:
        shown += [str(error), repr(error), *traceback.format_exception(error)]
    shown += [everything(record) for record in caplog.records]
    assert any(record.name.startswith("httpx") for record in caplog.records) or fault in (
        "slow",
        "dropped",
        "cut",
    )
    shown += [caplog.text, *capfd.readouterr()]
    for text in shown:
        assert KEY not in text
        assert KEY[3:] not in text


@pytest.mark.parametrize("kind", [CohereEmbedder, OpenAIEmbedder])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(kind: Any) -> None:
    for bad in ("sk-\nsecret", "sk-sécret", "sk-\x00secret"):
        with pytest.raises(SettingsError, match="_API_KEY") as caught:
            kind("model", bad)
        assert "cret" not in str(caught.value)


def test_white_space_around_a_key_is_no_part_of_it(wire: Wire) -> None:
    embedder = OpenAIEmbedder("wired", f" {KEY}\n", base_url=wire.url, terms=TERMS)
    embedder.embed_queries(["how?"])[0]
    embedder.close()
    assert wire.asked[0].headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "url", ["https://me:sesame@host/v1", "https://host/v1?key=sesame", "host", "", "http://[x"]
)
@pytest.mark.parametrize("kind", [CohereEmbedder, OpenAIEmbedder])
def test_an_address_with_a_secret_in_it_or_that_is_none_is_refused(kind: Any, url: str) -> None:
    with pytest.raises(SettingsError, match="base_url") as caught:
        kind("model", KEY, base_url=url or "ftp://host")
    assert "sesame" not in str(caught.value)


# The dimension


def test_a_dimension_that_nobody_told_is_found_by_one_request(wire: Wire) -> None:
    embedder = OpenAIEmbedder("wired", base_url=wire.url, terms=TERMS)
    assert wire.asked == []
    assert [embedder.dimension, embedder.dimension] == [8, 8]
    assert len(wire.asked) == 1
    embedder.close()


def test_the_first_answer_tells_the_dimension_as_well(wire: Wire) -> None:
    embedder = OpenAIEmbedder("wired", base_url=wire.url, terms=TERMS)
    embedder.embed_queries(["how?"])[0]
    assert embedder.dimension == 8
    assert len(wire.asked) == 1
    wire.dimension = 9
    with pytest.raises(EmbedderError, match="9 elements, where it should have 8"):
        embedder.embed_queries(["how?"])[0]
    embedder.close()


def test_an_uneven_answer_teaches_nothing(wire: Wire) -> None:
    embedder = OpenAIEmbedder("wired", base_url=wire.url, terms=TERMS)
    wire.faults.append("dimension")
    with pytest.raises(EmbedderError, match="elements"):
        list(embedder.embed_documents(TEXTS[:3]))
    wire.dimension = 5
    assert embedder.dimension == 5
    embedder.close()


# Batches, without a wire


class Scripted(HostedEmbedder):
    """Does in `_ask` what the test says; a vector holds the number that its text is."""

    def __init__(self, ask: Callable[[Sequence[str]], Any], batch: int = 96, terms: Terms = TERMS) -> None:
        service = Service("a script", "http://nowhere", "scripted", "NO_KEY")
        super().__init__("script:ed", service, dimension=2, max_tokens=512, batch=batch, terms=terms)
        self.ask = ask
        self.asked: list[list[str]] = []

    def _ask(self, texts: Sequence[str], kind: Kind, timeout: float) -> object:
        self.asked.append(list(texts))
        return self.ask(texts)

    def close(self) -> None: ...


def angles(texts: Sequence[str]) -> list[list[float]]:
    return [[math.cos(int(text) / 999), math.sin(int(text) / 999)] for text in texts]


def number(vector: Any) -> int:
    return round(math.atan2(vector[1], vector[0]) * 999)


@given(count=st.integers(0, 1000), batch=st.integers(1, 96), concurrency=st.integers(1, 4))
@settings(max_examples=50)
def test_every_text_is_asked_for_once_in_full_batches(count: int, batch: int, concurrency: int) -> None:
    embedder = Scripted(angles, batch, Terms(concurrency=concurrency))
    texts = [str(one) for one in range(count)]
    assert [number(vector) for vector in embedder.embed_documents(texts)] == list(range(count))
    asked = sorted(embedder.asked, key=lambda one: int(one[0]))
    assert [text for one in asked for text in one] == texts
    assert all(len(one) == batch for one in asked[:-1])


@given(take=st.integers(1, 300), concurrency=st.integers(1, 4))
@settings(max_examples=30)
def test_no_more_is_asked_for_than_a_few_batches_ahead(take: int, concurrency: int) -> None:
    embedder = Scripted(angles, 10, Terms(concurrency=concurrency))
    vectors = embedder.embed_documents([str(one) for one in range(1000)])
    assert embedder.asked == []
    for _ in range(take):
        next(vectors)
    vectors.close()  # type: ignore[attr-defined]
    assert len(embedder.asked) <= math.ceil(take / 10) - 1 + concurrency


def test_batches_are_under_way_at_the_same_time() -> None:
    together = threading.Barrier(3)

    def ask(texts: Sequence[str]) -> Any:
        together.wait(timeout=30)
        return angles(texts)

    embedder = Scripted(ask, 10)
    assert [number(vector) for vector in embedder.embed_documents([str(n) for n in range(60)])] == list(
        range(60)
    )


def test_one_who_leaves_is_not_worked_for() -> None:
    failing = threading.Event()

    def ask(texts: Sequence[str]) -> Any:
        if texts == ["0"]:
            return angles(texts)
        failing.wait(timeout=30)
        raise MayPass("not now")

    embedder = Scripted(ask, 1, Terms(concurrency=2, documents=QUICK))
    vectors = embedder.embed_documents(["0", "1", "2"])
    next(vectors)
    vectors.close()  # type: ignore[attr-defined]
    failing.set()
    for thread in threading.enumerate():
        if thread.name.startswith("embedding"):
            thread.join(timeout=30)
    assert embedder.asked.count(["1"]) <= 1
    assert ["2"] not in embedder.asked


# Vectors, tokens, budgets, waits: pure


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20).filter(any))
def test_any_finite_vector_gets_unit_length(numbers: list[float]) -> None:
    (vector,) = hosted.unit_vectors([numbers], 1)
    assert float(np.linalg.norm(vector.astype(np.float64))) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    "sent", [None, {}, "x", [None], [1.0], [[]], [[None]], [[math.inf]], [[10**400]], [[[1.0]]]]
)
def test_what_is_no_vector_is_a_value_error(sent: object) -> None:
    with pytest.raises(ValueError, match=r"^(an|a) "):
        hosted.unit_vectors(sent, 1)


@given(st.text(), st.text())
def test_tokens_of_two_texts_add_up(one: str, two: str) -> None:
    count = hosted.estimate_tokens
    assert count("") == 2
    assert count(f"{one} {two}") == count(one) + count(two) - 2
    assert count(one) <= 2 + 2 * len(one)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("node", 1),
        ("communication", 3),
        ("2024", 2),
        ("a.b", 3),
        ("漢字", 2),
        ("Привет", 3),
        ("🤖", 2),
        ("é", 1),
    ],
)
def test_tokens_of_some_texts(text: str, tokens: int) -> None:
    assert hosted.estimate_tokens(text) == tokens + 2


def test_tokens_of_documentation_are_seldom_too_few_and_never_far_too_many() -> None:
    """Against a real tokenizer, BERT's."""
    wordpiece = local._wordpiece(local._VOCABULARY)
    texts = []
    for found in open_source(str(HANDBOOK)).read():
        assert isinstance(found, Page)
        texts += chunk_page(found, Scripted(angles).count_tokens, target=200, most=512)
    ratios = [hosted.estimate_tokens(c.text) / len(wordpiece.encode(c.text).ids) for c in texts]
    assert len(ratios) > 50
    assert min(ratios) > 0.8
    assert sum(ratio < 1 for ratio in ratios) < len(ratios) * 0.05
    assert 1.0 < sum(ratios) / len(ratios) < 1.25


def test_a_page_is_cut_by_the_estimate() -> None:
    embedder = Scripted(angles)
    long = page("long", {"": " ".join(f"word{n}" for n in range(3000))})
    chunks = chunk_page(long, embedder.count_tokens, target=200, most=512)
    assert all(count <= 512 for count in embedder.count_tokens([chunk.text for chunk in chunks]))


class Clock(threading.Event):
    """Time that passes when somebody waits."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.now += timeout
        return False


@given(
    budget=st.integers(1, 1000),
    spends=st.lists(st.tuples(st.integers(0, 1200), st.floats(0, 90)), max_size=40),
)
def test_no_minute_has_more_tokens_than_the_budget(budget: int, spends: list[tuple[int, float]]) -> None:
    clock = Clock()
    tokens = TokenBudget(budget, clock)
    spent: list[tuple[float, int]] = []
    for wanted, pause in spends:
        clock.now += pause
        tokens.spend(wanted, clock)
        spent.append((clock.now, min(wanted, budget)))
    for until, _ in spent:
        assert sum(used for when, used in spent if until - 59.999 < when <= until) <= budget


def test_a_budget_that_is_not_spent_holds_nobody_up() -> None:
    clock = Clock()
    tokens = TokenBudget(100, clock)
    for _ in range(4):
        tokens.spend(25, clock)
    assert clock.now == 1000.0
    tokens.spend(25, clock)
    assert clock.now == 1060.0
    unlimited = TokenBudget(None, clock)
    unlimited.spend(10**9, clock)
    assert clock.now == 1060.0


def test_one_who_left_spends_nothing() -> None:
    clock, gone = Clock(), threading.Event()
    tokens = TokenBudget(100, clock)
    tokens.spend(100, clock)
    gone.set()
    tokens.spend(100, gone)
    assert len(tokens._spent) == 1


def test_documents_are_held_up_by_the_budget_and_queries_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(threading, "Event", lambda: clock)
    embedder = Scripted(angles, 1, Terms(concurrency=1, tokens_per_minute=6))
    embedder._budget = TokenBudget(6, clock)
    for _ in range(5):
        embedder.embed_queries(["1"])[0]
    assert clock.now == 1000.0
    assert len(list(embedder._vectors(["1"], "document", QUICK, clock))) == 1
    list(embedder._vectors(["2"], "document", QUICK, clock))
    assert clock.now == 1000.0
    list(embedder._vectors(["3"], "document", QUICK, clock))
    assert clock.now == 1060.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("", None),
        ("soon", None),
        ("inf", None),
        ("nan", None),
        ("Thu, 01 Jan 1970 00:16:50 GMT", 10.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
    ],
)
def test_retry_after_has_two_forms(
    monkeypatch: pytest.MonkeyPatch, value: str, seconds: float | None
) -> None:
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    assert hosted.retry_after({"retry-after": value}) == seconds
    assert hosted.retry_after({"Retry-After": value}) == seconds
    assert hosted.retry_after({}) is None


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
def test_what_a_service_says_is_quoted_from_any_shape(body: object, quote: str) -> None:
    assert Service("it", "http://nowhere", "model", "NO_KEY").quote(body) == quote


def test_whoever_waits_on_the_command_line_is_told_in_one_line_without_the_key(
    capsys: pytest.CaptureFixture[str],
) -> None:
    quick = Terms(queries=Patience(timeout=5, attempts=2, first_wait=0.01, longest_wait=1))
    print_retries()
    try:
        with Wire() as wire:
            wire.faults.append("500")
            asking = CohereEmbedder("wired", KEY, base_url=wire.url, dimension=wire.dimension, terms=quick)
            asking.embed_queries(["a knee"])
            asking.close()
    finally:
        set_on_retry_hooks(None)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(r"pertinent: .*HTTP 500.*; retrying in 0\.\d s\n", printed.err)
    assert KEY not in printed.err
