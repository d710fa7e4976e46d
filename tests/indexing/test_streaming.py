"""A sync holds numbers in memory, and pages on disk: the plan says the same, whatever the size."""

from __future__ import annotations

import gc
import hashlib
import json
import sys
import tempfile
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import astuple, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pertinent import identity
from pertinent._internal.free_memory import release_free_memory
from pertinent._internal.progress import NoProgress
from pertinent.errors import IndexFailure
from pertinent.indexing import page_hash, spool, sync
from pertinent.indexing import planner as planning
from pertinent.indexing.chunking import chunk_page, embedded_text
from pertinent.indexing.page_hash import hash_page
from pertinent.indexing.plan import PageChange
from pertinent.indexing.spool import PageSpool, PlannedChunk
from pertinent.indexing.sync import Indexer
from pertinent.settings import Settings
from pertinent.sources import front_matter
from pertinent.sources.markdown import MarkdownSource, large_files
from pertinent.stores.catalog import page_writes
from pertinent.testing.pages import InMemorySource, page
from pertinent.types import FrontMatter, Page
from pertinent.workspace.workspace import Workspace

pytestmark = pytest.mark.slow

_word = st.sampled_from(["red", "green", "blue", "joint", "node"])
_text = st.lists(_word, min_size=1, max_size=6).map(" ".join)
_book = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d"]),
    st.dictionaries(st.sampled_from(["", "Axes", "Limits"]), _text, max_size=3),
    max_size=4,
)


def count_change(indexer: Indexer, document: Page) -> tuple[int, int, int, int]:
    """Return chunks, chunks to embed, changed and removed, from the page and the stores alone."""
    embedder = indexer.embedder()
    chunks = chunk_page(
        document, embedder.count_tokens, target=indexer.chunk_tokens, most=embedder.max_tokens
    )
    ids = {chunk.chunk_id for chunk in chunks}
    indexed = {chunk.chunk_id for chunk in indexer.catalog.chunks(document.document_id)}
    keys = indexer.index.embedding_keys([identity.point_id(chunk_id) for chunk_id in ids])
    to_embed = {
        chunk.chunk_id
        for chunk in chunks
        if keys.get(identity.point_id(chunk.chunk_id))
        != identity.embedding_key(embedder.name, embedded_text(chunk))
    }
    return len(ids), len(to_embed), len(indexed & to_embed), len(indexed - ids)


def read_numbers(change: PageChange) -> tuple[int, int, int, int]:
    return change.chunks, change.chunks_to_embed, change.chunks_changed, change.chunks_removed


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "PLAN_BATCH", 2)


@settings(max_examples=15, deadline=None)
@given(books=st.lists(_book, min_size=1, max_size=3), title=st.sampled_from(["Old", "New"]))
@pytest.mark.usefixtures("small_batches")
def test_plan_equals_a_comparison_of_each_page_with_the_stores(
    tmp_path_factory: pytest.TempPathFactory, books: list[dict[str, dict[str, str]]], title: str
) -> None:
    folder = tmp_path_factory.mktemp("index")
    workspace = Workspace(
        Settings(folder=folder, embedder="testing:hashed-words", chunk_tokens=20, query_cache=0)
    )
    try:
        indexer = workspace.create_indexer(NoProgress())
        for number, book in enumerate(books):
            pages = [
                page(name, sections, title=title if number else "Old") for name, sections in book.items()
            ]
            stored = {record.document_id: record for record in indexer.catalog.pages()}
            changed = [
                document
                for document in pages
                if document.document_id not in stored
                or stored[document.document_id].page_hash != hash_page(document)
            ]
            expected = {document.document_id: count_change(indexer, document) for document in changed}
            source = InMemorySource(*pages, name="book")
            dry, plan = indexer.plan(source, dry_run=True), indexer.plan(source)
            for planned in (dry, plan):
                assert {change.document_id: read_numbers(change) for change in planned.changes} == expected
                assert planned.pages_unchanged == len(pages) - len(changed)
                unchanged = {document.document_id for document in pages} - expected.keys()
                assert planned.chunks_unchanged == sum(stored[name].chunks for name in unchanged)
                removed = stored.keys() - {document.document_id for document in pages}
                assert {record.document_id for record in planned.removed} == removed
            summary = indexer.apply(plan, allow_shrink=True)
            assert summary.chunks_added + summary.chunks_changed == plan.chunks_to_embed
    finally:
        workspace.close()


def test_dry_run_spools_nothing_and_cannot_be_applied(workspace: Workspace) -> None:
    indexer = workspace.create_indexer(NoProgress())
    plan = indexer.plan(InMemorySource(page("a", {"": "A text."})), dry_run=True)
    assert plan.spool is None
    with pytest.raises(ValueError, match="dry run"):
        indexer.apply(plan)
    assert indexer.index.count() == 0


