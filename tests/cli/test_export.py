"""`pertinent export llms.txt DIR`: the book as files for language models."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pertinent.surfaces.llms_txt import name_file

from .conftest import Run


def test_export_writes_llms_txt_and_every_page(run: Run, indexed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site" / "files"
    result = run("export", "llms.txt", folder, exits=0)
    assert result.stdout == f"4 pages written to {folder}\n"
    text = (folder / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# robots\n\n> 4 pages. ")
    links = re.findall(r"^- \[.+\]\((.+)\): (.+)$", text, re.M)
    assert len(links) == 4
    full = (folder / "llms-full.txt").read_text(encoding="utf-8")
    for link, url in links:
        markdown = (folder / link).read_text(encoding="utf-8")
        assert f"\n\nSource: {url}\n\n" in markdown
        assert markdown in full


def test_export_uses_the_title_of_the_settings(
    run: Run, indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERTINENT_BOOK_TITLE", "The Robot Book")
    run("export", "llms.txt", tmp_path / "files", exits=0)
    assert (tmp_path / "files" / "llms.txt").read_text(encoding="utf-8").startswith("# The Robot Book\n")


def test_export_leaves_control_characters_out(
    run: Run, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (docs / "evil.md").write_text(
        "# Evil \x1b[31mtitle\x9d\n\nText \x1b]0;owned\x07 with\x08 a\tbell \x7f and \x85 \u202e more.\n\n"
        "```\ncode \x1b[2J\n\twith a tab\n```\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PERTINENT_BOOK_TITLE", "The \x1b[1mBook\x07")
    run("index", docs, "--base-url", "https://book.example", exits=0)
    run("export", "llms.txt", tmp_path / "files", exits=0)
    texts = [path.read_text(encoding="utf-8") for path in (tmp_path / "files").rglob("*") if path.is_file()]
    assert len(texts) == 7
    for text in texts:
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)
    full = (tmp_path / "files" / "llms-full.txt").read_text(encoding="utf-8")
    for shown in (r"# The \[1mBook", "# Evil [31mtitle\n", "Text ]0;owned with a bell", "\n\twith a tab\n"):
        assert shown in full


@pytest.mark.parametrize(
    "document_id",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "a//b",
        "a/../b",
        "..",
        "a\\..\\b",
        "a b",
        "a\x00b",
        "a.md/b",
        "a" * 201,
        "a/" * 100 + "b",
    ],
)
def test_ids_that_are_no_file_names_get_another(document_id: str) -> None:
    assert re.fullmatch(r"pages/[a-z-]+-[0-9a-f]{12}\.md", name_file(document_id))


@pytest.mark.parametrize("document_id", ["intro-0a1b2c3d", "guide/a.md"])
def test_other_ids_are_the_names_of_their_files(document_id: str) -> None:
    assert name_file(document_id) == f"pages/{document_id}.md"


def test_unknown_format_is_refused(run: Run, indexed: Path, tmp_path: Path) -> None:
    result = run("export", "pdf", tmp_path, exits=2)
    assert result.stderr == "pertinent: FORMAT: must be llms.txt, not 'pdf'\n"


def test_folder_that_is_a_file_is_refused(run: Run, indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = run("export", "llms.txt", tmp_path / "file", exits=2)
    assert result.stderr.startswith("pertinent: DIR: can't write to ")
