"""Commands in the folder of a running service ask it: real processes, also killed ones."""

from __future__ import annotations

import errno
import fcntl
import http.client
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from pertinent import Pertinent
from pertinent.errors import PertinentError
from pertinent.settings import Settings
from pertinent.surfaces import running_service
from pertinent.surfaces.running_service import (
    RunningService,
    find_service,
    local_url,
    make_token,
    publish_address,
)
from pertinent.workspace.workspace import Workspace

from ..conftest import FAST
from ..http.test_server import Server
from .conftest import Run, write_pages
from .test_cli_installed import HOLD

pytestmark = pytest.mark.slow  # every test starts processes

Serve = Callable[..., Server]

VARYING = {"query_time_ms", "timestamp", "stages_ms"}


@dataclass(frozen=True)
class Folders:
    """Where the site is, and the folders in which commands find a copy of its index."""

    docs: Path
    alone: Path
    """Its index is not open."""
    served: Path
    """Its index is open in a service."""
    killed: Path
    """The service over its index was killed."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    root = tmp_path_factory.mktemp("folders")
    docs = write_pages(root / "docs")
    folders = Folders(docs, root / "alone", root / "served", root / "killed")
    with Pertinent.open(folders.alone / ".pertinent", embedder=FAST) as pertinent:
        pertinent.index(docs, base_url="https://robots.example/docs", name="robots")
    shutil.copytree(folders.alone, folders.served)
    shutil.copytree(folders.alone, folders.killed)
    return folders


def serve_folder(folder: Path) -> Server:
    return Server("--folder", str(folder / ".pertinent"), "--embedder", FAST)


@pytest.fixture(scope="module")
def shared_server(folders: Folders) -> Iterator[Server]:
    running = serve_folder(folders.served)
    yield running
    running.end()


@pytest.fixture
def server(shared_server: Server, folders: Folders, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A service for all tests that do not end it; commands run in its folder."""
    monkeypatch.chdir(folders.served)
    return shared_server


@pytest.fixture(scope="module")
def killed_server(folders: Folders) -> Server:
    running = serve_folder(folders.killed)
    running.end(signal.SIGKILL)
    return running


