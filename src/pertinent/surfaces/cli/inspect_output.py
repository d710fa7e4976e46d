"""The text output of `pertinent inspect`: vectors, fields, and what is missing or damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._internal.messages import format_count
from ...identity import shorten
from .terminal import make_table, one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ...stores.external.collection import Examination
    from ...stores.external.payload_formats import Recognition

MAX_EXAMPLE_LENGTH = 60
MAX_KEYS = 30
MAX_DAMAGED = 10
"""How many damaged points are printed; `pertinent doctor` prints all."""

CONSEQUENCES = {
    "text": "those points are excluded from searches",
    "url": "their address is made from source_path; points without either are excluded. No filter by url "
    "matches them",
    "title": "those results have no title, and count as incomplete",
    "section": "no filter by section matches them",
    "position": "they count as incomplete, and their pages are ordered by `start`, else by point id",
    "chunk_id": "the id of the point is used",
    "document_id": "a page is identified by its url or path",
    "source_path": "a golden set must name their pages by url",
    "source_type": "no filter by source_type matches them",
    "created_at": "they count as incomplete",
    "content_hash": "hash validation counts them as failed, and they count as incomplete",
}
"""What happens if points lack a field; other fields are not worth mentioning."""


def print_collection(out: Console, examined: Examination, *, hint: bool) -> None:
    """Print everything that is known about the collection.

    Args:
        out: The console to print to.
        examined: The collection.
        hint: Suggest `--write` if the collection can be searched.
    """
    from rich.text import Text

    collection = examined.collection
    heading = Text.assemble((one_line(collection.name), "bold"), f" at {one_line(examined.server)}")
    out.print(heading, soft_wrap=True)
    points = _count_points(collection.points)
    shards = format_count(collection.shards, "shard")
    out.print(f"{points}, {shards}, {format_count(collection.replicas, 'replica')}")
    out.print()
    _print_vectors(out, examined)
    out.print()
    if collection.made_with is not None:
        out.print(
            f"Pertinent created it, with {one_line(collection.made_with.embedder)}: it needs no field names."
        )
    if examined.recognition is None:
        _print_keys(out, examined)
        return
    _print_fields(out, examined.recognition, examined.points)
    _print_missing_fields(out, examined)
    _print_damaged_points(out, examined)
    if hint and not examined.problems and collection.made_with is None:
        out.print()
        out.print("`pertinent inspect --write pertinent.toml` writes a settings file for this collection.")


def _print_vectors(out: Console, examined: Examination) -> None:
    from rich.text import Text

    table = make_table("vector", "dimension", "distance", "", gap=3)
    for column in table.columns[:-1]:
        column.no_wrap = True
    for vector in examined.collection.dense:
        name = one_line(vector.name) or "unnamed"
        use = "searched" if vector == examined.searched else vector.refusal or "not searched"
        table.add_row(Text(name), f"{vector.dimension:,}", vector.distance, Text(use))
    for sparse in examined.collection.sparse:
        table.add_row(Text(one_line(sparse)), "sparse", "", Text("not used: its weights are not our BM25"))
    out.print(table)


def _print_fields(out: Console, recognition: Recognition, points: int) -> None:
    from rich.text import Text

    payload_format = recognition.payload_format
    origin = (
        "as the settings name them"
        if payload_format.name == "named"
        else f"recognised as {payload_format.name}"
    )
    out.print(f"Fields {origin}, in {_count_points(points)} examined:")
    out.print()
    table = make_table("field", "path", ">points", "example", gap=3)
    table.columns[0].no_wrap = True
    for field in recognition.fields:
        if field.path is not None:
            note = " (from 1)" if field.name == "position" and payload_format.position_base else ""
            path = Text(one_line(field.path) + note)
            table.add_row(field.name, path, f"{field.count:,}", _format_example(field.example))
    out.print(table)


def _print_missing_fields(out: Console, examined: Examination) -> None:
    from rich.padding import Padding
    from rich.text import Text

    missing = describe_missing_fields(examined)
    if not missing:
        return
    out.print()
    out.print(Text("Missing", style="bold"))
    for name, description in missing.items():
        out.print(Padding(Text(f"{name}: {description}"), (0, 0, 0, 2)))


def _print_damaged_points(out: Console, examined: Examination) -> None:
    from rich.padding import Padding
    from rich.text import Text

    if not examined.damaged:
        return
    out.print()
    heading = f"Damaged, and excluded from searches: {_count_points(len(examined.damaged))}"
    out.print(Text(heading, style="bold"))
    for point in examined.damaged[:MAX_DAMAGED]:
        out.print(Padding(Text(one_line(str(point))), (0, 0, 0, 2)))
    if len(examined.damaged) > MAX_DAMAGED:
        out.print(Padding(Text("`pertinent doctor` lists all of them"), (0, 0, 0, 2)))


def _print_keys(out: Console, examined: Examination) -> None:
    from rich.text import Text

    out.print(f"The fields were not recognised. {_count_points(examined.points)} examined have:")
    out.print()
    table = make_table("field", ">points", "example", gap=3)
    for key in examined.keys[:MAX_KEYS]:
        table.add_row(Text(one_line(key.name)), f"{key.count:,}", _format_example(key.example))
    out.print(table)


def _format_example(example: str) -> Text:
    from rich.text import Text

    return Text(shorten(one_line(example), MAX_EXAMPLE_LENGTH), style="dim")


def describe_missing_fields(examined: Examination) -> dict[str, str]:
    """Return each field that points lack, with how many lack it and the consequences."""
    missing: dict[str, str] = {}
    if examined.recognition is None:
        return missing
    for field in examined.recognition.missing:
        if field.name in CONSEQUENCES:
            count = _format_missing(field.count, examined.points)
            missing[field.name] = f"{count}; {CONSEQUENCES[field.name]}"
    hashed = sum(field.count for field in examined.recognition.fields if field.name == "content_hash")
    if hashed and examined.hashes < hashed:
        missing["content_hash"] = (
            f"{hashed - examined.hashes:,} of {_count_points(examined.points)} examined lack the SHA-256 of "
            f"their text; {CONSEQUENCES['content_hash']}"
        )
    return missing


def _format_missing(present: int, points: int) -> str:
    if not present:
        return f"missing in all {_count_points(points)} examined"
    return f"missing in {points - present:,} of {_count_points(points)} examined"


def _count_points(number: int) -> str:
    return format_count(number, "point")
