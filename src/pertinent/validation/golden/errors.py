"""Explain what is wrong with a golden set: all errors of a file at once, each with what to do."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from ..._internal.messages import explain_error
from ...errors import InvalidInput
from .parsing import Fault, ParsedText
from .short_forms import derive_id

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_USUAL_MISTAKES = {
    "answer": "labels",
    "answers": "labels",
    "place": "labels",
    "places": "labels",
    "query": "text",
    "question": "text",
    "questions": "queries",
    "type": "query_type",
}
"""Names that people often give a field, and its real name."""

Models = Mapping[tuple[str, ...], type[BaseModel]]
"""The models of a file by the fields that lead to them."""

_Model = TypeVar("_Model", bound=BaseModel)


def build_model(model: type[_Model], where: str, fields: Mapping[str, Any]) -> _Model:
    """Build a model, or raise an error that begins with `where` the fields come from."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        path = "".join(f"{part}: " for part in first["loc"])
        raise InvalidInput("golden", f"{where}: {path}{explain_error(first)}") from error


def locate_errors(error: ValidationError, parsed: ParsedText, models: Models) -> list[Fault]:
    """List the errors of a golden set, each with its query, its field and its position."""
    faults: dict[tuple[object, ...], Fault] = {}
    for detail in list_errors(error):
        if detail["type"] != "repeated_ids":  # find_repeated_ids knows their lines
            fault = _locate_error(detail, parsed, models)
            # Aliases let several queries share one mistake.
            faults.setdefault((fault.line, fault.column, detail["type"], *detail["loc"][-1:]), fault)
    return list(faults.values())


def _locate_error(error: ErrorDetails, parsed: ParsedText, models: Models) -> Fault:
    path = error_path(error)
    names = [str(part) for part in path]
    queries = parsed.value.get("queries")
    if len(path) > 1 and path[0] == "queries" and isinstance(queries, list):
        number = int(path[1])
        query_id = queries[number].get("id") if isinstance(queries[number], dict) else None
        names = [f"query {str(query_id or '').strip() or number + 1}", *names[2:]]
    message = describe_error(error, models)
    message = f"{'.'.join(names)}: {message}" if names else message
    return parsed.fault_at(path, message, at_key=error["type"] == "extra_forbidden")


def find_repeated_ids(parsed: ParsedText) -> list[Fault]:
    """List the queries with the id of an earlier one, also in a file that has other errors."""
    queries = parsed.value.get("queries")
    first: dict[str, int] = {}
    faults = []
    for number, query in enumerate(queries if isinstance(queries, list) else ()):
        fields = query if isinstance(query, dict) else {}
        text, own_id = fields.get("text"), fields.get("id")
        query_id = derive_id(text) if "id" not in fields and isinstance(text, str) else own_id
        if not isinstance(query_id, str) or first.setdefault(query_id, number) == number:
            continue
        line = parsed.line_of(("queries", first[query_id]))
        if own_id is None and text == queries[first[query_id]].get("text"):
            message = "is the same question as line {}; merge their labels, or give this one an `id`"
        elif own_id is None:
            message = "gets the same id from its text as line {}; give one of them an `id`"
        else:
            message = "line {} has the same id"
        path = ("queries", number) if own_id is None else ("queries", number, "id")
        faults.append(parsed.fault_at(path, f"query {query_id}: {message.format(line)}"))
    return faults


def list_errors(error: ValidationError) -> list[ErrorDetails]:
    """List pydantic's errors without those that only follow from others.

    A list whose only member is wrong is also reported as too short, and a wrong text also as an id that
    can't be derived.
    """
    errors = error.errors()
    following = ("too_short", "default_factory_not_called")
    return [detail for detail in errors if detail["type"] not in following] or errors


def error_path(error: ErrorDetails) -> tuple[int | str, ...]:
    """The path of an error. A label that points at nothing is an error of the label, not of one field."""
    return error["loc"][:-1] if error["type"] == "no_place" else error["loc"]


def describe_error(error: ErrorDetails, models: Models) -> str:
    """Say what is wrong with a value, and what to write instead."""
    if error["type"] == "extra_forbidden":
        return f"there is no such field{_suggest_field(error['loc'], models)}"
    value = error["input"]
    if error["type"] == "string_type" and not isinstance(value, dict | list | None):
        return f"must be text, but is read as {value}; write it in quotes"
    if isinstance(value, datetime.date):
        return f"is read as a date; write it in quotes: '{value}'"
    return explain_error(error)


def _suggest_field(path: Sequence[str | int], models: Models) -> str:
    """Suggest a field for an unknown one: a similar name here, else where such a field belongs."""
    *parents, name = path
    owner = tuple(part for part in parents if isinstance(part, str))
    fields = models[owner].model_fields
    usual = _USUAL_MISTAKES.get(str(name))
    close = [usual] if usual in fields else get_close_matches(str(name), fields, n=1)
    if close:
        return f"; did you mean {close[0]}?"
    for path_to_model, model in models.items():
        if name in model.model_fields:
            is_below = path_to_model[: len(owner)] == owner
            below = path_to_model[len(owner) :] if is_below else path_to_model
            return f"; it belongs {'under ' + '.'.join(below) if below else 'at the top of the file'}"
    return f"; the fields are {', '.join(fields)}"
