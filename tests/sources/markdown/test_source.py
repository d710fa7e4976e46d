from __future__ import annotations

import os
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pertinent.errors import InvalidInput, SourceError
from pertinent.indexing.page_hash import hash_page
from pertinent.sources import open_source
from pertinent.sources.markdown import MarkdownSource
from pertinent.sources.markdown.source import UNKNOWN_ADDRESS
from pertinent.types import FrontMatter, Page, Unreadable

from .conftest import WriteBook, read_pages, read_skipped, read_source

CONFIG = "export default {url: 'https://handbook.example', baseUrl: '/book/', presets: [['classic', {}]]};"


def test_site_pages_have_the_address_of_the_config(write_book: WriteBook) -> None:
    root = write_book(
        {"docusaurus.config.ts": CONFIG, "docs/01-intro.md": "# Hello\n\nText.", "README.md": "no page"}
    )
    (page,) = read_pages(root).values()
    assert page.url == "https://handbook.example/book/docs/intro"
    assert (page.title, page.slug, page.source_path) == ("Hello", "intro", "docs/01-intro.md")
    assert page.source_type == "docusaurus-page"
    assert re.fullmatch(r"intro-[0-9a-f]{12}", page.document_id)
    assert page.text == "# Hello\n\nText."


@pytest.mark.parametrize(
    ("below", "part"), [("", ""), ("docs", ""), ("docs/guide", "/guide"), ("docs/guide/a.md", "/guide/a.md")]
)
def test_site_is_found_from_any_folder_of_its_docs(write_book: WriteBook, below: str, part: str) -> None:
    root = write_book({"site/docusaurus.config.js": CONFIG, "site/docs/guide/a.md": "x"}) / "site"
    (page,) = read_pages(root / below).values()
    assert page.url == "https://handbook.example/book/docs/guide/a"
    source = MarkdownSource(root / below)
    assert source.name == f"https://handbook.example/book/docs{part}"
    assert source.location == str((root / below).resolve())


def test_site_is_found_one_folder_below(write_book: WriteBook) -> None:
    root = write_book({"website/docusaurus.config.js": CONFIG, "website/docs/a.md": "x", "CHANGES.md": "no"})
    assert list(read_pages(root)) == ["docs/a.md"]


@pytest.mark.parametrize("below", ["docs", "docs/guide", "docs/guide/a.md"])
def test_site_is_found_beside_its_docs(write_book: WriteBook, below: str) -> None:
    options = "/** @type {Options} */ ({docs: {path: '../docs', routeBasePath: '/'}})"
    config = f"export default {{url: 'https://a.example', baseUrl: '/', presets: [['classic', {options}]]}}"
    root = write_book({"website/docusaurus.config.ts": config, "docs/guide/a.md": "x", "other/x.js": ""})
    (page,) = read_pages(root / below).values()
    assert page.url == "https://a.example/guide/a"


def test_blog_pages_and_other_versions_of_a_site_are_named_as_skipped(write_book: WriteBook) -> None:
    plugins = "[['content-blog', {id: 'news', path: 'news'}], ['content-docs', {id: 'api', path: apiPath}]]"
    config = CONFIG.replace("presets", f"plugins: {plugins}, presets")
    files = {
        "docusaurus.config.js": config,
        "versions.json": '["2.0"]',
        "docs/a.md": "x",
        "versioned_docs/version-2.0/a.md": "x",
        "blog/2026-01-01-hello.md": "x",
        "blog/2026-01-02-again/index.mdx": "x",
        "news/post.md": "x",
        "src/pages/about.md": "x",
        "src/pages/index.js": "x",
    }
    root = write_book({**files})
    assert read_skipped(root) == {
        "posts of the blog in blog/; index that folder, too, if you want them": 2,
        "posts of the blog in news/; index that folder, too, if you want them": 1,
        "pages of the site in src/pages/; index that folder, too, if you want them": 1,
        "of other versions: next; index their folders, too": 1,
        "of the docs plugin 'api': the config computes its folder; index that folder, too": 0,
    }
    assert read_skipped(root / "docs") == {}
    assert list(read_pages(root / "blog")) == ["blog/2026-01-01-hello.md", "blog/2026-01-02-again/index.mdx"]


@pytest.mark.parametrize(
    "plugins",
    [
        "[process.env.A && [NAME, {id: 'api', path: 'api'}]]",
        "[['x', {}], [NAME, {id: 'api', path: 'api'}]].filter(Boolean)",
        "[...(isReal ? [[NAME, {id: 'api', path: 'api'}]] : [])]",
        "createPlugins(NAME)",
    ],
)
@pytest.mark.parametrize("name", ["'content-docs'", '"@docusaurus/plugin-content-docs"'])
def test_docs_plugins_that_the_code_of_a_config_adds_are_skipped(
    write_book: WriteBook, plugins: str, name: str
) -> None:
    config = CONFIG.replace("presets", f"plugins: {plugins.replace('NAME', name)}, presets")
    root = write_book({"docusaurus.config.js": config, "docs/a.md": "x", "api/b.md": "x"})
    assert read_skipped(root) == {
        "of 1 docs plugin that the code of the config adds; index their folders, too": 0
    }