@pytest.fixture
def killed(killed_server: Server, folders: Folders, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A service that was killed; commands run in its folder, which no test changes."""
    monkeypatch.chdir(folders.killed)
    return killed_server


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start `pertinent serve` in the present folder, and stop it at the end."""
    with ExitStack() as running:

        def start(*arguments: str, **environment: str) -> Server:
            server = Server(*arguments, **environment)
            running.callback(server.end)
            return server

        yield start


ADDRESS = Path(".pertinent/service.json")
"""The file that the service leaves in the present folder."""


def read_token() -> str:
    return str(json.loads(ADDRESS.read_text(encoding="utf-8"))["token"])


def notice(server: Server) -> str:
    return f"pertinent: asking the service at http://127.0.0.1:{server.port}, which has the index open\n"


def drop_times(response: Any) -> Any:
    response["metadata"] = {
        name: value for name, value in response["metadata"].items() if name not in VARYING
    } | {"stages": list(response["metadata"]["stages_ms"])}
    return response


def hold_index() -> subprocess.Popen[bytes]:
    """Another process that is no service and has the index open."""
    process = subprocess.Popen([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def ask(server: Server, path: str, token: str | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
    response = connection.getresponse()
    body = json.loads(response.read())
    connection.close()
    return response.status, body


def test_commands_print_the_same_with_and_without_a_service(
    run: Run, server: Server, folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders.alone)
    chunk_id = json.loads(run("search", "joint limits", "--json").stdout)["results"][0]["chunk_id"]
    commands: list[list[str]] = [
        ["search", "joint limits"],
        ["search", "jont limts", "--full", "-k", "2"],
        ["search", "joint limits", "--threshold", "1"],
        ["show", chunk_id, "--around", "1"],
        ["show", chunk_id, "--json"],
        ["list"],
        ["list", "--json"],
        ["suggest", "lim"],
        ["suggest", "lim", "--json"],
    ]
    expected = [run(*command, exits=0) for command in commands]
    monkeypatch.chdir(folders.served)
    for command, local in zip(commands, expected, strict=True):
        result = run(*command, exits=0)
        assert result.stdout == local.stdout, command
        assert result.stderr == notice(server) + local.stderr


def test_list_asks_the_service_once(run: Run, server: Server) -> None:
    def count_requests() -> float:
        _, metrics = server.get("/metrics")
        count = re.search(rb'^pertinent_requests_total{.*route="/api/v1/documents".*} (.*)$', metrics, re.M)
        return float(count[1]) if count else 0

    before = count_requests()
    run("list", exits=0)
    assert count_requests() - before == 1


@pytest.mark.usefixtures("server")
def test_search_beside_a_service_opens_no_store(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also not for the language, by whose word stems the lines to show are chosen."""
    expected = run("search", "joint limits", exits=0).stdout
    monkeypatch.setattr(Workspace, "catalog", lambda _workspace: pytest.fail("the catalog was opened"))
    assert run("search", "joint limits", exits=0).stdout == expected


def test_search_prints_the_same_json(
    run: Run, server: Server, folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["search", "jont limits", "--json"]
    commands = [
        [*command, *options]
        for options in ([], ["--no-metadata"], ["--explain"], ["--ranking", "lexical", "--exact"])
    ]
    monkeypatch.chdir(folders.alone)
    expected = [drop_times(json.loads(run(*command, exits=0).stdout)) for command in commands]
    monkeypatch.chdir(folders.served)
    for command, local in zip(commands, expected, strict=True):
        result = run(*command, exits=0)
        response = drop_times(json.loads(result.stdout))
        assert result.stderr == notice(server)
        for explained in (local, response):
            if "explain" in explained:
                explained["explain"] = {**explained["explain"], "opening_ms": 0, "stages_ms": 0}
        assert response == local, command


@pytest.mark.usefixtures("server")
def test_ranking_of_the_settings_applies(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERTINENT_RANKING", "lexical")
    assert json.loads(run("search", "joint", "--json").stdout)["metadata"]["ranking"] == "lexical"


def test_validate_runs_on_the_service(
    run: Run, server: Server, folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    golden = {
        "name": "robots",
        "criteria": {"queries_reaching": 0, "mrr": 0.5},
        "queries": [
            {"id": "limits", "text": "joint limits", "labels": [{"page": "joints.md", "anchor": "limits"}]}
        ],
    }
    golden_file = tmp_path / "golden.json"
    golden_file.write_text(json.dumps(golden), encoding="utf-8")
    monkeypatch.chdir(folders.alone)
    local = run("validate", golden_file, "--json")
    monkeypatch.chdir(folders.served)
    result = run("validate", golden_file, "--json")
    assert result.exit_code == local.exit_code
    assert notice(server) in result.stderr
    report, expected = json.loads(result.stdout), json.loads(local.stdout)
    assert report["summary"] == expected["summary"]
    assert report["test_cases"][0]["actual_results"] == expected["test_cases"][0]["actual_results"]
    assert report["fingerprints"]["subject"] == f"http://127.0.0.1:{server.port}"


def test_validate_uses_the_ranking_of_the_settings(
    run: Run, server: Server, folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    golden = {
        "name": "robots",
        "criteria": {"queries_reaching": 0, "mrr": 0.5},
        "queries": [{"text": "joint limits", "labels": [{"page": "joints.md", "anchor": "limits"}]}],
    }
    golden_file = tmp_path / "golden.json"
    golden_file.write_text(json.dumps(golden), encoding="utf-8")
    monkeypatch.setenv("PERTINENT_RANKING", "lexical")
    monkeypatch.chdir(folders.alone)
    expected = json.loads(run("validate", golden_file, "--json").stdout)
    monkeypatch.chdir(folders.served)
    result = run("validate", golden_file, "--json")
    assert notice(server) in result.stderr
    report = json.loads(result.stdout)
    assert report["fingerprints"]["ranking"] == expected["fingerprints"]["ranking"] == "lexical"
    assert report["test_cases"][0]["actual_results"] == expected["test_cases"][0]["actual_results"]


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("command", ["search", "validate"])
def test_other_reranker_than_that_of_the_service_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    golden_file = tmp_path / "golden.json"
    query = {"text": "joint limits", "labels": [{"page": "joints.md", "anchor": "limits"}]}
    golden_file.write_text(json.dumps({"name": "robots", "queries": [query]}), encoding="utf-8")
    monkeypatch.setenv("PERTINENT_RERANKER", "http:http://127.0.0.1:1/rerank")
    monkeypatch.setenv("PERTINENT_RERANK_DEPTH", "7")
    result = run(command, "joint" if command == "search" else golden_file, exits=2)
    assert (
        "has the reranker none, and the settings have http:http://127.0.0.1:1/rerank depth=7" in result.stderr
    )
    assert "restart the service" in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["list"],
        ["show", "{chunk}"],
        ["suggest", "joint"],
        ["export", "llms.txt", "{folder}"],
        ["search", "joint", "--no-rerank"],
    ],
    ids=lambda command: command[0],
)
def test_commands_that_do_not_rerank_ask_a_service_with_another_reranker(
    run: Run,
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
) -> None:
    chunk_id = json.loads(run("search", "joint limits", "--json").stdout)["results"][0]["chunk_id"]
    monkeypatch.setenv("PERTINENT_RERANKER", "http:http://127.0.0.1:1/rerank")
    arguments = [argument.format(chunk=chunk_id, folder=tmp_path / "site") for argument in command]
    assert notice(server) in run(*arguments, exits=0).stderr


def test_index_says_what_to_do(run: Run, server: Server, folders: Folders) -> None:
    for command in (["index", str(folders.docs)], ["remove", "robots"], ["reindex"]):
        result = run(*command, exits=3)
        assert result.stderr.count("\n") == 1
        assert f"the service at http://127.0.0.1:{server.port} has the index open" in result.stderr
        assert "pertinent serve --watch SOURCE" in result.stderr


def test_reindex_with_other_settings_names_the_service(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERTINENT_LANGUAGE", "german")
    assert f"the service at http://127.0.0.1:{server.port} has" in run("reindex", exits=3).stderr


def test_doctor_says_the_same_as_index(run: Run, server: Server, folders: Folders) -> None:
    message = run("index", folders.docs, exits=3).stderr.removeprefix("pertinent: ").strip()
    assert f"the service at http://127.0.0.1:{server.port} has the index open" in message
    checks = json.loads(run("doctor", "--json", exits=3).stdout)["checks"]
    assert [check["findings"][0]["problem"] for check in checks if check["findings"]] == [message]


@pytest.mark.usefixtures("indexed")
def test_index_names_the_source_that_the_service_watches(run: Run, serve: Serve, docs: Path) -> None:
    serve("--watch", str(docs), "--base-url", "https://robots.example/docs")
    assert f"It indexes {docs}" in run("index", docs, exits=3).stderr


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.usefixtures("indexed")
def test_file_is_private_and_removed_at_the_end(serve: Serve, how: signal.Signals) -> None:
    server = serve()
    assert stat.S_IMODE(ADDRESS.stat().st_mode) == 0o600
    assert [path.name for path in ADDRESS.parent.glob("service.json*")] == ["service.json"]
    server.end(how)
    assert not ADDRESS.exists()


class TestStaleFile:
    """A service that was killed leaves its file; it is ignored."""

    @pytest.mark.usefixtures("killed")
    def test_folder_of_a_killed_service_is_opened_again(self, run: Run) -> None:
        assert ADDRESS.exists()
        result = run("search", "joint limits", "--json", exits=0)
        assert json.loads(result.stdout)["results"]
        assert result.stderr == ""

    @pytest.mark.usefixtures("killed")
    def test_lock_of_another_process_has_the_ordinary_message(self, run: Run) -> None:
        with hold_index() as process:
            result = run("search", "joint", exits=3)
            assert "another process" in result.stderr
            assert result.stderr.count("\n") == 1
            process.kill()

    def test_service_of_another_folder_at_the_same_port_is_not_asked(
        self, run: Run, serve: Serve, killed: Server, tmp_path: Path
    ) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "cooking.md").write_text("# Cooking\n\nThe joint of a lamb.\n", encoding="utf-8")
        folder = ["--folder", str(tmp_path / "other")]
        run("index", elsewhere, *folder, exits=0)
        serve("--port", str(killed.port), *folder)
        result = run("search", "joint", "--json", exits=0)
        assert {hit["title"] for hit in json.loads(result.stdout)["results"]} == {
            "Joints", "Launch files", "Nodes", "Welcome",
        }  # fmt: skip
        assert result.stderr == ""

    def test_program_that_has_taken_the_port_learns_nothing(self, run: Run, killed: Server) -> None:
        with socket.create_server(("127.0.0.1", killed.port)) as listener:
            listener.settimeout(0.1)
            result = run("search", "joint", exits=0)
            with pytest.raises(TimeoutError):
                listener.accept()
        assert "Joints" in result.stdout
        assert result.stderr == ""

    @pytest.mark.usefixtures("killed")
    def test_new_service_replaces_the_file_and_makes_a_new_token(
        self, run: Run, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = shutil.copytree(Path.cwd(), tmp_path / "copy")
        monkeypatch.chdir(folder)
        token = read_token()
        server = serve()
        assert read_token() != token
        assert run("suggest", "lim", exits=0).stderr == notice(server)
        server.end()
        assert not ADDRESS.exists()


@pytest.mark.usefixtures("server")
def test_file_that_others_can_read_is_not_trusted(run: Run) -> None:
    try:
        for mode in (0o644, 0o640, 0o604, 0o660):
            ADDRESS.chmod(mode)
            result = run("search", "joint", exits=3)
            ignored = result.stderr.splitlines()[0]
            assert ignored.startswith("pertinent: ignored ")
            assert "chmod 600" in ignored
            assert "another process" in result.stderr
    finally:
        ADDRESS.chmod(0o600)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"url": 1}', "\0"])
@pytest.mark.usefixtures("indexed")
def test_damaged_file_is_ignored_with_a_message(run: Run, text: str) -> None:
    ADDRESS.write_text(text, encoding="utf-8")
    ADDRESS.chmod(0o600)
    result = run("search", "joint", exits=0)
    assert "can't be read" in result.stderr
    assert "Joints" in result.stdout


class TestToken:
    """The token has the rights of an API key, for those who can read the folder."""

    @pytest.mark.usefixtures("indexed")
    def test_commands_need_no_key_and_the_token_is_neither_logged_nor_printed(
        self, run: Run, serve: Serve
    ) -> None:
        guarded = serve(PERTINENT_API_KEYS="a-long-key-of-the-operator", PERTINENT_RATE_LIMIT="1")
        for _ in range(3):
            assert run("search", "joint", exits=0).stderr == notice(guarded)
            assert run("list", exits=0).stderr == notice(guarded)
        token = read_token()
        result = run("search", "joint", "--explain", exits=0)
        run("show", "nope", exits=2)
        assert ask(guarded, "/api/v1/suggest?q=", f"{token}x")[0] == 401
        guarded.end()
        assert guarded.output
        assert not [text for text in (*guarded.output, result.output) if token in text]

    def test_token_of_another_folder_is_refused_even_without_keys(self, server: Server) -> None:
        assert ask(server, "/api/v1/suggest?q=")[0] == 200
        assert ask(server, "/api/v1/suggest?q=", read_token())[0] == 200
        assert ask(server, "/api/v1/suggest?q=", make_token())[0] == 401

    def test_only_the_token_shows_where_sources_are(self, server: Server, folders: Folders) -> None:
        _, anonymous = ask(server, "/api/v1/documents")
        _, local = ask(server, "/api/v1/documents", read_token())
        assert anonymous["sources"] == [{"name": "robots", "location": None}]
        assert local["sources"] == [{"name": "robots", "location": str(folders.docs)}]


@pytest.mark.usefixtures("server")
def test_other_settings_than_those_of_the_index_are_an_error_as_without_a_service(
    run: Run, folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run("search", "joint", "--embedder", "local:all-MiniLM-L6-v2", exits=2)
    monkeypatch.chdir(folders.alone)
    expected = run("search", "joint", "--embedder", "local:all-MiniLM-L6-v2", exits=2)
    assert result.stderr == expected.stderr


@pytest.mark.usefixtures("indexed")
def test_service_on_every_interface_is_asked_at_loopback(run: Run, serve: Serve) -> None:
    server = serve("--host", "0.0.0.0")  # noqa: S104 - what is tested
    assert run("suggest", "lim", exits=0).stderr == notice(server)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),  # noqa: S104 - what is tested
        ("::", "http://[::1]:80"),
        ("::1", "http://[::1]:80"),
        ("192.168.1.5", "http://192.168.1.5:80"),
    ],
)
def test_address_is_one_that_this_machine_reaches(host: str, url: str) -> None:
    assert local_url(host, 80) == url


SERVICE = RunningService("http://127.0.0.1:1", "a-token", "testing:hashed-words", "english")


def test_folder_that_can_not_be_written_is_a_warning(tmp_path: Path) -> None:
    warnings: list[str] = []
    with publish_address(tmp_path / "missing", SERVICE, warnings.append):
        pass
    assert len(warnings) == 1
    assert "can't write" in warnings[0]
    assert "a-token" not in repr(SERVICE)


def test_file_of_a_newer_service_is_not_removed(tmp_path: Path) -> None:
    newer = RunningService("http://127.0.0.1:2", "another-token", "testing:hashed-words", "english")
    with publish_address(tmp_path, newer, pytest.fail):
        with publish_address(tmp_path, SERVICE, pytest.fail):
            (tmp_path / "service.json").write_text(json.dumps(asdict(newer)), encoding="utf-8")
        assert (tmp_path / "service.json").exists()
    assert list(tmp_path.glob("service.json*")) == []


def test_damaged_file_does_not_stop_the_end_of_a_service(tmp_path: Path) -> None:
    with publish_address(tmp_path, SERVICE, pytest.fail):
        (tmp_path / "service.json").write_text("{", encoding="utf-8")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_file_of_another_user_is_not_trusted(tmp_path: Path) -> None:
    warnings: list[str] = []
    with publish_address(tmp_path, SERVICE, pytest.fail):
        os.chown(tmp_path / "service.json", 12345, 12345)
        settings = Settings(folder=tmp_path, embedder="testing:hashed-words")
        assert find_service(settings, warnings.append) is None
    assert "another user" in warnings[0]


@pytest.fixture
def find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], RunningService | None]:
    """Look for the service of the folder; any service at the address of its file answers."""
    monkeypatch.setattr(running_service, "_answers", lambda _service: True)
    settings = Settings(folder=tmp_path, embedder="testing:hashed-words")
    return lambda: find_service(settings, pytest.fail)


def write_stale_file(folder: Path) -> Path:
    with publish_address(folder, SERVICE, pytest.fail):
        content = (folder / "service.json").read_text(encoding="utf-8")
    path = folder / "service.json"
    path.touch(mode=0o600)
    path.write_text(content, encoding="utf-8")
    return path


def test_service_is_found_although_a_command_read_the_file_before_it(
    tmp_path: Path, find: Callable[[], RunningService | None]
) -> None:
    with write_stale_file(tmp_path).open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        with publish_address(tmp_path, SERVICE, pytest.fail):
            assert find() == SERVICE


def test_two_commands_at_once_ignore_the_file_of_a_killed_service(
    tmp_path: Path, find: Callable[[], RunningService | None]
) -> None:
    with write_stale_file(tmp_path).open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        assert find() is None


def test_service_is_found_on_a_file_system_without_locks(
    tmp_path: Path, find: Callable[[], RunningService | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_lock(*_arguments: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse_lock)
    with publish_address(tmp_path, SERVICE, pytest.fail):
        assert find() == SERVICE


def test_index_on_a_server_is_opened_by_every_process(tmp_path: Path) -> None:
    (tmp_path / "service.json").write_text("{", encoding="utf-8")
    settings = Settings(folder=tmp_path, qdrant_url="http://127.0.0.1:1")
    assert find_service(settings, pytest.fail) is None


def test_token_is_not_in_an_error_of_the_client(tmp_path: Path) -> None:
    from pertinent.surfaces.running_service import connect

    with connect(SERVICE, Settings()) as client, pytest.raises(PertinentError) as error:
        client.suggest("x")
    assert SERVICE.token not in f"{error.value} {client!r}"
