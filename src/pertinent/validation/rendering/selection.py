"""Which queries a page shows in full, in which order, and by what a reader can pick them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from ..diagnosis import Miss, Rival
from ..report import SearchResult, TestCase
from . import words
from .cases import is_good

FULL = 600
"""How many queries are shown in full."""
FULL_FAILED = 500
LINES = 10_000
"""How many of the others have a line each."""


_ORDER = (*words.STATUSES.values(), *words.TYPES, *words.CATEGORIES)


@dataclass(frozen=True, slots=True)
class Result:
    """A result with its label, if anybody gave one."""

    rank: int
    found: SearchResult
    label: int | None


@dataclass(frozen=True, slots=True)
class Shown:
    """A query, and where it stands in the report."""

    place: int
    case: TestCase

    @property
    def anchor(self) -> str:
        """What a link to it names."""
        return f"q{self.place + 1}"

    @property
    def results(self) -> list[Result]:
        """Its results with their labels; one that nobody has judged has none."""
        case = self.case
        labelled = zip_longest(case.actual_results, case.relevance_labels, case.judged)
        return [
            Result(rank, found, label if judged else None)
            for rank, (found, label, judged) in enumerate(labelled, start=1)
            if found is not None
        ]

    @property
    def misses(self) -> list[tuple[Miss, int | None, str]]:
        """The passages that were missed, with their labels and what became of them."""
        found = self.case.diagnosis.misses if self.case.diagnosis else []
        return [(one, one.grade, f"{one.kind.replace('_', ' ')}: {one.detail}") for one in found]

    @property
    def rivals(self) -> list[tuple[Rival, int | None, str]]:
        """The results that stood in their place, with their labels."""
        return [(one, one.label, "") for one in self.case.diagnosis.rivals] if self.case.diagnosis else []

    @property
    def traits(self) -> Iterator[tuple[str, str]]:
        """By what it can be picked."""
        case = self.case
        yield "Status", words.STATUSES[case.status]
        yield "Type", case.query.query_type
        if case.query.category:
            yield "Category", case.query.category
        if case.diagnosis is not None:
            yield "Reason", case.diagnosis.kind.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Trait:
    """Something that queries have in common."""

    number: int
    name: str
    queries: int


@dataclass(frozen=True, slots=True)
class Selection:
    """The queries of a report as its page shows them."""

    full: Sequence[Shown]
    lines: Sequence[Shown]
    left_out: int
    traits: dict[str, list[Trait]]
    _numbers: dict[tuple[str, str], int]

    @classmethod
    def of(cls, cases: Sequence[TestCase]) -> Selection:
        """Failed before passed; what there is no room for gets a line, or is counted."""
        every = [Shown(place, case) for place, case in enumerate(cases)]
        bad = [one for one in every if not is_good(one.case)]
        good = [one for one in every if is_good(one.case)]
        failed = bad[:FULL_FAILED]
        passed = good[: FULL - len(failed)]
        rest = [*bad[len(failed) :], *good[len(passed) :]]
        full = [*failed, *passed]
        counts = Counter(trait for one in full for trait in one.traits)
        numbers = {trait: number for number, trait in enumerate(counts, start=1)}
        traits: dict[str, list[Trait]] = {}
        for group in ("Status", "Reason", "Type", "Category"):
            own = [Trait(numbers[one], one[1], n) for one, n in counts.most_common() if one[0] == group]
            own.sort(key=lambda trait: _ORDER.index(trait.name) if trait.name in _ORDER else len(_ORDER))
            if len(own) > 1:
                traits[group] = own
        return cls(full, rest[:LINES], len(rest[LINES:]), traits, numbers)

    def classes(self, one: Shown) -> str:
        """The numbers of its traits, as classes."""
        return " ".join(f"in-{self._numbers[trait]}" for trait in one.traits)
