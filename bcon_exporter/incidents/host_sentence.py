"""How the host is, in one line that anybody can read aloud: the first one of every face."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from bcon_exporter.incidents.changes import find_telling_change
from bcon_exporter.incidents.titles import list_names, say_failure, say_warning
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.findings import DriftType, Severity
from bcon_exporter.model.incidents import HOST_CODE, Incident
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.quantities import show_count, show_duration
from bcon_exporter.model.quiet import QuietLine
from bcon_exporter.model.reports import DiagnoseAllReport, DiagnosisReport, DriftReport, DriftStatus
from bcon_exporter.model.verify_report import DeploymentRecord, DeploymentVerdict

TOLD_AT_MOST = 2
"""Failures, and warnings, that are told in words; the others are counted."""
_BRIEF_CHARACTERS = 150
"""Of the two worst failures, where the rest is told beside: more would take a second line on a wide screen."""
_DEPLOYMENT_IS_NEWS = timedelta(days=1)
_WORTH_SAYING = timedelta(minutes=2)
_UP = frozenset((ContainerState.RUNNING, ContainerState.PAUSED, ContainerState.RESTARTING))
_WHAT_CHANGED = {
    JournalKind.ENGINE_RESTART: "the engine or its host was down",
    JournalKind.IMAGE_CHANGE: "{}'s image",
    JournalKind.CONFIG_CHANGE: "{}'s configuration",
    JournalKind.NETWORK_DISCONNECT: "{} left a network",
    JournalKind.PAUSE: "{} was paused",
    JournalKind.KILL: "{} was killed (docker kill)",
    JournalKind.NETWORK_CONNECT: "{} joined a network",
    JournalKind.UNPAUSE: "{} was resumed",
    JournalKind.REMOVE: "{} was removed",
    JournalKind.STOP: "{} ended or was stopped",
    JournalKind.DRIFT_ON: "{} began to differ from its Compose files",
    JournalKind.DRIFT_OFF: "{} is again as its Compose files say",
    JournalKind.START: "{} was started",
}


class HostTone(StrEnum):
    """How worried to be, from the least to the most; `unknown` where nobody can tell."""

    GOOD = "good"
    UNKNOWN = "unknown"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class HostSituation:
    """What is known of a host at one moment.

    Attributes:
        report: Of the last good scan, with every container's full report; None before the first.
        not_current: Why the report does not tell how the host is now; None where it does.
        incidents: Open ones.
        drift: As last compared.
        deployments: Those seen lately, newest first.
        well_since: Since when nothing has been found, as far as that is known.
        quiet: What is quiet now.
        to_local: Returns a time as people here read it.
    """

    now: datetime
    report: DiagnoseAllReport | None
    not_current: str | None = None
    incidents: Sequence[Incident] = ()
    drift: Sequence[DriftReport] = ()
    deployments: Sequence[DeploymentRecord] = ()
    well_since: datetime | None = None
    quiet: Sequence[QuietLine] = ()
    to_local: Callable[[datetime], datetime] = lambda at: at


@dataclass(frozen=True, slots=True)
class HostSentence:
    """The line: a few short sentences of ours, with names in them and nothing that a container printed.

    Attributes:
        brief: The same in two, for a face that tells the rest beside it: how many are well, and the two worst.
    """

    tone: HostTone
    parts: tuple[str, ...]
    brief: tuple[str, ...]

    @property
    def text(self) -> str:
        """The whole line."""
        return " ".join(self.parts)


def describe_host(host: HostSituation) -> HostSentence:
    """Return how the host is."""
    report = host.report
    if report is None:
        why = _bare(host.not_current or "the first scan is under way")
        return _say_whole(HostTone.UNKNOWN, f"Nothing is known yet: {why}.")
    if host.not_current is not None:
        ago = show_duration((host.now - report.timestamp).total_seconds())
        past = f"{ago[0].upper()}{ago[1:]} ago {_count_well(report, 'was', 'were')}."
        return _say_whole(HostTone.UNKNOWN, f"How the host is now is not known: {_bare(host.not_current)}.", past)
    failures = [*_say_incidents(host, report), *_say_errors(host, report)]
    beside = [*_say_warnings(host, report), *_say_unchecked(report), *_say_deployments(host), *_say_drift(host)]
    tone = max((one.tone for one in (*failures, *beside)), key=tuple(HostTone).index, default=HostTone.GOOD)
    told = _say_failures([one.text for one in failures])
    brief = _say_failures([one.short for one in failures])
    if sum(map(len, brief)) > _BRIEF_CHARACTERS:
        brief = _say_failures([one.short for one in failures], at_most=1)
    if beside and not failures:
        brief = [beside[0].text, *_say_besides(beside[1:])]
    if failures and beside:
        told += _say_besides(beside)
    else:
        told += [one.text for one in beside]
    first = f"{_count_well(report, 'is', 'are')}." if told else _say_well(host, report)
    first = f"{first[0].upper()}{first[1:]}"
    return HostSentence(tone, (first, *told, *_say_quiet(host)), (first, " ".join(brief)) if brief else (first,))


def _say_whole(tone: HostTone, *parts: str) -> HostSentence:
    return HostSentence(tone, parts, parts)


class _Said(NamedTuple):
    """One thing to say; `short` where the rest is told beside it, or failures matter more."""

    tone: HostTone
    text: str
    short: str


def _say_besides(beside: Sequence[_Said]) -> list[str]:
    return [f"Besides: {', '.join(one.short for one in beside)}."] if beside else []


def _say_failures(failures: Sequence[str], at_most: int = TOLD_AT_MOST) -> list[str]:
    told = list(failures[:at_most])
    if len(failures) > at_most:
        told[0] = f"{len(failures)} failures: {told[0]}"
        told[-1] += f" And {len(failures) - at_most} more."
    return told


def _count_well(report: DiagnoseAllReport, singular: str, plural: str) -> str:
    total, well = report.total_containers, report.healthy - report.not_checked
    if total == 0:
        return f"there {singular} no container"
    if well < total:
        return f"{well} of {total} {singular if well == 1 else plural} well"
    whole = {1: "the one container", 2: "both containers"}.get(total, f"all {total}")
    return f"{whole} {singular if total == 1 else plural} well"


def _say_well(host: HostSituation, report: DiagnoseAllReport) -> str:
    if report.total_containers == 0:
        left_out = f"; {show_count(report.ignored, 'container')} left out by filters" if report.ignored else ""
        return f"There is no container to look at{left_out}."
    if report.reports and not any(one.state in _UP for one in report.reports):
        count = report.total_containers
        who = "the one container shows" if count == 1 else f"none of the {count} containers shows"
        return (
            f"Nothing runs, and {who} a failure of late." if count > 1 else f"Nothing runs; {who} no failure of late."
        )
    since = host.well_since
    lasts = since is not None and host.now - since >= _WORTH_SAYING
    span = f", for {show_duration((host.now - since).total_seconds())}" if lasts and since is not None else ""
    return f"{_count_well(report, 'is', 'are')}{span}."


def _say_incidents(host: HostSituation, report: DiagnoseAllReport) -> Iterator[_Said]:
    worst_first = sort_incidents(host.incidents)
    ill = {one.container_name for one in report.reports if one.status != "healthy"}
    going_on = [one for one in worst_first if _goes_on(one, ill)]
    for incident in going_on:
        text = f"{_upper_the(incident.title)}.{_say_change(incident, host.to_local, host.now)}"
        yield _Said(HostTone.BAD, text, f"{_upper_the(_name_root(incident))}.")
    if worst_first and not going_on:
        text = "Just over, if it stays so: {}."
        yield _Said(HostTone.WARNING, text.format(worst_first[0].title), text.format(_name_root(worst_first[0])))


def sort_incidents(incidents: Sequence[Incident]) -> list[Incident]:
    """Return the worst first; of equally bad ones that from which most suffer, then the oldest."""
    return sorted(incidents, key=lambda one: (-one.severity.rank, -len(one.members), one.started_at, one.id))


def _goes_on(incident: Incident, ill: set[str]) -> bool:
    """Whether something of it is still to be seen; one that has just become well counts as open for two minutes."""
    if incident.root.code in set(DriftType) or incident.root.container is None:
        return True
    return any(member.container in ill for member in incident.members)


def _name_root(incident: Incident) -> str:
    """Return its title without those who suffer from it."""
    root = incident.root
    return incident.title if root.code == HOST_CODE else say_failure(root.name, root.code, ())


def _upper_the(title: str) -> str:
    """Begin with a capital letter where the first word is ours: a container's name stays as it is written."""
    return f"T{title[1:]}" if title.startswith("the ") else title


