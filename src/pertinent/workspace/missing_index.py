"""The error messages if there is no index to search, or an empty one."""

from __future__ import annotations

from ..settings import Settings


def explain_missing_index(settings: Settings, *, lost_catalog: bool) -> str:
    """Say why no index can be opened, and what to do.

    Args:
        settings: The settings that name the index.
        lost_catalog: Whether there is an index without its catalog.
    """
    if lost_catalog and settings.qdrant_url is not None:
        return (
            f"{describe_index(settings)} belongs to another catalog, or its catalog is lost: set "
            "DATABASE_URL to its catalog, or restore that from a backup. Otherwise delete the collections of "
            "the index, or set QDRANT_COLLECTION_NAME to another name; then run `pertinent index SOURCE` for "
            "each source"
        )
    if lost_catalog:
        return (
            f"the index in {settings.folder} has lost its catalog: restore the catalog from a backup, or run "
            "`pertinent index SOURCE` for each source. This makes a new catalog and a new index; the next "
            "`pertinent reindex` deletes the old one"
        )
    inner = settings.folder / Settings.model_fields["folder"].default
    if settings.qdrant_url is None and inner.is_dir():
        return f"nothing is indexed in {settings.folder} itself; the data folder seems to be {inner}"
    message = f"nothing is indexed in {settings.folder} yet; run `pertinent index PATH`"
    if settings.qdrant_url is not None:
        message += (
            ". If another pipeline filled the collection, check its name, "
            f"{settings.qdrant_collection!r} (QDRANT_COLLECTION_NAME)"
        )
    return message


def explain_lost_chunks(settings: Settings) -> str:
    """Say that the index has lost the chunks of the catalog, and what to do."""
    return (
        f"{describe_index(settings)} is gone or empty, but the catalog has pages; `pertinent reindex` "
        "rebuilds it from the texts in the catalog"
    )


def describe_index(settings: Settings) -> str:
    """Say where the index of the settings is."""
    if settings.qdrant_url is not None:
        return f"the collection of the index {settings.qdrant_collection!r} at {settings.qdrant_url}"
    return f"the index in {settings.folder}"
