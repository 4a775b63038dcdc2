"""Client addresses as limits count them, and addresses of trusted proxies."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

# Providers assign a whole network of this prefix, or a larger one, to every customer.
_CUSTOMER_PREFIX = 64


def client_network(host: str) -> str:
    """Return the address that limits count: an IPv4 address, or the /64 network of an IPv6 address."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is None:
            return str(ip_network((address.packed, _CUSTOMER_PREFIX), strict=False))
        address = address.ipv4_mapped
    return str(address)


@dataclass(frozen=True)
class TrustedProxies:
    """Addresses and networks of proxies, as in the setting `trusted_proxies`; `*` trusts every address."""

    networks: tuple[IPv4Network | IPv6Network, ...]
    trusts_all: bool = False

    @classmethod
    def of(cls, settings: Iterable[str]) -> "TrustedProxies":
        """Return the proxies of a board; entries that are not IP addresses are ignored."""
        networks, trusts_all = [], False
        for entry in settings:
            trusts_all = trusts_all or entry == "*"
            try:
                networks.append(ip_network(entry, strict=False))
            except ValueError:
                continue
        return cls(tuple(networks), trusts_all)

    def __contains__(self, host: str) -> bool:
        if self.trusts_all:
            return True
        try:
            address = ip_address(host.partition("%")[0])
        except ValueError:
            return False
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address in network for network in self.networks)
