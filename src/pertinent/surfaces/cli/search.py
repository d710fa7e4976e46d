"""`pertinent search`: find passages and print them (seed 001's Query Request and Query Response)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ..._internal.clock import StageTimer
from ...errors import InvalidInput
from ...limits import RETRIEVAL_TESTING
from ...types import Answer
from ..search_filters import check_filters
from .error_reporting import print_notice
from .global_options import JsonFlag, RankingOption, RerankFlag, get_global_options, open_reader
from .terminal import one_line, render, to_json, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...search.terms import Analyzer

MAX_HITS = RETRIEVAL_TESTING.top_k_max


def search(  # noqa: PLR0913 - a command's options are its arguments
    context: typer.Context,
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT",
            help="The question or the words to search for, 1-2000 characters; - reads them from stdin.",
            show_default=False,
        ),
    ],
    top_k: Annotated[
        int,
        typer.Option("--top-k", "-k", metavar="N", min=1, max=MAX_HITS, help="The maximum number of hits."),
    ] = 5,
    threshold: Annotated[
        float, typer.Option(metavar="SCORE", min=0.0, max=1.0, help="The minimum score of a hit.")
    ] = 0.0,
    ranking: RankingOption = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="NAME=VALUE",
            help="Search only where document_id, section, url (a prefix) or source_type has this value. "
            "May be repeated.",
            show_default=False,
        ),
    ] = None,
    per_page: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=MAX_HITS, help="The maximum number of hits from one page."),
    ] = None,
    *,
    rerank: RerankFlag = None,
    as_json: JsonFlag = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Show the time of each stage, the parts of each score, and excluded hits."
        ),
    ] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="Search for the words as typed, without correcting them.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Print whole passages, not only the lines that match best.")
    ] = False,
    no_metadata: Annotated[
        bool,
        typer.Option("--no-metadata", help="With --json: print only the required fields of each result."),
    ] = False,
) -> None:
    """Search the index, and print the best passages with their addresses.

    For example:
      pertinent search "how do nodes talk to each other" -k 3
      pertinent search "joint limits" --filter "section=Pitfalls" --explain
      pertinent search "launch files" --full
      pertinent search "launch files" --json | jq '.results[0].url'
    """
    from ...search.terms import Analyzer
    from ..library import Pertinent

    text = RETRIEVAL_TESTING.check_query(_read_stdin() if text == "-" else text)
    checked_filters = check_filters(parse_filters(filters or ()))
    settings = get_global_options(context).load_settings().settings
    timer = StageTimer()
    with open_reader(settings) as reader:
        # Load here what is loaded once per process, so that the stages measure the query alone.
        if isinstance(reader, Pertinent):
            reader.workspace.engine()
        if not as_json:
            render(lambda out: out.print(""))
        timer.lap("opened")
        answer = reader.search(
            text,
            top_k,
            threshold,
            ranking or settings.ranking,
            checked_filters,
            per_page,
            correct=not exact,
            rerank=rerank,
        )
        opening_ms = timer.stages["opened"]
        if as_json:
            _print_json(answer, opening_ms, explain=explain, include_metadata=not no_metadata)
        else:
            language = reader.workspace.language() if isinstance(reader, Pertinent) else reader.language
            _print_text(
                answer, Analyzer(language), opening_ms, explain=explain, filtered=bool(filters), full=full
            )


def _read_stdin() -> str:
    try:
        return sys.stdin.read().strip()
    except UnicodeDecodeError as error:
        raise InvalidInput(RETRIEVAL_TESTING.query, f"stdin is not text: {error}") from error


def parse_filters(arguments: Sequence[str]) -> dict[str, str]:
    """Parse `NAME=VALUE` arguments into a mapping."""
    filters: dict[str, str] = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not (name and equals and value):
            raise InvalidInput(
                "--filter", f"must be NAME=VALUE, for example section=Joints, not {argument!r}"
            )
        if name in filters:
            raise InvalidInput("--filter", f"{name!r} is given twice; give it once")
        filters[name] = value
    return filters


def _print_text(
    answer: Answer, analyzer: Analyzer, opening_ms: float, *, explain: bool, filtered: bool, full: bool
) -> None:
    from .explain_output import print_explanation
    from .search_output import print_hits, print_no_hits

    timer = StageTimer()
    if answer.hits:
        text = render(lambda out: print_hits(out, answer, analyzer, full=full, with_scores=explain))
    else:
        text = render(lambda out: print_no_hits(out, answer, filtered=filtered))
    timer.lap("formatted")
    if answer.corrected:
        print_notice(
            f"searched for {one_line(answer.searched_for)!r}; --exact searches for the words as typed"
        )
    write(text)
    timer.lap("returned")
    if explain:
        stages = {**answer.timings, **timer.stages}
        write(render(lambda out: print_explanation(out, answer, stages, opening_ms)))
        return
    for note in answer.notes:
        print_notice(note)


def _print_json(answer: Answer, opening_ms: float, *, explain: bool, include_metadata: bool) -> None:
    from ..query_response import render_query_response
    from .explain_output import explain_as_dict

    response = render_query_response(answer, include_metadata=include_metadata)
    timer = StageTimer()
    body = to_json(response)
    timer.lap("returned")
    if explain:
        stages = response["metadata"]["stages_ms"] | timer.stages
        body = to_json(response | {"explain": explain_as_dict(answer, stages, opening_ms)})
    write(body + "\n")
