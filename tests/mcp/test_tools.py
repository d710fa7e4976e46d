"""What the tools answer: citations, limits of tokens, honest notes and clear errors."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from mcp import Client
from pertinent.errors import StoreError
from pertinent.ports import PageRecord
from pertinent.surfaces.library import Pertinent
from pertinent.surfaces.mcp.answer_size import count_tokens, cut_text
from pertinent.surfaces.mcp.tools import ListPagesArguments, list_pages
from pertinent.testing.pages import page
from pertinent.workspace.workspace import Workspace

from ..http.conftest import open_filled, raising
from .conftest import Ask, ask_reader, call, call_failing

JOINTS = "https://book.example/docs/joints"


def test_search_cites_url_and_anchor(ask: Ask[Any]) -> None:
    results = call(ask, "search", query="the torque of joints", top_k=3)["results"]
    assert results[0]["url"] == f"{JOINTS}#the-torque"
    assert results[0]["section"] == "The torque"
    assert [result["score"] for result in results] == sorted(
        (result["score"] for result in results), reverse=True
    )


def test_search_says_that_nothing_is_good_enough(ask: Ask[Any]) -> None:
    answer = call(ask, "search", query="income tax in Norway, and sensor")
    assert answer["results"] == []
    assert answer["note"].startswith("Nothing in this documentation answers this well enough. The nearest")
    assert "https://book.example/docs/" in answer["note"]
    assert answer["note"].endswith("say that the documentation does not answer it.")


def test_search_applies_filters(ask: Ask[Any]) -> None:
    results = call(ask, "search", query="the torque", top_k=20, filters={"url": JOINTS})["results"]
    assert {result["url"].partition("#")[0] for result in results} == {JOINTS}
    none = call(ask, "search", query="the torque", filters={"section": "No such section"})
    assert none["results"] == []
    assert none["note"].startswith("Nothing within these filters comes near it. Leave the filters out")
    far = call(ask, "search", query="income tax in Norway, and sensor", filters={"url": JOINTS})
    assert far["note"].startswith("Nothing within these filters answers this well enough. The nearest")


def test_empty_index_says_so(tmp_path: Path) -> None:
    with open_filled(tmp_path / "data") as workspace:
        book = Pertinent(workspace)
        for name in book.sources():
            book.remove(name)
        note = call(ask_reader(book), "search", query="joints")["note"]
        assert note.startswith("The index has no chunks yet: ")
        assert ". Nothing in this documentation answers this well enough." in note
        assert call(ask_reader(book), "list_pages")["note"] == "No page is indexed."


def test_search_says_what_it_searched_for(ask: Ask[Any]) -> None:
    answer = call(ask, "search", query="the torqe of joints", top_k=1)
    assert answer["results"][0]["section"] == "The torque"
    assert answer["note"] == "Searched for 'the torque of joints'."


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("search", {}, "query: must be given"),
        ("search", {"query": ""}, "query: must not be empty"),
        ("search", {"query": "  "}, "query: must not be empty; give 1 to 2000 characters"),
        ("search", {"query": "x" * 2001}, "query: has 2001 characters; it must have at most 2000"),
        ("search", {"query": "joints", "top_k": 21}, "top_k: must be at most 20"),
        ("search", {"query": "joints", "page": 1}, "arguments: 'page' is none of query, top_k, filters"),
        ("search", {"query": "x", "filters": {"url": "joints"}}, "filter: url must be an address like "),
        ("search", {"query": "x", "filters": {"tag": "y"}}, "filters: 'tag' is none of url, section, docum"),
        ("fetch", {"id": "docs://pages/none"}, "no passage or page has the id 'none'; search and list_pages"),
        ("fetch", {"id": "x", "around": -1}, "around: must be at least 0"),
        ("fetch", {"id": "nope"}, "no passage or page has the id 'nope'; search and list_pages return ids"),
        ("fetch", {"id": f"{JOINTS}/none"}, f"no page has the address {JOINTS}/none; list_pages returns "),
        ("fetch", {"id": f"{JOINTS}#none"}, f"{JOINTS} has no section with the anchor 'none'; it has #the-"),
        ("suggest", {"prefix": "x", "limit": 51}, "limit: must be at most 50"),
    ],
)
def test_invalid_arguments_are_explained(
    ask: Ask[Any], tool: str, arguments: dict[str, Any], message: str
) -> None:
    assert call_failing(ask, tool, **arguments).startswith(message)


def test_fetch_returns_neighbours_and_reads_on(ask: Ask[Any]) -> None:
    passage = call(ask, "search", query="the torque of joints", top_k=1)["results"][0]
    alone = call(ask, "fetch", id=passage["id"], around=0)
    around = call(ask, "fetch", id=passage["id"], around=1)
    assert alone["text"] in around["text"]
    assert "## The torque\n\n" in around["text"]
    assert around["url"] == passage["url"]
    following = call(ask, "fetch", id=alone["metadata"]["next_id"], around=0)
    previous = call(ask, "fetch", id=alone["metadata"]["previous_id"], around=0)
    assert around["text"].startswith(previous["text"])
    assert around["text"].endswith(following["text"])


def test_fetch_reads_a_page_by_id_and_by_address(ask: Ask[Any], workspace: Workspace) -> None:
    (record,) = (record for record in Pertinent(workspace).pages() if record.url == JOINTS)
    by_id = call(ask, "fetch", id=record.document_id)
    assert by_id == call(ask, "fetch", id=f"{JOINTS}/") == call(ask, "fetch", id=JOINTS)
    assert by_id == call(ask, "fetch", id=f"docs://pages/{record.document_id}")
    assert by_id["text"] == Pertinent(workspace).page(record.document_id).text
    assert by_id["id"] == record.document_id
    assert by_id["metadata"]["next_id"] is by_id["metadata"]["previous_id"] is None
    assert by_id["metadata"]["note"] == ""


@pytest.mark.parametrize(
    ("prefix", "titles"),
    [
        ("", ["All about gears", "All about joints", "All about motors", "Nodes and topics"]),
        (JOINTS, ["All about joints"]),
        ("/docs/mo", ["All about motors"]),
        ("nodes", ["Nodes and topics"]),
        ("docs/gears.md", ["All about gears"]),
        ("nowhere", []),
    ],
)
def test_list_pages_by_prefix(ask: Ask[Any], prefix: str, titles: list[str]) -> None:
    listed = call(ask, "list_pages", prefix=prefix)
    assert [document["title"] for document in listed["pages"]] == titles
    assert listed["total"] == len(titles)
    assert listed["note"] == ("" if titles else "No page has the prefix 'nowhere'.")


def test_suggest_finds_names_with_typos(ask: Ask[Any]) -> None:
    suggestions = call(ask, "suggest", prefix="nodes and topcs")["suggestions"]
    assert suggestions[0]["title"] == "Nodes and topics"
    assert "search" in call(ask, "suggest", prefix="qqqq")["note"]


@pytest.fixture(scope="module")
def long_book(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A page of 300 sections in two scripts, and 300 further pages in three folders."""
    sections = {
        f"Step {number}": f"The valve number {number} is opened with the “blue” key: 用蓝色钥匙打开阀门。" * 3
        for number in range(300)
    }
    pages = [
        page(
            f"{folder}/page-{number:03}", {"": f"The pump {number} of the {folder}."}, title=f"Pump {number}"
        )
        for folder in ("hall", "roof", "cellar")
        for number in range(100)
    ]
    valves = page("valves", sections, title="Valves")
    with open_filled(tmp_path_factory.mktemp("long") / "data", valves, *pages) as workspace:
        yield Pertinent(workspace)


