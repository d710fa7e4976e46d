"""The payload formats of other pipelines: each is recognised, and reading a point never fails."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.errors import SettingsError
from pertinent.identity import content_hash, is_url
from pertinent.stores.external.payload import PayloadFormat, read_start, to_chunk
from pertinent.stores.external.payload_formats import FIELDS, list_paths, recognize_format
from pertinent.stores.payload import to_payload
from pertinent.testing.index_suite import entries
from pertinent.types import Chunk, DamagedPoint, PointId

POINT = UUID(int=7)
URL = "https://book.example/docs/nodes"
TEXT = "Nodes exchange messages over topics."

Payload = dict[str, Any]


def read_chunk(payload: Payload, point: PointId, payload_format: PayloadFormat) -> Chunk:
    """The chunk of a point that is not damaged."""
    stored = to_chunk(payload, point, payload_format)
    assert isinstance(stored, Chunk), stored
    return stored


def llama_index(number: int) -> Payload:
    position = {"id_": str(UUID(int=number)), "start_char_idx": 40 * number}
    node = {**position, "text": TEXT, "metadata": {"url": URL}}
    return {
        "url": URL, "title": "Nodes", "_node_content": json.dumps(node), "_node_type": "TextNode",
        "document_id": "doc-1", "doc_id": "doc-1", "ref_doc_id": "doc-1",
    }  # fmt: skip


SHAPES: dict[str, tuple[Any, dict[str, str]]] = {
    "retrieval-validation": (
        lambda n: {
            "content": TEXT, "url": URL, "title": "Nodes", "chunk_index": n,
            "timestamp": "2025-12-15T10:00:00Z", "content_hash": content_hash(TEXT),
        },
        {"text": "content", "url": "url", "position": "chunk_index", "created_at": "timestamp"},
    ),
    "retrieval-testing": (
        lambda n: {
            "content": TEXT, "url": URL, "position": n, "chunk_id": f"c-{n}",
            "created_at": "2025-12-15T10:00:00Z",
        },
        {"text": "content", "position": "position", "chunk_id": "chunk_id", "created_at": "created_at"},
    ),
    "retrieval-layer": (
        lambda n: {"text": TEXT, "source_url": URL, "chunk_id": f"c-{n}", "position": n, "title": "Nodes"},
        {"text": "text", "url": "source_url", "chunk_id": "chunk_id", "title": "title"},
    ),
    "retrieval-api": (
        lambda n: {
            "chunk_id": f"doc-001-{n:04}", "text": TEXT, "source_path": "docs/nodes.md", "slug": "nodes",
            "title": "Nodes", "order_index": n + 1,
        },
        {"text": "text", "source_path": "source_path", "slug": "slug", "position": "order_index"},
    ),
    "retrieval-implementation": (
        lambda n: {
            "content": TEXT,
            "chunk_id": f"c-{n}",
            "position": n,
            "metadata": {
                "url": URL, "section": "Topics", "chunk_id": f"c-{n}", "document_id": "nodes",
                "document_title": "Nodes", "source_type": "docusaurus-page",
            },
        },
        {
            "text": "content", "url": "metadata.url", "section": "metadata.section",
            "document_id": "metadata.document_id", "title": "metadata.document_title",
            "source_type": "metadata.source_type", "position": "position",
        },
    ),
    "langchain": (
        lambda n: {"page_content": TEXT, "metadata": {"source": URL, "title": "Nodes", "start_index": n}},
        {"text": "page_content", "url": "metadata.source", "title": "metadata.title"},
    ),
    "langchain-js": (
        lambda n: {"content": TEXT, "metadata": {"source": URL, "loc": {"lines": {"from": n, "to": n}}}},
        {"text": "content", "url": "metadata.source"},
    ),
    "llama-index": (
        llama_index,
        {"text": "_node_content.text", "url": "url", "document_id": "document_id", "title": "title"},
    ),
    "haystack": (
        lambda n: {
            "id": f"{n:064x}",
            "content": TEXT,
            "blob": None,
            "meta": {"url": URL, "source_id": "doc-1", "split_id": n, "split_idx_start": 40 * n},
            "score": None,
        },
        {
            "text": "content", "url": "meta.url", "chunk_id": "id", "document_id": "meta.source_id",
            "position": "meta.split_id", "start": "meta.split_idx_start",
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_each_format_is_recognised_with_its_fields(name: str) -> None:
    make, expected = SHAPES[name]
    recognition = recognize_format([make(number) for number in range(20)])
    assert recognition.payload_format.name == name
    assert {field: recognition.payload_format.fields.get(field) for field in expected} == expected
    assert recognition.points == 20
    usage = {field.name: field for field in recognition.fields}
    assert list(usage) == list(FIELDS)
    assert usage["text"].count == 20
    assert usage["text"].example == TEXT
    assert not {field.name for field in recognition.missing} & expected.keys()


@pytest.mark.parametrize("name", SHAPES)
def test_each_format_gives_its_chunk(name: str) -> None:
    make, _ = SHAPES[name]
    payloads = [make(number) for number in range(3)]
    chunk = read_chunk(payloads[2], POINT, recognize_format(payloads).payload_format)
    assert chunk.text == TEXT
    assert chunk.url == ("file:///docs/nodes.md" if name == "retrieval-api" else URL)
    assert chunk.position == (-1 if name in ("langchain", "langchain-js", "llama-index") else 2)
    assert chunk.span == (None, None)
    assert chunk.document_id


def test_own_points_are_recognised_with_all_fields() -> None:
    given_entries = entries()
    payloads = [to_payload(entry) for entry in given_entries]
    recognition = recognize_format(payloads)
    payload_format = recognition.payload_format
    assert (payload_format.name, payload_format.position_base) == ("pertinent", 0)
    chunk = read_chunk(payloads[0], POINT, recognition.payload_format)
    assert chunk.position == given_entries[0].chunk.position
    assert chunk.chunk_id == given_entries[0].chunk.chunk_id


def test_positions_from_one_and_from_zero_are_distinguished() -> None:
    make, _ = SHAPES["retrieval-api"]
    counted_from_one = [make(number) for number in range(3)]
    assert recognize_format(counted_from_one).payload_format.position_base == 1
    counted_from_zero = [payload | {"order_index": n} for n, payload in enumerate(counted_from_one)]
    assert recognize_format(counted_from_zero).payload_format.position_base == 0


def test_zero_among_positions_from_one_is_unknown_and_no_damage() -> None:
    make, _ = SHAPES["retrieval-api"]
    payloads = [make(number) for number in range(3)]
    payload_format = recognize_format(payloads).payload_format
    assert read_chunk(payloads[0] | {"order_index": 0}, POINT, payload_format).position == -1
    damaged = to_chunk(payloads[0] | {"order_index": -1}, POINT, payload_format)
    assert isinstance(damaged, DamagedPoint)


def test_missing_fields_are_counted_and_not_invented() -> None:
    make, _ = SHAPES["retrieval-validation"]
    payloads = [make(number) for number in range(10)]
    for payload in payloads[:4]:
        del payload["content_hash"]
    recognition = recognize_format(payloads)
    missing = {field.name: field for field in recognition.missing}
    assert (missing["content_hash"].path, missing["content_hash"].count) == ("content_hash", 6)
    assert (missing["section"].path, missing["section"].count) == (None, 0)
    chunk = read_chunk(payloads[0], POINT, recognition.payload_format)
    assert chunk.content_hash == ""


def test_chunk_without_ids_gets_those_of_its_point_and_page() -> None:
    payload_format = PayloadFormat("named", {"text": "t", "url": "u"})
    first, second, elsewhere = (
        read_chunk({"t": TEXT, "u": url}, point, payload_format)
        for point, url in ((1, URL + "#topics"), (2, URL + "/"), (3, "https://book.example/docs/other"))
    )
    assert (first.chunk_id, second.chunk_id) == ("1", "2")
    assert first.document_id == second.document_id != elsewhere.document_id
    assert (first.url, first.anchor) == (URL, "topics")


def test_long_names_of_a_point_are_cut_as_in_an_own_index() -> None:
    payload_format = PayloadFormat(
        "named", {name: name for name in ("text", "url", "title", "section", "anchor")}
    )
    payload = {"text": TEXT, "url": URL, "title": "t" * 5000, "section": "s" * 5000, "anchor": "a" * 5000}
    chunk = read_chunk(payload, POINT, payload_format)
    assert (chunk.title, chunk.section, chunk.anchor) == ("t" * 1000, "s" * 1000, "")


def test_id_shared_by_points_is_not_the_chunk_id() -> None:
    metadata = [{"source": URL, "chunk_id": f"c-{n % 2}"} for n in range(20)]
    payloads = [{"page_content": TEXT, "metadata": row} for row in metadata]
    assert "chunk_id" not in recognize_format(payloads).payload_format.fields


def test_source_field_is_a_url_or_a_path_by_its_form() -> None:
    files = [{"page_content": TEXT, "metadata": {"source": f"docs/{n}.md"}} for n in range(5)]
    fields = recognize_format(files).payload_format.fields
    assert fields["source_path"] == "metadata.source"
    assert "url" not in fields


def test_node_without_document_belongs_to_the_page_of_its_url() -> None:
    payload = {**llama_index(1), "document_id": "None", "doc_id": "None"}
    payload_format = recognize_format([llama_index(n) for n in range(3)]).payload_format
    assert read_chunk(payload, POINT, payload_format).document_id.startswith("nodes-")


def test_read_start_orders_passages() -> None:
    payloads = [llama_index(n) for n in range(3)]
    payload_format = recognize_format(payloads).payload_format
    assert [read_start(payload, payload_format) for payload in payloads] == [0, 40, 80]
    assert read_start({}, payload_format) == -1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1_765_792_800, "2025-12-15T10:00:00Z"),
        (1_765_792_800_000, "2025-12-15T10:00:00Z"),
        ("2025-12-15T10:00:00Z", "2025-12-15T10:00:00Z"),
        ("2025-12-15T10:00:00", "2025-12-15T10:00:00Z"),
        ("2025-12-15 10:00:00", "2025-12-15T10:00:00Z"),
        ("2025-12-15T12:30:00+02:30", "2025-12-15T10:00:00Z"),
        ("2025-12-15T10:00:00.250", "2025-12-15T10:00:00.250000Z"),
        ("2025-12-15", "2025-12-15T00:00:00Z"),
        (-1, "1969-12-31T23:59:59Z"),
        ("", None),
        (None, None),
    ],
)
def test_rule_5_times_of_other_pipelines_are_in_utc_ending_in_z_and_a_missing_one_is_none(
    value: object, expected: str | None
) -> None:
    payload_format = PayloadFormat("named", {"text": "t", "url": "u", "created_at": "when"})
    assert read_chunk({"t": TEXT, "u": URL, "when": value}, POINT, payload_format).created_at == expected


ALL = PayloadFormat("same", {name: name for name in FIELDS})
HEALTHY: Payload = {
    "text": TEXT, "url": URL, "title": "Nodes", "section": "Topics", "anchor": "topics", "position": 3,
    "chunk_id": "nodes-3", "document_id": "nodes", "source_path": "docs/nodes.md", "slug": "nodes",
    "source_type": "page", "created_at": "2025-12-15T10:00:00Z", "content_hash": content_hash(TEXT),
    "start": 40,
}  # fmt: skip
DAMAGE: list[tuple[str, object]] = [
    *((name, value) for name in FIELDS for value in (True, {"a": 1}, [1])),
    ("text", 5),
    ("text", "  "),
    ("text", None),
    ("url", "not a url"),
    ("url", "http:///nowhere"),
    ("url", "javascript:alert(1)"),
    ("url", "C:\\docs\\a.md"),
    ("url", "http://["),
    ("url", 5),
    ("position", "x"),
    ("position", -1),
    ("position", 2.5),
    ("position", 1e300),
    ("position", 2**31),
    ("created_at", "yesterday"),
    ("created_at", "2025-12-15X10:00:00"),
    ("created_at", 1e300),
    ("created_at", 10**400),
    ("content_hash", 5),
    ("start", "x"),
]


def test_complete_point_is_a_chunk() -> None:
    chunk = read_chunk(HEALTHY, POINT, ALL)
    assert all(getattr(chunk, name) == HEALTHY[name] for name in FIELDS if name != "start")


@pytest.mark.parametrize(("field", "value"), DAMAGE)
def test_rule_29_field_of_wrong_type_is_named_as_damage(field: str, value: object) -> None:
    point = to_chunk({**HEALTHY, field: value}, POINT, ALL)
    assert isinstance(point, DamagedPoint)
    assert point.point_id == POINT
    assert point.chunk_id == ("" if field == "chunk_id" else "nodes-3")
    (problem,) = point.problems
    assert problem.startswith(f"{field} is ")
    assert f"point {POINT}" in str(point)


def test_rule_29_problem_has_the_path_of_the_field() -> None:
    payload_format = PayloadFormat("named", {"text": "t", "url": "info.link"})
    point = to_chunk({"t": TEXT, "info": {"link": "nowhere"}}, 7, payload_format)
    assert isinstance(point, DamagedPoint)
    assert point.problems == ("url (info.link) is 'nowhere', not an address like https://example.org/docs",)


@pytest.mark.parametrize(
    ("path", "base_url", "url"),
    [
        ("docs/chapter-1/index.md", "", "file:///docs/chapter-1/index.md"),
        ("/srv/docs/a b#1.md", "", "file:///srv/docs/a%20b%231.md"),
        ("C:\\docs\\a.md", "", "file:///C:/docs/a.md"),
        (
            "docs/a.md",
            "https://github.example/book/blob/main/",
            "https://github.example/book/blob/main/docs/a.md",
        ),
        ("../../a.md", "https://book.example/docs", "https://book.example/docs/a.md"),
        ("https://book.example/a#b", "https://other.example", "https://book.example/a"),
    ],
)
def test_rule_29_point_without_url_gets_one_from_its_path(path: str, base_url: str, url: str) -> None:
    payload_format = PayloadFormat("named", {"text": "t", "url": "u", "source_path": "p"}, base_url=base_url)
    chunk = read_chunk({"t": TEXT, "p": path}, POINT, payload_format)
    assert (chunk.url, chunk.source_path) == (url, path)


def test_rule_29_stored_url_precedes_one_built_from_the_path() -> None:
    payload_format = PayloadFormat(
        "named", {"text": "t", "url": "u", "source_path": "p"}, base_url="https://other.example"
    )
    assert read_chunk({"t": TEXT, "u": URL, "p": "docs/a.md"}, POINT, payload_format).url == URL


@pytest.mark.parametrize("payload", [{"t": TEXT}, {"t": TEXT, "p": ""}, {"t": TEXT, "p": "/"}])
def test_rule_29_point_without_url_and_path_is_left_out(payload: Payload) -> None:
    point = to_chunk(payload, POINT, PayloadFormat("named", {"text": "t", "url": "url", "source_path": "p"}))
    assert isinstance(point, DamagedPoint)
    assert point.problems == ("url is missing",)


def test_document_keeps_its_id_under_another_base_url() -> None:
    fields = {"text": "t", "source_path": "p"}
    formats = [PayloadFormat("named", fields, base_url=base) for base in ("", "https://book.example")]
    assert (
        len(
            {
                read_chunk({"t": TEXT, "p": "docs/a.md"}, POINT, payload_format).document_id
                for payload_format in formats
            }
        )
        == 1
    )


def test_field_may_hold_urls_and_paths() -> None:
    payloads = [
        {"page_content": TEXT, "metadata": {"source": URL if number % 2 else f"docs/{number}.md"}}
        for number in range(10)
    ]
    payload_format = recognize_format(payloads).payload_format
    file, page = (read_chunk(payloads[number], number, payload_format) for number in (0, 1))
    assert (file.url, file.source_path) == ("file:///docs/0.md", "docs/0.md")
    assert (page.url, page.source_path) == (URL, "")


def test_other_hash_than_sha_256_is_not_a_content_hash() -> None:
    md5 = {**HEALTHY, "content_hash": "5d41402abc4b2a76b9719d911017c592"}
    assert read_chunk(md5, POINT, ALL).content_hash == ""


def test_passage_missing_in_its_page_is_not_damage() -> None:
    assert isinstance(to_chunk({**HEALTHY, "start": -1}, POINT, ALL), Chunk)


def test_unknown_fields_error_lists_them_and_the_setting() -> None:
    with pytest.raises(SettingsError) as caught:
        recognize_format([{"body": TEXT, "info": {"href": URL}}, {"body": TEXT}])
    message = str(caught.value)
    assert "body (2 of 2)" in message
    assert "info.href (1 of 2)" in message
    assert "[qdrant_fields]" in message


def test_ambiguous_text_field_error_names_both() -> None:
    both = {"text": TEXT, "content": TEXT, "url": URL, "chunk_id": "c", "position": 0, "created_at": "now"}
    with pytest.raises(SettingsError, match=r"'content' .*'text' "):
        recognize_format([both])


def test_no_points_is_an_error_unless_fields_are_configured() -> None:
    with pytest.raises(SettingsError, match="no points"):
        recognize_format([])
    assert recognize_format([], {"text": "body"}).payload_format == PayloadFormat("named", {"text": "body"})


def test_empty_payloads_are_told() -> None:
    with pytest.raises(SettingsError, match="all 3 points are empty"):
        recognize_format([{}, {}, {}])


def test_configured_fields_are_used_and_none_guessed() -> None:
    payload = {"body": {"plain": TEXT}, "at": URL, "title": "Nodes", "nth": 1}
    recognition = recognize_format([payload], {"text": "body.plain", "url": "at", "order_index": "nth"})
    assert recognition.payload_format == PayloadFormat(
        "named", {"text": "body.plain", "url": "at", "position": "nth"}, 1
    )
    chunk = read_chunk(payload, POINT, recognition.payload_format)
    assert (chunk.text, chunk.url, chunk.title, chunk.position) == (TEXT, URL, "", 0)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"text": "body", "colour": "c"}, r"colour is none of text, url"),
        ({"url": "at"}, "text must be named"),
        ({"text": "content"}, r"no point has a text at 'content'; there are body \(1 of 1\)"),
        ({"text": "body", "position": "a", "order_index": "b"}, "name only one of them"),
    ],
)
def test_invalid_field_names_are_refused(named: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        recognize_format([{"body": TEXT}], named)


def test_list_paths_counts_points_by_key() -> None:
    paths = list_paths([{"a": {"b": 1, "c": None}, "d": "x"}, {"a": {"b": 2}, "e": [1]}])
    assert [(path.name, path.count, path.example) for path in paths] == [
        ("a.b", 2, "1"),
        ("d", 1, "x"),
        ("e", 1, "[1]"),
    ]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(), below, max_size=3),
    max_leaves=8,
)
PATHS = ("a", "a.b", "c", "_node_content.text", "d.e.f")
KEYS = st.sampled_from(["a", "b", "c", "d", "_node_content"]) | st.text()
PAYLOADS = st.dictionaries(KEYS, VALUES, max_size=5)
FIELDS_ANYWHERE = st.fixed_dictionaries({name: st.sampled_from(PATHS) for name in FIELDS})
ANY_TEXT = st.text(st.characters())
STRANGE = ANY_TEXT | st.sampled_from(
    ["http://[", "{", '{"text": 1}', "https://[::1]/x#y", "\ud800", "²", "None"]
)


@given(PAYLOADS, FIELDS_ANYWHERE, st.integers(0, 1), st.integers(min_value=0) | st.uuids())
def test_any_payload_gives_a_chunk_or_names_what_is_wrong(
    payload: Payload, fields: dict[str, str], base: int, point: int | UUID
) -> None:
    stored = to_chunk(payload, point, PayloadFormat("any", fields, base))
    if isinstance(stored, DamagedPoint):
        assert stored.point_id == point
        assert all(problem.startswith(FIELDS) for problem in stored.problems)
        return
    assert stored.chunk_id
    assert stored.document_id
    assert stored.position >= -1
    assert is_url(stored.url)
    assert stored.text.strip()
    assert all(isinstance(getattr(stored, name), str) for name in ("title", "content_hash"))


@given(st.fixed_dictionaries(dict.fromkeys(FIELDS, STRANGE)))
def test_strange_texts_give_a_chunk_or_name_what_is_wrong(payload: Payload) -> None:
    stored = to_chunk(payload, 1, ALL)
    assert isinstance(stored, DamagedPoint) or stored.text == payload["text"]


@given(st.lists(PAYLOADS, max_size=5))
def test_any_points_are_recognised_or_refused_with_a_reason(payloads: list[Payload]) -> None:
    refusal = ""
    try:
        recognition = recognize_format(payloads)
    except SettingsError as error:
        refusal = str(error)
    assert "qdrant_fields" in refusal or all(0 <= use.count <= len(payloads) for use in recognition.fields)
