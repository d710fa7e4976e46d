"""The options that commands share, and how a command opens Pertinent with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ...types import Ranking
from .error_reporting import print_notice

if TYPE_CHECKING:
    from stamina.instrumentation import RetryDetails

    from ...settings import LoadedSettings
    from ..library import Pertinent

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
GoldenArgument = Annotated[
    str,
    typer.Argument(
        metavar="GOLDEN",
        help="A golden set: a YAML, JSON, CSV or TREC qrels file.",
        show_default=False,
    ),
]
RankingOption = Annotated[
    Ranking | None,
    typer.Option(
        metavar="NAME",
        help="hybrid (meaning and words), dense (meaning) or lexical (words). Default: hybrid, or the "
        "setting `ranking`.",
    ),
]


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """The values of `--folder`, `--embedder` and `--debug`.

    None leaves a setting to the environment and pertinent.toml.
    """

    folder: str | None = None
    embedder: str | None = None
    debug: bool = False

    def load_settings(self, **flags: object) -> LoadedSettings:
        """Load the settings; these options and the given flags take precedence."""
        from ...settings import load

        return load({"folder": self.folder, "embedder": self.embedder, **flags})


def get_global_options(context: typer.Context) -> GlobalOptions:
    """Return the global options of this run."""
    return context.obj if isinstance(context.obj, GlobalOptions) else GlobalOptions()


@contextmanager
def open_pertinent(context: typer.Context, **flags: object) -> Iterator[Pertinent]:
    """Open Pertinent with the settings of this run, and close it at the end."""
    from ..library import Pertinent

    options = get_global_options(context)
    with Pertinent.open(options.folder, embedder=options.embedder, **flags) as pertinent:
        if pertinent.workspace.settings.asks_servers:
            print_retries()
        yield pertinent


def print_retries() -> None:
    """Print a line on stderr for every retry of a request to a server, from now on."""
    from stamina.instrumentation import set_on_retry_hooks

    set_on_retry_hooks([_print_retry])


def _print_retry(details: RetryDetails) -> None:
    print_notice(f"{details.caused_by}; retrying in {details.wait_for:.1f} s")
