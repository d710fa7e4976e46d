"""Golden sets as CSV or TSV tables for a spreadsheet, one row per label."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from ...errors import InvalidFile, InvalidInput
from .errors import describe_error, error_path, list_errors
from .golden_set import MODELS, GoldenQuery, GoldenSet, Label, record_lines
from .parsing import Fault, ParseError, parse_json
from .short_forms import derive_id
from .text_files import AnyPath, read_utf8, write_atomically

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

QUERY_COLUMNS = ("query_id", "text", "query_type", "category", "answerable", "paraphrase_group", "top_k")
LABEL_COLUMNS = ("page", "url", "anchor", "quote", "grade", "note")
OPTIONAL_QUERY_COLUMNS = ("min_score", "expected_topic", "expected_criteria", "query_note")
OPTIONAL_LABEL_COLUMNS = ("chunk", "span", "judge")
"""Optional columns are written only if a query or label has a value for them."""
COLUMNS = (*QUERY_COLUMNS, *LABEL_COLUMNS, *OPTIONAL_QUERY_COLUMNS, *OPTIONAL_LABEL_COLUMNS)
_COLUMN_OF_FIELD = {name: name for name in COLUMNS} | {"id": "query_id"}

WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
# A cell that a spreadsheet would run as a formula, or that was escaped for that reason.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def read_table(path: AnyPath) -> GoldenSet:
    """Read a golden set from a CSV file, or TSV by its name.

    Each row is a label, or a query without one. Rows with the same `query_id`, or without an id and with the
    same text, belong to one query; later rows may leave the query's own columns blank. A table does not hold
    what belongs to the whole set, such as its unit and criteria: they have their defaults.

    Raises:
        InvalidFile: The table has errors. The message lists all of them, each with its line.
    """
    faults: list[Fault] = []
    queries: dict[str, list[_Row]] = defaultdict(list)
    for row in _read_rows(Path(path), faults):
        text, query_id = row.cells.get("text", ""), row.cells.get("query_id", "")
        if not (text or query_id):
            faults.append(Fault(row.line, 0, "needs a text, or the query_id of a row above"))
            continue
        rows = queries[query_id or derive_id(text)]
        rows.append(row)
        faults += _find_differences(rows[0], row)
    if not (queries or faults):
        raise InvalidInput("golden", f"{path} has no queries")
    fields = {
        "name": Path(path).stem or "golden",
        "queries": [_query_fields(query_id, rows) for query_id, rows in queries.items()],
    }
    lines = _lines_by_path(list(queries.values()))
    try:
        golden = GoldenSet.model_validate(fields)
    except ValidationError as error:
        faults += [_locate_error(detail, lines) for detail in list_errors(error) if queries]
    if faults:
        raise InvalidFile("golden", str(path), [str(fault) for fault in sorted(set(faults))])
    record_lines(golden, lines.__getitem__)
    return golden


def write_table(golden: GoldenSet, path: AnyPath) -> None:
    """Write the queries and labels as CSV, or TSV by the file's name.

    A cell that a spreadsheet would take for a formula gets an apostrophe, which `read_table` removes.
    """
    rows = [
        {**_query_cells(query), **(_label_cells(label, golden.pages) if label else {})}
        for query in golden.queries
        for label in query.labels or (None,)
    ]
    optional = (*OPTIONAL_QUERY_COLUMNS, *OPTIONAL_LABEL_COLUMNS)
    used = [column for column in optional if any(row.get(column) for row in rows)]
    columns = [*QUERY_COLUMNS, *LABEL_COLUMNS, *used]
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=_delimiter(Path(path)), lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_escape_formula(row.get(column, "")) for column in columns])
    # Excel recognises UTF-8 only by its byte order mark.
    write_atomically(path, out.getvalue(), encoding="utf-8-sig")


class _Row(NamedTuple):
    line: int
    cells: dict[str, str]


def _read_rows(path: Path, faults: list[Fault]) -> Iterator[_Row]:
    """Read the rows that are not blank, and add what is wrong to `faults`."""
    reader = csv.reader(io.StringIO(read_utf8(path), newline=""), delimiter=_delimiter(path), strict=True)
    header: list[str] = []
    next_line = 1
    try:
        for cells in reader:
            line, next_line = next_line, reader.line_num + 1
            if not header:
                header = cells
                faults += _check_header(line, cells)
                if faults:
                    return
            elif len(cells) != len(header) and any(cells):
                faults.append(Fault(line, 0, f"has {len(cells)} cells, but the header has {len(header)}"))
            elif any(cells):
                yield _Row(line, dict(zip(header, map(_unescape_formula, cells), strict=True)))
    except csv.Error as error:
        faults.append(Fault(reader.line_num, 0, str(error)))


def _check_header(line: int, cells: list[str]) -> list[Fault]:
    faults = []
    for number, cell in enumerate(cells):
        if cell not in COLUMNS:
            close = get_close_matches(cell, COLUMNS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"the columns are {', '.join(COLUMNS)}"
            faults.append(Fault(line, 0, f"there is no column {cell!r}; {hint}"))
        elif cell in cells[:number]:
            faults.append(Fault(line, 0, f"the column {cell!r} is there twice"))
    if "text" not in cells:
        faults.append(Fault(line, 0, f"the column text is missing; the columns are {', '.join(COLUMNS)}"))
    return faults


def _find_differences(first: _Row, row: _Row) -> Iterator[Fault]:
    """Find the query's columns that differ from those of its first row."""
    for column in (*QUERY_COLUMNS, *OPTIONAL_QUERY_COLUMNS):
        if row.cells.get(column, "") not in ("", first.cells.get(column, "")):
            yield Fault(row.line, 0, f"{column} differs from line {first.line}, which has the same query")


