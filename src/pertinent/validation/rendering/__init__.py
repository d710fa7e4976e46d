"""Render a report as an HTML page, as Markdown for a CI job, and as JUnit test results."""

from __future__ import annotations

from .html import render_html
from .junit import render_junit
from .markdown import render_markdown
from .markdown_comparison import render_markdown_comparison

__all__ = ["render_html", "render_junit", "render_markdown", "render_markdown_comparison"]
