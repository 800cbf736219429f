"""Which published ports stand in each other's way."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.deployment import PublishedPort

_ANY = ("", "0.0.0.0", "::")  # noqa: S104 -- compared, never bound
_ANY_IPV4 = "0.0.0.0"  # noqa: S104 -- as above


@dataclass(frozen=True)
class PortBinding:
    """One port of the host at one address; "" is every address."""

    address: str
    port: int
    protocol: str

    def __str__(self) -> str:
        address = f"[{self.address}]" if ":" in self.address else self.address
        return f"{address}:{self.port}/{self.protocol}" if address else f"{self.port}/{self.protocol}"


def overlap(one: PortBinding, other: PortBinding) -> bool:
    """Return whether two bindings cannot be at once. "::" as a process binds it takes IPv4's addresses too."""
    if one.port != other.port or one.protocol != other.protocol:
        return False
    return _addresses_overlap(one.address, other.address) or _addresses_overlap(other.address, one.address)


def _addresses_overlap(one: str, other: str) -> bool:
    if one == _ANY_IPV4:
        return other in _ANY or ":" not in other
    return one in _ANY or one == other


class Holders:
    """Who holds which binding; asked about one, only those of its port are looked at."""

    def __init__(self, held: Iterable[tuple[PortBinding, str]] = ()) -> None:
        self._by_port: dict[tuple[int, str], list[tuple[PortBinding, str]]] = {}
        for binding, owner in held:
            self.add(binding, owner)

    def add(self, binding: PortBinding, owner: str) -> None:
        """Take one more."""
        self._by_port.setdefault((binding.port, binding.protocol), []).append((binding, owner))

    def find(self, wanted: PortBinding) -> tuple[PortBinding, str] | None:
        """Return the first that stands in the way, and who it is."""
        held = self._by_port.get((wanted.port, wanted.protocol), ())
        return next((one for one in held if overlap(wanted, one[0])), None)


def bindings_of_port(port: PublishedPort) -> Iterator[PortBinding]:
    """Yield what a port asks for; of a range, each of its ports."""
    for number in range(port.first, port.last + 1):
        yield PortBinding(port.address, number, port.protocol)


def bindings_of_container(container: ContainerFacts) -> Iterator[PortBinding]:
    """Yield what a running container holds; one that does not run holds nothing."""
    if not container.is_running:
        return
    for inside, published in container.ports.items():
        protocol = inside.partition("/")[2] or "tcp"
        for text in (published or "").split(", "):
            address, _, port = text.rpartition(":")
            if port.isdecimal():
                yield PortBinding(address.strip("[]"), int(port), protocol)
