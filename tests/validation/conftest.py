"""A small book in real stores, and a golden set over it that it passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pertinent._internal.progress import Silent
from pertinent.settings import Settings
from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.testing.pages import Shelf, page
from pertinent.types import Page
from pertinent.validation.golden.golden_set import GoldenSet
from pertinent.validation.report import ValidationReport
from pertinent.validation.validate import Options, validate
from pertinent.workspace.workspace import Workspace

PARTS = ("hinge", "spring", "cable", "shaft", "bearing", "motor")
ABOUT = {
    "gripper": "gripper",
    "knee": "knee",
    "camera": "camera",
    "battery": "battery",
}


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
        for name in ABOUT
    ]


def golden(**changes: Any) -> GoldenSet:
    """A question about each page in two wordings, one without an answer, and an empty one."""
    queries: list[dict[str, Any]] = []
    for name in ABOUT:
        labels = [{"page": f"docs/{name}.md", "anchor": f"the-{part}", "grade": 1} for part in PARTS]
        labels[0] = {**labels[0], "grade": 2}
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


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Workspace]:
    """The book, indexed."""
    settings = Settings(
        folder=tmp_path / "data", embedder="testing:hashed-words", chunk_tokens=60, query_cache=0
    )
    workspace = Workspace(settings)
    indexer = workspace.indexer(Silent())
    indexer.apply(indexer.plan(Shelf(*book())))
    yield workspace
    workspace.close()


Judge = Callable[..., ValidationReport]


@pytest.fixture
def judged(stored: Workspace) -> Judge:
    """Validate the stored book as it is at that moment."""

    def run(asked: GoldenSet | None = None, **options: Any) -> ValidationReport:
        return validate(LocalPipeline(stored), asked or golden(), Options(**options))

    return run
