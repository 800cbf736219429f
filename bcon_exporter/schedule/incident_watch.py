"""Folds each scan into the open incidents, and writes down what has become of them."""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from bcon_exporter.errors import StateFileError
from bcon_exporter.incidents import (
    EVIDENCE,
    LOOKED_BACK,
    FoldedIncidents,
    HostTroubles,
    IncidentStep,
    KnownPast,
    find_troubles,
    is_ahead,
    is_container_quiet,
    is_outage_open,
    journal_step,
    observe_outage,
    observe_troubles,
)
from bcon_exporter.journal import EntryFilter
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.findings import Severity
from bcon_exporter.model.incidents import IncidentRoot, IncidentState, SeenBefore
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.repetitions import spread_repetitions
from bcon_exporter.model.reports import DiagnoseAllReport
from bcon_exporter.tools import Context
from bcon_exporter.tools.quiet import find_quiet

ENTRIES_AT_MOST = 500
ENTRIES_OF_ONE = 100
TROUBLED_AT_MOST = 50
AWAY_FOR = timedelta(minutes=2)
"""So long must an engine be away: one that is started anew is back before."""
_OVER = (IncidentStep.MERGED, IncidentStep.CLOSED)


def watch_incidents(context: Context, snapshot: HostSnapshot, report: DiagnoseAllReport) -> None:
    """Open, join, merge and close incidents by what a diagnosis has found; drift counts as it was last compared."""
    memory = context.memory.memory
    drift = context.scans.drift
    shutdowns = memory.coverage.shutdowns
    has_watched = context.scans.diagnosis is not None or memory.deployments.seen_until is not None
    look = context.scans.first_look
    if not has_watched or (look is not None and look.goes_on):
        took = (context.now() - report.timestamp).total_seconds()
        context.scans.note_first_look(report.timestamp, max(took, 0.0), is_whole=not report.incomplete)
        look = context.scans.first_look
    muting = find_quiet(context, context.now(), snapshot.containers)
    host = find_troubles(
        report,
        snapshot,
        drift.reports if drift is not None else (),
        logged_errors_at=memory.log_counts.last_failure_at,
        shutdown_ended_at=max((shutdown.ended_at for shutdown in shutdowns), default=None),
        has_watched=has_watched,
        first_look_at=look.files_at if look is not None else None,
        is_quiet=lambda container: is_container_quiet(container, muting),
    )
    host = replace(host, is_set_back=_is_set_back(context, host.at))
    if memory.incidents.open or host.is_set_back or _may_open(host):
        context.memory.fold_incidents(lambda state: _fold(context, state, host), host.at)


def _fold(context: Context, state: IncidentState, host: HostTroubles) -> FoldedIncidents:
    past = KnownPast(_find_entries(context, host, state), partial(_find_earlier, context))
    folded, news = observe_troubles(state, host, past)
    ended = tuple(one.incident for one in news if one.step in _OVER)
    entries = tuple(entry for one in news if (entry := journal_step(one, context.now())) is not None)
    return FoldedIncidents(folded, ended, entries)


def watch_outage(context: Context, away_since: datetime | None) -> datetime | None:
    """Open an incident of the host when its engine has been away for a while; return since when it is away.

    No scan tells of it: one of a hung engine fails after its deadline, or does not come back.

    Args:
        context: With the host and the memory.
        away_since: What this returned when it was called before.
    """
    if context.host.is_up():
        return None
    now = context.now()
    since = min(away_since or now, now)
    if now - since < AWAY_FOR or is_outage_open(context.memory.memory.incidents):
        return since
    error = context.scans.status("diagnose").error
    reason = error.message if error is not None else None
    past = KnownPast(find_earlier=partial(_find_earlier, context))

    def fold(state: IncidentState) -> FoldedIncidents:
        folded, news = observe_outage(state, since, now, reason, past)
        entries = tuple(entry for one in news if (entry := journal_step(one, now)) is not None)
        return FoldedIncidents(folded, (), entries)

    context.memory.fold_incidents(fold, now)
    return since


def _is_set_back(context: Context, now: datetime) -> bool:
    """Return whether our clock was set back since the last scan, or while no exporter ran."""
    last = context.scans.diagnosis
    is_last_later = last is not None and last.report.timestamp > now
    return is_last_later or is_ahead(context.memory.memory.incidents, now)


def _may_open(host: HostTroubles) -> bool:
    is_ill = any(trouble.severity.rank >= Severity.ERROR.rank for trouble in host.troubles)
    return is_ill or host.shutdown_ended_at is not None


def _find_entries(context: Context, host: HostTroubles, state: IncidentState) -> list[JournalEntry]:
    """Return what the journal tells of the time from half an hour before the oldest trouble on, if it can be read."""
    began = [tracked.incident.started_at for tracked in state.open]
    began += [trouble.since for trouble in host.troubles]
    since = min([*began, host.at]) - LOOKED_BACK
    wanted = EntryFilter(since, host.at, kinds=tuple(sorted(EVIDENCE)))
    try:
        entries = context.memory.find_entries(wanted, ENTRIES_AT_MOST)
        if len(entries) == ENTRIES_AT_MOST:  # of a host with many short runs these may be of a minute
            for name in _name_troubled(host, state):
                entries += context.memory.find_entries(wanted._replace(name=name), ENTRIES_OF_ONE)
    except StateFileError:
        return []
    return list(spread_repetitions(entries))


def _name_troubled(host: HostTroubles, state: IncidentState) -> list[str]:
    """Return the containers and projects that are in trouble, those of open incidents first."""
    roots = [tracked.incident.root for tracked in state.open]
    names = [root.project or root.container for root in roots]
    names += [trouble.who.project or trouble.who.container for trouble in host.troubles]
    return list(dict.fromkeys(name for name in names if name))[:TROUBLED_AT_MOST]


def _find_earlier(context: Context, root: IncidentRoot) -> SeenBefore:
    """Return how often the same has happened before, as far as that can be read."""
    try:
        return context.memory.find_earlier_incidents(root)
    except StateFileError:
        return SeenBefore()