CALLS_BEYOND_THE_LIMIT: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "the valve is opened with the blue key", "top_k": 20}),
    ("fetch", {"id": "https://book.example/docs/valves"}),
    ("fetch", {"id": "https://book.example/docs/valves#step-150", "around": 100}),
    ("list_pages", {}),
    ("suggest", {"prefix": "pump", "limit": 50}),
]


@pytest.mark.parametrize("max_tokens", [1000, 2000])
@pytest.mark.parametrize(("tool", "arguments"), CALLS_BEYOND_THE_LIMIT)
def test_answers_are_bounded_in_tokens(
    long_book: Pertinent, tool: str, arguments: dict[str, Any], max_tokens: int
) -> None:
    answer = call(ask_reader(long_book, max_tokens), tool, **arguments)
    assert max_tokens / 3 < count_tokens(answer) <= max_tokens
    note = answer["metadata"]["note"] if tool == "fetch" else answer["note"]
    if "around" not in arguments:
        assert f"{max_tokens:,} tokens" in note


def test_cut_page_can_be_read_to_its_end(long_book: Pertinent) -> None:
    ask = ask_reader(long_book, 3000)
    document = call(ask, "fetch", id="https://book.example/docs/valves")
    complete = long_book.page(document["metadata"]["page_id"]).text
    assert complete.startswith(document["text"])
    assert len(document["text"]) < len(complete)
    position = len(document["text"])
    next_id = document["metadata"]["next_id"]
    passage = call(ask, "fetch", id=next_id, around=0)
    assert complete.index(passage["text"]) - position < len("\n\n## Step 300\n\n")


