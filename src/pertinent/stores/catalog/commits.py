"""The ids of a catalog's commits, by which an index that lacks some of them is recognised."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ...types import CommitIds

KEY = "commits"
"""The key of the row in the table `meta` that has the ids."""

MAX_ANNOUNCED = 100
"""How many announced ids are kept: each run that is killed before its commit leaves one."""

NO_COMMITS = CommitIds("", ())


def parse_row(rows: Sequence[Any]) -> CommitIds:
    """Read the ids from the row, if there is one. A damaged row gives an id that no index has."""
    if not rows:
        return NO_COMMITS
    try:
        last, *announced = map(str, json.loads(rows[0][0]))
    except (TypeError, ValueError):
        return CommitIds("damaged catalog record", ())
    return CommitIds(last, tuple(announced))


def make_row(commits: CommitIds) -> dict[str, str]:
    """Return the row that stores the ids."""
    return {"key": KEY, "value": json.dumps([commits.last, *commits.announced[-MAX_ANNOUNCED:]])}
