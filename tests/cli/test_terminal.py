"""The terminal itself: its size, and what its encoding can't express."""

from __future__ import annotations

import io
import sys

import pytest

from pertinent.surfaces.cli.terminal import MIN_COLUMNS, make_console, prepare_streams


@pytest.mark.parametrize("columns", ["0", "1"])
def test_terminal_without_a_size_still_shows_output(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert make_console().width == MIN_COLUMNS


def test_half_of_a_surrogate_pair_is_printed_as_a_question_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding="utf-8"))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    prepare_streams()
    sys.stdout.write("é\ud800")
    sys.stdout.flush()
    assert printed.getvalue() == "é?".encode()
