"""Golden sets: queries with labels on the passages that answer them, and the YAML and JSON files of them.

A label points at a passage of a page, not at a chunk. So a golden set stays valid when the chunk size or the
model changes, and through most edits of the text.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import unquote, urlsplit

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from ...errors import InvalidFile, InvalidInput
from ...limits import ENGINE
from ...types import Filters
from ..criteria import Criteria
from .errors import Models, find_repeated_ids, locate_errors
from .parsing import ParseError, parse_json, parse_yaml
from .short_forms import check_finite, check_not_blank, derive_id, expand_labels
from .text_files import AnyPath, read_utf8, write_atomically

QueryType = Literal["specific", "broad", "paraphrase", "edge"]
Category = Literal["factual", "conceptual", "contextual"]
Grade = Annotated[int, Field(strict=True, ge=0, le=2)]
Unit = Literal["passage", "page"]

ANSWER_THRESHOLD = 0.5
"""A result that scores below this is not an answer: seed 004's default."""

VERSION = 1

HOW_TO_START = (
    "to start one, write `queries: [{text: YOUR QUESTION, labels: ADDRESS}]` into it, with an address that "
    "`pertinent search` shows"
)


class StrictModel(BaseModel):
    """A part of a golden set. Unknown fields are refused: they are usually misspelt names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    _line: int | None = PrivateAttr(None)

    @property
    def line(self) -> int | None:
        """The line of the file that it was read from; ignored when models are compared."""
        return self._line

    def __eq__(self, value: object) -> bool:
        return isinstance(value, StrictModel) and self._content() == value._content()

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def _content(self) -> tuple[Any, ...]:
        return type(self), vars(self), self.model_extra


class Label(StrictModel):
    """How well a passage answers a query: 0 not at all, 1 in part, 2 fully.

    A label names a page, by `page` (its path in the source) or by `url`. On that page it points at a `quote`,
    at the section under an `anchor`, or, without either, at the whole page. A quote may leave words out with
    ` … `. A `chunk` id alone is accepted too; `pin_labels` replaces it with page, quote and span.

    Examples:
        >>> Label(page="docs/topics.md", anchor="qos", grade=1).location
        'docs/topics.md#qos'
    """

    grade: Grade = 2
    page: str | None = None
    url: str | None = None
    anchor: str | None = None
    quote: str | None = None
    chunk: str | None = Field(default=None, validate_default=True)
    span: tuple[int, int] | None = Field(
        default=None, description="Where the quote was in the page's text when it was labelled"
    )
    judge: str | None = None
    note: str | None = None

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: str | None) -> str | None:
        # This raises a ValueError for an invalid address, such as http://[
        fragment = urlsplit(url or "").fragment
        if "#" in (url or "") and not unquote(fragment).removeprefix("#").strip():
            raise ValueError("has no anchor after its #; remove the #, or write the anchor")
        return url

    @field_validator("anchor")
    @classmethod
    def _check_anchor(cls, anchor: str | None) -> str | None:
        if anchor is not None and not anchor.removeprefix("#").strip():
            raise ValueError("must not be empty; without an anchor, the label is on the whole page")
        return anchor

    @field_validator("quote")
    @classmethod
    def _check_quote(cls, quote: str | None) -> str | None:
        if quote is not None and not quote.replace("…", "").strip():
            raise ValueError("must not be empty")
        return quote

    @field_validator("span")
    @classmethod
    def _check_span(cls, span: tuple[int, int] | None) -> tuple[int, int] | None:
        if span is not None and not 0 <= span[0] < span[1]:
            raise ValueError("must be the first character and the one after the last")
        return span

    @field_validator("chunk")
    @classmethod
    def _check_has_location(cls, chunk: str | None, info: ValidationInfo) -> str | None:
        # This validates the last of the three fields, not the model, since a model validator does not run
        # when a field has an error. A refused page or url is not in the data; its own error is enough.
        page, url = (info.data.get(name, "refused") for name in ("page", "url"))
        if not (page or url or chunk):
            raise PydanticCustomError("no_place", "a label needs a page, a url or a chunk")
        return chunk

    @property
    def location(self) -> str:
        """What the label points at, for messages."""
        page = self.page or self.url or f"chunk {self.chunk}"
        if self.quote:
            short = self.quote if len(self.quote) <= 60 else f"{self.quote[:57]}..."  # noqa: PLR2004
            return f"{page}: {short!r}"
        return f"{page}#{self.anchor}" if self.anchor else page


class ExpectedCriteria(StrictModel):
    """Seed 000's expectations of a query's results, beside their labels.

    Further keys are allowed. The report shows them; they are not judged.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Annotated[JsonValue, AfterValidator(check_finite)]] = Field(init=False)

    min_score: float | None = Field(
        default=None, ge=0.0, le=1.0, description="What the best result must score"
    )
    expected_topic: str | None = Field(
        default=None, description="Terms, separated by commas, that the top results should name"
    )

    @property
    def terms(self) -> list[str]:
        """The terms of the topic."""
        return [term for term in re.split(r"\s*,\s*", self.expected_topic or "") if term]


