"""`pertinent index`: sync a source into the index, or tell what a sync would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .failures import INCOMPLETE, INTERRUPTED, say
from .opening import opened
from .terminal import console, layout, one_line, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...types import Unreadable
    from ..library import Pertinent


def index(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A folder of Markdown or a Docusaurus site, or beir:FOLDER for a BEIR corpus.",
            show_default=False,
        ),
    ],
    base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The address of the pages on the web; else that of docusaurus.config, else file://.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What to call the source: the same name is the same source on every machine.",
        ),
    ] = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done, and write nothing.")
    ] = False,
    allow_shrink: Annotated[
        bool,
        typer.Option("--allow-shrink", help="Go on also if more than a quarter of the known pages would go."),
    ] = False,
) -> None:
    """Read a source into the index: what changed is embedded, what is gone goes.

    Stopped anywhere, the next run goes on from there. A file that can't be
    read is named, what was indexed of it stays, and the exit code is 1.

    For example:
      pertinent index docs/ --base-url https://example.org/docs
      pertinent index docs/ --dry-run
      pertinent index beir:data/scifact --name scifact
    """
    with opened(context) as pertinent:
        try:
            if dry_run:
                unreadable = _plan(pertinent, source, base_url, name, allow_shrink=allow_shrink)
            else:
                unreadable = _index(pertinent, source, base_url, name, allow_shrink=allow_shrink)
        except KeyboardInterrupt:
            say("stopped; what was done is kept, and the same command goes on from there")
            raise typer.Exit(INTERRUPTED) from None
    if unreadable:
        _tell_unreadable(unreadable)
        raise typer.Exit(INCOMPLETE)


def _index(
    pertinent: Pertinent, source: str, base_url: str | None, name: str | None, *, allow_shrink: bool
) -> Sequence[Unreadable]:
    from .progress import progress
    from .report import print_summary

    with progress() as told:
        summary = pertinent.index(
            source, base_url=base_url, name=name, allow_shrink=allow_shrink, progress=told
        )
    write(layout(lambda out: print_summary(out, summary)))
    return summary.unreadable


def _plan(
    pertinent: Pertinent, source: str, base_url: str | None, name: str | None, *, allow_shrink: bool
) -> Sequence[Unreadable]:
    from ...indexing import guard
    from .progress import progress
    from .report import print_plan

    with progress() as told:
        plan = pertinent.plan(source, base_url=base_url, name=name, progress=told)
    write(layout(lambda out: print_plan(out, plan)))
    guard(plan, allow_shrink=allow_shrink)
    return plan.unreadable


def _tell_unreadable(unreadable: Sequence[Unreadable]) -> None:
    files = "1 file" if len(unreadable) == 1 else f"{len(unreadable)} files"
    say(f"{files} could not be read; what was indexed of them before is kept:")
    for one in unreadable:
        console(stderr=True).print(f"  {one_line(one.source_path)}: {one_line(one.reason)}", soft_wrap=True)
