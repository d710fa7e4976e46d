"""Bad input: one line that names the field and the range, exit 2, nothing written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .conftest import Run

if TYPE_CHECKING:
    from typer.testing import Result


def assert_refused(result: Result, *said: str) -> None:
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    assert "Traceback" not in result.stderr
    for part in said:
        assert part in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["search", ""], ["query_text", "1 to 2000"]),
        (["search", "  \t "], ["query_text", "1 to 2000"]),
        (["search", "x" * 2001], ["query_text", "2001", "1 to 2000"]),
        (["search", "x", "-k", "0"], ["top_k", "between 1 and 20", "0"]),
        (["search", "x", "-k", "21"], ["top_k", "between 1 and 20", "21"]),
        (["search", "x", "--top-k", "-3"], ["top_k", "between 1 and 20", "-3"]),
        (["search", "x", "--top-k", "two"], ["top_k", "1 to 20", "two"]),
        (["search", "x", "--top-k", "2.5"], ["top_k", "1 to 20", "2.5"]),
        (["search", "x", "--threshold", "1.1"], ["threshold", "0.0 and 1.0", "1.1"]),
        (["search", "x", "--threshold", "-0.1"], ["threshold", "0.0 and 1.0", "-0.1"]),
        (["search", "x", "--threshold", "nan"], ["threshold", "0.0 and 1.0"]),
        (["search", "x", "--threshold", "high"], ["threshold", "0.0 to 1.0", "high"]),
        (["search", "x", "--per-page", "0"], ["per_page", "between 1 and 20"]),
        (["search", "x", "--per-page", "x"], ["per_page", "1 to 20"]),
        (["search", "x", "--ranking", "best"], ["--ranking", "hybrid", "dense", "lexical"]),
        (["search", "x", "--filter", "section"], ["filter", "NAME=VALUE"]),
        (["search", "x", "--filter", "section="], ["filter", "NAME=VALUE"]),
        (["search", "x", "--filter", "colour=red"], ["filter", "colour", "document_id, section, url"]),
        (["search", "x", "--filter", "section=a", "--filter", "section=b"], ["filter", "twice"]),
        (["show", "x", "--around", "-1"], ["around", "0 and 100", "-1"]),
        (["show", "x", "--around", "101"], ["around", "0 and 100", "101"]),
        (["show", "x", "--around", "few"], ["around", "0 to 100", "few"]),
        (["index", "no-such-folder"], ["no-such-folder"]),
        (["index", "beir:no-such-folder"], ["no-such-folder"]),
        (["--embedder", "word2vec", "search", "x"], ["embedder", "provider:model"]),
        (["search"], ["TEXT", "--help"]),
        (["search", "x", "--colour"], ["--colour", "--help"]),
        (["find", "x"], ["find", "--help"]),
        (["search", "x", "--folder"], ["--folder"]),
    ],
)
def test_what_is_out_of_range_is_named_with_its_range(
    run: Run, arguments: list[str], said: list[str]
) -> None:
    assert_refused(run(*arguments), *said)
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("command", [["search", "x"], ["show", "x"], ["list"]])
def test_where_nothing_is_indexed_it_says_how_to(run: Run, command: list[str]) -> None:
    assert_refused(run(*command), "nothing is indexed", "pertinent index")
    assert list(Path.cwd().iterdir()) == []


def test_an_unknown_chunk_is_bad_input(run: Run, indexed: Path) -> None:
    assert_refused(run("show", "no-such-chunk"), "no-such-chunk")


def test_an_index_made_with_other_settings_is_refused(
    run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERTINENT_CHUNK_TOKENS", "90")
    assert_refused(run("search", "nodes"), "tokens=200", "tokens=90", "pertinent reindex")


def test_a_setting_that_does_not_exist_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERTINENT_COLOUR", "red")
    assert_refused(run("settings"), "PERTINENT_COLOUR")


def test_after_two_dashes_an_option_is_text(run: Run, indexed: Path) -> None:
    assert run("search", "--json", "--", "--debug").exit_code == 0


def test_no_command_shows_the_help(run: Run) -> None:
    result = run()
    assert result.exit_code == 2
    assert "Usage: pertinent" in result.output
