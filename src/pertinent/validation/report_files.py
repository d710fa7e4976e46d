"""The files of reports: writing, reading and listing them."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from .._internal.safe_json import parse_json
from ..errors import InvalidInput
from .golden.text_files import write_atomically
from .report import ValidationReport
from .report_fields import ReportPart, to_invalid_input

SCHEMA_VERSION = 1
OTHER_VERSION = "was written by another version of Pertinent; run `pertinent validate` again"
FILE_NAME = re.compile(r"report_(\d{8}_\d{6})(?:_\d+)?\.json")


def save_report(report: ValidationReport, folder: str | os.PathLike[str]) -> Path:
    """Write the report to a file named after its time; a second report of that second gets a number.

    Args:
        report: The report.
        folder: The folder; it is created where it does not exist.

    Returns:
        The path of the file.
    """
    folder = Path(folder)
    text = report.model_dump_json(indent=2) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stamp = datetime.fromisoformat(report.timestamp).strftime("%Y%m%d_%H%M%S")
        for number in range(1, 1000):
            path = folder / (f"report_{stamp}.json" if number == 1 else f"report_{stamp}_{number}.json")
            try:
                path.touch(exist_ok=False)
            except FileExistsError:
                continue
            try:
                write_atomically(path, text, field="output")
            except InvalidInput:
                path.unlink(missing_ok=True)  # it is empty
                raise
            return path
    except OSError as error:
        raise InvalidInput("output", f"can't write to {folder}: {error.strerror or error}") from error
    raise InvalidInput("output", f"{folder} already has 999 reports of this second")


def load_report(path: str | os.PathLike[str]) -> ValidationReport:
    """Load a report from a file; the error says what is wrong with the file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            "report", f"{path} can't be read: {getattr(error, 'strerror', None) or error}"
        ) from error
    try:
        fields = parse_json(text)
    except ValueError as error:
        raise InvalidInput("report", f"{path} is not JSON that can be read: {error}") from error
    if isinstance(fields, dict) and fields.get("schema_version") not in (None, SCHEMA_VERSION):
        raise InvalidInput("report", f"{path} {OTHER_VERSION}")
    try:
        report = ValidationReport.model_validate(fields)
    except ValidationError as error:
        has_version = isinstance(fields, dict) and "schema_version" in fields
        if has_version and any(detail["type"] == "missing" for detail in error.errors()):
            raise InvalidInput("report", f"{path} {OTHER_VERSION}") from error
        raise InvalidInput("report", f"{path} is not a report: {to_invalid_input(error)}") from error
    if "schema_version" in report.model_fields_set and _lacks_fields(report):
        raise InvalidInput("report", f"{path} {OTHER_VERSION}")
    return report


def _lacks_fields(value: object) -> bool:
    """Whether a part of a report was filled with a default; `save_report` writes every field."""
    if isinstance(value, ReportPart):
        names = type(value).model_fields
        return not names.keys() <= value.model_fields_set or any(
            _lacks_fields(getattr(value, name)) for name in names
        )
    if isinstance(value, dict):
        return any(map(_lacks_fields, value.values()))
    return isinstance(value, list) and any(map(_lacks_fields, value))


def list_reports(folder: str | os.PathLike[str]) -> list[Path]:
    """List the report files in a folder, oldest first."""
    return sorted(path for path in Path(folder).glob("report_*.json") if FILE_NAME.fullmatch(path.name))
