"""Golden sets: queries, and the places in the source that answer them.

A label points at a place, not at a chunk, so a golden set outlives another chunk size, another model
and most edits of the text.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

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
from .line_numbers import Unreadable, read_json, read_yaml
from .short_forms import check_finite, check_not_blank, derive_id, read_labels

QueryType = Literal["specific", "broad", "paraphrase", "edge"]
Category = Literal["factual", "conceptual", "contextual"]
Grade = Annotated[int, Field(strict=True, ge=0, le=2)]
Unit = Literal["passage", "page"]

ANSWER_THRESHOLD = 0.5
"""The score below which nothing counts as an answer: seed 004's default."""

VERSION = 1

HOW_TO_START = (
    "to start one, write `queries: [{text: YOUR QUESTION, labels: ADDRESS}]` into it, with an address that "
    "`pertinent search` shows"
)


class Strict(BaseModel):
    """A part of a golden set; a field that does not exist is a mistake, not a comment."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    _line: int | None = PrivateAttr(None)

    @property
    def line(self) -> int | None:
        """The line of the file that it was read from; not a part of what it says."""
        return self._line

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Strict) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def _content(self) -> tuple[Any, ...]:
        return type(self), vars(self), self.model_extra


class Label(Strict):
    """How well one place in the source answers a query: 0 not, 1 in part, 2 fully.

    The place is a page, by `page` (its path in the source) or by `url`, and on it a `quote`, or the
    section under an `anchor`; without either it is the whole page. A quote may leave words out in
    its middle with ` … `. A `chunk` alone is turned into page, quote and span when it is first seen.
    """

    grade: Grade = 2
    page: str | None = None
    url: str | None = None
    anchor: str | None = None
    quote: str | None = None
    chunk: str | None = Field(default=None, validate_default=True)
    span: tuple[int, int] | None = Field(
        default=None, description="Where the quote stood in the page's text when it was labelled"
    )
    judge: str | None = None
    note: str | None = None

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: str | None) -> str | None:
        urlsplit(url or "")  # raises a ValueError for what is no address, such as http://[
        return url

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
    def _check_place(cls, chunk: str | None, info: ValidationInfo) -> str | None:
        # A check of the last of three fields, not of the model: that one would be silent about a label
        # with another error. A page or url that was refused is not in the data, and is an error itself.
        page, url = (info.data.get(name, "refused") for name in ("page", "url"))
        if not (page or url or chunk):
            raise PydanticCustomError("no_place", "a label needs a page, a url or a chunk")
        return chunk

    @property
    def place(self) -> str:
        """The place in words, for messages."""
        where = self.page or self.url or f"chunk {self.chunk}"
        if self.quote:
            short = self.quote if len(self.quote) <= 60 else f"{self.quote[:57]}..."  # noqa: PLR2004
            return f"{where}: {short!r}"
        return f"{where}#{self.anchor}" if self.anchor else where


class ExpectedCriteria(Strict):
    """What seed 000 may expect of a query's results beside their labels.

    Further keys are kept and shown in the report; they are not judged.
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


class QueryFilters(Strict):
    """Which chunks the query may find, as in a search."""

    document_id: str | None = None
    section: str | None = None
    url: str | None = None
    source_type: str | None = None

    def to_filters(self) -> Filters:
        return Filters(self.document_id, self.section, self.url, self.source_type)


Labels = Annotated[
    tuple[Label, ...], BeforeValidator(read_labels, json_schema_input_type=str | Label | list[str | Label])
]
"""Labels, which a file may write as one label, and each as a plain string."""


