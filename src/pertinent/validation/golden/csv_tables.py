"""Golden sets as tables for a spreadsheet, one row a label; read as strictly as any other file."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from ..._internal.messages import explain_error
from ...errors import InvalidFile, InvalidInput
from . import golden_set as files
from .errors import describe, list_errors, path_of
from .golden_set import GoldenQuery, GoldenSet, Label
from .line_numbers import Fault, Unreadable, read_json
from .short_forms import derive_id

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

AnyPath = str | os.PathLike[str]

OF_QUERY = ("query_id", "text", "query_type", "category", "answerable", "paraphrase_group", "top_k")
OF_LABEL = ("page", "url", "anchor", "quote", "grade", "note")
OF_QUERY_TOO = ("min_score", "expected_topic", "expected_criteria", "query_note")
OF_LABEL_TOO = ("chunk", "span", "judge")
"""Columns that are written where some query or label has them."""
_COLUMNS = {name: name for name in (*OF_QUERY, *OF_LABEL, *OF_QUERY_TOO, *OF_LABEL_TOO)} | {"id": "query_id"}
"""The column of each field of a query or label."""

NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_Model = TypeVar("_Model", bound=BaseModel)
# What a spreadsheet would run as a formula, and what was made safe before.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def read_table(path: AnyPath) -> GoldenSet:
    """The golden set in a CSV file, or TSV by its name, one row a label; a query may have a row without.

    Rows with the same `query_id`, or without one and with the same text, are of one query. Later rows of a
    query may leave its own columns blank. What belongs to the whole set, such as its unit and its criteria,
    is not in a table and has its defaults.
    """
    faults: list[Fault] = []
    queries: dict[str, list[_Row]] = defaultdict(list)
    for row in _table_rows(Path(path), faults):
        text, query_id = row.cells.get("text", ""), row.cells.get("query_id", "")
        if not (text or query_id):
            faults.append(Fault(row.line, 0, "needs a text, or the query_id of a row above"))
            continue
        rows = queries[query_id or derive_id(text)]
        rows.append(row)
        faults += _find_differences(rows[0], row)
    if not (queries or faults):
        raise InvalidInput("golden", f"{path} has no queries")
    data = {
        "name": Path(path).stem or "golden",
        "queries": [_query_in(query_id, rows) for query_id, rows in queries.items()],
    }
    lines = _lines_by_path(list(queries.values()))
    try:
        golden = GoldenSet.model_validate(data)
    except ValidationError as error:
        faults += [_locate(detail, lines) for detail in list_errors(error) if queries]
    if faults:
        raise InvalidFile("golden", str(path), [str(fault) for fault in sorted(set(faults))])
    files.set_lines(golden, lines.__getitem__)
    return golden


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
    line: int
    cells: dict[str, str]


def _table_rows(path: Path, faults: list[Fault]) -> Iterator[_Row]:
    reader = csv.reader(
        io.StringIO(text_of(path, "golden"), newline=""), delimiter=_delimiter(path), strict=True
    )
    header: list[str] = []
    following = 1
    try:
        for cells in reader:
            line, following = following, reader.line_num + 1
            if not header:
                header = cells
                faults += _check_header(line, cells)
                if faults:
                    return
            elif len(cells) != len(header) and any(cells):
                faults.append(Fault(line, 0, f"has {len(cells)} cells, and the header {len(header)}"))
            elif any(cells):
                yield _Row(line, dict(zip(header, map(_unsafe, cells), strict=True)))
    except csv.Error as error:
        faults.append(Fault(reader.line_num, 0, str(error)))


def _check_header(line: int, cells: list[str]) -> list[Fault]:
    columns = (*OF_QUERY, *OF_LABEL, *OF_QUERY_TOO, *OF_LABEL_TOO)
    faults = []
    for number, cell in enumerate(cells):
        if cell not in columns:
            close = get_close_matches(cell, columns, n=1)
            hint = f"did you mean {close[0]}?" if close else f"the columns are {', '.join(columns)}"
            faults.append(Fault(line, 0, f"{cell!r} is no column; {hint}"))
        elif cell in cells[:number]:
            faults.append(Fault(line, 0, f"the column {cell!r} stands twice"))
    if "text" not in cells:
        faults.append(Fault(line, 0, f"the column text is needed; the columns are {', '.join(columns)}"))
    return faults


def _find_differences(first: _Row, row: _Row) -> Iterator[Fault]:
    """Columns of a query that differ from those of its first row."""
    for column in (*OF_QUERY, *OF_QUERY_TOO):
        if row.cells.get(column, "") not in ("", first.cells.get(column, "")):
            yield Fault(row.line, 0, f"{column} is another than that of line {first.line}")


def _query_in(query_id: str, rows: Sequence[_Row]) -> dict[str, Any]:
    cells = _filled(rows[0], (*OF_QUERY, *OF_QUERY_TOO))
    cells.pop("query_id", None)
    expected = _expected_in(cells)
    note = cells.pop("query_note", None)
    labels = [label for row in rows if (label := _label_in(row))]
    return {
        "text": "",
        **cells,
        "id": query_id,
        "expected_criteria": expected,
        "note": note,
        "labels": labels,
    }


def _expected_in(cells: dict[str, Any]) -> Any:
    """The expected criteria of a row, which are taken out of its cells: the further ones are JSON."""
    further = cells.pop("expected_criteria", "{}")
    expected = {name: cells.pop(name) for name in ("min_score", "expected_topic") if name in cells}
    try:
        further = read_json(further).value
    except Unreadable:
        return further
    return {**further, **expected} if isinstance(further, dict) else further


def _label_in(row: _Row) -> dict[str, Any]:
    fields = _filled(row, (*OF_LABEL, *OF_LABEL_TOO))
    if "span" in fields:
        fields["span"] = fields["span"].split("..")
    return fields


def _filled(row: _Row, columns: Sequence[str]) -> dict[str, Any]:
    """The cells of some columns that are not blank, whole numbers as such."""
    cells: dict[str, Any] = {name: cell for name, cell in row.cells.items() if cell and name in columns}
    for name in {"grade", "top_k"} & {*cells}:
        if NUMBER.fullmatch(cells[name]):
            cells[name] = int(cells[name])
    return cells


def _lines_by_path(queries: Sequence[Sequence[_Row]]) -> dict[tuple[str | int, ...], int]:
    """The line of each query and of each label, by where it is in the golden set."""
    lines: dict[tuple[str | int, ...], int] = {}
    for number, rows in enumerate(queries):
        lines["queries", number] = rows[0].line
        for index, row in enumerate(row for row in rows if _label_in(row)):
            lines["queries", number, "labels", index] = row.line
    return lines


def _locate(error: ErrorDetails, lines: Mapping[tuple[str | int, ...], int]) -> Fault:
    """One of pydantic's errors with its row and its column."""
    path = path_of(error)
    line = lines.get(path[:4]) or lines[path[:2]]
    column = next((_COLUMNS[part] for part in map(str, reversed(path[2:])) if part in _COLUMNS), None)
    message = describe(error, files.MODELS)
    return Fault(line, 0, f"{column}: {message}" if column else message)


def made(model: type[_Model], where: str, fields: Mapping[str, Any]) -> _Model:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        fault = error.errors()[0]
        place = "".join(f"{part}: " for part in fault["loc"])
        raise InvalidInput("golden", f"{where}: {place}{explain_error(fault)}") from error


def _query_cells(query: GoldenQuery) -> dict[str, str]:
    expected = query.expected_criteria
    cells = query.model_dump(include={*OF_QUERY} - {"query_id", "answerable"}, exclude_none=True)
    cells |= {"query_id": query.id, "answerable": str(query.answerable).lower()}
    cells |= {"query_note": query.note or "", "expected_topic": expected.expected_topic or ""}
    cells["min_score"] = "" if expected.min_score is None else repr(expected.min_score)
    if expected.model_extra:
        cells["expected_criteria"] = json.dumps(expected.model_extra, ensure_ascii=False)
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