class QueryFilters(StrictModel):
    """Restrict which chunks a query may find, with the filters of a search."""

    document_id: str | None = None
    section: str | None = None
    url: str | None = None
    source_type: str | None = None

    def to_filters(self) -> Filters:
        """Convert to the filters of `SearchOptions`."""
        return Filters(self.document_id, self.section, self.url, self.source_type)


Labels = Annotated[
    tuple[Label, ...], BeforeValidator(expand_labels, json_schema_input_type=str | Label | list[str | Label])
]
"""Labels. A file may give a single one without a list, and each as a plain string."""


class GoldenQuery(StrictModel):
    """A query, its type, and the labels on what answers it."""

    text: str = Field(description="May be empty, as an edge case")
    id: Annotated[str, AfterValidator(check_not_blank)] = Field(
        default_factory=lambda fields: derive_id(fields.get("text", "")),
        min_length=1,
        max_length=100,
        description="Derived from the text unless given",
    )
    query_type: QueryType = "specific"
    category: Category | None = None
    top_k: int = Field(default=5, strict=True, ge=1, le=ENGINE.top_k_max)
    answerable: bool = True
    paraphrase_group: str | None = None
    expected_criteria: ExpectedCriteria = ExpectedCriteria()
    filters: QueryFilters = QueryFilters()
    labels: Labels = ()
    note: str | None = None

    @property
    def scored(self) -> bool:
        """Whether the query counts in the means: it is answerable and no edge case."""
        return self.answerable and self.query_type != "edge"

    @model_validator(mode="after")
    def _check_answerable(self) -> Self:
        relevant = any(label.grade for label in self.labels)
        if not self.answerable and relevant:
            raise ValueError("answerable is false, but a label with a grade above 0 answers it")
        return self


class GoldenSet(StrictModel):
    """Queries with their labels, and the criteria of the verdict."""

    version: Literal[1] = 1
    name: str = "golden"
    description: str | None = None
    unit: Unit = Field(
        default="passage", description="Whether passages are judged, or pages, each of which counts once"
    )
    answer_threshold: float = Field(
        default=ANSWER_THRESHOLD, ge=0.0, le=1.0, description="A result that scores below it is no answer"
    )
    criteria: Criteria = Criteria()
    pages: dict[str, str] = Field(
        default_factory=dict,
        description="The address of each page that labels name by its path: an index of the live site does "
        "not know paths",
    )
    queries: tuple[GoldenQuery, ...] = Field(min_length=1)

    _unjudged: int = PrivateAttr(0)

    @property
    def unjudged(self) -> int:
        """How many queries of a BEIR folder are left out, because it has no relevant judgment of them."""
        return self._unjudged

    @model_validator(mode="after")
    def _check_ids_are_unique(self) -> Self:
        counts = Counter(query.id for query in self.queries)
        if repeated := [query_id for query_id, count in counts.items() if count > 1]:
            message = "more than one query has the id: {ids}"
            raise PydanticCustomError("repeated_ids", message, {"ids": ", ".join(repeated)})
        return self

    @field_validator("pages")
    @classmethod
    def _check_addresses(cls, pages: dict[str, str]) -> dict[str, str]:
        for url in pages.values():
            urlsplit(url)  # raises a ValueError for an invalid address
        return pages


