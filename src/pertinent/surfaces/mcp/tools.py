"""What agents call: search, fetch, list_pages and suggest, each over a reader, within a limit of tokens.

The names and shapes of `search` and `fetch` are those that clients with only these two tools expect: ids from
one go into the other, results have `id`, `title` and `url`, and a document has `text` and `metadata`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ...identity import shorten
from ...limits import AGENTS, MAX_NEIGHBORS, SUGGESTIONS
from ...types import SECTION_SEPARATOR, Answer, Hit
from .answer_size import RESERVED_TOKENS, count_fitting, count_tokens, cut_text
from .page_range import PageRange, find_range
from .results import (
    FetchedMetadata,
    FetchedText,
    Folder,
    FoundPassage,
    NameEntry,
    NameList,
    PageEntry,
    PageList,
    SearchResults,
)

if TYPE_CHECKING:
    from ...ports import PageRecord
    from ..reader import Reader

GOOD_ENOUGH = 0.5
"""The score that a passage needs: there it is about as likely right as wrong (docs/ranking.md)."""

MAX_NAME = 200
"""How many characters of a title, a section or a message an answer has at most."""

MAX_FOLDERS = 50
"""How many parts of the documentation a cut list of pages names."""


class Arguments(BaseModel):
    """Base of the arguments of a tool: unknown names are refused, with the names that there are."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_names(cls, arguments: Any) -> Any:
        for name in arguments if isinstance(arguments, Mapping) else ():
            if name not in cls.model_fields:
                names = ", ".join(cls.model_fields)
                raise ValueError(f"{shorten(str(name), MAX_NAME)!r} is none of {names}")
        return arguments


class SearchFilters(Arguments):
    """Restricts a search; every field is optional."""

    url: Annotated[str | None, Field(description="A page, or all pages below this address")] = None
    section: Annotated[str | None, Field(description="A heading above the passage")] = None
    document_id: Annotated[str | None, Field(description="The id of a page")] = None
    source_type: Annotated[str | None, Field(description="The kind of source")] = None


class SearchArguments(Arguments):
    """The arguments of `search`."""

    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=AGENTS.query_max,
            description="A question in full words, or the words to look for. Words in quotes must occur.",
        ),
    ]
    top_k: Annotated[int, Field(ge=1, le=AGENTS.top_k_max, description="The maximum number of passages")] = 5
    filters: Annotated[SearchFilters | None, Field(description="Where to search; everywhere by default")] = (
        None
    )


class FetchArguments(Arguments):
    """The arguments of `fetch`."""

    id: Annotated[
        str,
        Field(
            min_length=1,
            max_length=2000,
            description="The id of a passage or page, or an address: of a page, or `url#anchor` of a section",
        ),
    ]
    around: Annotated[
        int,
        Field(
            ge=0,
            le=MAX_NEIGHBORS,
            description="How many passages before and after a passage or section to return, too",
        ),
    ] = 2


class ListPagesArguments(Arguments):
    """The arguments of `list_pages`."""

    prefix: Annotated[
        str,
        Field(
            max_length=2000,
            description="What the address, its path or the source path begins with, such as `guide/`; empty "
            "lists all pages",
        ),
    ] = ""


class SuggestArguments(Arguments):
    """The arguments of `suggest`."""

    prefix: Annotated[
        str,
        Field(
            min_length=1,
            max_length=SUGGESTIONS.query_max,
            description="The beginning of a name, or words of it; typos are allowed",
        ),
    ]
    limit: Annotated[
        int, Field(ge=1, le=SUGGESTIONS.top_k_max, description="The maximum number of names")
    ] = 8


def search_passages(
    reader: Reader, arguments: SearchArguments, max_tokens: int
) -> tuple[SearchResults, Answer]:
    """Search; also return the answer as the engine gave it, for the log."""
    query = AGENTS.check_query(arguments.query)
    filters = arguments.filters.model_dump(exclude_none=True) if arguments.filters else None
    answer = reader.search(query, arguments.top_k, GOOD_ENOUGH, filters=filters, fallback="lexical")
    available = max_tokens - RESERVED_TOKENS
    passages = [_describe_hit(hit) for hit in answer.hits]
    notes = [_format_note(note) for note in answer.notes]
    if answer.corrected:
        notes.append(f"Searched for {shorten(answer.searched_for, MAX_NAME)!r}.")
    if not passages:
        notes.append(_explain_no_hits(answer, filtered=bool(filters)))
    fitting = max(count_fitting(passages, available), 1)
    if fitting < len(passages):
        notes.append(
            f"{fitting} of {len(passages)} passages fit in {max_tokens:,} tokens: ask for fewer, or use "
            "filters."
        )
    del passages[fitting:]
    for passage in passages[:1]:
        frame = count_tokens(passage) - count_tokens(passage.text)
        passage.text = cut_text(passage.text, available - frame)
    return SearchResults(results=passages, note=" ".join(notes)), answer


def _describe_hit(hit: Hit) -> FoundPassage:
    chunk = hit.chunk
    return FoundPassage(
        id=chunk.chunk_id,
        title=shorten(chunk.title, MAX_NAME),
        section=shorten(chunk.section, MAX_NAME),
        url=chunk.citation,
        text=chunk.text,
        score=round(hit.score, 3),
        page_id=chunk.document_id,
    )


