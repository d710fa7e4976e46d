"""From the global options to an open Pertinent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .error_reporting import say

if TYPE_CHECKING:
    import typer
    from stamina.instrumentation import RetryDetails

    from ...settings import Loaded
    from ..library import Pertinent


@dataclass(frozen=True, slots=True)
class Choices:
    """What the global options say; None leaves a setting to the environment and pertinent.toml."""

    folder: str | None = None
    embedder: str | None = None
    debug: bool = False

    def load(self) -> Loaded:
        """The settings that hold, with these before all others."""
        from ...settings import load

        return load({"folder": self.folder, "embedder": self.embedder})


def choices(context: typer.Context) -> Choices:
    """The global options of this run."""
    found = context.obj
    return found if isinstance(found, Choices) else Choices()


@contextmanager
def opened(context: typer.Context, **settings: object) -> Iterator[Pertinent]:
    """Pertinent with the settings of this run, closed at the end."""
    from ..library import Pertinent

    chosen = choices(context)
    with Pertinent.open(chosen.folder, embedder=chosen.embedder, **settings) as pertinent:
        if pertinent.workspace.settings.asks_servers:
            retries_on_stderr()
        yield pertinent


def retries_on_stderr() -> None:
    """Whoever waits while a server is asked again is told why, apart from what is printed."""
    from stamina.instrumentation import set_on_retry_hooks

    set_on_retry_hooks([_asked_again])


def _asked_again(details: RetryDetails) -> None:
    say(f"{details.caused_by}; asking again in {details.wait_for:.1f} s")


def number(text: str) -> int | float | str:
    """What was typed, as a number if it is one; the limits say what is wrong with it if not."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
