"""HTML pages: from the bytes of a page to its article, as pieces of text, and its metadata."""

from .article import Article, parse_html
from .metadata import is_noindex

__all__ = ["Article", "is_noindex", "parse_html"]
