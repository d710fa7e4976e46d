"""The application: routes, failures, the page and the manual, put together."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, Response
from starlette.exceptions import HTTPException

from ...errors import PertinentError
from ...settings import Settings
from ..library import Pertinent
from . import documents_api, labels_api, report_pages, search_api, v1_search_api, validate_api, web_pages
from .access_middleware import Cors, Gate, RateLimit
from .described import Described
from .errors import Problem, of_error, of_status, of_validation
from .failing import answer
from .labeling_session import LabelDesk
from .observability import Observer
from .report_folder import ReportList
from .request_middleware import Envelope
from .service import JSON, Service, service


def create_app(
    pertinent: Pertinent,
    observer: Observer | None = None,
    *,
    names: Collection[str] | None = None,
) -> FastAPI:
    """The service over an open Pertinent, with its settings.

    With `names`, it answers to these host names and to those of this machine; without, to any.
    """
    settings = pertinent.workspace.settings
    observer = observer or Observer()
    shared = Service(pertinent, observer, settings.request_timeout, _threads())
    desk = LabelDesk(pertinent, settings.golden) if settings.golden else None

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        if desk is not None:
            desk.close()
        shared.threads.shutdown(wait=True)
        # It may be started again.
        shared.threads = _threads()

    app = Described(
        title="Pertinent",
        description="Find the right passage of your documentation, with its exact address.",
        version=version("pertinent"),
        docs_url=None,
        redoc_url=None,
        # An address has one form; a redirect would trust the Host header for the other.
        redirect_slashes=False,
        # What is told of a request, the observer tells.
        telemetry={"tracing": False, "metrics": False, "logs": False},
        lifespan=lifespan,
    )
    app.state.service = shared
    app.state.needs_key = bool(settings.api_keys)
    app.state.label_desk = desk
    app.state.reports = ReportList(settings.reports.expanduser())
    for api in (search_api, v1_search_api, validate_api, documents_api, labels_api, report_pages):
        app.include_router(api.router)
    web_pages.add(app)
    _add_probes(app)
    _add_failures(app, observer)
    _add_layers(app, observer, settings, names)
    return app


def _threads() -> ThreadPoolExecutor:
    # One a core: more of them only wait for each other, for the cores and for the interpreter.
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="search")


def _add_probes(app: FastAPI) -> None:
    @app.get("/livez", include_in_schema=False)
    async def livez() -> Response:
        return JSON({"status": "ok"})

    @app.get("/readyz", include_in_schema=False)
    async def readyz(request: Request) -> Response:
        found = await service(request).health.check()
        body = {"status": found.status, "index": found.index, "catalog": found.catalog}
        return JSON(body, status_code=200 if found.index else 503)

    @app.get("/metrics", include_in_schema=False)
    async def metrics(request: Request) -> Response:
        await service(request).health.check()  # which counts the chunks
        return PlainTextResponse(
            service(request).observer.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8"
        )


def _add_failures(app: FastAPI, observer: Observer) -> None:
    def answered(problem: Problem, request: Request) -> Response:
        observer.failed(problem.error)
        return answer(problem, request.scope)

    async def ours(request: Request, error: PertinentError) -> Response:
        problem = of_error(error)
        if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            kind, detail = type(error).__name__, str(error)
            observer.log.error(problem.error, request_id=request.state.request_id, kind=kind, detail=detail)
        return answered(problem, request)

    async def ready(request: Request, error: Problem) -> Response:
        return answered(error, request)

    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return answered(of_validation(list(error.errors())), request)

    async def framework(request: Request, error: HTTPException) -> Response:
        problem = of_status(error.status_code, request.method, error.headers or {})
        return answered(problem, request)

    handlers: dict[type[Exception], Any] = {
        PertinentError: ours,
        Problem: ready,
        RequestValidationError: invalid,
        HTTPException: framework,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def _add_layers(app: FastAPI, observer: Observer, settings: Settings, names: Collection[str] | None) -> None:
    # The last added is the outermost: envelope, CORS, gate, routes.
    app.add_middleware(
        Gate,
        observer=observer,
        keys=[key.get_secret_value() for key in settings.api_keys],
        limit=RateLimit(settings.rate_limit) if settings.rate_limit else None,
        timeout=settings.request_timeout,
        names=names,
    )
    if settings.cors_origins:
        app.add_middleware(
            Cors,
            allow_origins=list(settings.cors_origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type", "x-api-key", "x-request-id"],
            expose_headers=["x-request-id", "retry-after"],
        )
    app.add_middleware(Envelope, observer=observer)
