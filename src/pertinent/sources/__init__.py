"""Where pages come from: Markdown trees and BEIR folders, opened by what the caller wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InvalidInput, SourceError

if TYPE_CHECKING:
    from ..ports import Source  # brings numpy along, which no source needs

__all__ = ["open_source"]


def open_source(spec: str, *, base_url: str | None = None, name: str | None = None) -> Source:
    """The source that `spec` names: `beir:DIR`, or the path of a folder or file of Markdown."""
    if not spec.strip():
        raise InvalidInput("source", "must not be empty; give a folder of Markdown, or . for this one")
    if name is not None and not name.strip():
        raise InvalidInput("name", "must not be empty")
    if spec.startswith("beir:"):
        from .beir import BeirSource

        return BeirSource(Path(spec.removeprefix("beir:")).expanduser(), name)
    if spec.lower().startswith(("http://", "https://")):
        raise SourceError(
            f"{spec} is a live site, which can't be indexed yet; "
            "index the folder with its Markdown files and give the address with --base-url"
        )
    from .markdown import MarkdownSource

    return MarkdownSource(Path(spec).expanduser(), base_url=base_url, name=name)
