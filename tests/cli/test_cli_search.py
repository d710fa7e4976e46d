"""`pertinent search`: what it prints, and what it prints as JSON."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from .conftest import Run

pytestmark = pytest.mark.usefixtures("indexed")

REQUIRED = {"content", "url", "position", "similarity_score", "chunk_id", "created_at"}


def test_search_prints_title_section_address_score_and_text(run: Run) -> None:
    result = run("search", "revolute joint limits", "-k", "1", exits=0)
    assert "Joints › Limits" in result.stdout
    assert "https://robots.example/docs/joints#limits" in result.stdout
    assert re.search(r"\b0\.\d{3}\b", result.stdout)
    assert "A revolute joint has limits for its angle." in result.stdout
    assert result.stderr == ""


def test_top_k_limits_the_hits(run: Run) -> None:
    output = run("search", "nodes", "-k", "2", "--json").stdout
    assert len(json.loads(output)["results"]) == 2


def test_seed_001_search_json_is_the_query_response_alone(run: Run) -> None:
    result = run("search", "nodes and topics", "--json")
    response = json.loads(result.stdout)
    assert response["query"] == "nodes and topics"
    assert response["metadata"]["total_results"] == len(response["results"]) > 0
    assert isinstance(response["metadata"]["query_time_ms"], int)
    assert response["metadata"]["timestamp"].endswith("Z")
    assert all(result.keys() > REQUIRED for result in response["results"])
    scores = [result["similarity_score"] for result in response["results"]]
    assert scores == sorted(scores, reverse=True)
    assert result.stderr == ""


def test_no_metadata_prints_only_required_fields_and_the_citation(run: Run) -> None:
    response = json.loads(run("search", "nodes", "--json", "--no-metadata").stdout)
    assert all(result.keys() == REQUIRED | {"citation"} for result in response["results"])


def test_seed_001_citation_is_the_url_with_its_anchor(run: Run) -> None:
    best = json.loads(run("search", "friction slows a joint", "--json").stdout)["results"][0]
    assert best["citation"] == f"{best['url']}#friction"


def test_seed_003_hit_with_null_title_shows_its_path(run: Run, indexed: Path) -> None:
    with closing(sqlite3.connect(indexed / "catalog.sqlite3")) as catalog, catalog:
        catalog.execute("UPDATE documents SET title = NULL")
    result = run("search", "friction slows a joint", "-k", "1", exits=0)
    assert "docs/joints.md › Friction" in result.stdout
    assert json.loads(run("search", "friction", "--json").stdout)["results"][0]["title"] == ""


def test_explain_json_adds_stages_scores_and_excluded_hits(run: Run) -> None:
    response = json.loads(run("search", "nodes", "-k", "1", "--json", "--explain").stdout)
    explanation = response["explain"]
    assert list(explanation["stages_ms"]) == [
        "received", "embedded", "searched", "filtered", "formatted", "returned",
    ]  # fmt: skip
    assert explanation["budgets_ms"] == {"embedded": 2000, "searched": 1000, "formatted": 50}
    assert explanation["hits"][0]["chunk_id"] == response["results"][0]["chunk_id"]
    features = {"cosine", "lexical", "title", "heading", "page"}
    first = explanation["hits"][0]
    assert first["added"].keys() == features
    assert first["scores"].keys() == {*features, "numbers", "base", "rerank"}
    assert first["scores"]["base"] is first["scores"]["rerank"] is None
    assert "title^4" in explanation["score"]
    assert "the list is full: top_k is" in explanation["left_out"][0]["reason"]


def test_explain_compares_stages_with_their_budgets(run: Run) -> None:
    output = run("search", "nodes", "-k", "1", "--explain").stdout
    for stage in ("received", "embedded", "searched", "filtered", "formatted", "returned"):
        assert re.search(rf"^{stage} +\d+\.\d", output, re.MULTILINE), output
    assert "< 2000" in output
    assert "< 1000" in output
    added = r"[01]\.\d{3} \(\+0\.\d{3}\)"
    features = ("cosine", "lexical", "title", "heading", "page")
    assert re.search(r",\s+".join(rf"{name}\s{added}" for name in features), output), output
    assert "the list is full: top_k is" in output


def test_explain_lists_hits_below_the_threshold(run: Run) -> None:
    output = " ".join(run("search", "revolute joint", "--threshold", "0.4", "--explain").stdout.split())
    assert "is below the threshold 0.4" in output


def test_search_without_hits_prints_the_nearest_passage(run: Run) -> None:
    result = run("search", "revolute joint limits", "--threshold", "1", exits=0)
    assert "No passage scores 1 or more" in result.stdout
    assert "Joints › Limits" in result.stdout


def test_search_json_without_hits_is_an_empty_list(run: Run) -> None:
    response = json.loads(run("search", "nodes", "--threshold", "1", "--json").stdout)
    assert response["results"] == []
    assert response["metadata"]["total_results"] == 0


def test_filter_without_matches_is_reported(run: Run) -> None:
    assert "No passage matches the filter" in run("search", "nodes", "--filter", "section=Nowhere").stdout


@pytest.mark.parametrize(
    ("filter_", "url"),
    [
        ("section=Limits", "https://robots.example/docs/joints"),
        ("url=https://robots.example/docs/guide", "https://robots.example/docs/guide/launch"),
    ],
)
def test_filter_restricts_the_hits(run: Run, filter_: str, url: str) -> None:
    response = json.loads(run("search", "nodes", "--filter", filter_, "--json").stdout)
    assert {result["url"] for result in response["results"]} == {url}


def test_per_page_limits_the_hits_of_a_page(run: Run) -> None:
    response = json.loads(run("search", "nodes", "--per-page", "1", "--json").stdout)
    urls = [result["url"] for result in response["results"]]
    assert len(urls) == len(set(urls))


@pytest.mark.parametrize(
    ("ranking", "algorithm"),
    [
        ("hybrid", "hybrid-similarity"),
        ("dense", "cosine-similarity"),
        ("lexical", "lexical-similarity"),
    ],
)
def test_ranking_determines_the_algorithm(run: Run, ranking: str, algorithm: str) -> None:
    response = json.loads(run("search", "nodes", "--ranking", ranking, "--json").stdout)
    assert response["metadata"]["algorithm"] == algorithm


def test_dash_reads_the_query_from_stdin(run: Run) -> None:
    response = json.loads(run("search", "-", "--json", stdin="revolute joint\n").stdout)
    assert response["query"] == "revolute joint"


def test_search_highlights_inflected_query_words(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    output = run("search", "what limit has a joint", "-k", "1", "--filter", "section=Limits").stdout
    assert "\x1b[1;4mlimits\x1b[0m" in output
    assert "\x1b[1;4mjoint\x1b[0m" in output
    assert "\x1b[1;4mhas\x1b[0m" not in output


def index_long_page(docs: Path, run: Run) -> None:
    lines = "\n".join(f"Step {number} moves the arm." for number in range(10))
    (docs / "arm.md").write_text(
        f"# Arm\n\n```text\n{lines}\nThe encoder is reset.\n{lines}\n```\n", encoding="utf-8"
    )
    source = ("--base-url", "https://robots.example/docs", "--name", "robots")
    assert run("index", docs, *source).exit_code == 0


def test_search_prints_the_lines_around_the_match_and_full_prints_the_passage(run: Run, docs: Path) -> None:
    index_long_page(docs, run)
    command = ("search", "encoder reset", "-k", "1")
    snippet = run(*command).stdout
    assert "The encoder is reset." in snippet
    assert snippet.count("…") == 2
    assert snippet.count("moves the arm") == 7
    passage = json.loads(run(*command, "--json").stdout)["results"][0]["content"]
    full = run(*command, "--full").stdout
    assert "…" not in full
    assert full.count("moves the arm") == passage.count("moves the arm") > 7


def test_full_passage_is_highlighted_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    printed = run("search", "limits", "-k", "1", "--full", "--filter", "section=Limits").stdout
    assert "\x1b[1;4mlimits\x1b[0m" in printed


def test_no_color_disables_colours(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    output = run("search", "joint limits").stdout
    assert set(re.findall(r"\x1b\[[0-9;]*m", output)) <= {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[1;4m"}


@pytest.mark.parametrize("columns", ["1", "12", "30", "200"])
def test_search_prints_at_any_terminal_width(run: Run, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    result = run("search", "joint limits", "--explain", exits=0)
    assert "https://robots.example/docs/joints#limits" in result.stdout


def test_search_prints_no_trailing_spaces(run: Run) -> None:
    output = run("search", "joint limits", "--explain").stdout
    assert not re.search(r" $", output, re.MULTILINE)


def test_global_options_may_precede_or_follow_the_command(run: Run, indexed: Path) -> None:
    moved = indexed.with_name("elsewhere")
    indexed.rename(moved)
    assert run("search", "nodes").exit_code == 2
    for arguments in (
        ["--folder", moved, "search", "nodes"],
        ["search", "nodes", "--folder", moved],
        ["search", "nodes", f"--folder={moved}", "--embedder", "testing:hashed-words"],
    ):
        assert run(*arguments).exit_code == 0