def test_imports_and_comments_of_a_config_name_no_docs_plugin(write_book: WriteBook) -> None:
    name = "'@docusaurus/plugin-content-docs'"
    code = f"import type {{Options}} from {name};\nimport {name};\n// [{name}, {{}}]\n/* {name} */\n"
    plugins = f"[[{name}, {{id: 'api', path: 'api'}}]]"
    config = code + CONFIG.replace("presets", f"plugins: {plugins}, presets")
    root = write_book({"docusaurus.config.js": config, "docs/a.md": "x", "api/b.md": "x"})
    assert read_skipped(root) == {}
    assert sorted(read_pages(root)) == ["api/b.md", "docs/a.md"]


def test_files_of_other_kinds_are_counted_and_named(write_book: WriteBook) -> None:
    files = [
        "a.md",
        "b.rst",
        "c/d.rst",
        "e.PNG",
        "Makefile",
        "_category_.json",
        ".hidden/x.rst",
        "node_modules/y.js",
    ]
    root = write_book(dict.fromkeys(files, "x"))
    assert read_skipped(root) == {"files that are not Markdown: 2 .rst, 1 .PNG, 1 Makefile": 4}
    root = write_book({f"f.k{n}": "x" for n in range(9)})
    (reason,) = read_skipped(root)
    assert reason.endswith(", …")


def test_folder_outside_the_docs_is_not_part_of_the_site(write_book: WriteBook) -> None:
    root = write_book({"docusaurus.config.js": CONFIG, "docs/a.md": "x", "notes/b.md": "y"})
    assert read_pages(root / "notes")["notes/b.md"].source_type == "markdown-page"


def test_long_titles_and_headings_are_cut_for_the_chunks_below_them(write_book: WriteBook) -> None:
    """A heading of a megabyte over a thousand chunks would be a gigabyte."""
    title, heading = "title " * 1000, "heading " * 1000
    (page,) = read_pages(write_book({"a.md": f"# {title}\n\nFirst.\n\n## {heading}\n\nSecond."})).values()
    assert page.title == title[:1000]
    first, second = page.sections
    assert (first.path, first.anchor) == ((), "")
    assert (second.path, second.anchor) == ((heading[:1000],), "")
    assert heading.strip() in page.text
    assert title.strip() in page.text


def test_base_url_is_the_address_of_the_docs(write_book: WriteBook) -> None:
    root = write_book({"docusaurus.config.js": CONFIG, "docs/index.md": "x", "docs/a.md": "y"})
    urls = [page.url for page in read_pages(root, "https://other.example/read/").values()]
    assert urls == ["https://other.example/read/a", "https://other.example/read"]


def test_pages_without_an_address_have_file_urls_and_portable_ids(
    write_book: WriteBook, tmp_path: Path
) -> None:
    root = write_book({"docs/guide/index.md": "# G\n\ntext"})
    (page,) = read_pages(root).values()
    assert page.url == (root / "docs/guide/index.md").resolve().as_uri()
    assert (page.slug, page.source_type, MarkdownSource(root).name) == ("guide", "markdown-page", "book")
    moved = tmp_path / "elsewhere" / "book"
    moved.parent.mkdir()
    root.rename(moved)
    assert [copy.document_id for copy in read_pages(moved).values()] == [page.document_id]


def test_computed_address_is_not_guessed(write_book: WriteBook) -> None:
    root = write_book(
        {
            "docusaurus.config.js": CONFIG.replace("'https://handbook.example'", "process.env.URL"),
            "docs/a.md": "x",
        }
    )
    assert read_pages(root)["docs/a.md"].url.startswith("file://")


def test_site_with_several_docs_folders_and_routes(write_book: WriteBook) -> None:
    config = """module.exports = {title: 'T', url: 'https://x.example', baseUrl: '/',
      presets: [['classic', {docs: {path: 'content', routeBasePath: '/'}}]],
      plugins: [['@docusaurus/plugin-content-docs', {id: 'c', path: 'community', routeBasePath: 'c'}]]};"""
    root = write_book(
        {"docusaurus.config.js": config, "content/a.md": "x", "content/index.md": "y", "community/b.md": "z"}
    )
    assert {page.source_path: page.url for page in read_pages(root).values()} == {
        "content/a.md": "https://x.example/a",
        "content/index.md": "https://x.example/",
        "community/b.md": "https://x.example/c/b",
    }


