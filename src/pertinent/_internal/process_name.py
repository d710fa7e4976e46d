"""The name of this process in lock files and messages."""

from __future__ import annotations

import os
import socket

UNKNOWN_PROCESS = "another process"


def name_process() -> str:
    """Return the number of this process and the name of its machine."""
    # PostgreSQL keeps 63 bytes of a session's name.
    return f"process {os.getpid()} on {socket.gethostname()[:30]}"
