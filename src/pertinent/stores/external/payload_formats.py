"""The shapes in which other pipelines store a passage: recognised by looking at points, or named.

A shape says where in a point's payload the things stand that we have names for. Everything here is a
pure function of payloads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...errors import SettingsError
from ...identity import shorten
from .payload import Payload, Shape, number_of, parsed, to_chunk, value_at, words_of

__all__ = ["FIELDS", "Recognition", "Seen", "Shape", "keys", "recognise", "to_chunk"]

_NAMES: Mapping[str, tuple[str, ...]] = {
    "url": ("url", "source_url", "page_url", "link", "source"),
    "title": ("title", "document_title", "page_title"),
    "section": ("section", "heading", "section_title"),
    "anchor": ("anchor",),
    "position": ("position", "chunk_index", "order_index", "split_id"),
    "chunk_id": ("chunk_id", "id"),
    "document_id": ("document_id", "doc_id", "source_id"),
    "source_path": ("source_path", "file_path", "path", "file_name", "filename", "source"),
    "slug": ("slug",),
    "source_type": ("source_type", "file_type"),
    "created_at": ("created_at", "timestamp", "ingested_at", "indexed_at"),
    "content_hash": ("content_hash",),
    "start": ("start_index", "start_char_idx", "split_idx_start"),
}
"""What pipelines call each thing, the likeliest first; the text is each shape's own."""

FIELDS = ("text", *_NAMES)
"""All that a shape may have a place for; `start` is read for the order of a page's chunks alone."""

ONE_BASED = "order_index"
"""A position that counts from 1 (seed 003); under this name a caller names one, too."""

ENOUGH = 0.5
"""The share of a shape's marks, and of the points with a text, from which on it is recognised."""

MARGIN = 0.25
"""A shape that takes another field for the text must score this much less than the best."""

DISTINCT = 0.9
"""The share of ids that must differ: an id that many points share is not the chunk's."""

TOLD = 20
_DEEP = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of one thing: where it stands, in how many of the points, and what it looks like."""

    name: str
    path: str | None
    count: int = 0
    example: str = ""


@dataclass(frozen=True, slots=True)
class Recognition:
    """A shape, and how well the points that were looked at fill it."""

    shape: Shape
    points: int
    seen: tuple[Seen, ...]

    @property
    def missing(self) -> tuple[Seen, ...]:
        """What some points, or all, do not have."""
        return tuple(one for one in self.seen if one.count < self.points)


@dataclass(frozen=True, slots=True)
class _Family:
    """A known shape: the fields that mark it, where its text stands, and below which keys all else does."""

    name: str
    marks: tuple[str, ...]
    text: tuple[str, ...]
    roots: tuple[str, ...] = ("",)


# Of equal scores the one with more marks counts: our own points have all that seeds 002 and 003 ask for.
_FAMILIES = (
    _Family(
        "pertinent",
        ("text", "url", "title", "position", "chunk_id", "document_id", "content_hash", "embedding_key"),
        ("text",),
    ),
    _Family("langchain", ("page_content", "metadata"), ("page_content",), ("metadata.", "")),
    _Family("langchain-js", ("content", "metadata", "metadata.loc"), ("content",), ("metadata.", "")),
    _Family(
        "llama-index",
        ("_node_content", "_node_type"),
        ("_node_content.text", "text", "_node_content.text_resource.text"),
        ("", "_node_content."),
    ),
    _Family("haystack", ("id", "content", "meta"), ("content",), ("meta.", "")),
    _Family(
        "retrieval-validation",
        ("content", "url", "title", "chunk_index", "timestamp", "content_hash"),
        ("content",),
    ),
    _Family("retrieval-testing", ("content", "url", "position", "chunk_id", "created_at"), ("content",)),
    _Family("retrieval-layer", ("text", "url|source_url", "chunk_id", "position", "title"), ("text",)),
    _Family(
        "retrieval-api",
        ("text", "chunk_id", "source_path", "slug", "title", "order_index"),
        ("text",),
    ),
    _Family(
        "retrieval-implementation",
        ("content", "chunk_id", "position", "metadata.url", "metadata.section", "metadata.document_id"),
        ("content",),
        ("metadata.", ""),
    ),
)


class _Fit(NamedTuple):
    score: float
    marks: int
    text: str
    family: _Family


def recognise(payloads: Sequence[Payload], named: Mapping[str, str] | None = None) -> Recognition:
    """The shape of the points, or the one that the caller names; an error that shows the keys otherwise.

    A known shape scores the share of its marks that the points have. The best is taken where it has
    enough of them and no other comes near that would read the text from another field.
    """
    shape = _named_shape(payloads, named) if named else _known_shape(payloads)
    return Recognition(shape, len(payloads), tuple(_seen(payloads, name, shape) for name in FIELDS))


def keys(payloads: Sequence[Payload]) -> list[Seen]:
    """Every path that stands in the points, by how many have it."""
    counts: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for payload in payloads:
        for path, value in _leaves(payload):
            counts[path] += 1
            if not examples.get(path):
                examples[path] = _example(value)
    found = [Seen(path, path, count, examples[path]) for path, count in counts.items()]
    return sorted(found, key=lambda one: (-one.count, one.name))


def _known_shape(payloads: Sequence[Payload]) -> Shape:
    if not payloads:
        raise SettingsError(f"there are no points to recognise the fields by; {_how_to_name('…')}")
    fits = sorted(
        (fit for family in _FAMILIES if (fit := _fit(family, payloads)) and fit.score >= ENOUGH),
        key=lambda fit: (-fit.score, -fit.marks),
    )
    if not fits:
        raise SettingsError(f"these fields are of no known shape: {_told(payloads)}. {_how_to_name()}")
    best = fits[0]
    rival = next((one for one in fits if one.text != best.text and one.score > best.score - MARGIN), None)
    if rival:
        raise SettingsError(
            f"the text may be {best.text!r} (as in {best.family.name}) or {rival.text!r} (as in "
            f"{rival.family.name}): {_told(payloads)}. {_how_to_name(best.text)}"
        )
    places = {"text": best.text, **_places(best.family, payloads)}
    return Shape(best.family.name, places, _base(payloads, places.get("position")))


def _fit(family: _Family, payloads: Sequence[Payload]) -> _Fit | None:
    """How well a known shape fits; not at all where too few points have its text."""
    text, count = _fullest("text", family.text, payloads)
    if count < ENOUGH * len(payloads):
        return None
    shares = [
        sum(any(value_at(one, path) is not None for path in mark.split("|")) for one in payloads)
        / len(payloads)
        for mark in family.marks
    ]
    return _Fit(sum(shares) / len(shares), len(shares), text, family)


def _places(family: _Family, payloads: Sequence[Payload]) -> dict[str, str]:
    """Where most of the points have each thing."""
    places = {}
    for name, called in _NAMES.items():
        path, count = _fullest(name, [root + one for root in family.roots for one in called], payloads)
        if count:
            places[name] = path
    return places


def _fullest(name: str, paths: Sequence[str], payloads: Sequence[Payload]) -> tuple[str, int]:
    """The path at which most points have a value that the thing may have; the first of equals."""
    counted = [(path, _count(name, path, payloads)) for path in paths]
    return max(counted, key=lambda pair: pair[1])


def _count(name: str, path: str, payloads: Sequence[Payload]) -> int:
    values = [value for one in payloads if (value := _usable(name, value_at(one, path), path))]
    if name == "chunk_id" and len(set(values)) < DISTINCT * len(values):
        return 0
    return len(values)


def _usable(name: str, value: object, path: str) -> str:
    """The value as the thing would show it; nothing where it can't be that."""
    if name in ("position", "start"):
        number = number_of(value)
        return "" if number < 0 else str(number)
    words = words_of(name, value)
    # What is called `source` is an address in one collection and a file in the next.
    if path.rpartition(".")[2] == "source" and (name == "url") != ("://" in words):
        return ""
    return words


