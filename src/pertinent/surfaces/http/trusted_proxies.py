"""Proxies in front of the service, whose `X-Forwarded-For` is believed."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network


class TrustedProxies:
    """The networks of the proxies that the setting `trusted_proxies` names.

    Args:
        proxies: Addresses or networks, such as `10.0.0.1` or `10.0.0.0/8`.

    """

    def __init__(self, proxies: Iterable[str] = ()) -> None:
        self.networks: list[IPv4Network | IPv6Network] = []
        for proxy in proxies:
            network = ip_network(proxy)
            self.networks.append(network)
            if isinstance(network, IPv4Network):
                # A service that listens on `::` sees addresses of IPv4 like this.
                mapped = f"::ffff:{network.network_address}/{96 + network.prefixlen}"
                self.networks.append(ip_network(mapped))

    def __contains__(self, address: str) -> bool:
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self.networks)
