"""Pages of live sites: the HTML of one to its article."""

from .article import Article, read
from .metadata import is_hidden

__all__ = ["Article", "is_hidden", "read"]
