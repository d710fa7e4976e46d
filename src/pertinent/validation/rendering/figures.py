"""Numbers as a reader wants them: short, and never at odds with the verdict beside them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from ..acceptance_checks import Check

UNKNOWN = "–"
_SECOND = 1000.0
_FEW = 10.0


def number(value: float | None, digits: int = 2) -> str:
    """A score or a mean."""
    return UNKNOWN if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


def share(value: float | None, digits: int = 0) -> str:
    """A share, as a percentage."""
    return UNKNOWN if value is None or not math.isfinite(value) else f"{value * 100:.{digits}f}%"


def count(value: float | None) -> str:
    """How many."""
    return UNKNOWN if value is None or not math.isfinite(value) else f"{value:,.0f}"


def milliseconds(value: float | None, digits: int | None = None) -> str:
    """A time; the shorter it is, the more its decimals tell."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if digits is None:
        digits = 1 if value < _FEW else 0
    return f"{value:,.{digits}f}\N{NO-BREAK SPACE}ms"


def seconds(value: float) -> str:
    """Milliseconds as the seconds that JUnit wants."""
    return f"{value / _SECOND if math.isfinite(value) else 0.0:.6f}"


def checked(check: Check) -> str:
    """What a check found: a share where it speaks of shares, else how many."""
    if check.value is None:
        return "nothing to check"
    shared = "%" in check.wanted or check.name == "queries without an answer"
    return share(check.value, 1) if shared else f"{check.value:,g}"


def when(timestamp: str) -> str:
    """A time to the minute, in UTC; what is no time is told as it stands."""
    try:
        moment = datetime.fromisoformat(timestamp)
        if moment.tzinfo is None:
            return f"{moment:%Y-%m-%d %H:%M}"
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError):
        return timestamp
