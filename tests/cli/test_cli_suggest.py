"""`pertinent suggest`: names of pages and sections, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run


def test_suggest_prints_breadcrumbs_with_addresses(run: Run, indexed: Path) -> None:
    result = run("suggest", "serv")
    assert result.exit_code == 0
    assert result.stdout == "Nodes › Services\n    https://robots.example/docs/nodes#services\n"


@pytest.mark.parametrize("text", ["launch", "files", "lanuch"])
def test_suggest_json_has_every_field(run: Run, indexed: Path, text: str) -> None:
    (suggestion,) = json.loads(run("suggest", text, "--json").stdout)["suggestions"]
    assert suggestion.pop("document_id").startswith("guide-launch-")
    assert suggestion == {
        "title": "Launch files",
        "section": "",
        "url": "https://robots.example/docs/guide/launch",
        "is_page": True,
    }


def test_suggest_limit_cuts_the_list(run: Run, indexed: Path) -> None:
    page, section = json.loads(run("suggest", "l", "--json").stdout)["suggestions"]
    assert (page["title"], section["section"]) == ("Launch files", "Limits")
    assert json.loads(run("suggest", "l", "--limit", "1", "--json").stdout)["suggestions"] == [page]


@pytest.mark.parametrize("text", ["zzzzzz", "", "  "])
def test_suggest_says_that_no_name_fits(run: Run, indexed: Path, text: str) -> None:
    result = run("suggest", text)
    assert result.exit_code == 0
    assert result.stdout == "No page or section has such a name.\n"
    assert json.loads(run("suggest", text, "--json").stdout) == {"suggestions": []}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x", "--limit", "0"], "--limit"),
        (["x", "--limit", "51"], "--limit"),
        (["x", "--limit", "many"], "--limit"),
        (["x" * 2001], "prefix: has 2001 characters; it must have at most 2000"),
        ([], "TEXT"),
    ],
)
def test_suggest_refuses_bad_input(run: Run, indexed: Path, arguments: list[str], message: str) -> None:
    result = run("suggest", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_suggest_without_an_index_says_what_to_do(run: Run) -> None:
    result = run("suggest", "x")
    assert result.exit_code == 2
    assert "pertinent index" in result.stderr


def test_suggest_prints_hostile_names_harmlessly(run: Run, docs: Path) -> None:
    (docs / "hostile.md").write_text("# Evil \x1b[31mred\x1b[0m \u202etxt\n\nText.\n", encoding="utf-8")
    run("index", docs, "--base-url", "https://robots.example/docs")
    shown = run("suggest", "evil").stdout
    assert "Evil" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
