"""Read and write text files, with errors that name the file."""

from __future__ import annotations

import os
from pathlib import Path

from ...errors import InvalidInput

AnyPath = str | os.PathLike[str]


def read_utf8(path: AnyPath, field: str = "golden", *, if_missing: str = "") -> str:
    """Read a text file, with or without a byte order mark.

    Args:
        path: The file.
        field: The input that an error names.
        if_missing: What to do if there is no such file; the error says so.
    """
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        hint = f"; {if_missing}" if if_missing and isinstance(error, FileNotFoundError) else ""
        raise InvalidInput(field, f"{path} can't be read: {error.strerror or error}{hint}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(field, f"{path} is not UTF-8") from error


def write_atomically(path: AnyPath, text: str, *, field: str = "golden", encoding: str = "utf-8") -> None:
    """Write a file completely, or leave the existing one as it was."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.new")
    try:
        temporary.write_text(text, encoding=encoding, newline="")
        temporary.replace(target)
    except UnicodeEncodeError as error:
        raise InvalidInput(field, f"{target} can't be written: {error.reason}") from error
    except OSError as error:
        raise InvalidInput(field, f"{target} can't be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
