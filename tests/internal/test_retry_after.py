"""The Retry-After header."""

from __future__ import annotations

import time

import pytest

from pertinent._internal.retry_after import parse_retry_after


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("", None),
        ("soon", None),
        ("inf", None),
        ("nan", None),
        ("Thu, 01 Jan 1970 00:16:50 GMT", 10.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Sat, 01 Jan 10000 00:00:00 GMT", None),
        ("Sat, 01 Jan 99999999999999999999 00:00:00 GMT", None),
    ],
)
def test_parse_retry_after_reads_seconds_and_dates(
    monkeypatch: pytest.MonkeyPatch, value: str, seconds: float | None
) -> None:
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    assert parse_retry_after(value) == seconds
