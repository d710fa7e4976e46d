"""HTTP clients that limit what they read."""

from __future__ import annotations

import httpx
import pytest

from pertinent._internal.bounded_http import BoundedClient

from ..servers.faulty import faulty

ENDLESS_HEAD = b"HTTP/1.1 200 OK\r\nX-Endless: "


def test_response_of_a_proxy_must_arrive_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with faulty(lambda _: ENDLESS_HEAD, drip=b"x") as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        with BoundedClient(1000, timeout=0.2) as client, pytest.raises(httpx.ReadTimeout):
            client.get("http://service.example/")
    assert proxy.paths == ["http://service.example/"]
