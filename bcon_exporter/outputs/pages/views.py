"""What each page shows, read from the last reports, the incidents and the journal.

The engine is asked for nothing but a part of a log that a reader asks for.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from bcon_exporter.errors import (
    BconError,
    ContainerNotFoundError,
    DockerConnectionError,
    InvalidInputError,
    StateFileError,
)
from bcon_exporter.incidents import HostSentence, HostSituation, describe_host, sort_incidents
from bcon_exporter.latest_scans import ScanStatus
from bcon_exporter.memory import UsageSlot
from bcon_exporter.model.alerts import Alert, AlertsReport
from bcon_exporter.model.container_facts import ContainerFacts, EngineFacts
from bcon_exporter.model.disk import DiskItem, DiskReport
from bcon_exporter.model.findings import STATUSES
from bcon_exporter.model.incidents import Incident, IncidentLine
from bcon_exporter.model.journal import HISTORY_KEPT, HistoryReport, JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.lifecycle import ExitFacts, FailedRun
from bcon_exporter.model.name_suggestions import did_you_mean, nearest_names
from bcon_exporter.model.notes import ShownNote
from bcon_exporter.model.quantities import show_duration
from bcon_exporter.model.quiet import QuietLine
from bcon_exporter.model.reports import DRIFT_STATUS_RANK, DiagnoseAllReport, DiagnosisReport, DriftReport
from bcon_exporter.model.tool_inputs import (
    GetHistoryInput,
    GetIncidentInput,
    ListDeploymentsInput,
    ListIncidentsInput,
    Nothing,
    Words,
)
from bcon_exporter.model.verify_report import DeploymentRecord
from bcon_exporter.outputs.pages.charts import Chart, draw_cpu, draw_memory
from bcon_exporter.outputs.pages.container_table import (
    NO_PROJECT,
    ContainerRow,
    ContainerTable,
    Order,
    PageFilter,
    make_table,
    to_row,
    to_rows,
)
from bcon_exporter.outputs.pages.log_panel import LogPanel, read_log_panel
from bcon_exporter.tools import Context, find_tool
from bcon_exporter.tools.disk import list_items, write_disk_report
from bcon_exporter.tools.drift import find_report
from bcon_exporter.tools.exporter_status import get_history, list_deployments
from bcon_exporter.tools.incidents import find_incident, find_open, list_incidents
from bcon_exporter.tools.notes import (
    PendingNotes,
    count_pending,
    find_notes_of_host,
    find_notes_of_project,
    with_notes,
)
from bcon_exporter.tools.quiet import find_quiet_now, list_quiet
from bcon_exporter.tools.registry import parse_input

Stored = TypeVar("Stored")

_DISK_ITEMS = 8
_HISTORY_OF_ONE = timedelta(days=7)
_CHANGE_KINDS = frozenset((JournalKind.IMAGE_CHANGE, JournalKind.CONFIG_CHANGE, JournalKind.DEPLOYMENT))


@dataclass(frozen=True, slots=True)
class HostHeader:
    """What every page says of the host.

    Attributes:
        state: See `read_state`.
    """

    name: str
    engine: EngineFacts | None
    sentence: HostSentence
    now: datetime
    to_local: Callable[[datetime], datetime]
    taken_at: datetime | None
    state: str
    version: str
    open_incidents: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The first page: of all its parts what the filter takes.

    Attributes:
        counts: Containers by status that its words and project take.
        failures: Open incidents, the worst first.
        told: Containers of which a failure tells: their rows need not.
        failures_total: How many failures there are without a filter.
        ended: Runs of the last day that failed and removed themselves.
        unread: Why something that is stored is missing.
    """

    counts: tuple[tuple[str, int], ...]
    ignored: int
    table: ContainerTable
    failures: tuple[Incident, ...]
    told: frozenset[str]
    failures_total: int
    ended: tuple[FailedRun, ...]
    over: tuple[IncidentLine, ...]
    deployments: tuple[DeploymentRecord, ...]
    drift: tuple[DriftReport, ...]
    untracked: tuple[str, ...]
    disk: DiskReport | None
    quiet: tuple[QuietLine, ...]
    pending: PendingNotes
    notes: tuple[ShownNote, ...]
    filter: PageFilter
    query: Mapping[str, str]
    projects: tuple[str, ...]
    exporter: "ExporterState"
    unread: str

    @property
    def others(self) -> int:
        """How many things the filter takes that are no containers and no failures."""
        parts = (self.ended, self.over, self.deployments, self.drift, self.untracked, self.quiet, self.notes)
        return sum(map(len, parts)) + (len(self.disk.items) if self.disk is not None else 0)


