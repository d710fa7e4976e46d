"""`pertinent inspect`: what a collection of another pipeline holds, and the settings that it needs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..._internal.messages import format_count
from ...errors import InvalidInput
from ...identity import shorten
from .failures import BAD_INPUT, say
from .opening import choices, retries_on_stderr
from .terminal import clean, layout, one_line, print_json
from .terminal import write as show

if TYPE_CHECKING:
    from rich.console import Console

    from ...stores.external.collection import Examined

EXAMPLE = 60
"""How much of an example is shown."""

KEYS = 30

DAMAGED = 10
"""How many damaged points are named."""

MEANING = {
    "text": "those points have nothing to show, and are left out",
    "url": "their address is made from source_path, and those without either are left out; no filter by "
    "url finds them",
    "title": "those results have no title, and count as incomplete",
    "section": "no filter by section finds them",
    "position": "they count as incomplete, and their pages are put together by `start`, or as they come",
    "chunk_id": "the id of the point is used",
    "document_id": "a page is known by its url or path",
    "source_path": "a golden set names their pages by url",
    "source_type": "no filter by source_type finds them",
    "created_at": "they count as incomplete",
    "content_hash": "hash validation will count them as failed, and they count as incomplete",
}
"""What it means where a thing is missing; of no other is it worth telling."""

EMBEDDERS = {384: "local:all-MiniLM-L6-v2", 1024: "cohere:embed-english-v3.0"}
"""The likeliest model for a dimension, as a start: what made the vectors, nobody can read off them."""


def inspect(
    context: typer.Context,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The Qdrant server; QDRANT_URL unless given."),
    ] = None,
    collection: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The collection; qdrant_collection of the settings unless given."),
    ] = None,
    write: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Make a settings file of it, such as pertinent.toml."),
    ] = None,
    *,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="With --write: replace a file that is there.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Look at a Qdrant collection that another pipeline filled; nothing is changed.

    Shows its vectors, which field of its points is which, with how many of them
    have it and an example, and what is missing. Exits with 2 where it can't be
    searched as it is, and says what to name.

    For example:
      pertinent inspect --url http://localhost:6333 --collection my_docs
      pertinent inspect --collection my_docs --write pertinent.toml
    """
    from ... import build
    from ...settings import load

    chosen = choices(context)
    given = {"folder": chosen.folder, "embedder": chosen.embedder}
    settings = load({**given, "qdrant_url": url, "qdrant_collection": collection}).settings
    if settings.qdrant_url is None:
        raise InvalidInput("url", "name the Qdrant server with --url, or set QDRANT_URL")
    target = _target(write, overwrite=overwrite) if write else None
    retries_on_stderr()
    found = build.foreign(settings).examine()
    if as_json:
        print_json(as_data(found))
    else:
        show(layout(lambda out: _show(out, found, hint=target is None)))
    if found.problems:
        for problem in found.problems:
            say(problem)
        raise typer.Exit(BAD_INPUT)
    if target and found.collection.made_with is not None:
        raise InvalidInput("write", "Pertinent made this collection: its address and its name are enough")
    if target:
        target.write_text(settings_file(found, settings.qdrant_url), encoding="utf-8")
        say(f"{target} is written; set `embedder` in it to the model that made the vectors")


def _target(name: str, *, overwrite: bool) -> Path:
    path = Path(name)
    if path.exists() and not overwrite:
        raise InvalidInput("write", f"{path} is there already; --overwrite replaces it")
    if not path.parent.is_dir():
        raise InvalidInput("write", f"there is no folder {path.parent}")
    return path


def _show(out: Console, found: Examined, *, hint: bool) -> None:
    from rich.text import Text

    collection = found.collection
    out.print(
        Text.assemble((one_line(collection.name), "bold"), f" at {one_line(found.server)}"), soft_wrap=True
    )
    counts = [
        format_count(collection.points, "point"),
        format_count(collection.shards, "shard"),
        format_count(collection.replicas, "replica"),
    ]
    out.print(", ".join(counts))
    out.print()
    _show_vectors(out, found)
    out.print()
    if collection.made_with is not None:
        out.print(f"Pertinent made it, with {one_line(collection.made_with.embedder)}: it needs no names.")
    if found.recognition is None:
        _show_keys(out, found)
        return
    _show_fields(out, found)
    _show_missing(out, found)
    _show_damaged(out, found)
    if hint and not found.problems and collection.made_with is None:
        out.print()
        out.print("`pertinent inspect --write pertinent.toml` makes a settings file of this.")


def _show_vectors(out: Console, found: Examined) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for heading in ("vector", "dimension", "distance", ""):
        table.add_column(heading, no_wrap=bool(heading), overflow="fold")
    for one in found.collection.dense:
        name = one_line(one.name) or "without a name"
        used = "searched" if one == found.searched else one.refusal or "not searched"
        table.add_row(Text(name), f"{one.dimension:,}", one.distance, Text(used))
    for sparse in found.collection.sparse:
        table.add_row(Text(one_line(sparse)), "sparse", "", Text("not used: its weights are not our BM25"))
    out.print(table)


def _show_fields(out: Console, found: Examined) -> None:
    from rich.table import Table
    from rich.text import Text

    assert found.recognition is not None  # noqa: S101 - the caller has looked
    shape = found.recognition.shape
    known = (
        "Fields as the settings name them" if shape.name == "named" else f"Fields recognised as {shape.name}"
    )
    out.print(f"{known}, in {format_count(found.points, 'point')} looked at:")
    out.print()
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    table.add_column("we call it", no_wrap=True)
    table.add_column("it stands at", overflow="fold")
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("for example", overflow="fold")
    for one in found.recognition.seen:
        if one.path is not None:
            note = " (from 1)" if one.name == "position" and shape.position_base else ""
            table.add_row(
                one.name,
                Text(one_line(one.path) + note),
                f"{one.count:,}",
                Text(shorten(one_line(one.example), EXAMPLE), style="dim"),
            )
    out.print(table)


