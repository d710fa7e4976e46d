"""Pertinent over HTTP: the search routes of seeds 003 and 004, and what a service needs around them."""

from __future__ import annotations

from .app import create_app

__all__ = ["create_app"]
