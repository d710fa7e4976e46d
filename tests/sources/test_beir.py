from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from pertinent.errors import InvalidInput
from pertinent.indexing.chunking import chunk_page, embedded_text
from pertinent.sources import open_source
from pertinent.sources.beir import BeirSource
from pertinent.testing.embedder import HashedWords
from pertinent.types import Page, Unreadable


def write_corpus(folder: Path, *lines: object) -> Path:
    folder.mkdir(exist_ok=True)
    rows = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / "corpus.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    return folder


def test_beir_document_becomes_a_page_under_its_id(tmp_path: Path) -> None:
    folder = write_corpus(
        tmp_path / "faq", {"_id": "api/Store.md#001", "title": "Store", "text": "One.\n\nTwo\nlines."}
    )
    source = open_source(f"beir:{folder}")
    (page,) = source.read()
    assert isinstance(page, Page)
    assert (page.source_path, page.title, page.slug) == ("api/Store.md#001", "Store", "api-store-md-001")
    assert page.url == "beir://faq/api%2FStore.md%23001"
    assert page.source_type == "beir-document"
    assert page.text == "One.\n\nTwo\nlines."
    assert [block.kind for block in page.sections[0].blocks] == ["prose", "prose"]
    assert (source.name, source.total) == ("faq", 1)


def test_beir_document_without_a_title_is_embedded_without_its_id(tmp_path: Path) -> None:
    (page,) = BeirSource(write_corpus(tmp_path, {"_id": "doc-17", "text": "A joint turns."})).read()
    assert isinstance(page, Page)
    (chunk,) = chunk_page(page, HashedWords().count_tokens, target=40, most=60)
    assert chunk.title == "doc-17"
    assert embedded_text(chunk) == "A joint turns."


def test_beir_text_changes_only_in_its_line_ends(tmp_path: Path) -> None:
    text = "# no *heading*\r\n  <b>{x}</b>\r\n\r\n```py\r\na\r\n\r\nb\r\n```\r\nafter"
    (page,) = BeirSource(write_corpus(tmp_path, {"_id": "1", "text": text})).read()
    assert isinstance(page, Page)
    assert page.text == "# no *heading*\n  <b>{x}</b>\n\n```py\na\n\nb\n```\n\nafter"
    assert [block.kind for block in page.sections[0].blocks] == ["prose", "code", "prose"]
    assert page.title == "1"


def test_beir_document_keeps_its_own_url(tmp_path: Path) -> None:
    rows = (
        {"_id": "1", "text": "x", "metadata": {"url": "https://x.example/a/"}},
        {"_id": "2", "text": "x", "url": "ftp://no"},
    )
    first, second = BeirSource(write_corpus(tmp_path, *rows), name="n").read()
    assert isinstance(first, Page)
    assert isinstance(second, Page)
    assert (first.url, second.url) == ("https://x.example/a", "beir://n/2")


def test_beir_malformed_lines_are_reported_and_skipped(tmp_path: Path) -> None:
    folder = write_corpus(
        tmp_path, {"_id": "1", "text": "x"}, "{broken", "", "[1]", {"text": "x"}, {"_id": "2"},
        {"_id": "1", "text": "y"}, {"_id": 7, "text": "z"},
    )  # fmt: skip
    entries = list(BeirSource(folder).read())
    unreadable = [entry for entry in entries if isinstance(entry, Unreadable)]
    assert [entry.source_path for entry in unreadable] == [f"corpus.jsonl:{line}" for line in (2, 4, 5, 6, 7)]
    assert "already used on line 1" in unreadable[-1].reason
    assert [entry.source_path for entry in entries if isinstance(entry, Page)] == ["1", "7"]


def test_beir_url_that_is_no_address_is_ignored(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path, {"_id": "1", "text": "x", "url": "http://a b"})
    (page,) = BeirSource(folder, name="n").read()
    assert isinstance(page, Page)
    assert page.url == "beir://n/1"


def test_beir_document_ids_differ_between_corpora(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path, {"_id": "1", "text": "x"})
    ids = {
        page.document_id
        for name in "ab"
        for page in BeirSource(folder, name=name).read()
        if isinstance(page, Page)
    }
    assert len(ids) == 2


def test_beir_folder_without_a_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"corpus\.jsonl"):
        open_source(f"beir:{tmp_path}")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"_id": "x", "text": "t", "url": "http://[bad"}', "Invalid IPv6 URL"),
        ("[" * 100_000, "is nested too deeply"),
    ],
)
def test_beir_line_that_breaks_a_parser_stops_no_other(tmp_path: Path, line: str, reason: str) -> None:
    (tmp_path / "corpus.jsonl").write_text(f'{line}\n{{"_id": "a", "text": "Robots walk."}}\n')
    unreadable, page = BeirSource(tmp_path).read()
    assert isinstance(unreadable, Unreadable)
    assert reason in unreadable.reason
    assert not unreadable.path_identifies_page
    assert isinstance(page, Page)


@pytest.mark.parametrize(
    "text",
    [
        "~~~~x\n\n" * 30_000,
        "~~~a\n```b\n" * 20_000,
        "\n".join("~" * length + "x" for length in range(700, 3, -1)),
    ],
    ids=["one kind", "two kinds", "ever shorter"],
)
def test_beir_fences_that_never_close_are_read_in_bounded_time(tmp_path: Path, text: str) -> None:
    begun = time.process_time()
    (page,) = BeirSource(write_corpus(tmp_path, {"_id": "a", "text": text})).read()
    assert time.process_time() - begun < 10
    assert isinstance(page, Page)


def test_beir_fence_closes_only_with_as_many_marks(tmp_path: Path) -> None:
    text = "One.\n\n````\n```\na\n\nb\n```\n````\n\nTwo.\n\n~~~~\nThree."
    (page,) = BeirSource(write_corpus(tmp_path, {"_id": "a", "text": text})).read()
    assert isinstance(page, Page)
    blocks = [(block.kind, page.text[block.start : block.end]) for block in page.sections[0].blocks]
    assert blocks == [
        ("prose", "One."),
        ("code", "````\n```\na\n\nb\n```\n````"),
        ("prose", "Two."),
        ("prose", "~~~~\nThree."),
    ]
