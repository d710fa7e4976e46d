"""Rendered reports: complete, and safe whatever text they contain."""

from __future__ import annotations

import math
import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any, get_args
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pydantic import BaseModel

from pertinent.validation import rendering
from pertinent.validation.acceptance_checks import AcceptanceCheck
from pertinent.validation.criteria import Criteria, Criterion
from pertinent.validation.diagnosis import Diagnosis
from pertinent.validation.golden.golden_set import Category, ExpectedCriteria, QueryType
from pertinent.validation.rendering import render_html, render_junit, render_markdown, safe_text
from pertinent.validation.rendering.criterion_display import CriterionDisplay
from pertinent.validation.rendering.latency_plot import TimeScale
from pertinent.validation.rendering.markdown import escape_markdown
from pertinent.validation.rendering.number_format import format_time
from pertinent.validation.rendering.query_selection import FULL, FULL_FAILED
from pertinent.validation.rendering.svg import ticks
from pertinent.validation.report import (
    GoldenSummary,
    LabelFault,
    Latency,
    Mean,
    Query,
    SearchResult,
    SeedField,
    TestCase,
    ValidationReport,
)

TYPES: tuple[QueryType, ...] = ("specific", "broad", "paraphrase")
CATEGORIES: tuple[Category, ...] = ("factual", "conceptual", "contextual")

# ── sample reports ──────────────────────────────────────────────────────────


def result(position: int, score: float = 0.7, **changes: Any) -> SearchResult:
    fields: dict[str, Any] = {
        "similarity_score": score, "content": f"Passage {position}: a joint connects two links.",
        "url": "https://book.example/joints", "title": "Joints", "chunk_index": position,
        "timestamp": "2026-11-16T03:22:23Z", "content_hash": "ab" * 32, "chunk_id": f"joints-{position}",
        "document_id": "joints", "section": f"Part {position}", "anchor": f"part-{position}", "start": 0,
        "end": 40, "cosine": score, "lexical": 0.4,
    }  # fmt: skip
    return SearchResult(**fields | changes)


MISS = {"chunk_id": "m", "grade": 2, "kind": "outranked", "detail": "rank 9", "rank": 9, "score": 0.3}
RIVAL = {"rank": 1, "chunk_id": "r", "score": 0.7, "cosine": 0.7, "lexical": None, "label": None}


def damaged_result() -> SearchResult:
    """A result of which the store has nothing left."""
    names = get_args(SeedField)
    return SearchResult(**result(0).to_dict() | dict.fromkeys(names) | {"damaged": list(names)})


def case(number: int, status: str = "passed", **changes: Any) -> TestCase:
    passed = status in ("passed", "refused")
    precision = 1.0 if passed else 0.4
    diagnosis = Diagnosis.model_validate(
        {
            "kind": "outranked",
            "detail": f"the answer of query {number} is at rank 9",
            "misses": [{**MISS, "title": f"Missed {number}"}],
            "rivals": [{**RIVAL, "title": f"Rival {number}"}],
            "unjudged": 1,
        }
    )
    fields: dict[str, Any] = {
        "query": Query(
            text=f"How does joint number {number} move?", top_k=5, query_type=TYPES[number % 3],
            id=f"joint-{number}", category=CATEGORIES[number % 3],
        ),
        "expected_criteria": ExpectedCriteria(min_score=0.2, expected_topic="joint, link"),
        "actual_results": [result(position) for position in range(3)],
        "relevance_labels": [2, 0, 1],
        "precision_at_k": precision,
        "rank_of_best": 1 + number % 4 if passed else None,
        "judged": [True, False, True],
        "metrics": {"p@5": precision, "ndcg@10": 0.6},
        "latency_ms": 5.0 + number % 17,
        "status": status,
        "complaints": [] if passed else [f"P@5 of {number} is 0.40, below 0.80"],
        "error": "the store is away" if status == "error" else None,
        "diagnosis": None if passed else diagnosis,
        "relevant": 4,
        "labels": [],
        "further": [],
    }  # fmt: skip
    return TestCase(**fields | changes)


