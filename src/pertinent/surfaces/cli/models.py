"""`pertinent models`: list the embedding models, and measure those that are installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import PertinentError
from .error_reporting import print_notice
from .global_options import JsonFlag, get_global_options
from .terminal import make_table, one_line, print_json, render, symbol, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ...build import KnownModel, ModelState
    from ...ports import Embedder
    from ...settings import Settings

PASSAGES = 32
QUERIES = 16
QUERY = "How does a revolute joint differ from a prismatic one?"
PASSAGE = (
    "A revolute joint turns about one axis, between a lower and an upper limit. A prismatic joint slides "
    "along its axis instead, and its limits are lengths. Both have an effort and a velocity that they must "
    "not exceed, and both may have friction and damping. The controller reads the position of every joint "
    "from its encoder, compares it with the trajectory, and sends a torque to the motor. "
)
"""Half of a passage of 170 tokens."""

GROUPS: Mapping[ModelState, str] = {
    "installed": "Installed",
    "install": "To install",
    "hosted": "Hosted",
    "download": "Downloaded on first use",
}
"""The title of each group of models, in the order in which they are printed."""


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model with what is known about it on this machine."""

    model: KnownModel
    in_use: bool
    passages_per_second: float | None = None
    milliseconds_per_query: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all fields, as JSON-ready data."""
        return asdict(self.model) | {
            "in_use": self.in_use,
            "passages_per_second": self.passages_per_second,
            "milliseconds_per_query": self.milliseconds_per_query,
        }


def models(
    context: typer.Context,
    *,
    measure: Annotated[
        bool, typer.Option("--measure", help="Measure how fast the installed models are on this machine.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """List the embedding models: installed, to install, and hosted.

    Choose one with the setting `embedder`. Then rebuild an existing index with
    `pertinent reindex`.

    For example:
      pertinent models --measure
      pertinent reindex --embedder local:bge-small-en-v1.5 --validate golden.yaml
    """
    settings = get_global_options(context).load_settings().settings
    listed = list_models(settings)
    if measure:
        listed = [measure_model(entry, settings) for entry in listed]
    if as_json:
        print_json([entry.as_dict() for entry in listed])
    else:
        write(render(lambda out: _print_models(out, listed)))


def list_models(settings: Settings) -> list[ListedModel]:
    """Return the known models, and the model in use even if it has no known name."""
    from ... import build

    by_name = {model.name: model for model in build.list_known_models()}
    in_use = by_name.get(settings.embedder) or build.describe_unknown_model(settings.embedder)
    if in_use.state == "download" and settings.fastembed_folder:
        in_use = replace(in_use, state="installed")
    by_name[in_use.name] = in_use
    return [ListedModel(model, model is in_use) for model in by_name.values()]


def measure_model(entry: ListedModel, settings: Settings) -> ListedModel:
    """Measure a model that is installed; any other one is returned as it is."""
    from ... import build

    if entry.model.state != "installed":
        return entry
    try:
        embedder = build.create_embedder(
            settings.model_copy(update={"embedder": entry.model.name, "query_cache": 0})
        )
        rates = _measure_rates(embedder)
    except PertinentError as error:
        print_notice(f"{entry.model.name}: {error}")
        return entry
    sizes = replace(entry.model, dimension=embedder.dimension, max_tokens=embedder.max_tokens)
    return replace(entry, model=sizes, passages_per_second=rates[0], milliseconds_per_query=rates[1])


def _measure_rates(embedder: Embedder) -> tuple[float, float]:
    """Return passages a second, and milliseconds a query."""
    passages = [f"{number}. {PASSAGE * 2}" for number in range(PASSAGES)]
    list(embedder.embed_documents(passages[:2]))  # warm up
    start = perf_counter()
    list(embedder.embed_documents(passages))
    passages_per_second = PASSAGES / (perf_counter() - start)
    start = perf_counter()
    for number in range(QUERIES):
        embedder.embed_queries([f"{QUERY} {number}"])
    milliseconds = 1000 * (perf_counter() - start) / QUERIES
    return round(passages_per_second, 1), round(milliseconds, 1)


def _print_models(out: Console, listed: Sequence[ListedModel]) -> None:
    for state, title in GROUPS.items():
        _print_group(out, title, [entry for entry in listed if entry.model.state == state])
    out.print("onnx:FOLDER loads any other sentence model that was exported to ONNX.")


def _print_group(out: Console, title: str, entries: Sequence[ListedModel]) -> None:
    """Print a table with the columns that have a value in any row; nothing without rows."""
    columns = {heading: [format_cell(entry) for entry in entries] for heading, format_cell in COLUMNS.items()}
    filled = {heading: cells for heading, cells in columns.items() if any(cells)}
    if not filled:
        return
    table = make_table(*filled, title=title)
    for cells in zip(*filled.values(), strict=True):
        table.add_row(*cells)
    out.print(table)
    out.print()


def _format_name(entry: ListedModel) -> str:
    mark = symbol("●", "*") if entry.in_use else " "
    return f"{mark} {one_line(entry.model.name)}"


def _format_number(number: float | None, unit: str = "") -> str:
    return "" if number is None else f"{number:,}{unit}"


COLUMNS: Mapping[str, Callable[[ListedModel], str]] = {
    "  model": _format_name,
    ">dimension": lambda entry: _format_number(entry.model.dimension),
    ">tokens": lambda entry: _format_number(entry.model.max_tokens),
    ">size": lambda entry: _format_number(entry.model.megabytes, " MB"),
    "licence": lambda entry: entry.model.license or "",
    ">passages/s": lambda entry: _format_number(entry.passages_per_second),
    ">ms/query": lambda entry: _format_number(entry.milliseconds_per_query),
    "needs": lambda entry: entry.model.needs,
}
