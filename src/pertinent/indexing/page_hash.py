"""The hash of a page that was read from a folder: it tells whether the page has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import astuple

from ..types import FrontMatter, Page

_PART_CHARACTERS = 2**20


def hash_page(page: Page) -> str:
    """Return a hash of all that is stored of a page; it changes with the page."""
    fields: tuple[object, ...] = (
        page.document_id,
        page.url,
        page.title,
        page.source_path,
        page.slug,
        page.source_type,
        page.text,
    )
    if page.front_matter != FrontMatter():
        fields = (*fields, *astuple(page.front_matter))
    content = hashlib.sha256()
    for part in _encode_page(fields, page):
        # Half a surrogate pair has no bytes in UTF-8; the plan reports such a page.
        content.update(part.encode("utf-8", "surrogatepass"))
    return content.hexdigest()


def _encode_page(fields: Iterable[object], page: Page) -> Iterator[str]:
    """Yield the JSON list of the fields and the page's sections, in small parts: a page may be large."""
    yield "["
    for value in fields:
        if isinstance(value, str):
            yield '"'
            for start in range(0, len(value), _PART_CHARACTERS):
                yield json.dumps(value[start : start + _PART_CHARACTERS], ensure_ascii=False)[1:-1]
            yield '", '
        else:
            yield json.dumps(value, ensure_ascii=False) + ", "
    yield "["
    for number, section in enumerate(page.sections):
        blocks = [(block.kind, block.start, block.end) for block in section.blocks]
        yield ", " if number else ""
        yield json.dumps((section.path, section.anchor, blocks), ensure_ascii=False)
    yield "]]"
