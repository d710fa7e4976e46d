"""Seed 004's validation tests: queries with the chunks that they are expected to find."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from .._internal.clock import utc_now
from .._internal.messages import explain_error
from .._internal.unknown_fields import FewUnknownFields
from ..errors import InvalidInput
from ..limits import RETRIEVAL_IMPLEMENTATION as LIMITS
from ..types import Answer, Hit

Share = Annotated[float, Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False)]


def _check_not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    return value


Identifier = Annotated[
    str,
    Field(min_length=1, max_length=100, json_schema_extra={"pattern": r"\S"}),
    AfterValidator(_check_not_blank),
]

_CRITERIA = {"min_accuracy": 0.8, "min_similarity_score": 0.3}
EXAMPLE: dict[str, Any] = {
    "test_id": "what-is-physical-ai",
    "query_text": "What is physical AI?",
    "expected_results": ["intro-0a1b2c3d-4e5f60718293"],
    "success_criteria": _CRITERIA,
    "test_category": "factual",
}
_RESULT = {"chunk_id": "intro-0a1b2c3d-4e5f60718293", "similarity_score": 0.57, "expected": True}
_EXECUTED = {
    **EXAMPLE,
    "executed_at": "2026-01-31T09:30:00Z",
    "result_accuracy": 1.0,
    "passed": True,
    "actual_results": [_RESULT],
    "reason": None,
}
_RUN = {
    "validation_id": "0b6f3c52-8a1e-4d7f-9c30-5e2d1a7b4f68",
    "total_tests": 1,
    "passed_tests": 1,
    "failed_tests": 0,
    "overall_accuracy": 1.0,
    "validation_status": "passed",
    "tests": [_EXECUTED],
    "warnings": [],
}


def _config_with_example(example: Mapping[str, Any]) -> ConfigDict:
    return ConfigDict(extra="forbid", frozen=True, json_schema_extra={"examples": [dict(example)]})


class SuccessCriteria(FewUnknownFields):
    """The conditions under which a test passes."""

    model_config = _config_with_example(_CRITERIA)

    min_accuracy: Share = Field(
        default=0.8, description="The share of the expected chunks that must be found"
    )
    min_similarity_score: Share = Field(default=0.0, description="The score that each found one must reach")


class ValidationTest(FewUnknownFields):
    """A test case for validating retrieval quality."""

    model_config = _config_with_example(EXAMPLE)

    test_id: Identifier = Field(description="Unique identifier for the test case")
    query_text: str = Field(
        min_length=1,
        max_length=LIMITS.query_max,
        description="The query text used for testing",
        json_schema_extra={"pattern": r"\S"},
    )
    expected_results: list[Identifier] = Field(
        min_length=1, max_length=100, description="Chunk ids that should be returned"
    )
    success_criteria: SuccessCriteria = SuccessCriteria()
    test_category: str | None = Field(
        default=None, max_length=100, description='Category of the test (e.g., "factual")'
    )


class ActualResult(BaseModel):
    """A result of the test's query."""

    model_config = _config_with_example(_RESULT)

    chunk_id: str
    similarity_score: Share
    expected: bool


class ExecutedTest(ValidationTest):
    """A test with its result."""

    model_config = _config_with_example(_EXECUTED)

    executed_at: str = Field(description="Timestamp when the test was executed")
    result_accuracy: Share = Field(
        description="Expected chunks found in the top k / expected chunks; a chunk with the same text counts"
    )
    passed: bool
    actual_results: list[ActualResult]
    reason: str | None = Field(default=None, description="Why it did not pass")


class ValidationRun(BaseModel):
    """The results of all tests."""

    model_config = _config_with_example(_RUN)

    validation_id: str
    total_tests: int = Field(ge=0)
    passed_tests: int = Field(ge=0)
    failed_tests: int = Field(ge=0)
    overall_accuracy: Share = Field(description="The mean of the tests' result_accuracy")
    validation_status: Literal["passed", "failed", "partial"]
    tests: list[ExecutedTest]
    warnings: list[str] = Field(
        default_factory=list, description="Warnings of the searches about a part that is down or damaged"
    )


