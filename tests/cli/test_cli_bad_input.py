"""Bad input: one line that names the option and its range, exit code 2, nothing written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .conftest import Run

if TYPE_CHECKING:
    from typer.testing import Result


def assert_refused(result: Result, *parts: str) -> None:
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    assert "Traceback" not in result.stderr
    for part in parts:
        assert part in result.stderr


TOP_K = "--top-k: must be a whole number from 1 to 20, not "
RANKING = "--ranking: must be one of hybrid, dense, lexical, not "
MAX_PAGES = "--max-pages: must be a whole number, at least 1, not "
THRESHOLD = "--threshold: must be a number from 0.0 to 1.0, not "
AROUND = "--around: must be a whole number from 0 to 100, not "
MAX_REGRESSION = "--max-regression: must be a number from 0.0 to 1.0, not "


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "x", "-k", "0"], f"{TOP_K}'0'"),
        (["search", "x", "-k", "21"], f"{TOP_K}'21'"),
        (["search", "x", "--top-k", "-3"], f"{TOP_K}'-3'"),
        (["search", "x", "--top-k", "two"], f"{TOP_K}'two'"),
        (["search", "x", "--top-k", "2.5"], f"{TOP_K}'2.5'"),
        (["search", "x", "--threshold", "1.1"], f"{THRESHOLD}'1.1'"),
        (["search", "x", "--threshold", "-0.1"], f"{THRESHOLD}'-0.1'"),
        (["search", "x", "--threshold", "nan"], f"{THRESHOLD}'nan'"),
        (["search", "x", "--threshold", "high"], f"{THRESHOLD}'high'"),
        (["search", "x", "--per-page", "0"], "--per-page: must be a whole number from 1 to 20, not '0'"),
        (["search", "x", "--ranking", "best"], f"{RANKING}'best'"),
        (["show", "x", "--around", "-1"], f"{AROUND}'-1'"),
        (["show", "x", "--around", "101"], f"{AROUND}'101'"),
        (["show", "x", "--around", "few"], f"{AROUND}'few'"),
        (["compare", "a", "b", "--max-regression=-0.1"], f"{MAX_REGRESSION}'-0.1'"),
        (["compare", "a", "b", "--max-regression=1.5"], f"{MAX_REGRESSION}'1.5'"),
        (["compare", "a", "b", "--max-regression=much"], f"{MAX_REGRESSION}'much'"),
        (["compare", "a", "b", "--max-regression=nan"], f"{MAX_REGRESSION}'nan'"),
        (["validate", "--max-regression=2"], f"{MAX_REGRESSION}'2'"),
        (["validate", "--threshold", "2"], f"{THRESHOLD}'2'"),
        (["validate", "--limit", "0"], "--limit: must be a whole number, at least 1, not '0'"),
        (["validate", "--limit", "none"], "--limit: must be a whole number, at least 1, not 'none'"),
        (["validate", "--concurrency", "0"], "--concurrency: must be a whole number from 1 to 64, not '0'"),
        (["validate", "--ranking", "best"], f"{RANKING}'best'"),
        (["calibrate", "g", "--ranking", "best"], f"{RANKING}'best'"),
        (["index", "x", "--max-pages", "0"], f"{MAX_PAGES}'0'"),
        (["index", "x", "--max-pages", "-1"], f"{MAX_PAGES}'-1'"),
        (["index", "x", "--max-pages", "many"], f"{MAX_PAGES}'many'"),
        (["index", "x", "--max-time", "1e99"], "--max-time: must be a number from 1 to 31536000, not '1e99'"),
        (["index", "x", "--delay", "1e99"], "--delay: must be a number from 0 to 31536000, not '1e99'"),
        (["serve", "--port", "abc"], "--port: must be a whole number from 0 to 65535, not 'abc'"),
        (["serve", "--port", "65536"], "--port: must be a whole number from 0 to 65535, not '65536'"),
        (["migrate-to", "redis"], "target: must be one of qdrant, not 'redis'"),
    ],
)
def test_value_outside_its_range_is_named_with_the_option_and_the_range(
    run: Run, arguments: list[str], message: str
) -> None:
    assert_refused(run(*arguments), f"pertinent: {message}")
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["search", ""], ["query_text", "1 to 2000"]),
        (["search", "  \t "], ["query_text", "1 to 2000"]),
        (["search", "x" * 2001], ["query_text", "2001", "1 to 2000"]),
        (["search", "x", "--filter", "section"], ["--filter", "NAME=VALUE"]),
        (["search", "x", "--filter", "section="], ["--filter", "NAME=VALUE"]),
        (["search", "x", "--filter", "colour=red"], ["filter", "colour", "document_id, section, url"]),
        (["search", "x", "--filter", "section=a", "--filter", "section=b"], ["--filter", "twice"]),
        (["index", "no-such-folder"], ["no-such-folder"]),
        (["index", "beir:no-such-folder"], ["no-such-folder"]),
        (["doctor", "--at", "http://localhost/"], ["--at: needs --links"]),
        (["doctor", "--links", "--base-url", "http://localhost/"], ["--base-url: needs --at"]),
        (["serve", "--watch", "https://robots.example"], ["--watch", "from time to time"]),
        (["serve", "--watch", ""], ["--watch: must name a folder"]),
        (["serve", "--host", ""], ["host: must not be empty"]),
        (["reindex", "--rollback", "--drop-previous"], ["only one of", "--rollback", "--drop-previous"]),
        (["migrate-to", "qdrant"], ["--url", "QDRANT_URL"]),
        (["--embedder", "word2vec", "search", "x"], ["embedder", "provider:model"]),
        (["search"], ["TEXT", "`pertinent search --help`"]),
        (["search", "x", "--colour"], ["--colour", "`pertinent search --help`"]),
        (["find", "x"], ["find", "`pertinent --help`"]),
        (["search", "x", "--folder"], ["--folder"]),
    ],
)
def test_bad_input_is_refused_in_one_line(run: Run, arguments: list[str], parts: list[str]) -> None:
    assert_refused(run(*arguments), *parts)
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("command", [["search", "x"], ["suggest", "x"], ["show", "x"], ["list"]])
def test_missing_index_is_reported_with_the_command_that_creates_it(run: Run, command: list[str]) -> None:
    assert_refused(run(*command), "nothing is indexed", "pertinent index")
    assert list(Path.cwd().iterdir()) == []


def test_show_refuses_an_unknown_chunk(run: Run, indexed: Path) -> None:
    assert_refused(run("show", "no-such-chunk"), "no-such-chunk")


def test_search_refuses_an_index_made_with_other_settings(
    run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERTINENT_CHUNK_TOKENS", "90")
    assert_refused(run("search", "nodes"), "tokens=200", "tokens=90", "pertinent reindex")


def test_unknown_setting_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERTINENT_COLOUR", "red")
    assert_refused(run("settings"), "PERTINENT_COLOUR")


def test_options_after_two_dashes_are_text(run: Run, indexed: Path) -> None:
    assert run("search", "--json", "--", "--debug").exit_code == 0


def test_command_is_required(run: Run) -> None:
    result = run(exits=2)
    assert "Usage: pertinent" in result.output
