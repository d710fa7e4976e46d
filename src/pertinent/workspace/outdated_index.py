"""Recognise an index that lacks commits of its catalog.

A catalog may be shared by two indexes: an embedded one and its copy on a server, or the embedded indexes of
two machines with one database. Each sync writes to only one of them.
"""

from __future__ import annotations

import time

from ..errors import IndexOutdated
from ..ports import Catalog, Fingerprint, VectorIndex
from ..settings import Settings
from .missing_index import describe_index

_ATTEMPTS, _PAUSE_SECONDS = 5, 0.2


def check_commits(index: VectorIndex, fingerprint: Fingerprint, catalog: Catalog, settings: Settings) -> None:
    """Raise IndexOutdated if the build in use lacks commits of the catalog, or has later ones."""
    for _ in range(_ATTEMPTS):
        if has_last_commit(index, catalog):
            return
        # Another process may have committed in between, or a replica of the record may be behind.
        time.sleep(_PAUSE_SECONDS)
    if catalog.fingerprint() == fingerprint:
        raise IndexOutdated(_explain_outdated_index(settings))


def has_last_commit(index: VectorIndex, catalog: Catalog) -> bool:
    """Whether the index has all commits of the catalog, and no later ones."""
    # The catalog is read first: the index has recorded a commit before the catalog makes it.
    last, announced = catalog.commits()
    recorded = index.commits()
    if not recorded:
        # An earlier version made both, or the build is new. The next commit adds the record.
        return not last or not index.count()
    # An interrupted commit has left its pages pending.
    return last == recorded[-1] or (last == recorded[0] and recorded[-1] in announced)


def _explain_outdated_index(settings: Settings) -> str:
    advice = "on a server, set QDRANT_URL"
    if settings.qdrant_url is not None:
        advice = "in a data folder, unset QDRANT_URL"
    return (
        f"{describe_index(settings)} has no record of the last commit of the catalog: it went to another "
        "index that shares the catalog, the catalog was restored from a backup, or the record is lost. If "
        f"the other index is {advice}. To bring this one up to date, run `pertinent doctor --repair`, and "
        "what it says then"
    )
