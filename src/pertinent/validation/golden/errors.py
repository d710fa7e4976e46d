"""What is wrong with a golden set, in words: every error of a file at once, each with what to do."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from ..._internal.messages import explain_error
from .line_numbers import Document, Fault
from .short_forms import derive_id

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_MEANT = {
    "answer": "labels",
    "answers": "labels",
    "place": "labels",
    "places": "labels",
    "query": "text",
    "question": "text",
    "questions": "queries",
    "type": "query_type",
}
"""What a field is often called, and its name."""

Models = Mapping[tuple[str, ...], type[BaseModel]]
"""The models of a file by the fields that lead to them."""


def locate_errors(error: ValidationError, document: Document, models: Models) -> list[Fault]:
    """Every error of a golden set with its query, its field and its position."""
    faults: dict[tuple[object, ...], Fault] = {}
    for detail in list_errors(error):
        if detail["type"] != "repeated_ids":  # `find_repeated_ids` knows their lines
            fault = _locate(detail, document, models)
            # Aliases let several queries share one mistake.
            faults.setdefault((fault.line, fault.column, detail["type"], *detail["loc"][-1:]), fault)
    return list(faults.values())


def _locate(error: ErrorDetails, document: Document, models: Models) -> Fault:
    path = path_of(error)
    names = [str(part) for part in path]
    queries = document.value.get("queries")
    if len(path) > 1 and path[0] == "queries" and isinstance(queries, list):
        number = int(path[1])
        query_id = queries[number].get("id") if isinstance(queries[number], dict) else None
        names = [f"query {str(query_id or '').strip() or number + 1}", *names[2:]]
    message = describe(error, models)
    message = f"{'.'.join(names)}: {message}" if names else message
    return document.fault_at(path, message, at_key=error["type"] == "extra_forbidden")


def find_repeated_ids(document: Document) -> list[Fault]:
    """Queries with the id of an earlier one, also in a file that has other errors."""
    queries = document.value.get("queries")
    first: dict[str, int] = {}
    faults = []
    for number, query in enumerate(queries if isinstance(queries, list) else ()):
        fields = query if isinstance(query, dict) else {}
        text, given = fields.get("text"), fields.get("id")
        query_id = derive_id(text) if "id" not in fields and isinstance(text, str) else given
        if not isinstance(query_id, str) or first.setdefault(query_id, number) == number:
            continue
        line = document.line_of(("queries", first[query_id]))
        if given is None and text == queries[first[query_id]].get("text"):
            message = "asks the same as line {}; put the labels of both under one, or give this one an `id`"
        elif given is None:
            message = "gets the same id from its text as line {}; give one of them an `id`"
        else:
            message = "the id stands in line {} too"
        path = ("queries", number) if given is None else ("queries", number, "id")
        faults.append(document.fault_at(path, f"query {query_id}: {message.format(line)}"))
    return faults


def list_errors(error: ValidationError) -> list[ErrorDetails]:
    """Pydantic's errors without those that only follow from others.

    A list whose only member is wrong is also reported as too short, and an id is not made from a text
    that is wrong.
    """
    errors = error.errors()
    following = ("too_short", "default_factory_not_called")
    return [detail for detail in errors if detail["type"] not in following] or errors


def path_of(error: ErrorDetails) -> tuple[int | str, ...]:
    """Where an error is; a label without a place is one of the label, not of its last field."""
    return error["loc"][:-1] if error["type"] == "no_place" else error["loc"]


def describe(error: ErrorDetails, models: Models) -> str:
    """What is wrong with a value, and what to write instead."""
    if error["type"] == "extra_forbidden":
        return f"there is no such field{_suggest(error['loc'], models)}"
    value = error["input"]
    if error["type"] == "string_type" and not isinstance(value, dict | list | None):
        return f"must be text, but is read as {value}; write it in quotes"
    if isinstance(value, datetime.date):
        return f"is read as a date; write it in quotes: '{value}'"
    return explain_error(error)


def _suggest(path: Sequence[str | int], models: Models) -> str:
    """The field that an unknown one may stand for."""
    *parents, name = path
    fields = tuple(part for part in parents if isinstance(part, str))
    known = models[fields].model_fields
    meant = _MEANT.get(str(name))
    close = [meant] if meant in known else get_close_matches(str(name), known, n=1)
    if close:
        return f"; did you mean {close[0]}?"
    for owner, model in models.items():
        if name in model.model_fields:
            below = owner[len(fields) :] if owner[: len(fields)] == fields else owner
            return f"; it belongs {'under ' + '.'.join(below) if below else 'at the top of the file'}"
    return f"; there are {', '.join(known)}"