def _show_missing(out: Console, found: Examined) -> None:
    from rich.padding import Padding
    from rich.text import Text

    told = missing(found)
    if not told:
        return
    out.print()
    out.print(Text("Missing", style="bold"))
    for name, meaning in told.items():
        out.print(Padding(Text(f"{name}: {meaning}"), (0, 0, 0, 2)))


def _show_damaged(out: Console, found: Examined) -> None:
    from rich.padding import Padding
    from rich.text import Text

    if not found.damaged:
        return
    out.print()
    out.print(
        Text(f"Damaged, and left out of searches: {format_count(len(found.damaged), 'point')}", style="bold")
    )
    for point in found.damaged[:DAMAGED]:
        out.print(Padding(Text(one_line(str(point))), (0, 0, 0, 2)))
    if len(found.damaged) > DAMAGED:
        out.print(Padding(Text("`pertinent doctor` names the others"), (0, 0, 0, 2)))


def _show_keys(out: Console, found: Examined) -> None:
    from rich.table import Table
    from rich.text import Text

    out.print(
        f"Which field is which is not clear. There are, in {format_count(found.points, 'point')} looked at:"
    )
    out.print()
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    table.add_column("field", overflow="fold")
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("for example", overflow="fold")
    for one in found.keys[:KEYS]:
        example = Text(shorten(one_line(one.example), EXAMPLE), style="dim")
        table.add_row(Text(one_line(one.name)), f"{one.count:,}", example)
    out.print(table)


def missing(found: Examined) -> dict[str, str]:
    """What some points lack, and what that means."""
    told = {}
    if found.recognition is not None:
        for one in found.recognition.missing:
            if one.name in MEANING:
                told[one.name] = f"{_lack(one.count, found.points)}; {MEANING[one.name]}"
        hashed = sum(one.count for one in found.recognition.seen if one.name == "content_hash")
        if hashed and found.hashes < hashed:
            wrong = (
                f"{hashed - found.hashes:,} of {found.points:,} points looked at have another than SHA-256 of"
            )
            told["content_hash"] = f"{wrong} the text, or none; {MEANING['content_hash']}"
    return told


def _lack(have: int, points: int) -> str:
    if not have:
        return f"missing in all {format_count(points, 'point')} looked at"
    return f"missing in {points - have:,} of {format_count(points, 'point')} looked at"


def as_data(found: Examined) -> dict[str, Any]:
    """All that was found, as plain data."""
    collection = found.collection
    shape = found.recognition.shape if found.recognition else None
    return {
        "server": found.server,
        "collection": collection.name,
        "points": collection.points,
        "shards": collection.shards,
        "replicas": collection.replicas,
        "vectors": [asdict(one) | {"searched": one == found.searched} for one in collection.dense],
        "sparse_vectors": list(collection.sparse),
        "made_with": asdict(collection.made_with) if collection.made_with else None,
        "looked_at": found.points,
        "shape": shape.name if shape else None,
        "position_base": shape.position_base if shape else None,
        "fields": [asdict(one) for one in found.recognition.seen] if found.recognition else [],
        "missing": missing(found),
        "damaged": [str(point) for point in found.damaged],
        "keys": [{"path": one.name, "count": one.count, "example": one.example} for one in found.keys],
        "problems": list(found.problems),
    }


def settings_file(found: Examined, url: str) -> str:
    """A pertinent.toml that opens the collection as it was recognised, whatever is written to it later."""
    assert found.recognition is not None  # noqa: S101 - without problems, it is there
    assert found.searched is not None  # noqa: S101 - the same
    shape = found.recognition.shape
    model = EMBEDDERS.get(found.searched.dimension, "provider:model")
    fields = {
        "order_index" if name == "position" and shape.position_base else name: path
        for name, path in shape.fields.items()
    }
    if len(found.collection.dense) > 1:
        fields = {"vector": found.searched.name, **fields}
    lines = [
        f"# Made by `pertinent inspect`: {one_line(found.collection.name)}, recognised as {shape.name}.",
        "# Pertinent reads this collection, and never writes to it. A key stays in QDRANT_API_KEY.",
        f"qdrant_url = {_quoted(without_password(url))}",
        f"qdrant_collection = {_quoted(found.collection.name)}",
        "# It has no lexical vector of ours, so hits are ranked by meaning alone.",
        'ranking = "dense"',
        f"# Must be the model that made the vectors, which have {found.searched.dimension:,} dimensions:",
        f"# embedder = {_quoted(model)}",
        "",
        "[qdrant_fields]",
        *(f"{name} = {_quoted(path)}" for name, path in fields.items()),
    ]
    return "\n".join(lines) + "\n"


def without_password(urls: str) -> str:
    """The addresses without what stands before an `@` in them."""
    places = []
    for url in urls.split(","):
        scheme, mark, rest = url.strip().partition("://")
        places.append(f"{scheme}{mark}{rest.rpartition('@')[2]}")
    return ",".join(places)


def _quoted(text: str) -> str:
    """A TOML string: that of JSON, which leaves one control character as it is."""
    import json

    return json.dumps(clean(text), ensure_ascii=False).replace("\x7f", "\\u007f")
