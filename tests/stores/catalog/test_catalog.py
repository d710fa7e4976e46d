"""The SQL catalog on a SQLite file and on a real PostgreSQL."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
import sqlalchemy as sa

from pertinent.errors import CatalogFailure, SettingsError
from pertinent.identity import content_hash
from pertinent.ports import Description, Fingerprint
from pertinent.search.word_counts import WordCounter
from pertinent.stores.catalog import database as module
from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.stores.catalog.migrations import MIGRATIONS
from pertinent.testing.catalog_suite import CatalogSuite, page_write
from pertinent.testing.vocabulary_suite import VocabularySuite, recount

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

# For each number n, a new process commits version 1, then dies at the n-th statement of committing version 2;
# it ends well if there is none. The processes are forked, for the imports take longer than the commits.
DIES_AT = """
import os, signal, sys
import psycopg
import sqlalchemy as sa
from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.testing.catalog_suite import page_write

def version(number):
    return [page_write(name, [f"{number} {i}" for i in range(20)], title=str(number)) for name in "abcd"]

def commit(url, last):
    catalog = SqlCatalog.open(url)
    catalog.commit("s", version(1), removed=["e"])
    catalog.begin("abcde")
    count = 0

    @sa.event.listens_for(sa.Engine, "after_cursor_execute")
    def die(*_):
        nonlocal count
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)

    catalog.commit("s", version(2) + [page_write("e", ["e"])])

for last in sys.stdin:
    if (child := os.fork()) == 0:
        sys.exit(commit(sys.argv[1], int(last)))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

# Commits one version after the other until it is killed.
NEVER_ENDS = """
import sys
from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.testing.catalog_suite import page_write

catalog = SqlCatalog.open(sys.argv[1])
for number in range(1_000_000):
    texts = [f"{number} {i}" for i in range(20)]
    catalog.commit("s", [page_write(name, texts, title=str(number)) for name in "abcd"])
    print(number, flush=True)
"""

# Four processes open the catalog at once.
OPENS = """
import os, sys
import psycopg
from pertinent.stores.catalog.catalog import SqlCatalog

children = []
for _ in range(4):
    if (child := os.fork()) == 0:
        sys.exit(SqlCatalog.open(sys.argv[1]).close())
    children.append(child)
sys.exit(any([os.waitpid(child, 0)[1] for child in children]))
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path}/catalog.sqlite3"


@pytest.fixture
def plain(url: str) -> Iterator[sa.Engine]:
    """The same database, as another program sees it."""
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    yield engine
    engine.dispose()


def run(script: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", script, *arguments], text=True, **options)


@pytest.fixture
def catalog(url: str) -> Iterator[SqlCatalog]:
    with closing(SqlCatalog.open(url)) as opened:
        yield opened


class TestSqlCatalog(CatalogSuite, VocabularySuite):
    """The suites, on SQLite and PostgreSQL."""


def test_commit_keeps_the_pending_marks_of_another_process(catalog: SqlCatalog, url: str) -> None:
    catalog.begin(["a", "b"])
    with closing(SqlCatalog.open(url)) as other:
        other.begin(["a"])
    catalog.commit("s", [page_write("a", ["one"]), page_write("b", ["one"])])
    assert catalog.pending() == ["a"]


# Says when it is the only writer, and is that until it is killed.
HOLDS = """
import sys
from pertinent.stores.catalog.catalog import SqlCatalog
with SqlCatalog.open(sys.argv[1]).write_lock(lambda: None):
    print("alone", flush=True)
    sys.stdin.read()
