"""`pertinent doctor`: it finds each kind of damage, says what to run, and that mends it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import qdrant_edge as qdrant

from pertinent.identity import content_hash, digest, point_id
from pertinent.indexing.chunking import embedded_text
from pertinent.ports import Entry
from pertinent.settings import Settings
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


def alter_the_payload(folder: Path) -> None:
    with opened(folder) as workspace:
        workspace.index().describe([entry(replace(a_chunk(workspace), text="Something else."))])


def alter_the_address(folder: Path) -> None:
    with opened(folder) as workspace:
        workspace.index().describe([entry(replace(a_chunk(workspace), url="https://evil.example/"))])


def swap_the_text_and_its_hash(folder: Path) -> None:
    with opened(folder) as workspace:
        chunk = replace(a_chunk(workspace), text="Other.", content_hash=content_hash("Other."))
        workspace.index().describe([entry(chunk)])


def change_what_was_embedded(folder: Path) -> None:
    with opened(folder) as workspace:
        workspace.index().describe([entry(a_chunk(workspace), key="0" * 16)])


def lose_a_point(folder: Path) -> None:
    with opened(folder) as workspace:
        gone = a_chunk(workspace)
        kept = [one for one in workspace.catalog().chunks(gone.document_id) if one != gone]
        workspace.index().keep_only(gone.document_id, [point_id(one.chunk_id) for one in kept])


def add_a_stray_point(folder: Path) -> None:
    with opened(folder) as workspace:
        stray = replace(a_chunk(workspace), chunk_id="nowhere-1", document_id="nowhere")
        vector = workspace.embedder().embed_queries(["stray"])[0]
        workspace.index().put([entry(stray)], [vector])


def sql(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "catalog.sqlite3")) as database, database:
        database.execute(statement)


def lose_a_row(folder: Path) -> None:
    sql(folder, "DELETE FROM documents WHERE source_path = 'docs/joints.md' AND order_index = 1")


def alter_a_snippet(folder: Path) -> None:
    sql(folder, "UPDATE documents SET snippet = 'Something else.' WHERE source_path = 'docs/intro.md'")


def alter_a_page(folder: Path) -> None:
    sql(folder, "UPDATE pages SET text = 'Something else.' WHERE source_path = 'docs/intro.md'")


def alter_a_position(folder: Path) -> None:
    sql(folder, "UPDATE documents SET order_index = 9 WHERE source_path = 'docs/intro.md'")


DAMAGES: list[tuple[Damage, str, str]] = [
    (alter_the_payload, "hashes", "altered in the index"),
    (alter_the_address, "drift", "described differently by index and catalog (url)"),
    (swap_the_text_and_its_hash, "drift", "described differently by index and catalog (content_hash)"),
    (change_what_was_embedded, "vectors", "not made from it"),
    (lose_a_point, "drift", "in the catalog but not in the index"),
    (add_a_stray_point, "drift", "in the index but not in the catalog"),
    (lose_a_row, "drift", "in the index but not in the catalog"),
    (alter_a_snippet, "hashes", "altered in the catalog"),
    (alter_a_page, "slices", "not the slice"),
    (alter_a_position, "positions", "not numbered 0, 1, 2"),
]


def findings(shown: str) -> dict[str, list[dict[str, Any]]]:
    return {check["name"]: check["findings"] for check in json.loads(shown)["checks"] if check["findings"]}


def test_a_sound_index_has_no_findings(run: Run, indexed: Path) -> None:
    result = run("doctor")
    assert result.exit_code == 0
    assert "✗" not in result.stdout
    assert result.stdout.count("✓") == 13
    assert "All is sound." in result.stdout
    report = json.loads(run("doctor", "--json").stdout)
    assert report["sound"] is True
    assert all(check["seconds"] >= 0 for check in report["checks"])


@pytest.mark.parametrize(
    ("damage", "check", "said"), DAMAGES, ids=[damage.__name__ for damage, *_ in DAMAGES]
)
def test_each_damage_is_found_and_what_to_run_mends_it(
    run: Run, indexed: Path, docs: Path, damage: Damage, check: str, said: str
) -> None:
    damage(indexed)
    result = run("doctor", "--json")
    assert result.exit_code == 1
    found = findings(result.stdout)
    assert any(said in one["problem"] for one in found[check]), found
    assert all("pertinent doctor --repair" in one["run"] for one in found[check])

    assert run("doctor", "--repair").exit_code == 0
    again = run("index", docs, "--base-url", "https://robots.example/docs", "--name", "robots")
    assert again.exit_code == 0
    assert run("doctor").exit_code == 0


def damage_payloads(folder: Path) -> list[str]:
    """Give two points a field of the wrong type, as any client of Qdrant can; their ids."""
    with opened(folder) as workspace:
        chunks = workspace.catalog().chunks(a_chunk(workspace).document_id)[:2]
        shard = vars(workspace.index())["_shard"]
        for chunk, fields in zip(chunks, ({"position": "x"}, {"url": "not a url"}), strict=True):
            shard.update(qdrant.UpdateOperation.set_payload([point_id(chunk.chunk_id)], fields))
        return [chunk.chunk_id for chunk in chunks]


@pytest.mark.parametrize("mend", ["reindex", "repair"])
def test_rule_29_each_damaged_point_is_named_and_mended(
    run: Run, indexed: Path, docs: Path, mend: str
) -> None:
    first, second = damage_payloads(indexed)
    result = run("doctor", "--json")
    assert result.exit_code == 1
    found = findings(result.stdout)
    assert list(found) == ["payloads"], "what can't be read is not missing as well"
    problems = [finding["problem"] for finding in found["payloads"]]
    assert any(f"chunk {first}" in one and "position is 'x', not a whole number" in one for one in problems)
    assert any(f"chunk {second}" in one and "url is 'not a url', not an address" in one for one in problems)
    assert all("pertinent reindex" in finding["run"] for finding in found["payloads"])

    if mend == "reindex":
        assert run("reindex").exit_code == 0
    else:
        assert run("doctor", "--repair").exit_code == 0
        assert (
            run("index", docs, "--base-url", "https://robots.example/docs", "--name", "robots").exit_code == 0
        )
    assert run("doctor").exit_code == 0


def test_findings_are_told_with_what_to_run(run: Run, indexed: Path) -> None:
    alter_a_snippet(indexed)
    result = run("doctor")
    said = " ".join(result.stdout.split())
    assert "✗ hashes" in said
    assert "→ `pertinent doctor --repair`, then `pertinent index SOURCE`" in said
    assert "Traceback" not in result.output


def test_doctor_alone_changes_nothing(run: Run, indexed: Path) -> None:
    lose_a_row(indexed)
    first = findings(run("doctor", "--json").stdout)
    assert findings(run("doctor", "--json").stdout) == first
    with opened(indexed) as workspace:
        assert workspace.catalog().pending() == []


def test_a_change_that_was_broken_off_is_found(run: Run, indexed: Path) -> None:
    with opened(indexed) as workspace:
        workspace.catalog().begin([workspace.catalog().pages()[0].document_id])
    result = run("doctor", "--json")
    assert result.exit_code == 1
    (one,) = findings(result.stdout)["unfinished changes"]
    assert "1 page waits" in one["problem"]
    assert "pertinent index" in one["run"]


def test_other_settings_than_the_indexs_are_found(
    run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERTINENT_CHUNK_TOKENS", "90")
    result = run("doctor", "--json")
    assert result.exit_code == 1
    assert "pertinent reindex" in findings(result.stdout)["fingerprint"][0]["run"]


def test_settings_that_can_not_be_read_are_a_finding(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERTINENT_CHUNK_TOKENS", "many")
    result = run("doctor", "--json")
    assert result.exit_code == 1
    assert "chunk_tokens" in findings(result.stdout)["settings"][0]["problem"]


def test_nothing_indexed_is_a_finding_and_makes_no_file(run: Run) -> None:
    result = run("doctor")
    assert result.exit_code == 1
    assert "pertinent index" in result.stdout
    assert list(Path.cwd().iterdir()) == []


def test_a_catalog_that_can_not_be_opened_exits_with_3(run: Run, indexed: Path) -> None:
    (indexed / "catalog.sqlite3").write_bytes(b"not a database" * 100)
    result = run("doctor")
    assert result.exit_code == 3
    assert "✗ catalog" in result.stdout


def test_an_index_that_was_lost_exits_with_3_and_names_reindex(run: Run, indexed: Path) -> None:
    import shutil

    shutil.rmtree(indexed / "index")
    result = run("doctor", "--json")
    assert result.exit_code == 3
    assert "pertinent reindex" in findings(result.stdout)["index"][0]["run"]


def test_the_pages_of_the_fixture_are_all_there(run: Run, indexed: Path) -> None:
    seen = {check["name"]: check["seen"] for check in json.loads(run("doctor", "--json").stdout)["checks"]}
    assert seen["catalog"] == f"answers; {len(PAGES)} pages"
