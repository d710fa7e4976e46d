"""What only clients have: keys, health, retries, and services that fail over real HTTP."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import logging
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from pertinent import AsyncPertinentClient, PertinentClient
from pertinent.errors import EmbedderError, IndexFailure, InvalidInput, NotFound, SettingsError, StoreError
from pertinent.surfaces.client.connection import LONGEST_WAIT_SECONDS, Connection, TransientFailure

from ..http.conftest import open_filled, raising
from ..servers.faulty import Faulty, faulty, reply
from ..servers.service import running_service
from .conftest import Connect

pytestmark = pytest.mark.slow

KEY = "a-key-that-nobody-may-see"
SUGGESTIONS = b'{"suggestions": []}'
REQUEST_ID = "X-Request-ID: req-42"


@contextmanager
def answering(*answers: bytes) -> Iterator[Faulty]:
    """A server that gives these answers in turn, the last one again and again."""
    remaining = list(answers)
    with faulty(lambda _path: remaining.pop(0) if len(remaining) > 1 else remaining[0]) as server:
        yield server


def error_body(error: str, message: str) -> bytes:
    return f'{{"error": "{error}", "message": "{message}"}}'.encode()


def search_body(url: str) -> Any:
    """What a service answers to a search of a client."""
    query = {"query_text": "joints", "similarity_threshold": 0.0, "explain": True}
    body = httpx.post(f"{url}/api/v1/search", json=query).json()
    assert body["results"]
    return body


def test_health_names_the_parts_that_answer(connect: Connect, url: str) -> None:
    with connect(url) as client:
        health = client.health()
    assert (health.status, health.index, health.catalog) == ("ok", True, True)


def test_health_of_a_broken_index_is_an_answer(
    connect: Connect, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_filled(tmp_path_factory.mktemp("broken") / "data") as workspace:
        monkeypatch.setattr(workspace.index(), "candidates", raising(IndexFailure("broken")))
        with running_service(workspace) as url, connect(url, retries=1) as client:
            assert client.health().status == "error"
            with pytest.raises(StoreError, match=r"503: a store can't be reached.*tried 2 times"):
                client.search("joints")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service with API keys."""
    with (
        open_filled(tmp_path_factory.mktemp("guarded") / "data") as workspace,
        running_service(workspace, api_keys=[KEY, "schlüssel-mit-umlaut"]) as url,
    ):
        yield url


