"""Connections without TLS: what httpcore's own connection makes of an answer, at a fraction of its cost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import httpcore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.sources.site.plain import KEPT_OPEN, PlainConnection, _Line

ORIGIN = httpcore.Origin(b"http", b"book.example", 80)
KEPT = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Line(httpcore.NetworkStream):
    """A connection on which the answers are known beforehand; an exception among them is raised."""

    def __init__(self, pieces: Sequence[bytes | Exception]) -> None:
        self.pieces = list(pieces)
        self.written = b""
        self.unasked = False
        """Whether something has come before anybody asked."""
        self.waits: set[float | None] = set()
        self.closed = False

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self.waits.add(timeout)
        if not self.pieces:
            return b""
        piece = self.pieces.pop(0)
        if isinstance(piece, Exception):
            raise piece
        if len(piece) > max_bytes:
            self.pieces.insert(0, piece[max_bytes:])
        return piece[:max_bytes]

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        assert not self.closed
        self.waits.add(timeout)
        self.written += buffer

    def close(self) -> None:
        self.closed = True

    def get_extra_info(self, info: str) -> Any:
        return self.unasked if info == "is_readable" else None


class Lines(httpcore.NetworkBackend):
    """A network whose connections are known beforehand."""

    def __init__(self, *lines: Sequence[bytes | Exception]) -> None:
        self.coming = [Line(pieces) for pieces in lines]
        self.opened: list[Line] = []

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *_: object, **__: object
    ) -> httpcore.NetworkStream:
        self.asked_for = (host, port, timeout)
        if not self.coming:
            raise httpcore.ConnectError("refused")
        self.opened.append(self.coming.pop(0))
        return self.opened[-1]


def request(target: bytes = b"/docs/a", *headers: tuple[bytes, bytes]) -> httpcore.Request:
    url = httpcore.URL(scheme=b"http", host=b"book.example", port=80, target=target)
    times = {"connect": 3.0, "read": 4.0, "write": 5.0}
    named = [(b"Host", b"book.example"), *headers]
    return httpcore.Request(b"GET", url, headers=named, extensions={"timeout": times})


def asked(connection: PlainConnection | httpcore.HTTPConnection, *args: Any) -> Any:
    """Status, headers and body, or the kind of the failure."""
    try:
        response = connection.handle_request(request(*args))
        try:
            headers = [
                (name.lower(), value.replace(b"Chunked", b"chunked")) for name, value in response.headers
            ]
            return response.status, headers, b"".join(response.iter_stream())
        finally:
            response.close()
    except (httpcore.NetworkError, httpcore.RemoteProtocolError, httpcore.LocalProtocolError) as error:
        return type(error)


def by_both(pieces: Sequence[bytes]) -> tuple[Any, Any]:
    ours = PlainConnection(ORIGIN, Lines(pieces, pieces))
    theirs = httpcore.HTTPConnection(ORIGIN, network_backend=Lines(pieces))
    return asked(ours), asked(theirs)


ANSWERS = {
    "counted": KEPT + b"text",
    "counted, cut off": KEPT + b"te",
    "more than counted": KEPT + b"text and more",
    "two at once": KEPT + b"textHTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
    "to the end of the connection": b"HTTP/1.1 200 OK\r\nX: 1\r\n\r\ntext",
    "by an old server": b"HTTP/1.0 200 OK\r\n\r\ntext",
    "in chunks": CHUNKED + b"2\r\nte\r\n2;x=y\r\nxt\r\n0\r\n\r\n",
    "in chunks, with trailers": CHUNKED + b"4\r\ntext\r\n0\r\nX: late\r\n\r\n",
    "in chunks, cut off": b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n4\r\ntext\r\n",
    "in chunks, with spaces": CHUNKED + b"4 \r\ntext\r\n0\r\n\r\n",
    "in chunks of no number": CHUNKED + b"zz\r\ntext\r\n0\r\n\r\n",
    "in chunks and counted": CHUNKED.replace(b"\r\n", b"\r\nContent-Length: 9\r\n", 1)
    + b"4\r\ntext\r\n0\r\n\r\n",
    "unchanged": b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n',
    "unchanged, with a length": b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
    "nothing": b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
    "announced": b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" + KEPT + b"text",
    "continued": b"HTTP/1.1 100 Continue\r\n\r\n" + KEPT + b"text",
    "another protocol": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nzzz",
    "without a reason": b"HTTP/1.1 404\r\nContent-Length: 4\r\n\r\nnone",
    "closed on purpose": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\ntext",
    "bare line feeds": b"HTTP/1.1 200 OK\nContent-Length: 4\nX: y\n\ntext",
    "headers beyond ASCII": b"HTTP/1.1 200 OK\r\nX: \xe9\r\nContent-Length: 4\r\n\r\ntext",
    "headers that end in blanks": b"HTTP/1.1 200 OK\r\nContent-Length: 4 \t \r\nX:\t y \r\n\r\ntext",
    "a length that is not quite called so": b"HTTP/1.1 200 OK\r\nContent-Length : 9\r\n\r\ntext",
    "a length behind a bare return": b"HTTP/1.1 200 OK\r\nX: \rContent-Length: 0\r\n\r\ntext",
    "in chunks that are compressed": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "in chunks that are compressed, in two headers": CHUNKED.replace(
        b"\r\n", b"\r\nTransfer-Encoding: gzip\r\n", 1
    )
    + b"0\r\n\r\n",
    "in a form nobody knows": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\ntext",
    "unchanged, in chunks": b"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
    "large headers": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 90_000 + b"\r\nContent-Length: 4\r\n\r\ntext",
    "a large body": b"HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n" + b"x" * 400_000,
    "a trailer without end": CHUNKED + b"4\r\ntext\r\n0\r\nX: " + b"x" * 300_000,
    "a chunk that is never told the size of": CHUNKED + b"4;x=" + b"x" * 300_000,
    "headers with a NUL": b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 4\r\n\r\ntext",
    "a folded header": b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 4\r\n\r\ntext",
    "a header with a control character": b"HTTP/1.1 200 OK\r\nX: \x01\r\nContent-Length: 4\r\n\r\ntext",
    "the same length twice": b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\ntext",
    "the same length twice in one": b"HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\n\r\ntext",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 2\r\n\r\ntext",
    "a version of its own": b"HTTP/1.2 200 OK\r\nContent-Length: 4\r\n\r\ntext",
    "in chunks, called so otherwise": CHUNKED.replace(b"chunked", b"Chunked") + b"4\r\ntext\r\n0\r\n\r\n",
    "a header without a colon": b"HTTP/1.1 200 OK\r\nbroken\r\nContent-Length: 4\r\n\r\ntext",
    "a length that is none": b"HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\ntext",
    "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "nothing at all": b"",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "headers without end": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000 + b"\r\nContent-Length: 4\r\n\r\ntext",
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("pieces", [1, 5, 60])
def test_an_answer_is_what_httpcore_makes_of_it(name: str, pieces: int) -> None:
    raw = ANSWERS[name]
    size = max(len(raw) // pieces, 1)
    ours, theirs = by_both([raw[at : at + size] for at in range(0, len(raw), size)])
    assert ours == theirs


def test_where_only_httpcore_takes_an_answer_it_is_asked_from_then_on() -> None:
    twice = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\n"
    network = Lines([KEPT + b"text", twice + b"away"], [twice + b"next", KEPT + b"last"])
    connection = PlainConnection(ORIGIN, network)
    assert [asked(connection)[2] for _ in range(3)] == [b"text", b"next", b"last"]
    connection.close()
    assert [line.closed for line in network.opened] == [True, True]


@st.composite
def answers(draw: st.DrawFn) -> list[bytes]:
    """Answers of every framing, some broken off, some with more than belongs to them, cut anywhere."""
    body = draw(st.binary(max_size=40))
    chunks = draw(st.lists(st.binary(min_size=1, max_size=9), max_size=4))
    framing, sent = draw(
        st.sampled_from(
            [
                (b"Content-Length: %d\r\n" % len(body), body),
                (b"", body),
                (
                    b"Transfer-Encoding: chunked\r\n",
                    b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in chunks) + b"0\r\n\r\n",
                ),
            ]
        )
    )
    values = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=9).map(str.lstrip)
    named = draw(st.lists(st.tuples(st.sampled_from(["ETag", "X-Robots-Tag", "Link"]), values), max_size=3))
    lines = "".join(f"{name}: {value}\r\n" for name, value in named).encode()
    status = draw(st.sampled_from([b"200 OK", b"203 ", b"301 Moved", b"404 Not Found", b"503 Busy"]))
    raw = b"HTTP/1.1 %s\r\n%s%s\r\n%s" % (status, lines, framing, sent)
    raw = draw(st.sampled_from([raw, raw[: draw(st.integers(1, len(raw)))], raw + b"HTTP/1.1 200 OK\r\n"]))
    cuts = sorted(draw(st.lists(st.integers(1, len(raw)), max_size=5)))
    pieces = (raw[start:end] for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True))
    return [piece for piece in pieces if piece]


@given(answers())
def test_so_it_is_for_any_answer(pieces: list[bytes]) -> None:
    ours, theirs = by_both(pieces)
    assert ours == theirs


def test_the_request_is_written_as_it_is_meant() -> None:
    network = Lines([KEPT, b"text"])
    asked(PlainConnection(ORIGIN, network), b"/docs/a?b=%20", (b"If-None-Match", b'"1"'))
    assert network.opened[0].written == (
        b'GET /docs/a?b=%20 HTTP/1.1\r\nHost: book.example\r\nIf-None-Match: "1"\r\n\r\n'
    )


@pytest.mark.parametrize(
    ("target", "value"),
    [
        (b"/a b", b""),
        (b"/a\r\nX: y", b""),
        (b"", b""),
        (b"/a", b'"1"\r\nX: y'),
        (b"/a", b"\0"),
        (b"/a", b"\n"),
    ],
)
def test_what_would_end_a_line_is_not_sent(target: bytes, value: bytes) -> None:
    network = Lines([KEPT, b"text"])
    assert asked(PlainConnection(ORIGIN, network), target, (b"If-None-Match", value)) is (
        httpcore.LocalProtocolError
    )
    assert network.opened == []


def test_a_connection_is_used_again() -> None:
    network = Lines([KEPT, b"text", KEPT + b"more"])
    connection = PlainConnection(ORIGIN, network)
    assert [asked(connection), asked(connection)] == [
        (200, [(b"content-length", b"4")], b"text"),
        (200, [(b"content-length", b"4")], b"more"),
    ]
    assert len(network.opened) == 1
    connection.close()
    assert network.opened[0].closed


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\ntext",
        b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\ntext",
        b"HTTP/1.1 200 OK\r\n\r\ntext",
        KEPT + b"text and more",
        KEPT + b"text" + KEPT + b"away",
    ],
)
def test_a_connection_is_left_that_is_to_be_closed_or_holds_what_nobody_asked_for(answer: bytes) -> None:
    network = Lines([answer], [KEPT + b"next"])
    connection = PlainConnection(ORIGIN, network)
    assert asked(connection)[2] == b"text"
    assert network.opened[0].closed
    assert asked(connection)[2] == b"next"


def test_a_connection_is_left_when_an_answer_is_not_read_to_its_end() -> None:
    network = Lines([KEPT, b"te", b"xt"], [KEPT + b"next"])
    connection = PlainConnection(ORIGIN, network)
    response = connection.handle_request(request())
    assert next(response.iter_stream()) == b"te"
    response.close()
    assert network.opened[0].closed
    assert asked(connection)[2] == b"next"


def test_a_connection_is_left_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Lines([KEPT + b"text", KEPT + b"late"], [KEPT + b"next"])
    connection = PlainConnection(ORIGIN, network)
    asked(connection)
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + KEPT_OPEN + 1)
    assert asked(connection)[2] == b"next"
    assert network.opened[0].closed


@pytest.mark.parametrize("end", [[], [httpcore.ReadError("reset")]])
def test_where_the_other_side_closed_a_kept_connection_a_new_one_is_made(end: list[Exception]) -> None:
    network = Lines([KEPT + b"text", *end], [KEPT + b"next"])
    connection = PlainConnection(ORIGIN, network)
    asked(connection)
    assert asked(connection)[2] == b"next"


def test_where_a_new_connection_fails_too_it_is_a_failure() -> None:
    connection = PlainConnection(ORIGIN, Lines([KEPT + b"text"], []))
    asked(connection)
    assert asked(connection) is httpcore.RemoteProtocolError
    assert asked(connection) is httpcore.ConnectError


def test_a_body_that_breaks_off_is_a_failure_also_on_a_kept_connection() -> None:
    network = Lines([KEPT + b"text", KEPT + b"te"], [KEPT + b"next"])
    connection = PlainConnection(ORIGIN, network)
    asked(connection)
    assert asked(connection) is httpcore.RemoteProtocolError
    assert asked(connection)[2] == b"next"


def test_what_comes_unasked_is_not_taken_for_the_next_answer() -> None:
    network = Lines([KEPT + b"text", KEPT + b"away"], [KEPT + b"next"])
    connection = PlainConnection(ORIGIN, network)
    asked(connection)
    network.opened[0].unasked = True
    assert asked(connection)[2] == b"next"
    assert network.opened[0].closed


def test_each_wait_is_as_long_as_the_request_says() -> None:
    network = Lines([KEPT, b"text"])
    asked(PlainConnection(ORIGIN, network))
    assert network.asked_for == ("book.example", 80, 3.0)
    assert network.opened[0].waits == {4.0, 5.0}


def test_an_interrupt_while_an_answer_is_read_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_Line, "on_body", interrupted)
    network = Lines([KEPT + b"text"])
    with pytest.raises(KeyboardInterrupt):
        asked(PlainConnection(ORIGIN, network))
    assert network.opened[0].closed


def test_silence_on_a_kept_connection_is_waited_for_once() -> None:
    network = Lines([KEPT + b"text", httpcore.ReadTimeout("quiet")], [KEPT + b"next"])
    connection = PlainConnection(ORIGIN, network)
    asked(connection)
    with pytest.raises(httpcore.ReadTimeout):
        asked(connection)
    assert [line.closed for line in network.opened] == [True]
