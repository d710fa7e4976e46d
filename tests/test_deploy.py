"""The files in `deploy/`, as far as they can be checked without Docker."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from pertinent.settings import load

DEPLOY = Path(__file__).parents[1] / "deploy"


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
