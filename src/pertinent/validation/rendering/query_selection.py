"""Choose the queries that a page shows in full, their order, and the filters that a reader can pick."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from ..diagnosis import Miss, Rival
from ..report import SearchResult, TestCase
from . import display_names

FULL = 600
"""How many queries are shown in full."""
FULL_FAILED = 500
LINES = 10_000
"""How many of the other queries are listed with a line each."""


_ORDER = (*display_names.STATUSES.values(), *display_names.TYPES, *display_names.CATEGORIES)


@dataclass(frozen=True, slots=True)
class LabeledResult:
    """A result with its label; None where nobody has judged it."""

    rank: int
    result: SearchResult
    label: int | None


@dataclass(frozen=True, slots=True)
class ShownQuery:
    """A query of the report, and its index there."""

    index: int
    case: TestCase

    @property
    def anchor(self) -> str:
        """The id that links to it point at."""
        return f"q{self.index + 1}"

    @property
    def results(self) -> list[LabeledResult]:
        """Its results with their labels."""
        case = self.case
        # A report that was changed by hand may have fewer labels than results.
        rows = zip_longest(case.actual_results, case.relevance_labels, case.judged)
        return [
            LabeledResult(rank, result, label if judged else None)
            for rank, (result, label, judged) in enumerate(rows, start=1)
            if result is not None
        ]

    @property
    def misses(self) -> list[tuple[Miss, int | None, str]]:
        """The passages that were missed, with their labels and the reasons."""
        misses = self.case.diagnosis.misses if self.case.diagnosis else []
        return [(miss, miss.grade, f"{miss.kind.replace('_', ' ')}: {miss.detail}") for miss in misses]

    @property
    def rivals(self) -> list[tuple[Rival, int | None, str]]:
        """The results that ranked above the missed passages, with their labels."""
        rivals = self.case.diagnosis.rivals if self.case.diagnosis else []
        return [(rival, rival.label, "") for rival in rivals]

    @property
    def traits(self) -> Iterator[tuple[str, str]]:
        """Pairs of a group and a value that a reader can filter by."""
        case = self.case
        yield "Status", display_names.STATUSES[case.status]
        yield "Type", case.query.query_type
        if case.query.category:
            yield "Category", case.query.category
        if case.diagnosis is not None:
            yield "Reason", case.diagnosis.kind.replace("_", " ")


@dataclass(frozen=True, slots=True)
class FilterOption:
    """A filter that a reader can pick, and how many queries it shows."""

    number: int
    name: str
    queries: int


@dataclass(frozen=True, slots=True)
class QuerySelection:
    """The queries of a report as its page shows them."""

    full: Sequence[ShownQuery]
    lines: Sequence[ShownQuery]
    omitted: int
    """How many queries are only in the report's JSON."""
    filters: dict[str, list[FilterOption]]
    _numbers: dict[tuple[str, str], int]

    @classmethod
    def from_cases(cls, cases: Sequence[TestCase]) -> QuerySelection:
        """Put failed queries first; those beyond the limits get a line each, or are only counted."""
        all_queries = [ShownQuery(index, case) for index, case in enumerate(cases)]
        all_failed = [query for query in all_queries if not query.case.has_passed]
        all_passed = [query for query in all_queries if query.case.has_passed]
        failed = all_failed[:FULL_FAILED]
        passed = all_passed[: FULL - len(failed)]
        further = [*all_failed[len(failed) :], *all_passed[len(passed) :]]
        full = [*failed, *passed]
        counts = Counter(trait for query in full for trait in query.traits)
        numbers = {trait: number for number, trait in enumerate(counts, start=1)}
        filters: dict[str, list[FilterOption]] = {}
        for group in ("Status", "Reason", "Type", "Category"):
            options = [
                FilterOption(numbers[trait], trait[1], n)
                for trait, n in counts.most_common()
                if trait[0] == group
            ]
            options.sort(
                key=lambda option: _ORDER.index(option.name) if option.name in _ORDER else len(_ORDER)
            )
            if len(options) > 1:
                filters[group] = options
        return cls(full, further[:LINES], len(further[LINES:]), filters, numbers)

    def css_classes(self, query: ShownQuery) -> str:
        """Return the CSS classes by which the filters show or hide a query."""
        return " ".join(f"in-{self._numbers[trait]}" for trait in query.traits)
