"""The base of models that refuse unknown fields: each error takes time, and an input may have thousands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, model_validator

MAX_REPORTED = 3
"""How many unknown fields are reported."""


class FewUnknownFields(BaseModel):
    """A model that reports at most `MAX_REPORTED` unknown fields."""

    @model_validator(mode="before")
    @classmethod
    def drop_further_unknown_fields(cls, data: Any) -> Any:
        """Return the input with all known fields and the first unknown ones."""
        if not isinstance(data, Mapping):
            return data
        field_names = {field.alias or name for name, field in cls.model_fields.items()}
        unknown = [name for name in data if name not in field_names]
        dropped = set(unknown[MAX_REPORTED:])
        return {name: value for name, value in data.items() if name not in dropped}