def test_base_url_for_several_docs_folders_is_refused(write_book: WriteBook) -> None:
    plugins = "['content-docs', {id: 'a', path: 'a', routeBasePath: 'a'}], ['content-docs', {path: 'b'}]"
    config = f"export default {{url: 'https://x.example', baseUrl: '/', plugins: [{plugins}]}}"
    root = write_book({"docusaurus.config.js": config, "a/x.md": "x", "b/y.md": "y"})
    with pytest.raises(InvalidInput, match="2 docs folders"):
        MarkdownSource(root, base_url="https://y.example")
    assert read_pages(root / "a", "https://y.example")["a/x.md"].url == "https://y.example/x"


def test_source_name_skips_generic_folder_names(write_book: WriteBook) -> None:
    root = write_book({"website/docs/a.md": "x"})
    assert [MarkdownSource(root / path).name for path in ("", "website", "website/docs")] == ["book"] * 3
    assert MarkdownSource(root / "website/docs/a.md").name == "book/a.md"


def test_versioned_docs_have_the_addresses_of_docusaurus(write_book: WriteBook) -> None:
    root = write_book(
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
        assert {page.source_path: page.url for page in read_pages(root / path).values()} == {source_path: url}


def test_versioned_docs_have_the_paths_of_the_config(write_book: WriteBook) -> None:
    versions = "{current: {path: 'dev'}, '2.0': {path: 'stable'}}"
    options = f"presets: [['classic', {{docs: {{versions: {versions}}}}}]]"
    root = write_book(
        {
            "docusaurus.config.js": f"x = {{url: 'https://a.example', baseUrl: '/', {options}}}",
            "versions.json": '["2.0"]',
            "docs/a.md": "x",
            "versioned_docs/version-2.0/a.md": "x",
        }
    )
    for path, url in (("", "https://a.example/docs/stable/a"), ("docs", "https://a.example/docs/dev/a")):
        assert [page.url for page in read_pages(root / path).values()] == [url]


def test_drafts_and_unlisted_pages_are_counted(write_book: WriteBook) -> None:
    root = write_book({"a.md": "x", "b.md": "---\ndraft: true\n---\n", "c.md": "---\nunlisted: true\n---\n"})
    assert read_skipped(root) == {"drafts and unlisted pages": 2}


def test_drafts_unlisted_pages_and_partials_are_skipped(write_book: WriteBook) -> None:
    root = write_book(
        {
            "a.md": "x",
            "draft.md": "---\ndraft: true\n---\nx",
            "unlisted.md": "---\nunlisted: true\n---\nx",
            "_part.md": "x",
            "_parts/b.md": "x",
            "node_modules/p/README.md": "x",
        }
    )
    assert list(read_pages(root)) == ["book/a.md"]


def test_title_becomes_a_heading_if_the_page_has_none(write_book: WriteBook) -> None:
    root = write_book(
        {
            "a.md": "---\ntitle: Given\n---\n\ntext",
            "b.md": "---\ntitle: Given\n---\n\n# Own\n\ntext",
            "c.md": "text\n\n## Sub\n\nmore",
            "d.md": "---\ntitle: Given\nhide_title: true\n---\ntext",
            "e.md": "# A `code` *emph* title {#tid}\n",
            "f.md": "---\ntitle: |\n  Two\n  lines\n---\ntext",
        }
    )
    titles = {path[-4]: (page.title, page.text.split("\n")[0]) for path, page in read_pages(root).items()}
    assert titles == {
        "a": ("Given", "# Given"),
        "b": ("Given", "# Own"),
        "c": ("c", "# c"),
        "d": ("Given", "text"),
        "e": ("A code emph title", "# A code emph title"),
        "f": ("Two lines", "# Two lines"),
    }


def test_front_matter_is_carried_on_the_page(write_book: WriteBook) -> None:
    block = "description: D\nkeywords: [k]\ntags: [t]\nsidebar_label: L"
    root = write_book({"a.md": f"---\n{block}\n---\nText.", "b.md": f"---\n{block}\n---\n# Own\n\nText."})
    labelled, titled = read_pages(root).values()
    assert labelled.front_matter == FrontMatter("D", ("k",), ("t",))  # the label is the title
    assert titled.front_matter == FrontMatter("D", ("k",), ("t",), "L")
    assert (labelled.title, titled.title) == ("L", "Own")
    assert hash_page(labelled) != hash_page(replace(labelled, front_matter=FrontMatter()))


def test_sections_have_their_path_and_anchor(write_book: WriteBook) -> None:
    root = write_book({"a.md": "# T\n\nintro\n\n## One\n\n### Two {#zwei}\n\ntext\n\n## Three\n\nend"})
    sections = read_pages(root)["book/a.md"].sections
    assert [(section.path, section.anchor) for section in sections] == [
        ((), ""),
        (("One", "Two"), "zwei"),
        (("Three",), "three"),
    ]


def test_page_without_text_has_no_sections(write_book: WriteBook) -> None:
    page = read_pages(write_book({"a.md": "---\ntitle: Only\n---\n"}))["book/a.md"]
    assert (page.title, page.sections) == ("Only", ())


PARTIALS = {
    "docs/page.mdx": (
        "import P from './_p.md';\nimport N from '@site/docs/_n.mdx';\n\n"
        '## Setup\n\n<P name="Ann" />\n\n## Setup\n\n<N/>\n\nend\n'
    ),
    "docs/_p.md": "---\nx: 1\n---\n## Setup\n\nHello {props.name}.\n",
    "docs/_n.mdx": (
        "import P from './_p.md'\nimport N from './_n.mdx'\n\n## Nested\n\n<P name='Bob'/>\n\n<N/>\n"
    ),
}


def test_partials_are_included_with_anchors_of_their_own(write_book: WriteBook) -> None:
    page = read_pages(write_book({"docusaurus.config.js": CONFIG, **PARTIALS}))["docs/page.mdx"]
    assert [(section.path, section.anchor) for section in page.sections] == [
        (("Setup",), "setup"),
        (("Setup",), "setup"),
    ]
    assert "Hello Ann." in page.text
    assert page.text.endswith("## Nested\n\n## Setup\n\nHello Bob.\n\nend")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"caf\xe9", "is not UTF-8 (byte 3); save it as UTF-8"),
        (b"---\n- a\n---\nx", "front matter is not a list of `key: value` fields"),
        (None, "can't be opened: No such file or directory"),
    ],
)
def test_unreadable_partial_makes_every_page_that_shows_it_unreadable(
    write_book: WriteBook, content: bytes | None, reason: str
) -> None:
    shows = "import P from './_p.mdx'\n\nText.\n\n<P/>\n"
    root = write_book({"a.mdx": shows, "b.mdx": shows, "c.mdx": "import P from './_p.mdx'\n\nText.\n"})
    if content is not None:
        (root / "_p.mdx").write_bytes(content)
    *problems, page = read_source(root).values()
    message = f"the partial book/_p.mdx, which it imports, {reason}"
    assert problems == [Unreadable("book/a.mdx", message), Unreadable("book/b.mdx", message)]
    assert isinstance(page, Page)


