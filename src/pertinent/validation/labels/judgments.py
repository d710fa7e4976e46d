"""Judgments: what each judge said of each passage, a line each in a file beside the golden set.

The golden file itself is never written. It is somebody's text, with comments, anchors and an order that
would not outlive being read and written again. `GOLDEN.judgments.jsonl` beside it only grows: to judge, to
skip and to take back are each a line, and `exchange.read` adds what stands to the golden set.

Nothing is lost and nothing is torn. A line counts once it is whole and on the disk; a process that is
killed leaves at most the beginning of one, of which nobody was told that it is saved: it is not read, and
the next writer cuts it off. Writers take turns by a lock, so that two never write into each other's lines.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from uuid import uuid4

from pydantic import Field, model_validator

from ..._internal.clock import utc_now
from ...errors import InvalidInput, StoreError
from ..golden.csv_tables import made
from ..golden.golden_set import GoldenQuery, GoldenSet, Label, Strict

ENDING = ".judgments.jsonl"
NAME_MAX = 60
NOTE_MAX = 1000


class Judgment(Strict):
    """What a judge said of a passage for a query; one without a label was skipped."""

    id: str = Field(min_length=1, max_length=100)
    at: str
    query: str
    chunk: str = Field(description="The passage as it was shown; the label outlives it")
    judge: str | None = None
    label: Label | None = None

    @model_validator(mode="after")
    def _is_of_one_judge(self) -> Self:
        if self.label is not None and self.label.judge != self.judge:
            raise ValueError("the label must name the same judge")
        if self.label is not None and "grade" not in self.label.model_fields_set:
            raise ValueError("the label must have its grade")
        return self


class Undo(Strict):
    """A judgment that was taken back."""

    id: str = Field(min_length=1, max_length=100)
    at: str
    undoes: str


Line = Judgment | Undo


def judgment(query: str, chunk: str, judge: str | None, label: Label | None) -> Judgment:
    """A judgment of this moment."""
    return Judgment(id=uuid4().hex, at=utc_now(), query=query, chunk=chunk, judge=judge, label=label)


def standing(lines: Sequence[Line]) -> list[Judgment]:
    """What counts: all that was not taken back, and of a judge's words on a passage the last."""
    undone = {line.undoes for line in lines if isinstance(line, Undo)}
    last: dict[tuple[str | None, str, str], Judgment] = {}
    for line in lines:
        if isinstance(line, Judgment) and line.id not in undone:
            key = (line.judge, line.query, line.chunk)
            last.pop(key, None)  # it stands where it was said last
            last[key] = line
    return list(last.values())


def merged(golden: GoldenSet, judgments: Sequence[Judgment], where: str = "the judgments") -> GoldenSet:
    """The golden set with the judges' labels after its own."""
    added: dict[str, list[Label]] = {query.id: [] for query in golden.queries}
    for one in judgments:
        if one.query not in added:
            raise InvalidInput(
                "golden",
                f"{where}: judgment {one.id} is of the query {one.query!r}, which the golden set does not "
                "have; give the query its id back, or take the line out",
            )
        if one.label is not None:
            added[one.query].append(one.label)
    queries = (_with(query, added[query.id], where) for query in golden.queries)
    return golden.model_copy(update={"queries": tuple(queries)})


def _with(query: GoldenQuery, labels: Sequence[Label], where: str) -> GoldenQuery:
    if not query.answerable and any(label.grade for label in labels):
        raise InvalidInput(
            "golden", f"{where}: query {query.id} is not answerable, but a judge found what answers it"
        )
    return query.model_copy(update={"labels": (*query.labels, *labels)}) if labels else query


def checked_judge(name: str | None) -> str | None:
    """A judge's name on one line; none where there is nothing in it."""
    return _words("judge", name, NAME_MAX)


def checked_note(note: str | None) -> str | None:
    """A note on one line; none where there is nothing in it."""
    return _words("note", note, NOTE_MAX)


def _words(field: str, text: str | None, most: int) -> str | None:
    # Control characters and halves of surrogate pairs are no words.
    letters = (" " if unicodedata.category(one) in ("Cc", "Cs") else one for one in text or "")
    words = " ".join("".join(letters).split())
    if len(words) > most:
        raise InvalidInput(field, f"has {len(words)} characters; it may have {most}")
    return words or None


@dataclass(frozen=True, slots=True)
class Log:
    """The file of judgments; safe to write to from many threads and processes."""

    path: Path

    @classmethod
    def beside(cls, golden: str | os.PathLike[str]) -> Log:
        """The one that belongs to a golden file."""
        place = Path(golden).expanduser()
        return cls(place.with_name(place.name + ENDING))

    def lines(self) -> list[Line]:
        """Everything that was ever said, in order."""
        try:
            return self._read(self.path.read_bytes())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"{self.path} can't be read: {error.strerror or error}") from error

    def standing(self) -> list[Judgment]:
        """What counts now."""
        return standing(self.lines())

    def add(self, line: Judgment) -> None:
        """Save a judgment; when this returns it is on the disk."""
        with self._turn() as file:
            self._append(file, line)

    def undo(self, judge: str | None) -> Judgment | None:
        """Take back the last that a judge said, and tell what it was; None where there is nothing."""
        if not self.path.exists():
            return None
        with self._turn() as file:
            said = [one for one in standing(self._read(_all(file))) if one.judge == judge]
            if said:
                self._append(file, Undo(id=uuid4().hex, at=utc_now(), undoes=said[-1].id))
            return said[-1] if said else None

    def _read(self, data: bytes) -> list[Line]:
        whole, _, tail = data.rpartition(b"\n")
        pieces = [*whole.split(b"\n"), *([tail] if _is_json(tail) else [])]
        named = ((f"{self.path}: line {number}", piece) for number, piece in enumerate(pieces, start=1))
        return [_line(where, piece) for where, piece in named if piece.strip()]

    def _append(self, file: int, line: Line) -> None:
        data = _all(file)
        self._read(data)  # a file that can't be read must not grow
        end = data.rfind(b"\n") + 1
        kept = len(data) if _is_json(data[end:]) else end
        text = line.model_dump_json(exclude_none=True).encode() + b"\n"
        os.ftruncate(file, kept)
        os.lseek(file, kept, os.SEEK_SET)
        try:
            _write(file, text if kept == end else b"\n" + text)
            os.fsync(file)
        except OSError:
            os.ftruncate(file, kept)
            raise
        if not data:
            _sync_folder(self.path.parent)

    @contextmanager
    def _turn(self) -> Iterator[int]:
        """The file, for this writer alone."""
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                _lock(file)
                yield file
            finally:
                os.close(file)  # which gives the lock back
        except OSError as error:
            raise StoreError(f"{self.path} can't be written: {error.strerror or error}") from error


def _lock(file: int) -> None:
    with suppress(ImportError):  # Windows, where one process alone may write
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


def _sync_folder(folder: Path) -> None:
    """Have the folder remember a new file, where the system can be asked to."""
    with suppress(OSError):
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _all(file: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    parts = []
    while part := os.read(file, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _is_json(piece: bytes) -> bool:
    try:
        json.loads(piece)
    except (ValueError, RecursionError):
        return False
    return True


def _line(where: str, piece: bytes) -> Line:
    try:
        found = json.loads(piece)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("golden", f"{where} is not JSON: {error}") from error
    if not isinstance(found, Mapping):
        raise InvalidInput("golden", f"{where} is not an object")
    return made(Undo, where, found) if "undoes" in found else made(Judgment, where, found)
