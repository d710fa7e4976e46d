"""Files that are replaced while a source is read; nothing outside the source is read, and nothing hangs."""

from __future__ import annotations

import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from pertinent._internal import regular_files
from pertinent._internal.regular_files import read_regular_file
from pertinent.sources.markdown import MarkdownSource
from pertinent.types import Page, Unreadable

from .conftest import WriteBook, read_pages, read_source

Replace = Callable[[Path, Path], None]


def replace_file_by_link(root: Path, elsewhere: Path) -> None:
    (root / "part" / "a.md").unlink()
    (root / "part" / "a.md").symlink_to(elsewhere / "a.md")


def replace_folder_by_link(root: Path, elsewhere: Path) -> None:
    (root / "part").rename(root / "moved")
    (root / "part").symlink_to(elsewhere, target_is_directory=True)


def replace_file_by_pipe(root: Path, _elsewhere: Path) -> None:
    (root / "part" / "a.md").unlink()
    os.mkfifo(root / "part" / "a.md")


def replace_file_by_folder(root: Path, _elsewhere: Path) -> None:
    (root / "part" / "a.md").unlink()
    (root / "part" / "a.md").mkdir()


def replace_file_by_link_to_the_source(root: Path, _elsewhere: Path) -> None:
    (root / "part" / "a.md").unlink()
    (root / "part" / "a.md").symlink_to(root, target_is_directory=True)


@pytest.mark.parametrize(
    "replace",
    [
        replace_file_by_link,
        replace_folder_by_link,
        replace_file_by_pipe,
        replace_file_by_folder,
        replace_file_by_link_to_the_source,
    ],
)
def test_file_that_is_replaced_after_the_listing_is_not_read(
    write_book: WriteBook, tmp_path: Path, replace: Replace
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.md").write_text("a secret", encoding="utf-8")
    root = write_book({"part/a.md": "x", "z.md": "y"})
    source = MarkdownSource(root)
    assert source.total == 2
    replace(root, elsewhere)
    problem, page, *_ = source.read()
    assert isinstance(problem, Unreadable)
    assert (problem.source_path, problem.path_identifies_page) == ("book/part/a.md", True)
    assert isinstance(page, Page)
    assert page.source_path == "book/z.md"


def test_file_below_follows_no_link_that_appears_while_it_is_opened(
    write_book: WriteBook, tmp_path: Path
) -> None:
    root = write_book({"real/a.md": "x"})
    (root / "linked").symlink_to(tmp_path, target_is_directory=True)
    (root / "linked.md").symlink_to(root / "real" / "a.md")
    assert regular_files.read_file_below(str(root), str(root / "real" / "a.md")) == b"x"
    for path in ("linked/book/real/a.md", "linked.md"):
        with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
            regular_files.read_file_below(str(root), str(root / path))


def test_partial_that_is_a_pipe_makes_its_page_unreadable(write_book: WriteBook) -> None:
    root = write_book({"a.mdx": "import Part from './_part.mdx'\n\nBefore.\n\n<Part />\n"})
    os.mkfifo(root / "_part.mdx")
    problem = read_source(root)["book/a.mdx"]
    assert isinstance(problem, Unreadable)
    assert problem.reason.startswith("the partial book/_part.mdx, which it imports, can't be opened: ")


def test_list_of_versions_that_is_a_pipe_is_ignored(write_book: WriteBook) -> None:
    root = write_book({"docusaurus.config.js": "module.exports = {baseUrl: '/'}", "docs/a.md": "x"})
    os.mkfifo(root / "versions.json")
    assert list(read_pages(root)) == ["docs/a.md"]


def test_list_of_versions_that_is_nested_deeply_is_ignored(write_book: WriteBook) -> None:
    config = "module.exports = {baseUrl: '/'}"
    root = write_book({"docusaurus.config.js": config, "docs/a.md": "x", "versions.json": "[" * 20_000})
    assert list(read_pages(root)) == ["docs/a.md"]


def test_file_that_is_too_large_is_reported(write_book: WriteBook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regular_files, "MAX_BYTES", 2**20)
    root = write_book({"a.md": "x" * 2**20, "b.md": "x" * (2**20 + 1)})
    entries = read_source(root)
    assert isinstance(entries["book/a.md"], Page)
    assert isinstance(problem := entries["book/b.md"], Unreadable)
    assert problem.reason == "can't be opened: it is larger than 1 MB; split it"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no file whose size is wrong")
def test_file_that_grows_while_it_is_read_is_an_error() -> None:
    with pytest.raises(OSError, match="grew while it was read"):
        read_regular_file("/proc/self/status")


def test_small_file_takes_little_memory(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x" * 1000)
    tracemalloc.start()
    content = read_regular_file(tmp_path / "a.md")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(content) == 1000
    assert peak < 100_000


def test_folder_that_vanishes_beside_the_source_is_ignored(
    write_book: WriteBook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_book({"a.md": "x"})
    (tmp_path / "temporary").mkdir()
    listdir = os.listdir

    def list_and_remove(path: str | Path) -> list[str]:
        names = listdir(path)
        if Path(path) == tmp_path and "temporary" in names:
            (tmp_path / "temporary").rmdir()
        return names

    monkeypatch.setattr(os, "listdir", list_and_remove)
    assert list(read_pages(root)) == ["book/a.md"]
    assert not (tmp_path / "temporary").exists()


def test_broken_link_does_not_hide_the_config_beside_it(write_book: WriteBook) -> None:
    config = "module.exports = {url: 'https://book.example', baseUrl: '/'}"
    root = write_book({"site/docusaurus.config.js": config, "site/docs/a.md": "x"})
    (root / "loop").symlink_to("loop")
    assert [page.url for page in read_pages(root).values()] == ["https://book.example/docs/a"]


def test_descriptors_of_files_that_can_not_be_read_are_closed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - the count
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(OSError, match=r"not a regular file"):
            regular_files.read_regular_file(path)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
