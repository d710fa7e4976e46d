"""What a browser is shown: the search page at `/`, the label page, and the manual of the API at `/docs`."""

from __future__ import annotations

import os
from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse, Response
from fastapi.staticfiles import StaticFiles

from ..web import STATIC

SERVED = (".css", ".html", ".js", ".json", ".map", ".png", ".svg", ".woff2")
"""What a browser may have of a folder; the page's is a Python package too."""

_MANUAL = """<!doctype html>
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
<script src="/static/manual.js"></script>
</body>
</html>
"""

# Swagger UI sets styles from its script, which the page's own stricter policy would refuse.
_MANUAL_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class Assets(StaticFiles):
    """The files of a folder that are meant for a browser."""

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        return super().lookup_path(path) if path.endswith(SERVED) else ("", None)

    def file_response(self, *arguments: Any, **others: Any) -> Response:
        response = super().file_response(*arguments, **others)
        # A new version is seen at once; what has not changed is not sent again.
        response.headers["cache-control"] = "no-cache"
        return response


def add(app: FastAPI) -> None:
    """Serve the page, its files and the manual; nothing of them comes from elsewhere."""
    from swagger_ui_bundle import swagger_ui_path

    manual = _MANUAL.format(title=escape(app.title))

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    @app.get("/label", include_in_schema=False)
    async def label() -> Response:
        return FileResponse(STATIC / "label.html", headers={"cache-control": "no-cache"})

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(manual, headers={"content-security-policy": _MANUAL_POLICY})

    app.mount("/static", Assets(directory=STATIC), name="static")
    app.mount("/docs/assets", Assets(directory=str(swagger_ui_path)), name="manual")
