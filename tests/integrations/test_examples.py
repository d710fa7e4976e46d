"""The examples of the integrations' pages, run as they are written, with the frameworks' fake models."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pertinent import Pertinent

from ..http.test_server import Server
from ..test_docs import matches_shown_output

ROOT = Path(__file__).parents[2]
# The real model indexes the handbook.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cached_vectors")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the index of the handbook, made once."""
    folder = tmp_path_factory.mktemp("examples")
    with Pertinent.open(folder / ".pertinent") as pertinent:
        pertinent.index(ROOT / "examples" / "handbook")
    return folder


def read_blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def run_program(folder: Path, *command: str) -> str:
    return subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False
    ).stdout


@pytest.mark.parametrize("page", ["langchain.md", "llamaindex.md", "haystack.md"])
def test_example_prints_what_its_page_shows(page: str, folder: Path) -> None:
    code, expected = read_blocks(page, "python")[0], read_blocks(page, "text")[0]
    output = run_program(folder, "-c", code)
    assert matches_shown_output(output, expected), output


def test_guide_shows_what_the_clients_print(folder: Path) -> None:
    blocks = read_blocks("guide.md", "(?:python|text)")
    first = next(number for number, block in enumerate(blocks) if "import PertinentClient" in block)
    server = Server("--folder", str(folder / ".pertinent"))
    try:
        for code, expected in (blocks[first : first + 2], blocks[first + 2 : first + 4]):
            output = run_program(folder, "-c", code.replace(":8000", f":{server.port}"))
            assert output == expected
    finally:
        server.end()


def test_langchain_tool_cites_each_passage(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    variables: dict[str, Any] = {}
    exec(read_blocks("langchain.md", "python")[1], variables)  # noqa: S102 - it is our own page
    with variables["book"]:
        text = variables["tool"].invoke("joint limits")
    assert text.startswith("https://handbook.example/docs/robot-description/joints#limits\n`lower` and")


def test_pytest_example_prints_what_its_page_shows(folder: Path) -> None:
    (golden,), (expected,), (test,) = (
        read_blocks("pytest.md", language) for language in ("yaml", "text", "python")
    )
    (folder / "golden.yaml").write_text(golden, encoding="utf-8")
    (folder / "test_book.py").write_text(test, encoding="utf-8")
    output = run_program(folder, "-m", "pytest", "golden.yaml")
    assert matches_shown_output(output[output.index("golden.yaml ") :], expected), output
    assert "1 passed" in run_program(folder, "-m", "pytest", "test_book.py")


def test_haystack_yaml_loads_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    from haystack import Pipeline

    monkeypatch.setenv("SEARCH_SERVICE_KEY", "secret-key")
    (text,) = read_blocks("haystack.md", "yaml")
    variables: dict[str, Any] = {"Pipeline": Pipeline, "text": text}
    exec(read_blocks("haystack.md", "python")[1], variables)  # noqa: S102 - it is our own page
    retriever = variables["pipeline"].get_component("retriever")
    assert (retriever.top_k, retriever.threshold) == (3, 0.5)
