"""The whole server with the SDK's own client, as agents start it: a process over stdio, and over HTTP."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from mcp import Client, StdioServerParameters

from .conftest import ask_server, read_text

pytestmark = pytest.mark.slow  # they start a process or a service

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "the torque of joints"}),
    ("search", {"query": "the tax law of Norway"}),
    ("fetch", {"id": "https://book.example/docs/joints#the-torque"}),
    ("list_pages", {"prefix": "https://book.example/docs/"}),
    ("suggest", {"prefix": "torq"}),
]


def test_tools_are_read_only_and_describe_their_output(server: StdioServerParameters | str) -> None:
    async def check(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["search", "fetch", "list_pages", "suggest"]
        for tool in tools.values():
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            assert tool.annotations.destructive_hint is False
            assert tool.description is not None
            assert "https://book.example/docs" in tool.description
        assert tools["search"].input_schema["required"] == ["query"]
        assert tools["fetch"].input_schema["required"] == ["id"]
        for name, arguments in CALLS:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result.content
            schema = tools[name].output_schema
            assert schema is not None
            jsonschema_rs.validate(schema, result.structured_content)
            # Clients that do not know structured output read the same as text.
            (content,) = result.content
            assert content.type == "text"
            assert json.loads(content.text) == result.structured_content

    ask_server(server, check)


def test_search_result_can_be_fetched_by_its_id_and_its_url(server: StdioServerParameters | str) -> None:
    async def check(client: Client) -> None:
        search = await client.call_tool("search", {"query": "the torque of joints", "top_k": 1})
        (passage,) = search.structured_content["results"]
        assert passage["url"] == "https://book.example/docs/joints#the-torque"
        assert passage["score"] >= 0.5
        for identifier in (passage["id"], passage["url"]):
            fetched = await client.call_tool("fetch", {"id": identifier, "around": 0})
            document = fetched.structured_content
            assert document["text"] == passage["text"]
            assert document["url"] == passage["url"]
            assert document["id"] == passage["id"]
            assert document["metadata"]["source_path"] == "docs/joints.md"

    ask_server(server, check)


def test_resources_and_prompt_are_offered(server: StdioServerParameters | str) -> None:
    async def check(client: Client) -> None:
        resources = (await client.list_resources()).resources
        assert len(resources) == 4
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "docs://pages/{id}"
        (nodes,) = (resource for resource in resources if resource.title == "Nodes and topics")
        assert nodes.uri.startswith("docs://pages/nodes-")
        (content,) = (await client.read_resource(nodes.uri)).contents
        assert content.mime_type == "text/markdown"
        assert read_text(content).startswith(
            "# Nodes and topics\n\nSource: https://book.example/docs/nodes\n\n## "
        )
        with pytest.raises(MCPError, match="nope") as error:
            await client.read_resource("docs://pages/nope")
        assert error.value.error.code == INVALID_PARAMS
        (prompt,) = (await client.list_prompts()).prompts
        assert prompt.name == "answer_with_citations"
        written = await client.get_prompt(prompt.name, {"question": "What is a node?"})
        text = read_text(written.messages[0].content)
        assert "What is a node?" in text
        assert "cite the `url`" in text

    ask_server(server, check)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_both_generations_of_the_protocol_are_spoken(server: StdioServerParameters | str, mode: str) -> None:
    async def check(client: Client) -> None:
        result = await client.call_tool("suggest", {"prefix": "nodes"})
        assert result.structured_content["suggestions"][0]["title"] == "Nodes and topics"

    ask_server(server, check, mode=mode)