def json_schema() -> dict[str, Any]:
    """Create the published JSON schema of a golden file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pertinent golden set",
        **GoldenSet.model_json_schema(),
    }


MODELS: Models = {
    (): GoldenSet,
    ("criteria",): Criteria,
    ("queries",): GoldenQuery,
    ("queries", "labels"): Label,
    ("queries", "filters"): QueryFilters,
}
"""The models of a golden file, by the fields that lead to them."""


def load_golden_file(path: AnyPath) -> GoldenSet:
    """Load a golden set from a YAML or JSON file.

    Raises:
        InvalidFile: The file has errors. The message lists all of them, each with its line.
        InvalidInput: The file can't be read, or has no queries.
    """
    return parse_golden(read_utf8(path, if_missing=HOW_TO_START), str(path))


def parse_golden(text: str, name: str) -> GoldenSet:
    """Parse a golden set.

    Args:
        text: JSON if the name ends in `.json`, else YAML.
        name: The name of the file, for messages.
    """
    try:
        parsed = parse_json(text) if name.lower().endswith(".json") else parse_yaml(text)
    except ParseError as error:
        raise InvalidFile("golden", name, [str(error.fault)]) from error
    fields = parsed.value
    if fields in (None, {}) or (isinstance(fields, dict) and fields.get("queries", ()) in (None, [])):
        raise InvalidInput("golden", f"{name} has no queries; {HOW_TO_START}")
    if not isinstance(fields, dict):
        raise InvalidInput("golden", f"{name} is not a golden set: it must be a mapping with `queries`")
    faults = [*parsed.repeated_keys, *parsed.missing_values, *find_repeated_ids(parsed)]
    try:
        golden = GoldenSet.model_validate(fields)
    except ValidationError as error:
        missing = {fault[:2] for fault in parsed.missing_values}
        faults += [fault for fault in locate_errors(error, parsed, MODELS) if fault[:2] not in missing]
    if faults:
        raise InvalidFile("golden", name, [str(fault) for fault in sorted(faults)])
    record_lines(golden, parsed.line_of)
    return golden


def record_lines(golden: GoldenSet, line_of: Callable[[tuple[str | int, ...]], int]) -> None:
    """Record the line of each query and label; `line_of` finds the line of a path."""
    for number, query in enumerate(golden.queries):
        query._line = line_of(("queries", number))
        for label_number, label in enumerate(query.labels):
            label._line = line_of(("queries", number, "labels", label_number))


def record_unjudged(golden: GoldenSet, count: int) -> None:
    """Record how many queries of a BEIR folder are left out."""
    golden._unjudged = count


def dump_golden(golden: GoldenSet, path: AnyPath) -> None:
    """Write a golden set, as JSON if the path ends in `.json`, else as YAML; defaults are left out.

    Criteria that the golden set gives are written even if they are defaults: they override the settings.
    """
    criteria = golden.criteria.model_dump(mode="json", exclude_unset=True)
    fields = golden.model_dump(mode="json", exclude_defaults=True, exclude={"criteria"})
    fields = {
        "version": golden.version,
        "name": golden.name,
        **({"criteria": criteria} if criteria else {}),
        **fields,
    }
    if Path(path).suffix.lower() == ".json":
        text = json.dumps(fields, ensure_ascii=False, indent=2) + "\n"
    else:
        text = yaml.dump(fields, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)
    written = parse_golden(text, str(path))
    if written != golden or written.criteria.model_fields_set != golden.criteria.model_fields_set:
        raise InvalidInput("golden", f"{path} can't be written: it would not be read the same")
    write_atomically(path, text)


def fingerprint_golden(golden: GoldenSet) -> str:
    """Hash the queries and labels; names, notes and criteria do not change the fingerprint."""
    fields = golden.model_dump(mode="json", exclude={"description", "criteria", "name", "pages"})
    for query in fields["queries"]:
        query.pop("note")
        for label in query["labels"]:
            label.pop("note")
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002  yaml's signature
        super().increase_indent(flow, False)  # noqa: FBT003

    def represent_str(self, data: str) -> yaml.ScalarNode:
        # PyYAML writes U+0085 as a line break, which reads as a space.
        return self.represent_scalar("tag:yaml.org,2002:str", data, style='"' if "\x85" in data else None)


_Dumper.add_representer(str, _Dumper.represent_str)
