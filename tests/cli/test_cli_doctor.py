"""`pertinent doctor`: it finds each kind of damage, and names the command that repairs it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
import qdrant_edge as qdrant

from pertinent.identity import content_hash, digest, point_id
from pertinent.indexing.chunking import embedded_text
from pertinent.ports import Entry
from pertinent.settings import Settings
from pertinent.testing.embedder import HashedWords
from pertinent.types import Chunk
from pertinent.workspace.workspace import Workspace

from .conftest import PAGES, Run

pytestmark = pytest.mark.slow  # every test makes and damages an index

Damage = Callable[[Path], None]


@contextmanager
def opened(folder: Path) -> Iterator[Workspace]:
    workspace = Workspace(Settings(folder=folder, embedder="testing:hashed-words"))
    yield workspace
    workspace.close()


def a_chunk(workspace: Workspace) -> Chunk:
    (page,) = [page for page in workspace.catalog().pages() if page.source_path == "docs/joints.md"]
    return workspace.catalog().chunks(page.document_id)[0]


def entry(chunk: Chunk, key: str | None = None) -> Entry:
    text = embedded_text(chunk)
    return Entry(chunk, "robots", text, key or digest("testing:hashed-words", text, length=16))


def describe(folder: Path, key: str | None = None, **fields: str) -> None:
    """Change the payload of a point."""
    with opened(folder) as workspace:
        workspace.writable_index().describe([entry(replace(a_chunk(workspace), **fields), key)])  # type: ignore[arg-type]


def lose_a_point(folder: Path) -> None:
    with opened(folder) as workspace:
        gone = a_chunk(workspace)
        chunks = workspace.catalog().chunks(gone.document_id)
        keep = [point_id(chunk.chunk_id) for chunk in chunks if chunk != gone]
        workspace.writable_index().delete_stale_points(gone.document_id, keep=keep)


def add_a_stray_point(folder: Path) -> None:
    with opened(folder) as workspace:
        stray = replace(a_chunk(workspace), chunk_id="nowhere-1", document_id="nowhere")
        vector = workspace.embedder().embed_queries(["stray"])[0]
        workspace.writable_index().put([entry(stray)], [vector])


def add_an_emptied_point(folder: Path, **payload: str) -> None:
    """Leave a point as a killed run does that has emptied it and not deleted it."""
    with opened(folder) as workspace:
        emptied = qdrant.Point(uuid4(), {}, payload or {"document_id": a_chunk(workspace).document_id})
        workspace.index()._update(qdrant.UpdateOperation.upsert_points([emptied]))  # type: ignore[attr-defined]


def sql(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "catalog.sqlite3")) as database, database:
        database.execute(statement)


LOSE_A_ROW = "DELETE FROM documents WHERE source_path = 'docs/joints.md' AND order_index = 1"
ALTER_A_SNIPPET = "UPDATE documents SET snippet = 'Something else.' WHERE source_path = 'docs/intro.md'"
ALTER_A_PAGE = "UPDATE pages SET text = 'Something else.' WHERE source_path = 'docs/intro.md'"
ALTER_A_POSITION = "UPDATE documents SET order_index = 9 WHERE source_path = 'docs/intro.md'"
APPEND_TO_A_PAGE = "UPDATE pages SET text = text || ' More.' WHERE source_path = 'docs/intro.md'"
ALTER_A_TITLE = "UPDATE documents SET title = 'Another' WHERE source_path = 'docs/intro.md'"
LOSE_WORDS = "DELETE FROM vocabulary WHERE word LIKE 'j%'"
MISSPELL_WORDS = "UPDATE vocabulary SET word = 'x' || word"
BREAK_SECTIONS = "UPDATE pages SET sections = replace(sections, '[', '{') WHERE source_path = 'docs/intro.md'"
BREAK_FRONT_MATTER = "UPDATE pages SET front_matter = '{' WHERE source_path = 'docs/intro.md'"
BREAK_A_TYPE = "UPDATE documents SET order_index = 'x' WHERE source_path = 'docs/intro.md'"
BREAK_A_TEXT = "UPDATE documents SET snippet = x'00FF' WHERE source_path = 'docs/intro.md'"
BREAK_UTF_8 = (
    "UPDATE pages SET text = CAST(CAST(text AS BLOB) || x'C3' AS TEXT) WHERE source_path = 'docs/intro.md'"
)
BREAK_UTF_8_OF_A_TITLE = (
    "UPDATE documents SET title = CAST(CAST(title AS BLOB) || x'C3' AS TEXT) "
    "WHERE source_path = 'docs/intro.md'"
)
UNREADABLE = "1 page can't be read from the catalog"
SWAP = partial(describe, text="Other.", content_hash=content_hash("Other."))
DRIFT = "described differently by index and catalog"
DAMAGES: dict[str, tuple[Damage, str, str]] = {
    "payload": (partial(describe, text="Other."), "hashes", "altered in the index"),
    "url": (partial(describe, url="https://evil.example/"), "drift", f"{DRIFT} (url)"),
    "text and hash": (SWAP, "drift", f"{DRIFT} (content_hash)"),
    "embedded text": (
        partial(describe, key="0" * 16),
        "vectors",
        "made from another text or model",
    ),
    "lost point": (lose_a_point, "drift", "in the catalog but not in the index"),
    "stray point": (add_a_stray_point, "drift", "in the index but not in the catalog"),
    "emptied point": (add_an_emptied_point, "payloads", "text is missing"),
    "emptied point of no page": (
        partial(add_an_emptied_point, document_id="nowhere"),
        "payloads",
        "text is missing",
    ),
    "lost row": (partial(sql, statement=LOSE_A_ROW), "drift", "in the index but not in the catalog"),
    "snippet": (partial(sql, statement=ALTER_A_SNIPPET), "hashes", "altered in the catalog"),
    "page": (partial(sql, statement=ALTER_A_PAGE), "slices", "another text than the page"),
    "end of a page": (partial(sql, statement=APPEND_TO_A_PAGE), "hashes", "the page does not match its hash"),
    "title": (partial(sql, statement=ALTER_A_TITLE), "drift", "another title than the page has"),
    "lost words": (partial(sql, statement=LOSE_WORDS), "words", "the vocabulary has wrong counts of"),
    "misspelt words": (partial(sql, statement=MISSPELL_WORDS), "words", "the vocabulary has wrong counts of"),
    "position": (partial(sql, statement=ALTER_A_POSITION), "positions", "not numbered 0, 1, 2"),
    "sections": (partial(sql, statement=BREAK_SECTIONS), "pages", UNREADABLE),
    "front matter": (partial(sql, statement=BREAK_FRONT_MATTER), "pages", UNREADABLE),
    "type": (partial(sql, statement=BREAK_A_TYPE), "pages", UNREADABLE),
    "type of a text": (partial(sql, statement=BREAK_A_TEXT), "pages", UNREADABLE),
    "UTF-8": (partial(sql, statement=BREAK_UTF_8), "hashes", "the page does not match its hash"),
    "UTF-8 of a title": (partial(sql, statement=BREAK_UTF_8_OF_A_TITLE), "drift", "another title"),
}


def findings(output: str) -> dict[str, list[dict[str, Any]]]:
    return {check["name"]: check["findings"] for check in json.loads(output)["checks"] if check["findings"]}


def test_doctor_has_no_findings_for_an_intact_index(run: Run, indexed: Path) -> None:
    result = run("doctor", exits=0)
    assert "✗" not in result.stdout
    assert result.stdout.count("✓") == 19
    assert "No problems found." in result.stdout
    report = json.loads(run("doctor", "--json").stdout)
    assert report["sound"] is True
    assert all(check["seconds"] >= 0 for check in report["checks"])


@pytest.mark.parametrize(("damage", "check", "message"), DAMAGES.values(), ids=DAMAGES)
def test_doctor_finds_and_repairs_each_kind_of_damage(
    run: Run, indexed: Path, docs: Path, damage: Damage, check: str, message: str
) -> None:
    damage(indexed)
    result = run("doctor", "--json", exits=1)
    by_check = findings(result.stdout)
    assert any(message in finding["problem"] for finding in by_check[check]), by_check
    assert all("pertinent doctor --repair" in finding["run"] for finding in by_check[check])

    assert run("doctor", "--repair").exit_code == 0
    run("index", docs, "--base-url", "https://robots.example/docs", "--name", "robots", exits=0)
    assert run("doctor").exit_code == 0


def test_doctor_finds_a_page_that_is_indexed_twice(run: Run, indexed: Path, docs: Path) -> None:
    columns = "url, title, source, source_path, slug, source_type, page_hash, updated_at, sections, text"
    sql(
        indexed,
        f"INSERT INTO pages (document_id, {columns}, front_matter) "  # noqa: S608 - constants
        f"SELECT 'old-' || document_id, {columns}, front_matter FROM pages "
        "WHERE source_path = 'docs/intro.md'",
    )
    (finding,) = findings(run("doctor", "--json", exits=1).stdout)["pages"]
    assert finding["problem"].startswith("1 page is indexed more than once: https://robots.example/docs")
    run("index", docs, "--base-url", "https://robots.example/docs", "--name", "robots", exits=0)
    assert "pages" not in findings(run("doctor", "--json").stdout)


def test_reindex_names_a_damaged_page_and_what_to_run(run: Run, indexed: Path) -> None:
    with opened(indexed) as workspace:
        (page,) = [page for page in workspace.catalog().pages() if page.source_path == "docs/intro.md"]
    sql(indexed, BREAK_SECTIONS)
    result = run("reindex")
    assert result.exit_code == 3
    assert f"page {page.document_id} in the catalog is damaged" in result.stderr
    assert "`pertinent doctor --repair`" in result.stderr


def damage_payloads(folder: Path) -> list[str]:
    """Give two points a field of the wrong type, as any client of Qdrant can; their ids."""
    with opened(folder) as workspace:
        chunks = workspace.catalog().chunks(a_chunk(workspace).document_id)[:2]
        shard = vars(workspace.index())["_shard"]
        for chunk, fields in zip(chunks, ({"position": "x"}, {"url": "not a url"}), strict=True):
            shard.update(qdrant.UpdateOperation.set_payload([point_id(chunk.chunk_id)], fields))
        return [chunk.chunk_id for chunk in chunks]


@pytest.mark.parametrize("remedy", ["reindex", "repair"])
def test_rule_29_doctor_repairs_damaged_points(run: Run, indexed: Path, docs: Path, remedy: str) -> None:
    first, second = (f"chunk {chunk_id}" for chunk_id in damage_payloads(indexed))
    result = run("doctor", "--json", exits=1)
    by_check = findings(result.stdout)
    assert list(by_check) == ["payloads"], "what can't be read is not missing as well"
    problems = [finding["problem"] for finding in by_check["payloads"]]
    assert any(first in line and "position is 'x', not a whole number" in line for line in problems)
    assert any(second in line and "url is 'not a url', not an address" in line for line in problems)
    assert all("pertinent doctor --repair" in finding["run"] for finding in by_check["payloads"])

    if remedy == "reindex":
        assert run("reindex").exit_code == 0
    else:
        assert run("doctor", "--repair").exit_code == 0
        run("index", docs, "--base-url", "https://robots.example/docs", "--name", "robots", exits=0)
    assert run("doctor").exit_code == 0


def test_doctor_names_reindex_for_a_point_of_unknown_page(run: Run, indexed: Path) -> None:
    add_an_emptied_point(indexed, title="Joints")
    (finding,) = findings(run("doctor", "--json", "--repair", exits=1).stdout)["payloads"]
    assert finding["run"].startswith("`pertinent reindex`")
    run("reindex", exits=0)
    run("doctor", exits=0)


def flip_vector_bytes(folder: Path, byte: int) -> str:
    """Invert a byte of a chunk's vector wherever the files of the index hold it; return the chunk's id."""
    with opened(folder) as workspace:
        chunk = a_chunk(workspace)
        point = point_id(chunk.chunk_id)
        vector = workspace.index().vectors([point])[point]
    element = int(abs(vector).argmax())
    copies = 0
    for file in (path for path in folder.rglob("*") if path.is_file()):
        content = bytearray(file.read_bytes())
        start = content.find(vector.tobytes())
        while start >= 0:
            content[start + 4 * element + byte] ^= 0xFF
            copies += 1
            file.write_bytes(content)
            start = content.find(vector.tobytes())
    assert copies
    return chunk.chunk_id


@pytest.mark.parametrize("byte", [0, 3], ids=["lowest", "highest"])
def test_doctor_finds_flipped_bytes_of_a_vector_and_reindex_repairs_them(
    run: Run, indexed: Path, docs: Path, byte: int
) -> None:
    chunk_id = flip_vector_bytes(indexed, byte)
    (finding,) = findings(run("doctor", "--json", exits=1).stdout)["vectors"]
    assert "1 chunk with a damaged vector" in finding["problem"]
    assert chunk_id in finding["problem"]
    assert finding["run"].startswith("`pertinent reindex`")
    # A sync does not embed an unchanged text again, so no page is marked for it.
    run("doctor", "--repair", exits=1)
    run("index", docs, "--base-url", "https://robots.example/docs", "--name", "robots", exits=0)
    assert "vectors" in findings(run("doctor", "--json", exits=1).stdout)
    run("reindex", exits=0)
    run("doctor", exits=0)


def test_doctor_finds_a_model_that_was_replaced_and_reindex_repairs_it(
    run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model has the same name and dimension, and gives other vectors."""
    embed = HashedWords._embed
    monkeypatch.setattr(HashedWords, "_embed", lambda self, text: np.roll(embed(self, text), 1))
    (finding,) = findings(run("doctor", "--json", exits=1).stdout)["embeddings"]
    assert "sampled with a vector of another text or model" in finding["problem"]
    assert finding["run"].startswith("`pertinent reindex`")
    run("reindex", exits=0)
    run("doctor", exits=0)


