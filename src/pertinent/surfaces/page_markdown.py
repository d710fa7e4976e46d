"""A page as Markdown: its title, its address and its text."""

from __future__ import annotations


def render_page(title: str, url: str, text: str) -> str:
    """Return the text below its heading and its address.

    Args:
        title: The title of the page; the address stands for one that is missing.
        url: The address of the page.
        text: The text of the page, which may begin with the heading.
    """
    heading, _, body = text.partition("\n") if text.startswith("# ") else (f"# {title or url}", "", text)
    return f"{heading}\n\nSource: {url}\n\n{body.strip()}\n"