@dataclass(frozen=True, slots=True)
class ExporterState:
    """How bcon-exporter itself is doing."""

    good: bool
    message: str
    diagnose: ScanStatus
    drift: ScanStatus
    state_file: str
    known_since: datetime | None


@dataclass(frozen=True, slots=True)
class ContainerPage:
    """All of one container.

    Attributes:
        image_says: What the labels of its image claim of its version and age; may be empty.
        unread: Why something that is stored is missing.
    """

    report: DiagnosisReport
    row: ContainerRow
    facts: ContainerFacts
    image_says: str
    incidents: tuple[Incident, ...]
    log: LogPanel
    query: Mapping[str, str]
    ends: tuple[ExitFacts, ...]
    cpu: Chart | None
    memory: Chart | None
    slots: tuple[UsageSlot, ...]
    history: HistoryReport
    changes: tuple[JournalEntry, ...]
    alerts: tuple[Alert, ...]
    disk: tuple[DiskItem, ...]
    quiet: QuietLine | None
    unread: str


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """All of one Compose project.

    Attributes:
        told: Containers of which an incident tells.
        drift: None for a project that no drift scan has seen yet.
        unread: Why something that is stored is missing.
    """

    name: str
    table: ContainerTable
    told: frozenset[str]
    drift: DriftReport | None
    incidents: tuple[Incident, ...]
    deployments: tuple[DeploymentRecord, ...]
    quiet: QuietLine | None
    notes: tuple[ShownNote, ...]
    unread: str


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A part of the journal, and what was asked for."""

    report: HistoryReport
    query: Mapping[str, str]
    limit: int
    offset: int


class _Store:
    """Reads what is stored, for a page that without it tells all the same how the host is now.

    Attributes:
        problem: Why something could not be read; empty where all could.
    """

    def __init__(self) -> None:
        self.problem = ""

    def read(self, read: Callable[[], Stored], instead: Stored) -> Stored:
        """Return what is stored; `instead` where it cannot be read."""
        try:
            return read()
        except StateFileError as error:
            self.problem = error.message
            return instead


def read_host(context: Context, hang: str | None) -> HostHeader:
    """Return what every page says of the host."""
    scan, now = context.scans.diagnosis, context.now()
    report = scan.report if scan is not None else None
    drift = context.scans.drift
    incidents, store = find_open(context), _Store()
    situation = HostSituation(
        now=now,
        report=report,
        not_current=why_not_current(context, hang),
        incidents=incidents,
        drift=drift.reports if drift is not None else (),
        deployments=store.read(lambda: _list_deployments(context), ()),
        well_since=store.read(lambda: _well_since(context, report), None),
        to_local=context.to_local,
        quiet=list_quiet(context, Nothing()).quiet,
    )
    engine = scan.snapshot.engine if scan is not None else None
    return HostHeader(
        name=context.host_name or (engine.name if engine is not None else ""),
        engine=engine,
        sentence=describe_host(situation),
        now=now,
        to_local=context.to_local,
        taken_at=report.timestamp if report is not None else None,
        state=read_state(context),
        version=context.version,
        open_incidents=len(incidents),
    )


def _list_deployments(context: Context) -> tuple[DeploymentRecord, ...]:
    return list_deployments(context, ListDeploymentsInput(limit=50)).deployments


def read_state(context: Context) -> str:
    """Return what stands for all that a page shows of the host, but for ages and numbers: changed, it is news."""
    scan, drift = context.scans.diagnosis, context.scans.drift
    seen = hashlib.sha256()
    for one in scan.report.reports if scan is not None else ():
        seen.update(f"{one.container_name}\0{one.status}\0{one.checked}\0{one.root}\0{one.state}\n".encode())
    for report in drift.reports if drift is not None else ():
        seen.update(f"{report.project_name}\0{report.status}\0{len(report.differences)}\n".encode())
    seen.update("\n".join(one.id for one in find_open(context)).encode())
    return seen.hexdigest()[:16]


def why_not_current(context: Context, hang: str | None) -> str | None:
    """Return why the last report does not tell how the host is now; None where it does."""
    status = context.scans.status("diagnose")
    if hang is not None:
        return hang
    if status.error is not None:
        return f"the last scan failed: {status.error.message}"
    if not context.host.is_up() and context.scans.diagnosis is not None:
        return "the engine does not answer"
    return None


def _well_since(context: Context, report: DiagnoseAllReport | None) -> datetime | None:
    """Return since when nothing has been found, as far as the journal tells; None where something is."""
    known_since = context.memory.observed_since
    if report is None or known_since is None or report.healthy < report.total_containers:
        return None
    request = GetHistoryInput(since=context.now() - HISTORY_KEPT, kind=JournalKind.SYMPTOM_OFF, limit=1)
    entries = get_history(context, request).entries
    return max([known_since, *(entry.at for entry in entries)])


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a filter takes. `containers`: the names of those that it takes."""

    wanted: PageFilter
    containers: frozenset[str]

    def takes(self, names: Iterable[str | None], project: str | None, *texts: str | None) -> bool:
        """Return whether something is of a container that is shown, or says itself what is looked for."""
        return any(name in self.containers for name in names) or self.wanted.takes_other(project, *texts)

    def takes_incident(self, incident: Incident) -> bool:
        """Return whether a failure is shown."""
        members = (member.container for member in incident.members)
        return self.takes(members, incident.root.project, *_words_of_incident(incident))


