"""`pertinent reindex`: rebuild the index from the texts in the catalog."""

from __future__ import annotations

from typing import Annotated

import typer

from ..._internal.messages import format_count
from ..._internal.progress import WaitNotices
from ...errors import InvalidInput
from .error_reporting import print_notice
from .global_options import open_pertinent
from .terminal import write


def reindex(
    context: typer.Context,
    validate: Annotated[
        str | None,
        typer.Option(
            "--validate",
            metavar="GOLDEN",
            help="Use the new index only if it passes this golden set and is not worse than the one in use.",
        ),
    ] = None,
    *,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Return to the index from before the last reindex.")
    ] = False,
    drop_previous: Annotated[
        bool, typer.Option("--drop-previous", help="Delete the previous index.")
    ] = False,
) -> None:
    """Rebuild the index from the texts in the catalog, with the current settings.

    Use it to change the model or the chunk size, or to replace a lost or damaged
    index. The sources are not needed. The index in use answers searches until the
    new one is complete, and is then kept for --rollback.

    For example:
      pertinent reindex --embedder onnx:models/my-model
      pertinent reindex --embedder onnx:models/my-model --validate golden.yaml
      pertinent reindex --rollback
      pertinent reindex --drop-previous
    """
    from ...workspace.matching_settings import settings_matching_index
    from .progress import show_progress

    if sum((bool(validate), rollback, drop_previous)) > 1:
        raise InvalidInput("reindex", "give only one of --validate, --rollback and --drop-previous")
    with open_pertinent(context) as pertinent:
        if rollback:
            pertinent.rollback(WaitNotices(print_notice))
            lines = [f"  {line}\n" for line in settings_matching_index(pertinent.workspace)]
            hint = ["To search it, set:\n", *lines] if lines else []
            if waiting := len(pertinent.workspace.writable_catalog().pending()):
                pages = format_count(waiting, "page of it may be", "pages of it may be")
                hint.append(f"{pages} out of date. Now run `pertinent index` for each source.\n")
            write("".join(["The previous index is in use again.\n", *hint]))
        elif drop_previous:
            dropped = pertinent.drop_previous(WaitNotices(print_notice))
            write("The previous index was deleted.\n" if dropped else "There is no previous index.\n")
        else:
            with show_progress() as progress:
                chunks = pertinent.reindex(progress, golden=validate, notify=print_notice)
            write(f"The index was rebuilt: {chunks} chunks. The previous one is kept for --rollback.\n")
