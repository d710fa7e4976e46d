"""Read a BEIR corpus: one page for each document of `corpus.jsonl`, under its own `_id`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, urlsplit

from .. import identity
from ..errors import InvalidInput, SourceError
from ..types import NAME_MAX, Page, Unreadable
from .normal_form import BlockPiece, assemble

_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})(.*)$", re.MULTILINE)


class BeirSource:
    """Read the documents of a BEIR corpus; a page's `source_path` is the `_id`, which judgments refer to.

    Args:
        path: A folder with a `corpus.jsonl`, or the file itself.
        name: The source's name; by default that of the folder.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        corpus = path / "corpus.jsonl" if path.is_dir() else path
        if not corpus.is_file():
            raise InvalidInput("source", f"{path} has no corpus.jsonl; give a folder in the BEIR layout")
        self._corpus = corpus.resolve()
        self._name = name or self._corpus.parent.name

    @property
    def name(self) -> str:
        """The name given, else the folder's."""
        return self._name

    @property
    def location(self) -> str:
        """Where the corpus is on this machine."""
        return str(self._corpus)

    @property
    def language(self) -> None:
        """Unknown: a corpus does not say."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def total(self) -> int:
        """How many documents the corpus has."""
        with self._open() as lines:
            return sum(1 for line in lines if line.strip())

    def read(self) -> Iterator[Page | Unreadable]:
        """Yield every document in the order of the file."""
        line_of_id: dict[str, int] = {}
        with self._open() as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                line_name = f"{self._corpus.name}:{number}"
                try:
                    record = _parse_record(line)
                    page = self._build_page(record)
                except ValueError as error:
                    yield Unreadable(line_name, f"line {number}: {error}", path_identifies_page=False)
                    continue
                first = line_of_id.setdefault(record["_id"], number)
                if first != number:
                    reason = f"line {number}: the _id {record['_id']!r} is already used on line {first}"
                    yield Unreadable(line_name, reason)
                else:
                    yield page

    def _open(self) -> BinaryIO:
        try:
            return self._corpus.open("rb")
        except OSError as error:
            raise SourceError(f"{self._corpus} can't be opened: {error.strerror or error}") from error

    def _build_page(self, record: dict[str, Any]) -> Page:
        key = record["_id"]
        title = " ".join(str(record.get("title") or "").split())[:NAME_MAX] or key
        text, sections = assemble(_split_text(record["text"]), title)
        slug = identity.ascii_slug(key) or identity.digest(key)
        document = identity.document_id(f"beir:{self._name}/{key}", slug)
        url = _document_url(record) or f"beir://{quote(self._name, safe='')}/{quote(key, safe='')}"
        return Page(document, url, title, key, slug, "beir-document", text, sections)


def _parse_record(line: bytes) -> dict[str, Any]:
    """Parse and check a line; the `_id` is returned as text."""
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
    if not all(identity.is_storable(value) for value in record.values() if isinstance(value, str)):
        raise ValueError("contains a NUL character or half of a surrogate pair")
    if not isinstance(record.get("text"), str):
        raise ValueError(f"the document {str(key)!r} has no text")
    return {**record, "_id": str(key)}


def _document_url(record: dict[str, Any]) -> str | None:
    """Return the web address in a document's metadata or in its own fields, if it has one."""
    metadata = record.get("metadata")
    for value in (metadata.get("url") if isinstance(metadata, dict) else None, record.get("url")):
        if isinstance(value, str) and urlsplit(value).scheme in ("http", "https") and identity.is_url(value):
            return identity.canonical_url(value)
    return None


def _split_text(text: str) -> Iterator[BlockPiece]:
    """Split plain text into paragraphs and fenced code; only the line ends are changed."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    position = 0
    for start, end in _find_code(text):
        yield from _split_paragraphs(text[position:start])
        yield BlockPiece("code", text[start:end])
        position = end
    yield from _split_paragraphs(text[position:])


def _find_code(text: str) -> Iterator[tuple[int, int]]:
    """Find where each block of fenced code starts and ends."""
    fences = list(_FENCE.finditer(text))
    shortest_unclosed: dict[str, int] = {}
    first = 0
    while first < len(fences):
        marks = fences[first][1]
        last = None
        if len(marks) < shortest_unclosed.get(marks[0], len(text)):
            last = next(
                (index for index in range(first + 1, len(fences)) if _closes(fences[index], marks)), None
            )
            if last is None:
                shortest_unclosed[marks[0]] = len(marks)
        if last is not None:
            yield fences[first].start(), fences[last].end()
        first = (first if last is None else last) + 1


def _closes(fence: re.Match[str], marks: str) -> bool:
    return fence[1].startswith(marks) and not fence[2].rstrip(" \t").strip("`~")


def _split_paragraphs(text: str) -> Iterator[BlockPiece]:
    for part in _BLANK_LINES.split(text):
        if part.strip():
            yield BlockPiece("prose", part.strip("\n"))
