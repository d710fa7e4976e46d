"""`pertinent show`, `list`, `settings` and `--version`."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pytest

from .conftest import PAGES, Run


@pytest.fixture
def chunk_id(run: Run, indexed: Path) -> str:
    """The middle chunk of the page on nodes."""
    output = run("search", "publish messages on topics", "--filter", "section=Topics", "--json").stdout
    return str(json.loads(output)["results"][0]["chunk_id"])


def test_show_prints_the_chunk_and_its_address(run: Run, chunk_id: str) -> None:
    output = run("show", chunk_id).stdout
    assert "Nodes › Topics" in output
    assert "https://robots.example/docs/nodes#topics" in output
    assert chunk_id in output
    assert "Nodes publish messages on topics" in output
    assert "A service answers" not in output


def test_show_around_prints_neighbours_in_order(run: Run, chunk_id: str) -> None:
    output = run("show", chunk_id, "--around", "1").stdout
    positions = [output.index(text) for text in ("A node is", "Nodes publish", "A service answers")]
    assert positions == sorted(positions)


def test_show_json_has_every_field(run: Run, chunk_id: str) -> None:
    response = json.loads(run("show", chunk_id, "--around", "1", "--json").stdout)
    assert response["chunk_id"] == chunk_id
    assert [chunk["position"] for chunk in response["chunks"]] == [0, 1, 2]
    middle = response["chunks"][1]
    assert middle["chunk_id"] == chunk_id
    assert middle["citation"] == "https://robots.example/docs/nodes#topics"
    assert middle.keys() >= {"text", "start", "end", "content_hash", "source_path", "slug"}


def test_list_counts_the_chunks_of_each_page(run: Run, indexed: Path) -> None:
    output = run("list").stdout
    assert "robots" in output
    assert "https://robots.example/docs/guide/launch" in output
    assert f"{len(PAGES)} pages" in output


def test_list_never_wraps_an_address(run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    assert "https://robots.example/docs/guide/launch" in run("list").stdout


def test_list_json_has_sources_and_pages(run: Run, indexed: Path, docs: Path) -> None:
    listing = json.loads(run("list", "--json").stdout)
    assert [source["name"] for source in listing["sources"]] == ["robots"]
    assert {page["source_path"] for page in listing["pages"]} == {f"docs/{name}" for name in PAGES}
    assert all(page["chunks"] >= 1 for page in listing["pages"])


def test_settings_print_the_origin_of_each_value(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pertinent.toml").write_text("chunk_tokens = 150\n")
    settings = {load["name"]: load for load in json.loads(run("settings", "--json", "--folder", "x").stdout)}
    assert (settings["chunk_tokens"]["value"], settings["chunk_tokens"]["origin"]) == (
        "150",
        str(Path.cwd() / "pertinent.toml"),
    )
    assert settings["embedder"]["origin"] == "PERTINENT_EMBEDDER"
    assert settings["folder"] == {"name": "folder", "value": "x", "origin": "the command line"}
    assert settings["ranking"]["origin"] == "default"


def test_seed_002_cohere_setting_shows_its_model(run: Run) -> None:
    settings = json.loads(run("settings", "--json", "--embedder", "cohere").stdout)
    values = {setting["name"]: setting["value"] for setting in settings}
    assert values["embedder"] == "cohere:embed-english-v3.0"


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_settings_mask_secrets(run: Run, monkeypatch: pytest.MonkeyPatch, form: list[str]) -> None:
    monkeypatch.setenv("COHERE_API_KEY", "s3cret-key")
    monkeypatch.setenv("DATABASE_URL", "postgresql://ann:s3cret-word@db.example/books")
    result = run("settings", *form, exits=0)
    assert "s3cret" not in result.output
    assert "COHERE_API_KEY" in result.stdout
    assert "********" in result.stdout


def test_version_is_that_of_the_package(run: Run) -> None:
    assert run("--version").stdout == f"pertinent {version('pertinent')}\n"


@pytest.mark.parametrize("command", ["index", "search", "suggest", "show", "list", "settings", "doctor"])
def test_help_of_each_command_has_an_example(run: Run, command: str) -> None:
    output = run(command, "--help").stdout
    assert "For example:" in output
    assert output.count(f"pertinent {command}") >= 2