class TestKey:
    """The API key: sent with each request, and shown nowhere."""

    @pytest.mark.parametrize("key", [KEY, "schlüssel-mit-umlaut"])
    def test_right_key_is_accepted(self, connect: Connect, guarded: str, key: str) -> None:
        with connect(guarded, key) as client:
            assert client.search("joints").hits

    @pytest.mark.parametrize("key", [None, "another-key"])
    def test_wrong_key_is_a_settings_error_with_the_request_id(
        self, connect: Connect, guarded: str, key: str | None
    ) -> None:
        with connect(guarded, key) as client, pytest.raises(SettingsError) as error:
            client.search("joints")
        assert "API key" in str(error.value)
        assert "`PertinentClient(url, api_key)` sends a key" in str(error.value)
        assert "(request " in str(error.value)
        assert key is None or key not in str(error.value)

    def test_key_is_in_no_repr_log_or_error(self, connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        body = error_body("internal_error", "boom")
        with (
            answering(reply("500 Oops", body)) as server,
            connect(server.url, KEY, retries=0) as client,
            pytest.raises(IndexFailure) as error,
        ):
            client.suggest("x")
        assert KEY not in repr(client)
        with connect("http://127.0.0.1:1", KEY, retries=0) as client, pytest.raises(IndexFailure) as refused:
            client.suggest("x")
        connection = Connection("http://127.0.0.1:1", KEY)
        texts = [str(error.value), repr(error.value), str(refused.value), repr(connection), caplog.text]
        assert caplog.text
        assert not [text for text in texts if KEY in text]

    @pytest.mark.parametrize("key", ["", f"{KEY}\nX-Evil: 1", f" {KEY}", f"{KEY}\0", f"{KEY} "])
    def test_key_that_no_header_can_hold_is_refused_without_quoting_it(
        self, connect: Connect, key: str
    ) -> None:
        with pytest.raises(InvalidInput) as error, connect("http://127.0.0.1:1", key):
            pass
        assert error.value.field == "api_key"
        assert KEY not in str(error.value)

    @pytest.mark.parametrize("scheme", ["https://", "ftp://", "//", ""])
    def test_password_in_the_address_is_refused_without_quoting_it(
        self, connect: Connect, scheme: str
    ) -> None:
        with pytest.raises(InvalidInput) as error, connect(f"{scheme}user:{KEY}@search.example"):
            pass
        assert KEY not in str(error.value)

    def test_key_does_not_follow_a_redirect(self, connect: Connect) -> None:
        with answering(reply("200 OK", SUGGESTIONS)) as target:
            moved = reply("302 Found", b"", f"Location: {target.url}/api/v1/suggest")
            with (
                answering(moved) as server,
                connect(server.url, KEY) as client,
                pytest.raises(IndexFailure, match="302"),
            ):
                client.suggest("x")
            assert target.paths == []


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:8000", "ftp://x", "", "http://", "http://[", "http://x/?a=1", "http://x y", "http://x:abc",
        None, 8000, b"http://x",
    ],
)  # fmt: skip
def test_address_must_be_http(connect: Connect, address: object) -> None:
    with pytest.raises(InvalidInput, match=r"^url: ") as error, connect(address):
        pass
    assert error.value.field == "url"


@pytest.mark.parametrize(
    "options", [{"timeout": 0}, {"timeout": "1"}, {"retries": -1}, {"retries": 1.5}], ids=str
)
def test_options_out_of_range_are_refused(connect: Connect, options: dict[str, int]) -> None:
    with pytest.raises(InvalidInput), connect("http://127.0.0.1:1", **options):
        pass


def test_service_below_a_path_is_asked_there(connect: Connect) -> None:
    with answering(reply("200 OK", SUGGESTIONS)) as server, connect(f"{server.url}/search/") as client:
        assert client.suggest("a b") == []
    assert server.paths == ["/search/api/v1/suggest?q=a+b&limit=8"]


class TestErrorsOfTheService:
    """Each error of the service is the library's own, and names the request."""

    @pytest.mark.parametrize(
        ("status", "error", "message", "expected"),
        [
            ("400 Bad Request", "validation_error", "limit: must be between 1 and 50", InvalidInput),
            ("401 Unauthorized", "unauthorized", "the API key is wrong", SettingsError),
            ("403 Forbidden", "forbidden", "this Host is not allowed", SettingsError),
            ("413 Too Large", "payload_too_large", "the body must be at most 65536 bytes", InvalidInput),
            ("431 Too Large", "headers_too_large", "the head must be at most 32768 bytes", InvalidInput),
            ("500 Oops", "internal_error", "unexpected server error", IndexFailure),
            ("502 Bad Gateway", "upstream_error", "the embedding model did not answer", EmbedderError),
            ("503 Unavailable", "service_unavailable", "a store can't be reached", IndexFailure),
            ("429 Too Many", "rate_limited", "too many requests", IndexFailure),
        ],
    )
    def test_error_has_its_type_and_the_request_id(
        self, connect: Connect, status: str, error: str, message: str, expected: type[Exception]
    ) -> None:
        answer = reply(status, error_body(error, message), REQUEST_ID)
        with (
            answering(answer) as server,
            connect(server.url, retries=0) as client,
            pytest.raises(expected) as raised,
        ):
            client.suggest("x")
        assert message in str(raised.value)
        assert "(request req-42)" in str(raised.value)
        assert type(raised.value) is expected

    def test_missing_chunk_is_not_found(self, connect: Connect) -> None:
        answer = reply("404 Not Found", error_body("not_found", "no chunk has the id"), REQUEST_ID)
        with answering(answer) as server, connect(server.url) as client:
            for read in (client.chunk, client.page):
                with pytest.raises(NotFound, match=r"no chunk has the id \(request req-42\)"):
                    read("x")

    def test_missing_route_means_a_wrong_address(self, connect: Connect, url: str) -> None:
        with (
            connect(f"{url}/search") as client,
            pytest.raises(IndexFailure, match="/search is not the address of a Pertinent service"),
        ):
            client.suggest("x")

    def test_field_of_an_invalid_value_is_named(self, connect: Connect) -> None:
        answer = reply("400 Bad Request", error_body("validation_error", "limit: must be less"))
        with answering(answer) as server, connect(server.url) as client, pytest.raises(InvalidInput) as error:
            client.suggest("x")
        assert (error.value.field, error.value.message) == ("limit", "must be less")


