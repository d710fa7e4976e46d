"""The picture of how often the first hit is right."""

from __future__ import annotations

import reliability


def test_picture_shows_the_recorded_figures() -> None:
    assert reliability.PICTURE.read_text() == reliability.draw(reliability.read_bins())
