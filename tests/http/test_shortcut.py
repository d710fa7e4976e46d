"""The shorter way to the search routes: nobody can tell from an answer which way it went."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import LogCapture

from pertinent.errors import EmbedderError, IndexFailure
from pertinent.surfaces.http import create_app
from pertinent.surfaces.http.observing import Observer
from pertinent.surfaces.http.shortcut import Shortcut
from pertinent.surfaces.library import Pertinent
from pertinent.workspace import Workspace

if TYPE_CHECKING:
    from fastapi import FastAPI

ROUTES = {"/search": "query", "/api/v1/search": "query_text"}
routes = pytest.mark.parametrize("route", ROUTES)

OWN = {"query_id", "created_at", "query_time_ms", "stages_ms"}
"""What differs between two answers to one query."""


@dataclass
class Told:
    """What a caller was answered, and what was logged of it."""

    status: int
    body: Any
    headers: dict[str, str]
    lines: list[Any]


class Way:
    """An application, asked below any client: message by message."""

    def __init__(self, workspace: Workspace, *, short: bool) -> None:
        self.logged = LogCapture()
        log = structlog.wrap_logger(structlog.PrintLogger(), processors=[self.logged])
        self.app: FastAPI = create_app(Pertinent(workspace), Observer(log))
        if not short:
            layers: list[Any] = self.app.user_middleware
            self.app.user_middleware = [one for one in layers if one.cls is not Shortcut]
            assert len(self.app.user_middleware) == len(layers) - 1

    async def ask(
        self,
        route: str,
        parts: Sequence[bytes],
        content_type: bytes | None = b"application/json",
        *,
        cut_off: bool = False,
    ) -> Told:
        self.logged.entries.clear()
        more = [True] * (len(parts) - 1) + [cut_off]
        messages: list[dict[str, Any]] = [
            {"type": "http.request", "body": part, "more_body": to_come}
            for part, to_come in zip(parts, more, strict=True)
        ]
        waiting = iter(messages)
        sent: list[Any] = []

        async def receive() -> Any:
            return next(waiting, {"type": "http.disconnect"})

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [] if content_type is None else [(b"content-type", content_type)]
        scope = {
            "type": "http",
            "method": "POST",
            "path": route,
            "query_string": b"",
            "headers": [*headers, (b"x-request-id", b"same")],
        }
        await self.app(scope, receive, send)
        body = json.loads(b"".join(one.get("body", b"") for one in sent[1:]))
        told = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        told.pop("content-length")  # which the time taken is part of
        lines = [{**line, "ms": None} for line in self.logged.entries]
        return Told(sent[0]["status"], _comparable(body), told, lines)


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _comparable(one) for name, one in value.items() if name not in OWN}
    return [_comparable(one) for one in value] if isinstance(value, list) else value


@dataclass
class Ways:
    """Both ways, over the same stores."""

    short: Way
    framework: Way
    loop: asyncio.Runner

    def same(self, *arguments: Any, **options: Any) -> Told:
        """What both ways tell, which must be the same."""
        one, other = (self.loop.run(way.ask(*arguments, **options)) for way in (self.short, self.framework))
        assert one == other
        return one


@pytest.fixture(scope="module")
def ways(book: Workspace) -> Iterator[Ways]:
    with asyncio.Runner() as loop:
        both = Way(book, short=True), Way(book, short=False)
        yield Ways(*both, loop)
        for way in both:
            way.app.state.service.threads.shutdown()


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 105)
    | st.integers()
    | st.floats()
    | st.sampled_from([5.0, 0.5, 1e400, -0.0, 10**400])
    | st.text(max_size=20)
)
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "section": st.sampled_from(["The torque", "", "none", "\x00"]) | SCALARS,
        "url": st.sampled_from(["https://book.example/docs/", "http://", "x"]) | SCALARS,
        "document_id": SCALARS,
        "source_type": st.just("docusaurus-page") | SCALARS,
        "other": SCALARS,
    },
)
QUERIES = st.sampled_from(["the torque of joints", "services", " ", "x" * 501]) | SCALARS
VALID = st.fixed_dictionaries(
    {},
    optional={
        "top_k": st.integers(1, 20) | st.sampled_from([1.0, 5.0, 2e1]),
        "ranking": st.sampled_from(["hybrid", "dense", "lexical", None]),
        "filters": st.sampled_from([None, {}, {"section": "The torque"}, {"source_type": "none"}]),
    },
)
VALID_V1 = st.fixed_dictionaries(
    {},
    optional={
        "similarity_threshold": st.floats(0, 1) | st.sampled_from([0, 1, -0.0]),
        "per_page": st.integers(1, 100) | st.none(),
        "explain": st.booleans(),
        "distinct": st.booleans(),
        "fallback": st.sampled_from(["lexical", None]),
    },
)
ANY = st.fixed_dictionaries(
    {"query": QUERIES, "query_text": QUERIES},
    optional={
        "top_k": SCALARS,
        "ranking": st.sampled_from(["hybrid", "dense", "lexical", "Hybrid"]) | SCALARS,
        "filters": FILTERS | SCALARS | st.lists(SCALARS, max_size=2),
        "similarity_threshold": SCALARS,
        "per_page": SCALARS,
        "explain": SCALARS,
        "distinct": SCALARS,
        "fallback": st.sampled_from(["lexical", "dense"]) | SCALARS,
        "other": SCALARS,
    },
)
FIELDS = {"/search": {"query", "top_k", "ranking", "filters", "other"}}
ENCODINGS = st.sampled_from(
    ["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1"]
)
TYPES = st.sampled_from(
    [
        None,
        b"",
        b"application/json",
        b"application/json; charset=utf-8",
        b"application/json;charset=UTF-16",
        b'Application/JSON ; charset="latin-1"; x',
        b" application/json",
        b"application/json;",
        b"application/json, text/plain",
        b"application/vnd.api+json",
        b"application/problem+json; charset=utf-8",
        b"application/jsonp",
        b"application/x-json",
        b"text/json",
        b"text/plain",
        b"application/json\xa0",
        b"\xe9",
        b"application//json",
        b";application/json",
    ]
)


def cut(data: st.DataObject, body: bytes) -> list[bytes]:
    """The body in up to four messages, some of them empty."""
    places = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=3), label="cut at"))
    return [body[start:end] for start, end in zip([0, *places], [*places, len(body)], strict=True)]


@routes
@settings(max_examples=150)
@given(data=st.data(), usual=VALID, more=VALID_V1, spaced=st.booleans())
def test_a_valid_body_is_answered_the_same(
    ways: Ways, route: str, data: st.DataObject, usual: Any, more: Any, *, spaced: bool
) -> None:
    query = data.draw(st.sampled_from(["the torque of joints", "\x00", "🤖 漢字"]) | st.text(min_size=1))
    fields = usual if route == "/search" else usual | more
    body = json.dumps({ROUTES[route]: query, **fields}, ensure_ascii=spaced, indent=2 if spaced else None)
    told = ways.same(route, cut(data, body.encode()))
    assert told.status == (200 if query.strip() else 400)


@routes
@settings(max_examples=200)
@given(data=st.data(), fields=ANY, encoding=ENCODINGS, content_type=TYPES)
def test_any_object_is_answered_the_same(
    ways: Ways, route: str, data: st.DataObject, fields: Any, encoding: str, content_type: bytes | None
) -> None:
    other = "query_text" if route == "/search" else "query"
    known = FIELDS.get(route, set(fields) - {other})
    body = json.dumps({name: value for name, value in fields.items() if name in known})
    ways.same(route, cut(data, body.encode(encoding, "replace")), content_type)


@routes
@settings(max_examples=100)
@given(body=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: json.dumps(text).encode()))
def test_any_bytes_are_answered_the_same(ways: Ways, route: str, body: bytes) -> None:
    assert ways.same(route, [body]).status == 400


@routes
@settings(max_examples=150)
@given(
    pairs=st.lists(st.tuples(st.sampled_from(["top_k", "ranking", "filters", "FIELD"]), SCALARS), max_size=5)
)
def test_a_field_that_is_given_twice_counts_as_the_framework_counts_it(
    ways: Ways, route: str, pairs: list[tuple[str, Any]]
) -> None:
    given_twice = [("FIELD", "torque"), *pairs, ("FIELD", "joints"), ("top_k", 3)]
    members = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in given_twice]
    body = f"{{{', '.join(members)}}}".replace("FIELD", ROUTES[route])
    ways.same(route, [body.encode()])


@routes
@pytest.mark.parametrize(
    "rest",
    [
        rb'"top_k": NaN',
        rb'"top_k": 1e1',
        rb'"top_k": 1e400',
        rb'"top_k": 05',
        rb'"top_k": +5',
        rb'"top_k": 5.',
        rb'"top_k": 5.0000000000000000001',
        b'"top_k": ' + b"9" * 5000,
        b'"top_k": ' + b"9" * 4300,
        b'"top_k": 5' + b"0" * 400 + b".0",
        rb'"similarity_threshold": NaN',
        rb'"similarity_threshold": Infinity',
        rb'"similarity_threshold": -Infinity',
        rb'"similarity_threshold": 1e-400',
        rb'"similarity_threshold": 0.1000000000000000055511151231257827021181583404541015625',
        b'"similarity_threshold": 0.' + b"3" * 5000,
        rb'"filters": {"section": "\ud800"}',
        rb'"filters": {"section": "\ud83e\udd16"}',
        b'"filters": {"section": "\xed\xa0\x80"}',
        b'"filters": {"section": "\xff"}',
        b'"filters": {"section": "a\tb"}',
        rb'"filters": {"section": "\u0000"}',
        rb'"filters": {"section": "a\/b"}',
        rb'"filters": {"section": "\x41"}',
        b'"filters": ' + b'{"section": ' * 300 + b"1" + b"}" * 300,
        b'"filters": {"url": "https://book.example/docs"}, "top_k": 3,',
        rb'"\ud800": 1',
        rb'"top\u005fk": 2',
        b'"top_k": 2} {"top_k": 3',
        b'"top_k": 2 // a comment',
    ],
)
def test_what_readers_of_json_disagree_about_is_answered_the_same(
    ways: Ways, route: str, rest: bytes
) -> None:
    body = b'{"%s": "torque", %s}' % (ROUTES[route].encode(), rest)
    for sent in (body, b"\xef\xbb\xbf" + body, b" \r\n\t" + body + b"\n", body + b"\x00", b"\x0b" + body):
        ways.same(route, [sent])


@routes
def test_a_body_that_breaks_off_is_refused_also_where_its_beginning_would_do(ways: Ways, route: str) -> None:
    body = json.dumps({ROUTES[route]: "torque"}).encode()
    assert ways.same(route, [body], cut_off=True).status == 400
    assert ways.same(route, [body[:5]], cut_off=True).status == 400


@routes
@pytest.mark.parametrize(
    ("error", "status"),
    [(EmbedderError("down"), 502), (IndexFailure("down"), 503), (RuntimeError("bug"), 500)],
)
def test_a_failure_is_told_the_same(
    ways: Ways, book: Workspace, monkeypatch: pytest.MonkeyPatch, route: str, error: Exception, status: int
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(book.index(), "candidates", broken)
    told = ways.same(route, [json.dumps({ROUTES[route]: "torque"}).encode()])
    assert told.status == status
