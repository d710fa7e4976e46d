"""Judgments: the grades that judges give passages, saved line by line in a file beside the golden set.

The golden file itself is never written: writing it would lose its comments, YAML anchors and order. Instead
`GOLDEN.judgments.jsonl` beside it grows by one line for each judgment, skip and undo, and `read_golden` adds
the effective judgments to the golden set.

A line counts once it is complete and on the disk. A process that is killed leaves at most the beginning of a
line, which was not yet reported as saved; readers ignore it, and the next writer truncates it. A file lock
serialises writers.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import Self
from uuid import uuid4

from pydantic import Field, model_validator

from ..._internal.clock import utc_now
from ..._internal.safe_json import parse_json
from ...errors import InvalidInput, StoreError
from ..golden.errors import build_model
from ..golden.golden_set import GoldenQuery, GoldenSet, Label, StrictModel
from ..golden.text_files import AnyPath

SUFFIX = ".judgments.jsonl"
NAME_MAX = 60
NOTE_MAX = 1000

MAX_JUDGES = 50
"""How many judges a golden set can have: the agreement of every two of them is measured."""

CACHED_LINES = 50_000
"""How many lines are kept parsed: each judgment reads the whole log."""


class Judgment(StrictModel):
    """A judge's label on a passage for a query; without a label the passage was skipped."""

    id: str = Field(min_length=1, max_length=100)
    at: str
    query: str
    chunk: str = Field(description="The chunk that the judge was shown; the label does not depend on it")
    judge: str | None = None
    label: Label | None = None

    @model_validator(mode="after")
    def _check_label(self) -> Self:
        if self.label is not None and self.label.judge != self.judge:
            raise ValueError("the label must name the same judge")
        if self.label is not None and "grade" not in self.label.model_fields_set:
            raise ValueError("the label must have a grade")
        return self


class Undo(StrictModel):
    """Takes a judgment back."""

    id: str = Field(min_length=1, max_length=100)
    at: str
    undoes: str


LogEntry = Judgment | Undo


def create_judgment(query: str, chunk: str, judge: str | None, label: Label | None) -> Judgment:
    """Create a judgment with a new id and the current time."""
    return Judgment(id=uuid4().hex, at=utc_now(), query=query, chunk=chunk, judge=judge, label=label)


def find_effective(entries: Sequence[LogEntry]) -> list[Judgment]:
    """Find the judgments that count: not undone, and the last of each judge on each passage."""
    undone = {entry.undoes for entry in entries if isinstance(entry, Undo)}
    last: dict[tuple[str | None, str, str], Judgment] = {}
    for entry in entries:
        if isinstance(entry, Judgment) and entry.id not in undone:
            key = (entry.judge, entry.query, entry.chunk)
            last.pop(key, None)  # so that the order is that of the last judgments
            last[key] = entry
    return list(last.values())


def merge_judgments(
    golden: GoldenSet, judgments: Sequence[Judgment], where: str = "the judgments"
) -> GoldenSet:
    """Add the labels of judgments to a golden set, after its own.

    Args:
        golden: The golden set.
        judgments: The effective judgments.
        where: Where the judgments come from, for messages.

    Raises:
        InvalidInput: A judgment is of a query that the golden set does not have, or answers a query that
            is not answerable.
    """
    labels: dict[str, list[Label]] = {query.id: [] for query in golden.queries}
    for judgment in judgments:
        if judgment.query not in labels:
            raise InvalidInput(
                "golden",
                f"{where}: judgment {judgment.id} is of the query {judgment.query!r}, which the golden set "
                "does not have; restore the query's id, or delete the line",
            )
        if judgment.label is not None:
            labels[judgment.query].append(judgment.label)
    queries = (_add_labels(query, labels[query.id], where) for query in golden.queries)
    return golden.model_copy(update={"queries": tuple(queries)})


def _add_labels(query: GoldenQuery, labels: Sequence[Label], where: str) -> GoldenQuery:
    if not query.answerable and any(label.grade for label in labels):
        raise InvalidInput(
            "golden", f"{where}: query {query.id} is not answerable, but a judge labelled an answer"
        )
    return query.model_copy(update={"labels": (*query.labels, *labels)}) if labels else query


def check_judge_name(name: str | None) -> str | None:
    """Clean a judge's name, or refuse one that is too long; None if it is blank."""
    return _clean_text("judge", name, NAME_MAX)


def check_note(note: str | None) -> str | None:
    """Clean a note, or refuse one that is too long; None if it is blank."""
    return _clean_text("note", note, NOTE_MAX)


