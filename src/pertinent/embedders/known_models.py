"""The models that can be chosen by name: what they need, and whether they are installed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal
from warnings import catch_warnings

from .._internal.onnx_model import disable_telemetry
from .._internal.package_files import find_package
from ..errors import SettingsError
from . import bge, model_sizes

State = Literal["installed", "download", "install", "hosted"]
"""Ready to use, downloaded on first use, missing its package, or on a server."""


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model as `pertinent models` lists it; None is unknown."""

    name: str
    """`provider:model`, as in the settings."""

    state: State
    dimension: int | None
    max_tokens: int | None
    megabytes: int | None
    """Size of the model's files; None for a hosted model."""

    license: str | None
    needs: str = ""
    """What to do before the model can be used."""


def list_known_models() -> list[KnownModel]:
    """Return all models that have a name: local ones, those of fastembed, and hosted ones."""
    return [*_list_local_models(), *_list_fastembed_models(), *_list_hosted_models()]


def describe_unknown_model(name: str) -> KnownModel:
    """Return a model that is not listed, such as `onnx:FOLDER` or one of another package."""
    state: State = "hosted" if name.startswith(("cohere:", "openai:")) else "installed"
    return KnownModel(name, state, None, None, None, None)


def _list_local_models() -> Iterator[KnownModel]:
    minilm, small_bge = model_sizes.LOCAL["all-MiniLM-L6-v2"], model_sizes.LOCAL[bge.BGE]
    yield KnownModel("local:all-MiniLM-L6-v2", "installed", *minilm, 23, "Apache-2.0")
    try:
        find_package(bge.PACKAGE)
        state: State = "installed"
    except SettingsError:
        state = "install"
    needs = "pip install 'pertinent[bge]'" if state == "install" else ""
    yield KnownModel(f"local:{bge.BGE}", state, *small_bge, 34, "MIT", needs)


def _list_fastembed_models() -> Iterator[KnownModel]:
    if find_spec("fastembed") is None:
        needs = "pip install 'pertinent[fastembed]'"
        yield KnownModel("fastembed:MODEL", "install", None, None, None, None, needs)
        return
    disable_telemetry()
    from fastembed import TextEmbedding

    for model in sorted(TextEmbedding.list_supported_models(), key=lambda model: model["model"].lower()):
        yield KnownModel(
            f"fastembed:{model['model']}",
            "installed" if _is_cached(model["model"]) else "download",
            model["dim"],
            None,
            round(model["size_in_GB"] * 1000),
            model["license"],
        )


def _is_cached(model: str) -> bool:
    """Whether fastembed has the files of a model in its cache."""
    from fastembed import TextEmbedding
    from loguru import logger

    logger.disable("fastembed")  # it logs an error for each model that is not there
    try:
        with catch_warnings(action="ignore"):
            TextEmbedding(model, local_files_only=True, lazy_load=True)
    except ValueError:
        return False
    finally:
        logger.enable("fastembed")
    return True


def _list_hosted_models() -> Iterator[KnownModel]:
    extra = "" if find_spec("cohere") else "pip install 'pertinent[cohere]', "
    for name, size in model_sizes.COHERE.items():
        yield KnownModel(f"cohere:{name}", "hosted", *size, None, None, f"{extra}set COHERE_API_KEY")
    needs = "set OPENAI_API_KEY, or openai_base_url for another server (Ollama, vLLM, TEI)"
    yield KnownModel("openai:MODEL", "hosted", None, None, None, None, needs)
