"""A BEIR folder as a source: one page for each document of `corpus.jsonl`, under its own `_id`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, urlsplit

from .. import identity
from ..errors import InvalidInput, SourceError
from ..types import Page, Unreadable
from .blocks import BlockPiece, assemble

_BLANK = re.compile(r"\n[ \t]*\n\s*")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*\n(?:.*\n)*?[ \t]*\1[`~]*[ \t]*$", re.MULTILINE)


class BeirSource:
    """Documents of a BEIR corpus; `source_path` is the `_id`, so that judgments can refer to it."""

    def __init__(self, path: Path, name: str | None = None) -> None:
        corpus = path / "corpus.jsonl" if path.is_dir() else path
        if not corpus.is_file():
            raise InvalidInput("source", f"{path} has no corpus.jsonl; give a folder in the BEIR layout")
        self._corpus = corpus.resolve()
        self._name = name or self._corpus.parent.name

    @property
    def name(self) -> str:
        """The given name, else the folder's."""
        return self._name

    @property
    def location(self) -> str:
        """Where the corpus is on this machine."""
        return str(self._corpus)

    @property
    def total(self) -> int:
        """How many documents the corpus has."""
        with self._open() as lines:
            return sum(1 for line in lines if line.strip())

    def read(self) -> Iterator[Page | Unreadable]:
        """Every document, in the order of the file."""
        seen: dict[str, int] = {}
        with self._open() as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                place = f"{self._corpus.name}:{number}"
                try:
                    record = _record(line)
                    page = self._page(record)
                except ValueError as error:
                    yield Unreadable(place, f"line {number}: {error}", named=False)
                    continue
                first = seen.setdefault(record["_id"], number)
                if first != number:
                    yield Unreadable(
                        place, f"line {number}: the _id {record['_id']!r} stands on line {first} too"
                    )
                else:
                    yield page

    def _open(self) -> BinaryIO:
        try:
            return self._corpus.open("rb")
        except OSError as error:
            raise SourceError(f"{self._corpus} can't be opened: {error.strerror or error}") from error

    def _page(self, record: dict[str, Any]) -> Page:
        key = record["_id"]
        title = " ".join(str(record.get("title") or "").split()) or key
        text, sections = assemble(_pieces(record["text"]), title)
        slug = identity.ascii_slug(key) or identity.digest(key)
        document = identity.document_id(f"beir:{self._name}/{key}", slug)
        url = _url(record) or f"beir://{quote(self._name, safe='')}/{quote(key, safe='')}"
        return Page(document, url, title, key, slug, "beir-document", text, sections)


def _record(line: bytes) -> dict[str, Any]:
    """A line's document, checked; the `_id` comes out as text."""
    try:
        record = json.loads(line)
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON ({error.msg}, column {error.colno})") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(record, dict):
        raise ValueError("is not an object with _id and text")
    key = record.get("_id")
    if isinstance(key, bool) or not isinstance(key, str | int) or not str(key).strip():
        raise ValueError("has no _id")
    if not all(identity.storable(one) for one in record.values() if isinstance(one, str)):
        raise ValueError("has a NUL character or half a surrogate pair in it")
    if not isinstance(record.get("text"), str):
        raise ValueError(f"the document {str(key)!r} has no text")
    return {**record, "_id": str(key)}


def _url(record: dict[str, Any]) -> str | None:
    metadata = record.get("metadata")
    for value in (metadata.get("url") if isinstance(metadata, dict) else None, record.get("url")):
        if isinstance(value, str) and urlsplit(value).scheme in ("http", "https") and identity.is_url(value):
            return identity.canonical_url(value)
    return None


def _pieces(text: str) -> Iterator[BlockPiece]:
    """Paragraphs and fences of plain text; within them nothing changes but the line ends."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    position = 0
    for match in _FENCE.finditer(text):
        yield from _paragraphs(text[position : match.start()])
        yield BlockPiece("code", match.group().strip("\n"))
        position = match.end()
    yield from _paragraphs(text[position:])


def _paragraphs(text: str) -> Iterator[BlockPiece]:
    for part in _BLANK.split(text):
        if part.strip():
            yield BlockPiece("prose", part.strip("\n"))
