"""A small book in real stores, and a golden set over it that it passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pertinent._internal.progress import NoProgress
from pertinent.errors import IndexFailure
from pertinent.settings import Settings
from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.testing.pages import InMemorySource, page
from pertinent.types import Answer, Page, SearchOptions
from pertinent.validation.acceptance_checks import AcceptanceCheck
from pertinent.validation.diagnosis import Diagnosis
from pertinent.validation.golden.golden_set import GoldenSet
from pertinent.validation.report import TestCase, ValidationReport
from pertinent.validation.target import PageView
from pertinent.validation.validate import ValidationOptions, validate
from pertinent.workspace.workspace import Workspace

PARTS = ("hinge", "spring", "cable", "shaft", "bearing", "motor")
SUBJECTS = ("gripper", "knee", "camera", "battery")


def book() -> list[Page]:
    """Four pages, each with six passages about one thing."""
    return [
        page(
            name,
            {
                f"The {part}": f"The {part} of the {name} belongs to the {name} alone, and whoever builds "
                f"a {name} checks the {part} of that {name} twice."
                for part in PARTS
            },
            title=f"The {name}",
        )
        for name in SUBJECTS
    ]


def golden(**changes: Any) -> GoldenSet:
    """A question about each page in two wordings, one without an answer, and an empty one."""
    queries: list[dict[str, Any]] = []
    for name in SUBJECTS:
        labels = [*labels_on(name, PARTS[0], grade=2), *labels_on(name, *PARTS[1:])]
        both = {"labels": labels, "paraphrase_group": name}
        queries += [
            {
                "id": name,
                "text": f"the hinge of the {name}",
                "category": "factual",
                "expected_criteria": {"expected_topic": name},
                **both,
            },
            {"id": f"{name}-again", "text": f"{name} hinge", "query_type": "paraphrase", **both},
        ]
    queries += [
        {"id": "taxes", "text": "income tax", "answerable": False},
        {"id": "empty", "text": "", "query_type": "edge", "answerable": False},
    ]
    return GoldenSet.model_validate({"name": "parts", "queries": queries, **changes})


def labels_on(name: str, *parts: str, grade: int = 1) -> list[dict[str, Any]]:
    """Labels on sections of a page; on all of them where none is given."""
    return [{"page": f"docs/{name}.md", "anchor": f"the-{part}", "grade": grade} for part in parts or PARTS]


LOST = [{"page": "docs/gone.md", "quote": "nothing of it is left", "grade": 2}]
"""Labels of a page that does not exist."""


def change_query(query_id: str, golden_set: GoldenSet | None = None, **changes: Any) -> GoldenSet:
    """The golden set with one query changed; with other labels it is in no paraphrase group."""
    data = (golden_set or golden()).model_dump(mode="json")
    (query,) = (query for query in data["queries"] if query["id"] == query_id)
    query |= {"paraphrase_group": None, **changes} if "labels" in changes else changes
    return GoldenSet.model_validate(data)


def find_case(report: ValidationReport, query_id: str) -> TestCase:
    (case,) = (case for case in report.test_cases if case.query.id == query_id)
    return case


def find_check(report: ValidationReport, name: str) -> AcceptanceCheck:
    return next(check for check in report.checks if check.name == name)


def find_diagnosis(report: ValidationReport, query_id: str) -> Diagnosis:
    case = find_case(report, query_id)
    assert case.diagnosis is not None, case.complaints
    return case.diagnosis


def has_issue(report: ValidationReport, *words: str) -> bool:
    return any(all(word in issue for word in words) for issue in report.issues)


def add_pages(stored: Workspace, *pages: Page) -> None:
    """Index the book again, with further pages."""
    indexer = stored.create_indexer(NoProgress())
    indexer.apply(indexer.plan(InMemorySource(*book(), *pages)))


def copy_of_knee() -> Page:
    """The page about the knee at another address."""
    (knee,) = (page for page in book() if page.slug == "knee")
    return replace(knee, document_id="copy", url="https://book.example/docs/copy", source_path="docs/copy.md")


class FailingPipeline:
    """A pipeline of which some searches fail; all of them where no text is given."""

    def __init__(self, inner: LocalPipeline, *texts: str) -> None:
        self._inner = inner
        self._texts = texts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def search(self, text: str, options: SearchOptions) -> Answer:
        if not self._texts or text in self._texts:
            raise IndexFailure("the index is on fire")
        return self._inner.search(text, options)


class UnhashedPipeline:
    """A pipeline whose chunks have no stored hash, as in many external collections."""

    def __init__(self, inner: LocalPipeline) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def search(self, text: str, options: SearchOptions) -> Answer:
        answer = self._inner.search(text, options)
        hits = tuple(replace(hit, chunk=replace(hit.chunk, content_hash="")) for hit in answer.hits)
        return replace(answer, hits=hits)

    def pages(self) -> Iterator[PageView]:
        for view in self._inner.pages():
            yield replace(view, chunks=tuple(replace(chunk, content_hash="") for chunk in view.chunks))


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Workspace]:
    """The book, indexed."""
    settings = Settings(
        folder=tmp_path / "data", embedder="testing:hashed-words", chunk_tokens=60, query_cache=0
    )
    workspace = Workspace(settings)
    add_pages(workspace)
    yield workspace
    workspace.close()


@pytest.fixture
def pipeline(stored: Workspace) -> LocalPipeline:
    """The pipeline over the stored book."""
    return LocalPipeline(stored)


Judge = Callable[..., ValidationReport]


@pytest.fixture
def judged(stored: Workspace) -> Judge:
    """Validate the stored book as it is at that moment."""

    def run(golden_set: GoldenSet | None = None, **options: Any) -> ValidationReport:
        return validate(LocalPipeline(stored), golden_set or golden(), ValidationOptions(**options))

    return run