def read_overview(context: Context, hang: str | None, query: Mapping[str, str]) -> Overview:
    """Return the first page."""
    scan, drift, now = context.scans.diagnosis, context.scans.drift, context.now()
    report = scan.report if scan is not None else None
    wanted, order, store = PageFilter.of(query), Order.of(query), _Store()
    rows = list(to_rows(context, scan))
    shown = _Shown(wanted, frozenset(row.name for row in rows if wanted.takes(row)))
    incidents = sort_incidents(find_open(context))
    failures = tuple(filter(shown.takes_incident, incidents))
    recent = ListIncidentsInput(open=False, since=now - timedelta(days=2), limit=5)
    over: tuple[IncidentLine, ...] = store.read(lambda: list_incidents(context, recent).incidents, ())
    deployments = _newest(store.read(lambda: _list_deployments(context), ()))
    ended, quiet = report.ended if report is not None else (), list_quiet(context, Nothing()).quiet
    return Overview(
        counts=_count_statuses(rows, wanted),
        ignored=report.ignored if report is not None else 0,
        table=make_table(rows, wanted, order, query.get("open", "")),
        failures=failures,
        told=frozenset(member.container for one in failures for member in one.members if member.container),
        failures_total=len(incidents),
        ended=tuple(run for run in ended if shown.takes((), run.project, run.name, run.image)),
        over=tuple(one for one in over if shown.takes((one.root.container,), one.root.project, one.title)),
        deployments=tuple(
            one for one in deployments if wanted.takes_other(one.project, one.summary, *_words_of_services(one))
        ),
        drift=_take_drift(drift.reports if drift is not None else (), wanted),
        untracked=_take_untracked(drift.untracked if drift is not None else (), rows, shown),
        disk=_read_disk(context, shown),
        quiet=tuple(one for one in quiet if shown.takes((one.name,), one.name, one.name, one.why)),
        pending=count_pending(context),
        notes=tuple(note for note in find_notes_of_host(context) if wanted.takes_other(note.about.project, note.text)),
        filter=wanted,
        query={name: query.get(name, "") for name in ("q", "project", "status", "sort", "open")},
        projects=tuple(sorted({row.project for row in rows})),
        exporter=_read_exporter(context, hang, report),
        unread=store.problem,
    )


def _take_drift(reports: Iterable[DriftReport], wanted: PageFilter) -> tuple[DriftReport, ...]:
    """Return the projects that a filter takes, the worst first."""
    in_order = sorted(reports, key=lambda one: (DRIFT_STATUS_RANK[one.status], one.project_name))
    return tuple(
        one
        for one in in_order
        if wanted.takes_other(one.project_name, one.summary, one.unknown_detail, *_words_of_differences(one))
    )


def _take_untracked(names: Iterable[str], rows: Iterable[ContainerRow], shown: _Shown) -> tuple[str, ...]:
    project_of = {row.name: row.project for row in rows}
    return tuple(name for name in names if shown.takes((name,), project_of.get(name), name))


def _read_exporter(context: Context, hang: str | None, report: DiagnoseAllReport | None) -> ExporterState:
    why_not = why_not_current(context, hang)
    well = "The engine answers, and the last scan succeeded." if report is not None else "The first scan runs."
    return ExporterState(
        good=why_not is None and report is not None,
        message=why_not or well,
        diagnose=context.scans.status("diagnose"),
        drift=context.scans.status("drift"),
        state_file=context.memory.status,
        known_since=context.memory.observed_since,
    )


def _words_of_incident(incident: Incident) -> Iterator[str]:
    yield from (incident.title, *incident.evidence)
    for cause in incident.causes:
        yield from (cause.full_text, *cause.evidence)
    yield from (change.text for change in incident.changes)


def _words_of_services(deployment: DeploymentRecord) -> Iterator[str]:
    for service in deployment.services:
        yield from (service.service, service.message, *service.changes)


