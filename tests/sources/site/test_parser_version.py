"""The version of parsed pages in the crawl cache changes with the output of the parser."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from pertinent.sources.site.parsing import PARSER_VERSION, parse_page

from ..html.shells import SNIPPETS, docusaurus
from .server import doc, links, page

HTML = Path(__file__).parents[1] / "html"
DIGEST = (7, "6561add297475a70dda70289b74fb8456d53607ac97ba4dda4584bf47530ee86")
"""The version of the parser, and the digest of what it gives for the pages below."""

LONG_KEYWORDS = ",".join(f"key-{number}" for number in range(1000))
LONG_HEAD = (
    f'<meta name="description" content="{"long " * 1000}"><meta name="keywords" content="{LONG_KEYWORDS}">'
    f'<link rel="canonical" href="/{"long/" * 1000}">'
)
"""Fields that are longer than what is kept of them."""


def fixed_pages() -> list[str]:
    """Built pages of several generators, every construct of Docusaurus, and pages that are not indexed."""
    pages = [file.read_text(encoding="utf-8") for file in sorted((HTML / "pages").glob("*.html"))]
    snippets = [file for file in sorted(SNIPPETS.glob("*.html")) if file.name != "shell.html"]
    pages += [docusaurus(file.read_text(encoding="utf-8")) for file in snippets]
    pages += [
        page("Links", links("/a", "b?c=1#d", "//other.example/x")),
        page("Hidden", head='<meta name="robots" content="noindex">'),
        page("Moved", head='<meta http-equiv="refresh" content="0; url=/new">'),
        doc("ros2/nodes", "Nodes", version="1.x"),
        page("Long", head=LONG_HEAD, lang="en-" * 1000),
    ]
    return pages


def test_parser_version_changes_with_the_output_of_the_parser() -> None:
    headers = {"content-type": "text/html; charset=utf-8"}
    digest = sha256()
    for number, html in enumerate(fixed_pages()):
        parsed = parse_page(
            html.encode(), headers, f"https://book.example/docs/page-{number}", with_links=True
        )
        digest.update(repr(replace(parsed, content=b"")).encode())
        # Uncompressed, since compressed bytes differ between versions of zlib.
        digest.update(repr(parsed.unpack_content() if parsed.content else None).encode())
    assert (PARSER_VERSION, digest.hexdigest()) == DIGEST, (
        "the parser gives other pages than before: increase PARSER_VERSION in sources/site/parsing.py, "
        "so that cached pages are parsed again, and store the new digest in DIGEST"
    )