class TestFailingServers:
    """Servers that are down, slow, cut off or something else."""

    @pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
    @pytest.mark.parametrize("headers", [["Retry-After: 0"], ["Retry-After: 1"], ["Retry-After: soon"], []])
    def test_request_is_repeated_after_429_and_503(
        self, connect: Connect, status: str, headers: list[str]
    ) -> None:
        busy = reply(status, error_body("busy", "later"), *headers)
        with answering(busy, busy, reply("200 OK", SUGGESTIONS)) as server, connect(server.url) as client:
            assert client.suggest("x") == []
        assert len(server.paths) == 3

    def test_health_of_a_busy_service_is_asked_again(self, connect: Connect) -> None:
        busy = reply("503 Service Unavailable", error_body("service_unavailable", "too many connections"))
        with (
            answering(busy) as server,
            connect(server.url, retries=1) as client,
            pytest.raises(IndexFailure, match="503: too many connections; tried 2 times"),
        ):
            client.health()

    def test_proxy_without_json_is_asked_again(self, connect: Connect) -> None:
        busy = reply("503 Service Unavailable", b"<html>nginx</html>")
        with answering(busy, reply("200 OK", SUGGESTIONS)) as server, connect(server.url) as client:
            assert client.suggest("x") == []

    def test_retries_end(self, connect: Connect) -> None:
        busy = reply("429 Too Many Requests", error_body("rate_limited", "later"), "Retry-After: 0")
        with (
            answering(busy) as server,
            connect(server.url, retries=2) as client,
            pytest.raises(IndexFailure, match="429: later; tried 3 times; try again in 0 s"),
        ):
            client.suggest("x")
        assert len(server.paths) == 3

    def test_wait_that_is_too_long_is_left_to_the_caller(self, connect: Connect) -> None:
        busy = reply("429 Too Many Requests", error_body("rate_limited", "later"), "Retry-After: 3600")
        with (
            answering(busy) as server,
            connect(server.url) as client,
            pytest.raises(IndexFailure, match="try again in 3600 s"),
        ):
            client.suggest("x")
        assert len(server.paths) == 1

    @pytest.mark.parametrize("status", ["500 Oops", "404 Not Found", "400 Bad Request", "502 Bad Gateway"])
    def test_other_errors_are_not_repeated(self, connect: Connect, status: str) -> None:
        with (
            answering(reply(status, error_body("x", "y"))) as server,
            connect(server.url) as client,
            pytest.raises(IndexFailure),
        ):
            client.suggest("x")
        assert len(server.paths) == 1

    @pytest.mark.parametrize(
        "cut_off",
        [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", b"HTTP/1.1 200 OK\r\nContent-"],
        ids=["closed", "half a body", "half a header"],
    )
    def test_response_that_is_cut_off_is_requested_again(self, connect: Connect, cut_off: bytes) -> None:
        with answering(cut_off, reply("200 OK", SUGGESTIONS)) as server, connect(server.url) as client:
            assert client.suggest("x") == []
        with (
            answering(cut_off) as server,
            connect(server.url, retries=1) as client,
            pytest.raises(IndexFailure, match=r"does not answer.*tried 2 times"),
        ):
            client.suggest("x")
        assert len(server.paths) == 2

    def test_silent_server_ends_in_a_timeout(self, connect: Connect) -> None:
        with (
            faulty(None) as server,
            connect(server.url, timeout=0.2) as client,
            pytest.raises(IndexFailure, match=r"did not answer within 0\.2 s"),
        ):
            client.search("x")

    @pytest.mark.parametrize(
        "beginning",
        [b"HTTP/1.1 200 OK\r\nX-Endless: ", b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n"],
        ids=["head", "body"],
    )
    def test_response_that_drips_ends_in_a_timeout(self, connect: Connect, beginning: bytes) -> None:
        with (
            faulty(lambda _: beginning, drip=b"x") as server,
            connect(server.url, timeout=0.2) as client,
            pytest.raises(IndexFailure, match=r"did not answer within 0\.2 s"),
        ):
            client.search("x")

    def test_message_about_a_malformed_response_is_short(self, connect: Connect) -> None:
        with (
            answering(b"x" * 10_000 + b"\r\n\r\n") as server,
            connect(server.url, retries=0) as client,
            pytest.raises(IndexFailure, match="does not answer: illegal status line") as error,
        ):
            client.pages()
        assert len(str(error.value)) < 600

    def test_nobody_listens(self, connect: Connect) -> None:
        with (
            connect("http://127.0.0.1:1", retries=1) as client,
            pytest.raises(IndexFailure, match=r"http://127.0.0.1:1 does not answer.*tried 2 times") as error,
        ):
            client.pages()
        assert "check the address, and that the service runs (`pertinent serve`)" in str(error.value)

    def test_web_server_of_something_else_is_named(self, connect: Connect) -> None:
        with (
            answering(reply("404 Not Found", b"<html>")) as server,
            connect(server.url) as client,
            pytest.raises(IndexFailure, match=f"{server.url} is not the address of a Pertinent service"),
        ):
            client.pages()

    def test_closed_client_is_an_error_of_pertinent(self, url: str) -> None:
        client = PertinentClient(url)
        client.close()
        with pytest.raises(StoreError, match=r"this client is closed, or .*: create a new one"):
            client.search("x")

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_client_of_an_ended_event_loop_is_an_error_of_pertinent(self, url: str) -> None:
        client = AsyncPertinentClient(url)
        asyncio.run(client.search("x"))
        with pytest.raises(StoreError, match=r"belongs to an event loop that has ended .*: create a new one"):
            asyncio.run(client.search("x"))
        gc.collect()  # the connection of the first loop can't be closed any more

    @pytest.mark.parametrize("body", [
        b"<html>", b"", b"\xff", b"[]", b"null", b"7", b"{}", b'{"suggestions": 1}', b'{"suggestions": [1]}',
        b'{"suggestions": [{"title": 5, "section": "", "url": "u", "document_id": "d", "is_page": true}]}',
        b'{"suggestions": [{"title": "\\ud800", "section": "", "url": "", "document_id": "", "is_page": 1}]}',
        pytest.param(b"[" * 20_000, id="deeply nested"),
    ])  # fmt: skip
    def test_wrong_json_is_an_index_failure(self, connect: Connect, body: bytes) -> None:
        with (
            answering(reply("200 OK", body, REQUEST_ID)) as server,
            connect(server.url) as client,
            pytest.raises(IndexFailure, match="request req-42"),
        ):
            client.suggest("x")

    @pytest.mark.parametrize(
        "call",
        [
            lambda client: client.search("x"),
            lambda client: client.chunk("x"),
            lambda client: client.pages(),
            lambda client: client.page("x"),
            lambda client: client.sources(),
            lambda client: client.health(),
            lambda client: client.run_tests([{"test_id": "x", "query_text": "x", "expected_results": ["x"]}]),
        ],
    )
    def test_another_service_is_recognised(
        self, connect: Connect, call: Callable[[PertinentClient], object]
    ) -> None:
        with (
            answering(reply("200 OK", b'{"status": "ok"}')) as server,
            connect(server.url) as client,
            pytest.raises(IndexFailure, match="not a Pertinent service of this version"),
        ):
            call(client)

    def test_long_message_of_another_program_is_cut(self, connect: Connect) -> None:
        body = error_body("x", "y" * 100_000)
        with (
            answering(reply("500 Oops", body)) as server,
            connect(server.url) as client,
            pytest.raises(IndexFailure) as error,
        ):
            client.suggest("x")
        assert len(str(error.value)) < 1000

    def test_size_of_a_response_is_limited(self, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("pertinent.surfaces.client.connection.MAX_RESPONSE_BYTES", 2**20)
        bomb = reply("200 OK", gzip.compress(b" " * 2**21), "Content-Encoding: gzip")
        with (
            answering(bomb) as server,
            connect(server.url) as client,
            pytest.raises(IndexFailure, match="can't be read: the response is larger than 1 MB"),
        ):
            client.suggest("x")
        assert len(server.paths) == 1

    def test_compressed_response_is_read(self, connect: Connect) -> None:
        answer = reply("200 OK", gzip.compress(SUGGESTIONS), "Content-Encoding: gzip")
        with answering(answer) as server, connect(server.url) as client:
            assert client.suggest("x") == []

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            *(
                ({"similarity_score": score}, "a score must be a number from 0 to 1")
                for score in (math.nan, math.inf, -0.1, 5.0, 10**400, "0.9", None, True)
            ),
            *(
                ({"metadata": {field: value}}, "is expected, not")
                for field, value in (("document_title", None), ("url", ["x"]), ("section", 7), ("start", "0"))
            ),
            *(
                ({"scores": {"cosine": cosine}}, "a finite number is expected")
                for cosine in ("0.9", math.nan, math.inf, [0.9])
            ),
            ({"metadata": {"section": "\ud800"}}, "surrogates not allowed"),
        ],
    )
    def test_invalid_value_in_a_result_is_an_index_failure(
        self, connect: Connect, url: str, change: dict[str, Any], message: str
    ) -> None:
        body = search_body(url)
        result = body["results"][0]
        metadata = result["metadata"] | change.get("metadata", {})
        body["results"][0] = {**result, **change, "metadata": metadata}
        with (
            answering(reply("200 OK", json.dumps(body).encode())) as server,
            connect(server.url) as client,
            pytest.raises(IndexFailure, match=message),
        ):
            client.search("x")

    def test_broken_compression_is_an_index_failure(self, connect: Connect) -> None:
        answer = reply("200 OK", b"not gzip", "Content-Encoding: gzip")
        with answering(answer) as server, connect(server.url) as client, pytest.raises(IndexFailure):
            client.suggest("x")


@pytest.mark.parametrize("attempt", [1, 2, 3])
def test_wait_is_at_least_what_the_service_asks_for(attempt: int) -> None:
    connection = Connection("http://127.0.0.1:1", retries=3)
    assert connection.wait_before_retry(TransientFailure("busy", 7.0), attempt) == 7.0
    assert 0 < connection.wait_before_retry(TransientFailure("busy"), attempt) <= LONGEST_WAIT_SECONDS


def test_proxy_of_the_environment_is_not_asked_for_this_machine(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with answering(reply("200 OK", SUGGESTIONS)) as server, connect(server.url) as client:
        assert client.suggest("x") == []


def test_importing_pertinent_imports_no_client() -> None:
    script = "import sys, pertinent; print('httpx' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_clients_have_the_methods_of_the_library_that_read() -> None:
    from inspect import signature

    from pertinent import Pertinent

    for name in ("search", "suggest", "chunk", "pages", "page", "sources", "validate", "run_tests"):
        expected = signature(getattr(Pertinent, name)).parameters
        for client in (PertinentClient, AsyncPertinentClient):
            assert signature(getattr(client, name)).parameters == expected, name
