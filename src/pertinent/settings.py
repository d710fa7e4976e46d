"""Typed settings, from flags, the environment and pertinent.toml; the only module that reads them.

A value comes from the first place that has it: what the caller gave, then `PERTINENT_NAME`, then the
name that the wider world uses (`QDRANT_URL`, `COHERE_API_KEY`, …), then pertinent.toml, then the
default. What contradicts itself is refused here, before anything is opened.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from .errors import SettingsError
from .types import Ranking

FILE = "pertinent.toml"
PREFIX = "PERTINENT_"
RESERVED = "PERTINENT_TEST_"
"""Environment names under this prefix are the test suite's, not settings."""

COMMON_NAMES: Mapping[str, str] = {
    "cohere_api_key": "COHERE_API_KEY",
    "qdrant_url": "QDRANT_URL",
    "qdrant_api_key": "QDRANT_API_KEY",
    "qdrant_collection": "QDRANT_COLLECTION_NAME",
    "database_url": "DATABASE_URL",
}

PROVIDERS = ("local", "onnx", "testing")


class Settings(BaseModel):
    """All that can be set, with its default and what it means."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Annotated[Path, Field(description="where the embedded index and the catalog are kept")] = Path(
        ".pertinent"
    )
    embedder: Annotated[str, Field(description="the embedding model, as provider:model")] = (
        "local:all-MiniLM-L6-v2"
    )
    chunk_tokens: Annotated[int, Field(ge=20, le=2000, description="about how many tokens a chunk has")] = 200
    ranking: Annotated[Ranking, Field(description="how hits are ordered where a search does not say")] = (
        "hybrid"
    )
    cohere_api_key: Annotated[SecretStr | None, Field(description="key of the Cohere API")] = None
    qdrant_url: Annotated[str | None, Field(description="a Qdrant server; none means embedded")] = None
    qdrant_api_key: Annotated[SecretStr | None, Field(description="key of the Qdrant server")] = None
    qdrant_collection: Annotated[str, Field(description="the collection on the Qdrant server")] = "pertinent"
    database_url: Annotated[
        SecretStr | None, Field(description="a PostgreSQL catalog; none means SQLite in the folder")
    ] = None

    @field_validator("embedder")
    @classmethod
    def _named_provider(cls, value: str) -> str:
        provider, colon, model = value.partition(":")
        if not colon or not model or provider not in PROVIDERS:
            known = ", ".join(f"{name}:…" for name in PROVIDERS if name != "testing")
            raise ValueError(f"must be provider:model with one of {known}, not {value!r}")
        return value

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and urlsplit(value.get_secret_value()).scheme.partition("+")[0] not in (
            "postgresql",
            "postgres",
            "sqlite",
        ):
            raise ValueError("must begin with postgresql:// or sqlite://")
        return value


class Origin(NamedTuple):
    """A setting's value, fit to be shown, and where it came from."""

    name: str
    value: str
    origin: str


class Loaded(NamedTuple):
    """Settings with the origin of each."""

    settings: Settings
    origins: Mapping[str, str]

    def shown(self) -> list[Origin]:
        """Every setting, secrets masked."""
        return [
            Origin(name, _masked(getattr(self.settings, name)), self.origins.get(name, "default"))
            for name in Settings.model_fields
        ]


def load(
    given: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    start: Path | None = None,
) -> Loaded:
    """The settings that hold in a folder, or an error that names the value and where it stands."""
    layers = [
        {name: (value, "given") for name, value in (given or {}).items() if value is not None},
        dict(_from_environment(os.environ if environment is None else environment)),
        dict(_from_file(start or Path.cwd())),
    ]
    merged = {name: layer[name] for layer in reversed(layers) for name in layer}
    origins = {name: origin for name, (_, origin) in merged.items()}
    try:
        settings = Settings.model_validate({name: value for name, (value, _) in merged.items()})
    except ValidationError as error:
        raise SettingsError(_explain(error, origins)) from None
    _refuse_contradictions(settings)
    return Loaded(settings, origins)


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, str]]]:
    for name, common in COMMON_NAMES.items():
        if environment.get(common):
            yield name, (environment[common], common)
    for variable, value in environment.items():
        if variable.startswith(PREFIX) and not variable.startswith(RESERVED):
            name = variable.removeprefix(PREFIX).lower()
            if name not in Settings.model_fields:
                raise SettingsError(f"{variable} is no setting; `pertinent settings` lists them")
            yield name, (value, variable)


def _from_file(start: Path) -> Iterator[tuple[str, tuple[Any, str]]]:
    path = next((d / FILE for d in (start, *start.resolve().parents) if (d / FILE).is_file()), None)
    if path is None:
        return
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"can't read {path}: {error}") from error
    for name, value in values.items():
        if name not in Settings.model_fields:
            raise SettingsError(f"{path}: {name!r} is no setting; `pertinent settings` lists them")
        # A folder in the file is meant from the file's own place, wherever the command is run.
        yield name, (path.parent / value if name == "folder" else value, str(path))


def _explain(error: ValidationError, origins: Mapping[str, str]) -> str:
    problems = []
    for one in error.errors(include_url=False, include_input=False):
        name = str(one["loc"][0])
        said = one["msg"].removeprefix("Value error, ")
        problems.append(f"{name}: {said} (from {origins.get(name, 'the default')})")
    return "; ".join(problems)


def _refuse_contradictions(settings: Settings) -> None:
    if settings.qdrant_api_key and not settings.qdrant_url:
        raise SettingsError("qdrant_api_key is set but qdrant_url is not: set QDRANT_URL, or unset the key")
    if settings.qdrant_url:
        raise SettingsError(
            "qdrant_url: this version keeps its index embedded and can't use a server; unset QDRANT_URL"
        )


def _masked(value: object) -> str:
    if isinstance(value, SecretStr):
        return _masked_url(value.get_secret_value())
    return "" if value is None else str(value)


def _masked_url(secret: str) -> str:
    """Of a secret, nothing; of an address with a password, all but the password."""
    parts = urlsplit(secret)
    if not (parts.scheme and (parts.hostname or parts.path)) or "://" not in secret:
        return "********"
    if parts.password is None:
        return f"{parts.scheme}://{parts.netloc}{parts.path}"
    return f"{parts.scheme}://{parts.username}:********@{parts.hostname}{parts.path}"
