"""Forwarded addresses count only from proxies that `trusted_proxies` names; over real connections."""

from __future__ import annotations

import http.client
from collections.abc import Callable
from contextlib import closing

import pytest

from pertinent.errors import SettingsError
from pertinent.settings import Settings, load

from .test_connections import HALF, LIVEZ, Connect, connect, data, read_status, start  # noqa: F401 - fixtures
from .test_request_head import read_error
from .test_server import Server

KEY = "a-secret-key"

Start = Callable[..., Server]


def ask(server: Server, address: str = "127.0.0.1", **headers: str) -> int:
    """The status of a request that comes from the address."""
    source = (address, 0)
    with closing(
        http.client.HTTPConnection("127.0.0.1", server.port, timeout=20, source_address=source)
    ) as connection:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", "/api/v1/suggest?q=x", headers=names)
        return connection.getresponse().status


@pytest.mark.slow
@pytest.mark.xdist_group("serve")
class TestService:
    def test_forwarded_addresses_of_unnamed_peers_are_ignored(self, start: Start) -> None:  # noqa: F811
        """A peer on loopback can't evade the rate limit of wrong keys, nor without keys."""
        locked = start(rate_limit=2, api_keys=KEY)
        guesses = [ask(locked, X_API_Key=f"guess-{n}", X_Forwarded_For=f"192.0.2.{n}") for n in range(3)]
        assert guesses == [401, 401, 429]
        assert ask(locked, X_API_Key=KEY) == 200
        assert [ask(locked, "127.0.0.2", X_Forwarded_For=f"192.0.2.{n}") for n in range(3)] == [401, 401, 429]

    def test_forwarded_addresses_of_named_proxies_count(self, start: Start) -> None:  # noqa: F811
        server = start(rate_limit=2, trusted_proxies="127.0.0.1, 10.0.0.0/8")
        for client in ("192.0.2.1", "2001:db8::1"):
            # What the client sent itself stands first, and a second proxy of our own last.
            spoofed = [f"198.51.100.{n}, {client}, 10.1.2.3" for n in range(3)]
            assert [ask(server, X_Forwarded_For=header) for header in spoofed] == [200, 200, 429]
        assert [ask(server, "127.0.0.2", X_Forwarded_For=f"192.0.2.{n}") for n in range(3)] == [200, 200, 429]

    def test_connections_of_named_proxies_are_not_bounded_by_address(
        self,
        start: Start,  # noqa: F811
        connect: Connect,  # noqa: F811
    ) -> None:
        server = start(max_connections_per_address=2, trusted_proxies="127.0.0.1")
        for address in ("127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.2", "127.0.0.2"):
            connect(server, HALF, address)
        assert read_status(connect(server, LIVEZ)) == 200
        assert read_error(connect(server, LIVEZ, "127.0.0.2"))[0] == 429


def test_trusted_proxies_are_addresses_or_networks() -> None:
    assert Settings().trusted_proxies == ()
    environment = {"PERTINENT_TRUSTED_PROXIES": "127.0.0.1, ::1,172.16.0.0/12"}
    assert load(environment=environment).settings.trusted_proxies == ("127.0.0.1", "::1", "172.16.0.0/12")


@pytest.mark.parametrize("value", ["*", "proxy.example", "127.0.0.1/8", "300.0.0.1"])
def test_other_trusted_proxies_are_refused(value: str) -> None:
    with pytest.raises(SettingsError, match="trusted_proxies: must be addresses or networks"):
        load({"trusted_proxies": value})
