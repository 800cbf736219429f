"""Keeps the pasts of all identities that are there, and fills `ContainerFacts.lifecycle` from them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bcon_exporter.history.coverage import Coverage, is_bridged
from bcon_exporter.history.database import Database, Statement
from bcon_exporter.history.event_rows import cap_events, insert_events, load_events, mark_counted, strip
from bcon_exporter.history.identity import identity_of
from bcon_exporter.history.last_lines import find_last_lines, lines_from_text, lines_to_text
from bcon_exporter.history.past import (
    DAY,
    HOUR,
    TOLD_IN_WORDS,
    Past,
    Telling,
    find_unseen_end,
    make_exits,
    make_facts,
    tell,
)
from bcon_exporter.history.schema import from_micros, to_micros
from bcon_exporter.model.facts import ContainerFacts
from bcon_exporter.model.lifecycle import ExitFacts, LifecycleEvent, LifecycleFacts
from bcon_exporter.model.lifecycle_restarts import INFERRED_RESTART
from bcon_exporter.model.lifecycle_rules import Circumstances, parse_signal
from bcon_exporter.model.lifecycle_runs import sort_events

_Key = tuple[object, ...]

_RAISE_TOTALS = (
    "INSERT INTO identities VALUES (?, ?, ?, ?) ON CONFLICT (identity) DO UPDATE SET"
    " restarts_total = max(restarts_total, excluded.restarts_total),"
    " oom_kills_total = max(oom_kills_total, excluded.oom_kills_total), seen_at = excluded.seen_at"
)
"""Where the totals could not be read, ours began at nothing."""
_TAKEN_AWAY = "taken away"
"""In place of "no" where the engine has counted restarts since the last start by hand (`docker update`)."""


@dataclass(slots=True)
class _Made:
    """Facts of one container, and for how long they hold.

    Attributes:
        newest_line: Of the log as it was then; None when it was not read: the last lines of ends may still be found.
    """

    key: _Key
    facts: LifecycleFacts
    made_at: datetime
    holds_until: datetime
    newest_line: datetime | None

    def holds(self, key: _Key, newest_line: datetime | None, now: datetime) -> bool:
        """True when facts made now would be the same."""
        if self.key != key or not self.made_at <= now < self.holds_until:
            return False
        if newest_line in (None, self.newest_line):
            return True
        ends = self.facts.exits[-TOLD_IN_WORDS:] if self.newest_line is None else self.facts.exits[-1:]
        return all(end.last_lines for end in ends)


class Lifecycles:
    """Pasts by identity, loaded when first needed and let go when no container has the identity any more."""

    def __init__(self, database: Database, coverage: Coverage) -> None:
        self._database = database
        self._coverage = coverage
        self._pasts: dict[str, Past] = {}
        self._made: dict[str, _Made] = {}
        self._holders: dict[str, list[str]] = {}
        self._tellings: dict[str, tuple[_Key, Telling]] = {}
        self._pending_events: list[tuple[str, LifecycleEvent]] = []
        self._pending_counted: list[tuple[str, LifecycleEvent]] = []
        self._pending_lines: list[tuple[str, int, str]] = []
        self._pending_images: list[tuple[str, str]] = []
        self._changed_totals: set[str] = set()

    def past_of(self, identity: str) -> Past:
        """Return an identity's past, from the database when it is not at hand."""
        past = self._pasts.get(identity)
        if past is None:
            past = self._pasts[identity] = self._load(identity)
        return past

    def _load(self, identity: str) -> Past:
        past = Past(identity)
        for event, counted in load_events(self._database, identity):
            past.add(event)
            if counted and event.action == "oom":
                past.counted_oom_kills.add((event.container_id, event.at))
            elif counted:
                past.counted_restarts.add((event.container_id, event.at))
        totals = "SELECT restarts_total, oom_kills_total FROM identities WHERE identity = ?"
        for past.restarts_total, past.oom_kills_total in self._database.query(totals, (identity,)):
            pass
        configured = (
            "SELECT container_id, policy, stop_signal, image_id FROM containers LEFT JOIN images USING (container_id)"
            " WHERE identity = ?"
        )
        for container_id, policy, stop_signal, image_id in self._database.query(configured, (identity,)):
            if policy is not None:
                past.policies[container_id] = policy
            if stop_signal is not None:
                past.stop_signals[container_id] = stop_signal
            if image_id is not None:
                past.images[container_id] = image_id
        self._load_lines(past)
        return past

    def _load_lines(self, past: Past) -> None:
        for container_id in {event.container_id for event in past.events}:
            rows = self._database.query("SELECT at, lines FROM exit_lines WHERE container_id = ?", (container_id,))
            for at, text in rows:
                past.note_lines(container_id, from_micros(at), lines_from_text(text))

    def add(self, identity: str, event: LifecycleEvent, *, counted: bool = False) -> bool:
        """Add an event; False when it was known. The total leaves out a restart that is `counted` already."""
        bare = strip(event)
        if not self.past_of(identity).add(bare):
            return False
        self._pending_events.append((identity, bare))
        if counted:
            self._pasts[identity].counted_restarts.add((bare.container_id, bare.at))
            self._pending_counted.append((identity, bare))
        return True

    def rename(self, container_id: str, old: str, new: str) -> None:
        """Let a renamed container take its past with it."""
        source, target = self.past_of(old), self.past_of(new)
        moved = [event for event in source.events if event.container_id == container_id]
        for event in moved:
            target.add(event)
        self._pending_events.extend((new, event) for event in moved)
        for (of, at), lines in source.lines.items():
            if of == container_id:
                target.note_lines(of, at, lines)
        target.counted_restarts |= {key for key in source.counted_restarts if key[0] == container_id}
        target.counted_oom_kills |= {key for key in source.counted_oom_kills if key[0] == container_id}
        counted = target.counted_restarts | target.counted_oom_kills
        self._pending_counted.extend((new, event) for event in moved if (container_id, event.at) in counted)

    def fill(
        self, containers: tuple[ContainerFacts, ...], now: datetime, *, partial: bool
    ) -> tuple[ContainerFacts, ...]:
        """Return the containers with their lifecycles; when they are not `partial`, forget all others."""
        identities = [identity_of(container) for container in containers]
        if not partial:
            self._holders = _find_holders(containers, identities)
        for container, identity in zip(containers, identities, strict=True):
            self._note_configuration(self.past_of(identity), container)
        since, gaps = self._coverage.judge(now)
        filled = []
        for container, identity in zip(containers, identities, strict=True):
            rivals = tuple(other for other in self._holders.get(identity, ()) if other != container.id)
            complete = all(is_bridged(container, gap) for gap in gaps)
            facts = self._facts(self._pasts[identity], container, rivals, now, since, complete=complete)
            filled.append(container.model_copy(update={"lifecycle": facts}))
        if not partial:
            self._forget_all_but(self._holders)
        return tuple(filled)

    def _note_configuration(self, past: Past, container: ContainerFacts) -> None:
        policy = container.restart_policy
        if policy == "no" and container.restart_count:
            policy = _TAKEN_AWAY
        if policy is not None and past.policies.get(container.id) != policy:
            past.policies[container.id] = policy
            past.version += 1
        if container.image_id is not None and past.images.get(container.id) != container.image_id:
            past.images[container.id] = container.image_id
            past.version += 1
            self._pending_images.append((container.id, container.image_id))
        if container.stop_signal is None:
            return
        number = parse_signal(container.stop_signal)
        if number is not None and past.stop_signals.get(container.id) != number:
            past.stop_signals[container.id] = number
            past.version += 1

    def _facts(
        self,
        past: Past,
        container: ContainerFacts,
        rivals: tuple[str, ...],
        now: datetime,
        since: datetime,
        *,
        complete: bool,
    ) -> LifecycleFacts:
        """Return the container's lifecycle: the one made before, as long as it holds."""
        key = (
            past.version,
            self._coverage.shutdowns,
            rivals,
            container.state,
            container.finished_at,
            container.exit_code,
            container.oom_killed,
            since if self._coverage.observed_since else None,
            complete,
        )
        made = self._made.get(container.id)
        newest_line = container.logs.lines[-1].at if container.logs and container.logs.lines else None
        if made is None or not made.holds(key, newest_line, now):
            facts = self._make(past, container, rivals, now)
            facts = facts.model_copy(update={"observed_since": since, "complete": complete})
            made = _Made(key, facts, now, _holds_until(facts, now), newest_line)
            self._made[container.id] = made
        return made.facts

    def _make(self, past: Past, container: ContainerFacts, rivals: tuple[str, ...], now: datetime) -> LifecycleFacts:
        circumstances = Circumstances(past.stop_signals, past.policies, self._coverage.shutdowns)
        telling = self._tell(past, circumstances)
        unseen = find_unseen_end(past.events, container)
        if rivals or unseen is not None:
            # Labels are claims: what another container that is there now has suffered is not this one's past.
            own = [event for event in past.events if event.container_id not in rivals]
            own = sort_events([*own, unseen]) if unseen is not None else own
            telling = tell(own, circumstances, past.images)
        exits = make_exits(past, telling, container, circumstances, now)
        exits = self._add_lines(past, container, exits)
        return make_facts(past, telling, container, exits, circumstances, now)

    def _tell(self, past: Past, circumstances: Circumstances) -> Telling:
        key = (past.version, circumstances.shutdowns)
        held = self._tellings.get(past.identity)
        if held is not None and held[0] == key:
            return held[1]
        telling = tell(past.events, circumstances, past.images)
        self._tellings[past.identity] = (key, telling)
        self._count(past, telling)
        return telling

    def _count(self, past: Past, telling: Telling) -> None:
        """Add to the totals what they do not hold yet; they never shrink."""
        restarts = [key for key in telling.restarts if key not in past.counted_restarts]
        oom_kills = [key for key in telling.oom_kills if key not in past.counted_oom_kills]
        if not restarts and not oom_kills:
            return
        past.restarts_total += len(restarts)
        past.oom_kills_total += len(oom_kills)
        past.counted_restarts.update(restarts)
        past.counted_oom_kills.update(oom_kills)
        new = {(key, "restart") for key in restarts} | {(key, "oom") for key in oom_kills}
        for event in past.events:
            kind = "restart" if event.action in ("start", INFERRED_RESTART) else event.action
            if ((event.container_id, event.at), kind) in new:
                self._pending_counted.append((past.identity, event))
        self._changed_totals.add(past.identity)

    def _add_lines(
        self, past: Past, container: ContainerFacts, exits: list[tuple[str, ExitFacts]]
    ) -> list[tuple[str, ExitFacts]]:
        """Give the container's own ends their last log lines, where the log still has them."""
        if container.logs is None or not container.logs.lines:
            return exits
        filled = exits[:-TOLD_IN_WORDS]
        for container_id, facts in exits[-TOLD_IN_WORDS:]:
            lines = facts.last_lines
            if container_id == container.id and not lines:
                lines = find_last_lines(container.logs.lines, facts)
            if lines and not facts.last_lines:
                past.note_lines(container_id, facts.at, lines)
                self._pending_lines.append((container_id, to_micros(facts.at), lines_to_text(lines)))
                filled.append((container_id, facts.model_copy(update={"last_lines": lines})))
            else:
                filled.append((container_id, facts))
        return filled

    def _forget_all_but(self, holders: dict[str, list[str]]) -> None:
        present = {container_id for ids in holders.values() for container_id in ids}
        for container_id in self._made.keys() - present:
            del self._made[container_id]
        if self._pending_events or self._pending_counted or self._changed_totals:
            return  # What is not written yet must not be read again.
        for identity in self._pasts.keys() - holders.keys():
            del self._pasts[identity]
            self._tellings.pop(identity, None)

    def take_pending(self, now: datetime) -> list[Statement]:
        """Return what is to be written."""
        overfull = {identity for identity, _ in self._pending_events if self._pasts[identity].overflowed}
        totals = [
            (identity, self._pasts[identity].restarts_total, self._pasts[identity].oom_kills_total, to_micros(now))
            for identity in sorted(self._changed_totals)
        ]
        statements: list[Statement] = [
            insert_events(self._pending_events),
            cap_events(sorted(overfull)),
            mark_counted(self._pending_counted),
            (_RAISE_TOTALS, totals),
            ("INSERT OR REPLACE INTO exit_lines VALUES (?, ?, ?)", self._pending_lines),
            ("INSERT OR REPLACE INTO images VALUES (?, ?)", self._pending_images),
        ]
        self._pending_events, self._pending_counted, self._pending_lines, self._pending_images = [], [], [], []
        self._changed_totals = set()
        return statements

    def restate(self) -> None:
        """Write all that is known once more: the database was lost."""
        for identity, past in self._pasts.items():
            self._pending_events.extend((identity, event) for event in past.events)
            self._changed_totals.add(identity)
            counted = past.counted_restarts | past.counted_oom_kills
            marked = [event for event in past.events if (event.container_id, event.at) in counted]
            self._pending_counted.extend(
                (identity, e) for e in marked if e.action in ("start", "oom", INFERRED_RESTART)
            )
            self._pending_images.extend(past.images.items())
            self._pending_lines.extend((key[0], to_micros(key[1]), lines_to_text(v)) for key, v in past.lines.items())


def _find_holders(containers: Iterable[ContainerFacts], identities: Iterable[str]) -> dict[str, list[str]]:
    holders: dict[str, list[str]] = {}
    for container, identity in zip(containers, identities, strict=True):
        holders.setdefault(identity, []).append(container.id)
    return holders


def _holds_until(facts: LifecycleFacts, now: datetime) -> datetime:
    """Return when the first thing leaves its window, at most an hour from now."""
    oldest = [*(end.at for end in facts.exits[:1]), *facts.restarts[:1], *facts.oom_kills[:1]]
    ends = [at + DAY for at in oldest] + [at + HOUR for at in facts.health_changes[:1]]
    ends = [at for at in ends if at > now]
    return min([*ends, now + timedelta(hours=1)])
