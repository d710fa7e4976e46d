"""`pertinent index`: sync a source into the index, or print what a sync would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..._internal.messages import format_count
from .error_reporting import INCOMPLETE, INTERRUPTED, print_notice
from .global_options import open_pertinent
from .terminal import render, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...sources.site import CrawlLimits, PageFilter
    from ...types import Unreadable
    from ..library import Pertinent


_SITES: Final = "Live sites"
MAX_SECONDS: Final = 365 * 24 * 3600
"""The limit of `sources.site.limits`, which is too slow to import for `--help`."""


def index(  # noqa: PLR0913, PLR0917 - a command's options are its arguments
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A folder of Markdown or a Docusaurus project, the address of a live site or its sitemap, "
            "or beir:FOLDER for a BEIR corpus.",
            show_default=False,
        ),
    ],
    base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The public address of the pages. Default: that in docusaurus.config, or file://.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The name of the source in the index. Default: its address, or the folder's name.",
        ),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Read only pages whose path matches, such as /docs/*. May be repeated.",
            rich_help_panel=_SITES,
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Skip pages whose path matches, such as /blog/*. May be repeated.",
            rich_help_panel=_SITES,
        ),
    ] = None,
    versions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VERSION",
            help="A version to read besides the current one, or all. May be repeated.",
            rich_help_panel=_SITES,
        ),
    ] = None,
    locales: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LANGUAGE",
            help="A language to read besides the default one, or all. May be repeated.",
            rich_help_panel=_SITES,
        ),
    ] = None,
    max_pages: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="The maximum number of pages to fetch. Default: 20,000.",
            rich_help_panel=_SITES,
        ),
    ] = None,
    max_time: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=1,
            max=MAX_SECONDS,
            help="The maximum duration of a crawl. Default: 3,600.",
            rich_help_panel=_SITES,
        ),
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            max=MAX_SECONDS,
            help="The delay between two requests; robots.txt may require a longer one.",
            rich_help_panel=_SITES,
        ),
    ] = None,
    *,
    follow_links: Annotated[
        bool,
        typer.Option("--follow-links", help="Read symlinks that lead outside the folder of Markdown."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done, and change nothing.")
    ] = False,
    allow_shrink: Annotated[
        bool,
        typer.Option(
            "--allow-shrink",
            help="Allow a run that removes more than a quarter of the pages, or most text of more than half.",
        ),
    ] = False,
) -> None:
    """Sync a source into the index: embed new and changed pages, delete removed ones.

    An interrupted run is resumed by the next one. If a page can't be read, it is
    reported, its indexed version is kept, and the exit code is 1.

    For example:
      pertinent index docs/ --base-url https://example.org/docs
      pertinent index https://example.org/docs --exclude '/docs/changelog*'
      pertinent index docs/ --dry-run
      pertinent index beir:data/scifact --name scifact
    """
    options = {
        "base_url": base_url,
        "name": name,
        "follow_links": follow_links,
        "page_filter": _make_page_filter(include or (), exclude or (), versions or (), locales or ()),
        "limits": _make_crawl_limits(pages=max_pages, crawl_seconds=max_time, delay=delay),
    }
    with open_pertinent(context) as pertinent:
        try:
            run = _print_plan if dry_run else _index
            unreadable = run(pertinent, source, options, allow_shrink=allow_shrink)
        except KeyboardInterrupt:
            print_notice("stopped; what was embedded is saved, and the same command resumes the rest")
            raise typer.Exit(INTERRUPTED) from None
    if unreadable:
        _print_unreadable(unreadable)
        raise typer.Exit(INCOMPLETE)


def _make_page_filter(*patterns: Sequence[str]) -> PageFilter | None:
    """Create the filter of a crawl; None without patterns, since other sources take no filter."""
    if not any(patterns):
        return None
    from ...sources.site import PageFilter  # late, since the crawler's modules take a while to import

    return PageFilter(*map(tuple, patterns))


def _make_crawl_limits(**limits: float | None) -> CrawlLimits | None:
    """Create the limits of a crawl from those that are set; None if none is."""
    overrides: dict[str, Any] = {name: limit for name, limit in limits.items() if limit is not None}
    if not overrides:
        return None
    from ...sources.site import CrawlLimits

    return CrawlLimits(**overrides)


def _index(
    pertinent: Pertinent, source: str, options: Mapping[str, Any], *, allow_shrink: bool
) -> Sequence[Unreadable]:
    from .progress import show_progress
    from .sync_output import print_summary

    with show_progress() as progress:
        summary = pertinent.index(source, **options, allow_shrink=allow_shrink, progress=progress)
    write(render(lambda out: print_summary(out, summary)))
    return summary.unreadable


def _print_plan(
    pertinent: Pertinent, source: str, options: Mapping[str, Any], *, allow_shrink: bool
) -> Sequence[Unreadable]:
    from ...indexing.plan import check_removals
    from .progress import show_progress
    from .sync_output import print_plan

    with show_progress() as progress:
        plan = pertinent.plan(source, **options, progress=progress)
    write(render(lambda out: print_plan(out, plan)))
    check_removals(plan, allow_shrink=allow_shrink)
    return plan.unreadable


def _print_unreadable(unreadable: Sequence[Unreadable]) -> None:
    """Print the pages that could not be read, then the failures that hide which pages there are."""
    pages = [page for page in unreadable if page.path_identifies_page]
    unidentified = [page for page in unreadable if not page.path_identifies_page]
    count = format_count(len(pages), "page")
    for heading, failures in (
        (f"{count} could not be indexed; an indexed version, if there is one, is kept:", pages),
        ("The list of pages is incomplete, so missing pages are not removed:", unidentified),
    ):
        if failures:
            print_notice(heading, *(f"{failure.source_path}: {failure.reason}" for failure in failures))
