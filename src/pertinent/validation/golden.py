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
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ..errors import InvalidInput
from ..limits import ENGINE
from ..nesting import refuse_deep
from ..types import Filters
from ..wording import wrong
from .criteria import Criteria

if TYPE_CHECKING:
    from yaml import SafeLoader as _FastLoader
else:
    _FastLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

QueryType = Literal["specific", "broad", "paraphrase", "edge"]
Category = Literal["factual", "conceptual", "contextual"]
Grade = Annotated[int, Field(strict=True, ge=0, le=2)]
Unit = Literal["passage", "page"]

ANSWER_THRESHOLD = 0.5
"""The score below which nothing counts as an answer: seed 004's default."""

VERSION = 1

NODES_MAX = 5_000_000
"""How many values a YAML file may come to once its aliases are written out: some 100,000 queries."""


class Strict(BaseModel):
    """A part of a golden set; a field that does not exist is a mistake, not a comment."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Label(Strict):
    """How well one place in the source answers a query: 0 not, 1 in part, 2 fully.

    The place is a page, by `page` (its path in the source) or by `url`, and on it a `quote`, or the
    section under an `anchor`; without either it is the whole page. A quote may leave words out in
    its middle with ` … `. A `chunk` alone is turned into page, quote and span when it is first seen.
    """

    grade: Grade
    page: str | None = None
    url: str | None = None
    anchor: str | None = None
    quote: str | None = None
    chunk: str | None = None
    span: tuple[int, int] | None = Field(
        default=None, description="Where the quote stood in the page's text when it was labelled"
    )
    judge: str | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _points_somewhere(self) -> Self:
        if not (self.page or self.url or self.chunk):
            raise ValueError("a label needs a page, a url or a chunk")
        urlsplit(self.url or "")  # raises a ValueError for what is no address, such as http://[
        if self.quote is not None and not self.quote.replace("…", "").strip():
            raise ValueError("quote must not be empty")
        if self.span is not None and not 0 <= self.span[0] < self.span[1]:
            raise ValueError("span must be the first character and the one after the last")
        return self

    @property
    def place(self) -> str:
        """The place in words, for messages."""
        where = self.page or self.url or f"chunk {self.chunk}"
        if self.quote:
            short = self.quote if len(self.quote) <= 60 else f"{self.quote[:57]}..."  # noqa: PLR2004
            return f"{where}: {short!r}"
        return f"{where}#{self.anchor}" if self.anchor else where


class ExpectedCriteria(Strict):
    """What seed 000 may expect of a query's results beside their labels."""

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


class GoldenQuery(Strict):
    """A query, what kind it is, and what answers it."""

    id: str = Field(min_length=1, max_length=100)
    text: str = Field(description="May be empty: that is an edge case too")
    query_type: QueryType = "specific"
    category: Category | None = None
    top_k: int = Field(default=5, strict=True, ge=1, le=ENGINE.top_k_max)
    answerable: bool = True
    paraphrase_group: str | None = None
    expected_criteria: ExpectedCriteria = ExpectedCriteria()
    filters: QueryFilters = QueryFilters()
    labels: tuple[Label, ...] = ()
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
            raise ValueError(f"these query ids stand more than once: {', '.join(twice)}")
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


def load(path: str | os.PathLike[str]) -> GoldenSet:
    """The golden set in a YAML or JSON file, or an error that says where it is wrong."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput("golden", f"{path} can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput("golden", f"{path} is not UTF-8") from error
    return parse(text, str(path))


def parse(text: str, name: str) -> GoldenSet:
    """The golden set in a text; `name` is what messages call it."""
    try:
        if name.endswith(".json"):
            found = json.loads(text, object_pairs_hook=_without_repeats)
        else:
            refuse_deep(text, _Loader)
            found = yaml.load(text, _Loader)  # noqa: S506  a SafeLoader underneath
    except json.JSONDecodeError as error:
        raise InvalidInput("golden", f"{name}: line {error.lineno}: {error.msg}") from error
    except RecursionError as error:
        raise InvalidInput("golden", f"{name} is nested too deeply") from error
    except (yaml.YAMLError, ValueError) as error:  # a date such as 2025-13-45 is a ValueError
        said = str(error).replace('in "<unicode string>", ', "")
        raise InvalidInput("golden", f"{name}: {' '.join(said.split())}") from error
    if name.endswith(".json"):
        # YAML refuses it by itself.
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(
                "golden", f"{name} holds half of a surrogate pair, which is not text"
            ) from error
    if not isinstance(found, dict):
        raise InvalidInput("golden", f"{name} is not a golden set: it must be a mapping with `queries`")
    try:
        return GoldenSet.model_validate(found)
    except ValidationError as error:
        raise InvalidInput("golden", f"{name}: {_first_fault(error, found)}") from error


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


class _Loader(_FastLoader):
    """YAML that loses nothing: a key given twice is refused, and so are aliases that multiply."""

    def get_single_node(self) -> yaml.Node | None:
        node = super().get_single_node()
        if node is not None and _size(node, {}) > NODES_MAX:
            raise yaml.YAMLError(f"its aliases come to more than {NODES_MAX} values")
        return node


def _size(node: yaml.Node, known: dict[yaml.Node, int]) -> int:
    """How many values a node comes to with its aliases written out; each node is looked at once."""
    if node not in known:
        known[node] = 1  # should it be an alias of itself
        known[node] += sum(_size(part, known) for part in _parts(node))
    return known[node]


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        _refuse_repeats(node)
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _refuse_repeats(node: yaml.MappingNode) -> None:
    seen = set()
    for key, _ in node.value:
        name = (key.tag, str(key.value))
        if name in seen:
            raise yaml.YAMLError(f"line {key.start_mark.line + 1}: {key.value} is given twice")
        seen.add(name)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if twice:
        raise ValueError(f"{twice[0]} is given twice in {json.dumps(dict(pairs))[:80]}")
    return dict(pairs)


def _first_fault(error: ValidationError, found: dict[str, Any]) -> str:
    """The first fault, said with the id of its query; how many more there are."""
    # A list whose only member is wrong is also reported as too short.
    faults = [one for one in error.errors() if one["type"] != "too_short"] or error.errors()
    first = faults[0]
    place = [str(part) for part in first["loc"]]
    queries = found.get("queries")
    if len(place) > 1 and place[0] == "queries" and place[1].isdigit() and isinstance(queries, list):
        query = queries[int(place[1])]
        name = query.get("id") if isinstance(query, dict) else None
        place = [f"query {name or int(place[1]) + 1}", *place[2:]]
    message = wrong(first)
    if first["type"] == "string_type" and not isinstance(first["input"], dict | list | None):
        message = f"must be text, but is read as {first['input']}; write it in quotes"
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{'.'.join(place)}: {message}{more}" if place else f"{message}{more}"
