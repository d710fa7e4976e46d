"""The book for language models, as https://llmstxt.org describes it: `llms.txt` and `llms-full.txt`.

`llms.txt` lists the pages, each with a link to its Markdown. `llms-full.txt` has all pages in one file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from .._internal.messages import format_count
from ..errors import NotFound
from ..identity import document_id as make_document_id
from .control_characters import remove_controls
from .page_markdown import render_page

if TYPE_CHECKING:
    from ..ports import PageRecord
    from ..validation.target import PageView
    from .reader import Reader

INDEX_FILE = "llms.txt"
FULL_FILE = "llms-full.txt"
PAGES_FOLDER = "pages"

OTHER_PAGES = "Pages"
"""The heading above pages that are in no folder."""

_MARKS = re.compile(r"([\\\[\]`*_<>])")
_FILE_NAME = re.compile(r"(?=.{1,200}$)([\w-]+/)*[\w-][\w.-]*", re.ASCII)
"""Names of files and folders that every file system accepts; without a dot, no folder is named as a file."""


def render_index(title: str, records: Sequence[PageRecord], make_link: Callable[[str], str]) -> str:
    """Return the text of `llms.txt`.

    Args:
        title: The title of the book.
        records: The pages, in the order of the book.
        make_link: Returns the address of a page's Markdown, by the id of the page.
    """
    groups: dict[str, list[PageRecord]] = {}
    has_one_source = len({record.source for record in records}) == 1
    for record in records:
        heading = _name_folder(record) if has_one_source else record.source
        groups.setdefault(heading, []).append(record)
    lines = [
        f"# {_escape(title)}",
        "",
        f"> {format_count(len(records), 'page')}. Each link leads to a page as Markdown; "
        f"[{FULL_FILE}]({FULL_FILE}) has all of them.",
    ]
    for heading, group in groups.items():
        lines += ["", f"## {_escape(heading)}", ""]
        lines += [
            f"- [{_escape(record.title or record.url)}]({make_link(record.document_id)}): {record.url}"
            for record in group
        ]
    return remove_controls("\n".join(lines) + "\n")


def render_full_head(title: str) -> str:
    """Return the beginning of `llms-full.txt`; the pages follow, each as `render_full_page` returns it."""
    return remove_controls(f"# {_escape(title)}\n")


def render_full_page(page: PageView) -> str:
    """Return a page as it stands in `llms-full.txt`."""
    return f"\n---\n\n{render_markdown(page)}"


def render_markdown(page: PageView) -> str:
    """Return a page as Markdown."""
    return remove_controls(render_page(page.title, page.url, page.text))


def link_page(document_id: str) -> str:
    """Return the address of a page's Markdown, relative to `llms.txt`."""
    return f"{PAGES_FOLDER}/{quote(document_id, safe='')}.md"


def name_file(document_id: str) -> str:
    """Return the path of a page's file, relative to `llms.txt`; an id that is no file name gets another."""
    name = document_id if _FILE_NAME.fullmatch(document_id) else make_document_id(document_id)
    return f"{PAGES_FOLDER}/{name}.md"


def export_book(reader: Reader, title: str, folder: Path) -> int:
    """Write `llms.txt`, `llms-full.txt` and all pages to a folder; return the number of pages."""
    records = reader.pages()
    count = 0
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / FULL_FILE).open("w", encoding="utf-8") as full:
        full.write(render_full_head(title))
        for record in records:
            try:
                page = reader.page(record.document_id)
            except NotFound:
                continue  # it was removed meanwhile
            path = folder / PurePosixPath(name_file(record.document_id))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(render_markdown(page), encoding="utf-8")
            full.write(render_full_page(page))
            count += 1
    (folder / INDEX_FILE).write_text(render_index(title, records, name_file), encoding="utf-8")
    return count


def _name_folder(record: PageRecord) -> str:
    """Return the name of the folder that a page is in, directly below its source."""
    folder, slash, _ = record.url.removeprefix(record.source).strip("/").partition("/")
    if not slash or "://" in record.url.removeprefix(record.source):
        return OTHER_PAGES
    words = re.sub(r"[-_]+", " ", unquote(folder)).strip()
    return words[:1].upper() + words[1:] or OTHER_PAGES


def _escape(text: str) -> str:
    """Write a text on one line so that Markdown shows it as it is."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
