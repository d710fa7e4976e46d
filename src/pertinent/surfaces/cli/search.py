"""`pertinent search`: seed 001's door on the command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ..._internal.clock import StageTimer
from ...errors import InvalidInput
from ...limits import RETRIEVAL_TESTING, check_count
from ...types import Answer, Ranking
from .error_reporting import say
from .global_options import number, opened
from .terminal import as_json, layout, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

MOST_PER_PAGE = RETRIEVAL_TESTING.top_k_max
_CHOICE = "Which passages"
_DISPLAY = "How they are shown"


def search(  # noqa: PLR0913 - a command's options are its arguments
    context: typer.Context,
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT",
            help="What to look for, 1-2000 characters; - reads it from stdin.",
            show_default=False,
        ),
    ],
    top_k: Annotated[
        str,
        typer.Option(
            "--top-k", "-k", metavar="N", help="How many hits at most, 1-20.", rich_help_panel=_CHOICE
        ),
    ] = "5",
    threshold: Annotated[
        str,
        typer.Option(
            metavar="SCORE", help="The lowest score a hit may have, 0.0-1.0.", rich_help_panel=_CHOICE
        ),
    ] = "0.0",
    ranking: Annotated[
        Ranking | None,
        typer.Option(
            metavar="NAME",
            help="hybrid (meaning and words), dense (meaning) or lexical (words); hybrid unless set.",
            rich_help_panel=_CHOICE,
        ),
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="NAME=VALUE",
            help="Only where document_id, section, url (a prefix) or source_type is this. May be repeated.",
            show_default=False,
            rich_help_panel=_CHOICE,
        ),
    ] = None,
    per_page: Annotated[
        str | None,
        typer.Option(metavar="N", help="At most so many hits of one page, 1-20.", rich_help_panel=_CHOICE),
    ] = None,
    *,
    json_: Annotated[
        bool,
        typer.Option("--json", help="Print the answer as JSON and nothing else.", rich_help_panel=_DISPLAY),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Add the stages with their times, both parts of each score, and what was left out.",
            rich_help_panel=_DISPLAY,
        ),
    ] = False,
    no_metadata: Annotated[
        bool,
        typer.Option(
            "--no-metadata",
            help="With --json: only the six fields that every result has.",
            rich_help_panel=_DISPLAY,
        ),
    ] = False,
) -> None:
    """Find the passages that answer best, with their addresses.

    For example:
      pertinent search "how do nodes talk to each other" -k 3
      pertinent search "joint limits" --filter "section=Pitfalls" --explain
      pertinent search "launch files" --json | jq '.results[0].url'
    """
    text = RETRIEVAL_TESTING.check_query(_from_stdin() if text == "-" else text)
    wanted = RETRIEVAL_TESTING.check_top_k(number(top_k))
    least = RETRIEVAL_TESTING.check_threshold(number(threshold))
    on_page = None if per_page is None else check_count("per_page", number(per_page), MOST_PER_PAGE)
    chosen = parse_filters(filters or ())
    watch = StageTimer()
    with opened(context) as pertinent:
        from ..library import as_filters

        checked = as_filters(chosen)
        # What is loaded once a process is loaded here, so that the stages of the query are its own.
        pertinent.workspace.engine()
        if not json_:
            layout(lambda out: out.print(""))
        watch.lap("opened")
        answer = pertinent.search(text, wanted, least, ranking, checked, on_page)
        opening_ms = watch.stages["opened"]
        if json_:
            _print_json(answer, opening_ms, explain=explain, include_metadata=not no_metadata)
        else:
            _print_text(answer, opening_ms, explain=explain, filtered=bool(chosen))


def _from_stdin() -> str:
    try:
        return sys.stdin.read().strip()
    except UnicodeDecodeError as error:
        raise InvalidInput(RETRIEVAL_TESTING.query, f"what stands on stdin is not text: {error}") from error


def parse_filters(given: Sequence[str]) -> dict[str, str]:
    """`NAME=VALUE` pairs as a mapping."""
    pairs: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not (name and equals and value):
            raise InvalidInput("filter", f"must be NAME=VALUE, for example section=Joints, not {one!r}")
        if name in pairs:
            raise InvalidInput("filter", f"{name!r} is given twice; a passage has only one")
        pairs[name] = value
    return pairs


def _print_text(answer: Answer, opening_ms: float, *, explain: bool, filtered: bool) -> None:
    from .explain_output import print_explanation

    watch = StageTimer()
    text = layout(lambda out: _lay_out(out, answer, explain=explain, filtered=filtered))
    watch.lap("formatted")
    write(text)
    watch.lap("returned")
    if explain:
        stages = {**answer.timings, **watch.stages}
        write(layout(lambda out: print_explanation(out, answer, stages, opening_ms)))
        return
    for note in answer.notes:
        say(note)


def _lay_out(out: Console, answer: Answer, *, explain: bool, filtered: bool) -> None:
    from .search_output import print_hits, print_none

    if answer.hits:
        print_hits(out, answer, parts=explain)
    else:
        print_none(out, answer, filtered=filtered)


def _print_json(answer: Answer, opening_ms: float, *, explain: bool, include_metadata: bool) -> None:
    from ..query_response import query_response
    from .explain_output import explanation

    response = query_response(answer, include_metadata=include_metadata)
    watch = StageTimer()
    body = as_json(response)
    watch.lap("returned")
    if explain:
        stages = response["metadata"]["stages_ms"] | watch.stages
        body = as_json(response | {"explain": explanation(answer, stages, opening_ms)})
    write(body + "\n")
