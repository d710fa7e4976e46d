"""Whether what is stored is whole: the six fields of every result, and the hash of its text (seed 000)."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from .._internal.messages import format_count
from ..errors import InvalidInput
from ..limits import check_at_least, check_hash, check_text, check_time
from ..types import Chunk, DamagedPoint
from .subject import PageView

LISTED = 50
"""How many damaged points are named."""
NAMED = 5
"""How many damaged chunks are named."""

_CHECKS: Mapping[str, Callable[[str, object], object]] = {
    "url": check_text,
    "title": check_text,
    "chunk_index": lambda field, value: check_at_least(field, value, 0),
    "content": check_text,
    "timestamp": check_time,
    "content_hash": check_hash,
}


def seed_fields(chunk: Chunk) -> dict[str, Any]:
    """The six fields of seed 000, as they are stored."""
    return {
        "url": chunk.url,
        "title": chunk.title,
        "chunk_index": chunk.position,
        "content": chunk.text,
        "timestamp": chunk.created_at,
        "content_hash": chunk.content_hash,
    }


def find_damage(chunk: Chunk) -> dict[str, InvalidInput]:
    """Which of the six fields are missing or not what seed 000 says, and what is wrong with each."""
    damage = {}
    for name, value in seed_fields(chunk).items():
        try:
            _CHECKS[name](name, value)
        except InvalidInput as error:
            damage[name] = error
    return damage


def hash_holds(chunk: Chunk) -> bool:
    """Whether the text is the one that the stored hash was made from."""
    return hashlib.sha256(chunk.text.encode("utf-8", "surrogatepass")).hexdigest() == chunk.content_hash


def completeness(chunks: Sequence[Chunk]) -> float:
    """The share of chunks with all six fields; 1.0 for none."""
    return sum(not find_damage(chunk) for chunk in chunks) / len(chunks) if chunks else 1.0


def hash_rate(chunks: Sequence[Chunk]) -> float:
    """The share of chunks whose text has its hash; 1.0 for none."""
    return sum(hash_holds(chunk) for chunk in chunks) / len(chunks) if chunks else 1.0


def damage(points: Iterable[DamagedPoint]) -> list[str]:
    """The damaged points, each once, in words that name the point and its fields."""
    named = [f"damaged {point}" for point in {point.point_id: point for point in points}.values()]
    more = format_count(len(named) - LISTED, "more damaged point", "more damaged points")
    return named[:LISTED] + ([f"and {more}"] if len(named) > LISTED else [])


def faults(chunks: Iterable[Chunk]) -> list[str]:
    """What is damaged, in words that name the chunk; each chunk once."""
    found = []
    for chunk in {(chunk.chunk_id, chunk.text): chunk for chunk in chunks}.values():
        name = f"chunk {chunk.chunk_id or '(without an id)'} of {chunk.url or 'an unknown page'}"
        damage, values = find_damage(chunk), seed_fields(chunk)
        if absent := [field for field in damage if values[field] in (None, "", -1)]:
            found.append(f"{name} lacks {', '.join(absent)}")
        found += [f"{name}: {error}" for field, error in damage.items() if field not in absent]
        if "content_hash" not in damage and not hash_holds(chunk):
            found.append(f"{name}: its text is not the one that its hash was made from")
    more = format_count(len(found) - NAMED, "more fault", "more faults")
    return found[:NAMED] + ([f"and {more} of chunks"] if len(found) > NAMED else [])


def gaps(pages: Iterable[PageView]) -> list[str]:
    """Pages whose chunks do not run 0, 1, 2 and so on."""
    return [
        page.source_path or page.url
        for page in pages
        if sorted(chunk.position for chunk in page.chunks) != list(range(len(page.chunks)))
    ]


def repeated(chunks: Sequence[Chunk]) -> list[str]:
    """Chunk ids whose text stands in the list before them: a reader gets the same passage twice."""
    by_text: dict[str, list[str]] = defaultdict(list)
    for chunk in chunks:
        by_text[_words(chunk.text)].append(chunk.chunk_id)
    return [chunk_id for same in by_text.values() for chunk_id in same[1:]]


@lru_cache(maxsize=10_000)
def _words(text: str) -> str:
    return " ".join(text.split())
