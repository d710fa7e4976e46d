"""The files in `deploy/`, as far as they can be checked without Docker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import requires
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pertinent.settings import load

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
CONSTRAINTS = ROOT / "constraints"
HASHED = ["runtime", "build"]


@pytest.fixture
def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def test_instances_of_the_service_share_no_port_of_the_host(compose: Any) -> None:
    """With a fixed port, `--scale pertinent=3` would start one instance of three."""
    assert "ports" not in compose["services"]["pertinent"]
    assert compose["services"]["proxy"]["ports"] == ["127.0.0.1:8000:8000"]


def test_service_trusts_its_proxy_and_nothing_else(compose: Any) -> None:
    environment = compose["services"]["pertinent"]["environment"]
    proxy = compose["services"]["proxy"]["networks"]["default"]["ipv4_address"]
    assert environment["PERTINENT_TRUSTED_PROXIES"] == proxy
    assert load(environment={"PERTINENT_TRUSTED_PROXIES": proxy}).settings.trusted_proxies == (proxy,)
    (network,) = compose["networks"]["default"]["ipam"]["config"]
    assert ip_address(proxy) in ip_network(network["subnet"])
    # No other container can get the address.
    assert ip_address(proxy) not in ip_network(network["ip_range"])


def read_pins(name: str) -> dict[str, str]:
    """Return the lines of a file of constraints by package; a line has its hashes behind it."""
    text = (CONSTRAINTS / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {canonicalize_name(re.split("[=;\\s]", line)[0]): line for line in lines}


def read_version(line: str) -> str:
    match = re.search(r"==([^\s;]+)", line)
    assert match, line
    return match[1]


def find_dependencies(package: str, extras: set[str], seen: set[str]) -> Iterator[str]:
    """Yield the installed packages that a package needs with these extras, and what they need."""
    for line in requires(package) or ():
        requirement = Requirement(line)
        marker, name = requirement.marker, canonicalize_name(requirement.name)
        is_needed = marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))
        if is_needed and (key := f"{name}{sorted(requirement.extras)}") not in seen:
            seen.add(key)
            yield name
            yield from find_dependencies(name, requirement.extras, seen)


def test_runtime_constraints_name_all_that_the_service_needs() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    extras = re.search(r"^SERVICE_EXTRAS := (.*)$", makefile, re.MULTILINE)
    assert extras
    needed = set(find_dependencies("pertinent", set(extras[1].split()), set()))
    assert "psycopg-binary" in needed
    assert needed <= read_pins("runtime").keys(), "run `make constraints`"


@pytest.mark.parametrize("name", HASHED)
def test_hashed_versions_are_those_that_the_tests_run_with(name: str) -> None:
    tested = read_pins("dev")
    for package, line in read_pins(name).items():
        if package in tested:  # what another platform needs is not installed here
            assert read_version(line) == read_version(tested[package]), "run `make constraints`"


@pytest.mark.parametrize("name", HASHED)
def test_every_pin_of_the_image_has_hashes(name: str) -> None:
    pins = read_pins(name)
    assert pins
    assert not [line for line in pins.values() if not re.search(r"--hash=sha256:[0-9a-f]{64}\b", line)]


@pytest.mark.parametrize("name", ["dev", *HASHED])
def test_constraints_name_no_index(name: str) -> None:
    text = (CONSTRAINTS / f"{name}.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^-|--(?:extra-)?index|--find-links", text, re.MULTILINE)


def test_image_installs_only_files_with_hashes() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    installs = re.findall(r"pip (?:install|wheel)[^&\n]*", dockerfile)
    assert len(installs) == 4
    for command in installs:
        assert "--require-hashes" in command or "--no-deps" in command, command
        assert "pip wheel" not in command or "--no-build-isolation" in command
