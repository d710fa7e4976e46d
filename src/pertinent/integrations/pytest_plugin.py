"""A pytest plugin: each query of a golden set is a test, and so is the verdict.

pytest loads this module in every environment that has Pertinent installed. So it imports nothing heavy, and
does nothing until there is a golden set or a test asks for the fixture `book`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..settings import Settings
    from ..validation.golden.golden_set import GoldenQuery
    from ..validation.report import TestCase, ValidationReport
    from ..validation.target import ValidationTarget
    from .passages import Book

GOLDEN_FILES = "pertinent_golden"
"""The ini option that names the golden sets."""

_DEFAULT_FILES = ["golden.yaml"]

_QUERIES_KEY = re.compile(rb"""^(queries|[ \t]*["']queries["'])[ \t]*:""", re.M)
"""The key that every golden set has; other tools have files of the same name."""

_WILDCARD = re.compile(r"[*?\[]")

_MAX_NOTES = 10
"""How many notes and issues of a report the message of a verdict has."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("pertinent", "golden sets of Pertinent")
    group.addoption("--pertinent-url", metavar="URL", help="Test the service at this address.")
    group.addoption(
        "--pertinent-folder",
        metavar="FOLDER",
        help="Test the index in this folder. Default: the setting `folder`.",
    )
    group.addoption(
        "--pertinent-verdict-decides",
        action="store_true",
        help="Report failed queries as expected failures where the verdict is PASS.",
    )
    parser.addini(
        GOLDEN_FILES,
        "The names of golden sets that are collected as tests; empty for none.",
        type="args",
        default=_DEFAULT_FILES,
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that contradict each other, before any test runs."""
    if config.getoption("pertinent_url") and config.getoption("pertinent_folder"):
        raise pytest.UsageError("give --pertinent-url or --pertinent-folder, not both")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> GoldenFile | None:
    """Collect a golden set: one that the configuration names, or that the command line does."""
    names: list[str] = parent.config.getini(GOLDEN_FILES)
    matching = [name for name in names if file_path.match(name)]
    # A file that the user has named is a golden set, or an error that must be seen.
    is_golden = names != _DEFAULT_FILES and any(not _WILDCARD.search(name) for name in matching)
    is_argument = file_path.suffix in (".yaml", ".yml") and parent.session.isinitpath(file_path)
    if is_golden or ((matching or is_argument) and _has_queries(file_path.read_bytes())):
        return GoldenFile.from_parent(parent, path=file_path)
    return None


def _has_queries(content: bytes) -> bool:
    """Whether a file has the key of a golden set; it is parsed only if it may have it in an unusual place."""
    if _QUERIES_KEY.search(content):
        return True
    if b"queries" not in content:
        return False
    from ..validation.golden.parsing import parse_yaml

    try:
        fields = parse_yaml(content.decode("utf-8-sig")).value
    except ValueError:  # also a ParseError
        return False
    return isinstance(fields, dict) and "queries" in fields


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the book if a test opened it."""
    if opened := config.stash.get(_OPENED_BOOK, None):
        opened.close()


@pytest.fixture(scope="session")
def book(pytestconfig: pytest.Config) -> Book:
    """The index of `--pertinent-folder`, opened, or a client of the service at `--pertinent-url`."""
    from ..errors import PertinentError

    try:
        book = _open_book(pytestconfig).book
        book.sources()  # a missing index, or a service that does not answer, is an error here
        return book
    except PertinentError as error:
        message = _clean(error)
    # Not inside `except`: pytest would show the traceback of the cause.
    pytest.fail(message, pytrace=False)


class OpenedBook:
    """The index or service under test, with its settings; shared by all tests of a run."""

    def __init__(self, config: pytest.Config) -> None:
        from ..settings import load
        from ..surfaces.cli.global_options import open_reader
        from ..surfaces.client import PertinentClient

        url: str | None = config.getoption("pertinent_url")
        self.settings: Settings = load({"folder": config.getoption("pertinent_folder")}).settings
        self._stack = ExitStack()
        key = next((key.get_secret_value() for key in self.settings.api_keys), None)
        opening: AbstractContextManager[Book] = (
            PertinentClient(url, key) if url else open_reader(self.settings)
        )
        self.book = self._stack.enter_context(opening)

    def validate(self, golden_file: GoldenFile) -> ValidationReport:
        """Run a golden set, with the criteria of the settings and of the file."""
        from ..surfaces.library import Pertinent
        from ..surfaces.validation_targets import LocalPipeline, RemoteService, validate_golden

        book = self.book
        target: ValidationTarget = (
            LocalPipeline(book.workspace) if isinstance(book, Pertinent) else RemoteService(book)
        )
        return validate_golden(target, golden_file.path, self.settings.criteria, path=str(golden_file.path))

    def close(self) -> None:
        """Close the index or the connections."""
        self._stack.close()


_OPENED_BOOK = pytest.StashKey[OpenedBook]()


def _open_book(config: pytest.Config) -> OpenedBook:
    if _OPENED_BOOK not in config.stash:
        config.stash[_OPENED_BOOK] = OpenedBook(config)
    return config.stash[_OPENED_BOOK]


def _clean(text: object) -> str:
    """Return a text of the golden set or of a page on one line, without what a terminal would act on."""
    from ..surfaces.cli.terminal import one_line

    return one_line(str(text))


class GoldenFile(pytest.File):
    """A golden set: a test for each query, and one for the verdict."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yield the tests; the file is read, and nothing is searched yet."""
        from ..errors import PertinentError
        from ..validation.golden.formats import read_golden

        try:
            golden = read_golden(str(self.path))
        except PertinentError as error:
            lines = [_clean(line) for line in str(error).split("\n")]
            raise self.CollectError("\n".join(lines)) from error
        for query in golden.queries:
            yield QueryItem.from_parent(self, name=f"query[{_clean(query.id)}]", query=query)
        yield VerdictItem.from_parent(self, name="verdict")

    @cached_property
    def outcome(self) -> ValidationReport | Exception:
        """The report of a run, or the error that prevented it; the queries are run once."""
        from ..errors import PertinentError

        try:
            return _open_book(self.config).validate(self)
        except PertinentError as error:
            return error


class GoldenItem(pytest.Item):
    """A test of a golden set."""

    parent: GoldenFile

    def runtest(self) -> None:
        """Run the golden set, unless another of its tests has, and check this test's part of the report."""
        outcome = self.parent.outcome
        lines = str(outcome).split("\n") if isinstance(outcome, Exception) else [*self.find_problems(outcome)]
        if lines:
            raise GoldenFailure("\n".join(map(_clean, lines)))

    def find_problems(self, report: ValidationReport) -> Iterator[str]:
        """Yield the lines of the failure message; none where the test passes."""
        raise NotImplementedError

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the message alone: a traceback would show this plugin, not the problem."""
        if isinstance(excinfo.value, GoldenFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


class GoldenFailure(Exception):
    """A query or the verdict failed; the message says why."""


class QueryItem(GoldenItem):
    """A query: it fails as in the report, with its diagnosis."""

    def __init__(self, *, query: GoldenQuery, **options: Any) -> None:
        super().__init__(**options)
        self._query = query

    def find_problems(self, report: ValidationReport) -> Iterator[str]:
        """Yield the diagnosis of the query, if it failed."""
        from ..validation.rendering.case_summary import describe_failure

        case: TestCase = next(case for case in report.test_cases if case.query.id == self._query.id)
        if case.has_passed:
            return
        lines = describe_failure(case) or [case.error or case.status]
        if report.verdict == "PASS" and self.config.getoption("pertinent_verdict_decides"):
            pytest.xfail(" · ".join(map(_clean, lines)))
        yield from lines
        yield f"query: {case.query.text}"

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the line of the query in its file."""
        line = self._query.line
        return self.path, None if line is None else line - 1, self.name


class VerdictItem(GoldenItem):
    """The verdict: it fails unless it is PASS, with the criteria that are not met."""

    def find_problems(self, report: ValidationReport) -> Iterator[str]:
        """Yield the summary, the criteria that are not met, and the first notes and issues."""
        from ..validation.rendering.criterion_display import CriterionDisplay

        if report.verdict == "PASS":
            return
        yield report.summary
        for criterion in report.criteria:
            if criterion.passed is False:
                display = CriterionDisplay.from_criterion(criterion)
                yield f"not met: {criterion.name}: {display.value}, target: {display.target}"
        yield from [*report.preflight, *report.issues][:_MAX_NOTES]

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the beginning of the file."""
        return self.path, 0, self.name
