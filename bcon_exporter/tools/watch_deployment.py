"""Watches a deployment for a while: reads the host again and again, and judges what was seen by then."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from bcon_exporter.deployments.verify import NEWEST_WITHIN, Watch, find_since, give_up, note, replicas_of
from bcon_exporter.deployments.verify import observe as observe_deployment
from bcon_exporter.diagnosis import HoldState, LogReader, diagnose_host
from bcon_exporter.drift import detect_drift, find_projects
from bcon_exporter.engine import Wants
from bcon_exporter.errors import (
    BconError,
    ComposeParseError,
    DeadlineExceededError,
    DockerConnectionError,
)
from bcon_exporter.journal import EntryFilter
from bcon_exporter.model.container_facts import ComposeIdentity, HostSnapshot
from bcon_exporter.model.deployment import ComposeRefusal, DeploymentWords
from bcon_exporter.model.desired import DesiredProject, DesiredService, FieldValue, RunningProject
from bcon_exporter.model.findings import DriftType
from bcon_exporter.model.journal import HistoryReport, JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.reports import DriftReport, DriftStatus
from bcon_exporter.model.verify_report import DeploymentVerdict, ServiceVerdict, VerifyReport
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.first_seen import date_symptoms
from bcon_exporter.tools.fresh_snapshot import hide_learned, observe

LEAST_PAUSE_SECONDS = 1.5
PAUSE_SHARE = 5
"""A look that took a second is followed by none for five: watching must not be the load."""
LAST_LOOK_SECONDS = 1.5
REACHED_WITHIN_SECONDS = 10.0
"""An engine that does not answer by then is not there."""
_AWAY = (DockerConnectionError, DeadlineExceededError)
JOURNAL_SLACK = timedelta(seconds=5)
JOURNALED_AT_MOST = 200
JOURNALED_WITHIN = timedelta(seconds=15)
"""A daemon compares a container with the one before it at its next look at the files, some seconds later."""
JOURNAL_ASKED_EVERY_SECONDS = 1.0
_CHANGES = (JournalKind.CONFIG_CHANGE, JournalKind.IMAGE_CHANGE)
_NO_HASH = "none"
_OF_STATE = (DriftType.MISSING_SERVICE, DriftType.NOT_RUNNING)
_LEAST_LOG_WINDOW = 10.0
_LONGEST_LOG_WINDOW = 86400.0


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """What is to be watched.

    Attributes:
        words: Name the Compose files, for somebody who asks.
        window_seconds: For how long.
        since: When the deployment began; None to find it.
        running: A project that runs, by its own files; the words name nothing then.
        container: Name of a container of no project, which is to run well; the words name nothing then.
    """

    words: DeploymentWords = field(default_factory=DeploymentWords)
    window_seconds: float = 0.0
    since: datetime | None = None
    running: str | None = None
    container: str | None = None


class DeploymentWatch:
    """One window. Reads only; what it remembers dies with it.

    Args:
        context: Of a command.
        asked: What to watch.
        wait: Waits for so many seconds.
    """

    def __init__(self, context: Context, asked: WatchRequest, wait: Callable[[float], object]) -> None:
        self._context = context
        self._asked = asked
        self._wait = wait
        self._log_reader = LogReader()
        self._holds = HoldState()
        self._watch = Watch(context.now(), asked.window_seconds, given_since=asked.since)
        self._failure: BconError | None = None
        self._report: VerifyReport | None = None
        self._files: Mapping[str, str] = {}
        self._made: Mapping[str, datetime] = {}
        self._has_journal = False

    def run(
        self, tell: Callable[[VerifyReport], None], ends_with: Callable[[VerifyReport], bool] = lambda _: False
    ) -> VerifyReport:
        """Watch until the window ends, or nothing can change the verdict any more; return the last report.

        Args:
            tell: Is called with the report as it would be then, after each look.
            ends_with: Returns whether nothing more is wanted after such a report.

        Raises:
            BconError: The engine was never reached, or the files could not be read at the end.
        """
        context = self._context
        started = context.monotonic()
        ends = started + self._asked.window_seconds
        if context.one_shot:
            context.host.start()  # a daemon's follows events all the time
        while True:
            began = context.monotonic()
            last = began >= ends
            self.look(min(max(0.0, ends - began) + LAST_LOOK_SECONDS, context.scan_deadline_seconds))
            if self._report is not None and self._failure is None:
                tell(self._report)
                last = last or self._report.is_certain or ends_with(self._report)
            if last or self._is_hopeless(context.monotonic() - started):
                return self._wait_for_journal(self.conclude())
            now = context.monotonic()
            pause = max(LEAST_PAUSE_SECONDS, PAUSE_SHARE * (now - began))
            self._wait(max(0.0, min(pause, ends - now)))

    def _is_hopeless(self, seconds: float) -> bool:
        """Whether nothing was ever seen, and nothing will be: files that are wrong, an engine that is not there."""
        if self._watch.looks or self._failure is None:
            return False
        return seconds >= REACHED_WITHIN_SECONDS or not isinstance(self._failure, _AWAY)

    def conclude(self) -> VerifyReport:
        """Return the report as far as the watch has come.

        Raises:
            BconError: There is nothing to report.
        """
        report, failure, desired = self._report, self._failure, self._watch.desired
        if failure is not None and desired is not None:
            report = give_up(self._watch, self._context.now(), desired.name, failure.message)
        if report is None:
            raise failure or DockerConnectionError("the host was not looked at once", {})
        return report.model_copy(update={"files": dict(self._files)})

    def interrupt(self) -> VerifyReport:
        """Return the report as far as the watch has come when somebody breaks it off."""
        report = self.conclude()
        seconds = (self._context.now() - self._watch.watched_from).total_seconds()
        told = f"Broken off after {seconds:.0f} s of {self._asked.window_seconds:.0f} s: what comes later is not known."
        return report.model_copy(update={"notes": (*report.notes, told)})

    def look(self, deadline_seconds: float) -> None:
        """Read the host once; what fails is kept, and told once it works again."""
        try:
            self._observe(deadline_seconds)
        except BconError as error:
            self._failure = error
            what = "The engine" if isinstance(error, _AWAY) else "The project"
            self._watch = note(self._watch, f"{what} could not be read for a while: {error.message}")
        else:
            self._failure = None

    def _observe(self, deadline_seconds: float) -> None:
        context = self._context
        window = self._log_window(context.now(), self._watch.begun or self._watch.given_since)
        wants = Wants(logs=context.policy.use_logs, usage=True, config=True, log_window_seconds=window)
        snapshot = observe(context, wants, deadline_seconds)
        snapshot = _adopt(snapshot, self._asked.container)
        (desired, self._files), snapshot = self._resolve(snapshot)
        drift = detect_drift(desired, snapshot, context.drift_ignore)
        drift = drift if self._asked.container is None else _without_files(drift)
        since = find_since(self._watch, desired.name, snapshot)
        thresholds = context.thresholds.model_copy(
            update={"log_window_seconds": self._log_window(snapshot.taken_at, since)}
        )
        holds = HoldState(remembered=self._holds.remembered)  # nothing is held: what is over is over
        report, self._holds = diagnose_host(
            snapshot, thresholds, context.catalogue, holds, context.policy, log_reader=self._log_reader
        )
        self._log_reader.end_scan()
        first_seen = context.memory.first_seen("symptom")
        diagnosis = tuple(date_symptoms(one, first_seen) for one in report.reports)
        events = {identity: past.events for identity, past in context.memory.memory.pasts.items()}
        self._watch, verdict = observe_deployment(self._watch, snapshot, desired, drift, diagnosis, events)
        made = {name: containers for name, containers in replicas_of(desired.name, snapshot).items() if containers}
        self._made = {name: max(one.created_at for one in containers) for name, containers in made.items()}
        self._report = self._add_journaled(verdict)

    def _log_window(self, now: datetime, since: datetime | None) -> float:
        """Return how far back lines count: what was said before the deployment is no news."""
        if since is None:
            return self._context.thresholds.log_window_seconds
        return min(max((now - since).total_seconds(), _LEAST_LOG_WINDOW), _LONGEST_LOG_WINDOW)

    def _resolve(self, snapshot: HostSnapshot) -> tuple[tuple[DesiredProject, Mapping[str, str]], HostSnapshot]:
        """Return what the files ask for, their hashes, and the snapshot with what they hide hidden in it."""
        asked, compose = self._asked, self._context.compose

        def resolve() -> tuple[DesiredProject, Mapping[str, str]]:
            projects = find_projects(snapshot)
            if asked.container is not None:
                return _want_alone(asked.container, snapshot), {}
            if asked.running is not None:
                named = (one for one in projects if one.name == asked.running)
                project = next(named, RunningProject(name=asked.running))
                return compose.resolve_running(project, snapshot.taken_at), {}
            resolved = compose.resolve_deployment(asked.words, snapshot.taken_at, projects)
            if resolved.desired is None:
                raise _refused(resolved.refusal)
            return resolved.desired, resolved.files

        return hide_learned(self._context, snapshot, resolve)

    def _wait_for_journal(self, report: VerifyReport) -> VerifyReport:
        """Return the report with what a daemon tells of the bad services' changes, once it has compared them."""
        ends = self._context.monotonic() + JOURNALED_WITHIN.total_seconds()
        while self._is_told_later(report) and self._context.monotonic() < ends:
            self._wait(JOURNAL_ASKED_EVERY_SECONDS)
            report = self._add_journaled(report)
        return report

    def _is_told_later(self, report: VerifyReport) -> bool:
        """Return whether a daemon writes the journal, and may yet tell of a bad service that was just made anew."""
        if not self._has_journal or not self._context.one_shot:
            return False
        oldest = self._context.now() - JOURNALED_WITHIN
        return any(
            service.verdict is DeploymentVerdict.BAD
            and not service.changes
            and self._made.get(service.service, oldest) > oldest
            for service in report.services
        )

    def _add_journaled(self, report: VerifyReport) -> VerifyReport:
        """Return the report with what a journal tells of changes, where the replaced container was not seen.

        What changed is told at the time when a container was made, which may be long before it was started.
        """
        made = [at for at in self._made.values() if at >= report.since - NEWEST_WITHIN]
        began = min([report.since, *made]) - JOURNAL_SLACK
        told: dict[str, list[JournalEntry]] = {}
        for entry in self._find_journaled(report.project, began):
            if entry.at >= self._made.get(entry.service or "", began) - JOURNAL_SLACK:
                told.setdefault(entry.service or "", []).append(entry)
        services = tuple(_with_changes(service, told.get(service.service, ())) for service in report.services)
        return report.model_copy(update={"services": services})

    def _find_journaled(self, project: str, began: datetime) -> Sequence[JournalEntry]:
        """Return what the state file, else the daemon, tells of changes of configuration and image, newest first."""
        context = self._context
        try:
            asked = {"name": project, "since": began.isoformat(), "changes": True, "limit": JOURNALED_AT_MOST}
            ask = context.ask_past
            report: HistoryReport | None = ask("get_history", asked, TypeAdapter(HistoryReport)) if ask else None
            if report is None:
                wanted = EntryFilter(began, context.now() + JOURNAL_SLACK, project, _CHANGES)
                self._has_journal = context.memory.status == "file"
                return context.memory.find_entries(wanted, JOURNALED_AT_MOST)
        except BconError:  # no daemon, or none that tells
            self._has_journal = False
            return ()
        self._has_journal = True
        return tuple(entry for entry in report.entries if entry.kind in _CHANGES)


