"""What every test may ask for."""

from __future__ import annotations

import functools
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest
import typer.testing

from pertinent.settings import COMMON_NAMES, PREFIX, RESERVED, Settings
from pertinent.surfaces import seed_functions
from pertinent.workspace.workspace import Workspace

from .cached_vectors import cached_vectors  # noqa: F401 - a fixture for all tests
from .servers.fixtures import collection, fragile_cluster, qdrant, qdrant_cluster, qdrant_node  # noqa: F401 - fixtures for all tests

pytest_plugins = ["pytester"]

FAST = "testing:hashed-words"

SLOW_FIXTURES = frozenset(
    {
        "browser", "built_cases", "built_handbook", "collection", "fragile_cluster", "postgres_server",
        "postgres_url", "qdrant", "qdrant_cluster", "qdrant_node", "site", "start",
    }
)  # fmt: skip
"""Fixtures that start a server, a browser, a process or a build with Docusaurus."""

BUILD_FIXTURES = frozenset({"built_cases", "built_handbook", "themed_handbook", "tools"})
"""Fixtures that wait for what npm installs and Docusaurus builds while the first tests run."""

SLOW_PARAMETERS = frozenset({"postgresql"})
"""Parameters of tests that ask for such a fixture while they run."""

MEMORY = Path("/dev/shm")  # noqa: S108 - where Linux keeps files in memory
MEMORY_BYTES = 4 * 2**30
"""How much room the files of all tests need at most, with much to spare."""

# What is imported and collected stays until the end: to look for garbage in it takes a quarter of that time.
gc.disable()

# A shell starts background commands with Ctrl-C ignored, which the processes of the tests would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Most tests write indexes and databases, and would wait for the disk more than for anything else.
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > MEMORY_BYTES:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

# Typer builds all commands for each call of one, which takes longer than most of them run.
assert hasattr(typer.testing, "_get_command")
vars(typer.testing)["_get_command"] = functools.cache(typer.main.get_command)

# No test fails for being slow: the machine may be busy.
hypothesis.settings.register_profile(
    "patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.register_profile("quick", hypothesis.settings.get_profile("patient"), max_examples=20)
hypothesis.settings.load_profile("patient")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as `slow` what needs more than this process, and run last what waits for builds.

    `make quick` leaves out what is slow.
    """
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if SLOW_FIXTURES.intersection(fixtures) or any(
            parameter in SLOW_PARAMETERS for parameter in parameters if isinstance(parameter, str)
        ):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: not BUILD_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a test that is skipped fail in strict mode."""
    report = yield
    if report.skipped and os.environ.get("PERTINENT_TEST_STRICT") == "1":
        report.outcome = "failed"
        report.longrepr = f"skipped, which PERTINENT_TEST_STRICT forbids: {report.longrepr}"
    return report


def pytest_collection_finish() -> None:
    """Let the garbage collector skip the modules and tests, which are most objects."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _away_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test reads this machine's settings, nor leaves an index open."""
    for name in [*COMMON_NAMES.values(), *os.environ]:
        if name in COMMON_NAMES.values() or (name.startswith(PREFIX) and not name.startswith(RESERVED)):
            monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield
    seed_functions.close_shared()


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Real stores in an empty folder, and an embedder that needs no model."""
    opened = Workspace(Settings(folder=tmp_path / "data", embedder=FAST, chunk_tokens=60, query_cache=0))
    yield opened
    opened.close()
