"""What has changed in how a service's container is set up, found where a scan reads configurations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bcon_exporter.memory.identity import identity_of
from bcon_exporter.memory.journal_entries import Subject
from bcon_exporter.model.container_facts import ConfigFacts, ContainerFacts
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.naming import normalise_name

KEPT_WITHOUT_CONTAINER = timedelta(days=1)
"""`docker compose down`, and `up` the next morning, still tells what has changed."""
KEPT_AT_MOST = 1000
"""Of identities without a container: names of one run each must not fill the memory."""
FIELDS_IN_TEXT, FIELDS_IN_DATA, LONGEST_IN_TEXT = 5, 50, 80

_NETWORK, _VARIABLE = "networks.", "environment."


@dataclass(frozen=True, slots=True)
class SeenConfig:
    """How the newest container of an identity was set up, and when a scan saw it last."""

    container_id: str
    created_at: datetime
    seen_at: datetime
    config: ConfigFacts


def find_config_changes(
    before: Mapping[str, SeenConfig], containers: Sequence[ContainerFacts], now: datetime
) -> tuple[Mapping[str, SeenConfig], list[JournalEntry]]:
    """Return the newest configuration of each identity, and entries that tell what has changed since the last one.

    Values are compared by their fingerprints, whose key is another one in each process: what changes while the
    exporter does not run is not told. Where no configuration could be read, the last one stands.

    Args:
        before: By identity (see `identity_of`).
        containers: Of a scan.
        now: When it was.
    """
    newest: dict[str, tuple[ContainerFacts, ConfigFacts]] = {}
    for container in containers:
        identity = identity_of(container)
        is_newest = identity not in newest or container.created_at > newest[identity][0].created_at
        if container.config is not None and is_newest:
            newest[identity] = container, container.config
    if not newest:
        return before, []
    after, entries = dict(before), list[JournalEntry]()
    for identity, (container, config) in newest.items():
        earlier = before.get(identity)
        after[identity] = SeenConfig(container.id, container.created_at, now, config)
        if earlier is not None:
            entries += _tell_changes(earlier, container, config, now)
    return _forget_old(after, now), entries


def _forget_old(seen: Mapping[str, SeenConfig], now: datetime) -> dict[str, SeenConfig]:
    kept = {identity: one for identity, one in seen.items() if one.seen_at == now}
    absent = [item for item in seen.items() if item[0] not in kept and now - item[1].seen_at < KEPT_WITHOUT_CONTAINER]
    absent.sort(key=lambda item: item[1].seen_at, reverse=True)
    return {**kept, **dict(absent[:KEPT_AT_MOST])}


def _tell_changes(
    earlier: SeenConfig, container: ContainerFacts, config: ConfigFacts, now: datetime
) -> Iterator[JournalEntry]:
    """Tell of a container that replaced another, at the time of its creation; of one that was changed, now."""
    if config.fields is earlier.config.fields:
        return
    changed = find_changed_fields(earlier.config, config)
    is_replaced = container.id != earlier.container_id
    claims = container.compose
    subject = Subject(container=container.name)
    if claims is not None:
        subject = Subject(claims.project, claims.service, normalise_name(container.name))
    if not is_replaced:
        for path in (path for path in changed if path.startswith(_NETWORK)):
            yield _tell_network(subject, path, config, now)
        changed = [path for path in changed if not path.startswith(_NETWORK)]
    if changed:
        variables = [path.removeprefix(_VARIABLE) for path in changed if path.startswith(_VARIABLE)]
        fields = [path for path in changed if not path.startswith(_VARIABLE)]
        yield subject.tell(
            container.created_at if is_replaced else now,
            JournalKind.CONFIG_CHANGE,
            f"configuration changed: {_name_fields(changed)}",
            fields=fields[:FIELDS_IN_DATA] or None,
            environment=variables[:FIELDS_IN_DATA] or None,
            replaced=earlier.container_id[:12] if is_replaced else None,
        )


def _tell_network(subject: Subject, path: str, config: ConfigFacts, now: datetime) -> JournalEntry:
    network = path.removeprefix(_NETWORK)
    if path in config.fields:
        return subject.tell(now, JournalKind.NETWORK_CONNECT, "connected to a network", network=network)
    return subject.tell(now, JournalKind.NETWORK_DISCONNECT, "disconnected from a network", network=network)


def find_changed_fields(before: ConfigFacts, after: ConfigFacts) -> list[str]:
    """Return the sorted paths whose values differ, but for those that another image alone explains.

    A path that is masked since keeps its fingerprint, and counts as the same.
    """
    same = _fingerprints(before) & _fingerprints(after)

    def differs(path: str) -> bool:
        values = [config.fields.get(path) for config in (before, after)]
        if all(value is None or value.fingerprint in same for value in values):
            return False
        return not (_is_by_image(before, path) and _is_by_image(after, path))

    return [path for path in sorted(before.fields.keys() | after.fields.keys()) if differs(path)]


def _fingerprints(config: ConfigFacts) -> set[str]:
    return {value.fingerprint for value in config.fields.values()}


def _is_by_image(config: ConfigFacts, path: str) -> bool:
    """Whether a value is absent, or what the image gives."""
    value = config.fields.get(path)
    return value is None or config.image_fields is None or config.image_fields.get(path) == value


def _name_fields(paths: Iterable[str]) -> str:
    """Return the first of the paths; of one that a user could have written a sentence into, only its root."""
    shown = list(dict.fromkeys(path if _is_plain(path) else path.partition(".")[0] for path in paths))
    more = f" and {len(shown) - FIELDS_IN_TEXT} more" if len(shown) > FIELDS_IN_TEXT else ""
    return ", ".join(shown[:FIELDS_IN_TEXT]) + more


def _is_plain(path: str) -> bool:
    return len(path) <= LONGEST_IN_TEXT and path.isascii() and all(char.isalnum() or char in "_./:-" for char in path)