def _words_of_differences(drift: DriftReport) -> Iterator[str | None]:
    for difference in drift.differences:
        yield from (difference.service_name, difference.message, difference.field)
        yield from (difference.expected, difference.actual)


def _count_statuses(rows: Iterable[ContainerRow], wanted: PageFilter) -> tuple[tuple[str, int], ...]:
    """Return how many containers of each status the rest of a filter takes, the worst first."""
    counted = Counter(row.status for row in rows if replace(wanted, status="").takes(row))
    return tuple((status, counted[status]) for status in (*reversed(STATUSES[1:]), "not checked", STATUSES[0]))


def _read_disk(context: Context, shown: _Shown) -> DiskReport | None:
    """Return who of those that a filter takes fills the disk; None before it was looked at, and where none is taken."""
    known = context.memory.memory.disk
    if known.logs is None:
        return None
    report = write_disk_report(known, context.now(), _DISK_ITEMS)
    if not shown.wanted:
        return report
    items = [item for item in list_items(known) if shown.takes(item.containers, item.project, item.name)]
    return report.model_copy(update={"items": _largest_first(items)[:_DISK_ITEMS]}) if items else None


def _largest_first(items: Iterable[DiskItem]) -> tuple[DiskItem, ...]:
    return tuple(sorted(items, key=lambda item: (-(item.size_bytes or 0), item.kind, item.name)))


def _disk_of(context: Context, name: str) -> tuple[DiskItem, ...]:
    """Return what a container has on the disk, the largest first; nothing that is empty."""
    return _largest_first(
        item for item in list_items(context.memory.memory.disk) if name in item.containers and item.size_bytes != 0
    )


def _newest(records: Sequence[DeploymentRecord]) -> tuple[DeploymentRecord, ...]:
    """Return the newest deployment of each project."""
    newest: dict[str, DeploymentRecord] = {}
    for record in records:
        newest.setdefault(record.project, record)
    return tuple(newest.values())


def read_container(context: Context, name: str, query: Mapping[str, str]) -> ContainerPage:
    """Return all of one container, by name or short id.

    Raises:
        ContainerNotFoundError: The last scan has seen none; `details["near_matches"]`.
        InvalidInputError: It is left out of the diagnosis.
        DockerConnectionError: There was no scan yet.
    """
    report, facts = _find_diagnosed(context, name)
    now, container_id, store = context.now(), facts.id, _Store()
    since = now - timedelta(days=1)
    slots: tuple[UsageSlot, ...] = store.read(lambda: tuple(context.memory.find_usage(container_id, since)), ())
    usage = facts.usage or facts.last_usage
    history = _read_week(context, report.container_name, store)
    own = [one for one in find_open(context) if report.container_name in {member.container for member in one.members}]
    return ContainerPage(
        report=with_notes(context, report),
        row=to_row(report, facts),
        facts=facts,
        image_says=_read_labels_of_image(facts, now),
        incidents=tuple(own),
        log=read_log_panel(context, facts, report, query),
        query={name: query.get(name, "") for name in ("lines", "part", "find")},
        ends=tuple(reversed(facts.lifecycle.exits[-5:])) if facts.lifecycle is not None else (),
        cpu=draw_cpu(slots, now),
        memory=draw_memory(slots, now, usage.memory_limit_bytes if usage is not None else None),
        slots=slots,
        history=history,
        changes=tuple(entry for entry in history.entries if entry.kind in _CHANGE_KINDS)[:5],
        alerts=_alerts_about(context, report.container_name),
        disk=_disk_of(context, report.container_name),
        quiet=find_quiet_now(context).find(report.container_name, report.project, report.service),
        unread=store.problem,
    )


def _read_labels_of_image(facts: ContainerFacts, now: datetime) -> str:
    """Return version and age as the labels of the image claim them; an image made from another may carry that one's."""
    version = facts.labels.get("org.opencontainers.image.version", "")
    said = [f"version {version[:80]}"] if version else []
    try:
        made_at = datetime.fromisoformat(facts.labels.get("org.opencontainers.image.created", ""))
        said.append(f"made {show_duration((now - made_at).total_seconds())} ago")
    except (TypeError, ValueError):  # no label, no time, or one without a zone
        pass
    return f"by its labels {', '.join(said)}" if said else ""


