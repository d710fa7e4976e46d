"""The API's description as OpenAPI 3.0: the Swagger UI that is there to be bundled reads nothing later."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

NOTHING = {"type": "null"}

KEYS = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "basic": {"type": "http", "scheme": "basic", "description": "Any name, with the key as its password"},
}
"""How a caller may show a key, where the service asks for one."""


class Described(FastAPI):
    """FastAPI, which describes itself in 3.1, put into the words of 3.0."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            described = {**_nullable(super().openapi()), "openapi": "3.0.3"}
            described["components"]["securitySchemes"] = KEYS
            if self.state.needs_key:
                described["security"] = [{name: []} for name in KEYS]
            self.openapi_schema = described
        return self.openapi_schema


def _nullable(value: Any) -> Any:
    """The same with `nullable` wherever null is one of several possible types."""
    if isinstance(value, list):
        return [_nullable(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {name: _nullable(one) for name, one in value.items()}
    if "const" in made and not isinstance(made["const"], dict):
        made["enum"] = [made.pop("const")]
    if NOTHING not in made.get("anyOf", ()):
        return made
    others = [one for one in made.pop("anyOf") if one != NOTHING]
    # What stands beside a reference is not read in 3.0.
    alone = len(others) == 1 and "$ref" not in others[0]
    return {**(others[0] if alone else {"anyOf": others}), **made, "nullable": True}
