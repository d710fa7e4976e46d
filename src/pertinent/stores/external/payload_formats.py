"""Recognise the payload format of another pipeline from sample points, or check the one that a user names.

A payload format says at which path of the payload each of our fields is stored. Everything here is a pure
function of payloads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...errors import SettingsError
from ...identity import shorten
from .payload import Payload, PayloadFormat, parse_json_object, read_number, read_path, read_text

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
"""The names that pipelines use for each field, the likeliest first; each format has its own for the text."""

FIELDS = ("text", *_NAMES)
"""All fields of a format; `start` is only used to order the chunks of a page."""

ONE_BASED = "order_index"
"""The name of a position that counts from 1 (seed 003), also in the settings."""

MIN_SHARE = 0.5
"""A format is recognised if the points have this share of its marks, and this share of them a text."""

MARGIN = 0.25
"""A format that reads the text from another field must score this much less than the best one."""

MIN_DISTINCT = 0.9
"""The share of ids that must differ: an id that many points share is not the chunk's."""

MAX_LISTED = 20
"""How many fields an error message lists."""
_MAX_DEPTH = 3


@dataclass(frozen=True, slots=True)
class FieldUsage:
    """A field: its path, how many of the points have it, and an example of its value."""

    name: str
    path: str | None
    count: int = 0
    example: str = ""


@dataclass(frozen=True, slots=True)
class Recognition:
    """A payload format, and how many of the sampled points have each field."""

    payload_format: PayloadFormat
    points: int
    fields: tuple[FieldUsage, ...]

    @property
    def missing(self) -> tuple[FieldUsage, ...]:
        """The fields that some or all of the points lack."""
        return tuple(field for field in self.fields if field.count < self.points)


@dataclass(frozen=True, slots=True)
class _KnownFormat:
    """A known format: its characteristic fields, the paths of its text, and the prefixes of other fields."""

    name: str
    marks: tuple[str, ...]
    text: tuple[str, ...]
    prefixes: tuple[str, ...] = ("",)


