"""A live site as a source: which pages it has, how they are fetched, and what is remembered of them.

    robots.txt → sitemaps, or links → fetch → read → page

`source.py` is the door; everything else is one idea a file.
"""

from __future__ import annotations

from .limits import Choice, Limits
from .source import SiteSource

__all__ = ["Choice", "Limits", "SiteSource"]
