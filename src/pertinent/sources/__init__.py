"""Sources of pages: Markdown folders, live sites and BEIR corpora."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InvalidInput

if TYPE_CHECKING:
    from ..ports import Source  # imports numpy, which no source needs
    from .site import CrawlLimits, PageFilter

__all__ = ["open_source"]


def open_source(
    spec: str,
    *,
    base_url: str | None = None,
    name: str | None = None,
    follow_links: bool = False,
    cache_file: Path | None = None,
    page_filter: PageFilter | None = None,
    limits: CrawlLimits | None = None,
) -> Source:
    """Open the source that `spec` names.

    Args:
        spec: An `http://` or `https://` address, `beir:FOLDER`, or the path of a folder or file of Markdown.
        base_url: The public address of the pages, if it is not the one that the source gives them.
        name: The source's name; each kind of source has a default of its own.
        follow_links: Read symlinks that lead outside the source folder. Only for folders of Markdown.
        cache_file: The file of the crawl cache. Only for live sites, like `page_filter` and `limits`.
        page_filter: Which pages of a site to read.
        limits: How far a crawl may go.
    """
    if not spec.strip():
        raise InvalidInput("source", "must not be empty; give a folder of Markdown, or . for the current one")
    if name is not None and not name.strip():
        raise InvalidInput("name", "must not be empty")
    if follow_links and spec.lower().startswith(("http://", "https://", "beir:")):
        raise InvalidInput("follow_links", f"is for folders of Markdown, and {spec} is none; leave it out")
    if spec.lower().startswith(("http://", "https://")):
        from .site import SiteSource

        return SiteSource(
            spec, base_url=base_url, name=name, cache_file=cache_file, page_filter=page_filter, limits=limits
        )
    if re.match(r"[a-z][a-z0-9+.-]*://", spec, re.IGNORECASE):
        raise InvalidInput("source", f"must be a path or an http:// or https:// address, not {spec}")
    if page_filter is not None or limits is not None:
        raise InvalidInput(
            "source", f"{spec} is not a live site; leave out the options that select and limit its pages"
        )
    if spec.startswith("beir:"):
        from .beir import BeirSource

        return BeirSource(Path(spec.removeprefix("beir:")).expanduser(), name)
    from .markdown import MarkdownSource

    return MarkdownSource(Path(spec).expanduser(), base_url=base_url, name=name, follow_links=follow_links)