def criterion(name: str, target: float, value: float, n: int, detail: str, **interval: float) -> Criterion:
    passed = value < target if name.startswith("p95") else value >= target
    return Criterion(name=name, target=target, value=value, passed=passed, n=n, detail=detail, **interval)


CRITERIA = [
    criterion("queries with P@5 ≥ 0.80", 0.8, 0.55, 9, "the share", low=0.47, high=0.63),
    criterion("MRR (answerable)", 0.7, 0.87, 9, "by rank of best", low=0.65, high=0.91),
    criterion("hash validation", 1, 0.9999, 925, "of results"),
    criterion("p95 latency (ms)", 2000, 18, 9, "linear"),
    criterion("audit", 0, 0, 300, "of the stored data"),
]
CHECKS = [
    AcceptanceCheck(
        name="broad queries", value=0.5, target="at least 80%", passed=False, n=4, detail=["joint-1: P@3"]
    ),
    AcceptanceCheck(name="duplicate passages", value=0, target="no repetition", passed=True, n=9),
    AcceptanceCheck(name="paraphrases", value=None, target="share 60%", passed=True, n=0),
]


def report(cases: list[TestCase] | None = None, **changes: Any) -> ValidationReport:
    if cases is None:
        cases = [case(0), case(1, "failed"), case(2, "error"), edge(), unanswered()]
    mean = Mean(mean=0.7, low=0.6, high=0.8, n=len(cases))
    times = sorted(case.latency_ms for case in cases)
    groups = [
        "all",
        *(f"type:{name}" for name in TYPES),
        *(f"category:{name}" for name in CATEGORIES),
        "type:broad/category:factual",
    ]
    fields: dict[str, Any] = {
        "timestamp": "2026-11-16T03:57:03Z",
        "total_queries": len(cases),
        "avg_precision_at_5": 0.7,
        "mrr": 0.87,
        "avg_latency_ms": 9.0,
        "p95_latency_ms": 18.0,
        "p99_latency_ms": 34.0,
        "metadata_completeness_rate": 1.0,
        "hash_validation_pass_rate": 1.0,
        "test_cases": cases,
        "summary": "FAIL: too few queries reach their P@5.",
        "issues": [f"issue {number}: run `pertinent doctor`" for number in range(12)],
        "verdict": "FAIL",
        "avg_precision_at_5_answerable": 0.81,
        "mrr_answerable": 0.92,
        "mrr_first_relevant": 0.9,
        "mrr_first_relevant_answerable": 0.95,
        "criteria": CRITERIA,
        "checks": CHECKS,
        "metrics": {name: {"p@5": mean, "ndcg@10": mean} for name in groups},
        "latency": Latency(n=len(times), mean=9, p50=8, p95=18, p99=34, max=times[-1], method="linear")
        if times
        else None,
        "golden": GoldenSummary(
            name="book", queries=len(cases), scored=3, labels=30, unit="passage", answer_threshold=0.5,
            ceiling=1.0,
        ),
        "preflight": ["nine queries are few"],
        "label_faults": [
            LabelFault(query="joint-1", location="joints.md", status="lost", detail="not there")
        ],
        "audit": ["chunk 7 has no hash"],
        "fingerprints": {"golden": "ab" * 32, "embedder": "local:small"},
        "options": {"threshold": 0.0, "criteria": Criteria().model_dump()},
        "label_locations": {},
        "passages": {},
        "pages": {},
    }  # fmt: skip
    return ValidationReport(**fields | changes)


def edge() -> TestCase:
    query = Query(text="  ", top_k=5, query_type="edge", id="blank")
    nothing: dict[str, Any] = {"actual_results": [], "relevance_labels": [], "judged": []}
    return case(3, "refused", query=query, **nothing, error="a query needs a word")


def unanswered() -> TestCase:
    query = Query(text="What is a soufflé?", top_k=5, query_type="specific", id="soufflé", answerable=False)
    return case(4, "passed", query=query)


FIXED = {"verdict", "status", "query_type", "category", "kind", "unit", "schema_version", "metrics"}
"""Fields that have one of a few values."""


