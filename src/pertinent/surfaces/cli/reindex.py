"""`pertinent reindex`: make the index anew from the texts it holds."""

from __future__ import annotations

from typing import Annotated

import typer

from ...errors import InvalidInput
from .failures import say
from .opening import opened
from .terminal import write


def reindex(
    context: typer.Context,
    validate: Annotated[
        str | None,
        typer.Option(
            "--validate",
            metavar="GOLDEN",
            help="Take the new index only if it passes this golden set and is not worse than the old one.",
        ),
    ] = None,
    *,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Go back to the index before the last reindex.")
    ] = False,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Remove the index that is kept to go back to.")
    ] = False,
) -> None:
    """Make the index anew from the texts in the catalog, with the present settings.

    For another model or chunk size, or when the index is lost or damaged. The
    sources are not needed. The new index is built beside the old one, which
    stays in use until the new one is complete, and is then kept to go back to.

    For example:
      pertinent reindex --embedder onnx:models/my-model
      pertinent reindex --embedder onnx:models/my-model --validate golden.yaml
      pertinent reindex --rollback
      pertinent reindex --drop-old
    """
    from .progress import progress

    if sum((bool(validate), rollback, drop_old)) > 1:
        raise InvalidInput("reindex", "--validate, --rollback and --drop-old are three different things")
    with opened(context) as pertinent:
        if rollback:
            pertinent.rollback()
            lines = [f"  {line}\n" for line in pertinent.workspace.settings_matching_index()]
            write("The index before is in use again.\n" + "".join(["It needs:\n", *lines] if lines else []))
        elif drop_old:
            dropped = pertinent.drop_old()
            write("The old index was removed.\n" if dropped else "There was no old index.\n")
        else:
            with progress() as told:
                chunks = pertinent.reindex(told, golden=validate, told=say)
            write(f"The index was made anew: {chunks} chunks. The old one is kept: --rollback, --drop-old.\n")
