"""What each page shows, read from the last reports, the incidents and the journal; the engine is not asked."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from bcon_exporter.model.container_facts import ContainerFacts, EngineFacts, LogLine
from bcon_exporter.model.disk import DiskItem, DiskReport
from bcon_exporter.model.findings import STATUS_RANK, Severity, Symptom
from bcon_exporter.model.incidents import Incident, IncidentLine
from bcon_exporter.model.journal import HISTORY_KEPT, HistoryReport, JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.lifecycle import ExitFacts
from bcon_exporter.model.name_suggestions import did_you_mean, nearest_names
from bcon_exporter.model.notes import ShownNote
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

NO_PROJECT = "no project"
_DISK_ITEMS = 8
_LINES_AROUND = 4
_LINES_AT_MOST = 60
_HISTORY_OF_ONE = timedelta(days=7)
_CHANGE_KINDS = frozenset((JournalKind.IMAGE_CHANGE, JournalKind.CONFIG_CHANGE, JournalKind.DEPLOYMENT))


@dataclass(frozen=True, slots=True)
class ContainerRow:
    """One container of a list.

    Attributes:
        status: "critical" to "healthy", or "not checked".
        since: When the trouble was first seen.
        what, cause, first_step: Of its worst trouble; empty where there is none.
    """

    name: str
    status: str
    project: str
    state: str
    since: datetime | None = None
    what: str = ""
    cause: str = ""
    first_step: str = ""
    root: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """The containers of one project."""

    project: str
    rows: tuple[ContainerRow, ...]


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Which containers are shown: a part of their names, a project, a status."""

    text: str = ""
    project: str = ""
    status: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "RowFilter":
        """Return what a query asks for."""
        return cls(*(query.get(name, "").strip()[:255] for name in ("q", "project", "status")))

    def __bool__(self) -> bool:
        """Return whether anything is left out."""
        return bool(self.text or self.project or self.status)

    def takes(self, row: ContainerRow) -> bool:
        """Return whether a container is shown."""
        text = self.text.lower()
        return (
            (not text or text in row.name.lower() or text in row.what.lower())
            and self.project in ("", row.project)
            and self.status in ("", row.status)
        )


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
    """The first page. `unread`: why something that is stored is missing."""

    counts: tuple[tuple[str, int], ...]
    total: int
    ignored: int
    incidents: tuple[Incident, ...]
    over: tuple[IncidentLine, ...]
    ailing: tuple[Group, ...]
    unchecked: tuple[ContainerRow, ...]
    healthy: tuple[Group, ...]
    report: DiagnoseAllReport | None
    deployments: tuple[DeploymentRecord, ...]
    drift: tuple[DriftReport, ...]
    untracked: tuple[str, ...]
    disk: DiskReport | None
    quiet: tuple[QuietLine, ...]
    pending: PendingNotes
    notes: tuple[ShownNote, ...]
    filter: RowFilter
    projects: tuple[str, ...]
    exporter: "ExporterState"
    unread: str


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
class ShownLine:
    """A log line. `marked`: the diagnosis quotes it; `skipped`: lines before it are left out."""

    line: LogLine
    marked: bool
    skipped: bool


@dataclass(frozen=True, slots=True)
class ContainerPage:
    """All of one container. `unread`: why something that is stored is missing."""

    report: DiagnosisReport
    row: ContainerRow
    facts: ContainerFacts
    incidents: tuple[Incident, ...]
    lines: tuple[ShownLine, ...]
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
        drift: None for a project that no drift scan has seen yet.
        unread: Why something that is stored is missing.
    """

    name: str
    rows: tuple[ContainerRow, ...]
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


def read_overview(context: Context, hang: str | None, wanted: RowFilter) -> Overview:
    """Return the first page."""
    scan, drift, now = context.scans.diagnosis, context.scans.drift, context.now()
    report = scan.report if scan is not None else None
    reports = report.reports if report is not None else ()
    rows = [row for row in to_rows(context, reports) if wanted.takes(row)]
    why_not, store = why_not_current(context, hang), _Store()
    recent = ListIncidentsInput(open=False, since=now - timedelta(days=2), limit=5)
    shown_drift = drift.reports if drift is not None else ()
    return Overview(
        counts=_counts(report),
        total=report.total_containers if report is not None else 0,
        ignored=report.ignored if report is not None else 0,
        incidents=tuple(sort_incidents(find_open(context))),
        over=store.read(lambda: list_incidents(context, recent).incidents, ()),
        ailing=_group(row for row in rows if row.status in ("critical", "error", "warning")),
        unchecked=tuple(row for row in rows if row.status == "not checked"),
        healthy=_group(row for row in rows if row.status == "healthy"),
        report=report,
        deployments=_newest(store.read(lambda: _list_deployments(context), ())),
        drift=tuple(sorted(shown_drift, key=lambda one: (DRIFT_STATUS_RANK[one.status], one.project_name))),
        untracked=drift.untracked if drift is not None else (),
        disk=_read_disk(context),
        quiet=list_quiet(context, Nothing()).quiet,
        pending=count_pending(context),
        notes=find_notes_of_host(context),
        filter=wanted,
        projects=tuple(sorted({one.project or NO_PROJECT for one in reports})),
        exporter=ExporterState(
            good=why_not is None and report is not None,
            message=why_not
            or ("The engine answers, and the last scan succeeded." if report else "The first scan runs."),
            diagnose=context.scans.status("diagnose"),
            drift=context.scans.status("drift"),
            state_file=context.memory.status,
            known_since=context.memory.observed_since,
        ),
        unread=store.problem,
    )


def _read_disk(context: Context) -> DiskReport | None:
    """Return who fills the disk; None before it was looked at."""
    known = context.memory.memory.disk
    return None if known.logs is None else write_disk_report(known, context.now(), _DISK_ITEMS)


def _disk_of(context: Context, name: str) -> tuple[DiskItem, ...]:
    """Return what a container has on the disk, the largest first; nothing that is empty."""
    own = [item for item in list_items(context.memory.memory.disk) if name in item.containers and item.size_bytes != 0]
    return tuple(sorted(own, key=lambda item: (-(item.size_bytes or 0), item.kind, item.name)))


def _counts(report: DiagnoseAllReport | None) -> tuple[tuple[str, int], ...]:
    if report is None:
        return ()
    return (
        ("critical", report.critical),
        ("error", report.error),
        ("warning", report.warning),
        ("not checked", report.not_checked),
        ("healthy", report.healthy - report.not_checked),
    )


def to_rows(context: Context, reports: Iterable[DiagnosisReport]) -> Iterator[ContainerRow]:
    """Yield a line for each container; what raises in one costs that line, which says so."""
    for report in reports:
        row = ContainerRow(
            name=report.container_name,
            status="not checked",
            project=report.project or NO_PROJECT,
            state=report.state.value,
            what="This row could not be shown; the log says why.",
        )
        with context.errors.contained("reading a row of a page"):
            row = to_row(report)
        yield row


def to_row(report: DiagnosisReport) -> ContainerRow:
    """Return a container's line: its worst symptom, the likeliest cause and the first thing to do."""
    worst = _worst(report)
    blind = report.not_evaluated[0].reason if report.is_unchecked and report.not_evaluated else ""
    return ContainerRow(
        name=report.container_name,
        status="not checked" if report.is_unchecked else report.status,
        project=report.project or NO_PROJECT,
        state=report.state.value,
        since=None if worst is None else worst.first_seen or worst.detected_at,
        what=worst.description if worst is not None else blind,
        cause=report.likely_causes[0].full_text if worst is not None and report.likely_causes else "",
        first_step=report.suggestions[0].action if worst is not None and report.suggestions else "",
        root=report.root,
    )


