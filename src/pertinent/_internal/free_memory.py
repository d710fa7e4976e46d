"""Give freed memory back to the system."""

from __future__ import annotations

import ctypes
import sys


def release_free_memory() -> None:
    """Return memory that Python has freed to the system.

    The C library of Linux keeps most of it for later, so that the next large page would add to it.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(0)
