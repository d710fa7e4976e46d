"""Parsing of `llms.txt`, a list of a site's pages for language models (https://llmstxt.org).

It is Markdown: a heading, then links to pages, mostly to their Markdown versions. The address of such a
version is that of the page with `.md` at its end.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

from .addresses import is_file_address, is_llms_txt_address, normalize_address
from .sitemaps import ListedPage, Sitemap, too_many_pages

_LINK = re.compile(r"\]\(\s*<?([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)")
_MARKDOWN_VERSION = re.compile(r"(/index(\.html)?)?\.mdx?$", re.IGNORECASE)


def parse_llms_txt(body: bytes, address: str, *, max_pages: int) -> Sitemap | None:
    """Parse the body of an `llms.txt`; None if it is something else, such as HTML.

    Args:
        body: The content of the file.
        address: Its address, which links are relative to.
        max_pages: How many pages are listed at most; with more, the result has a `problem`.
    """
    text = body.decode("utf-8-sig", "replace").lstrip()
    if not text.startswith("# "):
        return None
    sitemap = Sitemap()
    for match in _LINK.finditer(text):
        link = normalize_address(match[1], address)
        if link is None:
            continue
        if is_llms_txt_address(link):
            sitemap.sitemaps.append(link)
            continue
        page = strip_markdown_ending(link)
        if is_file_address(page):
            continue
        if len(sitemap.pages) == max_pages:
            sitemap.problem = too_many_pages(max_pages)
            break
        sitemap.pages.append(ListedPage(page))
    return sitemap


def strip_markdown_ending(address: str) -> str:
    """Return the address of the page that a Markdown version belongs to.

    >>> strip_markdown_ending("https://book.example/docs/index.html.md")
    'https://book.example/docs/'
    >>> strip_markdown_ending("https://book.example/docs/a.html.md")
    'https://book.example/docs/a.html'
    """
    parts = urlsplit(address)
    path = _MARKDOWN_VERSION.sub(lambda match: "/" if match[1] else "", parts.path)
    return urlunsplit(parts._replace(path=path))