"""


class Waited(Exception):
    """Another process writes."""


def waited() -> None:
    raise Waited


def test_write_lock_is_exclusive_and_released_by_a_dead_process(catalog: SqlCatalog, url: str) -> None:
    with run(HOLDS, url, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "alone\n"
        with pytest.raises(Waited), catalog.write_lock(waited):
            pytest.fail("two write at once")
        catalog.commit("s", [page_write("a", ["one"])])  # the lock is advisory
        process.kill()
        process.wait()
        looks = iter(range(100))  # a server needs a moment to notice a dead process
        with catalog.write_lock(lambda: None if next(looks) < 99 else waited()):
            assert [page.document_id for page in catalog.pages()] == ["a"]


def test_waiting_writer_is_notified(url: str) -> None:
    first, second = SqlCatalog.open(url), SqlCatalog.open(url)
    turn = ExitStack()
    turn.enter_context(first.write_lock(waited))
    looks = 0

    def waiting() -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            turn.close()

    with second.write_lock(waiting), pytest.raises(Waited), first.write_lock(waited):
        pytest.fail("two write at once")
    assert looks == 3
    first.close()
    second.close()


def test_error_under_the_write_lock_is_raised_unchanged(catalog: SqlCatalog) -> None:
    with pytest.raises(FileNotFoundError), catalog.write_lock(waited):
        raise FileNotFoundError("a page")
    with catalog.write_lock(waited):
        pass


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_postgres_lock_is_held_outside_of_transactions(catalog: SqlCatalog, plain: sa.Engine) -> None:
    with catalog.write_lock(waited), plain.connect() as connection:
        states = connection.scalars(
            sa.text("SELECT state FROM pg_stat_activity WHERE query LIKE 'SELECT pg_try_advisory%'")
        ).all()
    assert states == ["idle"]


def test_commit_is_there_after_reopening(url: str) -> None:
    write = page_write("a", ["one", "two"])
    with closing(SqlCatalog.open(url)) as catalog:
        catalog.commit("s", [write])
    with closing(SqlCatalog.open(url)) as catalog:
        assert (catalog.page("a"), catalog.chunks("a")) == (write.page, write.chunks)


def test_documents_table_has_the_columns_of_the_seed(catalog: SqlCatalog, plain: sa.Engine) -> None:
    write = page_write("a", ["one", "two"])
    catalog.commit("s", [write])
    columns = {column["name"]: column for column in sa.inspect(plain).get_columns("documents")}
    assert {name: (str(column["type"]), column["nullable"]) for name, column in columns.items()} == {
        "chunk_id": ("VARCHAR(50)", plain.dialect.name == "sqlite"), "source_path": ("TEXT", False),
        "slug": ("VARCHAR(100)", False), "title": ("VARCHAR(255)", True),
        "order_index": ("INTEGER", False), "snippet": ("TEXT", False), "created_at": ("TIMESTAMP", True),
        "document_id": ("TEXT", True), "start_char": ("INTEGER", True), "end_char": ("INTEGER", True),
        "section": ("TEXT", True), "anchor": ("TEXT", True), "content_hash": ("TEXT", True),
    }  # fmt: skip
    assert columns["created_at"]["default"] in ("now()", "CURRENT_TIMESTAMP")
    assert sa.inspect(plain).get_pk_constraint("documents")["constrained_columns"] == ["chunk_id"]
    with plain.connect() as connection:
        rows = connection.execute(sa.text("SELECT order_index, snippet FROM documents ORDER BY 1")).all()
        assert [tuple(row) for row in rows] == [(1, "one"), (2, "two")]


def test_statement_of_the_seed_runs_unchanged(postgres_url: str) -> None:
    import psycopg

    catalog = SqlCatalog.open(postgres_url)
    write = page_write("a", ["one", "two"])
    catalog.commit("s", [write])
    catalog.close()
    ids = [chunk.chunk_id for chunk in write.chunks]
    with psycopg.connect(postgres_url, cursor_factory=psycopg.RawCursor) as connection:
        rows = connection.execute(
            "SELECT chunk_id, source_path, slug, title FROM documents WHERE chunk_id = ANY($1)", [ids]
        ).fetchall()
    assert sorted(rows) == sorted(
        (chunk_id, write.page.source_path, write.page.slug, write.page.title) for chunk_id in ids
    )


def watched_statements(catalog: SqlCatalog) -> list[str]:
    """Every statement from now on; SQLite is watched below SQLAlchemy, which `describe` goes past."""
    statements: list[str] = []
    engine = catalog._engine
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "checkout", lambda raw, *_: raw.set_trace_callback(statements.append))
    else:
        sa.event.listen(engine, "before_cursor_execute", lambda *event: statements.append(event[2]))
    return statements


def test_describe_is_one_statement_that_uses_the_key(catalog: SqlCatalog, url: str) -> None:
    write = page_write("a", [str(number) for number in range(20)])
    catalog.commit("s", [write])
    statements = watched_statements(catalog)
    assert len(catalog.describe([chunk.chunk_id for chunk in write.chunks])) == 20
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


def test_lookups_are_one_statement_each(catalog: SqlCatalog, url: str) -> None:
    catalog.commit("s", [page_write(f"page-{number:03}", ["one", "two"]) for number in range(100)])
    statements = watched_statements(catalog)
    lookups: list[Callable[[], object]] = [
        lambda: catalog.page_record("page-042"),
        lambda: catalog.page("page-042"),
        lambda: catalog.chunks("page-042"),
        catalog.is_empty,
        catalog.has_chunks,
        catalog.vocabulary_version,
        catalog.vocabulary,
        catalog.section_names,
    ]
    for number, lookup in enumerate(lookups, start=1):
        lookup()
        assert len(statements) == number
    with catalog._engine.connect() as connection:
        if url.startswith("sqlite"):
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statements[0]}").all()
            assert not [row for row in plan if "SCAN" in str(row)]


def test_describe_works_again_after_a_failure(catalog: SqlCatalog) -> None:
    write = page_write("a", ["one"])
    catalog.commit("s", [write])
    (chunk,) = write.chunks
    statement, catalog._describe = catalog._describe, "SELECT chunk_id FROM nowhere"
    with pytest.raises(CatalogFailure):
        catalog.describe([chunk.chunk_id])
    catalog._describe = statement
    assert list(catalog.describe([chunk.chunk_id])) == [chunk.chunk_id]


def test_table_of_another_pipeline_is_adopted_with_its_rows(url: str, plain: sa.Engine) -> None:
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
    catalog.commit("s", [page_write("a", ["one"])])
    catalog.commit("s", [], removed=["a"])
    assert catalog.pages() == []
    with plain.connect() as connection:
        seed = "SELECT chunk_id, source_path, slug, title, order_index, snippet, created_at FROM documents"
        assert connection.execute(sa.text(f"{seed} ORDER BY chunk_id")).all() == before
    catalog.close()


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE documents (id INTEGER)", "CREATE TABLE pages (id INTEGER)"]
)
def test_tables_of_another_schema_are_refused(url: str, plain: sa.Engine, statement: str) -> None:
    with plain.begin() as connection:
        connection.execute(sa.text(statement))
    with pytest.raises(CatalogFailure, match="schema of its own"):
        SqlCatalog.open(url)
    assert len(sa.inspect(plain).get_table_names()) == 1


def test_catalog_of_a_newer_version_is_refused(url: str, plain: sa.Engine) -> None:
    SqlCatalog.open(url).close()
    with plain.begin() as connection:
        connection.execute(
            sa.text("INSERT INTO pertinent_migrations VALUES (99, 'from the future', CURRENT_TIMESTAMP)")
        )
    with pytest.raises(CatalogFailure, match=r"newer version.*99.*pip install --upgrade"):
        SqlCatalog.open(url)


def test_failed_migration_is_rolled_back(url: str, plain: sa.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(connection: sa.Connection) -> None:
        connection.execute(sa.text("CREATE TABLE half (id INTEGER)"))
        connection.execute(sa.text("SELECT * FROM nowhere"))

    released = sorted(MIGRATIONS)
    monkeypatch.setitem(MIGRATIONS, released[-1] + 1, ("broken", broken))
    with pytest.raises(CatalogFailure, match="nowhere"):
        SqlCatalog.open(url)
    assert not sa.inspect(plain).has_table("half")
    with plain.connect() as connection:
        applied = connection.scalars(sa.text("SELECT number FROM pertinent_migrations ORDER BY 1")).all()
    assert applied == released


def test_migration_counts_the_words_of_the_stored_pages(url: str, plain: sa.Engine) -> None:
    old = SqlCatalog.open(url)
    old.commit("s", [page_write("a", ["red blue", "red"]), page_write("b", ["red"]), page_write("c", [])])
    expected = old.vocabulary()
    old.close()
    with plain.begin() as connection:
        connection.execute(sa.text("DROP TABLE vocabulary"))
        connection.execute(sa.text("DELETE FROM meta WHERE key = 'vocabulary_version'"))
        connection.execute(sa.text("DELETE FROM pertinent_migrations WHERE number = 3"))
    with closing(SqlCatalog.open(url)) as catalog:
        assert catalog.vocabulary() == expected == recount(catalog)
        assert catalog.vocabulary_version() == 1
        catalog.commit("s", [page_write("a", ["green"])], removed=["b"])
        assert catalog.vocabulary() == recount(catalog)
        assert min(min(counts) for counts in catalog.vocabulary().words.values()) == 0


def test_rows_of_another_pipeline_are_not_in_the_vocabulary(catalog: SqlCatalog, plain: sa.Engine) -> None:
    with plain.begin() as connection:
        connection.execute(sa.text(SEED_ROWS))
    fingerprint = Fingerprint("m", 8, "chunker", "lexical", build=2)
    catalog.activate_build(fingerprint, [("s", page_write("a", ["red"]))])
    assert "physical" not in catalog.vocabulary().words
    assert catalog.vocabulary() == recount(catalog)
    assert [name.document_id for name in catalog.section_names()] == ["a", "a"]


def test_activating_a_build_counts_the_words_of_each_chunk_once(
    catalog: SqlCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    add_passage = WordCounter.add_passage

    def record_passage(counter: WordCounter, section: str, text: str) -> None:
        texts.append(text.strip())
        add_passage(counter, section, text)

    monkeypatch.setattr(WordCounter, "add_passage", record_passage)
    fingerprint = Fingerprint("m", 8, "chunker", "lexical", build=2)
    catalog.activate_build(fingerprint, [("s", page_write("a", ["red", "green"]))])
    assert sorted(texts) == ["green", "red"]


def test_concurrent_commits_leave_the_counts_right(catalog: SqlCatalog) -> None:
    versions = [[page_write(name, [f"text {number}", name]) for name in "abcd"] for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda writes: catalog.commit("s", writes), versions * 4))
    assert catalog.vocabulary() == recount(catalog)


def test_altered_rows_give_no_negative_counts_and_a_new_build_recounts(
    catalog: SqlCatalog, plain: sa.Engine
) -> None:
    catalog.commit("s", [page_write("a", ["red"]), page_write("b", ["red"])])
    with plain.begin() as connection:
        connection.execute(sa.text("UPDATE documents SET snippet = 'nodes never counted' WHERE slug = 'a'"))
    catalog.commit("s", [page_write("a", ["red"])])
    words = catalog.vocabulary().words
    assert "never" not in words
    assert all(min(counts) >= 0 for counts in words.values())
    catalog.activate_build(Fingerprint("m", 8, "chunker", "lexical", build=2), [])
    assert catalog.vocabulary() == recount(catalog)


def test_failed_statement_rolls_back_pages_and_counts(catalog: SqlCatalog) -> None:
    catalog.commit("s", [page_write("a", ["red"])])
    before = catalog.vocabulary(), catalog.vocabulary_version()
    statement, catalog._delete_pending = catalog._delete_pending, sa.delete(sa.table("nowhere"))
    with pytest.raises(CatalogFailure, match="nowhere"):
        catalog.commit("s", [page_write("a", ["green"])])
    assert (catalog.vocabulary(), catalog.vocabulary_version()) == before
    catalog._delete_pending = statement
    catalog.commit("s", [page_write("a", ["green"])])
    assert catalog.vocabulary() == recount(catalog)


@pytest.mark.slow
def test_concurrent_processes_migrate_once(url: str, plain: sa.Engine) -> None:
    opening = run(OPENS, url, stderr=subprocess.PIPE)
    _, errors = opening.communicate(timeout=60)
    assert (opening.returncode, errors) == (0, "")
    with plain.connect() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM pertinent_migrations")) == len(MIGRATIONS)


def test_new_catalog_can_be_opened_concurrently(tmp_path: Path) -> None:
    barrier = Barrier(8)

    def open_at_once(url: str) -> None:
        barrier.wait()
        SqlCatalog.open(url).close()

    with ThreadPoolExecutor(8) as pool:
        for number in range(10):
            list(pool.map(open_at_once, [f"sqlite:///{tmp_path}/{number}.sqlite3"] * 8))


@pytest.mark.slow
def test_commit_killed_at_any_statement_is_all_or_nothing(url: str) -> None:
    with run(DIES_AT, url, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for last in range(1, 20):
            process.stdin.write(f"{last}\n")
            process.stdin.flush()
            code = int(process.stdout.readline())
            catalog = SqlCatalog.open(url)
            pages = [catalog.page(name) for name in "abcde"]
            texts = {chunk.text.split()[0] for name in "abcd" for chunk in catalog.chunks(name)}
            pending = catalog.pending()
            assert catalog.vocabulary() == recount(catalog)
            catalog.close()
            if code == 0:
                break
            assert code == -signal.SIGKILL
            assert [page and page.title for page in pages] == ["1", "1", "1", "1", None]
            assert (texts, pending) == ({"1"}, list("abcde"))
    assert last > 5
    assert [page and page.title for page in pages] == ["2", "2", "2", "2", "Nodes"]
    assert (texts, pending) == ({"2"}, [])


@pytest.mark.slow
@pytest.mark.parametrize("commits", [1, 7, 20])
def test_acknowledged_commits_survive_a_kill(url: str, commits: int) -> None:
    child = run(NEVER_ENDS, url, stdout=subprocess.PIPE)
    assert child.stdout is not None
    for _ in range(commits):
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
    def test_file_that_is_not_a_database_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "catalog.sqlite3"
        path.write_text("not a database " * 100)
        with pytest.raises(CatalogFailure, match=r"catalog\.sqlite3 failed: file is not.*pertinent index"):
            SqlCatalog.open(f"sqlite:///{path}")
        assert path.read_text().startswith("not a database")

    def test_damaged_file_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "catalog.sqlite3"
        catalog = SqlCatalog.open(f"sqlite:///{path}")
        catalog.commit("s", [page_write("a", ["text " * 5000])])
        catalog.close()
        data = bytearray(path.read_bytes())
        data[4096:] = b"\xff" * (len(data) - 4096)
        path.write_bytes(data)
        with pytest.raises(CatalogFailure, match="damaged"):
            SqlCatalog.open(f"sqlite:///{path}")

    @pytest.mark.parametrize("name", ["folder", "file/catalog.sqlite3"])
    def test_unwritable_path_is_refused(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "file").touch()
        with pytest.raises(CatalogFailure, match=f"{name} failed: .*check that its folder") as caught:
            SqlCatalog.open(f"sqlite:///{tmp_path}/{name}")
        assert caught.value.__cause__ is not None

    def test_missing_folder_is_created(self, tmp_path: Path) -> None:
        SqlCatalog.open(f"sqlite:///{tmp_path}/new/deep/catalog.sqlite3").close()
        assert (tmp_path / "new/deep/catalog.sqlite3").exists()

    def test_lock_timeout_names_a_writer(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "_WAIT_SECONDS", 0)
        catalog = SqlCatalog.open(f"sqlite:///{tmp_path}/catalog.sqlite3")
        writer = sqlite3.connect(tmp_path / "catalog.sqlite3", isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(CatalogFailure, match="another process is writing"):
            catalog.begin(["a"])
        assert catalog.pending() == []
        SqlCatalog.open(f"sqlite:///{tmp_path}/catalog.sqlite3").close()
        writer.close()
        catalog.close()

    @pytest.mark.parametrize("form", ["s3cret", "s3cret?password=s3cret"])
    def test_unreachable_server_error_hides_the_password(self, postgres_server: str, form: str) -> None:
        password, _, query = form.partition("?")
        with pytest.raises(CatalogFailure, match=r"me:\*\*\*@127.0.0.1:1/db.*DATABASE_URL") as caught:
            SqlCatalog.open(f"postgres://me:{password}@127.0.0.1:1/db?{query}")
        assert "s3cret" not in f"{caught.value}{caught.value.__cause__}"

    def test_missing_database_error_names_createdb(self, postgres_server: str) -> None:
        with pytest.raises(CatalogFailure, match=r"does not exist.*createdb"):
            SqlCatalog.open(postgres_server.replace("/postgres?", "/nowhere?"))

    def test_failed_statement_error_hides_the_values(self, url: str) -> None:
        catalog = SqlCatalog.open(url)
        with catalog._engine.begin() as connection:
            connection.execute(sa.text("DROP TABLE pending"))
        with pytest.raises(CatalogFailure, match="pending") as caught:
            catalog.begin(["private"])
        assert "private" not in f"{caught.value}{caught.value.__cause__}"
        catalog.close()

    @pytest.mark.parametrize(
        ("reason", "advice"),
        [
            ("connection failed: FATAL:  sorry, too many clients already", "raise max_connections"),
            ("connection failed: FATAL:  remaining connection slots are reserved", "raise max_connections"),
            ("cannot execute INSERT in a read-only transaction", "name the primary server"),
            ("failed to resolve host 'h': [Errno -2] Name or service not known", "check the host in"),
            ("'utf-8' codec can't decode byte 0xf8", "the file is damaged; move it away"),
        ],
    )
    def test_error_of_the_database_says_what_to_do(self, reason: str, advice: str) -> None:
        with (
            pytest.raises(CatalogFailure, match=advice),
            module.translate_errors(sa.make_url("postgresql://h/d")),
        ):
            raise ValueError(reason)

    def test_invalid_timestamp_is_empty(self, tmp_path: Path) -> None:
        catalog = SqlCatalog.open(f"sqlite:///{tmp_path}/catalog.sqlite3")
        with closing(sqlite3.connect(tmp_path / "catalog.sqlite3")) as connection, connection:
            connection.execute(SEED_ROWS)
            for position, time in ((1, "yesterday"), (2, "2025-12-14T13:00:00+01:00")):
                update = "UPDATE documents SET created_at = ? WHERE order_index = ?"
                connection.execute(update, (time, position))
        chunks = [catalog.chunk("doc-001-0001"), catalog.chunk("doc-001-0002")]
        assert [chunk and chunk.created_at for chunk in chunks] == ["", "2025-12-14T12:00:00Z"]
        catalog.close()

    def test_dropped_connections_are_reopened(self, postgres_url: str, postgres_server: str) -> None:
        import psycopg

        catalog = SqlCatalog.open(postgres_url)
        catalog.commit("s", [page_write("a", ["one"])])
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        assert len(catalog.pages()) == 1
        catalog.close()

    def test_missing_driver_names_its_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "psycopg", None)
        with pytest.raises(SettingsError, match=r"pip install 'pertinent\[postgres\]'"):
            SqlCatalog.open("postgresql://localhost/db")

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "catalog.sqlite3",
            "postgresql://u:s3cret/x@h:port/db",
            "postgresql://u:an@s3cret@h/db",
            "mysql://u:s3cret@h/db",
            "sqlite://",
        ],
    )
    def test_invalid_url_is_refused_without_the_password(self, url: str) -> None:
        with pytest.raises(SettingsError) as caught:
            SqlCatalog.open(url)
        assert "s3cret" not in str(caught.value)
        assert caught.value.__cause__ is None

    def test_repr_hides_the_password(self, postgres_url: str) -> None:
        catalog = SqlCatalog.open(postgres_url.replace("postgres:@", "postgres:s3cret@"))
        assert "postgres:***@" in repr(catalog)
        catalog.close()


def test_psycopg_is_imported_lazily() -> None:
    script = "import sys, pertinent.stores.catalog; sys.exit('psycopg' in sys.modules)"
    assert run(script).wait(timeout=60) == 0


def test_deleted_sqlite_file_is_not_created_again(tmp_path: Path) -> None:
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


def test_copy_of_the_sqlite_file_after_a_write_is_a_backup(tmp_path: Path) -> None:
    file, backup = tmp_path / "catalog.sqlite3", tmp_path / "backup.sqlite3"
    # Two, as in a service whose connections stay open.
    with (
        closing(SqlCatalog.open(f"sqlite:///{file}")) as catalog,
        closing(SqlCatalog.open(f"sqlite:///{file}")),
    ):
        with catalog.write_lock(lambda: None):
            catalog.commit("docs", [page_write("a", ["text"])])
        backup.write_bytes(file.read_bytes())
        assert not file.with_name(f"{file.name}-wal").read_bytes()
    with closing(SqlCatalog.open(f"sqlite:///{backup}")) as restored:
        assert [record.source for record in restored.pages()] == ["docs"]


def test_copy_of_the_sqlite_file_has_the_commits_of_a_killed_process(tmp_path: Path) -> None:
    file, backup = tmp_path / "catalog.sqlite3", tmp_path / "backup.sqlite3"
    with closing(SqlCatalog.open(f"sqlite:///{file}")) as catalog:
        # Without the write lock: a process that was killed has not merged its commits either.
        catalog.commit("docs", [page_write("a", ["text"])])
        SqlCatalog.open(f"sqlite:///{file}").close()
        backup.write_bytes(file.read_bytes())
    with closing(SqlCatalog.open(f"sqlite:///{backup}")) as restored:
        assert [record.source for record in restored.pages()] == ["docs"]


def test_database_of_another_pipeline_is_not_changed_when_it_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "documents.sqlite3"
    with closing(sqlite3.connect(file)) as pipeline:
        pipeline.execute("PRAGMA journal_mode = WAL")
        pipeline.executescript(f"{SEED_TABLE}; {SEED_ROWS}")
        before = file.read_bytes()
        with closing(SqlCatalog.attach(f"sqlite:///{file}")) as catalog:
            assert catalog.describe(["doc-001-0001"]).keys() == {"doc-001-0001"}
        assert file.read_bytes() == before


def test_ping_fails_where_the_join_of_a_search_fails(catalog: SqlCatalog, plain: sa.Engine) -> None:
    catalog.ping()
    with plain.begin() as connection:
        connection.exec_driver_sql("DROP TABLE documents")
    with pytest.raises(CatalogFailure, match="documents"):
        catalog.ping()