def change_words(workspace: Workspace, chunk: Chunk) -> None:
    vectors = qdrant.PointVectors(point_id(chunk.chunk_id), {"lexical": qdrant.SparseVector([7], [1.0])})
    workspace.index()._update(qdrant.UpdateOperation.update_vectors([vectors]))  # type: ignore[attr-defined]


def delete_vector(workspace: Workspace, chunk: Chunk, name: str) -> None:
    operation = qdrant.UpdateOperation.delete_vectors([point_id(chunk.chunk_id)], [name])
    workspace.index()._update(operation)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("damage", "checks", "message"),
    [
        (change_words, ["words"], "1 chunk with the words of another text, or none"),
        (
            partial(delete_vector, name="lexical"),
            ["words"],
            "1 chunk with the words of another text, or none",
        ),
        (partial(delete_vector, name="dense"), ["vectors", "embeddings"], "1 chunk without a vector"),
    ],
)
def test_doctor_finds_missing_vectors_and_words_and_reindex_repairs_them(
    run: Run, indexed: Path, damage: Callable[[Workspace, Chunk], None], checks: list[str], message: str
) -> None:
    with opened(indexed) as workspace:
        chunk = a_chunk(workspace)
        damage(workspace, chunk)
        workspace.writable_index().flush()
    by_check = findings(run("doctor", "--json", exits=1).stdout)
    assert list(by_check) == checks
    assert message in by_check[checks[0]][0]["problem"]
    assert chunk.chunk_id in by_check[checks[0]][0]["problem"]
    run("reindex", exits=0)
    run("doctor", exits=0)


