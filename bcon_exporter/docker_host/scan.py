"""The state of one running scan, shared by its steps."""

from dataclasses import dataclass, field
from datetime import datetime

from bcon_exporter.docker_host.options import Wants
from bcon_exporter.docker_host.session import Deadline
from bcon_exporter.docker_host.wire import Answer
from bcon_exporter.errors import BconError, ContainerNotFoundError

_NO_LONGER_THERE = ("no such container", "marked for removal", "no container with name or id")


@dataclass(slots=True)
class Scan:
    """What one scan has found so far.

    Attributes:
        ids: Full ids, in the engine's order.
        gone: Removed while the scan went on: left out silently.
        unread: Per container, what could not be read and why.
        incomplete: Ids of containers that lack something because of time or a failure.
        host_unread: The same for the host as a whole.
    """

    now: datetime
    deadline: Deadline
    wants: Wants
    ids: list[str] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    unread: dict[str, dict[str, str]] = field(default_factory=dict)
    incomplete: set[str] = field(default_factory=set)
    host_unread: dict[str, str] = field(default_factory=dict)

    def present(self) -> list[str]:
        """Return the ids of containers not known to be removed."""
        return [container_id for container_id in self.ids if container_id not in self.gone]

    def miss(self, container_id: str, fact: str, reason: str) -> None:
        """Note that a container's fact was not read because of time or a failure."""
        self.unread.setdefault(container_id, {})[fact] = reason
        self.incomplete.add(container_id)

    def is_gone(self, container_id: str, outcome: Answer | BconError) -> bool:
        """Note, and return, whether an outcome shows that the container was removed meanwhile."""
        gone = isinstance(outcome, ContainerNotFoundError) or (
            isinstance(outcome, BconError) and any(text in outcome.message.lower() for text in _NO_LONGER_THERE)
        )
        if gone:
            self.gone.add(container_id)
        return gone
