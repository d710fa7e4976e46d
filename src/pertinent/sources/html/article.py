"""Parsing of an HTML page to its article and its metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from ...types import FrontMatter
from ..front_matter import split_keywords
from ..normal_form import HeadingPiece, Piece
from . import docusaurus_markup, generic_markup
from .block_reader import BlockReader
from .charsets import to_utf8
from .links import absolute_links, accept_link
from .main_content import find_main_content
from .metadata import PageMetadata, read_metadata
from .parser_limits import limit_html
from .text import collapse_spaces
from .titles import is_ambiguous_title, page_title

_WITHOUT_EVENTS = int(LexborDocumentOptions.WO_EVENTS)
_SPHINX_INDEXES = ".genindex-jumpbox, .modindex-jumpbox, .domainindex-jumpbox"
"""Elements of Sphinx's index pages, which link to all pages and say nothing themselves."""


@dataclass(frozen=True, slots=True)
class Article:
    """What was read from a page; a page without an article has metadata and links only."""

    title: str
    """The title of the page, without the name of the site."""
    pieces: tuple[Piece, ...]
    """The headings and blocks of the article."""
    has_article: bool
    """Whether there is an article; False for a page that only lists other pages."""
    canonical: str | None
    """The address that the page names as its canonical one."""
    alternates: Mapping[str, str]
    """The addresses of the page's translations by language, as `hreflang` names them."""
    generator: str | None
    language: str | None
    version: str | None
    """The version of the docs that a Docusaurus page belongs to, such as `current`."""
    docusaurus_tag: str | None
    """The part of a Docusaurus site that a page belongs to, such as `docs-default-current`."""
    refresh_target: str | None
    """The address to which the page sends the browser, where that is all it does."""
    noindex: bool
    """Whether the page asks not to be indexed."""
    links: tuple[str, ...]
    """The addresses that the page links to, without fragments; empty where links were not read."""
    anchors: frozenset[str]
    """The fragments that exist on the page; empty where links were not read."""
    front_matter: FrontMatter
    """What the page says about itself beside its text."""
    truncated: bool = False
    """Whether the page was so large that its end was left out."""
    links_complete: bool = True
    """False if links were left out because of a limit."""


def parse_html(
    html: bytes | str,
    url: str,
    *,
    charset: str | None = None,
    with_links: bool = True,
    accepts_link: Callable[[str], bool] = accept_link,
) -> Article:
    """Parse the page at a url; broken HTML is read as browsers do.

    `charset` is what the server named. Without `with_links`, links and anchors are not read, which saves
    a fifth of the time. `accepts_link` tells which addresses are wanted as links.

    >>> article = parse_html("<title>Joints | Book</title><main><p>A joint turns.</p></main>", "https://b.example/j")
    >>> article.title, [piece.text for piece in article.pieces]
    ('Joints', ['Joints', 'A joint turns.'])
    """
    limited_html, truncated = limit_html(to_utf8(html, charset))
    page = LexborHTMLParser(limited_html, options=_WITHOUT_EVENTS, scripting=True)
    metadata = read_metadata(page, url)
    generator = metadata.get("generator")
    if docusaurus_markup.is_docusaurus(page, generator) and not docusaurus_markup.has_custom_theme(page):
        title, pieces = _read_docusaurus(page, metadata, url)
        tags, label = docusaurus_markup.read_tags(page), docusaurus_markup.read_sidebar_label(page)
    else:
        title, pieces = _read_generic(page, metadata, url)
        tags, label = (), ""
    keywords = split_keywords([metadata.get("keywords") or ""])
    hrefs, anchors = _read_links(page) if with_links else ([], frozenset())
    links = absolute_links(hrefs, metadata.base, accepts_link)
    return Article(
        title=title,
        pieces=tuple(pieces),
        has_article=bool(pieces),
        canonical=metadata.canonical,
        alternates=metadata.alternates,
        generator=generator,
        language=metadata.language,
        version=metadata.get("docusaurus_version", "docsearch:version"),
        docusaurus_tag=metadata.get("docusaurus_tag", "docsearch:docusaurus_tag"),
        refresh_target=metadata.refresh_target,
        noindex=metadata.noindex,
        links=links.addresses,
        anchors=anchors,
        truncated=truncated,
        links_complete=links.is_complete and not (with_links and truncated),
        front_matter=FrontMatter(metadata.get("description") or "", keywords, tags, label),
    )


def _read_links(page: LexborHTMLParser) -> tuple[list[str | None], frozenset[str]]:
    """The `href` of all links, and all fragments that exist on the page."""
    hrefs, anchors = [], set()
    for node in page.css("[id], a[href], a[name]"):
        attributes = node.attributes
        anchors.add(attributes.get("id"))
        if node.tag == "a":
            hrefs.append(attributes.get("href"))
            anchors.add(attributes.get("name"))
    return hrefs, frozenset(filter(None, anchors))


def _read_docusaurus(page: LexborHTMLParser, metadata: PageMetadata, url: str) -> tuple[str, list[Piece]]:
    root = docusaurus_markup.find_article(page)
    pieces = BlockReader(docusaurus_markup.MARKUP).read(root) if root is not None else []
    heading = _first_heading(pieces)
    if root is not None and not heading and (heading := _text(page.css_first("article > header h1"))):
        # The title of a blog post stands outside of the element with its text.
        pieces.insert(0, HeadingPiece(1, heading, ""))
    headings, site_names = [heading], metadata.site_names
    if is_ambiguous_title(metadata.title):
        headings.append(_text(page.css_first(".breadcrumbs__item--active")))
        site_names.append(_text(page.css_first(".navbar__title")))
    title = page_title(metadata.title, headings, site_names, url)
    label = docusaurus_markup.read_sidebar_label(page)
    if label and title == docusaurus_markup.file_name(page):
        # Without a title, Docusaurus shows the name of the file.
        pieces = [
            replace(piece, text=label) if piece == HeadingPiece(1, title, "") else piece for piece in pieces
        ]
        title = label
    return title, pieces


def _read_generic(page: LexborHTMLParser, metadata: PageMetadata, url: str) -> tuple[str, list[Piece]]:
    root = None if page.css_first(_SPHINX_INDEXES) else find_main_content(page)
    pieces = BlockReader(generic_markup.read_markup(page)).read(root) if root is not None else []
    heading = _first_heading(pieces)
    outer_heading = "" if heading else _text(page.css_first("h1"))  # of the page, or the name of the book
    site_names = [*metadata.site_names, outer_heading]
    title = page_title(metadata.title, [heading, outer_heading], site_names, url)
    if pieces and not heading and title and pieces[0].text.casefold() != title.casefold():
        pieces.insert(0, HeadingPiece(1, title, ""))
    return title, pieces


def _text(node: LexborNode | None) -> str:
    return collapse_spaces(node.text()) if node is not None else ""


def _first_heading(pieces: list[Piece]) -> str:
    """The text of the first heading of level 1."""
    return next((piece.text for piece in pieces if isinstance(piece, HeadingPiece) and piece.level == 1), "")