def _worst(report: DiagnosisReport) -> Symptom | None:
    telling = [symptom for symptom in report.symptoms if symptom.severity is not Severity.INFO]
    return max(telling, key=lambda symptom: symptom.severity.rank, default=None)


def _group(rows: Iterable[ContainerRow]) -> tuple[Group, ...]:
    """Return containers by project: the worst project first, and the worst container first in each."""
    groups: dict[str, list[ContainerRow]] = {}
    for row in sorted(rows, key=lambda row: (-_rank(row), row.root is not None, row.name)):
        groups.setdefault(row.project, []).append(row)
    worst_first = sorted(groups.items(), key=lambda item: (-_rank(item[1][0]), item[0] == NO_PROJECT, item[0]))
    return tuple(Group(project, tuple(members)) for project, members in worst_first)


def _rank(row: ContainerRow) -> int:
    return next((rank for status, rank in STATUS_RANK.items() if status == row.status), 0)


def _newest(records: Sequence[DeploymentRecord]) -> tuple[DeploymentRecord, ...]:
    """Return the newest deployment of each project."""
    newest: dict[str, DeploymentRecord] = {}
    for record in records:
        newest.setdefault(record.project, record)
    return tuple(newest.values())


def read_container(context: Context, name: str) -> ContainerPage:
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
        row=to_row(report),
        facts=facts,
        incidents=tuple(own),
        lines=pick_lines(facts, report),
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


def pick_lines(facts: ContainerFacts, report: DiagnosisReport) -> tuple[ShownLine, ...]:
    """Return the newest log lines that the diagnosis quotes, with those around them; else just the newest."""
    lines = facts.logs.lines if facts.logs is not None else ()
    quotes = [text for symptom in report.symptoms for text in symptom.evidence]
    quotes += [text for cause in report.likely_causes for text in cause.evidence]
    marked = {
        index for index, line in enumerate(lines) if line.text.strip() and any(line.text in one for one in quotes)
    }
    if marked:
        near = {at for index in marked for at in range(index - _LINES_AROUND, index + _LINES_AROUND + 1)}
        chosen = sorted(near & set(range(len(lines))))[-_LINES_AT_MOST:]
    else:
        chosen = list(range(len(lines)))[-_LINES_AT_MOST // 3 :]
    return tuple(
        ShownLine(lines[index], index in marked, position > 0 and chosen[position - 1] != index - 1)
        for position, index in enumerate(chosen)
    )


def read_project(context: Context, name: str) -> ProjectPage:
    """Return all of one project.

    Raises:
        ComposeFileNotFoundError: No such project runs or is configured; `details["near_matches"]`.
    """
    scan, drift = context.scans.diagnosis, context.scans.drift
    reports = scan.report.reports if scan is not None else ()
    own = [one for one in reports if (one.project or NO_PROJECT) == name]
    rows = list(to_rows(context, own))
    rows.sort(key=lambda row: (-_rank(row), row.name))
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
    return ProjectPage(
        name=name,
        rows=tuple(rows),
        drift=_leave_out_strangers(found, own),
        incidents=tuple(find_open(context, None if name == NO_PROJECT else name)) if found is not None else (),
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
