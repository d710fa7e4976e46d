"""The SQL catalog on a SQLite file and on a real PostgreSQL."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import sqlalchemy as sa

from pertinent.errors import CatalogFailure, SettingsError
from pertinent.identity import content_hash
from pertinent.ports import Catalog, Description
from pertinent.stores.catalog import database as module
from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.stores.catalog.migrations import MIGRATIONS
from pertinent.testing.catalog_suite import CatalogSuite, written

SEED_TABLE = """
    CREATE TABLE documents (
        chunk_id      VARCHAR(50)   PRIMARY KEY,
        source_path   TEXT          NOT NULL,
        slug          VARCHAR(100)  NOT NULL,
        title         VARCHAR(255),
        order_index   INTEGER       NOT NULL,
        snippet       TEXT          NOT NULL,
        created_at    TIMESTAMP     DEFAULT CURRENT_TIMESTAMP
    )
"""
SEED_ROWS = """
    INSERT INTO documents (chunk_id, source_path, slug, title, order_index, snippet) VALUES
    ('doc-001-0001', 'docs/chapter-1/index.md', 'chapter-1-index', 'Introduction', 1, 'Physical AI …'),
    ('doc-001-0002', 'docs/chapter-1/index.md', 'chapter-1-index', NULL, 2, 'Robots …')
"""

# Commits version 1, then dies at the n-th statement of committing version 2; ends well if there is none.
DIES_AT = """
import os, signal, sys
import sqlalchemy as sa
from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.testing.catalog_suite import written

def version(number):
    return [written(name, [f"{number} {i}" for i in range(20)], title=str(number)) for name in "abcd"]

url, last = sys.argv[1], int(sys.argv[2])
catalog = SqlCatalog.open(url)
catalog.commit("s", version(1), removed=["e"])
catalog.begin("abcde")
count = 0

@sa.event.listens_for(sa.Engine, "after_cursor_execute")
def die(*_):
    global count
    count += 1
    if count == last:
        os.kill(os.getpid(), signal.SIGKILL)

catalog.commit("s", version(2) + [written("e", ["e"])])
"""

# Commits one version after the other until it is killed.
NEVER_ENDS = """
import sys
from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.testing.catalog_suite import written

catalog = SqlCatalog.open(sys.argv[1])
for number in range(1_000_000):
    catalog.commit("s", [written(n, [f"{number} {i}" for i in range(20)], title=str(number)) for n in "abcd"])
    print(number, flush=True)
"""

# Waits for the end of its input, so that several begin at once.
OPENS = """
import sys
from pertinent.stores.catalog.catalog import SqlCatalog
sys.stdin.read()
SqlCatalog.open(sys.argv[1])
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path}/catalog.sqlite3"


@pytest.fixture
def plain(url: str) -> Iterator[sa.Engine]:
    """The same database without us, as another program sees it."""
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    yield engine
    engine.dispose()