def spoil(value: Any, hostile: str, name: str = "") -> Any:
    """Put the hostile text into every free text of the report, past all checks."""
    if name in FIXED:
        return value
    if isinstance(value, BaseModel):
        fields = {field: spoil(getattr(value, field), hostile, field) for field in type(value).model_fields}
        return value.model_copy(update=fields)
    if isinstance(value, list):
        return [spoil(entry, hostile) for entry in value]
    if isinstance(value, dict):
        return {spoil(key, hostile): spoil(entry, hostile) for key, entry in value.items()}
    return hostile if isinstance(value, str) else value


HOSTILE_TEXTS = (
    "<script>alert(1)</script>",
    "</title></style></details><img src=x onerror=alert(1)>",
    "\" onmouseover='alert(1)' x=\"",
    "javascript:alert(1)",
    "java\tscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "https://book.example/a?b=1&c=<b>#d",
    "http://[",
    "{{ 7 * 7 }}{% raw %}{# x #}",
    "a | b || \\| c \\\\",
    "```\n# heading\n\n- item\n\n| a |\n|--|",
    "`one` ``two`` `three",
    "**bold** _it_ ~~no~~ [x](http://y.example) ![z](w) $x$ <!-- -->",
    "@someone #12 www.a.example http://a.example me@a.example",
    "]]><x/>&amp;&#0;&#x1f;&lt;",
    "\x00\x01\x08\x0b\x1f\x7f\x85\x9f\ufffe\uffff",
    "\ud800 \udfff \ud83d",
    "\u202eright\u2066to\u2069left\u200b",
    "",
    "   \n\t ",
    "- a",
    "1. a",
    "=====",
    "a\r\nb\u2028c",
)
hostile = st.one_of(
    st.sampled_from(HOSTILE_TEXTS),
    st.text(st.characters(), max_size=60),
    st.text("<>&\"'`|*_#[]()!\\-=+~{}$@:/.0a \n\t\x00\ud800", max_size=40),
)
patient = settings(max_examples=60)


# ── the page ────────────────────────────────────────────────────────────────