def _query_fields(query_id: str, rows: Sequence[_Row]) -> dict[str, Any]:
    cells = _filled_cells(rows[0], (*QUERY_COLUMNS, *OPTIONAL_QUERY_COLUMNS))
    cells.pop("query_id", None)
    expected_criteria = _pop_expected_criteria(cells)
    note = cells.pop("query_note", None)
    labels = [fields for row in rows if (fields := _label_fields(row))]
    return {
        "text": "",
        **cells,
        "id": query_id,
        "expected_criteria": expected_criteria,
        "note": note,
        "labels": labels,
    }


def _pop_expected_criteria(cells: dict[str, Any]) -> Any:
    """Take the expected criteria out of a row's cells; `expected_criteria` holds further ones as JSON."""
    further = cells.pop("expected_criteria", "{}")
    expected = {name: cells.pop(name) for name in ("min_score", "expected_topic") if name in cells}
    try:
        further = parse_json(further).value
    except ParseError:
        return further
    return {**further, **expected} if isinstance(further, dict) else further


def _label_fields(row: _Row) -> dict[str, Any]:
    fields = _filled_cells(row, (*LABEL_COLUMNS, *OPTIONAL_LABEL_COLUMNS))
    if "span" in fields:
        fields["span"] = fields["span"].split("..")
    return fields


def _filled_cells(row: _Row, columns: Sequence[str]) -> dict[str, Any]:
    """The cells of some columns that are not blank, with whole numbers converted."""
    cells: dict[str, Any] = {name: cell for name, cell in row.cells.items() if cell and name in columns}
    for name in {"grade", "top_k"} & {*cells}:
        if WHOLE_NUMBER.fullmatch(cells[name]):
            cells[name] = int(cells[name])
    return cells


def _lines_by_path(queries: Sequence[Sequence[_Row]]) -> dict[tuple[str | int, ...], int]:
    """The line of each query and label, by its path in the golden set."""
    lines: dict[tuple[str | int, ...], int] = {}
    for number, rows in enumerate(queries):
        lines["queries", number] = rows[0].line
        for index, row in enumerate(row for row in rows if _label_fields(row)):
            lines["queries", number, "labels", index] = row.line
    return lines


def _locate_error(error: ErrorDetails, lines: Mapping[tuple[str | int, ...], int]) -> Fault:
    """Convert one of pydantic's errors to a fault with its row and column."""
    path = error_path(error)
    line = lines.get(path[:4]) or lines[path[:2]]
    parts = map(str, reversed(path[2:]))
    column = next((_COLUMN_OF_FIELD[part] for part in parts if part in _COLUMN_OF_FIELD), None)
    message = describe_error(error, MODELS)
    return Fault(line, 0, f"{column}: {message}" if column else message)


def _query_cells(query: GoldenQuery) -> dict[str, str]:
    expected = query.expected_criteria
    cells = query.model_dump(include={*QUERY_COLUMNS} - {"query_id", "answerable"}, exclude_none=True)
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


def _escape_formula(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _unescape_formula(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
