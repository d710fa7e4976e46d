"""`pertinent serve` as a process: its address, its end, its watching, and many clients at once."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import http.server
import json
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import structlog
from typer.testing import CliRunner

from pertinent.errors import EmbedderError, StoreError
from pertinent.indexing.sync import SyncSummary
from pertinent.settings import Settings
from pertinent.surfaces.cli.app import app
from pertinent.surfaces.http import watch
from pertinent.surfaces.http.server import open_listener
from pertinent.surfaces.library import Pertinent

from ..servers.forked import ForkedCommand

COMMAND = Path(sys.executable).with_name("pertinent")
CLIENTS = 50
SEARCHES = 40
"""How many searches each of these clients makes."""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]  # they share a server

PAGES = {
    "intro.md": "# Welcome\n\nThis handbook is about robots that walk.\n",
    "nodes.md": (
        "# Nodes\n\nA node is a process that talks to other nodes.\n\n"
        "## Topics\n\nNodes publish messages on topics, and subscribe to them.\n"
    ),
    "joints.md": "# Joints\n\n## Limits\n\nA revolute joint has limits for its angle.\n",
}
QUERIES = [
    "revolute joint limits", "what is a node", "publish messages on topics", "robots that walk",
    "subscribe", "angle of a joint", "a process that talks",
]  # fmt: skip


class Server:
    """The running `pertinent serve`; its stderr is read as it comes."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.process = self._launch("serve", "--port", "0", *arguments, **environment)
        self.output: list[str] = []
        self._new: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        match = self.until(lambda line: re.search(r"http://\S+:(\d+)", line))
        self.port = int(match[1])

    def _launch(self, *arguments: str, **environment: str) -> ForkedCommand | subprocess.Popen[str]:
        return ForkedCommand(*arguments, **environment)

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.output.append(line)
            self._new.put(line)
        self._new.put("")

    def until(self, condition: Callable[[str], Any], seconds: float = 30.0) -> Any:
        """The first result of the condition on a new line of stderr."""
        deadline = time.monotonic() + seconds
        while line := self._new.get(timeout=max(0.0, deadline - time.monotonic())):
            if result := condition(line):
                return result
        raise AssertionError(f"it ended: {''.join(self.output)}")

    def wait_for_entry(self, event: str, **fields: Any) -> dict[str, Any]:
        """The next entry of the log with this event and these fields."""

        def read_entry(line: str) -> dict[str, Any] | None:
            entry: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
            return entry if {"event": event, **fields}.items() <= entry.items() else None

        entry: dict[str, Any] = self.until(read_entry)
        return entry

    def connect(self, seconds: float = 20.0) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)

    def ask(self, query: str, **headers: str) -> tuple[int, bytes]:
        with closing(self.connect()) as connection:
            return post(connection, query, **headers)

    def get(self, path: str) -> tuple[int, bytes]:
        with closing(self.connect()) as connection:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read()

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.process.wait()
            self._reader.join()
            self.process.__exit__(None, None, None)


class InstalledServer(Server):
    """The same, started by the installed command."""

    def _launch(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(COMMAND), *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )


