"""The FastAPI application: routes, error handlers, pages, API docs and middleware, put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from ...settings import Settings
from ..library import Pertinent
from . import (
    audits_api,
    docsearch_api,
    documents_api,
    labels_api,
    llms_txt_api,
    probes_api,
    report_pages,
    search_api,
    suggest_api,
    v1_health_api,
    v1_search_api,
    validate_api,
)
from .access_middleware import AccessKeys, AccessMiddleware
from .api_docs import add_api_docs
from .audit_queue import AuditQueue
from .cors import JsonCorsMiddleware
from .errors import add_error_handlers
from .labeling_session_builder import SessionBuilder
from .mcp_endpoint import MCP_HEADERS, McpEndpoint
from .observability import Observer
from .rate_limit import RateLimit
from .report_folder import ReportFolder
from .request_middleware import RequestMiddleware
from .service import Service
from .trusted_proxies import TrustedProxies
from .web_pages import add_web_pages


def create_app(
    pertinent: Pertinent,
    observer: Observer | None = None,
    *,
    host_names: Collection[str] | None = None,
    folder_token: str | None = None,
) -> FastAPI:
    """Create the application over an open Pertinent, with its settings.

    Args:
        pertinent: The open library; the caller closes it.
        observer: Records metrics, logs and traces; a new one by default.
        host_names: The host names that requests may use, besides loopback names; None allows any.
        folder_token: Accepted like an API key, from callers that can read the data folder.

    Examples:
        >>> uvicorn.run(create_app(Pertinent.open("data")), proxy_headers=False)

    """
    settings = pertinent.workspace.settings
    observer = observer or Observer()
    service = Service(pertinent, observer)
    audit_queue = AuditQueue(pertinent.workspace)
    session_builder = SessionBuilder(pertinent, settings.golden) if settings.golden else None
    mcp_endpoint = McpEndpoint(service, settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with mcp_endpoint.run():
            yield
        if session_builder is not None:
            session_builder.close()
        audit_queue.close()
        service.close()

    app = FastAPI(
        title="Pertinent",
        description="Find the right passage of your documentation, with its exact address.",
        version=version("pertinent"),
        docs_url=None,
        redoc_url=None,
        # A redirect to the address with or without a slash would trust the Host header.
        redirect_slashes=False,
        # The observer does all of this.
        telemetry={"tracing": False, "metrics": False, "logs": False},
        lifespan=lifespan,
    )
    app.state.service = service
    app.state.session_builder = session_builder
    app.state.audit_queue = audit_queue
    app.state.report_folder = ReportFolder(settings.reports.expanduser())
    apis = (
        search_api,
        v1_search_api,
        v1_health_api,
        suggest_api,
        docsearch_api,
        validate_api,
        audits_api,
        documents_api,
        labels_api,
        llms_txt_api,
        report_pages,
        probes_api,
    )
    for api in apis:
        app.include_router(api.router)
    mcp_endpoint.add_route(app)
    add_web_pages(app)
    add_api_docs(app, needs_key=bool(settings.api_keys))
    add_error_handlers(app, observer)
    _add_middleware(app, observer, settings, host_names, folder_token)
    return app


def _add_middleware(
    app: FastAPI,
    observer: Observer,
    settings: Settings,
    host_names: Collection[str] | None,
    folder_token: str | None,
) -> None:
    keys = AccessKeys(
        [key.get_secret_value() for key in settings.api_keys],
        [key.get_secret_value() for key in settings.public_keys],
        folder_token,
    )
    # The last one added is the outermost: proxy headers, RequestMiddleware, CORS, AccessMiddleware, routes.
    app.add_middleware(
        AccessMiddleware,
        observer=observer,
        keys=keys,
        rate_limit=RateLimit(settings.rate_limit) if settings.rate_limit else None,
        public_rate_limit=RateLimit(settings.public_rate_limit) if settings.public_rate_limit else None,
        timeout=settings.request_timeout,
        host_names=host_names,
        open_metrics=settings.open_metrics,
    )
    if settings.cors_origins:
        app.add_middleware(
            JsonCorsMiddleware,
            allow_origins=list(settings.cors_origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type", "x-api-key", "x-request-id", *MCP_HEADERS],
            expose_headers=["x-request-id", "retry-after"],
        )
    app.add_middleware(RequestMiddleware, observer=observer)
    proxies = TrustedProxies(settings.trusted_proxies).networks
    app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=[str(network) for network in proxies])
