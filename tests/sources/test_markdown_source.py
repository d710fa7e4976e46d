from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from pertinent.errors import InvalidInput, SourceError
from pertinent.sources import open_source
from pertinent.sources.markdown import MarkdownSource
from pertinent.types import Page, Unreadable

from .conftest import Make, pages, read

CONFIG = "export default {url: 'https://handbook.example', baseUrl: '/book/', presets: [['classic', {}]]};"


def test_a_site_is_read_at_its_own_address(make: Make) -> None:
    root = make(
        {"docusaurus.config.ts": CONFIG, "docs/01-intro.md": "# Hello\n\nText.", "README.md": "no page"}
    )
    (page,) = MarkdownSource(root).read()
    assert isinstance(page, Page)
    assert page.url == "https://handbook.example/book/docs/intro"
    assert (page.title, page.slug, page.source_path) == ("Hello", "intro", "docs/01-intro.md")
    assert page.source_type == "docusaurus-page"
    assert re.fullmatch(r"intro-[0-9a-f]{12}", page.document_id)
    assert page.text == "# Hello\n\nText."


@pytest.mark.parametrize(
    ("below", "part"), [("", ""), ("docs", ""), ("docs/guide", "/guide"), ("docs/guide/a.md", "/guide/a.md")]
)
def test_the_site_is_found_from_any_folder_of_its_docs(make: Make, below: str, part: str) -> None:
    root = make({"site/docusaurus.config.js": CONFIG, "site/docs/guide/a.md": "x"}) / "site"
    source = MarkdownSource(root / below)
    assert [page.url for page in source.read() if isinstance(page, Page)] == [
        "https://handbook.example/book/docs/guide/a"
    ]
    assert source.name == f"https://handbook.example/book/docs{part}"
    assert source.location == str((root / below).resolve())


def test_a_site_one_folder_below_is_found(make: Make) -> None:
    root = make({"website/docusaurus.config.js": CONFIG, "website/docs/a.md": "x", "CHANGES.md": "no"})
    assert list(pages(root)) == ["docs/a.md"]


def test_a_folder_outside_the_docs_is_not_of_the_site(make: Make) -> None:
    root = make({"docusaurus.config.js": CONFIG, "docs/a.md": "x", "notes/b.md": "y"})
    assert pages(root / "notes")["notes/b.md"].source_type == "markdown-page"


def test_a_given_address_is_that_of_the_docs(make: Make) -> None:
    root = make({"docusaurus.config.js": CONFIG, "docs/index.md": "x", "docs/a.md": "y"})
    urls = [page.url for page in pages(root, "https://other.example/read/").values()]
    assert urls == ["https://other.example/read/a", "https://other.example/read"]


def test_without_an_address_pages_are_files_and_ids_know_no_machine(make: Make, tmp_path: Path) -> None:
    root = make({"docs/guide/index.md": "# G\n\ntext"})
    source = MarkdownSource(root)
    (page,) = source.read()
    assert isinstance(page, Page)
    assert page.url == (root / "docs/guide/index.md").resolve().as_uri()
    assert (page.slug, page.source_type, source.name) == ("guide", "markdown-page", "book")
    moved = tmp_path / "elsewhere" / "book"
    moved.parent.mkdir()
    root.rename(moved)
    assert [item.document_id for item in MarkdownSource(moved).read() if isinstance(item, Page)] == [
        page.document_id
    ]


def test_an_address_that_the_config_computes_is_not_guessed(make: Make) -> None:
    root = make(
        {
            "docusaurus.config.js": CONFIG.replace("'https://handbook.example'", "process.env.URL"),
            "docs/a.md": "x",
        }
    )
    assert pages(root)["docs/a.md"].url.startswith("file://")


def test_several_docs_folders_and_routes(make: Make) -> None:
    config = """module.exports = {title: 'T', url: 'https://x.example', baseUrl: '/',
      presets: [['classic', {docs: {path: 'content', routeBasePath: '/'}}]],
      plugins: [['@docusaurus/plugin-content-docs', {id: 'c', path: 'community', routeBasePath: 'c'}]]};"""
    root = make(
        {"docusaurus.config.js": config, "content/a.md": "x", "content/index.md": "y", "community/b.md": "z"}
    )
    assert {page.source_path: page.url for page in pages(root).values()} == {
        "content/a.md": "https://x.example/a",
        "content/index.md": "https://x.example/",
        "community/b.md": "https://x.example/c/b",
    }


def test_an_address_for_several_docs_folders_is_refused(make: Make) -> None:
    plugins = "['content-docs', {id: 'a', path: 'a', routeBasePath: 'a'}], ['content-docs', {path: 'b'}]"
    config = f"export default {{url: 'https://x.example', baseUrl: '/', plugins: [{plugins}]}}"
    root = make({"docusaurus.config.js": config, "a/x.md": "x", "b/y.md": "y"})
    with pytest.raises(InvalidInput, match="2 docs folders"):
        MarkdownSource(root, base_url="https://y.example")
    assert pages(root / "a", "https://y.example")["a/x.md"].url == "https://y.example/x"