def post(connection: http.client.HTTPConnection, query: str, **headers: str) -> tuple[int, bytes]:
    body = json.dumps({"query": query})
    connection.request("POST", "/search", body, {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    return answer.status, answer.read()


Start = Callable[..., Server]


def write_pages(folder: Path) -> Path:
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _quick_embedder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PERTINENT_EMBEDDER", "testing:hashed-words")
    yield
    # `serve` in this process has set the logs up for the streams of its test.
    structlog.reset_defaults()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_pages(tmp_path / "docs")


@pytest.fixture
def indexed(docs: Path) -> Path:
    """The site, indexed in the present folder."""
    with Pertinent.open() as pertinent:
        pertinent.index(docs, base_url="https://robots.example/docs")
    return docs


@pytest.fixture
def start() -> Iterator[Start]:
    servers: list[Server] = []

    def started(*arguments: str, **environment: str) -> Server:
        servers.append(Server(*arguments, **environment))
        return servers[-1]

    yield started
    for server in servers:
        server.end()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that do not end it; it is started by the installed command."""
    root = tmp_path_factory.mktemp("served")
    docs = write_pages(root / "docs")
    folder = str(root / "data")
    with Pertinent.open(folder, embedder="testing:hashed-words") as pertinent:
        pertinent.index(docs, base_url="https://robots.example/docs")
    # A small cache: most searches reach the stores, some do not.
    few = {"PERTINENT_QUERY_CACHE": "3"}
    running = InstalledServer("--folder", folder, "--embedder", "testing:hashed-words", **few)
    yield running
    assert running.end() == 0


def refused(*arguments: str | Path) -> str:
    """The message of `pertinent serve`, run in this process, when it refuses to start."""
    result = CliRunner().invoke(app, ["serve", *map(str, arguments)])
    assert result.exit_code == 2
    assert result.stdout == ""
    return result.stderr


def test_server_prints_its_address_and_answers(server: Server) -> None:
    assert server.output[0] == f"pertinent: serving on http://127.0.0.1:{server.port} (Ctrl-C stops it)\n"
    status, body = server.ask("revolute joint")
    assert status == 200
    assert json.loads(body)["results"][0]["title"] == "Joints"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the libraries of a process in /proc")
def test_server_does_not_use_uvloop(server: Server) -> None:
    # uvloop accepts one connection at a time, so that new clients would wait during a flood.
    libraries = Path(f"/proc/{server.process.pid}/maps").read_text(encoding="utf-8")
    assert "httptools" in libraries
    assert "uvloop" not in libraries


def test_responses_are_sent_without_delay() -> None:
    async def read_option() -> int:
        accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = writer.get_extra_info("socket")
            accepted.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listener = open_listener(Settings(port=0))
        async with await asyncio.start_server(answer, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            writer.close()
            return await accepted

    assert asyncio.run(read_option())


def test_server_log_is_json_lines_without_keys(server: Server) -> None:
    query = "nodes\nand\x1b[31m topics"
    assert server.ask(query, **{"X-API-Key": "a-secret-key", "X-Request-ID": "abc"})[0] == 200
    line = server.wait_for_entry("search", request_id="abc")
    assert (line["query"], line["request_id"], line["level"]) == (query, "abc", "info")
    assert line["top_chunk"].startswith("nodes-")
    assert line["timestamp"].endswith("Z")
    assert "a-secret-key" not in "".join(server.output)
    assert all(line.startswith(("{", "pertinent: ")) for line in server.output)


def test_interrupted_mcp_request_is_no_error_of_the_server(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Accept: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
    assert server.wait_for_entry("refused", route="/mcp")["status"] == 400
    assert 'status="500"' not in server.get("/metrics")[1].decode()


@pytest.mark.usefixtures("indexed")
def test_sigterm_finishes_requests_and_releases_the_index(start: Start) -> None:
    server = start()
    body = json.dumps({"query": "revolute joint"}).encode()
    head = (
        "POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        # Half of the body is sent before SIGTERM, the other half afterwards.
        connection.sendall(head.encode() + body[:10])
        assert server.ask("nodes")[0] == 200  # so the earlier connection has been accepted, too
        server.process.send_signal(signal.SIGTERM)
        # Refused, or reset if it waited to be accepted when the socket was closed.
        with suppress(ConnectionError):
            for _ in range(100):
                server.ask("nodes")
                time.sleep(0.1)
            pytest.fail("it takes on new requests")
        assert server.process.poll() is None
        connection.sendall(body[10:])
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert answer.status == 200
        assert json.loads(answer.read())["results"][0]["title"] == "Joints"
        answer.close()
    assert server.end() == 0
    with Pertinent.open() as pertinent:
        assert pertinent.search("revolute joint").hits


@pytest.mark.usefixtures("indexed")
def test_ctrl_c_exits_with_130_without_a_traceback(start: Start) -> None:
    server = start()
    assert server.end(signal.SIGINT) == 130
    assert "Traceback" not in "".join(server.output)


@pytest.mark.usefixtures("indexed")
def test_port_in_use_is_a_clear_error() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        message = refused("--port", str(port))
    assert message == (
        f"pertinent: can't listen on 127.0.0.1:{port}: Address already in use; "
        "choose another --port or --host\n"
    )


def test_missing_index_is_a_clear_error() -> None:
    message = refused("--port", "0")
    assert "nothing is indexed" in message
    assert "pertinent index PATH" in message
    assert message.count("\n") == 1
    assert not Path(".pertinent").exists()


@pytest.mark.usefixtures("indexed")
def test_unknown_host_is_a_clear_error() -> None:
    assert "can't listen on no-such-host.invalid:8000" in refused("--host", "no-such-host.invalid")


def test_watch_refuses_a_missing_source(docs: Path) -> None:
    assert refused("--port", "0", "--watch", docs / "nope").count("\n") == 1


@pytest.mark.usefixtures("indexed")
@pytest.mark.parametrize(
    ("host", "keys", "warned"),
    [
        ("0.0.0.0", "", True),  # noqa: S104 - what is tested
        ("::", "", True),
        ("192.0.2.1", "", True),
        ("0.0.0.0", "a-secret-key", False),  # noqa: S104 - as above
        ("127.0.0.1", "", False),
        ("127.9.9.9", "", False),
        ("::1", "", False),
        ("localhost", "", False),
    ],
)
def test_public_host_without_keys_gets_a_warning(
    monkeypatch: pytest.MonkeyPatch, host: str, keys: str, warned: bool
) -> None:
    monkeypatch.setattr("pertinent.surfaces.http.server.run_server", lambda *_, **__: None)
    if keys:
        monkeypatch.setenv("PERTINENT_API_KEYS", keys)
    result = CliRunner().invoke(app, ["serve", "--host", host])
    assert result.exit_code == 0
    assert (f"warning: {host} can be reached from other machines" in result.stderr) == warned
    assert "a-secret-key" not in result.stderr


def test_watch_indexes_first_and_syncs_changes(start: Start, docs: Path) -> None:
    server = start("--watch", str(docs), "--base-url", "https://robots.example/docs")
    assert json.loads(server.ask("revolute joint")[1])["results"][0]["title"] == "Joints"

    (docs / "gears.md").write_text("# Gears\n\nA planetary gear sits in the hip.\n", encoding="utf-8")
    synced = server.wait_for_entry("synced")
    assert (synced["added"], synced["changed"], synced["removed"]) == (1, 0, 0)
    best = json.loads(server.ask("planetary gear")[1])["results"][0]
    assert (best["title"], best["snippet"]) == ("Gears", "A planetary gear sits in the hip.")

    (docs / "gears.md").unlink()
    assert server.wait_for_entry("synced")["removed"] == 1
    titles = [result["title"] for result in json.loads(server.ask("planetary gear")[1])["results"]]
    assert "Gears" not in titles
    assert server.end() == 0


def test_watch_logs_unreadable_pages_of_its_first_sync(start: Start, docs: Path) -> None:
    (docs / "bad.md").write_bytes(b"# Bad\n\n\xff\xfe\n")
    server = start("--watch", str(docs))
    line = next(json.loads(line) for line in server.output if '"synced"' in line)
    assert (line["added"], line["unreadable"]) == (len(PAGES), ["docs/bad.md"])


@pytest.fixture
def changes(docs: Path) -> Iterator[Iterator[None]]:
    """The changes that the watch of the service sees below the folder."""
    stop = threading.Event()
    ended = threading.Timer(60, stop.set)  # a missed change ends the test
    ended.start()
    changed_paths = watch.wait_for_changes(docs, stop)
    yield changed_paths
    ended.cancel()
    stop.set()
    assert next(changed_paths, "ended") == "ended"


def test_watch_starts_with_a_sync(changes: Iterator[None]) -> None:
    assert next(changes, "missed") is None


def test_watch_survives_a_folder_that_disappears_and_returns(
    changes: Iterator[None], docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "POLL_SECONDS", 0.1)
    next(changes)
    moved = docs.with_name("kept")
    docs.rename(moved)
    assert next(changes, "missed") is None
    threading.Timer(0.5, moved.rename, [docs]).start()
    assert next(changes, "missed") is None
    assert docs.exists()


def test_watch_waits_for_a_folder_that_disappears_before_it_is_watched(
    changes: Iterator[None], docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "POLL_SECONDS", 0.1)
    hold_open, moved = watch.hold_open, docs.with_name("kept")

    @contextmanager
    def gone_since(path: Path) -> Iterator[os.stat_result | None]:
        monkeypatch.setattr(watch, "hold_open", hold_open)
        with hold_open(path) as handle:
            docs.rename(moved)
            yield handle

    monkeypatch.setattr(watch, "hold_open", gone_since)
    assert next(changes, "missed") is None
    moved.rename(docs)
    assert next(changes, "missed") is None
    (docs / "gears.md").write_text("# Gears\n", encoding="utf-8")
    assert next(changes, "missed") is None


def test_watch_follows_a_recreated_folder(docs: Path) -> None:
    stop = threading.Event()
    seen: queue.Queue[None] = queue.Queue()
    watching = threading.Thread(target=lambda: deque(map(seen.put, watch.wait_for_changes(docs, stop))))
    watching.start()
    try:
        seen.get(timeout=30)
        shutil.rmtree(docs)
        docs.mkdir()  # perhaps with the same inode
        seen.get(timeout=30)
        with suppress(queue.Empty):  # until no further change is reported
            while True:
                seen.get(timeout=3)
        (docs / "gears.md").write_text("# Gears\n", encoding="utf-8")
        seen.get(timeout=30)
    finally:
        stop.set()
        watching.join()


class Failing:
    """Stands in for the library: raises each error once, then finds nothing to do."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)

    def sync(self) -> SyncSummary:
        if self.errors:
            raise self.errors.pop(0)
        return SyncSummary(0, 0, 0, 0, 0, 0, 0, 0, unreadable=(), skipped=(), seconds=0.0)


def test_failed_sync_does_not_end_the_watch(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "wait_for_changes", lambda *_: iter([None] * 4))
    monkeypatch.setattr(watch, "RETRY_SECONDS", (0.0, 0.0))
    log = structlog.testing.CapturingLogger()
    failing = Failing(StoreError("is down"), RecursionError("too deep"))
    watch.watch_source(str(docs), failing.sync, threading.Event(), log)  # type: ignore[arg-type]
    # The first success is logged; the next one, with nothing to do, is not.
    assert [(call.method_name, call.args[0]) for call in log.calls] == [
        ("error", "sync failed"),
        ("error", "sync failed"),
        ("info", "synced"),
    ]
    assert [call.kwargs.get("exc_info") for call in log.calls] == [None, True, None]


def test_sync_that_failed_at_a_store_is_retried_without_a_change(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "wait_for_changes", lambda *_: iter([None]))
    monkeypatch.setattr(watch, "RETRY_SECONDS", (0.0, 0.01))
    log = structlog.testing.CapturingLogger()
    failing = Failing(StoreError("is down"), StoreError("is down"), EmbedderError("no answer"))
    watch.watch_source(str(docs), failing.sync, threading.Event(), log)  # type: ignore[arg-type]
    assert [(call.args[0], call.kwargs.get("retry_in")) for call in log.calls] == [
        ("sync failed", 0.0),
        ("sync failed", 0.01),
        ("sync failed", 0.01),
        ("synced", None),
    ]


def test_retries_of_a_sync_end_with_the_service(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "wait_for_changes", lambda *_: iter([None]))
    stop = threading.Event()
    stop.set()
    log = structlog.testing.CapturingLogger()
    watch.watch_source(str(docs), Failing(StoreError("is down")).sync, stop, log)  # type: ignore[arg-type]
    assert [call.args[0] for call in log.calls] == ["sync failed"]


def test_watch_that_fails_is_logged(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: Any, **__: Any) -> Any:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr("watchfiles.watch", none_left)
    log = structlog.testing.CapturingLogger()
    watch.watch_source(str(docs), Failing().sync, threading.Event(), log)  # type: ignore[arg-type]
    (call,) = log.calls
    assert (call.args, call.kwargs["detail"]) == (("watching ended",), "OS file watch limit reached")


def test_watch_follows_a_replaced_folder(start: Start, docs: Path) -> None:
    server = start("--watch", str(docs), "--base-url", "https://robots.example/docs")
    new = docs.with_name("new")
    shutil.copytree(docs, new)
    (new / "gears.md").write_text("# Gears\n\nA planetary gear sits in the hip.\n", encoding="utf-8")
    docs.rename(docs.with_name("old"))
    new.rename(docs)
    server.wait_for_entry("synced", added=1)
    (docs / "gears.md").unlink()
    server.wait_for_entry("synced", removed=1)

    moved = docs.with_name("kept")
    docs.rename(moved)
    server.wait_for_entry("sync failed")
    (moved / "gears.md").write_text("# Gears\n\nA planetary gear sits in the hip.\n", encoding="utf-8")
    moved.rename(docs)
    server.wait_for_entry("synced", added=1)
    assert server.end() == 0


@pytest.mark.parametrize(("option", "pages"), [([], 0), (["--follow-links"], 1)])
def test_watch_reads_links_out_of_the_folder_only_with_follow_links(
    start: Start, docs: Path, tmp_path: Path, option: list[str], pages: int
) -> None:
    (tmp_path / "private.md").write_text("# Private\n\nThe zirconium password.\n", encoding="utf-8")
    (docs / "x.md").symlink_to(tmp_path / "private.md")
    server = start("--watch", str(docs), *option)
    (first,) = [json.loads(line) for line in server.output if '"synced"' in line]
    assert first["added"] == len(PAGES) + pages
    (docs / "gears.md").write_text("# Gears\n\nA planetary gear sits in the hip.\n", encoding="utf-8")
    later = server.wait_for_entry("synced")
    assert (later["added"], later["removed"]) == (1, 0)
    assert server.end() == 0


def test_server_answers_a_request_for_a_websocket_as_http(server: Server) -> None:
    websocket = {"Sec-WebSocket-Key": "x", "Sec-WebSocket-Version": "13"}
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", **websocket}
    connection = server.connect()
    connection.request("GET", "/health", headers=upgrade)
    assert connection.getresponse().status == 200
    connection.close()


def test_server_refuses_a_too_large_chunked_body(server: Server) -> None:
    connection = server.connect()
    parts = (b"x" * 10_000 for _ in range(10))
    connection.request("POST", "/search", parts, {"Content-Type": "application/json"}, encode_chunked=True)
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["error"]) == (413, "payload_too_large")
    connection.close()


@pytest.mark.parametrize("path", ["/", "/label", "/widget.js", "/llms-full.txt"])
def test_too_large_body_of_a_get_request_is_ignored(server: Server, path: str) -> None:
    connection = server.connect()
    connection.request("GET", path)
    expected = connection.getresponse().read()
    parts = (b"x" * 10_000 for _ in range(10))
    connection.request("GET", path, parts, encode_chunked=True)
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, expected)
    connection.close()
    assert "unexpected" not in "".join(server.output)