def _say_change(incident: Incident, to_local: Callable[[datetime], datetime], now: datetime) -> str:
    """Tell the most telling change before it."""
    change = find_telling_change(incident)
    if change is None:
        return ""
    who = change.container or change.service or change.project or "the host"
    what = _WHAT_CHANGED.get(change.kind, "{}").format(who)
    return f" Changed before: {what}, {show_clock(change.at, to_local, now)}."


def _find_left(host: HostSituation, report: DiagnoseAllReport) -> list[DiagnosisReport]:
    """Return what is ill and in no incident."""
    members = {member.container for one in host.incidents for member in one.members}
    return [one for one in report.reports if one.status != "healthy" and one.container_name not in members]


def _say_errors(host: HostSituation, report: DiagnoseAllReport) -> Iterator[_Said]:
    """Tell the errors that no incident holds: where no daemon has watched, all of them."""
    for one in _find_left(host, report):
        if one.status != "warning" and one.root is None:
            short, whole = (say_failure(one.container_name, _code(one), who) for who in ((), one.explains))
            yield _Said(HostTone.BAD, f"{whole}.", f"{short}.")


def _say_warnings(host: HostSituation, report: DiagnoseAllReport) -> Iterator[_Said]:
    warnings = [one for one in _find_left(host, report) if one.status == "warning"]
    if warnings:
        said = [say_warning(one.container_name, _code(one)) for one in warnings[:TOLD_AT_MOST]]
        more = len(warnings) - TOLD_AT_MOST
        head = "A warning" if len(warnings) == 1 else f"{len(warnings)} warnings"
        text = f"{head}: {', '.join(said)}{f', and {more} more' if more > 0 else ''}."
        yield _Said(HostTone.WARNING, text, show_count(len(warnings), "warning"))