def test_spool_gives_pages_and_chunks_back_in_any_order(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    spool = PageSpool(folder)
    documents = [page(name, {"": f"The text of {name}."}) for name in ("a", "b", "c")]
    batches = {}
    positions = {}
    for document in documents:
        chunks = chunk_page(document, lambda texts: [len(text) for text in texts], target=50, most=80)
        batches[document.document_id] = [
            (PlannedChunk(chunk, document.front_matter, "key", to_embed=True),) for chunk in chunks
        ]
        positions[document.document_id] = spool.write(document, batches[document.document_id])
    assert list(folder.iterdir()) == []
    for document in reversed(documents):
        position = positions[document.document_id]
        chunks_of_page = spool.read_chunks(position)
        assert spool.read_page(position) == document
        assert list(chunks_of_page) == batches[document.document_id]
    spool.close()


def test_full_disk_is_a_clear_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`/dev/full` is a disk without space; a page is written to it when the buffer is flushed."""
    full = Path("/dev/full").open("r+b")  # noqa: SIM115 - `close` of the spool closes it
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: full)
    spool = PageSpool(tmp_path)
    match = f"changed pages .* No space left on device; free space in {tmp_path}"
    with pytest.raises(IndexFailure, match=match):
        spool.write(page("a", {"": "A text."}), [])
    with suppress(OSError):  # the buffer can't be written
        spool.close()


class EndlessBook(InMemorySource):
    """Makes each page when it is read, as a folder does."""

    def __init__(self, pages: int) -> None:
        super().__init__(name="book")
        self.count = pages

    @property
    def total(self) -> int:
        return self.count

    def read(self) -> Iterator[Page]:
        for number in range(self.count):
            yield page(f"page-{number}", {f"Part {part}": f"{number} {part} " * 60 for part in range(10)})


def test_plan_holds_no_text(workspace: Workspace) -> None:
    """A page of this book has 6 KB of text, and in the plan it takes less than 1 KB."""
    indexer = workspace.create_indexer(NoProgress())
    indexer.plan(EndlessBook(20))
    gc.collect()
    tracemalloc.start()
    plan = indexer.plan(EndlessBook(200))
    identity.point_id.cache_clear()
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(plan.changes) == 200
    assert size / 200 < 1000


@given(
    st.text(max_size=30),
    st.lists(st.text(max_size=10), max_size=3),
    st.integers(min_value=1, max_value=5),
)
def test_page_hash_is_that_of_the_json_of_all_fields(text: str, keywords: list[str], part: int) -> None:
    about = FrontMatter(keywords=tuple(keywords))
    document = replace(page("a", {"": text, "Axes": "Two."}), front_matter=about)
    fields = [getattr(document, name) for name in Page.__slots__[:-2]]
    described = list(astuple(about)) if about != FrontMatter() else []
    sections = [
        (section.path, section.anchor, [astuple(block) for block in section.blocks])
        for section in document.sections
    ]
    content = json.dumps([*fields, *described, sections], ensure_ascii=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_hash, "_PART_CHARACTERS", part)
        assert hash_page(document) == hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def measure_sync(workspace: Workspace, docs: Path, sections: int) -> tuple[int, int]:
    """Index a file of this many sections; return its size, and the most memory that Python held for it."""
    docs.mkdir()
    words = " ".join(f"word{number % 997}" for number in range(80))
    file = docs / "large.md"
    with file.open("w", encoding="utf-8") as content:
        content.write("---\ndescription: What no section says\n---\n\n")
        for section in range(sections):
            content.write(f"## Section {section}\n\nIt is “large” – {section}: {words}.\n\n")
    indexer = workspace.create_indexer(NoProgress())
    gc.collect()
    tracemalloc.start()
    indexer.apply(indexer.plan(MarkdownSource(docs, name=docs.name)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return file.stat().st_size, peak


def test_memory_for_a_large_file_is_eleven_times_its_size_at_most(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text takes two bytes a character; SQLite gets it as UTF-8, which Python reserves three for.

    Pages that are smaller than a batch would hide a copy of the text, so the batches are small here.
    What is reserved is not all used: `benchmarks/large_file.py` measures the memory of the process.
    """
    for module, name, size in (
        (large_files, "LARGE_CHARACTERS", 2**16),
        (large_files, "PART_CHARACTERS", 2**14),
        (front_matter, "_WORD_BATCH", 64),
        (page_hash, "_PART_CHARACTERS", 2**10),
        (planning, "PLAN_BATCH", 16),
        (spool, "_PART_CHARACTERS", 2**10),
        (sync, "COMMIT_CHUNKS", 16),
        (sync, "EMBED_BATCH", 16),
        (page_writes, "ROW_BATCH", 16),
    ):
        monkeypatch.setattr(module, name, size)
    measure_sync(workspace, tmp_path / "warm", 20)
    small_size, small_peak = measure_sync(workspace, tmp_path / "small", 200)
    large_size, large_peak = measure_sync(workspace, tmp_path / "large", 600)
    assert (large_peak - small_peak) / (large_size - small_size) < 11


@pytest.mark.skipif(sys.platform != "linux", reason="other systems say nothing about their memory here")
def test_freed_memory_is_given_back_to_the_system() -> None:
    def read_anonymous_memory() -> int:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(status.partition("RssAnon:")[2].split()[0]) * 1024

    blocks = [bytes(1000) for _ in range(100_000)]
    pins = blocks[::100]  # what lives on, between what is freed
    full = read_anonymous_memory()
    del blocks
    release_free_memory()
    assert full - read_anonymous_memory() > 60 * 2**20
    assert len(pins) == 1000
