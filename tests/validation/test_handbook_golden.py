"""The handbook's golden set: what it holds, that it passes, and that it outlives another chunk size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pertinent.surfaces.library import Pertinent
from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.validation.golden.golden_set import GoldenSet, load_golden_file
from pertinent.validation.labels.resolve import resolve_labels
from pertinent.validation.report import ValidationReport
from pertinent.validation.validate import ValidationOptions, validate

# The real model embeds the whole handbook.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cached_vectors")]

HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook"


@pytest.fixture(scope="module")
def golden() -> GoldenSet:
    return load_golden_file(HANDBOOK / "golden.yaml")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pertinent]:
    """The handbook with the default settings: the real model."""
    folder = tmp_path_factory.mktemp("handbook")
    with Pertinent.open(folder / "data") as pertinent:
        pertinent.index(HANDBOOK)
        yield pertinent


@pytest.fixture(scope="module")
def report(indexed: Pertinent, golden: GoldenSet) -> ValidationReport:
    return indexed.validate(golden, audit=True)


def test_rule_23_a_score_of_one_half_separates_answerable_queries(
    indexed: Pertinent, golden: GoldenSet
) -> None:
    """The best hit of 95 % of the answerable queries reaches it, and of at most 10 % of the others."""
    reached: dict[bool, list[bool]] = {True: [], False: []}
    for query in golden.queries:
        if query.text.strip():
            hits = indexed.search(query.text, top_k=1).hits
            is_answerable = query.answerable and any(label.grade > 0 for label in query.labels)
            reached[is_answerable].append(bool(hits) and hits[0].score >= 0.5)
    assert sum(reached[True]) / len(reached[True]) >= 0.95
    assert sum(reached[False]) / len(reached[False]) <= 0.10


def test_handbook_golden_set_is_rich_enough(golden: GoldenSet) -> None:
    queries = golden.queries
    assert sum(query.scored for query in queries) >= 40
    assert {query.query_type for query in queries} == {"specific", "broad", "paraphrase", "edge"}
    categories = Counter(query.category for query in queries if query.query_type != "edge")
    assert set(categories) == {"factual", "conceptual", "contextual"}
    groups = Counter(query.paraphrase_group for query in queries if query.paraphrase_group)
    assert sum(count > 1 for count in groups.values()) >= 10
    assert sum(not query.answerable for query in queries) >= 6
    assert {label.grade for query in queries for label in query.labels} == {0, 1, 2}


def test_handbook_golden_set_has_the_edge_cases_of_seed_000(golden: GoldenSet) -> None:
    edges = [query for query in golden.queries if query.query_type == "edge"]
    texts = [query.text for query in edges]
    assert "" in texts
    assert any(not text.isascii() for text in texts)
    assert any(len(text.split()) == 1 and text.isalpha() for text in texts)
    assert any(len(text.split()) >= 50 for text in texts)
    assert any(query.top_k == 100 for query in edges)
    assert any(not query.answerable and text.strip() for query, text in zip(edges, texts, strict=True))


def test_top_k_beyond_the_index_gives_all_results(indexed: Pertinent, report: ValidationReport) -> None:
    (case,) = (case for case in report.test_cases if case.query.id == "edge-top-k-beyond")
    (page,) = (page for page in indexed.pages() if page.source_path.endswith("/02-joints.md"))
    assert case.query.top_k == 100
    assert {result.url for result in case.actual_results} == {page.url}
    assert len(case.actual_results) == page.chunks < 100
    assert case.status == "passed"


@pytest.mark.parametrize("name", ["golden.yaml", "golden-hard.yaml"])
def test_handbook_labels_resolve_by_url_without_paths(name: str, indexed: Pertinent) -> None:
    """As in an index of the live site, which has its own ids and the paths of its addresses."""
    from_source = list(LocalPipeline(indexed.workspace).pages())
    from_site = [replace(page, source_path=urlsplit(page.url).path) for page in from_source]
    golden_set = load_golden_file(HANDBOOK / name)
    labels = [label for query in resolve_labels(golden_set, from_site).values() for label in query.labels]
    assert {label.status for label in labels} == {"exact"}
    urls = {page.source_path: page.url for page in from_source}
    assert golden_set.pages.items() <= urls.items()
    assert {label.label.page for label in labels} == golden_set.pages.keys()


def test_handbook_passes_with_the_default_settings(report: ValidationReport) -> None:
    assert report.verdict == "PASS", report.summary
    assert report.label_faults == []
    assert report.audit == []


def test_every_criterion_can_be_met(report: ValidationReport) -> None:
    assert report.golden.ceiling == 1.0
    assert not any("can't" in note for note in report.preflight)


@pytest.mark.parametrize("name", ["golden.yaml", "golden-hard.yaml"])
@pytest.mark.parametrize("tokens", [100, 400])
def test_handbook_labels_resolve_with_another_chunk_size(name: str, tokens: int, tmp_path: Path) -> None:
    golden_set = load_golden_file(HANDBOOK / name)
    settings = {"embedder": "testing:hashed-words", "chunk_tokens": tokens}
    with Pertinent.open(tmp_path / "data", **settings) as pertinent:
        pertinent.index(HANDBOOK)
        resolved = resolve_labels(golden_set, LocalPipeline(pertinent.workspace).pages())
        statuses = Counter(label.status for query in resolved.values() for label in query.labels)
        assert set(statuses) == {"exact"}
        assert all(resolved[query.id].relevant_spans for query in golden_set.queries if query.scored)


def test_hard_set_fails_and_says_why(indexed: Pertinent, report: ValidationReport) -> None:
    hard = validate(
        LocalPipeline(indexed.workspace),
        load_golden_file(HANDBOOK / "golden-hard.yaml"),
        ValidationOptions(together=False),
    )
    assert hard.verdict == "FAIL"
    assert hard.mrr >= 0.7
    assert hard.avg_precision_at_5 < report.avg_precision_at_5
    failed = [case for case in hard.test_cases if case.status == "failed"]
    assert failed
    assert all(case.diagnosis is not None for case in failed)
