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
    node = {
        "id_": str(UUID(int=number)),
        "text": TEXT,
        "metadata": {"url": URL},
        "start_char_idx": 40 * number,
    }
    return {
        "url": URL,
        "title": "Nodes",
        "_node_content": json.dumps(node),
        "_node_type": "TextNode",
        "document_id": "doc-1",
        "doc_id": "doc-1",
        "ref_doc_id": "doc-1",
    }


SHAPES: dict[str, tuple[Any, dict[str, str]]] = {
    "retrieval-validation": (
        lambda n: {
            "content": TEXT,
            "url": URL,
            "title": "Nodes",
            "chunk_index": n,
            "timestamp": "2025-12-15T10:00:00Z",
            "content_hash": content_hash(TEXT),
        },
        {"text": "content", "url": "url", "position": "chunk_index", "created_at": "timestamp"},
    ),
    "retrieval-testing": (
        lambda n: {
            "content": TEXT,
            "url": URL,
            "position": n,
            "chunk_id": f"c-{n}",
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
            "chunk_id": f"doc-001-{n:04}",
            "text": TEXT,
            "source_path": "docs/nodes.md",
            "slug": "nodes",
            "title": "Nodes",
            "order_index": n + 1,
        },
        {"text": "text", "source_path": "source_path", "slug": "slug", "position": "order_index"},
    ),
    "retrieval-implementation": (
        lambda n: {
            "content": TEXT,
            "chunk_id": f"c-{n}",
            "position": n,
            "metadata": {
                "url": URL,
                "section": "Topics",
                "chunk_id": f"c-{n}",
                "document_id": "nodes",
                "document_title": "Nodes",
                "source_type": "docusaurus-page",
            },
        },
        {
            "text": "content",
            "url": "metadata.url",
            "section": "metadata.section",
            "document_id": "metadata.document_id",
            "title": "metadata.document_title",
            "source_type": "metadata.source_type",
            "position": "position",
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
            "text": "content",
            "url": "meta.url",
            "chunk_id": "id",
            "document_id": "meta.source_id",
            "position": "meta.split_id",
            "start": "meta.split_idx_start",
        },
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_each_format_is_recognised_with_its_fields(name: str) -> None:
    make, expected = SHAPES[name]
    found = recognize_format([make(number) for number in range(20)])
    assert found.payload_format.name == name
    assert {field: found.payload_format.fields.get(field) for field in expected} == expected
    assert found.points == 20
    usage = {field.name: field for field in found.fields}
    assert list(usage) == list(FIELDS)
    assert usage["text"].count == 20
    assert usage["text"].example == TEXT
    assert not {one.name for one in found.missing} & expected.keys()


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


def test_our_own_points_are_known_by_all_their_fields() -> None:
    given_entries = entries()
    payloads = [to_payload(entry) for entry in given_entries]
    found = recognize_format(payloads)
    assert (found.payload_format.name, found.payload_format.position_base) == ("pertinent", 0)
    chunk = read_chunk(payloads[0], POINT, found.payload_format)
    assert chunk.position == given_entries[0].chunk.position
    assert chunk.chunk_id == given_entries[0].chunk.chunk_id


def test_a_position_that_counts_from_one_is_told_from_one_that_does_not() -> None:
    make, _ = SHAPES["retrieval-api"]
    counted_from_one = [make(number) for number in range(3)]
    assert recognize_format(counted_from_one).payload_format.position_base == 1
    counted_from_zero = [{**one, "order_index": one["order_index"] - 1} for one in counted_from_one]
    assert recognize_format(counted_from_zero).payload_format.position_base == 0


def test_what_is_missing_is_counted_and_not_made_up() -> None:
    make, _ = SHAPES["retrieval-validation"]
    payloads = [make(number) for number in range(10)]
    for one in payloads[:4]:
        del one["content_hash"]
    found = recognize_format(payloads)
    missing = {one.name: one for one in found.missing}
    assert (missing["content_hash"].path, missing["content_hash"].count) == ("content_hash", 6)
    assert (missing["section"].path, missing["section"].count) == (None, 0)
    chunk = read_chunk(payloads[0], POINT, found.payload_format)
    assert chunk.content_hash == ""


def test_a_chunk_without_ids_has_the_points_and_its_pages() -> None:
    payload_format = PayloadFormat("named", {"text": "t", "url": "u"})
    one, other, elsewhere = (
        read_chunk({"t": TEXT, "u": url}, point, payload_format)
        for point, url in ((1, URL + "#topics"), (2, URL + "/"), (3, "https://book.example/docs/other"))
    )
    assert (one.chunk_id, other.chunk_id) == ("1", "2")
    assert one.document_id == other.document_id != elsewhere.document_id
    assert (one.url, one.anchor) == (URL, "topics")


def test_an_id_that_many_points_share_is_not_the_chunks() -> None:
    payloads = [
        {"page_content": TEXT, "metadata": {"source": URL, "chunk_id": f"c-{n % 2}"}} for n in range(20)
    ]
    assert "chunk_id" not in recognize_format(payloads).payload_format.fields


def test_a_source_is_an_address_or_a_file_as_it_looks() -> None:
    files = [{"page_content": TEXT, "metadata": {"source": f"docs/{n}.md"}} for n in range(5)]
    fields = recognize_format(files).payload_format.fields
    assert fields["source_path"] == "metadata.source"
    assert "url" not in fields


def test_a_node_without_a_document_is_of_the_page_at_its_address() -> None:
    payload = {**llama_index(1), "document_id": "None", "doc_id": "None"}
    payload_format = recognize_format([llama_index(n) for n in range(3)]).payload_format
    assert read_chunk(payload, POINT, payload_format).document_id.startswith("nodes-")


def test_where_a_passage_began_is_read_for_its_order() -> None:
    payloads = [llama_index(n) for n in range(3)]
    payload_format = recognize_format(payloads).payload_format
    assert [read_start(one, payload_format) for one in payloads] == [0, 40, 80]
    assert read_start({}, payload_format) == -1


@pytest.mark.parametrize(
    ("value", "shown"),
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
    value: object, shown: str | None
) -> None:
    payload_format = PayloadFormat("named", {"text": "t", "url": "u", "created_at": "when"})
    assert read_chunk({"t": TEXT, "u": URL, "when": value}, POINT, payload_format).created_at == shown


ALL = PayloadFormat("same", {name: name for name in FIELDS})
HEALTHY: Payload = {
    "text": TEXT,
    "url": URL,
    "title": "Nodes",
    "section": "Topics",
    "anchor": "topics",
    "position": 3,
    "chunk_id": "nodes-3",
    "document_id": "nodes",
    "source_path": "docs/nodes.md",
    "slug": "nodes",
    "source_type": "page",
    "created_at": "2025-12-15T10:00:00Z",
    "content_hash": content_hash(TEXT),
    "start": 40,
}
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


def test_a_healthy_point_of_every_field_is_a_chunk() -> None:
    chunk = read_chunk(HEALTHY, POINT, ALL)
    assert all(getattr(chunk, name) == HEALTHY[name] for name in FIELDS if name != "start")


@pytest.mark.parametrize(("field", "value"), DAMAGE)
def test_rule_29_a_field_of_the_wrong_type_is_damage_that_names_it(field: str, value: object) -> None:
    point = to_chunk({**HEALTHY, field: value}, POINT, ALL)
    assert isinstance(point, DamagedPoint)
    assert point.point_id == POINT
    assert point.chunk_id == ("" if field == "chunk_id" else "nodes-3")
    (problem,) = point.problems
    assert problem.startswith(f"{field} is ")
    assert f"point {POINT}" in str(point)


def test_rule_29_a_problem_says_where_the_field_stands() -> None:
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
def test_rule_29_a_point_without_a_url_gets_one_from_its_source_path(
    path: str, base_url: str, url: str
) -> None:
    payload_format = PayloadFormat("named", {"text": "t", "url": "u", "source_path": "p"}, base_url=base_url)
    chunk = read_chunk({"t": TEXT, "p": path}, POINT, payload_format)
    assert (chunk.url, chunk.source_path) == (url, path)


def test_rule_29_a_stored_url_stands_before_one_made_from_the_path() -> None:
    payload_format = PayloadFormat(
        "named", {"text": "t", "url": "u", "source_path": "p"}, base_url="https://other.example"
    )
    assert read_chunk({"t": TEXT, "u": URL, "p": "docs/a.md"}, POINT, payload_format).url == URL


@pytest.mark.parametrize("payload", [{"t": TEXT}, {"t": TEXT, "p": ""}, {"t": TEXT, "p": "/"}])
def test_rule_29_a_point_without_url_and_path_is_left_out(payload: Payload) -> None:
    point = to_chunk(payload, POINT, PayloadFormat("named", {"text": "t", "url": "url", "source_path": "p"}))
    assert isinstance(point, DamagedPoint)
    assert point.problems == ("url is missing",)


def test_a_document_keeps_its_id_under_another_base_url() -> None:
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


def test_one_field_may_hold_addresses_and_files() -> None:
    payloads = [
        {"page_content": TEXT, "metadata": {"source": URL if number % 2 else f"docs/{number}.md"}}
        for number in range(10)
    ]
    payload_format = recognize_format(payloads).payload_format
    file, page = (read_chunk(payloads[number], number, payload_format) for number in (0, 1))
    assert (file.url, file.source_path) == ("file:///docs/0.md", "docs/0.md")
    assert (page.url, page.source_path) == (URL, "")


def test_another_hash_than_sha_256_is_no_content_hash() -> None:
    md5 = {**HEALTHY, "content_hash": "5d41402abc4b2a76b9719d911017c592"}
    assert read_chunk(md5, POINT, ALL).content_hash == ""


def test_a_passage_that_was_not_found_in_its_page_is_no_damage() -> None:
    assert isinstance(to_chunk({**HEALTHY, "start": -1}, POINT, ALL), Chunk)


def test_unknown_fields_are_an_error_that_shows_them_and_how_to_name_them() -> None:
    with pytest.raises(SettingsError) as told:
        recognize_format([{"body": TEXT, "info": {"href": URL}}, {"body": TEXT}])
    message = str(told.value)
    assert "body (2 of 2)" in message
    assert "info.href (1 of 2)" in message
    assert "[qdrant_fields]" in message


def test_two_fields_that_may_be_the_text_are_an_error_that_names_both() -> None:
    both = {"text": TEXT, "content": TEXT, "url": URL, "chunk_id": "c", "position": 0, "created_at": "now"}
    with pytest.raises(SettingsError, match=r"'content' .*'text' "):
        recognize_format([both])


def test_no_points_are_an_error_unless_the_fields_are_named() -> None:
    with pytest.raises(SettingsError, match="no points"):
        recognize_format([])
    assert recognize_format([], {"text": "body"}).payload_format == PayloadFormat("named", {"text": "body"})


def test_empty_payloads_are_told() -> None:
    with pytest.raises(SettingsError, match="all 3 points are empty"):
        recognize_format([{}, {}, {}])


def test_named_fields_are_taken_as_they_are_and_nothing_is_guessed_beside_them() -> None:
    payload = {"body": {"plain": TEXT}, "at": URL, "title": "Nodes", "nth": 1}
    found = recognize_format([payload], {"text": "body.plain", "url": "at", "order_index": "nth"})
    assert found.payload_format == PayloadFormat(
        "named", {"text": "body.plain", "url": "at", "position": "nth"}, 1
    )
    chunk = read_chunk(payload, POINT, found.payload_format)
    assert (chunk.text, chunk.url, chunk.title, chunk.position) == (TEXT, URL, "", 0)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"text": "body", "colour": "c"}, r"colour is none of text, url"),
        ({"url": "at"}, "text must be named"),
        ({"text": "content"}, r"no point has a text at 'content'; there are body \(1 of 1\)"),
        ({"text": "body", "position": "a", "order_index": "b"}, "name only one of them"),
    ],
)
def test_names_that_can_not_be_are_refused(named: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        recognize_format([{"body": TEXT}], named)


def test_keys_are_listed_by_how_many_points_have_them() -> None:
    found = list_paths([{"a": {"b": 1, "c": None}, "d": "x"}, {"a": {"b": 2}, "e": [1]}])
    assert [(one.name, one.count, one.example) for one in found] == [
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
PAYLOADS = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d", "_node_content"]) | st.text(), VALUES, max_size=5
)
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
        found = recognize_format(payloads)
    except SettingsError as error:
        refusal = str(error)
    assert "qdrant_fields" in refusal or all(0 <= one.count <= len(payloads) for one in found.fields)
