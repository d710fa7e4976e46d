"""Typed settings, and where each of them came from."""

from .load import COMMON_NAMES, FROM_CALLER, PREFIX, RESERVED, LoadedSettings, Origin, load
from .model import DEFAULT_MODELS, PROVIDERS, Settings, find_plugin

__all__ = [
    "COMMON_NAMES",
    "DEFAULT_MODELS",
    "FROM_CALLER",
    "PREFIX",
    "PROVIDERS",
    "RESERVED",
    "LoadedSettings",
    "Origin",
    "Settings",
    "find_plugin",
    "load",
]
