"""A page of a site as its readers see it: the article in pieces, and what the page says of itself."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from ..blocks import HeadingPiece, Piece
from . import docusaurus_markup as docusaurus
from . import generic_markup as general
from .block_reader import Reader
from .charsets import as_utf8
from .links import absolute_links
from .main_content import find_article
from .metadata import Facts, facts_of
from .parser_limits import cut
from .text import one_line
from .titles import is_ambiguous, page_title

_QUIET = int(LexborDocumentOptions.WO_EVENTS)
_INDEXES = ".genindex-jumpbox, .modindex-jumpbox, .domainindex-jumpbox"
"""What stands above Sphinx's indexes, which lead to all pages and say nothing."""


@dataclass(frozen=True, slots=True)
class Article:
    """What was read from a page; without an article it has no pieces, but all else."""

    title: str
    """The page's own, without the site's name."""
    pieces: tuple[Piece, ...]
    is_page: bool
    """Whether there is an article; not so for a list of pages that leads to others."""
    canonical: str | None
    """The address that the page gives itself."""
    generator: str | None
    language: str | None
    version: str | None
    """The version of the docs that a page of Docusaurus belongs to, such as `current`."""
    docusaurus_tag: str | None
    """The part of a Docusaurus site that a page belongs to, such as `docs-default-current`."""
    leads_to: str | None
    """The address that a browser is sent on to, where the page is there for nothing else."""
    noindex: bool
    """Whether the page asks not to be found."""
    links: tuple[str, ...]
    """Every address of the web that the page links to, without fragments; none where not looked for."""
    anchors: frozenset[str]
    """Every fragment that leads somewhere on the page; none where not looked for."""
    cut: bool = False
    """Whether the page was so large that its end was left out."""


def read(html: bytes | str, url: str, *, charset: str | None = None, places: bool = True) -> Article:
    """The article of a page at this address; `charset` is what the server said. Never raises.

    Its links and anchors are looked for only where `places` are wanted: that takes a fifth of the time.
    """
    kept, was_cut = cut(as_utf8(html, charset))
    page = LexborHTMLParser(kept, options=_QUIET, scripting=True)
    facts = facts_of(page, url)
    generator = facts.meta("generator")
    if docusaurus.is_docusaurus(page, generator) and not docusaurus.is_restyled(page):
        title, pieces = _docusaurus(page, facts, url)
    else:
        title, pieces = _general(page, facts, url)
    hrefs, anchors = _places(page) if places else ([], frozenset())
    return Article(
        title=title,
        pieces=tuple(pieces),
        is_page=bool(pieces),
        canonical=facts.canonical,
        generator=generator,
        language=facts.language,
        version=facts.meta("docusaurus_version", "docsearch:version"),
        docusaurus_tag=facts.meta("docusaurus_tag", "docsearch:docusaurus_tag"),
        leads_to=facts.leads_to,
        noindex=facts.noindex,
        links=absolute_links(hrefs, facts.base),
        anchors=anchors,
        cut=was_cut,
    )


def _places(page: LexborHTMLParser) -> tuple[list[str | None], frozenset[str]]:
    """Where the page's links lead, and which fragments of it can be led to."""
    hrefs, anchors = [], set()
    for node in page.css("[id], a[href], a[name]"):
        attributes = node.attributes
        anchors.add(attributes.get("id"))
        if node.tag == "a":
            hrefs.append(attributes.get("href"))
            anchors.add(attributes.get("name"))
    return hrefs, frozenset(filter(None, anchors))


def _docusaurus(page: LexborHTMLParser, facts: Facts, url: str) -> tuple[str, list[Piece]]:
    root = docusaurus.find(page)
    pieces = Reader(docusaurus.MARKUP).read(root) if root is not None else []
    heading = _first_heading(pieces)
    if root is not None and not heading and (heading := _text(page.css_first("article > header h1"))):
        # A post in a blog: its title stands above what its author wrote.
        pieces.insert(0, HeadingPiece(1, heading, ""))
    headings, sites = [heading], facts.sites
    if is_ambiguous(facts.titled):
        headings.append(_text(page.css_first(".breadcrumbs__item--active")))
        sites.append(_text(page.css_first(".navbar__title")))
    return page_title(facts.titled, headings, sites, url), pieces


def _general(page: LexborHTMLParser, facts: Facts, url: str) -> tuple[str, list[Piece]]:
    root = None if page.css_first(_INDEXES) else find_article(page)
    pieces = Reader(general.MARKUP).read(root) if root is not None else []
    heading = _first_heading(pieces)
    outside = "" if heading else _text(page.css_first("h1"))  # the page's, or the name of the whole book
    title = page_title(facts.titled, [heading, outside], [*facts.sites, outside], url)
    if pieces and not heading and title and pieces[0].text.casefold() != title.casefold():
        pieces.insert(0, HeadingPiece(1, title, ""))
    return title, pieces


def _text(node: LexborNode | None) -> str:
    return one_line(node.text()) if node is not None else ""


def _first_heading(pieces: list[Piece]) -> str:
    """The first heading of the first level."""
    return next((piece.text for piece in pieces if isinstance(piece, HeadingPiece) and piece.level == 1), "")
