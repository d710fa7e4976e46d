"""`pertinent export`: write the indexed book to files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..._internal.messages import format_count
from ...errors import InvalidInput
from .global_options import get_global_options, open_reader
from .output_paths import check_folder_is_writable
from .terminal import write

FORMATS = ("llms.txt",)


def export(
    context: typer.Context,
    output_format: Annotated[str, typer.Argument(metavar="FORMAT", help="llms.txt.", show_default=False)],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to write to.", show_default=False)
    ],
) -> None:
    """Write the indexed book for language models: llms.txt, llms-full.txt and each page as Markdown.

    Put the files at the root of your site. Files of removed pages stay in DIR.

    For example: pertinent export llms.txt build/
    """
    from ..book_title import choose_title
    from ..llms_txt import export_book

    if output_format not in FORMATS:
        raise InvalidInput("FORMAT", f"must be {', '.join(FORMATS)}, not {output_format!r}")
    check_folder_is_writable("DIR", folder)
    settings = get_global_options(context).load_settings().settings
    with open_reader(settings) as reader:
        count = export_book(reader, choose_title(settings, list(reader.sources())), folder)
    write(f"{format_count(count, 'page')} written to {folder}\n")
