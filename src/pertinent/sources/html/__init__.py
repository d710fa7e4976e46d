"""HTML pages: from the bytes of a page to its article, as pieces of text, and its metadata."""

from .article import Article, parse_html
from .links import MAX_LINK_CHARACTERS, MAX_LINKS, accept_link
from .metadata import is_noindex_header

__all__ = ["MAX_LINKS", "MAX_LINK_CHARACTERS", "Article", "accept_link", "is_noindex_header", "parse_html"]