def _format_note(note: str) -> str:
    """Write a note of the engine, which has neither a capital nor a full stop, as a sentence."""
    shortened = shorten(note, MAX_NAME)
    return f"{shortened[:1].upper()}{shortened[1:].removesuffix('.')}."


def _explain_no_hits(answer: Answer, *, filtered: bool) -> str:
    """Say that nothing is good enough, what comes nearest, and what to do."""
    if filtered and not answer.excluded:
        return (
            "Nothing within these filters comes near it. Leave the filters out, or use an address or a "
            "heading that `search` returned."
        )
    scope = "within these filters" if filtered else "in this documentation"
    message = f"Nothing {scope} answers this well enough."
    if answer.excluded:
        nearest = max((candidate.hit for candidate in answer.excluded), key=lambda hit: hit.score)
        chunk = nearest.chunk
        name = SECTION_SEPARATOR.join(filter(None, (chunk.title, chunk.section)))
        message += (
            f" The nearest passage, {shorten(name, MAX_NAME)} ({shorten(chunk.citation, MAX_NAME)}), scores "
            f"{nearest.score:.2f} of the {GOOD_ENOUGH:g} that are needed."
        )
    return f"{message} Try other words, or say that the documentation does not answer it."


def fetch_document(reader: Reader, arguments: FetchArguments, max_tokens: int) -> FetchedText:
    """Read a passage with its neighbours, a section or a page, as much as fits."""
    page_range = find_range(reader, arguments.id)
    available = max_tokens - RESERVED_TOKENS - count_tokens(_describe_range(page_range, "", ""))
    selected = page_range.fit(arguments.around, lambda text: count_tokens(text) <= available)
    text = cut_text(selected.text, available)
    note = ""
    if selected.last < page_range.last or text != selected.text:
        note = f"The text is cut at {max_tokens:,} tokens."
        note += " Fetch `next_id` to read on." if selected.next_id else ""
    return _describe_range(selected, text, note)


def _describe_range(page_range: PageRange, text: str, note: str) -> FetchedText:
    page, chunk = page_range.page, page_range.target
    return FetchedText(
        id=chunk.chunk_id if chunk else page.document_id,
        title=shorten(page.title, MAX_NAME),
        url=chunk.citation if chunk else page.url,
        text=text,
        metadata=FetchedMetadata(
            page_id=page.document_id,
            section=shorten(chunk.section, MAX_NAME) if chunk else "",
            source_path=page.source_path,
            previous_id=page_range.previous_id,
            next_id=page_range.next_id,
            note=note,
        ),
    )


def list_pages(reader: Reader, arguments: ListPagesArguments, max_tokens: int) -> PageList:
    """List the pages that have the prefix; if they are too many, also the parts that they are in."""
    records = [record for record in reader.pages() if _has_prefix(record, arguments.prefix)]
    pages = [PageEntry(id=record.document_id, title=record.title, url=record.url) for record in records]
    available = max_tokens - RESERVED_TOKENS
    if count_fitting(pages, available) == len(pages):
        note = "" if pages else _explain_no_pages(arguments.prefix)
        return PageList(pages=pages, total=len(pages), folders=[], note=note)
    folders = _count_folders([record.url for record in records])
    del folders[count_fitting(folders, available // 2) :]  # an address may be as long as the whole answer
    available -= sum(map(count_tokens, folders))
    fitting = count_fitting(pages, available)
    note = f"{fitting} of {len(pages):,} pages fit in {max_tokens:,} tokens: list a longer prefix."
    return PageList(pages=pages[:fitting], total=len(pages), folders=folders, note=note)


def _explain_no_pages(prefix: str) -> str:
    return f"No page has the prefix {shorten(prefix, MAX_NAME)!r}." if prefix else "No page is indexed."


def _has_prefix(record: PageRecord, prefix: str) -> bool:
    path = urlsplit(record.url).path
    below_source = record.url.removeprefix(record.source)
    steps = f"/{prefix.lstrip('/')}"
    return (
        record.url.startswith(prefix)
        or path.startswith(steps)
        or below_source.startswith(steps)
        or record.source_path.startswith(prefix)
    )


def _count_folders(urls: Sequence[str]) -> list[Folder]:
    """Count the pages of each folder directly below the one that all addresses share."""
    paths = [url.split("/") for url in urls]
    shared = sum(1 for _ in takewhile(lambda steps: len(set(steps)) == 1, zip(*paths, strict=False)))
    folders = Counter("/".join(steps[: shared + 1]) for steps in paths)
    return [Folder(prefix=prefix, pages=count) for prefix, count in folders.most_common(MAX_FOLDERS)]


def suggest_names(reader: Reader, arguments: SuggestArguments, max_tokens: int) -> NameList:
    """Find pages and sections by their name."""
    names = [
        NameEntry(
            title=suggestion.title,
            section=suggestion.section,
            url=suggestion.url,
            page_id=suggestion.document_id,
        )
        for suggestion in reader.suggest(arguments.prefix, arguments.limit)
    ]
    fitting = count_fitting(names, max_tokens - RESERVED_TOKENS)
    note = ""
    if not names:
        note = "No page or section has such a name; `search` looks into the texts."
    elif fitting < len(names):
        note = f"{fitting} of {len(names)} names fit in {max_tokens:,} tokens."
    return NameList(suggestions=names[:fitting], note=note)