# Between equal scores the format with more marks wins: our own points have all fields of seeds 002 and 003.
_KNOWN_FORMATS = (
    _KnownFormat(
        "pertinent",
        ("text", "url", "title", "position", "chunk_id", "document_id", "content_hash", "embedding_key"),
        ("text",),
    ),
    _KnownFormat("langchain", ("page_content", "metadata"), ("page_content",), ("metadata.", "")),
    _KnownFormat("langchain-js", ("content", "metadata", "metadata.loc"), ("content",), ("metadata.", "")),
    _KnownFormat(
        "llama-index",
        ("_node_content", "_node_type"),
        ("_node_content.text", "text", "_node_content.text_resource.text"),
        ("", "_node_content."),
    ),
    _KnownFormat("haystack", ("id", "content", "meta"), ("content",), ("meta.", "")),
    _KnownFormat(
        "retrieval-validation",
        ("content", "url", "title", "chunk_index", "timestamp", "content_hash"),
        ("content",),
    ),
    _KnownFormat("retrieval-testing", ("content", "url", "position", "chunk_id", "created_at"), ("content",)),
    _KnownFormat("retrieval-layer", ("text", "url|source_url", "chunk_id", "position", "title"), ("text",)),
    _KnownFormat(
        "retrieval-api",
        ("text", "chunk_id", "source_path", "slug", "title", "order_index"),
        ("text",),
    ),
    _KnownFormat(
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
    known_format: _KnownFormat


def recognize_format(payloads: Sequence[Payload], named: Mapping[str, str] | None = None) -> Recognition:
    """Recognise the payload format of points.

    The score of a known format is the share of its marks that the points have. The best one is chosen if its
    score is high enough and no other format with a similar score reads the text from another field.

    Args:
        payloads: The payloads of a sample of points.
        named: The path of each field, if the user names them; then nothing is recognised.

    Raises:
        SettingsError: If no format fits or several do; the message lists the fields of the points.
    """
    payload_format = _check_named_format(payloads, named) if named else _choose_format(payloads)
    fields = tuple(_count_field(payloads, name, payload_format) for name in FIELDS)
    return Recognition(payload_format, len(payloads), fields)


def list_paths(payloads: Sequence[Payload]) -> list[FieldUsage]:
    """List every path of the payloads, the most frequent first."""
    counts: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for payload in payloads:
        for path, value in _leaves(payload):
            counts[path] += 1
            if not examples.get(path):
                examples[path] = _format_example(value)
    fields = [FieldUsage(path, path, count, examples[path]) for path, count in counts.items()]
    return sorted(fields, key=lambda field: (-field.count, field.name))


def _choose_format(payloads: Sequence[Payload]) -> PayloadFormat:
    if not payloads:
        raise SettingsError(f"there are no points to recognise the fields from; {_how_to_name('…')}")
    fits = sorted(
        (
            fit
            for known_format in _KNOWN_FORMATS
            if (fit := _fit_format(known_format, payloads)) and fit.score >= MIN_SHARE
        ),
        key=lambda fit: (-fit.score, -fit.marks),
    )
    if not fits:
        raise SettingsError(
            f"the payload format is not recognised: {_list_fields(payloads)}. {_how_to_name()}"
        )
    best = fits[0]
    rival = next((fit for fit in fits if fit.text != best.text and fit.score > best.score - MARGIN), None)
    if rival:
        raise SettingsError(
            f"the text may be {best.text!r} (as in {best.known_format.name}) or {rival.text!r} (as in "
            f"{rival.known_format.name}): {_list_fields(payloads)}. {_how_to_name(best.text)}"
        )
    paths = {"text": best.text, **_find_paths(best.known_format, payloads)}
    return PayloadFormat(best.known_format.name, paths, _position_base(payloads, paths.get("position")))


def _fit_format(known_format: _KnownFormat, payloads: Sequence[Payload]) -> _Fit | None:
    """Score a known format; None if too few points have its text."""
    text, count = _most_frequent_path("text", known_format.text, payloads)
    if count < MIN_SHARE * len(payloads):
        return None
    shares = [
        sum(any(read_path(payload, path) is not None for path in mark.split("|")) for payload in payloads)
        / len(payloads)
        for mark in known_format.marks
    ]
    return _Fit(sum(shares) / len(shares), len(shares), text, known_format)


def _find_paths(known_format: _KnownFormat, payloads: Sequence[Payload]) -> dict[str, str]:
    """Find the path at which most of the points have each field."""
    paths = {}
    for field, names in _NAMES.items():
        candidates = [prefix + name for prefix in known_format.prefixes for name in names]
        path, count = _most_frequent_path(field, candidates, payloads)
        if count:
            paths[field] = path
    return paths


def _most_frequent_path(name: str, paths: Sequence[str], payloads: Sequence[Payload]) -> tuple[str, int]:
    """Return the path at which most points have a usable value, and their number; the first of equals."""
    counted = [(path, _count_values(name, path, payloads)) for path in paths]
    return max(counted, key=lambda pair: pair[1])


def _count_values(name: str, path: str, payloads: Sequence[Payload]) -> int:
    values = [value for payload in payloads if (value := _usable_value(name, read_path(payload, path), path))]
    if name == "chunk_id" and len(set(values)) < MIN_DISTINCT * len(values):
        return 0
    return len(values)


def _usable_value(name: str, value: object, path: str) -> str:
    """Convert the value to text; empty if the field can't have it."""
    if name in ("position", "start"):
        number = read_number(value)
        return "" if number < 0 else str(number)
    text = read_text(name, value)
    # `source` is an address in some collections and a file in others.
    if path.rpartition(".")[2] == "source" and (name == "url") != ("://" in text):
        return ""
    return text


def _position_base(payloads: Sequence[Payload], path: str | None) -> int:
    if path is None or path.rpartition(".")[2] != ONE_BASED:
        return 0
    return 0 if any(read_number(read_path(payload, path)) == 0 for payload in payloads) else 1


def _check_named_format(payloads: Sequence[Payload], named: Mapping[str, str]) -> PayloadFormat:
    """Return the format that the user names; fields without a name are not searched for."""
    unknown = [name for name in named if name not in (*FIELDS, ONE_BASED)]
    if unknown:
        raise SettingsError(f"fields: {', '.join(unknown)} is none of {', '.join((*FIELDS, ONE_BASED))}")
    if "position" in named and ONE_BASED in named:
        raise SettingsError(f"fields: position counts from 0 and {ONE_BASED} from 1; name only one of them")
    if not named.get("text"):
        raise SettingsError("fields: text must be named")
    paths = {"position" if name == ONE_BASED else name: path for name, path in named.items()}
    if payloads and not _count_values("text", paths["text"], payloads):
        raise SettingsError(
            f"fields: no point has a text at {paths['text']!r}; there are {_list_fields(payloads)}"
        )
    return PayloadFormat("named", paths, 1 if ONE_BASED in named else 0)


def _list_fields(payloads: Sequence[Payload]) -> str:
    fields = list_paths(payloads)
    unlisted = f", and {len(fields) - MAX_LISTED} more" if len(fields) > MAX_LISTED else ""
    if not fields:
        return f"none, the payloads of all {len(payloads)} points are empty"
    return (
        ", ".join(f"{field.name} ({field.count} of {len(payloads)})" for field in fields[:MAX_LISTED])
        + unlisted
    )


def _how_to_name(text: str = "…") -> str:
    return f'Name them in pertinent.toml: [qdrant_fields] with text = "{text}", url = "…", title = "…"'


def _count_field(payloads: Sequence[Payload], name: str, payload_format: PayloadFormat) -> FieldUsage:
    path = payload_format.fields.get(name)
    if path is None:
        return FieldUsage(name, None)
    values = [value for payload in payloads if (value := _usable_value(name, read_path(payload, path), ""))]
    return FieldUsage(name, path, len(values), shorten(values[0], 200) if values else "")


def _leaves(value: object, path: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """Yield path and value of every leaf; LlamaIndex stores its node as JSON in `_node_content`."""
    parsed = parse_json_object(value) if isinstance(value, str) and path == "_node_content" else value
    if isinstance(parsed, Mapping) and depth < _MAX_DEPTH and parsed:
        for key, child in parsed.items():
            yield from _leaves(child, f"{path}.{key}" if path else str(key), depth + 1)
    elif path and value is not None:
        yield path, value


def _format_example(value: object) -> str:
    return shorten(value if isinstance(value, str) else repr(value), 200)