def _base(payloads: Sequence[Payload], path: str | None) -> int:
    if path is None or path.rpartition(".")[2] != ONE_BASED:
        return 0
    return 0 if any(number_of(value_at(one, path)) == 0 for one in payloads) else 1


def _named_shape(payloads: Sequence[Payload], named: Mapping[str, str]) -> Shape:
    """The shape that a caller names: what it does not name is not looked for."""
    unknown = [name for name in named if name not in (*FIELDS, ONE_BASED)]
    if unknown:
        raise SettingsError(f"fields: {', '.join(unknown)} is none of {', '.join((*FIELDS, ONE_BASED))}")
    if "position" in named and ONE_BASED in named:
        raise SettingsError(f"fields: position counts from 0 and {ONE_BASED} from 1; name one of them")
    if not named.get("text"):
        raise SettingsError("fields: text must be named")
    places = {"position" if name == ONE_BASED else name: path for name, path in named.items()}
    if payloads and not _count("text", places["text"], payloads):
        raise SettingsError(f"fields: no point has a text at {places['text']!r}; there are {_told(payloads)}")
    return Shape("named", places, 1 if ONE_BASED in named else 0)


def _told(payloads: Sequence[Payload]) -> str:
    found = keys(payloads)
    more = f", and {len(found) - TOLD} more" if len(found) > TOLD else ""
    if not found:
        return f"none, the payloads of all {len(payloads)} points are empty"
    return ", ".join(f"{one.name} ({one.count} of {len(payloads)})" for one in found[:TOLD]) + more


def _how_to_name(text: str = "…") -> str:
    return f'Name them in pertinent.toml: [qdrant_fields] with text = "{text}", url = "…", title = "…"'


def _seen(payloads: Sequence[Payload], name: str, shape: Shape) -> Seen:
    path = shape.fields.get(name)
    if path is None:
        return Seen(name, None)
    values = [value for one in payloads if (value := _usable(name, value_at(one, path), ""))]
    return Seen(name, path, len(values), shorten(values[0], 200) if values else "")


def _leaves(value: object, path: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    here = parsed(value) if isinstance(value, str) and path == "_node_content" else value
    if isinstance(here, Mapping) and depth < _DEEP and here:
        for key, below in here.items():
            yield from _leaves(below, f"{path}.{key}" if path else str(key), depth + 1)
    elif path and value is not None:
        yield path, value


def _example(value: object) -> str:
    return shorten(value if isinstance(value, str) else repr(value), 200)
