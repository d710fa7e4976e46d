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
        date = email.utils.parsedate_tz(value)
        seconds = email.utils.mktime_tz(date) - time.time() if date else math.nan
    return max(seconds, 0.0) if math.isfinite(seconds) else None