def _with_changes(service: ServiceVerdict, entries: Sequence[JournalEntry]) -> ServiceVerdict:
    """Return a service with what a journal tells of its changes, where none are known.

    Of a bad one that was there before the deployment they count too: what it was made with may be why.
    """
    is_wanted = not service.changes_known or (service.verdict is DeploymentVerdict.BAD and not service.changes)
    if not entries or not is_wanted:
        return service
    changes = tuple(dict.fromkeys((*service.changes, *(entry.text for entry in entries))))
    return service.model_copy(update={"changes": changes, "changes_known": True})


def _adopt(snapshot: HostSnapshot, container: str | None) -> HostSnapshot:
    """Return the snapshot with a container of no project as the one service of a project of its name.

    So that it is judged as those of a deployment are.
    """
    if container is None:
        return snapshot
    claim = ComposeIdentity(project=container, service=container, config_hash=_NO_HASH)
    containers = tuple(
        one.model_copy(update={"compose": claim}) if one.name == container else one for one in snapshot.containers
    )
    return snapshot.model_copy(update={"containers": containers})


def _want_alone(container: str, snapshot: HostSnapshot) -> DesiredProject:
    """Return what is wanted of a container of no project: that it is there and runs."""
    facts = next((one for one in snapshot.containers if one.name == container), None)
    restart = facts.restart_policy if facts is not None else None
    fields = {"restart": FieldValue(restart, "")} if restart not in (None, "", "no") else {}
    service = DesiredService(name=container, image=facts.image if facts is not None else "", fields=fields)
    return DesiredProject(name=container, resolved_at=snapshot.taken_at, services=(service,))


def _without_files(drift: DriftReport) -> DriftReport:
    """Return what is left of a comparison with files where there are none: whether it is there and runs."""
    kept = tuple(one for one in drift.differences if one.drift_type in _OF_STATE)
    return drift.model_copy(
        update={
            "status": DriftStatus.DRIFTED if kept else DriftStatus.SYNCED,
            "differences": kept,
            "doubts": (),
            "unknown_detail": None,
            "services": tuple(one.model_copy(update={"unread": False}) for one in drift.services),
        }
    )


def _refused(refusal: ComposeRefusal | None) -> ComposeParseError:
    if refusal is None:
        return ComposeParseError("the files could not be read")
    return ComposeParseError(refusal.message, refusal.model_dump(include={"file", "line"}, exclude_none=True))


def judge_deployment(context: Context, project: str) -> VerifyReport:
    """Return the verdict on the newest deployment of a running project, from one look, in the daemon.

    Raises:
        BconError: The host could not be read.
    """
    watch = DeploymentWatch(context, WatchRequest(running=project), lambda _: None)
    watch.look(context.scan_deadline_seconds)
    return watch.conclude()
