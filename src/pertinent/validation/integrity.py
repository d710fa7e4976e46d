"""Check chunks: seed 000's six fields, the hash of the text, and whether they fit their page."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from .._internal.messages import limit_lines
from ..errors import InvalidInput
from ..limits import check_at_least, check_hash, check_text, check_time
from ..types import Chunk, DamagedPoint
from .target import PageView

MAX_POINTS = 50
"""How many damaged points are named."""
MAX_FAULTS = 5
"""How many faults of chunks are named."""
MAX_MISMATCHES = 5
"""How many chunks or results that differ from their page are named."""

_COMPARED = ("document_id", "url", "anchor", "section", "position", "start", "end", "text", "content_hash")
"""The fields of a result that its page must confirm. A title may come from a database of its own."""

_CHECKS: Mapping[str, Callable[[str, object], object]] = {
    "url": check_text,
    "title": check_text,
    "chunk_index": lambda field, value: check_at_least(field, value, 0),
    "content": check_text,
    "timestamp": check_time,
    "content_hash": check_hash,
}


def seed_fields(chunk: Chunk) -> dict[str, Any]:
    """Return the six fields of seed 000, as they are stored."""
    return {
        "url": chunk.url,
        "title": chunk.title,
        "chunk_index": chunk.position,
        "content": chunk.text,
        "timestamp": chunk.created_at,
        "content_hash": chunk.content_hash,
    }


def find_damage(chunk: Chunk) -> dict[str, InvalidInput]:
    """Return the fields that are missing or that seed 000 forbids, each with its error."""
    damage = {}
    for name, value in seed_fields(chunk).items():
        try:
            _CHECKS[name](name, value)
        except InvalidInput as error:
            damage[name] = error
    return damage


def hash_matches(chunk: Chunk) -> bool:
    """Return whether the stored hash is that of the text."""
    return hash_text(chunk.text) == chunk.content_hash


def hash_text(text: str) -> str:
    """Return the hash that a chunk with this text should have; damaged text has one too."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def completeness(chunks: Sequence[Chunk]) -> float:
    """Return the share of chunks with all six fields; 1.0 for no chunks."""
    return sum(not find_damage(chunk) for chunk in chunks) / len(chunks) if chunks else 1.0


def hash_rate(chunks: Sequence[Chunk]) -> float:
    """Return the share of chunks whose hash matches; 1.0 for no chunks."""
    return sum(hash_matches(chunk) for chunk in chunks) / len(chunks) if chunks else 1.0


def describe_damaged_points(points: Iterable[DamagedPoint]) -> list[str]:
    """Describe each damaged point once, with its fields; those beyond a limit are only counted."""
    lines = [f"damaged {point}" for point in {point.point_id: point for point in points}.values()]
    return limit_lines(lines, MAX_POINTS, "more damaged point")


def describe_faults(chunks: Iterable[Chunk]) -> list[str]:
    """Describe the faults of each chunk once; those beyond a limit are only counted."""
    lines = []
    for chunk in {(chunk.chunk_id, chunk.text): chunk for chunk in chunks}.values():
        name = f"chunk {chunk.chunk_id or '(without an id)'} of {chunk.url or 'an unknown page'}"
        damage, values = find_damage(chunk), seed_fields(chunk)
        if absent := [field for field in damage if values[field] in (None, "", -1)]:
            lines.append(f"{name} lacks {', '.join(absent)}")
        lines += [f"{name}: {error}" for field, error in damage.items() if field not in absent]
        if "content_hash" not in damage and not hash_matches(chunk):
            lines.append(f"{name}: its hash does not match its text")
    return limit_lines(lines, MAX_FAULTS, "more fault of chunks", "more faults of chunks")


def find_mismatches(results: Iterable[Chunk], pages: Iterable[PageView]) -> list[str]:
    """Describe each result that differs from the chunk with its id on the listed pages, once."""
    listed = {chunk.chunk_id: chunk for page in pages for chunk in page.chunks}
    lines = []
    for result in results:
        name = f"result {result.chunk_id} of {result.url}"
        if (chunk := listed.get(result.chunk_id)) is None:
            lines.append(f"{name} is on no listed page")
        elif fields := _list_differing_fields(result, chunk):
            lines.append(f"{name} differs from its page in {', '.join(fields)}")
    return list(dict.fromkeys(lines))


def _list_differing_fields(result: Chunk, chunk: Chunk) -> list[str]:
    # A point of an external collection may lack its position and its span: its page adds them.
    fields = [name for name in _COMPARED if getattr(result, name) != -1]
    return [name for name in fields if getattr(result, name) != getattr(chunk, name)]


def find_wrong_slices(pages: Iterable[PageView]) -> list[Chunk]:
    """Return the listed chunks whose text is not what their page has at their span.

    Labels are resolved by span, so a wrong span gives a result the labels of other passages.
    """
    return [chunk for page in pages for chunk in page.chunks if not chunk.is_slice_of(page.text)]


def describe_wrong_slices(chunks: Iterable[Chunk]) -> list[str]:
    """Describe chunks that are no slice of their page; those beyond a limit are only counted."""
    lines = [
        f"chunk {chunk.chunk_id} of {chunk.url} is not what its page has at {chunk.start} to {chunk.end}"
        for chunk in chunks
    ]
    return limit_lines(lines, MAX_MISMATCHES, "more such chunk")


def find_pages_with_gaps(pages: Iterable[PageView]) -> list[str]:
    """Return the pages whose chunks are not numbered 0, 1, 2 and so on."""
    return [
        page.source_path or page.url
        for page in pages
        if sorted(chunk.position for chunk in page.chunks) != list(range(len(page.chunks)))
    ]


def find_repeated_chunks(chunks: Sequence[Chunk]) -> list[str]:
    """Return the ids of chunks whose text an earlier chunk of the list has; white space may differ."""
    by_text: dict[str, list[str]] = defaultdict(list)
    for chunk in chunks:
        by_text[_collapse_spaces(chunk.text)].append(chunk.chunk_id)
    return [chunk_id for ids in by_text.values() for chunk_id in ids[1:]]


@lru_cache(maxsize=10_000)
def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())
