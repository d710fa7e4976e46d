"""An error is a styled page in a browser, and JSON for a program."""

from __future__ import annotations

import re
from urllib.parse import urljoin

import pytest

from pertinent.errors import IndexFailure

from .conftest import Serve, Service, problem, raising

BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.mark.parametrize(
    ("path", "up"),
    [
        ("/nope", "./"),
        ("/labels", "./"),
        ("/reports/nope", "../"),
        ("/reports/report_20260101_120000.json", "../"),
        ("/reports/a%2fb%2fc", "../"),
        ("/a/b/c/", "../../../"),
        ("/reports/compare?before=nope&after=nope", "../"),
    ],
)
def test_not_found_is_a_page_with_a_link_back_in_a_browser(service: Service, path: str, up: str) -> None:
    page = service.client.get(path, headers=BROWSER)
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert (page.headers["cache-control"], page.headers["vary"]) == ("no-store", "accept")
    assert "unsafe" not in page.headers["content-security-policy"]
    assert "<h2>Page not found</h2>" in page.text
    assert f'<a href="{up}">Back to the search</a>' in page.text
    (style,) = re.findall(r'href="([^"]+style\.css)"', page.text)
    assert service.client.get(urljoin(path, style)).status_code == 200
    problem(service.client.get(path), 404, "not_found")


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x>', "{{ 7 * 7 }}"])
def test_error_page_escapes_the_path(service: Service, name: str) -> None:
    page = service.client.get(f"/reports/{name.replace('/', '%2f')}", headers=BROWSER).text
    assert not re.search(r"<script|<img src=x|49", page)


@pytest.mark.parametrize(
    "path",
    ["/api/v1/chunks/nope", "/api/v1/labels/next", "/api/nope", "/static/nope.js", "/docs/assets/x"],
)
def test_api_and_static_errors_are_json_in_a_browser_too(service: Service, path: str) -> None:
    problem(service.client.get(path, headers=BROWSER), 404, "not_found")


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/json, text/html", "text/plain"])
def test_error_is_json_unless_html_is_accepted(service: Service, accept: str) -> None:
    problem(service.client.get("/reports/nope", headers={"accept": accept}), 404, "not_found")


def test_errors_of_post_requests_are_json(service: Service) -> None:
    problem(service.client.post("/nope", headers=BROWSER), 404, "not_found")
    problem(service.client.post("/search", json={}, headers=BROWSER), 400, "validation_error")


def test_401_429_and_503_are_pages_in_a_browser(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    locked = serve(api_keys=["a-long-key"], rate_limit=1)
    refused = locked.client.get("/reports", headers=BROWSER)
    assert (refused.status_code, "An API key is needed" in refused.text) == (401, True)
    assert refused.headers["www-authenticate"].startswith("Basic ")
    often = locked.client.get("/reports", headers=BROWSER)
    assert (often.status_code, often.headers["retry-after"]) == (429, "60")
    assert "Too many requests" in often.text
    assert "must be given" in serve().client.get("/reports/compare", headers=BROWSER).text
    service = serve()

    broken = raising(IndexFailure("at /secret/place"))
    monkeypatch.setattr("pertinent.surfaces.http.report_pages._collect_reports", broken)
    failed = service.client.get("/reports", headers=BROWSER)
    assert failed.status_code == 503
    assert "secret" not in failed.text
    assert "can&#39;t be reached" in failed.text


def test_error_page_of_a_head_request_has_no_body(service: Service) -> None:
    response = service.client.head("/nope", headers=BROWSER)
    assert (response.status_code, response.content) == (404, b"")
    assert response.headers["content-type"].startswith("text/html")