@pytest.mark.parametrize("base_url", [None, "https://a.example"])
def test_signs_in_names_of_files_are_encoded_in_addresses(
    write_book: WriteBook, base_url: str | None
) -> None:
    root = write_book({"C#.md": "x", "What is ROS?.md": "y", "a\\b.md": "z"})
    names = ["C%23", "What%20is%20ROS%3F", "a%5Cb"]
    expected = [f"{base_url}/{name}" if base_url else f"{root.as_uri()}/{name}.md" for name in names]
    assert [page.url for page in read_pages(root, base_url).values()] == expected


def test_windows_line_ends_and_byte_order_marks_are_read(write_book: WriteBook) -> None:
    root = write_book(
        {"a.md": b"\xef\xbb\xbf---\r\ntitle: W\r\n---\r\n\r\n## One\r\n\r\na\r\nb\r\n\r\n## One\r\n\r\nc\r\n"}
    )
    page = read_pages(root)["book/a.md"]
    assert page.text == "# W\n\n## One\n\na b\n\n## One\n\nc"
    assert [section.anchor for section in page.sections] == ["one", "one-1"]


def test_unreadable_files_are_reported_and_skipped(write_book: WriteBook) -> None:
    root = write_book(
        {
            "a.md": b"caf\xe9",
            "b.md": "---\ntitle: a: b\n---\nx",
            "c.md": "---\n- a\n---\nx",
            "d.md": "---\ndraft: maybe\n---\nx",
            "e.md": "fine",
        }
    )
    (root / "f.md").symlink_to(root / "nowhere.md")
    entries = read_source(root)
    reasons = {path: entry.reason for path, entry in entries.items() if isinstance(entry, Unreadable)}
    assert list(reasons) == [f"book/{name}.md" for name in "abcdf"]
    assert "UTF-8 (byte 3)" in reasons["book/a.md"]
    assert "line 2" in reasons["book/b.md"]
    assert "'draft'" in reasons["book/d.md"]
    assert "No such file" in reasons["book/f.md"]
    assert isinstance(entries["book/e.md"], Page)


def test_second_file_with_the_same_address_is_reported(write_book: WriteBook) -> None:
    root = write_book({"a.md": "---\nslug: /same\n---\nx", "b.md": "---\nslug: /same/\n---\ny"})
    second = read_source(root, "https://x.example")["book/b.md"]
    assert isinstance(second, Unreadable)
    assert "book/a.md" in second.reason
    assert "https://x.example/same" in second.reason


def test_loop_of_symlinks_is_walked_once(write_book: WriteBook) -> None:
    root = write_book({"a/x.md": "x"})
    (root / "a" / "loop").symlink_to(root, target_is_directory=True)
    assert list(read_pages(root)) == ["book/a/x.md"]


