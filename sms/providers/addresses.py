"""Which addresses a customer's own provider may have: public ones, and nothing that leads inside.

A name is looked up once and the address that was judged is the address that is connected to, so a name
that changes its mind in between gains nothing. One bad address spoils the whole answer.
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from django.conf import settings

# Everything IANA keeps for special purposes, and one public address that clouds use for metadata.
# Python's own `is_global` passes several of them.
_CLOSED_V4 = tuple(
    IPv4Network(one)
    for one in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
)  # fmt: skip
_OPEN_V6 = IPv6Network("2000::/3")
_CLOSED_V6 = tuple(
    IPv6Network(one) for one in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "2620:4f:8000::/48")
)


def is_loopback(host: str) -> bool:
    """Whether `host` can only be this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def host_trusted(host: str) -> bool:
    """Whether whoever runs this installation vouches for `host`, wherever it leads."""
    return host in settings.PROVIDER_HOSTS or (settings.DEBUG and is_loopback(host))


class AddressRefused(Exception):
    """The name leads to an address that is not public. No byte left this host."""


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether `address` is an ordinary address of the public internet; a mapped or tunnelled one is not."""
    if isinstance(address, IPv4Address):
        return not any(address in net for net in _CLOSED_V4)
    return address in _OPEN_V6 and not any(address in net for net in _CLOSED_V6)


def public_address(host: str, port: int) -> str:
    """The address to connect to for `host`. Raises AddressRefused, or `socket.gaierror` when it has none."""
    addresses = _numeric(host) or _resolved(host, port)
    if not addresses or not all(is_public(one) for one in addresses):
        raise AddressRefused(host)
    return str(addresses[0])


def _numeric(host: str) -> list[IPv4Address | IPv6Address]:
    """The IPv4 address that `host` is a spelling of, in any of those the system reads: 127.1, 0x7f000001."""
    try:
        return [IPv4Address(socket.inet_aton(host))]
    except OSError:
        return []


def _resolved(host: str, port: int) -> list[IPv4Address | IPv6Address]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]


def leads_inside(host: str) -> bool:
    """Whether `host` is known now to lead to an address that is not public; a name without one is not."""
    try:
        public_address(host, 443)
    except AddressRefused:
        return True
    except (OSError, UnicodeError):
        return False
    return False