def test_doctor_finds_lost_files_of_words(run: Run, indexed: Path) -> None:
    import shutil

    for folder in indexed.glob("index/*/segments/*/vector_storage-lexical"):
        shutil.rmtree(folder)
    assert list(findings(run("doctor", "--json", exits=1).stdout)) == ["words"]


@pytest.mark.parametrize(
    ("field", "name"),
    [("document", "document_id"), ("headings", "section"), ("url_pare", "url"), ("source_t", "source_type")],
)
def test_doctor_finds_a_damaged_index_of_a_filter_and_reindex_repairs_it(
    run: Run, indexed: Path, field: str, name: str
) -> None:
    run("doctor", exits=0)  # now the log of writes is merged, which would repair the damage
    (file,) = indexed.glob(f"index/001/segments/*/payload_index/*-{field}-map/tracker.dat")
    file.write_bytes(bytes(file.stat().st_size))
    (finding,) = findings(run("doctor", "--json", exits=1).stdout)["filters"]
    assert finding["problem"] == f"filters by {name} miss chunks that the index has"
    assert "pertinent reindex" in finding["run"]
    run("reindex", exits=0)
    run("doctor", exits=0)


def test_doctor_accepts_vectors_without_a_checksum(run: Run, indexed: Path) -> None:
    with opened(indexed) as workspace:
        point = point_id(a_chunk(workspace).chunk_id)
        without = qdrant.UpdateOperation.delete_payload([point], ["vector_checksum"])
        workspace.index()._update(without)  # type: ignore[attr-defined]
        assert workspace.writable_index().vector_checksums([point]) == {}
    run("doctor", exits=0)


