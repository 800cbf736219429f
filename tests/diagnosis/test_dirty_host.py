"""Day one on a host that has been in use for years: nothing critical or error, and few warnings."""

from datetime import timedelta
from typing import Any

from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, Limits
from bcon_exporter.model.reports import DiagnoseAllReport
from bcon_exporter.model.thresholds import Thresholds
from tests.diagnosis.judging import shipped
from tests.factories import NOON, ago, compose, container, exited, health, lifecycle, logs, snapshot, usage
from tests.table_rows import table

BLANK = lifecycle(observed_since=NOON)
BOOTED = timedelta(minutes=25)
WELL_KNOWN = ["ci-job", "jvm"]
"""What the crash of the host took down and nothing starts again, and a heap that is full by design."""
USED_UP = [f"old-{n}" for n in range(1, 30, 3) if n % 10 not in (0, 5, 8)]
"""Those that failed until their restarts were used up are down for good: a warning, however old."""


def old_exits() -> list[ContainerFacts]:
    """Thirty containers that ended weeks or months ago, each in its own way, with whatever policy."""
    codes = (0, 1, 2, 126, 127, 130, 137, 139, 143, 255)
    policies = ("no", "on-failure:3", "unless-stopped")
    return [
        exited(
            codes[n % len(codes)],
            name=f"old-{n}",
            seconds_ago=86_400 * (2 + 5 * n),
            restart_policy=policies[n % len(policies)],
            restart_count=3 if n % 3 == 1 else 0,
            oom_killed=n == 26,
            limits=Limits(memory_bytes=2**26),
            logs=logs("ERROR it broke", at=ago(86_400 * (2 + 5 * n))),
            lifecycle=BLANK,
        )
        for n in range(30)
    ]


def left_over() -> list[ContainerFacts]:
    """What failed deployments leave: refused starts, created ones, all of them old."""
    base: dict[str, Any] = {"state": ContainerState.CREATED, "started_at": None, "usage": None, "lifecycle": BLANK}
    taken = "driver failed programming external connectivity on endpoint x: Bind for 0.0.0.0:80 failed: port is already"
    return [
        container(name="refused", exit_code=128, error=f"{taken} allocated", created_at=ago(days=40),
                  restart_policy="always", **base),
        container(name="created", created_at=ago(days=90), restart_policy="unless-stopped", **base),
        container(name="ci-created", created_at=ago(days=3), compose=compose("job", "ci-4711"), **base),
    ]  # fmt: skip


def running(name: str, **facts: Any) -> ContainerFacts:
    """Back since the reboot, which ended it."""
    base: dict[str, Any] = {
        "name": name,
        "restart_policy": "always",
        "created_at": ago(days=200),
        "started_at": NOON - BOOTED,
        "finished_at": NOON - BOOTED - timedelta(seconds=40),
        "lifecycle": BLANK,
    }
    return container(**{**base, **facts})


def stacks() -> list[ContainerFacts]:
    """Portainer, Watchtower, a CI runner, databases that fill their memory, and jobs that the reboot ended."""
    full = usage(memory_ratio=0.92, memory_usage_bytes=int(0.92 * 2**30), memory_limit_bytes=2**30)
    fell: dict[str, Any] = {"seconds_ago": BOOTED.total_seconds() + 38, "lifecycle": BLANK}
    return [
        running("portainer", logs=logs("2026/01/01 11:35AM INF starting HTTPS server bind_address=:9443")),
        running("watchtower", logs=logs('level=info msg="Session done" Failed=0 Scanned=14 Updated=0')),
        running("portainer-stack-web-1", compose=compose("web", "stack", config_files=("/data/compose/3/x.yml",))),
        running("ci-runner", compose=compose("runner", "ci"), logs=logs("INFO job succeeded, 0 errors")),
        running("jvm", usage=full, logs=logs("INFO GC pause 12 ms")),
        running("postgres", health=health(), logs=logs("LOG:  database system was not properly shut down; automatic "
                "recovery in progress", "LOG:  database system is ready to accept connections", at=ago(minutes=24))),
        exited(1, name="nightly-report", **fell),
        exited(255, name="ci-job", **fell),
        exited(0, name="migrate", **fell),
    ]  # fmt: skip


def report_of(*containers: ContainerFacts) -> DiagnoseAllReport:
    return diagnose_host(snapshot(*containers), Thresholds(), shipped())[0]


def test_nobody_is_paged() -> None:
    report = report_of(*old_exits(), *left_over(), *stacks())

    shown = [(line.container_name, line.top_issue) for line in report.summaries]
    assert (report.critical, report.error) == (0, 0), shown
    assert [line.container_name for line in report.summaries] == sorted([*WELL_KNOWN, *USED_UP])
    assert (report.not_checked, report.unchecked) == (0, ())
    assert report.total_containers == 42


@table("index", range(30))
def test_an_old_end_is_told_as_history_and_not_hidden(index: int) -> None:
    facts = old_exits()[index]
    report = report_of(facts).reports[0]

    assert report.status == ("warning" if facts.name in USED_UP else "healthy")
    assert report.rule_errors == ()
    if facts.exit_code and facts.name not in USED_UP:
        assert report.symptoms
        assert {symptom.severity.value for symptom in report.symptoms} == {"info"}


def test_it_stays_quiet_when_a_day_of_watching_has_passed() -> None:
    watched = lifecycle(observed_since=ago(days=2))
    containers = [one.model_copy(update={"lifecycle": watched}) for one in (*old_exits(), *left_over())]

    report = report_of(*containers)

    assert (report.critical, report.error) == (0, 0)
    assert [line.container_name for line in report.summaries] == sorted(USED_UP)


def test_a_service_that_needed_some_starts_after_the_reboot_does_not_page() -> None:
    patient = running("app", restart_count=4, started_at=ago(minutes=2), logs=logs("INFO ready"))

    assert report_of(patient).reports[0].status in ("healthy", "warning")


def test_what_fails_now_is_told_on_day_one_as_well() -> None:
    report = report_of(*old_exits(), *stacks(), exited(1, name="fresh", seconds_ago=30, lifecycle=BLANK))

    assert [line.container_name for line in report.summaries] == ["fresh", *sorted([*WELL_KNOWN, *USED_UP])]
