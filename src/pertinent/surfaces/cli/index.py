"""`pertinent index`: sync a source into the index, or tell what a sync would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from ..._internal.messages import format_count
from .failures import INCOMPLETE, INTERRUPTED, say
from .opening import opened
from .terminal import console, layout, one_line, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...sources.site import CrawlLimits, PageFilter
    from ...types import Unreadable
    from ..library import Pertinent


SITES: Final = "Live sites"
A_YEAR: Final = 365 * 24 * 3600
"""What `sources.site.limits` allows, which is not loaded to show the help."""


def index(  # noqa: PLR0913, PLR0917 - a command's options are its arguments
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A folder of Markdown or of a Docusaurus site, the address of a live site or of its "
            "sitemap, or beir:FOLDER for a BEIR corpus.",
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
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Only pages with such a path, as /docs/*.",
            rich_help_panel=SITES,
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="No pages with such a path, as /blog/*.",
            rich_help_panel=SITES,
        ),
    ] = None,
    versions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VERSION",
            help="A version to read besides the current one, or all.",
            rich_help_panel=SITES,
        ),
    ] = None,
    locales: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LANGUAGE",
            help="A language to read besides the site's own, or all.",
            rich_help_panel=SITES,
        ),
    ] = None,
    max_pages: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="How many pages a crawl fetches at most: 20,000 unless set.",
            rich_help_panel=SITES,
        ),
    ] = None,
    max_time: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=1,
            max=A_YEAR,
            help="How long a crawl lasts at most: 3,600 unless set.",
            rich_help_panel=SITES,
        ),
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            max=A_YEAR,
            help="How long to wait between two requests; robots.txt may ask for more.",
            rich_help_panel=SITES,
        ),
    ] = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done, and change nothing.")
    ] = False,
    allow_shrink: Annotated[
        bool,
        typer.Option("--allow-shrink", help="Go on also if more than a quarter of the known pages would go."),
    ] = False,
) -> None:
    """Read a source into the index: what changed is embedded, what is gone goes.

    Stopped anywhere, the next run goes on from there. A page that can't be
    read is named, what was indexed of it stays, and the exit code is 1.
    --include, --exclude, --versions and --locales may be given several times.

    For example:
      pertinent index docs/ --base-url https://example.org/docs
      pertinent index https://example.org/docs --exclude '/docs/changelog*'
      pertinent index docs/ --dry-run
      pertinent index beir:data/scifact --name scifact
    """
    site = Crawling(include or (), exclude or (), versions or (), locales or (), max_pages, max_time, delay)
    how = {"base_url": base_url, "name": name, "choice": site.choice(), "limits": site.limits()}
    with opened(context) as pertinent:
        try:
            run = _plan if dry_run else _index
            unreadable = run(pertinent, source, how, allow_shrink=allow_shrink)
        except KeyboardInterrupt:
            say("stopped; what was done is kept, and the same command goes on from there")
            raise typer.Exit(INTERRUPTED) from None
    if unreadable:
        _tell_unreadable(unreadable)
        raise typer.Exit(INCOMPLETE)


class Crawling(NamedTuple):
    """What was said about the crawl of a live site."""

    include: Sequence[str]
    exclude: Sequence[str]
    versions: Sequence[str]
    locales: Sequence[str]
    max_pages: int | None
    max_time: float | None
    delay: float | None

    def choice(self) -> PageFilter | None:
        from ...sources.site import PageFilter

        said = self.include, self.exclude, self.versions, self.locales
        return PageFilter(*map(tuple, said)) if any(said) else None

    def limits(self) -> CrawlLimits | None:
        from ...sources.site import CrawlLimits

        said = {"pages": self.max_pages, "crawl_seconds": self.max_time, "delay": self.delay}
        given: dict[str, Any] = {name: value for name, value in said.items() if value is not None}
        return CrawlLimits(**given) if given else None


def _index(
    pertinent: Pertinent, source: str, how: Mapping[str, Any], *, allow_shrink: bool
) -> Sequence[Unreadable]:
    from .progress import progress
    from .report import print_summary

    with progress() as told:
        summary = pertinent.index(source, **how, allow_shrink=allow_shrink, progress=told)
    write(layout(lambda out: print_summary(out, summary)))
    return summary.unreadable


def _plan(
    pertinent: Pertinent, source: str, how: Mapping[str, Any], *, allow_shrink: bool
) -> Sequence[Unreadable]:
    from ...indexing.plan import check_removals
    from .progress import progress
    from .report import print_plan

    with progress() as told:
        plan = pertinent.plan(source, **how, progress=told)
    write(layout(lambda out: print_plan(out, plan)))
    check_removals(plan, allow_shrink=allow_shrink)
    return plan.unreadable


def _tell_unreadable(unreadable: Sequence[Unreadable]) -> None:
    pages = [one for one in unreadable if one.path_identifies_page]
    others = [one for one in unreadable if not one.path_identifies_page]
    number = format_count(len(pages), "page")
    for told, found in (
        (f"{number} could not be read; what was indexed of them before is kept:", pages),
        ("Not all pages are known, so none is removed:", others),
    ):
        if found:
            say(told)
        for one in found:
            console(stderr=True).print(
                f"  {one_line(one.source_path)}: {one_line(one.reason)}", soft_wrap=True
            )
