"""The search page at `/`, the label page at `/label`, their files, and the widget for other sites."""

from __future__ import annotations

import os
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles

from ..web import STATIC

SERVED_TYPES = (".css", ".html", ".js", ".json", ".map", ".png", ".svg", ".woff2")
"""Only files of these types are served: the folders are Python packages too."""

_REVALIDATE = {"cache-control": "no-cache"}
"""Browsers ask whether a file has changed, and load it again only if it has."""


class BrowserFiles(StaticFiles):
    """The files of a folder that are meant for a browser."""

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Find the file of a path; a file of any other type does not exist."""
        return super().lookup_path(path) if path.endswith(SERVED_TYPES) else ("", None)

    def file_response(self, *args: Any, **options: Any) -> Response:
        """Send a file, to be revalidated on its next use."""
        response = super().file_response(*args, **options)
        response.headers.update(_REVALIDATE)
        return response


def add_web_pages(app: FastAPI) -> None:
    """Serve the pages and their files."""

    @app.get("/", include_in_schema=False)
    async def read_search_page() -> Response:
        return FileResponse(STATIC / "index.html", headers=_REVALIDATE)

    @app.get("/label", include_in_schema=False)
    async def read_label_page() -> Response:
        return FileResponse(STATIC / "label.html", headers=_REVALIDATE)

    @app.get("/widget.js", include_in_schema=False)
    async def read_widget() -> Response:
        headers = {**_REVALIDATE, "cross-origin-resource-policy": "cross-origin"}
        return FileResponse(STATIC / "widget.js", headers=headers)

    app.mount("/static", BrowserFiles(directory=STATIC), name="static")