class Markup(HTMLParser):
    """The elements, attributes and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


def shape(page: Markup) -> dict[str, int]:
    """Count the elements, except those that backticks, links and empty texts change."""
    return {tag: n for tag, n in page.tags.items() if tag not in {"a", "bdi", "code", "br", "p"}}


@pytest.fixture(scope="module")
def calm() -> Markup:
    return Markup(render_html(spoil(report(), "calm")))


@patient
@given(hostile)
@example("<script>alert(1)</script>")
@example("\ud800")
def test_html_escapes_any_text(calm: Markup, hostile_text: str) -> None:
    page = render_html(spoil(report(), hostile_text))
    page.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", page)
    markup = Markup(page)
    assert not hostile_text or shape(markup) == shape(calm)
    assert safe_text.make_printable(hostile_text) in "".join(markup.words)
    for tag, name, value in markup.attributes:
        assert not name.startswith("on")
        assert name not in {"src", "srcset", "action", "formaction", "data", "xlink:href", "background"}
        if name == "href":
            assert tag == "a"
            assert value.startswith("#") or urlsplit(value).scheme in {"http", "https"}
        if name == "style":
            assert re.fullmatch(r"((inset-inline-start|inline-size|--part):[\d.]+%?;?)+", value)


def test_rendering_is_deterministic() -> None:
    for render in (render_html, render_markdown, render_junit):
        assert render(report()) == render(report())


def test_html_shows_every_part_of_the_report() -> None:
    sample = report()
    page = Markup(render_html(sample)).text
    assert sample.summary.removeprefix("FAIL: ") in page
    texts = [
        *(criterion.name for criterion in sample.criteria),
        *(criterion.detail for criterion in sample.criteria),
        *(check.name for check in sample.checks),
        *(check.target for check in sample.checks),
        *(issue.replace("`", "") for issue in sample.issues),
        *sample.preflight,
        *(sample.audit or ()),
        *(fault.location for fault in sample.label_faults),
        "local:small",
    ]
    for case in sample.test_cases:
        texts += [case.query.id, case.query.text.strip() or "(empty)", case.status, *case.complaints]
        texts += [f"Joints › {result.section}" for result in case.actual_results]
        texts += [result.content for result in case.actual_results]
        if case.diagnosis:
            texts.append(case.diagnosis.detail)
            texts += [miss.title for miss in case.diagnosis.misses]
            texts += [rival.title for rival in case.diagnosis.rivals]
    assert [text for text in texts if " ".join(text.split()) not in page] == []
    for title in ("P@5 of each query", "Rank of the best answer", "Latency", "P@5 by type and category"):
        assert title in page


def test_every_format_names_both_kinds_of_means() -> None:
    """Rule 12 in docs/seeds.md."""
    sample = report()
    page = Markup(render_html(sample)).text
    assert "mean P@5, answerable0.81 0.70 over all" in page
    assert "MRR, answerable0.92 0.87 over all" in page
    assert "MRR, first relevant, answerable0.95 0.90 over all" in page
    summary = render_markdown(sample)
    assert "| Mean | Answerable (3) | All (5) |" in summary
    assert "| mean P@5 | 0.810 | 0.700 |" in summary
    assert "| MRR | 0.920 | 0.870 |" in summary
    properties = {element.get("name"): element.get("value") for element in parsed(sample).iter("property")}
    assert (properties["mrr"], properties["mrr_answerable"]) == ("0.87", "0.92")
    assert properties["avg_precision_at_5"] == "0.7"
    assert properties["avg_precision_at_5_answerable"] == "0.81"


def test_html_lists_failed_queries_first_and_links_bars() -> None:
    page = render_html(report([case(0), case(1, "failed"), case(2), case(3, "error")]))
    order = re.findall(r'<div class="inside" id="(q\d+)">', page)
    assert order == ["q2", "q4", "q1", "q3"]
    targets = [value for tag, name, value in Markup(page).attributes if name == "href" and "#q" in value]
    assert {"#q1", "#q2", "#q3", "#q4"} <= set(targets)


def test_html_links_passages_to_web_addresses_only() -> None:
    results = [
        result(0, url="https://a.example/x#old", anchor="new part"),
        result(1, url="javascript:alert(1)"),
        result(2, url="HTTP://a.example/y", anchor=""),
    ]
    links = [
        value
        for _, name, value in Markup(render_html(report([case(0, actual_results=results)]))).attributes
        if name == "href"
    ]
    assert [link for link in links if not link.startswith("#")] == [
        "https://a.example/x#new%20part",
        "HTTP://a.example/y",
    ]


def test_html_title_has_the_verdict_and_hashes_are_shortened() -> None:
    page = render_html(report(verdict="INVALID", summary="INVALID: 3 labels point at nothing"))
    assert re.search(r"<title>INVALID · book", page)
    assert f'title="{"ab" * 32}">abababababab…' in page


def test_rendering_accepts_empty_and_extreme_reports() -> None:
    bare = report([], criteria=[], checks=[], metrics={}, issues=[], preflight=[], label_faults=[])
    bare = bare.model_copy(update={"audit": None, "fingerprints": {}, "options": {"criteria": "gone"}})
    for output in (render_html(bare), render_markdown(bare), render_junit(bare)):
        assert "FAIL" in output
    scores = [result(1).model_copy(update={"similarity_score": score}) for score in (math.nan, math.inf)]
    changes: dict[str, Any] = {"actual_results": [damaged_result(), *scores], "judged": []}
    wild = case(0).model_copy(update=changes | {"latency_ms": math.inf, "metrics": {}, "rank_of_best": 37})
    for verdict in ("PASS", "INVALID"):
        odd = report([case(0)], verdict=verdict, summary=f"{verdict}: odd")
        odd = odd.model_copy(update={"test_cases": [wild]})
        assert ">10" in Markup(render_html(odd)).text
        assert verdict in render_markdown(odd)
        assert 'time="0.000000"' in render_junit(odd)


def test_rendering_accepts_damaged_results() -> None:
    nothing = report([case(0, "failed", actual_results=[damaged_result()] * 3)])
    with_results = report([case(0, "failed", actual_results=[result(0), damaged_result(), result(2)])])
    for sample in (nothing, with_results):
        text = Markup(render_html(sample)).text
        assert "(no text)" in text
        assert "None" not in text
        assert render_markdown(sample)
        assert render_junit(sample)


@pytest.mark.slow
def test_html_of_ten_thousand_queries_stays_small() -> None:
    cases = [case(number, "failed" if number % 5 else "passed") for number in range(10_000)]
    page = render_html(report(cases))
    assert len(page) < 12_000_000
    markup = Markup(page)
    assert page.count('<details class="query failed') == FULL_FAILED
    assert page.count('<details class="query') == FULL
    assert "600 of 10,000 queries are shown in full" in markup.text
    assert markup.tags["rect"] < 500
    assert all(case.query.id in markup.text for case in cases[::997])


# ── Markdown ────────────────────────────────────────────────────────────────

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def structure(source: str) -> list[str]:
    types = []
    for token in READER.parse(source):
        types.append(token.type)
        types += sorted({child.type for child in token.children or ()} - {"text"})
    return types


@patient
@given(hostile)
@example("```\n# heading\n\n- item\n\n| a |\n|--|")
def test_markdown_structure_survives_any_text(hostile_text: str) -> None:
    page = render_markdown(spoil(report(), hostile_text))
    page.encode("utf-8")
    assert structure(page) == structure(render_markdown(spoil(report(), "calm")))


@patient
@given(hostile)
def test_markdown_escapes_read_as_the_original_text(hostile_text: str) -> None:
    tokens = READER.parse(f"- {escape_markdown(hostile_text)}")
    read = "".join(token.children[0].content for token in tokens if token.children)
    unseen = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]")
    output = safe_text.shorten_line(unseen.sub("", safe_text.make_printable(hostile_text)), 300)
    assert unseen.sub("", read) == output


def test_markdown_has_no_mentions_and_no_links() -> None:
    output = escape_markdown("@someone and me@a.example at http://a.example or www.a.example, see #12")
    assert not re.search(r"@(?!5)|://|www\.|#12", output)
    assert escape_markdown("P@5 is 0.40, below 0.80") == "P@5 is 0.40, below 0.80"


def test_markdown_has_verdict_criteria_checks_and_failures() -> None:
    sample = report([case(number, "failed") for number in range(30)])
    page = render_markdown(sample)
    assert page.startswith("## ✕ FAIL\n")
    assert "| queries with P@5 ≥ 0.80 | ≥ 80% | 55.0% | 47 to 63% | 9 | ✕ **not met** |" in page
    assert "| hash validation | ≥ 100% | 99.99% |" in page
    for check in sample.checks:
        assert f"| {check.name} |" in page
    assert page.count("| The answer ranks too low: ") == 20
    assert "And 10 more in the report." in page
    assert "And 2 more in the report." in page
    assert "| joint-3 | How does joint number 3 move? |" in page


# ── JUnit ───────────────────────────────────────────────────────────────────


def parsed(sample: ValidationReport) -> ET.Element:
    return ET.fromstring(render_junit(sample).encode("utf-8"))  # noqa: S314 - it is our own


@patient
@given(hostile)
@example("]]><x/>\x00\ud800\uffff")
def test_junit_is_valid_xml_with_correct_counts_for_any_text(hostile_text: str) -> None:
    sample = spoil(report(), hostile_text)
    root = parsed(sample)
    assert [suite.get("name") for suite in root] == ["criteria", "acceptance", "queries"]
    sizes = [
        len(sample.criteria),
        len(sample.checks),
        len(sample.test_cases),
    ]
    assert [len(suite.findall("testcase")) for suite in root] == sizes
    for group in (root, *root):
        assert group.get("tests") == str(len(list(group.iter("testcase"))))
        for count, flaw in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert group.get(count) == str(len(list(group.iter(flaw))))
    assert {element.tag for element in root.iter()} == {
        "testsuites", "testsuite", "testcase", "properties", "property", "failure", "error", "skipped",
    }  # fmt: skip


def test_junit_cases_have_their_outcomes() -> None:
    root = parsed(report())
    assert dict(root.items()) == {
        "name": "pertinent validate", "tests": "13", "failures": "4", "errors": "1", "skipped": "1",
        "time": root.get("time"),
    }  # fmt: skip
    queries = {element.get("name"): element for element in root[2]}
    assert queries["joint-1"].get("time") == "0.006000"
    assert queries["joint-1"].get("classname") == "pertinent.queries.broad"
    failure = queries["joint-1"].find("failure")
    assert failure is not None
    assert failure.get("type") == "outranked"
    assert "How does joint number 1 move?" in (failure.text or "")
    assert queries["joint-2"].find("error") is not None
    assert not list(queries["blank"])
    flaws = [match.find("failure") for match in root[0].findall("testcase")]
    assert [flaw.get("message") for flaw in flaws if flaw is not None] == [
        "55.0%, target: ≥ 80%",
        "99.99%, target: ≥ 100%",
    ]
    assert root[1][2].find("skipped") is not None


def test_junit_of_a_pass_has_no_failure_and_no_error() -> None:
    """A search that failed counts 0 in the means; the verdict has judged that already."""
    cases = report().test_cases
    assert {"failed", "error"} <= {case.status for case in cases}
    root = parsed(report(cases, criteria=[], checks=[], verdict="PASS", summary="PASS: good enough"))
    assert (root.get("failures"), root.get("errors"), root.get("skipped")) == ("0", "0", "2")


def test_junit_invalid_verdict_is_an_error() -> None:
    sample = report([case(0)], criteria=[], checks=[], verdict="INVALID", summary="INVALID: labels are lost")
    root = parsed(sample)
    assert (root.get("failures"), root.get("errors")) == ("0", "1")
    error = root[0].find("testcase/error")
    assert error is not None
    assert error.get("message") == "INVALID: labels are lost"


# ── parts ───────────────────────────────────────────────────────────────────


def test_rendering_public_names() -> None:
    assert rendering.__all__ == [
        "render_html", "render_junit", "render_markdown", "render_markdown_comparison",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "target", "expected"),
    [(0.7996, 0.8, "0.7996"), (0.8, 0.8, "0.800"), (0.79999, 0.8, "0.79999"), (0.1, 0.8, "0.100")],
)
def test_value_is_not_rounded_onto_a_missed_target(value: float, target: float, expected: str) -> None:
    assert CriterionDisplay.from_criterion(criterion("ndcg@10", target, value, 9, "")).value == expected


def test_interval_that_includes_the_target_is_noted() -> None:
    displays = [CriterionDisplay.from_criterion(entry) for entry in report().criteria]
    assert [display.undecided for display in displays] == [False, True, False, False, False]
    assert "other queries could change the result" in render_html(report())


@given(st.floats(min_value=1e-6, max_value=1e9))
def test_ticks_are_few_and_within_the_scale(end: float) -> None:
    values = ticks(end)
    assert 2 <= len(values) <= 6
    assert values[0] == 0
    assert values[-1] <= end * (1 + 1e-6)


@given(st.lists(st.floats(min_value=0, max_value=1e7), min_size=1, max_size=20))
@example([5e-324])
def test_time_scale_is_monotone(times: list[float]) -> None:
    if max(times) > 0:
        scale = TimeScale(sorted(times))
        xs = [scale.x(time) for time in sorted(times)]
        assert xs == sorted(xs)
        assert all(38 <= x <= 348.01 for x in xs)
        assert list(scale.ticks) == sorted(scale.ticks)


@given(st.text(), st.integers(min_value=2, max_value=50))
def test_shortened_line_is_one_short_line(hostile_text: str, limit: int) -> None:
    flat = safe_text.shorten_line(hostile_text, limit)
    assert len(flat) <= limit
    assert len(flat.splitlines()) <= 1
    assert flat == " ".join(hostile_text.split()) or flat.endswith("…")


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2026-11-16T03:57:03Z", "2026-11-16 03:57 UTC"),
        ("2026-11-16T03:57:03+02:00", "2026-11-16 01:57 UTC"),
        ("2026-11-16T03:57", "2026-11-16 03:57"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
        ("yesterday", "yesterday"),
    ],
)
def test_time_is_formatted_in_utc_and_other_text_unchanged(stamp: str, expected: str) -> None:
    assert format_time(stamp) == expected
