"""The first line says how the host is: seventeen situations, each over real values."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from bcon_exporter.incidents import HostSituation, HostTone, describe_host
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.findings import DriftType, Severity, Status, SymptomType
from bcon_exporter.model.incidents import HOST_CODE, Incident, IncidentChange, IncidentMember, IncidentRoot
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.quiet import QuietLine
from bcon_exporter.model.reports import ContainerHealthSummary, DiagnoseAllReport, DiagnosisReport
from bcon_exporter.model.verify_report import DeploymentRecord, DeploymentVerdict
from tests.factories import NOON, ago, container
from tests.outputs.scenes import diagnosis, difference, drift_report, not_judged, report_of, symptom
from tests.table_rows import table

NOW = NOON + timedelta(seconds=5)


def well(count: int, **facts: Any) -> list[DiagnosisReport]:
    """So many healthy containers."""
    return [diagnosis(container(name=f"c{number}"), **facts) for number in range(count)]


def ill(name: str, kind: SymptomType, status: Status = "error", **facts: Any) -> DiagnosisReport:
    """A container with one symptom."""
    return diagnosis(container(name=name), status=status, symptoms=(symptom(kind, Severity(status)),), **facts)


def host_of(*reports: DiagnosisReport, **facts: Any) -> HostSituation:
    """A host on which these were seen."""
    return HostSituation(now=NOW, report=with_unchecked(report_of(reports)), **facts)


def with_unchecked(report: DiagnoseAllReport) -> DiagnoseAllReport:
    """The report with its counts of what was not checked."""
    unchecked = tuple(
        ContainerHealthSummary(container_id=one.container_id, container_name=one.container_name, status=one.status)
        for one in report.reports
        if one.is_unchecked
    )
    return report.model_copy(update={"not_checked": len(unchecked), "unchecked": unchecked})


def incident(
    root: str, code: str, title: str, *suffering: str, severity: Severity = Severity.CRITICAL, **facts: Any
) -> Incident:
    """An open incident of the project shop, unless told."""
    project = facts.pop("project", "shop")
    members = [IncidentMember(container=root, role="root", since=ago(300))]
    members += [IncidentMember(container=name, role="suffers", since=ago(280)) for name in suffering]
    return Incident(
        id=f"2026-01-01-{root}-{code}-1",
        started_at=ago(300),
        severity=severity,
        root=IncidentRoot(container=root, project=project, code=code),
        title=title,
        members=tuple(members),
        **facts,
    )


def change(kind: JournalKind, seconds_before: float, who: str, project: str | None = "shop") -> IncidentChange:
    """Something that happened before an incident."""
    at = ago(300 + seconds_before)
    return IncidentChange(kind=kind, at=at, seconds_before=seconds_before, project=project, container=who, text="so")


def deployed(project: str, verdict: DeploymentVerdict, minutes_ago: float) -> DeploymentRecord:
    """A deployment with its verdict."""
    at = ago(minutes=minutes_ago)
    return DeploymentRecord(project=project, at=at, since=at, verdict=verdict, summary=f"{project}: so")


DB = incident(
    "db",
    "oom_killed",
    "db ran out of memory; api and web suffer from it",
    "api",
    "web",
    changes=(
        change(JournalKind.START, 60, "db"),
        change(JournalKind.IMAGE_CHANGE, 60, "db"),
        change(JournalKind.CONFIG_CHANGE, 10, "other", project="blog"),
    ),
)
DB_REPORTS = (
    ill("db", SymptomType.OOM_KILLED, "critical", explains=("api", "web")),
    ill("api", SymptomType.NETWORK_ERROR, root="db"),
    ill("web", SymptomType.NETWORK_ERROR, root="db"),
)
HIGH = ill("search", SymptomType.HIGH_MEMORY, "warning")
BLIND = diagnosis(container(name="vault"), checked=False, not_evaluated=(not_judged(SymptomType.EXIT_ERROR),))
DRIFTED = drift_report("cloud", difference(DriftType.IMAGE_MISMATCH), difference(DriftType.MISSING_SERVICE))
DB_TOLD = "db ran out of memory; api and web suffer from it. Changed before: db's image, 11:54."

SITUATIONS: dict[str, tuple[HostSituation, HostTone, str]] = {
    "healthy for three days": (
        host_of(*well(45), well_since=ago(days=3, hours=1)),
        HostTone.GOOD,
        "All 45 are well, for 3 days.",
    ),
    "healthy since a moment ago": (host_of(*well(2), well_since=ago(30)), HostTone.GOOD, "Both containers are well."),
    "one root with who suffers and the change before": (
        host_of(*well(42), *DB_REPORTS, incidents=(DB,)),
        HostTone.BAD,
        f"42 of 45 are well. {DB_TOLD}",
    ),
    "several failures, and other things beside them": (
        host_of(
            *well(5),
            *DB_REPORTS,
            ill("blog", SymptomType.UNHEALTHY),
            ill("cron", SymptomType.RESTART_LOOP, "critical"),
            HIGH,
            BLIND,
            incidents=(
                incident("blog", "unhealthy", "blog is unhealthy", severity=Severity.ERROR),
                incident("cron", "restart_loop", "cron crashes again and again"),
                DB,
            ),
            drift=(DRIFTED,),
        ),
        HostTone.BAD,
        f"5 of 12 are well. 3 failures: {DB_TOLD} cron crashes again and again. And 1 more. "
        "Besides: 1 warning, 1 not checked, 1 project with drift.",
    ),
    "not checked": (host_of(*well(3), BLIND), HostTone.UNKNOWN, "3 of 4 are well. vault could not be checked."),
    "the engine does not answer": (
        host_of(*well(3), *DB_REPORTS, not_current="the engine does not answer"),
        HostTone.UNKNOWN,
        "How the host is now is not known: the engine does not answer. 5 s ago 3 of 6 were well.",
    ),
    "nothing runs, as somebody wanted": (
        host_of(*well(3, state=ContainerState.EXITED)),
        HostTone.GOOD,
        "Nothing runs, and none of the 3 containers shows a failure of late.",
    ),
    "no container": (host_of(), HostTone.GOOD, "There is no container to look at."),
    "no scan yet": (
        HostSituation(now=NOW, report=None),
        HostTone.UNKNOWN,
        "Nothing is known yet: the first scan is under way.",
    ),
    "the first scan failed": (
        HostSituation(now=NOW, report=None, not_current="add the user to the group docker."),
        HostTone.UNKNOWN,
        "Nothing is known yet: add the user to the group docker.",
    ),
    "quiet": (
        host_of(*well(3), quiet=(QuietLine(name="shop", source="command", until=NOON + timedelta(hours=3)),)),
        HostTone.GOOD,
        "All 3 are well. shop is quiet until 15:00.",
    ),
    "drift only": (
        host_of(*well(3), drift=(drift_report("blog"), DRIFTED)),
        HostTone.WARNING,
        "All 3 are well. cloud differs from its Compose files: 2 differences.",
    ),
    "warnings only": (
        host_of(*well(3), HIGH),
        HostTone.WARNING,
        "3 of 4 are well. A warning: search uses much of its memory.",
    ),
    "a deployment that failed": (
        host_of(
            *well(3),
            deployments=(
                deployed("shop", DeploymentVerdict.BAD, 58),
                deployed("shop", DeploymentVerdict.GOOD, 90),
                deployed("blog", DeploymentVerdict.GOOD, 30),
                deployed("blog", DeploymentVerdict.BAD, 40),
                deployed("wiki", DeploymentVerdict.BAD, 60 * 25),
            ),
        ),
        HostTone.BAD,
        "All 3 are well. The deployment of shop, 11:02, failed.",
    ),
    "the host was down": (
        host_of(
            *DB_REPORTS,
            incidents=(
                incident(
                    "host",
                    HOST_CODE,
                    "the engine or its host was down, or failed as a whole: 3 containers affected",
                    *("db", "api", "web"),
                ).model_copy(update={"root": IncidentRoot(container=None, code=HOST_CODE)}),
            ),
        ),
        HostTone.BAD,
        "0 of 3 are well. The engine or its host was down, or failed as a whole: 3 containers affected.",
    ),
    "errors where no daemon has kept incidents": (
        host_of(*well(1), *DB_REPORTS),
        HostTone.BAD,
        "1 of 4 is well. db ran out of memory; api and web suffer from it.",
    ),
    "a failure that has just ended": (
        host_of(*well(3), diagnosis(container(name="db")), incidents=(DB,)),
        HostTone.WARNING,
        "All 4 are well. Just over, if it stays so: db ran out of memory; api and web suffer from it.",
    ),
}


@table("situation", SITUATIONS)
def test_the_first_line_says_how_the_host_is(situation: str) -> None:
    host, tone, text = SITUATIONS[situation]
    sentence = describe_host(host)

    assert (sentence.text, sentence.tone) == (text, tone)


def test_a_change_of_another_year_carries_its_date() -> None:
    before = DB.model_copy(update={"changes": (change(JournalKind.PAUSE, 13 * 3600, "db"),)})

    assert describe_host(host_of(*DB_REPORTS, incidents=(before,))).text.endswith("db was paused, 2025-12-31 22:55.")


def test_in_brief_it_names_the_two_worst_and_leaves_the_rest_to_what_stands_beside_it() -> None:
    others = [incident(name, "unhealthy", f"{name} is unhealthy") for name in ("web", "job")]
    reports = [*DB_REPORTS, *(diagnosis(container(name=name), status="error") for name in ("web", "job"))]
    brief = describe_host(host_of(*reports, incidents=(DB, *others))).brief
    calm = describe_host(host_of(*well(4)))

    assert brief[1] == "3 failures: db ran out of memory. job is unhealthy. And 1 more."
    assert calm.brief == calm.parts == ("All 4 are well.",)


def test_in_brief_long_names_leave_place_for_one_failure() -> None:
    long = [incident(letter * 120, "unhealthy", "so") for letter in "ab"]
    reports = [diagnosis(container(name=one.root.name), status="error") for one in long]

    assert describe_host(host_of(*reports, incidents=tuple(long))).brief[1] == (
        f"2 failures: {'a' * 120} is unhealthy. And 1 more."
    )


def test_in_brief_warnings_are_told_where_nothing_has_failed() -> None:
    warned = ill("db", SymptomType.HIGH_CPU, "warning")
    blind = diagnosis(container(name="web"), checked=False)
    brief = describe_host(host_of(warned, blind)).brief

    assert brief == ("0 of 2 are well.", "A warning: db uses much of its CPU. Besides: 1 not checked.")
