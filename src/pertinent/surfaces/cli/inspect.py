"""`pertinent inspect`: show what another pipeline's collection holds, and write settings for it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import InvalidInput
from .error_reporting import BAD_INPUT, print_notice
from .global_options import JsonFlag, get_global_options, print_retries
from .inspect_output import describe_missing_fields, print_collection
from .terminal import clean, one_line, print_json, render
from .terminal import write as write_stdout

if TYPE_CHECKING:
    from ...stores.external.collection import Examination

LIKELY_EMBEDDERS = {384: "local:all-MiniLM-L6-v2", 1024: "cohere:embed-english-v3.0"}
"""A guess at the model by its dimension: vectors do not say which model made them."""


def inspect(
    context: typer.Context,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The Qdrant server. Default: QDRANT_URL."),
    ] = None,
    collection: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The collection. Default: the setting qdrant_collection."),
    ] = None,
    write: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a settings file for it, such as pertinent.toml."),
    ] = None,
    *,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="With --write: replace an existing file.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show a Qdrant collection that another pipeline filled. Changes nothing.

    Prints its vectors, the recognised fields of its points, each with a count and
    an example, and the missing fields. If the collection can't be searched, the
    exit code is 2, and the message says which settings are needed.

    For example:
      pertinent inspect --url http://localhost:6333 --collection my_docs
      pertinent inspect --collection my_docs --write pertinent.toml
    """
    from ... import build

    options = get_global_options(context)
    settings = options.load_settings(qdrant_url=url, qdrant_collection=collection).settings
    if settings.qdrant_url is None:
        raise InvalidInput("--url", "name the Qdrant server with --url, or set QDRANT_URL")
    path = _check_settings_path(write, overwrite=overwrite) if write else None
    print_retries()
    examined = build.external_collection(settings).examine()
    if as_json:
        print_json(as_dict(examined))
    else:
        write_stdout(render(lambda out: print_collection(out, examined, hint=path is None)))
    if examined.problems:
        for problem in examined.problems:
            print_notice(problem)
        raise typer.Exit(BAD_INPUT)
    if path and examined.collection.made_with is not None:
        raise InvalidInput("--write", "Pertinent created this collection: set only its server and its name")
    if path:
        path.write_text(format_settings_file(examined, settings.qdrant_url), encoding="utf-8")
        print_notice(f"wrote {path}; set `embedder` in it to the model that made the vectors")


def _check_settings_path(name: str, *, overwrite: bool) -> Path:
    path = Path(name)
    if path.exists() and not overwrite:
        raise InvalidInput("--write", f"{path} exists; --overwrite replaces it")
    if not path.parent.is_dir():
        raise InvalidInput("--write", f"there is no folder {path.parent}")
    return path


def as_dict(examined: Examination) -> dict[str, Any]:
    """Return everything that is known about the collection, as JSON-ready data."""
    collection = examined.collection
    shape = examined.recognition.payload_format if examined.recognition else None
    vectors = [asdict(vector) | {"searched": vector == examined.searched} for vector in collection.dense]
    return {
        "server": examined.server,
        "collection": collection.name,
        "points": collection.points,
        "shards": collection.shards,
        "replicas": collection.replicas,
        "vectors": vectors,
        "sparse_vectors": list(collection.sparse),
        "made_with": asdict(collection.made_with) if collection.made_with else None,
        "looked_at": examined.points,
        "shape": shape.name if shape else None,
        "position_base": shape.position_base if shape else None,
        "fields": [asdict(field) for field in examined.recognition.fields] if examined.recognition else [],
        "missing": describe_missing_fields(examined),
        "damaged": [str(point) for point in examined.damaged],
        "keys": [{"path": key.name, "count": key.count, "example": key.example} for key in examined.keys],
        "problems": list(examined.problems),
    }


def format_settings_file(examined: Examination, url: str) -> str:
    """Return a pertinent.toml for the collection.

    It names every recognised field, so that points added later do not change how the collection is read.
    """
    assert examined.recognition is not None  # noqa: S101 - a collection without problems has both
    assert examined.searched is not None  # noqa: S101 - the same
    shape = examined.recognition.payload_format
    model = LIKELY_EMBEDDERS.get(examined.searched.dimension, "provider:model")
    fields = {
        "order_index" if name == "position" and shape.position_base else name: path
        for name, path in shape.fields.items()
    }
    if len(examined.collection.dense) > 1:
        fields = {"vector": examined.searched.name, **fields}
    lines = [
        f"# {one_line(examined.collection.name)}, which `pertinent inspect` recognised as {shape.name}.",
        "# Pertinent reads this collection and never writes to it. Keep its key in QDRANT_API_KEY.",
        f"qdrant_url = {_quote_toml(remove_passwords(url))}",
        f"qdrant_collection = {_quote_toml(examined.collection.name)}",
        "# It has no BM25 vectors of Pertinent, so hits are ranked by meaning alone.",
        'ranking = "dense"',
        f"# Set the model that made the vectors, which have {examined.searched.dimension:,} dimensions:",
        f"# embedder = {_quote_toml(model)}",
        "",
        "[qdrant_fields]",
        *(f"{name} = {_quote_toml(path)}" for name, path in fields.items()),
    ]
    return "\n".join(lines) + "\n"


def remove_passwords(urls: str) -> str:
    """Remove user names and passwords from addresses that are separated by commas.

    Examples:
        >>> remove_passwords("https://me:secret@a:6333, https://b:6333")
        'https://a:6333,https://b:6333'
    """
    addresses = []
    for url in urls.split(","):
        scheme, separator, address = url.strip().partition("://")
        addresses.append(f"{scheme}{separator}{address.rpartition('@')[2]}")
    return ",".join(addresses)


def _quote_toml(text: str) -> str:
    """Quote a TOML string, which is a JSON string except for one control character."""
    return json.dumps(clean(text), ensure_ascii=False).replace("\x7f", "\\u007f")
