"""`pertinent reindex`: make the index anew from the texts it holds."""

from __future__ import annotations

import typer  # noqa: TC002 - Typer reads the annotations at run time

from .opening import opened
from .terminal import write


def reindex(context: typer.Context) -> None:
    """Make the index anew from the texts in the catalog, with the present settings.

    For another model or chunk size, or when the index is lost or damaged. The
    sources are not needed. The new index is built beside the old one, which
    stays in use until the new one is complete.

    For example:
      pertinent reindex --embedder onnx:models/my-model
    """
    from .progress import progress

    with opened(context) as pertinent:
        with progress() as told:
            chunks = pertinent.reindex(told)
        write(f"The index was made anew: {chunks} chunks.\n")