def test_folder_is_read_under_its_own_path_whatever_a_link_is_called(write_book: WriteBook) -> None:
    root = write_book({"zebra/x.md": "x", "mole/y.md": "y"})
    (root / "ant").symlink_to(root / "zebra", target_is_directory=True)
    (root / "mole" / "bee").symlink_to(root / "zebra", target_is_directory=True)
    assert list(read_pages(root)) == ["book/mole/y.md", "book/zebra/x.md"]
    links = f"ant, {Path('mole/bee')}"
    assert read_skipped(root) == {f"links to folders that are read under another path: {links}": 2}


@pytest.mark.parametrize("skipped", ["_shared", ".shared", "node_modules"])
def test_link_to_a_skipped_folder_is_read(write_book: WriteBook, skipped: str) -> None:
    root = write_book({f"{skipped}/x.md": "x", "guide/y.md": "y"})
    (root / "guide" / "shared").symlink_to(root / skipped, target_is_directory=True)
    assert list(read_pages(root)) == ["book/guide/shared/x.md", "book/guide/y.md"]


def test_folders_that_are_too_deep_are_reported(write_book: WriteBook) -> None:
    root = write_book({"x.md": "x", "d/" * 99 + "x.md": "x", "d/" * 120 + "x.md": "x"})
    entries = read_source(root)
    deep = entries.pop("book/" + "d/" * 99 + "d")
    assert isinstance(deep, Unreadable)
    assert "more than 99 folders below" in deep.reason
    assert not deep.path_identifies_page
    assert set(entries) == {"book/x.md", "book/" + "d/" * 99 + "x.md"}


