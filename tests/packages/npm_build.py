"""The packages, built as their users build them: widget.js, the theme, and the handbook with the theme.

`python -m tests.packages.npm_build` builds all of it, and prints the folder of the built handbook.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from ..sources.docusaurus_build import (
    BOOK,
    DocusaurusMissing,
    build,
    build_lock,
    hash_files,
    install_packages,
    run_command,
)

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "packages"
THEME = "docusaurus-theme-pertinent"
OVERLAY = Path(__file__).parent / "themed_handbook"
SOURCES = ("search-modal", THEME)


def install_tools() -> Path:
    """Install TypeScript, esbuild, axe-core and DocSearch; return the folder with `node_modules`."""
    return install_packages(PACKAGES / "package.json")


def run_module(tools: Path, folder: Path, module: str, code: str, argument: object) -> Any:
    """Bundle a module of the search modal, and run code with Node.js.

    The code has the exports of the module as `module_`, and the argument as `argument`; it assigns `result`.
    """
    bundle = folder / f"{module}.cjs"
    esbuild = str(tools / "node_modules" / ".bin" / "esbuild")
    source = str(PACKAGES / "search-modal" / "src" / f"{module}.ts")
    bundling = [esbuild, source, "--bundle", "--format=cjs", f"--outfile={bundle}", "--log-level=error"]
    subprocess.run(bundling, check=True)
    script = (
        f"const module_ = require({json.dumps(str(bundle))});"
        "const argument = JSON.parse(process.argv[1]); let result;"
        f"{code}; console.log(JSON.stringify(result));"
    )
    command = ["node", "-e", script, json.dumps(argument)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    return json.loads(run.stdout)


def build_widget(folder: Path) -> Path:
    """Build widget.js with the command of packages/package.json, in a copy below the folder."""
    tools = install_tools()
    packages = folder / "packages"
    packages.mkdir()
    shutil.copy(PACKAGES / "package.json", packages)
    shutil.copytree(PACKAGES / "search-modal", packages / "search-modal")
    (packages / "node_modules").symlink_to(tools / "node_modules")
    failure = run_command(["npm", "run", "widget"], packages)
    assert not failure, failure
    return folder / "src" / "pertinent" / "surfaces" / "web" / "widget.js"


def pack_theme() -> Path:
    """Return the folder of the theme as npm would install it; a build of the same files is used again."""
    tools = install_tools()
    docusaurus = install_packages(BOOK / "package.json")
    # Beside Docusaurus, whose types it needs.
    packages = docusaurus / "packages"
    packed = packages / f"packed-{hash_files(PACKAGES, _list_sources())}"
    with build_lock():
        if not packed.exists():
            shutil.rmtree(packages, ignore_errors=True)
            packages.mkdir()
            for name in SOURCES:
                ignore = shutil.ignore_patterns("node_modules", "lib")
                shutil.copytree(PACKAGES / name, packages / name, ignore=ignore)
            (packages / "node_modules").symlink_to(tools / "node_modules")
            # `npm pack` builds first, as the package's script `prepare` says.
            failure = run_command(["npm", "pack", "--loglevel=error"], packages / THEME)
            assert not failure, failure
            (archive,) = (packages / THEME).glob("*.tgz")
            with tarfile.open(archive) as files:
                files.extractall(packages / "unfinished", filter="data")
            (packages / "unfinished" / "package").rename(packed)
    return packed


def build_themed_handbook() -> Path:
    """Build the handbook with the theme; return the folder of the site."""
    packed = pack_theme()
    checksum = hash_files(OVERLAY, sorted(path.name for path in OVERLAY.iterdir()))
    overlay = (
        packed.parent / f"overlay-{checksum}-{hash_files(BOOK, ['docusaurus.config.js'])}" / OVERLAY.name
    )
    with build_lock():
        if not overlay.exists():
            unfinished = packed.parent / "unfinished-overlay"
            shutil.rmtree(unfinished, ignore_errors=True)
            shutil.copytree(OVERLAY, unfinished)
            shutil.copy(BOOK / "docusaurus.config.js", unfinished / "handbook.config.js")
            shutil.copytree(packed, unfinished / "node_modules" / THEME)
            overlay.parent.mkdir(exist_ok=True)
            unfinished.rename(overlay)
    return build(BOOK, overlay, ["--no-minify"])


def _list_sources() -> list[str]:
    names = [path for name in SOURCES for path in (PACKAGES / name).iterdir()]
    return sorted(
        str(path.relative_to(PACKAGES)) for path in names if path.name not in ("node_modules", "lib")
    )


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{build_themed_handbook()}\n")
    except DocusaurusMissing as error:
        sys.exit(str(error))
