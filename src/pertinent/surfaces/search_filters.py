"""Check the filters and options of a search from Python or the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from ..errors import InvalidInput
from ..identity import is_url
from ..limits import check_options, check_string
from ..types import Filters, SearchOptions


def make_options(filters: Filters | Mapping[str, str] | None = None, **options: Any) -> SearchOptions:
    """Return the options of a search; raise InvalidInput for one that is out of range.

    Args:
        filters: The filters, as they were passed.
        options: Other fields of `SearchOptions` by name.
    """
    return check_options(SearchOptions(filters=check_filters(filters), **options))


def check_filters(filters: Filters | Mapping[str, str] | None) -> Filters:
    """Return the filters as `Filters`; raise InvalidInput for an unknown name or an invalid value.

    Examples:
        >>> check_filters({"section": "Joints"})
        Filters(document_id=None, section='Joints', url=None, source_type=None)
    """
    if filters is None:
        return Filters()
    if isinstance(filters, Filters):
        filters = {name: value for name, value in asdict(filters).items() if value is not None}
    if not isinstance(filters, Mapping):
        raise InvalidInput("filter", f"must be names and values, not {type(filters).__name__}")
    names = [field.name for field in fields(Filters)]
    for name, value in filters.items():
        if name not in names:
            raise InvalidInput("filter", f"{name!r} is none of {', '.join(names)}")
        if not isinstance(value, str) or not value:
            raise InvalidInput("filter", f"{name} must be text that is not empty, not {value!r}")
        check_string("filter", value)
        if name == "url" and not is_url(value):
            raise InvalidInput(
                "filter",
                f"url must be an address like https://example.org/docs, with %20 for a space, not {value!r}",
            )
    return Filters(**filters)
