"""A live site as a source of pages.

    discovery (robots.txt, sitemaps) → frontier → visit (fetch, parse) → crawl → page

`source.py` is the entry point, and `crawl.py` the main loop.
"""

from __future__ import annotations

from .limits import CrawlLimits
from .page_filter import PageFilter
from .source import SiteSource

__all__ = ["CrawlLimits", "PageFilter", "SiteSource"]
