"""A failure as the caller reads it: JSON for a program, a small page for somebody with a browser."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope

from ..web import STATIC
from .errors import Problem
from .service import JSON

if TYPE_CHECKING:
    from jinja2 import Template

FOR_PROGRAMS = ("/api/", "/static/", "/docs/assets/")
"""What is asked for by programs, also by the page's own: they get JSON whatever they accept."""

HEADLINES = {
    HTTPStatus.UNAUTHORIZED: "A key is needed",
    HTTPStatus.NOT_FOUND: "There is no such page",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests",
    HTTPStatus.SERVICE_UNAVAILABLE: "The service can't answer now",
}


def answer(problem: Problem, scope: Scope) -> Response:
    """The problem in the form that the caller can read."""
    if not _reads_pages(scope):
        return JSON(problem.body, status_code=problem.status, headers=problem.headers)
    status = HTTPStatus(problem.status)
    page = _template().render(
        root=_way_up(scope),
        headline=HEADLINES.get(status, "This did not work"),
        message=problem.message[:1].upper() + problem.message[1:],
        status=problem.status,
    )
    # Half of a surrogate pair, quoted from an address, has no bytes.
    content = page.encode("utf-8", "replace")
    headers = {"cache-control": "no-store", "vary": "accept", **problem.headers}
    return HTMLResponse(content, status_code=problem.status, headers=headers)


def _reads_pages(scope: Scope) -> bool:
    accepted = Headers(scope=scope).get("accept", "")
    looks = scope["method"] == "GET" and "text/html" in accepted and "application/json" not in accepted
    return looks and not scope["path"].startswith(FOR_PROGRAMS)


def _way_up(scope: Scope) -> str:
    """From the address, as the browser has it, to where the pages begin."""
    address: bytes = scope.get("raw_path") or scope["path"].encode("utf-8", "replace")
    return "../" * (address.count(b"/") - 1)


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    pages = Environment(loader=FileSystemLoader(STATIC), autoescape=True, undefined=StrictUndefined)
    return pages.get_template("failure.html.jinja")
