"""The type `Reader`: the library, or the client of the service that has the index open."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from .client import PertinentClient
    from .library import Pertinent

Reader: TypeAlias = "Pertinent | PertinentClient"
"""Both have the same methods to read, with the same results."""
