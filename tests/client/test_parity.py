"""One suite for the library and both clients: the same results, field by field, and the same errors."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from pertinent import Filters, Pertinent
from pertinent.errors import InvalidInput, NotFound
from pertinent.types import Answer, Chunk, Hit
from pertinent.validation.golden.golden_set import GoldenSet

QUERY = "the torque of joints"


def assert_same_answer(answer: Answer, expected: Answer) -> None:
    """Compare everything but the times."""
    assert answer.timings.keys() == expected.timings.keys()
    for field in fields(Answer):
        if field.name not in ("timings", "created_at"):
            assert getattr(answer, field.name) == getattr(expected, field.name), field.name
    for hit, expected_hit in zip(answer.hits, expected.hits, strict=True):
        assert type(hit) is Hit
        assert type(hit.chunk) is Chunk
        assert type(hit.point_id) is type(expected_hit.point_id)
        assert [*hit.scores] == [*expected_hit.scores]
        assert hit.chunk.citation == expected_hit.chunk.citation


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"top_k": 100},
        {"top_k": 3, "threshold": 0.999},
        {"ranking": "dense"},
        {"ranking": "lexical", "per_page": 1},
        {"filters": {"section": "The torque"}},
        {"filters": Filters(url="https://book.example/docs/motors")},
        {"correct": False},
        {"fallback": "lexical"},
        {"rerank": False},
    ],
    ids=str,
)
def test_search_gives_the_same_answer(reader: Any, library: Pertinent, options: dict[str, Any]) -> None:
    answer = reader.search(QUERY, **options)
    assert isinstance(answer, Answer)
    assert_same_answer(answer, library.search(QUERY, **options))


@pytest.mark.parametrize(
    "query", ["torqe of jonts", '"the torque of joints"', "片手 🤖", "x" * 2000, "<script>"]
)
def test_corrections_notes_and_candidates_are_the_same(reader: Any, library: Pertinent, query: str) -> None:
    answer = reader.search(query)
    assert_same_answer(answer, library.search(query))


def test_answer_has_the_candidates_that_are_not_listed(reader: Any) -> None:
    answer = reader.search(QUERY, threshold=0.999)
    assert answer.excluded
    assert all("0.999" in candidate.reason for candidate in answer.excluded)


@pytest.mark.parametrize("prefix", ["", "the tor", "abuot joints", "&limit=1#"])
def test_suggestions_are_the_same(reader: Any, library: Pertinent, prefix: str) -> None:
    assert reader.suggest(prefix, limit=3) == library.suggest(prefix, limit=3)
    assert len(reader.suggest("the")) == 8


@pytest.mark.parametrize("around", [0, 2, 100])
def test_chunk_and_neighbours_are_the_same(reader: Any, library: Pertinent, around: int) -> None:
    chunk_id = library.search(QUERY).hits[0].chunk.chunk_id
    chunks = reader.chunk(chunk_id, around=around)
    assert chunks == library.chunk(chunk_id, around=around)
    assert chunk_id in {chunk.chunk_id for chunk in chunks}


def test_pages_and_sources_are_the_same(reader: Any, library: Pertinent) -> None:
    records = reader.pages()
    assert records == library.pages()
    assert len(records) == 4
    assert reader.sources().keys() == library.sources().keys()


def test_page_has_its_text_and_chunks(reader: Any, library: Pertinent) -> None:
    for record in library.pages():
        page = reader.page(record.document_id)
        assert page == library.page(record.document_id)
        assert len(page.chunks) == record.chunks
        assert all(page.text[chunk.start : chunk.end] == chunk.text for chunk in page.chunks)


def test_validation_tests_have_the_same_result(reader: Any, library: Pertinent) -> None:
    chunk_id = library.search(QUERY).hits[0].chunk.chunk_id
    tests = [{"test_id": "torque", "query_text": QUERY, "expected_results": [chunk_id]}]
    run, expected = (source.run_tests(tests, top_k=3) for source in (reader, library))
    assert type(run) is type(expected)
    ignored = {"validation_id", "tests"}
    assert run.model_dump(exclude=ignored) == expected.model_dump(exclude=ignored)
    (test,), (expected_test,) = run.tests, expected.tests
    assert test.model_dump(exclude={"executed_at"}) == expected_test.model_dump(exclude={"executed_at"})


def test_golden_set_gets_the_same_verdict(reader: Any, library: Pertinent) -> None:
    labels = [{"page": "docs/joints.md", "anchor": "the-torque", "grade": 2}]
    queries = [{"id": "torque", "text": QUERY, "labels": labels}]
    golden = GoldenSet.model_validate({"name": "shelf", "queries": queries})
    report, expected = (source.validate(golden) for source in (reader, library))
    assert type(report) is type(expected)
    assert report.verdict == expected.verdict
    assert report.test_cases[0].actual_results == expected.test_cases[0].actual_results


@pytest.mark.parametrize(
    ("method", "arguments", "options"),
    [
        ("search", [""], {}),
        ("search", ["x" * 2001], {}),
        ("search", ["\ud800"], {}),
        ("search", ["x"], {"top_k": 101}),
        ("search", ["x"], {"threshold": float("nan")}),
        ("search", ["x"], {"ranking": "best"}),
        ("search", ["x"], {"filters": {"colour": "red"}}),
        ("search", ["x"], {"filters": {"url": "docs"}}),
        ("search", ["x"], {"per_page": 0}),
        ("search", ["x"], {"fallback": "dense"}),
        ("search", ["x"], {"rerank": "yes"}),
        ("search", ["x"], {"rerank": True}),
        ("suggest", ["x"], {"limit": 51}),
        ("suggest", ["x" * 2001], {}),
        ("chunk", ["x"], {"around": -1}),
        ("run_tests", [[{"test_id": "x"}]], {}),
    ],
)
def test_bad_input_is_the_same_error(
    reader: Any, library: Pertinent, method: str, arguments: list[Any], options: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput) as expected:
        getattr(library, method)(*arguments, **options)
    with pytest.raises(InvalidInput) as error:
        getattr(reader, method)(*arguments, **options)
    assert error.value.field == expected.value.field
    assert error.value.message.startswith(expected.value.message)


@pytest.mark.parametrize("method", ["chunk", "page"])
@pytest.mark.parametrize(
    "identifier", ["nope", "../health", "a/b", "?", "#", "%2e%2e", "é 🤖", "\0", ".", ".."]
)
def test_unknown_id_is_not_found(reader: Any, method: str, identifier: str) -> None:
    with pytest.raises(NotFound):
        getattr(reader, method)(identifier)


def test_cached_answer_says_so(reader: Any, library: Pertinent, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = library.workspace.engine()
    cached = replace(engine.search(QUERY), cached=True)
    monkeypatch.setattr(engine, "cached_answer", lambda *_: cached)
    assert reader.search(QUERY).cached
