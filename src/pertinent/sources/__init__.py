"""Where pages come from: Markdown trees, live sites and BEIR folders, opened by what the caller wrote."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InvalidInput

if TYPE_CHECKING:
    from ..ports import Source  # brings numpy along, which no source needs
    from .site import CrawlLimits, PageFilter

__all__ = ["open_source"]


def open_source(
    spec: str,
    *,
    base_url: str | None = None,
    name: str | None = None,
    memory: Path | None = None,
    choice: PageFilter | None = None,
    limits: CrawlLimits | None = None,
) -> Source:
    """The source that `spec` names: an address, `beir:DIR`, or the path of a folder or file of Markdown.

    What is remembered between crawls, which pages are wanted and how far a crawl may go is asked of
    sites alone.
    """
    if not spec.strip():
        raise InvalidInput("source", "must not be empty; give a folder of Markdown, or . for this one")
    if name is not None and not name.strip():
        raise InvalidInput("name", "must not be empty")
    if spec.lower().startswith(("http://", "https://")):
        from .site import SiteSource

        return SiteSource(
            spec, base_url=base_url, name=name, cache_file=memory, page_filter=choice, limits=limits
        )
    if re.match(r"[a-z][a-z0-9+.-]*://", spec, re.IGNORECASE):
        raise InvalidInput("source", f"{spec} is neither an http:// nor an https:// address, nor a path")
    if choice is not None or limits is not None:
        raise InvalidInput(
            "source", f"{spec} is no live site: there is no crawl to choose pages of, or to bound"
        )
    if spec.startswith("beir:"):
        from .beir import BeirSource

        return BeirSource(Path(spec.removeprefix("beir:")).expanduser(), name)
    from .markdown import MarkdownSource

    return MarkdownSource(Path(spec).expanduser(), base_url=base_url, name=name)