def _clean_text(field: str, text: str | None, limit: int) -> str | None:
    """Replace control characters, halves of surrogate pairs and runs of white space by single spaces."""
    letters = (" " if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text or "")
    cleaned = " ".join("".join(letters).split())
    if len(cleaned) > limit:
        raise InvalidInput(field, f"has {len(cleaned)} characters; it may have {limit}")
    return cleaned or None


@dataclass(frozen=True, slots=True)
class JudgmentLog:
    """The file of judgments. Many threads and processes may write to it at the same time."""

    path: Path

    @classmethod
    def for_golden_file(cls, golden: AnyPath) -> JudgmentLog:
        """The log that belongs to a golden file."""
        path = Path(golden).expanduser()
        return cls(path.with_name(path.name + SUFFIX))

    def read(self) -> list[LogEntry]:
        """Read all entries, in order."""
        try:
            return self._parse(self.path.read_bytes())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"{self.path} can't be read: {error.strerror or error}") from error

    def read_effective(self) -> list[Judgment]:
        """Read the judgments that count; see `find_effective`."""
        return find_effective(self.read())

    def add(self, judgment: Judgment) -> None:
        """Save a judgment; it is on the disk when this returns.

        Raises:
            InvalidInput: There are `MAX_JUDGES` judges, and this one is new.
        """
        with self._open_locked() as file:
            content = _read_all(file)
            entries = self._parse(content)
            judges = {entry.judge for entry in entries if isinstance(entry, Judgment)}
            if judgment.judge not in judges and len(judges) >= MAX_JUDGES:
                raise InvalidInput(
                    "judge", f"there are {MAX_JUDGES} judges already; use the name of one of them"
                )
            self._append(file, content, judgment)

    def undo(self, judge: str | None) -> Judgment | None:
        """Undo a judge's last judgment, and return it; None if there is none."""
        if not self.path.exists():
            return None
        with self._open_locked() as file:
            content = _read_all(file)
            effective = find_effective(self._parse(content))
            own = [judgment for judgment in effective if judgment.judge == judge]
            if own:
                self._append(file, content, Undo(id=uuid4().hex, at=utc_now(), undoes=own[-1].id))
            return own[-1] if own else None

    def _parse(self, content: bytes) -> list[LogEntry]:
        complete, _, tail = content.rpartition(b"\n")
        lines = [*complete.split(b"\n"), *([tail] if _is_json(tail) else [])]
        numbered = ((f"{self.path}: line {number}", line) for number, line in enumerate(lines, start=1))
        return [_parse_entry(where, line) for where, line in numbered if line.strip()]

    def _append(self, file: FileIO, content: bytes, entry: LogEntry) -> None:
        """Write an entry behind the present content, which has been parsed: a damaged file stays as it is."""
        last_line = content.rfind(b"\n") + 1
        end = len(content) if _is_json(content[last_line:]) else last_line
        line = entry.model_dump_json(exclude_none=True).encode() + b"\n"
        unwritten = line if end == last_line else b"\n" + line
        file.truncate(end)
        try:
            while unwritten:
                unwritten = unwritten[file.write(unwritten) :]
            os.fsync(file.fileno())
        except OSError:
            file.truncate(end)
            raise
        if not content:
            _sync_folder(self.path.parent)

    @contextmanager
    def _open_locked(self) -> Iterator[FileIO]:
        """Open the file without a buffer, and hold its lock while it is open."""
        try:
            with self.path.open("a+b", buffering=0) as file:
                with suppress(ImportError):  # Windows has no fcntl; there only one process may write
                    import fcntl

                    fcntl.flock(file, fcntl.LOCK_EX)
                yield file
        except OSError as error:
            raise StoreError(f"{self.path} can't be written: {error.strerror or error}") from error


def _sync_folder(folder: Path) -> None:
    """Flush the folder's entry of a new file to the disk, if the system supports that."""
    with suppress(OSError):
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def _read_all(file: FileIO) -> bytes:
    file.seek(0)
    return file.readall()


def _is_json(line: bytes) -> bool:
    try:
        parse_json(line)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=CACHED_LINES)
def _parse_entry(where: str, line: bytes) -> LogEntry:
    try:
        fields = parse_json(line)
    except ValueError as error:
        raise InvalidInput("golden", f"{where} is not JSON: {error}") from error
    if not isinstance(fields, Mapping):
        raise InvalidInput("golden", f"{where} is not an object")
    return build_model(Undo, where, fields) if "undoes" in fields else build_model(Judgment, where, fields)