def _find_diagnosed(context: Context, name: str) -> tuple[DiagnosisReport, ContainerFacts]:
    """Return what the last scan says of a container, and its facts; raises what `read_container` says."""
    scan = context.scans.diagnosis
    if scan is None:
        raise _nothing_yet(context)
    report = next((one for one in scan.report.reports if name in (one.container_name, one.container_id)), None)
    facts = next((one for one in scan.snapshot.containers if report and one.short_id == report.container_id), None)
    if report is None and any(name in (one.name, one.short_id) for one in scan.snapshot.containers):
        msg = f"{name} is left out of the diagnosis by a filter or by its label bcon.ignore"
        raise InvalidInputError(msg, {"container_id": name})
    if report is None or facts is None:
        known = [one.container_name for one in scan.report.reports]
        msg = f"the last scan has seen no such container{did_you_mean(name, known)}"
        raise ContainerNotFoundError(msg, {"near_matches": nearest_names(name, known)})
    return report, facts


def _read_week(context: Context, container: str, store: _Store) -> HistoryReport:
    now = context.now()
    asked = GetHistoryInput(name=container, since=now - _HISTORY_OF_ONE, limit=50)
    unknown = HistoryReport(since=now - _HISTORY_OF_ONE, until=now, total=0, entries=(), known_since=None)
    return store.read(lambda: get_history(context, asked), unknown)


def _alerts_about(context: Context, container: str) -> tuple[Alert, ...]:
    """Return the alerts of a container that fire, one of a name."""
    alerts = context.scans.alerts.report.alerts if context.scans.alerts is not None else ()
    own = {one.name: one for one in alerts if one.labels.get("container") == container and one.state == "firing"}
    return tuple(own.values())


def _nothing_yet(context: Context) -> BconError:
    error = context.scans.status("diagnose").error
    return error or DockerConnectionError("the first scan has not ended yet; try again in a few seconds", {})


def read_project(context: Context, name: str) -> ProjectPage:
    """Return all of one project.

    Raises:
        ComposeFileNotFoundError: No such project runs or is configured; `details["near_matches"]`.
    """
    scan, drift = context.scans.diagnosis, context.scans.drift
    reports = scan.report.reports if scan is not None else ()
    own = [one for one in reports if (one.project or NO_PROJECT) == name]
    rows = Order().sort(to_rows(context, scan, own))
    known = [report.project_name for report in drift.reports] if drift is not None else []
    found = None
    if drift is not None and (name in known or not rows):
        found = find_report(drift.reports, name)
    elif not rows:
        raise _nothing_yet(context)
    store, asked = _Store(), ListDeploymentsInput(project=name, limit=10)
    deployments: tuple[DeploymentRecord, ...] = ()
    if found is not None:
        deployments = store.read(lambda: list_deployments(context, asked).deployments, ())
    incidents = tuple(find_open(context, None if name == NO_PROJECT else name)) if found is not None else ()
    return ProjectPage(
        name=name,
        table=ContainerTable(tuple(rows), (), len(rows), Order()),
        told=frozenset(member.container for one in incidents for member in one.members if member.container),
        drift=_leave_out_strangers(found, own),
        incidents=incidents,
        deployments=deployments,
        quiet=find_quiet_now(context).find(None, name, None),
        notes=find_notes_of_project(context, name, own, found),
        unread=store.problem,
    )


def _leave_out_strangers(drift: DriftReport | None, own: Iterable[DiagnosisReport]) -> DriftReport | None:
    """Return a project's drift without containers of no project, which every project's report names."""
    if drift is None:
        return None
    names = {report.container_name for report in own}
    return drift.model_copy(update={"untracked": tuple(name for name in drift.untracked if name in names)})


def read_incident(context: Context, incident_id: str) -> Incident:
    """Return all of one incident.

    Raises:
        NotFoundError, InvalidInputError: There is no such, or it cannot be an id.
    """
    request = parse_input(find_tool("get_incident"), {"incident_id": incident_id}, context.now())
    assert isinstance(request, GetIncidentInput)  # noqa: S101 -- the tool's own input
    return find_incident(context, str(request.incident_id))


def read_history(context: Context, query: Mapping[str, str]) -> HistoryPage:
    """Return a part of the journal.

    Raises:
        InvalidInputError: What was asked for cannot be.
    """
    asked = {
        name: query[name].strip()
        for name in ("name", "kind", "words", "since", "offset")
        if query.get(name, "").strip()
    }
    words = Words({"since": "7d", "limit": "100", **asked})
    request = parse_input(find_tool("get_history"), words, context.now(), context.to_local)
    assert isinstance(request, GetHistoryInput)  # noqa: S101 -- the tool's own input
    return HistoryPage(get_history(context, request), asked, request.limit, request.offset)


def read_alerts(context: Context) -> AlertsReport | None:
    """Return the alerts of the last round; None before the first."""
    last = context.scans.alerts
    return None if last is None else last.report