def test_doctor_prints_the_command_that_fixes_a_finding(run: Run, indexed: Path) -> None:
    sql(indexed, ALTER_A_SNIPPET)
    result = run("doctor")
    output = " ".join(result.stdout.split())
    assert "✗ hashes" in output
    assert "→ `pertinent doctor --repair`, then `pertinent index SOURCE`" in output
    assert "Traceback" not in result.output


def test_doctor_without_repair_changes_nothing(run: Run, indexed: Path) -> None:
    sql(indexed, LOSE_A_ROW)
    first = findings(run("doctor", "--json").stdout)
    assert findings(run("doctor", "--json").stdout) == first
    with opened(indexed) as workspace:
        assert workspace.writable_catalog().pending() == []


def test_doctor_finds_an_interrupted_change(run: Run, indexed: Path) -> None:
    with opened(indexed) as workspace:
        workspace.writable_catalog().begin([workspace.catalog().pages()[0].document_id])
    result = run("doctor", "--json", exits=1)
    (finding,) = findings(result.stdout)["unfinished changes"]
    assert "1 page waits" in finding["problem"]
    assert "pertinent index" in finding["run"]


def test_doctor_finds_another_fingerprint(run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERTINENT_CHUNK_TOKENS", "90")
    result = run("doctor", "--json", exits=1)
    assert "pertinent reindex" in findings(result.stdout)["fingerprint"][0]["run"]


def test_doctor_reports_invalid_settings(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERTINENT_CHUNK_TOKENS", "many")
    result = run("doctor", "--json", exits=1)
    assert "chunk_tokens" in findings(result.stdout)["settings"][0]["problem"]


def test_doctor_reports_a_missing_index_and_creates_no_file(run: Run) -> None:
    result = run("doctor", exits=1)
    assert "pertinent index" in result.stdout
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("value", ["not JSON", "[]", '{"future": 1}'])
def test_unreadable_fingerprint_is_reported(run: Run, indexed: Path, value: str) -> None:
    sql(indexed, f"UPDATE meta SET value = '{value}' WHERE key = 'fingerprint'")  # noqa: S608 - a constant
    for command in (["doctor"], ["search", "joints"], ["list"]):
        result = run(*command, exits=3)
        assert "or a newer version of Pertinent wrote it" in " ".join(result.output.split())


def test_doctor_exits_with_3_if_the_catalog_is_unreadable(run: Run, indexed: Path) -> None:
    (indexed / "catalog.sqlite3").write_bytes(b"not a database" * 100)
    result = run("doctor", exits=3)
    assert "✗ catalog" in result.stdout


def test_doctor_finds_a_flipped_bit_that_no_search_notices(run: Run, indexed: Path) -> None:
    """Each chunk id is in the table and in SQLite's index of it; this bit is in one of them alone."""
    with closing(sqlite3.connect(indexed / "catalog.sqlite3")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (chunk_id,) = connection.execute("SELECT chunk_id FROM documents").fetchone()
    content = bytearray((indexed / "catalog.sqlite3").read_bytes())
    content[content.find(chunk_id.encode()) + 3] ^= 1
    (indexed / "catalog.sqlite3").write_bytes(content)
    (finding,) = findings(run("doctor", "--json", exits=3).stdout)["catalog"]
    assert "malformed" in finding["problem"]
    assert "move it away and run `pertinent index`" in finding["problem"]


def test_doctor_names_reindex_if_the_index_is_lost(run: Run, indexed: Path) -> None:
    import shutil

    shutil.rmtree(indexed / "index")
    result = run("doctor", "--json", exits=3)
    assert "pertinent reindex" in findings(result.stdout)["index"][0]["run"]


def test_doctor_counts_the_pages_of_the_catalog(run: Run, indexed: Path) -> None:
    seen = {check["name"]: check["seen"] for check in json.loads(run("doctor", "--json").stdout)["checks"]}
    assert seen["catalog"] == f"answers; {len(PAGES)} pages"


def test_doctor_says_what_to_do_if_the_qdrant_server_is_down(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("QDRANT_URL", "http://127.0.0.1:9")
    result = run("doctor", "--folder", str(tmp_path / "data"), "--json")
    assert result.exit_code == 3
    (finding,) = [finding for check in json.loads(result.stdout)["checks"] for finding in check["findings"]]
    assert "can't be reached" in finding["problem"]
    assert finding["run"] == "start the Qdrant server or correct its address, then run this again"


def test_doctor_skips_vectors_of_uncataloged_pages(run: Run, indexed: Path, docs: Path) -> None:
    """What was embedded includes the front matter, which only the catalog has."""
    (docs / "wrist.md").write_text("---\ndescription: All about turning.\n---\n# Wrist\n\nIt bends.\n")
    run("index", docs, "--base-url", "https://robots.example/docs")
    sql(indexed, "DELETE FROM pages WHERE source_path = 'docs/wrist.md'")
    sql(indexed, "DELETE FROM documents WHERE source_path = 'docs/wrist.md'")
    checks = findings(run("doctor", "--json", exits=1).stdout)
    assert "drift" in checks
    assert "vectors" not in checks
