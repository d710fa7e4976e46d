"""Pertinent for agents: a server of the Model Context Protocol (MCP), over stdio or HTTP.

    `tools.py` (what agents call) and `page_resources.py` → a `Pertinent` or a `PertinentClient`
    `server.py` registers them with the SDK; `stdio.py` is the transport over stdio, for which
    `index_folder.py` opens the index

The service mounts the same server at `/mcp` (`surfaces/http/mcp_endpoint.py`). The SDK is the extra `mcp`, so
modules outside of this package import `server.py` late, after `require_sdk`.
"""

from __future__ import annotations

from ...errors import SettingsError

INSTALL = "pip install 'pertinent[mcp]'"


def require_sdk() -> None:
    """Raise SettingsError if the SDK is not installed."""
    try:
        import mcp  # noqa: F401 - only whether it can be imported
    except ImportError as error:
        raise SettingsError(f"MCP needs its SDK: {INSTALL}") from error
