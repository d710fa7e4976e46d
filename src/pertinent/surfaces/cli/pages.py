"""`pertinent list`: the pages that are indexed."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from ..._internal.messages import format_count
from .opening import opened
from .terminal import layout, one_line, print_json, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from ...ports import PageRecord

_INDENT = 8


def list_pages(
    context: typer.Context,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """List the indexed pages by source, with their numbers of chunks.

    For example: pertinent list --json | jq '.pages | length'
    """
    with opened(context) as pertinent:
        records = pertinent.pages()
        locations = pertinent.workspace.catalog().sources()
    if as_json:
        print_json(
            {
                "sources": [{"name": name, "location": place} for name, place in locations.items()],
                "pages": [asdict(record) for record in records],
            }
        )
    else:
        write(layout(lambda out: _show(out, records, locations)))


def _show(out: Console, records: Sequence[PageRecord], locations: Mapping[str, str]) -> None:
    from rich.text import Text

    for source, group in groupby(records, key=lambda record: record.source):
        place = one_line(locations.get(source, ""))
        out.print(Text.assemble((one_line(source), "bold"), "  ", (place, "dim")), soft_wrap=True)
        _show_pages(out, list(group))
        out.print()
    chunks = sum(record.chunks for record in records)
    out.print(f"{format_count(len(records), 'page')}, {format_count(chunks, 'chunk')}")


def _show_pages(out: Console, records: Sequence[PageRecord]) -> None:
    """One line a page where all fit the terminal, else two: an address is never broken."""
    from rich.cells import cell_len, set_cell_size
    from rich.text import Text

    titles = [one_line(record.title) for record in records]
    urls = [one_line(record.url) for record in records]
    widest = max(map(cell_len, titles))
    wide = max(_INDENT + widest + 2 + cell_len(url) for url in urls) <= out.width
    for record, title, url in zip(records, titles, urls, strict=True):
        between = "  " if wide else "\n" + " " * _INDENT
        name = set_cell_size(title, widest) if wide else title
        chunks = (f"{record.chunks:>{_INDENT - 2}}  ", "dim")
        out.print(Text.assemble(chunks, name, between, (url, "cyan")), soft_wrap=True)
