"""What happened before an incident, and what ended it: read from the journal."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bcon_exporter.memory import STOPPED_ON_REQUEST
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.incidents import EndedBy, Incident, IncidentChange, IncidentRoot
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.naming import normalise_name

LOOKED_BACK = timedelta(minutes=30)
CHANGES_AT_MOST = 10
SEEN_AFTER = timedelta(minutes=1)
"""What a pause has brought about is seen so long after it: logs are read once a scan."""
SCAN_TAKES = timedelta(seconds=15)
"""A scan is dated by its beginning and reads logs for so long after it: what the root did may come after its sign."""

_CHANGES = (
    JournalKind.ENGINE_RESTART,
    JournalKind.IMAGE_CHANGE,
    JournalKind.CONFIG_CHANGE,
    JournalKind.NETWORK_DISCONNECT,
    JournalKind.PAUSE,
    JournalKind.KILL,
    JournalKind.NETWORK_CONNECT,
    JournalKind.UNPAUSE,
    JournalKind.REMOVE,
    JournalKind.STOP,
    JournalKind.DRIFT_ON,
    JournalKind.DRIFT_OFF,
    JournalKind.START,
)
"""What somebody may have done, the most telling first: a start comes with every other. Crashes and symptoms are signs
of a trouble, not changes."""
EVIDENCE = frozenset(_CHANGES)
"""Kinds of entries that tell what came before a trouble, and what ended it."""
_HARMFUL = frozenset(
    {
        JournalKind.STOP,
        JournalKind.KILL,
        JournalKind.PAUSE,
        JournalKind.REMOVE,
        JournalKind.IMAGE_CHANGE,
        JournalKind.CONFIG_CHANGE,
        JournalKind.NETWORK_DISCONNECT,
    }
)
"""What may begin a trouble, and does not end one."""


_SHARED_BY_STRANGERS = frozenset(("bridge", "host", "none"))
"""Networks that the engine makes: to be in one of them ties nothing together."""
_NETWORK, _VOLUME, _NAMESPACE, _JOINED = "network ", "volume ", "namespace ", "container:"

Attachments = Mapping[str, frozenset[str]]
"""Container → what it may share with others: its networks, volumes and namespaces."""


def list_attachments(containers: Iterable[ContainerFacts]) -> Attachments:
    """Return the networks, volumes and namespaces of each container."""
    seen = tuple(containers)
    ids = {key: container.id for container in seen for key in (container.id, container.name)}
    return {normalise_name(container.name): _list_attached(container, ids) for container in seen}


def _list_attached(container: ContainerFacts, ids: Mapping[str, str]) -> frozenset[str]:
    networks = {network.name for network in container.networks} - _SHARED_BY_STRANGERS
    volumes = {mount.source for mount in container.mounts if mount.type == "volume"}
    wiring = container.wiring
    modes = () if wiring is None else (wiring.network_mode, wiring.ipc_mode, wiring.pid_mode)
    owners = (mode.removeprefix(_JOINED) for mode in modes if mode.startswith(_JOINED))
    return frozenset(
        (
            *(f"{_NETWORK}{name}" for name in networks),
            *(f"{_VOLUME}{name}" for name in volumes),
            *(f"{_NAMESPACE}{ids.get(owner, owner)}" for owner in owners),
            f"{_NAMESPACE}{container.id}",
        )
    )


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What could have to do with a root's trouble, beside itself and its project.

    Attributes:
        attachments: Of all containers.
        peers: Names of containers that its causes point to.
    """

    attachments: Attachments
    peers: frozenset[str] = frozenset()

    def include(self, entry: JournalEntry, root: IncidentRoot) -> bool:
        """Whether what an entry tells of could have to do with a root."""
        if entry.kind is JournalKind.ENGINE_RESTART or _is_of(entry, root):
            return True
        if root.project is not None and entry.project == root.project:
            return True
        own = self.attachments.get(normalise_name(root.container or ""), frozenset())
        name = normalise_name(entry.container or "")
        is_tied = not own.isdisjoint(self.attachments.get(name, ()))
        return is_tied or name in self.peers or f"{_NETWORK}{entry.data.get('network')}" in own


def find_changes(
    entries: Iterable[JournalEntry],
    root: IncidentRoot,
    started_at: datetime,
    surroundings: Surroundings,
    known: Iterable[IncidentChange] = (),
) -> tuple[IncidentChange, ...]:
    """Return what changed in the half hour before: of the root's project first, of each the nearest first.

    Only what could have to do with it: the root's own, its project's, of those that share a network, a volume or a
    namespace with it, of those that its causes point to, and the engine's.

    Args:
        entries: Of the journal; those of an incident that goes on for long may not reach back to its start.
        root: Of the incident.
        started_at: When it began.
        surroundings: Of the root.
        known: What was found in earlier entries.
    """
    found = [
        IncidentChange(
            kind=entry.kind,
            at=entry.at,
            seconds_before=max(0.0, (started_at - entry.at).total_seconds()),
            project=entry.project,
            service=entry.service,
            container=None if entry.container is None else normalise_name(entry.container),
            text=entry.text,
        )
        for entry in entries
        if entry.kind in _CHANGES
        and not entry.data.get("by_policy")
        and surroundings.include(entry, root)
        and (is_before(entry, started_at) or _begins_it(entry, root, started_at))
    ]
    changes = list(dict.fromkeys((*found, *known)))
    changes.sort(key=lambda change: (not _is_own(change, root), change.seconds_before))
    return tuple(changes[:CHANGES_AT_MOST])