def _code(report: DiagnosisReport) -> str:
    worst = max(report.symptoms, key=lambda symptom: symptom.severity.rank, default=None)
    return worst.type.value if worst is not None and worst.severity is not Severity.INFO else report.status


def _say_unchecked(report: DiagnoseAllReport) -> Iterator[_Said]:
    if not report.not_checked:
        return
    names = [one.container_name for one in report.unchecked]
    who = list_names(names) if names else show_count(report.not_checked, "container")
    yield _Said(HostTone.UNKNOWN, f"{who} could not be checked.", f"{report.not_checked} not checked")


def _say_deployments(host: HostSituation) -> Iterator[_Said]:
    """Tell of the last deployment of a project where that failed within a day."""
    newest: dict[str, DeploymentRecord] = {}
    for record in host.deployments:
        newest.setdefault(record.project, record)
    for record in newest.values():
        if record.verdict is DeploymentVerdict.BAD and host.now - record.at <= _DEPLOYMENT_IS_NEWS:
            at = show_clock(record.since, host.to_local, host.now)
            text = f"The deployment of {record.project}, {at}, failed."
            yield _Said(HostTone.BAD, text, f"a failed deployment of {record.project}")


def _say_drift(host: HostSituation) -> Iterator[_Said]:
    drifted = [report for report in host.drift if report.status is DriftStatus.DRIFTED]
    if not drifted:
        return
    names = list_names([report.project_name for report in drifted])
    if len(drifted) == 1:
        text = f"{names} differs from its Compose files: {show_count(len(drifted[0].differences), 'difference')}."
    else:
        text = f"{len(drifted)} projects differ from their Compose files: {names}."
    yield _Said(HostTone.WARNING, text, f"{show_count(len(drifted), 'project')} with drift")


def _say_quiet(host: HostSituation) -> Iterator[str]:
    for span in host.quiet[:TOLD_AT_MOST]:
        yield f"{span.name or 'The whole host'} is quiet until {show_clock(span.until, host.to_local, host.now)}."
    if len(host.quiet) > TOLD_AT_MOST:
        yield f"And {len(host.quiet) - TOLD_AT_MOST} more are quiet."


def show_clock(when: datetime, to_local: Callable[[datetime], datetime], now: datetime) -> str:
    """Return "14:02", with the day before it where that is not today."""
    local, today = to_local(when), to_local(now)
    day = (
        "" if local.date() == today.date() else f"{local:%d %b} " if local.year == today.year else f"{local:%Y-%m-%d} "
    )
    return f"{day}{local:%H:%M}"


def _bare(text: str) -> str:
    return text.rstrip(". ")