class GoldenQuery(Strict):
    """A query, what kind it is, and what answers it."""

    text: str = Field(description="May be empty: that is an edge case too")
    id: Annotated[str, AfterValidator(check_not_blank)] = Field(
        default_factory=lambda fields: derive_id(fields.get("text", "")),
        min_length=1,
        max_length=100,
        description="Made from the text unless given",
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
        """Whether it counts in the means: it has an answer, and is no edge case."""
        return self.answerable and self.query_type != "edge"

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        relevant = any(label.grade for label in self.labels)
        if not self.answerable and relevant:
            raise ValueError("answerable is false, but a label above 0 says what answers it")
        return self


class GoldenSet(Strict):
    """Queries with their labels, and by which criteria they are judged."""

    version: Literal[1] = 1
    name: str = "golden"
    description: str | None = None
    unit: Unit = Field(
        default="passage", description="Whether a result is a passage, or its page counts once"
    )
    answer_threshold: float = Field(
        default=ANSWER_THRESHOLD, ge=0.0, le=1.0, description="A result below it is no answer"
    )
    criteria: Criteria = Criteria()
    pages: dict[str, str] = Field(
        default_factory=dict,
        description="The address of each page that labels name by its path: so they are found in an index "
        "of the live site too, which knows no paths",
    )
    queries: tuple[GoldenQuery, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        twice = [name for name, count in Counter(query.id for query in self.queries).items() if count > 1]
        if twice:
            message = "these query ids stand more than once: {ids}"
            raise PydanticCustomError("repeated_ids", message, {"ids": ", ".join(twice)})
        return self

    @field_validator("pages")
    @classmethod
    def _addresses_are_addresses(cls, pages: dict[str, str]) -> dict[str, str]:
        for url in pages.values():
            urlsplit(url)  # raises a ValueError for what is none
        return pages


def json_schema() -> dict[str, Any]:
    """The published schema of a golden file."""
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


def load(path: str | os.PathLike[str]) -> GoldenSet:
    """The golden set in a YAML or JSON file, or an error that lists all that is wrong with it."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise InvalidInput("golden", f"{path} can't be read: {error.strerror}; {HOW_TO_START}") from error
    except OSError as error:
        raise InvalidInput("golden", f"{path} can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput("golden", f"{path} is not UTF-8") from error
    return parse(text, str(path))


def parse(text: str, name: str) -> GoldenSet:
    """The golden set in a text; `name` is what messages call it."""
    try:
        document = read_json(text) if name.lower().endswith(".json") else read_yaml(text)
    except Unreadable as error:
        raise InvalidFile("golden", name, [str(error.fault)]) from error
    data = document.value
    if data in (None, {}) or (isinstance(data, dict) and data.get("queries", ()) in (None, [])):
        raise InvalidInput("golden", f"{name} has no queries; {HOW_TO_START}")
    if not isinstance(data, dict):
        raise InvalidInput("golden", f"{name} is not a golden set: it must be a mapping with `queries`")
    faults = [*document.repeated_keys, *find_repeated_ids(document)]
    try:
        golden = GoldenSet.model_validate(data)
    except ValidationError as error:
        faults += locate_errors(error, document, MODELS)
    if faults:
        raise InvalidFile("golden", name, [str(fault) for fault in sorted(faults)])
    set_lines(golden, document.line_of)
    return golden


def set_lines(golden: GoldenSet, line_of: Callable[[tuple[str | int, ...]], int]) -> None:
    """Note the line of each query and label, by the path to it."""
    for number, query in enumerate(golden.queries):
        query._line = line_of(("queries", number))
        for place, label in enumerate(query.labels):
            label._line = line_of(("queries", number, "labels", place))


def dump(golden: GoldenSet, path: str | os.PathLike[str]) -> None:
    """Write the golden set whole or not at all, as YAML or as JSON by the file's name."""
    target = Path(path)
    data = golden.model_dump(mode="json", exclude_defaults=True)
    data = {"version": golden.version, "name": golden.name, **data}
    if target.suffix == ".json":
        text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    else:
        text = yaml.dump(data, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100)
    if parse(text, str(target)) != golden:
        raise InvalidInput("golden", f"{target} can't be written: it would not be read the same")
    write_whole(target, text)


def fingerprint(golden: GoldenSet) -> str:
    """The same for golden sets that ask and judge the same, however their files are written."""
    asked = golden.model_dump(mode="json", exclude={"description", "criteria", "name", "pages"})
    for query in asked["queries"]:
        query.pop("note")
        for label in query["labels"]:
            label.pop("note")
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def write_whole(target: Path, text: str, encoding: str = "utf-8") -> None:
    """Write a file that is there whole or, where that fails, as it was before."""
    beside = target.with_name(f".{target.name}.new")
    try:
        beside.write_text(text, encoding=encoding, newline="")
        beside.replace(target)
    except UnicodeEncodeError as error:
        raise InvalidInput("golden", f"{target} can't be written: {error.reason}") from error
    except OSError as error:
        raise InvalidInput("golden", f"{target} can't be written: {error.strerror or error}") from error
    finally:
        beside.unlink(missing_ok=True)


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002  yaml's signature
        super().increase_indent(flow, False)  # noqa: FBT003

    def represent_str(self, data: str) -> yaml.ScalarNode:
        # PyYAML writes U+0085 as a line break, which reads as a space.
        return self.represent_scalar("tag:yaml.org,2002:str", data, style='"' if "\x85" in data else None)


_Dumper.add_representer(str, _Dumper.represent_str)
