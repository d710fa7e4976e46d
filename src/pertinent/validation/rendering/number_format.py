"""Format numbers and times for a report; a value that is not a number is shown as a dash."""

from __future__ import annotations

import math
import sys
from datetime import UTC, datetime

from ..acceptance_checks import FALSE_POSITIVES, AcceptanceCheck

UNKNOWN = "–"
MILLISECONDS_PER_SECOND = 1000.0
WITH_DECIMALS_BELOW = 10.0
"""Times below so many milliseconds are shown with a decimal."""


def format_number(value: float | None, digits: int = 2) -> str:
    """Format a score or a mean: `0.84`."""
    return UNKNOWN if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


def format_share(value: float | None, digits: int = 0) -> str:
    """Format a share as a percentage: `83%`."""
    return UNKNOWN if value is None or not math.isfinite(value) else f"{value * 100:.{digits}f}%"


def format_integer(value: float | None) -> str:
    """Format a count: `1,200`; one that no index reaches is shown as a dash."""
    return f"{value:,.0f}" if value is not None and abs(value) <= sys.maxsize else UNKNOWN


def format_milliseconds(value: float | None, digits: int | None = None) -> str:
    """Format a duration: `4.2 ms`, `1,200 ms`."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if digits is None:
        digits = 1 if value < WITH_DECIMALS_BELOW else 0
    return f"{value:,.{digits}f}\N{NO-BREAK SPACE}ms"


def format_seconds(milliseconds: float) -> str:
    """Format milliseconds as the seconds that JUnit expects."""
    return f"{milliseconds / MILLISECONDS_PER_SECOND if math.isfinite(milliseconds) else 0.0:.6f}"


def format_check_value(check: AcceptanceCheck) -> str:
    """Format the value of an acceptance check: a percentage where it is a share, else a count."""
    if check.value is None:
        return "nothing to check"
    is_share = "%" in check.target or check.name == FALSE_POSITIVES
    return format_share(check.value, 1) if is_share else f"{check.value:,g}"


def format_time(timestamp: str) -> str:
    """Format a timestamp to the minute, in UTC; text that is no timestamp is returned unchanged."""
    try:
        moment = datetime.fromisoformat(timestamp)
        if moment.tzinfo is None:
            return f"{moment:%Y-%m-%d %H:%M}"
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError):
        return timestamp
