"""What is wrong with a request, in plain words: which field, and what it may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._internal.messages import explain_error
from ...errors import InvalidInput
from ...identity import shorten


def told(error: Mapping[str, Any]) -> str:
    """Which field, what is wrong with it, and what it may be."""
    refused = error.get("ctx", {}).get("error")
    if isinstance(refused, InvalidInput):
        return str(refused)
    # The first step says where it was looked for: body, query or path.
    place = ".".join(shorten(str(step), 100) for step in error["loc"][1:])
    if error["type"] == "json_invalid":
        return f"body: is not JSON: {refused} at character {place}"
    if error["type"] == "model_attributes_type" and not place:
        return "body: must be a JSON object, sent with Content-Type: application/json"
    return f"{place or 'body'}: {explain_error(error)}"
