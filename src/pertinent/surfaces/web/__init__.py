"""The search page: static files that speak to the HTTP service, with no build step."""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).parent
"""Where the files are: `index.html` is for `/`, the others for `/static/NAME`."""
