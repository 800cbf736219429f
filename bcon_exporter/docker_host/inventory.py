"""What is remembered of each container between scans, so that only what is new or changed is asked again. No I/O."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from bcon_exporter.docker_host.decode import Element
from bcon_exporter.docker_host.log_mark import LogMark
from bcon_exporter.docker_host.options import HostOptions
from bcon_exporter.docker_host.parse import (
    Placement,
    has_changed,
    parse_container,
    parse_placement,
    project_of,
    secrets_of,
    update_listed,
)
from bcon_exporter.docker_host.raw import get_text
from bcon_exporter.model.facts import ConfigFacts, ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.hiding import hide_in_config, hide_in_facts
from bcon_exporter.model.known_secrets import NO_SECRETS, KnownSecrets
from bcon_exporter.secret_book import SecretBook

_JITTER_STEPS = 16


@dataclass(slots=True)
class Known:
    """One container as last read.

    Attributes:
        listed: Its list entry.
        facts: Without usage, logs and config.
        inspected_at: On the monotonic clock; None when its facts come from the list alone.
        image_reference: As it was created, for the tag; None before an inspect.
        logs_done: It has ended and its last lines were read; nothing more will come.
        log_tail: With how many lines, and how far back, its log was first read.
        logs_refused: Why its log cannot be read at all (log driver none).
        log_mark: What its log file looked like before the last read; None when that cannot be seen.
        hidden: The values that are hidden in it.
    """

    listed: Element
    facts: ContainerFacts
    placement: Placement | None = None
    inspected_at: float | None = None
    image_reference: str | None = None
    config: ConfigFacts | None = None
    logs_done: bool = False
    log_tail: int = 0
    log_window_seconds: float = 0.0
    logs_refused: str | None = None
    log_mark: LogMark | None = None
    hidden: KnownSecrets = NO_SECRETS


class Inventory:
    """The containers of one host; to be used by one thread at a time."""

    def __init__(self, options: HostOptions, book: SecretBook | None = None) -> None:
        self._options = options
        self._book = book or SecretBook()
        self._hidden_version = -1
        self.known: dict[str, Known] = {}

    def update(self, entries: Iterable[Element], unread_reason: str) -> list[str]:
        """Take a list answer; return the ids in its order.

        Args:
            entries: Elements of `/containers/json`; those without a usable id are left out.
            unread_reason: Stands in `unread` of what inspect would tell, until it has.
        """
        ids = []
        for entry in entries:
            before = self.known.get(entry.id or "")
            if before is not None and before.listed is entry:
                ids.append(before.facts.id)
                continue
            listed = entry.read()
            if before is not None and not has_changed(before.listed.read(), listed):
                before.facts = update_listed(before.facts, listed)
                before.listed = entry
                ids.append(before.facts.id)
                continue
            secrets = self._book.of_known(entry.id or "")
            facts = parse_container(listed, None, unread_reason=unread_reason, known=secrets)
            if facts is not None:
                config = before.config if before else None
                hidden = before.hidden if before else NO_SECRETS
                self.known[facts.id] = Known(entry, facts, config=config, hidden=hidden)
                ids.append(facts.id)
        return ids

    def find_stale(self, ids: Iterable[str], touched: Collection[str], now: float, *, config: bool) -> list[str]:
        """Return those to inspect: new, changed, named by an event, or not looked at for long."""
        return [
            container_id
            for container_id in ids
            if container_id in touched or self._is_stale(self.known[container_id], now, config=config)
        ]

    def _is_stale(self, known: Known, now: float, *, config: bool) -> bool:
        if known.inspected_at is None or (config and known.config is None):
            return True
        if known.facts.state is ContainerState.REMOVING:
            return (
                True  # the list goes on to say so of one whose removal has failed: only inspect knows that it is dead
            )
        health = known.facts.health
        if not known.facts.is_running or health is None or health.status is HealthStatus.NONE:
            limit = self._options.refresh_seconds
        elif health.status is HealthStatus.HEALTHY:
            limit = self._options.refresh_health_seconds
        else:
            return True  # failing probes follow each other without an event
        # spread, so that 500 containers found by the first scan are not all refreshed in the same one
        spread = 1 + hash(known.facts.id) % _JITTER_STEPS / _JITTER_STEPS
        return now - known.inspected_at >= limit * spread

    def take_inspected(self, container_id: str, inspected: dict[str, Any], now: float) -> None:
        """Take an inspect answer."""
        known = self.known[container_id]
        version, own = self._book.version, secrets_of(inspected)
        self._book.learn_container(container_id, project_of(inspected), own)
        # what a project holds may grow with each container: `hide_learned` hides it once all have been read
        secrets = self._book.of_container(container_id) if self._book.version == version else KnownSecrets(own)
        facts = parse_container(known.listed.read(), inspected, known=secrets)
        if facts is None or facts.id != container_id:
            return
        before = known.facts
        if (facts.state, facts.started_at, facts.finished_at) != (before.state, before.started_at, before.finished_at):
            known.logs_done = False
        known.facts = facts
        known.placement = parse_placement(inspected)
        known.inspected_at = now
        config = inspected.get("Config")
        known.hidden = secrets
        known.image_reference = get_text(config, "Image") if isinstance(config, dict) else None
        known.config = None

    def take_uninspected(self, container_id: str, reason: str) -> None:
        """Note that inspect failed: what only it tells is unknown again, rather than old."""
        known = self.known[container_id]
        facts = parse_container(
            known.listed.read(), None, unread_reason=reason, known=self._book.of_known(container_id)
        )
        if facts is not None:
            known.facts, known.inspected_at = facts, None

    def hide_learned(self) -> None:
        """Hide in each container what has been learned since it was read."""
        version = self._book.version
        if version == self._hidden_version:
            return
        for container_id, known in self.known.items():
            secrets = self._book.of_container(container_id)
            if secrets is not known.hidden:
                known.hidden = secrets
                known.facts = hide_in_facts(known.facts, secrets)
                known.config = known.config and hide_in_config(known.config, secrets)
        self._hidden_version = version

    def retain(self, ids: Collection[str]) -> None:
        """Forget all other containers."""
        for container_id in self.known.keys() - set(ids):
            del self.known[container_id]
        self._book.retain(ids)

    def forget(self, ids: Collection[str]) -> None:
        """Forget these containers."""
        for container_id in ids:
            self.known.pop(container_id, None)