def test_links_that_leave_the_source_folder_are_skipped_and_named(
    write_book: WriteBook, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret.md").write_text("a secret", encoding="utf-8")
    root = write_book({"a.md": "x", "part/b.md": "y"})
    (root / "file.md").symlink_to(elsewhere / "secret.md")
    (root / "lost.md").symlink_to(elsewhere / "lost.md")
    (root / "part" / "folder").symlink_to(elsewhere, target_is_directory=True)
    (root / "inside.md").symlink_to(root / "part" / "b.md")
    (root / "twin").symlink_to(root / "part", target_is_directory=True)
    inside = ["book/a.md", "book/inside.md", "book/part/b.md"]
    assert list(read_pages(root)) == inside
    links = "file.md, lost.md, part/folder"
    assert read_skipped(root) == {
        f"links that lead outside the source folder: {links}; --follow-links reads them": 3,
        "links to folders that are read under another path: twin": 1,
    }
    followed = [entry for entry in MarkdownSource(root, follow_links=True).read() if isinstance(entry, Page)]
    assert [page.source_path for page in followed] == sorted(
        [*inside, "book/file.md", "book/part/folder/secret.md"]
    )


@pytest.mark.parametrize("linked", ["docs", "website", "website/docs"])
def test_linked_docs_folder_outside_the_source_is_not_read(
    write_book: WriteBook, tmp_path: Path, linked: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    for folder in (elsewhere, elsewhere / "docs"):
        folder.mkdir()
        (folder / "secret.md").write_text("a secret", encoding="utf-8")
    (elsewhere / "docusaurus.config.js").write_text(CONFIG, encoding="utf-8")
    root = write_book(
        {"guide/a.md": "x"} if linked != "website/docs" else {"website/docusaurus.config.js": CONFIG}
    )
    (root / linked).symlink_to(elsewhere, target_is_directory=True)
    if linked != "website/docs":
        assert list(read_pages(root)) == ["book/guide/a.md"]
        assert f"outside the source folder: {linked};" in str(read_skipped(root))
    else:
        with pytest.raises(SourceError, match=f"outside the source folder: {linked}.*--follow-links"):
            MarkdownSource(root)
    assert "a secret" in str(list(MarkdownSource(root, follow_links=True).read()))


def test_docs_folder_that_the_config_names_may_be_outside_the_site(
    write_book: WriteBook, tmp_path: Path
) -> None:
    config = CONFIG.replace("{}", "{docs: {path: '../docs'}}")
    root = write_book({"website/docusaurus.config.js": config, "docs/a.md": "x"})
    (root / "docs" / "b.md").symlink_to(root / "docs" / "a.md")
    assert list(read_pages(root / "website")) == ["docs/a.md", "docs/b.md"]


@pytest.mark.parametrize("path", ["../../elsewhere", "{tmp_path}/elsewhere", "versions"])
@pytest.mark.parametrize("below", ["", "website"])
def test_docs_folder_outside_the_project_is_skipped_and_named(
    write_book: WriteBook, tmp_path: Path, path: str, below: str
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.md").write_text("a secret", encoding="utf-8")
    name = path.format(tmp_path=tmp_path)
    options = f"[['docs', {{id: 'other', path: '{name}'}}]]"
    config = CONFIG.replace("[['classic', {}]]", f"[['classic', {{}}]], plugins: {options}")
    files: dict[str, str | bytes] = {"website/docusaurus.config.js": config, "website/docs/a.md": "x"}
    files[".git/HEAD"] = ""
    if path == "versions":
        files["website/docusaurus.config.js"] = CONFIG
        versions = '["1/../../../../elsewhere"]'
        files |= {"website/versions.json": versions, "website/versioned_docs/version-1/b.md": "y"}
    root = write_book(files)
    assert list(read_pages(root / below)) == ["docs/a.md"]
    (reason,) = read_skipped(root / below)
    assert re.fullmatch(
        "docs folders that the config names outside the project: .*elsewhere; --follow-links .*", reason
    )
    assert "a secret" in str(list(MarkdownSource(root / below, follow_links=True).read()))


@pytest.mark.parametrize("below", ["", "website"])
def test_docs_folder_that_the_config_names_and_that_is_missing_is_an_error(
    write_book: WriteBook, below: str
) -> None:
    options = "[['docs', {id: 'api', path: 'docs-api'}]]"
    config = CONFIG.replace("[['classic', {}]]", f"[['classic', {{}}]], plugins: {options}")
    root = write_book({"website/docusaurus.config.js": config, "website/docs/a.md": "x"})
    with pytest.raises(SourceError, match="needs a docs folder that is missing: docs-api;"):
        MarkdownSource(root / below)
    assert list(read_pages(root / "website" / "docs")) == ["docs/a.md"]


def test_missing_folder_of_the_version_that_readers_see_first_is_an_error(write_book: WriteBook) -> None:
    files: dict[str, str | bytes] = {
        "docusaurus.config.js": CONFIG,
        "versions.json": '["2.0", "1.0"]',
        "docs/a.md": "x",
        "versioned_docs/version-2.0/a.md": "x",
    }
    root = write_book(files)
    assert list(read_pages(root)) == ["versioned_docs/version-2.0/a.md"]
    (root / "versioned_docs" / "version-2.0" / "a.md").rename(root / "a.md")
    (root / "versioned_docs" / "version-2.0").rmdir()
    with pytest.raises(SourceError, match=r"is missing: versioned_docs/version-2\.0;"):
        MarkdownSource(root)


def test_docs_folder_above_everything_lets_no_link_leave_the_source(
    write_book: WriteBook, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("a secret", encoding="utf-8")
    config = CONFIG.replace("{}", "{docs: {path: '/'}}")
    root = write_book({"docusaurus.config.js": config, "docs/a.md": "x", ".git/HEAD": ""})
    (root / "docs" / "b.md").symlink_to(secret)
    assert "a secret" not in str(list(MarkdownSource(root / "docs").read()))


def test_blog_outside_the_project_is_not_counted(write_book: WriteBook, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "post.md").write_text("x", encoding="utf-8")
    config = CONFIG.replace("{}", "{blog: {path: '../elsewhere'}}")
    root = write_book({"docusaurus.config.js": config, "docs/a.md": "x", ".git/HEAD": ""})
    assert read_skipped(root) == {}


@pytest.mark.parametrize("linked", [True, False])
def test_partial_outside_the_source_is_not_included(
    write_book: WriteBook, tmp_path: Path, *, linked: bool
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("a secret", encoding="utf-8")
    name = "./_part.md" if linked else "../secret.md"
    root = write_book({"a.mdx": f"import Part from '{name}'\n\nBefore.\n\n<Part />\n"})
    if linked:
        (root / "_part.md").symlink_to(secret)
    assert "a secret" not in read_pages(root)["book/a.mdx"].text
    assert f"outside the source folder: {name.removeprefix('./')};" in str(read_skipped(root))
    (page, *_) = MarkdownSource(root, follow_links=True).read()
    assert isinstance(page, Page)
    assert "a secret" in page.text


def test_loop_of_followed_links_ends(write_book: WriteBook, tmp_path: Path) -> None:
    root = write_book({"a.md": "x"})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "back").symlink_to(root, target_is_directory=True)
    (root / "out").symlink_to(elsewhere, target_is_directory=True)
    (root / "self.md").symlink_to(root / "self.md")
    (read, problem, *_) = MarkdownSource(root, follow_links=True).read()
    assert isinstance(read, Page)
    assert isinstance(problem, Unreadable)
    assert (read.source_path, problem.source_path) == ("book/a.md", "book/self.md")


@pytest.mark.parametrize("spec", ["https://robots.example/", "beir:corpus"])
def test_follow_links_is_refused_for_sources_without_links(spec: str) -> None:
    with pytest.raises(InvalidInput, match="follow_links"):
        open_source(spec, follow_links=True)


def test_pages_are_in_the_order_of_their_paths(write_book: WriteBook) -> None:
    root = write_book(dict.fromkeys(("b.md", "a/z.md", "a/b/c.md", "a.md", "B.md"), "x"))
    assert list(read_pages(root)) == sorted(read_pages(root))


def test_slug_of_a_long_path_is_short(write_book: WriteBook) -> None:
    page = next(iter(read_pages(write_book({f"{'long-' * 15}/{'name-' * 15}.md": "x"})).values()))
    assert len(page.slug) <= 100


def test_wrong_path_or_base_url_says_what_to_give(write_book: WriteBook, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"does not exist.* https://"):
        MarkdownSource(tmp_path / "nowhere")
    with pytest.raises(SourceError, match="no Markdown"):
        MarkdownSource(write_book({"a.txt": "x"}))
    with pytest.raises(InvalidInput, match="not Markdown"):
        MarkdownSource(write_book({"a.txt": "x"}) / "a.txt")
    with pytest.raises(InvalidInput, match="base_url"):
        MarkdownSource(write_book({"a.md": "x"}), base_url="handbook.example")
    with pytest.raises(InvalidInput, match="base_url"):
        MarkdownSource(write_book({"a.md": "x"}), base_url="https://handbook.example/my docs")


def test_password_in_the_address_of_a_site_is_not_cited(write_book: WriteBook) -> None:
    address = "https://name:secret@handbook.example"
    root = write_book(
        {"docusaurus.config.js": CONFIG.replace("https://handbook.example", address), "docs/a.md": "x"}
    )
    source = MarkdownSource(root)
    assert source.notes == (UNKNOWN_ADDRESS,)
    (page,) = read_pages(root).values()
    assert page.url == (root / "docs/a.md").as_uri()
    with pytest.raises(InvalidInput, match="base_url: must not contain a user name") as error:
        MarkdownSource(root, base_url=address)
    assert "secret" not in str(error.value)


def test_file_without_permission_is_reported(write_book: WriteBook, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_book({"a.md": "x", "b.md": "y"})
    open_file = os.open

    def refuse(path: str, flags: int, *, dir_fd: int | None = None) -> int:  # chmod would not stop root
        if path == "a.md":
            raise PermissionError(13, "Permission denied")
        return open_file(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "supports_dir_fd", {refuse})
    entries = read_source(root)
    assert entries["book/a.md"] == Unreadable("book/a.md", "can't be opened: Permission denied")
    assert isinstance(entries["book/b.md"], Page)


def test_source_name_can_be_set(write_book: WriteBook) -> None:
    source = open_source(str(write_book({"a.md": "x"})), name="mine")
    assert (source.name, source.total) == ("mine", 1)


def test_pipe_is_skipped_and_undecodable_file_name_is_reported(write_book: WriteBook) -> None:
    root = write_book({"good.md": "# Good\n\nText.\n"})
    os.mkfifo(root / "pipe.md")
    Path(os.fsdecode(os.fsencode(root) + b"/bad\xff.md")).write_text("# Bad\n")
    entries = list(read_source(root, "https://a.example").values())
    assert len(entries) == 2
    (unreadable,) = (entry for entry in entries if isinstance(entry, Unreadable))
    assert "rename it" in unreadable.reason


def test_renamed_folder_has_the_same_document_ids(write_book: WriteBook) -> None:
    root = write_book({"one/a.md": "# A\n", "two/a.md": "# A\n"})
    (first,), (second,) = (MarkdownSource(root / name, name="book").read() for name in ("one", "two"))
    assert isinstance(first, Page)
    assert isinstance(second, Page)
    assert first.document_id == second.document_id


def test_unreadable_folder_is_reported_and_removes_nothing(
    write_book: WriteBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_book({name: f"# {name}\n" for name in ("a.md", "closed/b.md", "open/c.md")})
    real_scandir = os.scandir

    def scandir(path: str) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    entries = list(read_source(root).values())
    assert [entry.title for entry in entries if isinstance(entry, Page)] == ["a.md", "open/c.md"]
    (unreadable,) = [entry for entry in entries if isinstance(entry, Unreadable)]
    assert (unreadable.source_path, unreadable.reason, unreadable.path_identifies_page) == (
        "book/closed",
        "the folder can't be read: Permission denied",
        False,
    )


@pytest.mark.parametrize("address", ["ftp://book.example/docs", "file:///book/docs", "S3://book"])
def test_open_source_refuses_other_url_schemes(address: str) -> None:
    message = f"source: must be a path or an http:// or https:// address, not {address}"
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        open_source(address)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.md", "a.mdx"])
@pytest.mark.parametrize(
    "repeated", ["<>", "<T>", "<!--", "<!--\n", "````mdx-code-block\n", "```mdx-code-block\n````\n"]
)
def test_time_is_in_proportion_to_the_marks_that_never_close(
    write_book: WriteBook, name: str, repeated: str
) -> None:
    root = write_book({name: repeated * (200_000 // len(repeated))})
    begun = time.process_time()
    read_pages(root)
    assert time.process_time() - begun < 10


HOSTILE = {
    "comments in closing tags": "x " + "</a /*" * 20_000,
    "imports without a file": "import foo\n\n" * 10_000,
    "exports that close too much": "export const a = )\n\n" * 3_000,
    "raw text that never closes": "<textarea>\n" * 20_000 + "\n</textarea",
    "cells in cells": "<td>\n" * 15_000 + "\n" + "</pre>\n" * 15_000,
    "expressions before text": "{\n" * 10_000 + "} x\n" * 10_000,
    "tags with many names": "".join(f"<T{number}>\n\n" for number in range(20_000)),
    "spaces in a heading": "# a" + " " * 100_000 + "b\n\n{/* */}",
    "labels that never close": "a :b{ " * 15_000,
    "attributes of a container that never close": ":::a[" + "]{" * 100_000,
    "attributes of a leaf that never close": "::a[" + "]{" * 100_000,
    "attributes that never close": '<a b=" ' * 1_000 + "&amp;" * 50_000,
    "templates that never close": "{`${" * 10_000,
    "tags in comments of tags": "".join(f"<T{number} /*\n" for number in range(10_000))
    + "*/"
    + " a" * 50_000
    + ">",
    "tags in expressions of tags": "<T {\n" * 10_000 + "}>" * 10_000,
    "tags on many lines before text": "<b /*\n" * 5_000 + "*/" + " a" * 10_000 + "> text",
    "images between tags": " ".join(f"![<A{number}>](b) <C{number}>" for number in range(5_000)),
    "spaces behind a magic comment": "```js\n// highlight-next-line" + " " * 100_000 + "x\n```",
    "spaces behind an import": "import a\n\n" * 190 + " from" + "\n" * 1_000_000 + "x",
    "brackets that never close": "[" * 100_000,
    "brackets in brackets": "[" * 100_000 + "]" * 100_000,
    "footnotes that never close": "[^a]: x\n\n" + "[^" * 50_000,
    "prices": "$1" * 100_000,
    "formulas that never close": "$$ a\n" * 20_000,
    "comments on one line": "<!---->" * 500_000,
    "code in code": "<pre>a\n\n" * 10_000,
    "quotes in quotes": ">" * 95 + " a\n" + "b\n" * 50_000,
    "quotes between lines": "a\n> ```\n" * 8_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_page_is_read_in_bounded_time(write_book: WriteBook, content: str) -> None:
    root = write_book({"a.mdx": content})
    begun = time.process_time()
    read_pages(root)
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    "content",
    [
        "<ul><li>x\n\n" * 3_000,
        "<table><tr><td>x\n\n" * 1_000 + "</td></tr></table>\n\n" * 1_000,
        f"<table><tr>{'<td>a</td>' * 2_000}</tr>\n{'<tr><td>a</td></tr>' * 2_000}</table>\n",
        "~~~\n" + "`" * 50_000 + "\n" + "abc def\n" * 10_000 + "~~~\n",
    ],
    ids=["lists", "tables", "wide table", "long fences"],
)
def test_text_of_a_hostile_page_is_not_much_longer_than_the_page(write_book: WriteBook, content: str) -> None:
    (page,) = read_pages(write_book({"a.mdx": content})).values()
    assert len(page.text) < 10 * len(content)


def test_partials_that_double_make_only_their_page_unreadable(write_book: WriteBook) -> None:
    partials = {f"_{n}.mdx": f"import A from './_{n + 1}.mdx'\n\n<A/>\n\n<A/>\n" for n in range(18)}
    page = {"a.mdx": "import A from './_0.mdx'\n\n<A/>\n", "b.mdx": "import A from './_18.mdx'\n\n<A/>\n"}
    root = write_book({**partials, "_18.mdx": "Part.\n", **page})
    unreadable, readable = read_source(root).values()
    assert isinstance(unreadable, Unreadable)
    assert "more than 5,000 partials" in unreadable.reason
    assert isinstance(readable, Page)
    assert readable.text == "# b\n\nPart."


def test_large_partial_shown_often_makes_its_page_unreadable(write_book: WriteBook) -> None:
    part = {"_a.mdx": "word " * 60_000}
    root = write_book({**part, "a.mdx": "import A from './_a.mdx'\n\n" + "<A/>\n\n" * 100})
    (entry,) = read_source(root).values()
    assert isinstance(entry, Unreadable)
    assert "20,000,000 characters" in entry.reason


def test_mdx_code_block_is_read_as_mdx(write_book: WriteBook) -> None:
    block = "````mdx-code-block\n<b>bold</b>\n\n```js\ncode\n```\n````"
    open_block = "```mdx-code-block\n<i>text</i>"
    text = read_pages(write_book({"a.md": f"# A\n\n{block}\n\n{open_block}\n"}))["book/a.md"].text
    assert text == "# A\n\nbold\n\n```js\ncode\n```\n\n```mdx-code-block\n<i>text</i>\n```"
