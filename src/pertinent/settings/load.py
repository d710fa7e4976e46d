"""Loading settings from the caller, the environment and pertinent.toml; no other module reads those.

The first of these that has a value wins: the caller, `PERTINENT_NAME`, the common environment variable
(`QDRANT_URL`, `COHERE_API_KEY`, …), pertinent.toml, the default. Settings that contradict each other
are refused here, before anything is opened.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import SecretStr, ValidationError

from .._internal.messages import explain_error
from ..errors import SettingsError
from .model import Settings

FILE = "pertinent.toml"
PREFIX = "PERTINENT_"
RESERVED = "PERTINENT_TEST_"
"""Environment variables with this prefix belong to the test suite and are not settings."""

COMMON_NAMES: Mapping[str, str] = {
    "cohere_api_key": "COHERE_API_KEY",
    "openai_api_key": "OPENAI_API_KEY",
    "openai_base_url": "OPENAI_BASE_URL",
    "qdrant_url": "QDRANT_URL",
    "qdrant_api_key": "QDRANT_API_KEY",
    "qdrant_collection": "QDRANT_COLLECTION_NAME",
    "database_url": "DATABASE_URL",
}

FROM_CALLER = "given"
"""The origin of a setting that the caller passed."""

_ALL = ", ".join(Settings.model_fields)


class Origin(NamedTuple):
    """A setting's value, with secrets masked, and where it came from."""

    name: str
    value: str
    origin: str


class LoadedSettings(NamedTuple):
    """Settings, and the origin of each that is not a default."""

    settings: Settings
    origins: Mapping[str, str]

    def list_origins(self) -> list[Origin]:
        """Return every setting with its origin, secrets masked."""
        return [
            Origin(name, _mask(getattr(self.settings, name)), self.origins.get(name, "default"))
            for name in Settings.model_fields
        ]


def load(
    overrides: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    start: Path | None = None,
) -> LoadedSettings:
    """Load the settings.

    Args:
        overrides: Settings that the caller passes; None values are ignored.
        environment: The environment variables; by default those of the process.
        start: The folder where the search for pertinent.toml starts; by default the current one.

    Raises:
        SettingsError: A value is invalid; the message names it and its origin.
    """
    layers = [
        {name: (value, FROM_CALLER) for name, value in (overrides or {}).items() if value is not None},
        dict(_read_environment(os.environ if environment is None else environment)),
        dict(_read_file(start or Path.cwd())),
    ]
    merged = {name: layer[name] for layer in reversed(layers) for name in layer}
    origins = {name: origin for name, (_, origin) in merged.items()}
    try:
        settings = Settings.model_validate({name: value for name, (value, _) in merged.items()})
    except ValidationError as error:
        raise SettingsError(_explain(error, origins)) from None
    _refuse_contradictions(settings)
    return LoadedSettings(settings, origins)


def _read_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, str]]]:
    for name, common in COMMON_NAMES.items():
        if environment.get(common):
            yield name, (environment[common], common)
    for variable, value in environment.items():
        if variable.startswith(PREFIX) and not variable.startswith(RESERVED):
            name = variable.removeprefix(PREFIX).lower()
            if name not in Settings.model_fields:
                raise SettingsError(f"{variable} is not a setting; the settings are {_ALL}")
            if value:
                yield name, (value, variable)


def _read_file(start: Path) -> Iterator[tuple[str, tuple[Any, str]]]:
    path = next((d / FILE for d in (start, *start.resolve().parents) if (d / FILE).is_file()), None)
    if path is None:
        return
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:  # a TOMLDecodeError is a ValueError
        raise SettingsError(f"can't read {path}: {error}") from error
    for name, value in values.items():
        if name not in Settings.model_fields:
            raise SettingsError(f"{path}: {name!r} is not a setting; the settings are {_ALL}")
        yield name, (_resolve_path(name, value, path.parent), str(path))


def _resolve_path(name: str, value: Any, folder: Path) -> Any:
    """Resolve a path in pertinent.toml against the folder of that file."""
    if name in ("folder", "fastembed_folder", "golden", "reports") and isinstance(value, str):
        return folder / value
    if name in ("embedder", "reranker") and isinstance(value, str) and value.startswith("onnx:"):
        return f"onnx:{folder / value.removeprefix('onnx:')}"
    return value


def _explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    problems = []
    for details in error.errors(include_url=False, include_input=False):
        name = str(details["loc"][0])
        problem = "is not a setting" if details["type"] == "extra_forbidden" else explain_error(details)
        origin = origins.get(name, "the default")
        problems.append(f"{name}: {problem} ({'as given' if origin == FROM_CALLER else f'from {origin}'})")
    return "; ".join(problems)


def _refuse_contradictions(settings: Settings) -> None:
    if settings.qdrant_api_key and not settings.qdrant_url:
        raise SettingsError("qdrant_api_key is set but qdrant_url is not: set QDRANT_URL, or unset the key")
    if settings.qdrant_write_consistency > settings.qdrant_replicas:
        raise SettingsError(
            f"qdrant_write_consistency ({settings.qdrant_write_consistency}) is higher than qdrant_replicas "
            f"({settings.qdrant_replicas}): lower it, or raise qdrant_replicas"
        )


def _mask(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_mask, value))
    if isinstance(value, SecretStr):
        return _mask_url(value.get_secret_value())
    if isinstance(value, str) and "@" in value.partition("://")[2]:
        # An address with a password, in a setting that is not a secret.
        return _mask_url(value)
    return "" if value is None else str(value)


def _mask_url(secret: str) -> str:
    """Mask a secret; of an address, show the scheme and what follows the password, without the query."""
    scheme, separator, address = secret.partition("://")
    if not separator:
        return "********"
    # A password may contain any character, also `@` and `/`: all before the last `@` is masked.
    credentials, at, host = address.rpartition("@")
    return f"{scheme}://{'********@' if credentials or at else ''}{host.partition('?')[0]}"
