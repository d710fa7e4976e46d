"""`pertinent list`: print the indexed pages."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING

import typer  # noqa: TC002 - Typer evaluates the annotations

from ..._internal.messages import format_count
from .global_options import JsonFlag, get_global_options, open_reader
from .terminal import one_line, print_json, render, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from ...ports import PageRecord

_INDENT = 8


def list_pages(context: typer.Context, *, as_json: JsonFlag = False) -> None:
    """List the indexed pages of each source, with their numbers of chunks.

    For example: pertinent list --json | jq '.pages | length'
    """
    from ..library import Pertinent

    records: Sequence[PageRecord]
    locations: Mapping[str, str]
    with open_reader(get_global_options(context).load_settings().settings) as reader:
        if isinstance(reader, Pertinent):
            records, locations = reader.pages(), reader.sources()
        else:
            records, locations = reader.list_pages()
    if as_json:
        print_json(
            {
                "sources": [{"name": name, "location": location} for name, location in locations.items()],
                "pages": [asdict(record) for record in records],
            }
        )
    else:
        write(render(lambda out: _print_sources(out, records, locations)))


def _print_sources(out: Console, records: Sequence[PageRecord], locations: Mapping[str, str]) -> None:
    from rich.text import Text

    for source, group in groupby(records, key=lambda record: record.source):
        location = one_line(locations.get(source, ""))
        out.print(Text.assemble((one_line(source), "bold"), "  ", (location, "dim")), soft_wrap=True)
        _print_pages(out, list(group))
        out.print()
    chunks = sum(record.chunks for record in records)
    out.print(f"{format_count(len(records), 'page')}, {format_count(chunks, 'chunk')}")


def _print_pages(out: Console, records: Sequence[PageRecord]) -> None:
    """Print one line per page if all lines fit the terminal, else two: an address is never broken."""
    from rich.cells import cell_len, set_cell_size
    from rich.text import Text

    titles = [one_line(record.title) for record in records]
    urls = [one_line(record.url) for record in records]
    title_width = max(map(cell_len, titles))
    fits = max(_INDENT + title_width + 2 + cell_len(url) for url in urls) <= out.width
    for record, title, url in zip(records, titles, urls, strict=True):
        separator = "  " if fits else "\n" + " " * _INDENT
        name = set_cell_size(title, title_width) if fits else title
        chunks = (f"{record.chunks:>{_INDENT - 2}}  ", "dim")
        out.print(Text.assemble(chunks, name, separator, (url, "cyan")), soft_wrap=True)