def began_in_a_pause(
    entries: Iterable[JournalEntry], root: IncidentRoot, started_at: datetime, surroundings: Surroundings
) -> bool:
    """Whether an incident began while something that it may depend on was stopped on request, and is back by now.

    A backup stops and starts what it copies.
    """
    kept = (entry for entry in entries if entry.container is not None and surroundings.include(entry, root))
    own: dict[str, list[JournalEntry]] = {}
    for entry in sorted(kept, key=lambda entry: entry.at):
        own.setdefault(normalise_name(entry.container or ""), []).append(entry)
    return any(_is_in_a_pause(told, started_at) for told in own.values())


def _is_in_a_pause(entries: Sequence[JournalEntry], started_at: datetime) -> bool:
    """Whether a time lies between a stop on request and the start after it, which was the last; or a little later."""
    stopped_at: datetime | None = None
    back: tuple[datetime, datetime] | None = None
    for entry in entries:
        is_asked = entry.kind is JournalKind.STOP and entry.text.startswith(STOPPED_ON_REQUEST)
        if entry.kind is JournalKind.PAUSE or is_asked:
            stopped_at, back = entry.at, None
        elif entry.kind in (JournalKind.START, JournalKind.UNPAUSE) and stopped_at is not None:
            back, stopped_at = (stopped_at, entry.at), None
        elif entry.kind in _HARMFUL:
            back = None
    return back is not None and back[0] <= started_at <= back[1] + SEEN_AFTER


def find_telling_change(incident: Incident) -> IncidentChange | None:
    """Return the most telling change of the root, of its project or of the host before an incident; None without one.

    Of a root without a project, also one of what it shares something with.
    """
    root = incident.root
    may_be_others = root.project is None
    own = [change for change in incident.changes if may_be_others or _is_own(change, root)]
    return min(
        own,
        key=lambda change: (not _is_own(change, root), _CHANGES.index(change.kind), change.seconds_before),
        default=None,
    )


def _is_own(change: IncidentChange, root: IncidentRoot) -> bool:
    """Whether a change is of the root, of its project or of the host; to be in no project is to be in none together."""
    if change.kind is JournalKind.ENGINE_RESTART:
        return True
    if root.project is not None:
        return change.project == root.project
    return root.container is None or change.container == root.container


def is_before(entry: JournalEntry, started_at: datetime) -> bool:
    """Whether it happened in the half hour before."""
    return timedelta() <= started_at - entry.at <= LOOKED_BACK


def _begins_it(entry: JournalEntry, root: IncidentRoot, started_at: datetime) -> bool:
    is_within_the_scan = timedelta() < entry.at - started_at <= SCAN_TAKES
    return is_within_the_scan and entry.kind in _HARMFUL and _is_of(entry, root)


def find_end(entries: Iterable[JournalEntry], root: IncidentRoot, started_at: datetime, ended_at: datetime) -> EndedBy:
    """Return what somebody did to the root last, before all was well again."""
    own = sorted((entry for entry in entries if _is_of(entry, root)), key=lambda entry: entry.at)
    during = [entry for entry in own if started_at < entry.at <= ended_at]
    kinds = [entry.kind for entry in during if not entry.data.get("by_policy")]
    before = {entry.kind for entry in own if is_before(entry, started_at)}
    if JournalKind.IMAGE_CHANGE in kinds and _is_undone(during, own, started_at):
        return EndedBy.CHANGED_BACK
    if JournalKind.REMOVE in kinds:
        return EndedBy.RECREATED if _started_after(kinds, JournalKind.REMOVE) else EndedBy.REMOVED
    if JournalKind.UNPAUSE in kinds:
        return EndedBy.RESUMED
    if JournalKind.NETWORK_CONNECT in kinds and JournalKind.NETWORK_DISCONNECT in {*before, *kinds}:
        return EndedBy.RECONNECTED
    if JournalKind.START in kinds:
        asked = {JournalKind.STOP, JournalKind.KILL} & set(kinds)
        return EndedBy.RESTARTED if asked else EndedBy.STARTED
    return EndedBy.BY_ITSELF


def _is_of(entry: JournalEntry, root: IncidentRoot) -> bool:
    if root.service is not None:
        return (entry.project, entry.service) == (root.project, root.service)
    return root.container is not None and entry.container == root.container


def _started_after(kinds: Sequence[JournalKind], other: JournalKind) -> bool:
    last = len(kinds) - 1 - kinds[::-1].index(other)
    return JournalKind.START in kinds[last:]


def _is_undone(during: Sequence[JournalEntry], own: Sequence[JournalEntry], started_at: datetime) -> bool:
    """Whether the image is again the one that a change before the incident had replaced."""
    changed = [entry for entry in own if entry.kind is JournalKind.IMAGE_CHANGE]
    before = [entry.data.get("before") for entry in changed if is_before(entry, started_at)]
    after = [entry.data.get("image") for entry in changed if entry in during]
    return bool(before and after and after[-1] is not None and after[-1] == before[-1])
