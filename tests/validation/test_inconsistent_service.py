"""A service whose answers contradict its pages, or the search that was requested, gets no PASS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pertinent.surfaces.validation_targets import RemoteService
from pertinent.validation.golden.golden_set import GoldenSet
from pertinent.validation.report import ValidationReport
from pertinent.validation.validate import NoVerdict, ValidationOptions, validate
from pertinent.workspace.workspace import Workspace

from ..servers.rewriting_proxy import rewriting_proxy
from ..servers.service import running_service
from .conftest import change_query, find_case, golden, has_issue

SEARCH = "/api/v1/search"
ANOTHER_SEARCH = "ran another search than the requested one, so there is no verdict"


@contextmanager
def proxied_service(stored: Workspace, **rewrites: Any) -> Iterator[RemoteService]:
    """The service behind a proxy that changes its requests or responses."""
    with running_service(stored) as url, rewriting_proxy(url, **rewrites) as proxy_url:
        remote = RemoteService.connect(proxy_url)
        with remote.client:
            yield remote


def judge_through_proxy(
    stored: Workspace, golden_set: GoldenSet | None = None, audit: bool = False, **rewrites: Any
) -> ValidationReport:
    with proxied_service(stored, **rewrites) as remote:
        return validate(remote, golden_set or golden(), ValidationOptions(together=False, audit=audit))


def give_every_passage_its_whole_page(stored: Workspace) -> Any:
    """Return a rewrite that sets the span of each passage to its whole page, on the page and in results."""
    catalog = stored.catalog()
    pages = {record.document_id: catalog.page(record.document_id) for record in catalog.pages()}
    lengths = {document_id: len(page.text) for document_id, page in pages.items() if page}

    def rewrite(path: str, body: dict[str, Any]) -> None:
        passages = body.get("passages", [])
        if path == SEARCH:
            passages = [result["metadata"] for result in body["results"] + body["explain"]["left_out"]]
        for passage in passages:
            passage |= {"start": 0, "end": lengths[passage["document_id"]]}

    return rewrite


def test_service_behind_a_proxy_that_changes_nothing_passes(stored: Workspace) -> None:
    assert judge_through_proxy(stored, audit=True).verdict == "PASS"


@pytest.mark.parametrize("audit", [False, True])
def test_spans_that_are_no_slices_of_their_page_fail_and_are_named(stored: Workspace, audit: bool) -> None:
    """Labels are resolved by span: with the whole page as span, each result would match each label."""
    report = judge_through_proxy(stored, audit=audit, response=give_every_passage_its_whole_page(stored))
    assert report.verdict == "FAIL"
    assert "chunks unlike their page: 24 (target: 0)" in report.summary
    assert has_issue(report, "chunk ", "of https://book.example/docs/", "is not what its page has at")
    assert len(report.issues) == len(set(report.issues))


def test_wrong_slice_that_no_query_finds_fails(stored: Workspace) -> None:
    def rewrite(path: str, body: dict[str, Any]) -> None:
        if body.get("source_path") == "docs/camera.md":
            body["passages"][-1]["end"] += 1

    queries = tuple(query for query in golden().queries if query.id.startswith("knee"))
    report = judge_through_proxy(stored, golden().model_copy(update={"queries": queries}), response=rewrite)
    assert "chunks unlike their page: 1 (target: 0)" in report.summary


def drop_option(name: str, default: object) -> Any:
    """Return a rewrite that replaces an option of each search."""

    def rewrite(path: str, body: dict[str, Any]) -> None:
        if path == SEARCH:
            body[name] = default

    return rewrite


@pytest.mark.parametrize(
    ("name", "default", "message"),
    [
        ("similarity_threshold", 0.0, "similarity_threshold is 0.0 instead of 0.9"),
        ("ranking", "hybrid", "ranking is 'hybrid' instead of 'dense'"),
        ("top_k", 3, "top_k is 3 instead of 5"),
        ("query_text", "the same for all", "query_text is 'the same for all' instead of 'warm-up 1'"),
    ],
)
def test_service_that_ignores_an_option_gives_no_verdict(
    stored: Workspace, name: str, default: object, message: str
) -> None:
    options = ValidationOptions(ranking="dense", threshold=0.9, together=False)
    with (
        proxied_service(stored, request=drop_option(name, default)) as remote,
        pytest.raises(NoVerdict, match=f"{ANOTHER_SEARCH}: for 'warm-up 1', {message}"),
    ):
        validate(remote, golden(), options)


def test_service_that_reranks_against_the_request_gives_no_verdict(stored: Workspace) -> None:
    def rewrite(path: str, body: dict[str, Any]) -> None:
        if path == SEARCH:
            body["search_params"]["rerank_share"] = 0.4

    with proxied_service(stored, response=rewrite) as remote:
        with pytest.raises(NoVerdict, match="results are reranked"):
            validate(remote, golden(), ValidationOptions(rerank=False, together=False))
        assert validate(remote, golden(), ValidationOptions(together=False)).verdict == "PASS"


FILTERS = [
    {"section": "The motor"},
    {"url": "https://book.example/docs/camera"},
    {"source_type": "a type that no page has"},
    {"document_id": "an-id-that-no-page-has"},
]


@pytest.mark.parametrize("filters", FILTERS, ids=lambda filters: next(iter(filters)))
def test_service_that_ignores_filters_gives_no_verdict(stored: Workspace, filters: dict[str, str]) -> None:
    """One query with filters is enough, since its results belong to another search."""
    golden_set = change_query("knee", filters=filters)
    message = f"{ANOTHER_SEARCH}: for 'the hinge of the knee', [45] results are outside its filters, such as"
    with pytest.raises(NoVerdict, match=message):
        judge_through_proxy(stored, golden_set, request=drop_option("filters", None))


@pytest.mark.parametrize(
    "filters",
    [
        {"section": "The hinge"},
        {"url": "https://book.example/docs/knee/"},
        {"url": "https://BOOK.example/docs"},
        {"url": "https://book.example/"},
    ],
)
def test_service_that_applies_filters_is_judged(stored: Workspace, filters: dict[str, str]) -> None:
    report = judge_through_proxy(stored, change_query("knee", filters=filters))
    assert find_case(report, "knee").actual_results


def test_result_with_an_invalid_address_is_outside_a_filter(stored: Workspace) -> None:
    def rewrite(path: str, body: dict[str, Any]) -> None:
        for result in body["results"] if path == SEARCH else ():
            result["metadata"]["url"] = "http://[broken"

    golden_set = change_query("knee", filters={"url": "https://book.example/docs/knee"})
    with pytest.raises(NoVerdict, match="are outside its filters"):
        judge_through_proxy(stored, golden_set, response=rewrite)


def test_longer_list_of_another_search_gives_no_verdict(stored: Workspace) -> None:
    def rewrite(path: str, body: dict[str, Any]) -> None:
        if path == SEARCH:
            body["top_k"] = min(body["top_k"], 20)

    with pytest.raises(NoVerdict, match="top_k is 20 instead of 100"):
        judge_through_proxy(stored, request=rewrite)


def test_cached_answers_give_no_verdict(stored: Workspace) -> None:
    """A proxy that drops the header `Cache-Control: no-cache` is noticed, since latency would be too low."""

    def rewrite(path: str, body: dict[str, Any]) -> None:
        if path == SEARCH:
            body["cached"] = True

    with pytest.raises(NoVerdict, match="for 'warm-up 1', it came from the cache"):
        judge_through_proxy(stored, response=rewrite)
