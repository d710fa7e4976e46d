"""The API documentation: Swagger UI at `/docs`, served without a network, and the security schemes."""

from __future__ import annotations

from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response

from .web_pages import BrowserFiles

SECURITY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "basic": {"type": "http", "scheme": "basic", "description": "Any user name, with the key as password"},
}
"""The ways to send an API key."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}: the API</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<link rel="icon" href="/static/favicon.svg">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/static/swagger.js"></script>
</body>
</html>
"""

# Swagger UI sets styles from its script, which the stricter policy of our own pages forbids.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def add_api_docs(app: FastAPI, *, needs_key: bool) -> None:
    """Serve Swagger UI, and add the security schemes to the OpenAPI description.

    Args:
        app: The application to document.
        needs_key: Whether every route needs an API key.

    """
    page = _PAGE.format(title=escape(app.title))

    @app.get("/docs", include_in_schema=False)
    async def read_docs() -> Response:
        return HTMLResponse(page, headers={"content-security-policy": _POLICY})

    # fastapi-offline bundles a current Swagger UI; nothing else of it is used.
    app.mount("/docs/assets", BrowserFiles(packages=[("fastapi_offline", "static")]), name="swagger-ui")
    generate = app.openapi

    def describe_with_security() -> dict[str, Any]:
        description = generate()
        description["components"]["securitySchemes"] = SECURITY_SCHEMES
        if needs_key:
            description["security"] = [{name: []} for name in SECURITY_SCHEMES]
        return description

    app.openapi = describe_with_security  # type: ignore[method-assign] # as FastAPI's manual recommends
