"""A report for its readers: a page, a summary for a CI job, and test results that CI knows."""

from __future__ import annotations

from .comparison import markdown_comparison
from .html import html
from .junit import junit
from .markdown import markdown

__all__ = ["html", "junit", "markdown", "markdown_comparison"]
