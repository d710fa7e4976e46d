"""Golden sets as tables for a spreadsheet, one row a label; read as strictly as any other file."""

from __future__ import annotations

import csv
import io
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from ..errors import InvalidInput
from ..wording import wrong
from . import golden as files
from .golden import GoldenQuery, GoldenSet, Label

AnyPath = str | os.PathLike[str]

OF_QUERY = ("query_id", "text", "query_type", "category", "answerable", "paraphrase_group", "top_k")
OF_LABEL = ("page", "url", "anchor", "quote", "grade", "note")
OF_QUERY_TOO = ("min_score", "expected_topic", "query_note")
OF_LABEL_TOO = ("chunk", "span", "judge")
"""Columns that are written where some query or label has them."""

NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_Model = TypeVar("_Model", bound=BaseModel)
# What a spreadsheet would run as a formula, and what was made safe before.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def read_table(path: AnyPath) -> GoldenSet:
    """The golden set in a CSV file, or TSV by its name, one row a label; a query may have a row without.

    Later rows of a query may leave its own columns blank. What belongs to the whole set, such as its
    unit and its criteria, is not in a table and has its defaults.
    """
    rows: dict[str, list[_Row]] = defaultdict(list)
    for row in _table_rows(Path(path)):
        first = rows[row.cells["query_id"]][0] if row.cells["query_id"] in rows else row
        for column in (*OF_QUERY, *OF_QUERY_TOO):
            if row.cells.get(column, "") not in ("", first.cells.get(column, "")):
                raise InvalidInput("golden", f"{row.where}: {column} is another than that of {first.where}")
        rows[row.cells["query_id"]].append(row)
    if not rows:
        raise InvalidInput("golden", f"{path} has no queries")
    queries = tuple(_query_in(found) for found in rows.values())
    return GoldenSet(name=Path(path).stem or "golden", queries=queries)


def write_table(golden: GoldenSet, path: AnyPath) -> None:
    """The queries and their labels as CSV, or TSV by the file's name, one row a label.

    A cell that a spreadsheet would take for a formula gets an apostrophe, which reading takes away.
    """
    rows = [
        {**_query_cells(query), **(_label_cells(label, golden.pages) if label else {})}
        for query in golden.queries
        for label in query.labels or (None,)
    ]
    used = [one for one in (*OF_QUERY_TOO, *OF_LABEL_TOO) if any(row.get(one) for row in rows)]
    columns = [*OF_QUERY, *OF_LABEL, *used]
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=_delimiter(Path(path)), lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_safe(row.get(column, "")) for column in columns])
    # Excel takes UTF-8 for such only where the file begins with its mark.
    files.write_whole(Path(path), out.getvalue(), encoding="utf-8-sig")


class _Row(NamedTuple):
    where: str
    cells: dict[str, str]


def _table_rows(path: Path) -> Iterator[_Row]:
    reader = csv.reader(
        io.StringIO(text_of(path, "golden"), newline=""), delimiter=_delimiter(path), strict=True
    )
    header: list[str] = []
    line = 1
    try:
        for cells in reader:
            where, line = f"{path}: line {line}", reader.line_num + 1
            if not header:
                header = _header(where, cells)
            elif len(cells) != len(header) and any(cells):
                raise InvalidInput("golden", f"{where} has {len(cells)} cells, and the header {len(header)}")
            elif any(cells):
                yield _Row(where, dict(zip(header, map(_unsafe, cells), strict=True)))
    except csv.Error as error:
        raise InvalidInput("golden", f"{path}: line {reader.line_num}: {error}") from error


def _header(where: str, cells: list[str]) -> list[str]:
    known = (*OF_QUERY, *OF_LABEL, *OF_QUERY_TOO, *OF_LABEL_TOO)
    wrong = [cell for cell in cells if cell not in known or cells.count(cell) > 1]
    if wrong or not {"query_id", "text"} <= {*cells}:
        fault = f"{wrong[0]!r} is no column, or stands twice" if wrong else "query_id and text are needed"
        raise InvalidInput("golden", f"{where}: {fault}; the columns are {', '.join(known)}")
    return cells


def _query_in(rows: Sequence[_Row]) -> GoldenQuery:
    where, cells = rows[0]
    given = {name: cell for name, cell in cells.items() if cell and name in (*OF_QUERY, *OF_QUERY_TOO)}
    fields: dict[str, Any] = {"id": given.pop("query_id", ""), "text": "", **given}
    if "top_k" in fields:
        fields["top_k"] = whole_number("golden", where, "top_k", fields["top_k"])
    expected = {name: fields.pop(name) for name in ("min_score", "expected_topic") if name in fields}
    note = fields.pop("query_note", None)
    labels = [_label_in(row) for row in rows if any(map(row.cells.get, (*OF_LABEL, *OF_LABEL_TOO)))]
    fields |= {"expected_criteria": expected, "note": note, "labels": labels}
    return made(GoldenQuery, where, fields)


def _label_in(row: _Row) -> Label:
    fields: dict[str, Any] = {
        name: cell for name, cell in row.cells.items() if cell and name in (*OF_LABEL, *OF_LABEL_TOO)
    }
    fields["grade"] = whole_number("golden", row.where, "grade", row.cells.get("grade", ""))
    if "span" in fields:
        fields["span"] = fields["span"].split("..")
    return made(Label, row.where, fields)


def made(model: type[_Model], where: str, fields: Mapping[str, Any]) -> _Model:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        fault = error.errors()[0]
        place = "".join(f"{part}: " for part in fault["loc"])
        raise InvalidInput("golden", f"{where}: {place}{wrong(fault)}") from error


def _query_cells(query: GoldenQuery) -> dict[str, str]:
    expected = query.expected_criteria
    cells = query.model_dump(include={*OF_QUERY} - {"query_id", "answerable"}, exclude_none=True)
    cells |= {"query_id": query.id, "answerable": str(query.answerable).lower()}
    cells |= {"query_note": query.note or "", "expected_topic": expected.expected_topic or ""}
    cells["min_score"] = "" if expected.min_score is None else repr(expected.min_score)
    return {name: str(cell) for name, cell in cells.items()}


def _label_cells(label: Label, addresses: Mapping[str, str]) -> dict[str, str]:
    cells = label.model_dump(exclude_none=True)
    if url := label.url or addresses.get(label.page or ""):
        cells["url"] = url
    if label.span:
        cells["span"] = "{}..{}".format(*label.span)
    return {name: str(cell) for name, cell in cells.items()}


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


def _safe(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _unsafe(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def text_of(path: Path, field: str) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(field, f"{path} can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(field, f"{path} is not UTF-8") from error


def whole_number(field: str, where: str, name: str, text: str) -> int:
    if not NUMBER.fullmatch(text):
        raise InvalidInput(field, f"{where}: {name} must be a whole number, not {text!r}")
    return int(text)