def parse_tests(entries: Sequence[Mapping[str, Any]]) -> list[ValidationTest]:
    """Parse tests from plain data; an error names the test and the field."""
    if isinstance(entries, str | Mapping) or not isinstance(entries, Iterable):
        raise InvalidInput("tests", "must be a list of tests")
    tests = []
    for index, entry in enumerate(entries):
        try:
            tests.append(ValidationTest.model_validate(entry))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(["tests", str(index), *map(str, first["loc"])])
            raise InvalidInput(field, explain_error(first)) from error
    return tests


def run_tests(
    tests: Sequence[ValidationTest],
    search: Callable[[str], Answer],
    read_texts: Callable[[Sequence[str]], Mapping[str, str]],
) -> ValidationRun:
    """Run every test.

    Args:
        tests: The tests.
        search: Searches for a query.
        read_texts: Returns the text of each of the chunk ids that exists.

    Raises:
        InvalidInput: A test expects an unknown chunk, or two tests have the same id. No test has run then.
    """
    texts = _check_tests(tests, read_texts)
    answers = [search(test.query_text) for test in tests]
    executed = [_judge_test(test, answer, texts) for test, answer in zip(tests, answers, strict=True)]
    passed = sum(test.passed for test in executed)
    return ValidationRun(
        validation_id=str(uuid.uuid4()),
        total_tests=len(executed),
        passed_tests=passed,
        failed_tests=len(executed) - passed,
        overall_accuracy=sum(test.result_accuracy for test in executed) / len(executed),
        validation_status="passed" if passed == len(executed) else "partial" if passed else "failed",
        tests=executed,
        warnings=list(dict.fromkeys(note for answer in answers for note in answer.notes)),
    )


def _check_tests(
    tests: Sequence[ValidationTest], read_texts: Callable[[Sequence[str]], Mapping[str, str]]
) -> Mapping[str, str]:
    """Refuse tests that cannot be run; return the text of each expected chunk."""
    if not tests:
        raise InvalidInput("tests", "must contain at least one test")
    duplicates = [name for name, count in Counter(test.test_id for test in tests).items() if count > 1]
    if duplicates:
        raise InvalidInput("tests", f"the test_id {duplicates[0]!r} is used more than once")
    for test in tests:
        LIMITS.check_query(test.query_text)
    expected = list(dict.fromkeys(chunk_id for test in tests for chunk_id in test.expected_results))
    texts = read_texts(expected)
    for test in tests:
        for chunk_id in test.expected_results:
            if chunk_id not in texts:
                raise InvalidInput(
                    "expected_results", f"{chunk_id!r} of test {test.test_id!r} is not a chunk of this index"
                )
    return texts


def _judge_test(test: ValidationTest, answer: Answer, texts: Mapping[str, str]) -> ExecutedTest:
    expected = set(test.expected_results)
    hits = {chunk_id: _first_hit(chunk_id, texts[chunk_id], answer) for chunk_id in expected}
    scores = {chunk_id: hit.score for chunk_id, hit in hits.items() if hit is not None}
    accuracy = len(scores) / len(expected)
    criteria = test.success_criteria
    weak = sorted(chunk_id for chunk_id, score in scores.items() if score < criteria.min_similarity_score)
    reasons = []
    if accuracy < criteria.min_accuracy:
        missing = ", ".join(sorted(expected - scores.keys()))
        reasons.append(f"{len(scores)} of {len(expected)} expected chunks were found; missing: {missing}")
    if weak:
        reasons.append(f"below min_similarity_score: {', '.join(weak)}")
    return ExecutedTest(
        **test.model_dump(),
        executed_at=utc_now(),
        result_accuracy=accuracy,
        passed=not reasons,
        actual_results=[
            ActualResult(
                chunk_id=hit.chunk.chunk_id,
                similarity_score=hit.score,
                expected=any(_counts_as(hit, chunk_id, texts[chunk_id]) for chunk_id in expected),
            )
            for hit in answer.hits
        ],
        reason="; ".join(reasons) or None,
    )


def _first_hit(chunk_id: str, text: str, answer: Answer) -> Hit | None:
    """Return the best hit that counts as the chunk."""
    return next((hit for hit in answer.hits if _counts_as(hit, chunk_id, text)), None)


def _counts_as(hit: Hit, chunk_id: str, text: str) -> bool:
    """Return whether the hit is the chunk or has its text: a search lists a text of several pages once."""
    return hit.chunk.chunk_id == chunk_id or (text != "" and hit.chunk.text == text)