@pytest.mark.slow
def test_50_concurrent_clients_get_correct_answers(server: Server) -> None:
    before = searches(server)
    alone = {query: server.ask(query) for query in QUERIES}
    assert {status for status, _ in alone.values()} == {200}
    ready = threading.Barrier(CLIENTS)

    def run_client(number: int) -> None:
        connection = server.connect()
        ready.wait(20)
        for count in range(SEARCHES):
            query = QUERIES[(number + count) % len(QUERIES)]
            assert post(connection, query) == alone[query]
        connection.close()

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(run_client, range(CLIENTS)))
    assert searches(server) - before == CLIENTS * SEARCHES + len(QUERIES)


def searches(server: Server) -> float:
    """How many searches the server has answered with 200; none may have failed on its side."""
    metrics = server.get("/metrics")[1].decode()
    assert not re.search(r'status="(0|5..)"', metrics)
    match = re.search(r'route="/search",status="200"} (\S+)', metrics)
    return float(match[1]) if match else 0.0


def test_watch_follows_a_beir_corpus(start: Start, tmp_path: Path) -> None:
    corpus = tmp_path / "questions" / "corpus.jsonl"
    corpus.parent.mkdir()
    corpus.write_text('{"_id": "1", "title": "Gears", "text": "A planetary gear sits in the hip."}\n')
    server = start("--watch", f"beir:{corpus.parent}")
    assert json.loads(server.ask("planetary gear")[1])["results"][0]["source_path"] == "1"
    with corpus.open("a") as file:
        file.write('{"_id": "2", "title": "Feet", "text": "A rubber sole grips the floor."}\n')
    assert server.wait_for_entry("synced")["added"] == 1
    assert json.loads(server.ask("rubber sole")[1])["results"][0]["source_path"] == "2"


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes spans as an OpenTelemetry collector does, over HTTP."""

    received: queue.Queue[tuple[str, bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.received.put((self.path, gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_spans_reach_a_collector(start: Start, indexed: Path) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    received: queue.Queue[tuple[str, bytes]] = queue.Queue()
    handler = type("Handler", (Collector,), {"received": received})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as collector:
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{collector.server_port}/v1/traces"
        server = start(PERTINENT_OTEL_ENDPOINT=address, OTEL_BSP_SCHEDULE_DELAY="100")
        assert server.ask("revolute joint")[0] == 200
        path, body = received.get(timeout=20)
        collector.shutdown()
    exported = ExportTraceServiceRequest.FromString(body)
    (resource,) = exported.resource_spans
    names = {span.name for scope in resource.scope_spans for span in scope.spans}
    assert path == "/v1/traces"
    assert names == {"search", "received", "embedded", "searched", "filtered"}
    attributes = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
    assert attributes["service.name"] == "pertinent"


def test_search_works_while_the_collector_is_down(start: Start, indexed: Path) -> None:
    with socket.socket() as closed_port:
        closed_port.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed_port.getsockname()[1]}/v1/traces"
        server = start(PERTINENT_OTEL_ENDPOINT=nobody, OTEL_BSP_SCHEDULE_DELAY="50")
        assert [server.ask("revolute joint")[0] for _ in range(5)] == [200] * 5