def test_a_folder_with_a_name_that_says_nothing_is_called_by_the_one_around_it(make: Make) -> None:
    root = make({"website/docs/a.md": "x"})
    assert [MarkdownSource(root / path).name for path in ("", "website", "website/docs")] == ["book"] * 3
    assert MarkdownSource(root / "website/docs/a.md").name == "book/a.md"


def test_versions_stand_where_docusaurus_puts_them(make: Make) -> None:
    root = make(
        {
            "docusaurus.config.js": CONFIG,
            "versions.json": '["2.0", "1.0"]',
            "docs/a.md": "x",
            "versioned_docs/version-2.0/a.md": "x",
            "versioned_docs/version-1.0/a.md": "x",
        }
    )
    base = "https://handbook.example/book/docs"
    for path, source_path, url in (
        ("", "versioned_docs/version-2.0/a.md", f"{base}/a"),
        ("docs", "docs/a.md", f"{base}/next/a"),
        ("versioned_docs/version-2.0", "versioned_docs/version-2.0/a.md", f"{base}/a"),
        ("versioned_docs/version-1.0", "versioned_docs/version-1.0/a.md", f"{base}/1.0/a"),
    ):
        assert {page.source_path: page.url for page in pages(root / path).values()} == {source_path: url}


def test_drafts_unlisted_pages_and_partials_are_passed_over(make: Make) -> None:
    root = make(
        {
            "a.md": "x",
            "draft.md": "---\ndraft: true\n---\nx",
            "unlisted.md": "---\nunlisted: true\n---\nx",
            "_part.md": "x",
            "_parts/b.md": "x",
            "node_modules/p/README.md": "x",
        }
    )
    assert list(pages(root)) == ["book/a.md"]


def test_a_title_without_a_heading_is_shown_as_on_the_page(make: Make) -> None:
    root = make(
        {
            "a.md": "---\ntitle: Given\n---\n\ntext",
            "b.md": "---\ntitle: Given\n---\n\n# Own\n\ntext",
            "c.md": "text\n\n## Sub\n\nmore",
            "d.md": "---\ntitle: Given\nhide_title: true\n---\ntext",
            "e.md": "# A `code` *emph* title {#tid}\n",
        }
    )
    found = pages(root)
    assert {path[-4]: (page.title, page.text.split("\n")[0]) for path, page in found.items()} == {
        "a": ("Given", "# Given"),
        "b": ("Given", "# Own"),
        "c": ("c", "# c"),
        "d": ("Given", "text"),
        "e": ("A code emph title", "# A code emph title"),
    }


def test_sections_have_their_path_and_anchor(make: Make) -> None:
    root = make({"a.md": "# T\n\nintro\n\n## One\n\n### Two {#zwei}\n\ntext\n\n## Three\n\nend"})
    sections = pages(root)["book/a.md"].sections
    assert [(section.path, section.anchor) for section in sections] == [
        ((), ""),
        (("One", "Two"), "zwei"),
        (("Three",), "three"),
    ]


def test_a_page_without_text_has_no_sections(make: Make) -> None:
    page = pages(make({"a.md": "---\ntitle: Only\n---\n"}))["book/a.md"]
    assert (page.title, page.sections) == ("Only", ())


PARTIALS = {
    "docs/page.mdx": (
        "import P from './_p.md';\nimport N from '@site/docs/_n.mdx';\nimport Gone from './_gone.mdx';\n\n"
        '## Setup\n\n<P name="Ann" />\n\n## Setup\n\n<N/>\n<Gone/>\n\nend\n'
    ),
    "docs/_p.md": "---\nx: 1\n---\n## Setup\n\nHello {props.name}.\n",
    "docs/_n.mdx": (
        "import P from './_p.md'\nimport N from './_n.mdx'\n\n## Nested\n\n<P name='Bob'/>\n\n<N/>\n"
    ),
}


def test_partials_stand_in_their_place_with_anchors_of_their_own(make: Make) -> None:
    page = pages(make({"docusaurus.config.js": CONFIG, **PARTIALS}))["docs/page.mdx"]
    assert [(section.path, section.anchor) for section in page.sections] == [
        (("Setup",), "setup"),
        (("Setup",), "setup"),
    ]
    assert "Hello Ann." in page.text
    assert page.text.endswith("## Nested\n\n## Setup\n\nHello Bob.\n\nend")


