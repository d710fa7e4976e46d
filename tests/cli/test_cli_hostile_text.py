"""What a page says is text to read: it never commands the terminal, and never is taken for markup."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.surfaces.cli.terminal import clean, one_line, to_json

from .conftest import Run

HOSTILE = (
    "# Evil [red]title[/red] \x1b]0;owned\x07\n\n"
    "Robots say [bold]boo[/bold] [link=x]y[/] :smile: \x1b[31mred\x1b[0m \x1b[2J wiped "
    "\x9b5A up \x07 bell \u202egnorw\u202c back\x08\x08 [/nothing]\n"
)


@pytest.fixture(autouse=True)
def _hostile(run: Run, docs: Path) -> None:
    (docs / "evil.md").write_text(HOSTILE, encoding="utf-8")
    run("index", docs)


@pytest.mark.parametrize("forced", ["", "1"])
def test_search_prints_markup_literally_and_removes_escapes(
    run: Run, monkeypatch: pytest.MonkeyPatch, forced: str
) -> None:
    if forced:
        monkeypatch.setenv("FORCE_COLOR", forced)
        monkeypatch.setenv("COLUMNS", "300")
    output = run("search", "hostile zzz", "-k", "20", "--explain").stdout
    assert "[bold]boo[/bold]" in output
    assert "[link=x]y[/]" in output
    assert ":smile:" in output
    assert "[/nothing]" in output
    for gone in ("\x1b[2J", "\x1b[31mred", "\x1b]", "\x9b", "\x07", "\x08", "\u202e", "owned"):
        assert gone not in output


def test_show_and_list_remove_escapes(run: Run) -> None:
    hit = json.loads(run("search", "boo", "--json", "--ranking", "lexical").stdout)["results"][0]
    for output in (run("show", hit["chunk_id"]).stdout, run("list").stdout):
        assert not set("\x1b\x9b\x07\x08\u202e") & set(output)


def test_json_escapes_control_characters_and_keeps_the_text(run: Run) -> None:
    printed = run("search", "boo", "--json", "--ranking", "lexical").stdout
    assert not set("\x1b\x9b\x07\x08\u202e") & set(printed)
    assert "\u202egnorw" in json.loads(printed)["results"][0]["content"]


@given(st.text())
def test_clean_removes_every_control_character(text: str) -> None:
    cleaned = clean(text)
    assert not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in cleaned)
    assert "\n" not in one_line(text)


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126) | st.sampled_from("\n\t›é漢🤖")))
def test_clean_keeps_ordinary_text(text: str) -> None:
    assert clean(text) == text


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_to_json_round_trips_any_text(text: str) -> None:
    assert json.loads(to_json({"text": text})) == {"text": text}