def run(script: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", script, *arguments], text=True, **options)


class TestSqlCatalog(CatalogSuite):
    @pytest.fixture
    def catalog(self, url: str) -> Iterator[Catalog]:
        catalog = SqlCatalog.open(url)
        yield catalog
        catalog.close()


# Says when it is the only writer, and is that until it is killed.
HOLDS = """
import sys
from pertinent.stores.catalog.catalog import SqlCatalog
with SqlCatalog.open(sys.argv[1]).alone(lambda: None):
    print("alone", flush=True)
    sys.stdin.read()
"""


class Waited(Exception):
    """Another process writes."""


def waited() -> None:
    raise Waited


def test_one_process_writes_at_a_time_and_one_that_dies_does_so_no_longer(url: str) -> None:
    catalog = SqlCatalog.open(url)
    with run(HOLDS, url, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "alone\n"
        with pytest.raises(Waited), catalog.alone(waited):
            pytest.fail("two write at once")
        catalog.commit("s", [written("a", ["one"])])  # nobody is kept from reading, or by force
        other.kill()
        other.wait()
        looks = iter(range(100))  # a server may take a moment to see that the other is gone
        with catalog.alone(lambda: None if next(looks) < 99 else waited()):
            assert [page.document_id for page in catalog.pages()] == ["a"]
    catalog.close()


def test_a_writer_is_told_that_it_waits_until_the_other_has_ended(url: str) -> None:
    first, second = SqlCatalog.open(url), SqlCatalog.open(url)
    turn = ExitStack()
    turn.enter_context(first.alone(waited))
    looks = 0

    def waiting() -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            turn.close()

    with second.alone(waiting), pytest.raises(Waited), first.alone(waited):
        pytest.fail("two write at once")
    assert looks == 3
    first.close()
    second.close()


def test_what_fails_while_writing_is_no_failure_of_the_catalog(url: str) -> None:
    catalog = SqlCatalog.open(url)
    with pytest.raises(FileNotFoundError), catalog.alone(waited):
        raise FileNotFoundError("a page")
    with catalog.alone(waited):
        pass
    catalog.close()


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_the_lock_of_a_server_is_outside_of_any_transaction(url: str, plain: sa.Engine) -> None:
    catalog = SqlCatalog.open(url)
    with catalog.alone(waited), plain.connect() as other:
        states = other.scalars(
            sa.text("SELECT state FROM pg_stat_activity WHERE query LIKE 'SELECT pg_try_advisory%'")
        ).all()
    assert states == ["idle"]
    catalog.close()


def test_what_was_committed_is_there_after_opening_again(url: str) -> None:
    page, page_hash, chunks = written("a", ["one", "two"])
    first = SqlCatalog.open(url)
    first.commit("s", [(page, page_hash, chunks)])
    first.close()
    second = SqlCatalog.open(url)
    assert second.page("a") == page
    assert second.chunks("a") == chunks
    second.close()


def test_the_documents_table_is_that_of_the_seed(url: str, plain: sa.Engine) -> None:
    catalog = SqlCatalog.open(url)
    page, _, chunks = written("a", ["one", "two"])
    catalog.commit("s", [(page, "", chunks)])
    columns = {column["name"]: column for column in sa.inspect(plain).get_columns("documents")}
    assert {name: (str(column["type"]), column["nullable"]) for name, column in columns.items()} == {
        "chunk_id": ("VARCHAR(50)", plain.dialect.name == "sqlite"),
        "source_path": ("TEXT", False),
        "slug": ("VARCHAR(100)", False),
        "title": ("VARCHAR(255)", True),
        "order_index": ("INTEGER", False),
        "snippet": ("TEXT", False),
        "created_at": ("TIMESTAMP", True),
        "document_id": ("TEXT", True),
        "start_char": ("INTEGER", True),
        "end_char": ("INTEGER", True),
        "section": ("TEXT", True),
        "anchor": ("TEXT", True),
        "content_hash": ("TEXT", True),
    }
    assert columns["created_at"]["default"] in ("now()", "CURRENT_TIMESTAMP")
    assert sa.inspect(plain).get_pk_constraint("documents")["constrained_columns"] == ["chunk_id"]
    with plain.connect() as connection:
        rows = connection.execute(sa.text("SELECT order_index, snippet FROM documents ORDER BY 1")).all()
        assert [tuple(row) for row in rows] == [(1, "one"), (2, "two")]
    catalog.close()


def test_the_statement_of_the_seed_runs_as_it_is_written(postgres_url: str) -> None:
    import psycopg

    catalog = SqlCatalog.open(postgres_url)
    page, _, chunks = written("a", ["one", "two"])
    catalog.commit("s", [(page, "", chunks)])
    catalog.close()
    ids = [chunk.chunk_id for chunk in chunks]
    with psycopg.connect(postgres_url, cursor_factory=psycopg.RawCursor) as connection:
        rows = connection.execute(
            "SELECT chunk_id, source_path, slug, title FROM documents WHERE chunk_id = ANY($1)", [ids]
        ).fetchall()
    assert sorted(rows) == sorted((chunk_id, page.source_path, page.slug, page.title) for chunk_id in ids)


def watched_statements(catalog: SqlCatalog) -> list[str]:
    """Every statement from now on; SQLite is watched below SQLAlchemy, which `describe` goes past."""
    statements: list[str] = []
    engine = catalog._engine
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "checkout", lambda raw, *_: raw.set_trace_callback(statements.append))
    else:
        sa.event.listen(engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    return statements


def test_describe_is_one_statement_that_uses_the_key(url: str) -> None:
    catalog = SqlCatalog.open(url)
    page, _, chunks = written("a", [str(number) for number in range(20)])
    catalog.commit("s", [(page, "", chunks)])
    statements = watched_statements(catalog)
    assert len(catalog.describe([chunk.chunk_id for chunk in chunks])) == 20
    (statement,) = statements
    if url.startswith("postgresql"):
        assert "WHERE chunk_id = ANY(" in statement
        with catalog._engine.connect() as connection:
            # Otherwise it reads a table this small from end to end.
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
            plan = connection.exec_driver_sql(f"EXPLAIN {statement}", (["a"],)).all()
        assert any("documents_pkey" in str(row) for row in plan)
    else:
        with catalog._engine.connect() as connection:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}").all()
        assert any("SEARCH documents USING INDEX" in str(row) for row in plan)
    catalog.close()


def test_describe_works_again_after_a_failure(url: str) -> None:
    catalog = SqlCatalog.open(url)
    page, _, chunks = written("a", ["one"])
    catalog.commit("s", [(page, "", chunks)])
    (chunk,) = chunks
    statement, catalog._describe = catalog._describe, "SELECT chunk_id FROM nowhere"
    with pytest.raises(CatalogFailure):
        catalog.describe([chunk.chunk_id])
    catalog._describe = statement
    assert list(catalog.describe([chunk.chunk_id])) == [chunk.chunk_id]
    catalog.close()


def test_a_table_of_another_pipeline_is_adopted_with_its_rows(url: str, plain: sa.Engine) -> None:
    with plain.begin() as connection:
        connection.execute(sa.text(SEED_TABLE))
        connection.execute(sa.text(SEED_ROWS))
        before = connection.execute(sa.text("SELECT * FROM documents ORDER BY chunk_id")).all()
    catalog = SqlCatalog.open(url)
    path, slug = "docs/chapter-1/index.md", "chapter-1-index"
    assert catalog.describe(["doc-001-0001", "doc-001-0002", "doc-001-0003"]) == {
        "doc-001-0001": Description(path, slug, "Introduction"),
        "doc-001-0002": Description(path, slug, None),
    }
    chunk = catalog.chunk("doc-001-0001")
    assert chunk is not None
    assert (chunk.position, chunk.text, chunk.end) == (0, "Physical AI …", 13)
    assert (chunk.content_hash, chunk.document_id) == (content_hash("Physical AI …"), "")
    assert chunk.created_at is not None
    assert chunk.created_at.endswith("Z")
    catalog.commit("s", [written("a", ["one"])])
    catalog.commit("s", [], removed=["a"])
    assert catalog.pages() == []
    with plain.connect() as connection:
        seed = "SELECT chunk_id, source_path, slug, title, order_index, snippet, created_at FROM documents"
        assert connection.execute(sa.text(f"{seed} ORDER BY chunk_id")).all() == before
    catalog.close()


@pytest.mark.parametrize("made", ["CREATE TABLE documents (id INTEGER)", "CREATE TABLE pages (id INTEGER)"])
def test_tables_of_another_kind_are_left_alone(url: str, plain: sa.Engine, made: str) -> None:
    with plain.begin() as connection:
        connection.execute(sa.text(made))
    with pytest.raises(CatalogFailure, match="schema of its own"):
        SqlCatalog.open(url)
    assert len(sa.inspect(plain).get_table_names()) == 1


def test_a_catalog_of_a_newer_version_is_refused(url: str, plain: sa.Engine) -> None:
    SqlCatalog.open(url).close()
    with plain.begin() as connection:
        connection.execute(
            sa.text("INSERT INTO pertinent_migrations VALUES (99, 'from the future', CURRENT_TIMESTAMP)")
        )
    with pytest.raises(CatalogFailure, match=r"newer version.*99.*pip install --upgrade"):
        SqlCatalog.open(url)


def test_a_migration_that_fails_leaves_nothing(
    url: str, plain: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(connection: sa.Connection) -> None:
        connection.execute(sa.text("CREATE TABLE half (id INTEGER)"))
        connection.execute(sa.text("SELECT * FROM nowhere"))

    monkeypatch.setitem(MIGRATIONS, 2, ("broken", broken))
    with pytest.raises(CatalogFailure, match="nowhere"):
        SqlCatalog.open(url)
    assert not sa.inspect(plain).has_table("half")
    with plain.connect() as connection:
        assert connection.scalars(sa.text("SELECT number FROM pertinent_migrations")).all() == [1]


def test_processes_that_start_at_once_migrate_once(url: str, plain: sa.Engine) -> None:
    children = [run(OPENS, url, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    for child in children:
        assert child.stdin is not None
        child.stdin.close()
        child.stdin = None
    for child in children:
        _, errors = child.communicate(timeout=60)
        assert (child.returncode, errors) == (0, "")
    with plain.connect() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM pertinent_migrations")) == len(MIGRATIONS)


def test_a_new_catalog_may_be_opened_by_many_at_once(tmp_path: Path) -> None:
    barrier = Barrier(8)

    def open_at_once(url: str) -> None:
        barrier.wait()
        SqlCatalog.open(url).close()

    with ThreadPoolExecutor(8) as pool:
        for number in range(10):
            list(pool.map(open_at_once, [f"sqlite:///{tmp_path}/{number}.sqlite3"] * 8))


@pytest.mark.slow
def test_killed_at_any_statement_a_commit_is_all_or_nothing(url: str) -> None:
    for last in range(1, 20):
        child = run(DIES_AT, url, str(last))
        code = child.wait(timeout=60)
        catalog = SqlCatalog.open(url)
        pages = [catalog.page(name) for name in "abcde"]
        texts = {chunk.text.split()[0] for name in "abcd" for chunk in catalog.chunks(name)}
        pending = catalog.pending()
        catalog.close()
        if code == 0:
            break
        assert code == -signal.SIGKILL
        assert [page and page.title for page in pages] == ["1", "1", "1", "1", None]
        assert (texts, pending) == ({"1"}, list("abcde"))
    assert last > 5
    assert [page and page.title for page in pages] == ["2", "2", "2", "2", "Nodes"]
    assert (texts, pending) == ({"2"}, [])


@pytest.mark.parametrize("after", [1, 7, 20])
def test_killed_at_any_moment_nothing_acknowledged_is_lost(url: str, after: int) -> None:
    child = run(NEVER_ENDS, url, stdout=subprocess.PIPE)
    assert child.stdout is not None
    for _ in range(after):
        acknowledged = child.stdout.readline()
    child.kill()
    child.wait(timeout=60)
    acknowledged = (child.stdout.readlines() or [acknowledged])[-1]
    child.stdout.close()
    catalog = SqlCatalog.open(url)
    titles = {record.title for record in catalog.pages()}
    texts = {chunk.text.split()[0] for name in "abcd" for chunk in catalog.chunks(name)}
    catalog.close()
    assert len(titles) == 1
    assert titles == texts
    assert int(titles.pop()) >= int(acknowledged)


class TestFailures:
    def test_a_file_that_is_no_database(self, tmp_path: Path) -> None:
        path = tmp_path / "catalog.sqlite3"
        path.write_text("not a database " * 100)
        with pytest.raises(CatalogFailure, match=r"catalog\.sqlite3 failed: file is not.*pertinent index"):
            SqlCatalog.open(f"sqlite:///{path}")
        assert path.read_text().startswith("not a database")

    def test_a_damaged_file(self, tmp_path: Path) -> None:
        path = tmp_path / "catalog.sqlite3"
        catalog = SqlCatalog.open(f"sqlite:///{path}")
        catalog.commit("s", [written("a", ["text " * 5000])])
        catalog.close()
        data = bytearray(path.read_bytes())
        data[4096:] = b"\xff" * (len(data) - 4096)
        path.write_bytes(data)
        with pytest.raises(CatalogFailure, match="damaged"):
            SqlCatalog.open(f"sqlite:///{path}")

    @pytest.mark.parametrize("name", ["folder", "file/catalog.sqlite3"])
    def test_a_place_that_cannot_be_written(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "file").touch()
        with pytest.raises(CatalogFailure, match=f"{name} failed: .*check that its folder") as caught:
            SqlCatalog.open(f"sqlite:///{tmp_path}/{name}")
        assert caught.value.__cause__ is not None

    def test_a_folder_that_is_missing_is_made(self, tmp_path: Path) -> None:
        SqlCatalog.open(f"sqlite:///{tmp_path}/new/deep/catalog.sqlite3").close()
        assert (tmp_path / "new/deep/catalog.sqlite3").exists()

    def test_a_writer_that_takes_too_long(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "_WAIT_SECONDS", 0)
        catalog = SqlCatalog.open(f"sqlite:///{tmp_path}/catalog.sqlite3")
        other = sqlite3.connect(tmp_path / "catalog.sqlite3", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CatalogFailure, match="another process is writing"):
            catalog.begin(["a"])
        assert catalog.pending() == []
        SqlCatalog.open(f"sqlite:///{tmp_path}/catalog.sqlite3").close()
        other.close()
        catalog.close()

    @pytest.mark.parametrize("form", ["s3cret", "s3cret?password=s3cret"])
    def test_a_server_that_does_not_answer_and_a_password_that_stays_secret(
        self, postgres_server: str, form: str
    ) -> None:
        password, _, query = form.partition("?")
        with pytest.raises(CatalogFailure, match=r"me:\*\*\*@127.0.0.1:1/db.*DATABASE_URL") as caught:
            SqlCatalog.open(f"postgres://me:{password}@127.0.0.1:1/db?{query}")
        assert "s3cret" not in f"{caught.value}{caught.value.__cause__}"

    def test_a_database_that_does_not_exist(self, postgres_server: str) -> None:
        with pytest.raises(CatalogFailure, match=r"does not exist.*createdb"):
            SqlCatalog.open(postgres_server.replace("/postgres?", "/nowhere?"))

    def test_a_failed_statement_shows_no_values(self, url: str) -> None:
        catalog = SqlCatalog.open(url)
        with catalog._engine.begin() as connection:
            connection.execute(sa.text("DROP TABLE pending"))
        with pytest.raises(CatalogFailure, match="pending") as caught:
            catalog.begin(["private"])
        assert "private" not in f"{caught.value}{caught.value.__cause__}"
        catalog.close()

    def test_a_time_that_is_none(self, tmp_path: Path) -> None:
        catalog = SqlCatalog.open(f"sqlite:///{tmp_path}/catalog.sqlite3")
        with sqlite3.connect(tmp_path / "catalog.sqlite3") as other:
            other.execute(SEED_ROWS)
            other.execute("UPDATE documents SET created_at = 'yesterday' WHERE order_index = 1")
            other.execute(
                "UPDATE documents SET created_at = '2025-12-14T13:00:00+01:00' WHERE order_index = 2"
            )
        other.close()
        with pytest.raises(CatalogFailure, match="yesterday"):
            catalog.chunk("doc-001-0001")
        chunk = catalog.chunk("doc-001-0002")
        assert chunk is not None
        assert chunk.created_at == "2025-12-14T12:00:00Z"
        catalog.close()

    def test_a_server_that_dropped_its_connections(self, postgres_url: str, postgres_server: str) -> None:
        import psycopg

        catalog = SqlCatalog.open(postgres_url)
        catalog.commit("s", [written("a", ["one"])])
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        assert len(catalog.pages()) == 1
        catalog.close()

    def test_a_missing_driver_names_its_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "psycopg", None)
        with pytest.raises(SettingsError, match=r"pip install 'pertinent\[postgres\]'"):
            SqlCatalog.open("postgresql://localhost/db")

    @pytest.mark.parametrize(
        "url",
        ["", "catalog.sqlite3", "postgresql://u:s3cret/x@h:port/db", "mysql://u:s3cret@h/db", "sqlite://"],
    )
    def test_an_address_that_cannot_be_used(self, url: str) -> None:
        with pytest.raises(SettingsError) as caught:
            SqlCatalog.open(url)
        assert "s3cret" not in str(caught.value)
        assert caught.value.__cause__ is None

    def test_the_password_is_not_shown(self, postgres_url: str) -> None:
        catalog = SqlCatalog.open(postgres_url.replace("postgres:@", "postgres:s3cret@"))
        assert "postgres:***@" in repr(catalog)
        catalog.close()


def test_the_driver_of_postgresql_is_loaded_only_when_asked_for() -> None:
    script = "import sys, pertinent.stores.catalog; sys.exit('psycopg' in sys.modules)"
    assert run(script).wait(timeout=60) == 0


def test_a_deleted_sqlite_file_is_neither_written_nor_created_again(tmp_path: Path) -> None:
    file = tmp_path / "catalog.sqlite3"
    catalog = SqlCatalog.open(f"sqlite:///{file}")
    catalog.register("docs", "docs/")
    file.rename(tmp_path / "moved")
    for use in (catalog.ping, catalog.pages, lambda: catalog.register("other", "other/")):
        with pytest.raises(CatalogFailure, match="its file is gone; put it back"):
            use()
    assert not file.exists()
    (tmp_path / "moved").rename(file)
    catalog.ping()
    assert catalog.sources() == {"docs": "docs/"}
    catalog.close()


def test_ping_fails_where_the_join_of_a_search_fails(url: str, plain: sa.Engine) -> None:
    catalog = SqlCatalog.open(url)
    catalog.ping()
    with plain.begin() as connection:
        connection.exec_driver_sql("DROP TABLE documents")
    with pytest.raises(CatalogFailure, match="documents"):
        catalog.ping()
    catalog.close()