def test_passage_stays_in_the_middle_of_its_surroundings(long_book: Pertinent) -> None:
    document = call(
        ask_reader(long_book, 2000), "fetch", id="https://book.example/docs/valves#step-150", around=100
    )
    assert "valve number 149" in document["text"]
    assert "valve number 150" in document["text"]
    assert "valve number 151" in document["text"]


def test_cut_list_of_pages_names_folders(long_book: Pertinent) -> None:
    ask = ask_reader(long_book, 1000)
    listed = call(ask, "list_pages")
    assert listed["total"] == 301
    assert {folder["prefix"]: folder["pages"] for folder in listed["folders"]} == {
        "https://book.example/docs/hall": 100,
        "https://book.example/docs/roof": 100,
        "https://book.example/docs/cellar": 100,
        "https://book.example/docs/valves": 1,
    }
    assert call(ask, "list_pages", prefix=listed["folders"][0]["prefix"])["total"] == 100


def test_long_address_does_not_fill_the_list_of_pages() -> None:
    urls = [f"https://book.example/{number:04}" for number in range(400)]
    urls.insert(10, "https://book.example/" + "z" * 9999)
    records = [PageRecord(url[-4:], url, "Title", "", "", "", 1) for url in urls]
    reader: Any = SimpleNamespace(pages=lambda: records)
    listed = list_pages(reader, ListPagesArguments(), 2000)
    assert len(listed.pages) == 10
    assert len(listed.folders) == 10
    assert count_tokens(listed) <= 2000


def test_resources_are_listed_in_parts(long_book: Pertinent) -> None:
    ask = ask_reader(long_book)
    first = ask(lambda client: client.list_resources())
    assert len(first.resources) == 200
    second = ask(lambda client: client.list_resources(cursor=first.next_cursor))
    assert len({resource.uri for resource in (*first.resources, *second.resources)}) == 301
    assert second.next_cursor is None


def test_invalid_cursor_is_an_error_of_the_protocol(ask: Ask[Any]) -> None:
    async def check(client: Client) -> None:
        with pytest.raises(MCPError, match="cursor: must be the `nextCursor`") as error:
            await client.list_resources(cursor="x")
        assert error.value.error.code == INVALID_PARAMS
        with pytest.raises(MCPError, match="no tool has the name 'delete'; there are search, fetch, "):
            await client.call_tool("delete", {})
        with pytest.raises(MCPError, match="question: must not be empty"):
            await client.get_prompt("answer_with_citations", {"question": " "})

    ask(check)


def test_long_resource_is_cut_and_says_so(long_book: Pertinent) -> None:
    ask = ask_reader(long_book, 3000)
    page_id = call(ask, "list_pages", prefix="valves")["pages"][0]["id"]
    (content,) = ask(lambda client: client.read_resource(f"docs://pages/{page_id}")).contents
    assert content.text.endswith("> The text is cut at 3,000 tokens. Fetch `next_id` to read on.\n")
    assert count_tokens(content.text) <= 3000


@given(st.text(), st.integers(10, 200))
def test_cut_text_is_a_prefix_within_the_limit(text: str, max_tokens: int) -> None:
    text = text.encode("utf-8", "ignore").decode()
    cut = cut_text(text, max_tokens)
    assert count_tokens(cut) <= max_tokens
    assert cut == text or (cut.endswith(" […]") and text.startswith(cut[:-4]))


def test_failure_of_a_store_is_an_error_of_the_tool(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    pertinent = Pertinent(workspace)
    monkeypatch.setattr(pertinent, "search", raising(StoreError("the disk is gone")))
    assert call_failing(ask_reader(pertinent), "search", query="joints") == "the disk is gone"
