"""Subnets that overlap."""

import ipaddress

Subnet = ipaddress.IPv4Network | ipaddress.IPv6Network


def parse_subnet(text: str) -> Subnet | None:
    """Return a subnet; None where the text is none."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def subnets_overlap(one: Subnet, other: Subnet) -> bool:
    """Return whether two subnets share an address."""
    if isinstance(one, ipaddress.IPv4Network) and isinstance(other, ipaddress.IPv4Network):
        return one.overlaps(other)
    if isinstance(one, ipaddress.IPv6Network) and isinstance(other, ipaddress.IPv6Network):
        return one.overlaps(other)
    return False
