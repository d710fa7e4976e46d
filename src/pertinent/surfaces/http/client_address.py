"""What the limits of connections and requests count as one client."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network

IPV6_PREFIX = 64
"""A client of IPv6 usually has a network of this prefix, and could use another address each time."""


def identify_client(address: str) -> str:
    """Return the client behind an address: the address itself, or the network of an IPv6 address.

    Examples:
        >>> identify_client("203.0.113.7")
        '203.0.113.7'
        >>> identify_client("2001:db8::7")
        '2001:db8::/64'
    """
    try:
        parsed = ip_address(address)
    except ValueError:  # a socket without an address, or what a proxy has forwarded
        return address
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ip_network((int(parsed), IPV6_PREFIX), strict=False))