def test_windows_files_and_byte_order_marks(make: Make) -> None:
    root = make(
        {"a.md": b"\xef\xbb\xbf---\r\ntitle: W\r\n---\r\n\r\n## One\r\n\r\na\r\nb\r\n\r\n## One\r\n\r\nc\r\n"}
    )
    page = pages(root)["book/a.md"]
    assert page.text == "# W\n\n## One\n\na b\n\n## One\n\nc"
    assert [section.anchor for section in page.sections] == ["one", "one-1"]


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(make: Make) -> None:
    root = make(
        {
            "a.md": b"caf\xe9",
            "b.md": "---\ntitle: a: b\n---\nx",
            "c.md": "---\n- a\n---\nx",
            "d.md": "---\ndraft: maybe\n---\nx",
            "e.md": "fine",
        }
    )
    (root / "f.md").symlink_to(root / "nowhere.md")
    found = read(root)
    reasons = {path: item.reason for path, item in found.items() if isinstance(item, Unreadable)}
    assert list(reasons) == [f"book/{name}.md" for name in "abcdf"]
    assert "UTF-8 (byte 3)" in reasons["book/a.md"]
    assert "line 2" in reasons["book/b.md"]
    assert "'draft'" in reasons["book/d.md"]
    assert "No such file" in reasons["book/f.md"]
    assert isinstance(found["book/e.md"], Page)


def test_two_files_with_one_address(make: Make) -> None:
    root = make({"a.md": "---\nslug: /same\n---\nx", "b.md": "---\nslug: /same/\n---\ny"})
    found = read(root, "https://x.example")
    second = found["book/b.md"]
    assert isinstance(second, Unreadable)
    assert "book/a.md" in second.reason
    assert "https://x.example/same" in second.reason


def test_a_loop_of_links_is_walked_once(make: Make) -> None:
    root = make({"a/x.md": "x"})
    (root / "a" / "loop").symlink_to(root, target_is_directory=True)
    assert list(pages(root)) == ["book/a/x.md"]


def test_the_order_is_that_of_the_paths(make: Make) -> None:
    root = make(dict.fromkeys(("b.md", "a/z.md", "a/b/c.md", "a.md", "B.md"), "x"))
    assert list(pages(root)) == sorted(pages(root))


def test_a_long_path_has_a_short_slug(make: Make) -> None:
    page = next(iter(pages(make({f"{'long-' * 15}/{'name-' * 15}.md": "x"})).values()))
    assert len(page.slug) <= 100


def test_a_wrong_path_says_what_to_give(make: Make, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"does not exist.* https://"):
        MarkdownSource(tmp_path / "nowhere")
    with pytest.raises(SourceError, match="no Markdown"):
        MarkdownSource(make({"a.txt": "x"}))
    with pytest.raises(InvalidInput, match="not Markdown"):
        MarkdownSource(make({"a.txt": "x"}) / "a.txt")
    with pytest.raises(InvalidInput, match="base_url"):
        MarkdownSource(make({"a.md": "x"}), base_url="handbook.example")
    with pytest.raises(InvalidInput, match="base_url"):
        MarkdownSource(make({"a.md": "x"}), base_url="https://handbook.example/my docs")


def test_a_file_without_permission_is_reported(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make({"a.md": "x", "b.md": "y"})
    read_bytes = Path.read_bytes

    def refuse(path: Path) -> bytes:  # chmod would not stop a test that runs as root
        if path.name == "a.md":
            raise PermissionError(13, "Permission denied")
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    found = read(root)
    assert found["book/a.md"] == Unreadable("book/a.md", "can't be opened: Permission denied")
    assert isinstance(found["book/b.md"], Page)


def test_a_given_name_is_the_sources_name(make: Make) -> None:
    source = open_source(str(make({"a.md": "x"})), name="mine")
    assert (source.name, source.total) == ("mine", 1)


def test_a_pipe_is_passed_over_and_a_name_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("# Good\n\nText.\n")
    os.mkfifo(tmp_path / "pipe.md")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.md")).write_text("# Bad\n")
    found = list(MarkdownSource(tmp_path, base_url="https://a.example").read())
    assert len(found) == 2
    (bad,) = (one for one in found if isinstance(one, Unreadable))
    assert "rename it" in bad.reason


def test_a_folder_that_was_renamed_holds_the_same_pages(tmp_path: Path) -> None:
    ids = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text("# A\n")
        (page,) = MarkdownSource(tmp_path / name, name="book").read()
        assert isinstance(page, Page)
        ids.append(page.document_id)
    assert ids[0] == ids[1]


def test_a_folder_that_can_not_be_read_is_told_and_removes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.md", "closed/b.md", "open/c.md"):
        file = tmp_path / "book" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {name}\n", encoding="utf-8")
    usual = os.scandir

    def scandir(path: str) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return usual(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = list(MarkdownSource(tmp_path / "book").read())
    assert [one.title for one in found if isinstance(one, Page)] == ["a.md", "open/c.md"]
    (unread,) = [one for one in found if isinstance(one, Unreadable)]
    assert (unread.source_path, unread.reason, unread.named) == (
        "book/closed",
        "the folder can't be read: Permission denied",
        False,
    )


@pytest.mark.parametrize("address", ["ftp://book.example/docs", "file:///book/docs", "S3://book"])
def test_an_address_of_another_kind_is_refused_as_it_was_given(address: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        open_source(address)
    assert (
        str(refused.value) == f"source: {address} is neither an http:// nor an https:// address, nor a path"
    )
