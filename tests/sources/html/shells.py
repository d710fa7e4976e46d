"""What Docusaurus builds around an article, copied from real pages; none of it may be read."""

from __future__ import annotations

from pathlib import Path
from string import Template

SNIPPETS = Path(__file__).parent / "docusaurus"
NAVIGATION = [
    *(
        "Skip to main content", "Announced", "Handbook", "Docs", "GitHub", "Sidebar link", "Crumb",
        "Version: 2.0",
    ),
    *("On this page", "Outdated version", "Tags:", "alpha", "Edit this page", "Last updated", "Jan 1, 2025"),
    *("Previous", "Next", "Toc link", "Copyright"),
]  # fmt: skip
"""Words outside of the article in each page that `docusaurus` makes."""

_SHELL = Template((SNIPPETS / "shell.html").read_text(encoding="utf-8"))


def docusaurus(article: str, *, title: str = "Page | Handbook", major: int = 3) -> str:
    """A page as Docusaurus 3 (or 2) builds it, with this article."""
    line = "div" if major > 2 else "span"  # what a line of code is wrapped in
    return _SHELL.substitute(article=article.replace("{line}", line), title=title, major=major)
