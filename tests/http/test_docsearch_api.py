"""`POST /1/indexes/*/queries`: hits in the shape of DocSearch, with texts that are safe as HTML."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pertinent import Pertinent
from pertinent.surfaces.http import docsearch_api
from pertinent.surfaces.http.service import answer_query
from pertinent.types import Answer
from pertinent.workspace.workspace import Workspace

from .conftest import Serve, Service, problem, settings_in

ROUTE = "/1/indexes/*/queries"
LEVELS = [f"lvl{number}" for number in range(7)]


def query(service: Service, text: str, **parameters: Any) -> dict[str, Any]:
    response = service.client.post(ROUTE, json={"requests": [{"query": text, **parameters}]})
    assert response.status_code == 200, response.text
    (result,) = response.json()["results"]
    return dict(result)


def test_docsearch_hit_has_hierarchy_snippet_and_highlights(service: Service) -> None:
    result = query(service, "torque of joints", indexName="docs", hitsPerPage=2)
    assert (result["index"], result["query"], result["hitsPerPage"]) == ("docs", "torque of joints", 2)
    assert (result["nbHits"], result["page"], result["nbPages"]) == (2, 0, 1)
    hit = result["hits"][0]
    assert hit["type"] == "content"
    assert hit["url"] == "https://book.example/docs/joints#the-torque"
    assert (hit["url_without_anchor"], hit["anchor"]) == ("https://book.example/docs/joints", "the-torque")
    assert list(hit["hierarchy"]) == LEVELS
    assert [hit["hierarchy"][level] for level in LEVELS[:3]] == ["All about joints", "The torque", None]
    assert hit["_highlightResult"]["hierarchy"]["lvl0"]["value"] == "All about <mark>joints</mark>"
    assert hit["_snippetResult"]["hierarchy"]["lvl1"]["value"] == "The <mark>torque</mark>"
    assert "<mark>torque</mark>" in hit["_snippetResult"]["content"]["value"]
    assert "<mark>" not in hit["content"]


def test_docsearch_order_is_that_of_search(service: Service) -> None:
    hits = query(service, "friction of gears", hitsPerPage=5)["hits"]
    expected = service.search("friction of gears", top_k=5).json()["results"]
    assert [hit["objectID"] for hit in hits] == [hit["chunk_id"] for hit in expected]


def test_each_query_of_a_request_is_logged(service: Service) -> None:
    queries = ["torque of joints", "friction of gears"]
    service.client.post(ROUTE, json={"requests": [{"query": text} for text in queries]})
    assert [line["query"] for line in service.lines("search")] == queries


def test_docsearch_texts_are_safe_as_html(service: Service) -> None:
    """DocSearch puts them into its page as HTML."""
    hit = query(service, "script tag alert", hitsPerPage=1)["hits"][0]
    assert hit["_snippetResult"]["content"]["value"].startswith("&lt;<mark>script</mark>&gt;")
    assert hit["content"].startswith("&lt;script&gt;")
    assert "<script" not in str(hit)


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", " JavaScript:alert(1)", "java\tscript:alert(1)", "data:text/html,x", "x"]
)
def test_docsearch_hit_without_a_page_is_left_out(
    service: Service, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """DocSearch makes a link of any address, and another pipeline's collection may hold any."""

    async def answer_with_url(*arguments: Any) -> Answer:
        answer = await answer_query(*arguments)
        first = answer.hits[0]
        hits = (replace(first, chunk=replace(first.chunk, url=url)), *answer.hits[1:])
        return replace(answer, hits=hits)

    monkeypatch.setattr(docsearch_api, "answer_query", answer_with_url)
    result = query(service, "torque of joints", hitsPerPage=2)
    assert result["nbHits"] == 1
    assert result["hits"][0]["url"].startswith("https://book.example/")


def test_docsearch_snippet_has_no_markup_of_markdown(serve: Serve, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    text = "# Valves\n\n> What to know.\n\n## Opening\n\n- **Open** a `valve` slowly.\n"
    (pages / "valve.md").write_text(text, encoding="utf-8")
    settings = settings_in(tmp_path / "data")
    with Pertinent(Workspace(settings)) as pertinent:
        pertinent.index(pages, base_url="https://book.example")
    texts = [hit["content"] for hit in query(serve(Workspace(settings)), "valves")["hits"]]
    assert sorted(texts) == ["Open a valve slowly.", "What to know."]


def test_docsearch_apostrophe_is_an_entity_that_the_modal_decodes(serve: Serve, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "new.md").write_text("# What's new\n\nThe user's valve opens.\n", encoding="utf-8")
    settings = settings_in(tmp_path / "data")
    with Pertinent(Workspace(settings)) as pertinent:
        pertinent.index(pages, base_url="https://book.example")
    (hit,) = query(serve(Workspace(settings)), "valve")["hits"]
    assert hit["hierarchy"]["lvl0"] == "What&#39;s new"
    assert "x27" not in str(hit)


def test_docsearch_answers_each_query_in_order(service: Service) -> None:
    queries = [{"query": "torque", "indexName": "a"}, {"query": "  ", "indexName": "b"}]
    first, second = service.client.post(ROUTE, json={"requests": queries}).json()["results"]
    assert (first["index"], second["index"]) == ("a", "b")
    assert first["hits"]
    assert (second["hits"], second["nbHits"], second["nbPages"]) == ([], 0, 0)


def test_docsearch_ignores_other_parameters_of_algolia(service: Service) -> None:
    assert query(service, "torque", facetFilters=["language:en"], clickAnalytics=False)["hits"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "requests"),
        ({"requests": []}, "requests"),
        ({"requests": [{"query": "x"}] * 11}, "requests"),
        ({"requests": [{"query": 5}]}, "query"),
        ({"requests": [{"query": "x" * 2001}]}, "query"),
        ({"requests": [{"query": "x", "hitsPerPage": 101}]}, "hitsPerPage"),
        ({"requests": [{"query": "x", "hitsPerPage": 0}]}, "hitsPerPage"),
    ],
)
def test_docsearch_error_names_the_field(service: Service, body: dict[str, Any], field: str) -> None:
    assert field in problem(service.client.post(ROUTE, json=body), 400, "validation_error")
