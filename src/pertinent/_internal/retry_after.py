"""The Retry-After header of an HTTP response (RFC 9110)."""

from __future__ import annotations

import email.utils
import math
import time


def parse_retry_after(value: str) -> float | None:
    """Return how many seconds a Retry-After header asks to wait.

    Args:
        value: The header, either as seconds (`"2.5"`) or as an HTTP date.

    Returns:
        The seconds, at least 0, or None if the value is neither form.
    """
    try:
        seconds = float(value)
    except ValueError:
        seconds = _seconds_until(value)
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _seconds_until(value: str) -> float:
    """Return the seconds until an HTTP date; NaN if the value is none, or one that no calendar has."""
    try:
        date = email.utils.parsedate_tz(value)
        return email.utils.mktime_tz(date) - time.time() if date else math.nan
    except (ValueError, OverflowError):
        return math.nan
