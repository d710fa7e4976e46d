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

    from ...settings import LoadedSettings, Settings
    from ...workspace.models import Models
    from ..client.folder_client import FolderClient
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
RerankFlag = Annotated[
    bool | None,
    typer.Option(
        "--rerank/--no-rerank",
        help="Rerank the best hits, or not. Default: hits of the ranking hybrid are reranked if `reranker` "
        "is set.",
        show_default=False,
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
    with _open_index(get_global_options(context).load_settings(**flags).settings) as pertinent:
        yield pertinent


@contextmanager
def open_reader(
    settings: Settings, *, announce: bool = True, models: Models | None = None
) -> Iterator[Pertinent | FolderClient]:
    """Open the index to read from it; while a service has it open, ask that service.

    Args:
        settings: The settings that name the index.
        announce: Print that the service is asked.
        models: Models that stay loaded when the index is closed; by default they are loaded for this use.
    """
    from ..running_service import connect, find_service

    service = find_service(settings, print_notice)
    if service is None:
        with _open_index(settings, models) as pertinent:
            yield pertinent
        return
    if announce:
        print_notice(f"asking the service at {service.url}, which has the index open")
    with connect(service, settings) as client:
        yield client


@contextmanager
def _open_index(settings: Settings, models: Models | None = None) -> Iterator[Pertinent]:
    from ...workspace.workspace import Workspace
    from ..library import Pertinent

    with Pertinent(Workspace(settings, models)) as pertinent:
        if settings.asks_servers:
            print_retries()
        yield pertinent


def print_retries() -> None:
    """Print a line on stderr for every retry of a request to a server, from now on."""
    from stamina.instrumentation import set_on_retry_hooks

    set_on_retry_hooks([_print_retry])


def _print_retry(details: RetryDetails) -> None:
    print_notice(f"{details.caused_by}; retrying in {details.wait_for:.1f} s")
