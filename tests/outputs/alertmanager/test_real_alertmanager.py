"""A real Alertmanager takes what is pushed, routes it, and mutes what must be muted and nothing else."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.outputs.alertmanager import Alertmanager, Identity
from bcon_exporter.outputs.alertmanager.delivery import deliver
from tests.alerting.rule_file import read_alerts
from tests.outputs.alertmanager.running import CONFIG, RunningAlertmanager, running_alertmanager
from tests.outputs.alertmanager.stage import Stage
from tests.programs import free_port, need
from tests.table_rows import table
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.integration

WEB = {"container": "web", "project": "shop", "service": "web"}
DB = {"container": "db", "project": "shop", "service": "db"}
BARE = {"container": "web"}
SERVICE = {"project": "shop", "service": "web"}
ALERTS = read_alerts()
SEVERITY = {alert.name: alert.severity for alert in ALERTS}

Case = tuple[dict[str, str], dict[str, str], bool]


def one(name: str, severity: str | None = None, **labels: str) -> dict[str, str]:
    return {"alertname": name, "severity": severity or SEVERITY[name], **labels}


OOM = one("BconContainerOomKilled", "critical", **WEB)
LOOP = one("BconContainerRestartLoop", "critical", **WEB)
AWAY = one("BconDockerUnreachable")
MISSING = one("BconServiceMissing", **SERVICE)
DOWN = one("BconServiceNotRunning", **SERVICE)
WORSE = {"alertname": "BconIncident", "severity": "critical", "container": "web"}
LESSER = {"alertname": "BconIncident", "severity": "warning", "container": "web"}
OTHER_HOST = {"instance": "elsewhere"}
NO_INSTANCE = {"instance": ""}

CASES: dict[str, Case] = {
    "a critical alert mutes the container's warnings": (LOOP, one("BconContainerUnhealthy", **WEB), True),
    "and its infos": (LOOP, one("BconContainerLogErrors", **WEB), True),
    "and its disk": (LOOP, one("BconDiskPressure", **WEB), True),
    "not another container's": (LOOP, one("BconContainerUnhealthy", **DB), False),
    "not the same name on another host": (LOOP, one("BconContainerUnhealthy", **WEB) | OTHER_HOST, False),
    "not another critical one": (LOOP, one("BconContainerStartFailed", "critical", **WEB), False),
    "not what has no container": (LOOP, one("BconConfigDrift", **SERVICE), False),
    "not other people's alerts": (LOOP, one("DiskFull", "warning", container="web"), False),
    "a container that fails mutes that its service is down": (LOOP, DOWN, True),
    "not that of another service": (LOOP, DOWN | {"service": "db"}, False),
    "not that its settings differ": (LOOP, one("BconConfigDrift", **SERVICE), False),
    "a failing health check mutes the log": (
        one("BconContainerUnhealthy", **WEB),
        one("BconContainerNetworkError", **WEB),
        True,
    ),
    "not another's log": (one("BconContainerUnhealthy", **WEB), one("BconContainerNetworkError", **DB), False),
    "an incident that grew worse mutes its lesser alert": (WORSE, LESSER, True),
    "not another incident's": (WORSE, LESSER | {"container": "db"}, False),
    "a warning mutes nothing": (one("BconContainerUnhealthy", **WEB), one("BconContainerHighCpu", **WEB), False),
    "lack of memory mutes the exit": (OOM, one("BconContainerExitError", **WEB), True),
    "and the loop": (OOM, LOOP, True),
    "also as a warning": (
        one("BconContainerOomKilled", "warning", **BARE),
        one("BconContainerRestartLoop", "critical", **BARE),
        True,
    ),
    "not of another container": (OOM, one("BconContainerRestartLoop", "critical", **DB), False),
    "an unreachable engine mutes its containers": (AWAY, one("BconContainerUnhealthy", **WEB), True),
    "and its critical ones": (AWAY, LOOP, True),
    "and its services": (AWAY, MISSING, True),
    "and its scans": (AWAY, one("BconScanStale", scan="drift"), True),
    "and its endpoints": (AWAY, one("BconDockerEndpointDown", endpoint="stats"), True),
    "not another host's": (AWAY, one("BconContainerUnhealthy", **WEB) | OTHER_HOST, False),
    "not that pushing fails": (AWAY, one("BconAlertPushFailing"), False),
    "not the watchdog": (AWAY, one("BconWatchdog"), False),
    "not itself": (AWAY, AWAY, False),
    "an exporter that is down mutes its containers": (one("BconExporterDown"), LOOP, True),
    "an exporter that vanished too": (one("BconExporterVanished"), LOOP, True),
    "a missing service mutes its drifts": (MISSING, one("BconConfigDrift", **SERVICE), True),
    "not another service's": (MISSING, one("BconConfigDrift", project="shop", service="db"), False),
    "not one of the same name in another project": (MISSING, one("BconConfigDrift", project="x", service="web"), False),
    "nothing without an instance mutes": (LOOP | NO_INSTANCE, one("BconContainerHighCpu", **WEB) | NO_INSTANCE, False),
    "nothing without a container mutes": (
        one("BconContainerCritical"),
        one("BconContainerHighCpu"),
        False,
    ),
    "nothing without a service mutes": (one("BconServiceMissing"), one("BconConfigDrift"), False),
}
HOST_WIDE = (AWAY, one("BconExporterDown"), one("BconExporterVanished"))


@pytest.fixture(scope="module")
def alertmanager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningAlertmanager]:
    with running_alertmanager(tmp_path_factory.mktemp("am"), free_port()) as running:
        yield running


def as_payload(labels: dict[str, str], case: int) -> dict[str, Any]:
    """An alert of a host of its own for each case, so that all cases can be pushed together."""
    instance = {"instance": f"{labels.get('instance', 'host')}-{case}"} if labels.get("instance", "x") else {}
    ends = (datetime.now(UTC) + timedelta(minutes=5)).isoformat()
    return {"labels": {"job": f"case-{case}", **labels, **instance}, "annotations": {}, "endsAt": ends}


@pytest.fixture(scope="module")
def muted(alertmanager: RunningAlertmanager) -> dict[str, bool]:
    """Which target was muted, by case."""
    wanted = [as_payload(labels, number) for number, (*pair, _) in enumerate(CASES.values()) for labels in pair]
    assert deliver(Alertmanager(alertmanager.url).post, wanted).accepted == len(wanted)
    expected = sum(must for _, _, must in CASES.values())

    def found() -> list[dict[str, Any]] | None:
        alerts = alertmanager.alerts()
        inhibited = sum(bool(alert["status"]["inhibitedBy"]) for alert in alerts)
        return alerts if inhibited >= expected else None

    alerts = wait_until(found, f"{expected} muted alerts", timeout_seconds=20)
    by_labels = {frozenset(alert["labels"].items()): bool(alert["status"]["inhibitedBy"]) for alert in alerts}
    targets = (as_payload(target, number)["labels"] for number, (_, target, _) in enumerate(CASES.values()))
    return dict(zip(CASES, (by_labels[frozenset(without_empty(each).items())] for each in targets), strict=True))


def without_empty(labels: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in labels.items() if value}


@pytest.mark.contract
@table("case", CASES, shared=["muted"])
def test_it_mutes_what_it_must_and_nothing_else(muted: dict[str, bool], case: str) -> None:
    assert muted[case] is CASES[case][2]


def test_the_names_in_the_inhibition_rules_fit_the_table() -> None:
    text = CONFIG.read_text()
    hidden = [alert.name for alert in ALERTS if alert.is_of_container or alert.is_of_service]
    pattern = text.partition("Bcon(Container|Service|Disk")[2].partition(")")[0].split("|")

    assert all(
        name.startswith(tuple(f"Bcon{word}" for word in ("Container", "Service", "Disk", *pattern[1:])))
        for name in hidden
    )


@pytest.mark.contract
@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        ("alertname=BconWatchdog severity=none", "dead-mans-switch"),
        ("alertname=BconContainerRestartLoop severity=critical", "pager"),
        ("alertname=BconExporterAbsent severity=critical", "pager"),
        ("alertname=BconContainerOomKilled severity=warning", "team"),
        ("alertname=BconConfigDrift severity=warning", "team"),
        ("alertname=BconExtraContainer severity=info", "digest"),
        ("alertname=BconIncident severity=critical", "pager"),
        ("alertname=BconIncident severity=warning", "team"),
        ("alertname=SomebodyElse severity=critical", "team"),
    ],
)
def test_amtool_routes_each_alert_to_its_receiver(labels: str, receiver: str) -> None:
    routed = subprocess.run(
        [need("amtool"), "config", "routes", "test", f"--config.file={CONFIG}", *labels.split()],
        capture_output=True,
        text=True,
        check=False,
    )

    assert routed.stdout.split() == [receiver], routed.stderr


@pytest.mark.contract
def test_one_alert_that_it_refuses_loses_none_of_the_others(alertmanager: RunningAlertmanager) -> None:
    good = [as_payload({"alertname": f"Good{n}", "severity": "none"}, 1000) for n in range(5)]
    bad = as_payload({"alertname": "Bad", "": "x"}, 1000)

    delivery = deliver(Alertmanager(alertmanager.url).post, [*good[:2], bad, *good[2:]])

    assert (delivery.accepted, delivery.refused) == (5, ("Bad",))
    assert {f"Good{n}" for n in range(5)} <= alertmanager.names()


@pytest.mark.contract
def test_what_fires_arrives_once_with_its_diagnosis_keeps_its_start_and_ends(alertmanager: RunningAlertmanager) -> None:
    start = datetime.now(UTC) - timedelta(minutes=3)
    stage = Stage(Identity("docker", "stage", (("team", "shop"),)), (Alertmanager(alertmanager.url),), now=start)
    stage.watch.start_pushing()
    stage.scene.containers = {"api": {SymptomType.START_FAILED: Severity.CRITICAL}}

    def found() -> list[dict[str, Any]]:
        return [alert for alert in alertmanager.alerts() if alert["labels"].get("instance") == "stage"]

    def failed() -> dict[str, Any] | None:
        return next((each for each in found() if each["labels"]["alertname"] == "BconIncident"), None)

    for _ in range(3):
        stage.pass_time()
        stage.beat()
    first = wait_until(failed, "the alert")
    stage.watch.stop()
    stage.restart()
    stage.watch.start_pushing()
    stage.pass_time()
    stage.beat()
    wait_until(lambda: (again := failed()) and again["updatedAt"] > first["updatedAt"], "the alert after the restart")
    again = failed()
    stage.scene.containers = {}
    for _ in range(6):
        stage.pass_time()
        stage.beat()
    wait_until(lambda: failed() is None, "its end")
    rest = {each["labels"]["alertname"] for each in found()}
    stage.watch.stop()

    assert first["labels"] == {
        "alertname": "BconIncident",
        "severity": "critical",
        "job": "docker",
        "instance": "stage",
        "source": "bcon",
        "team": "shop",
        "container": "api",
        "project": "shop",
        "service": "api",
    }
    assert first["annotations"]["code"] == "start_failed"
    assert first["annotations"]["incident"] == f"{start:%Y-%m-%d}-api-start_failed-1"
    assert first["annotations"]["summary"] == "api could not be started (on stage)"
    assert again is not None
    assert again["startsAt"] == first["startsAt"]
    assert rest == {"BconWatchdog"}


@pytest.mark.promise("F13")
def test_one_that_was_away_has_the_full_set_with_the_next_round(tmp_path: Any) -> None:
    port = free_port()
    gone = Alertmanager(f"http://127.0.0.1:{port}")
    stage = Stage(Identity("docker", "h1"), (gone,), now=datetime.now(UTC))
    stage.watch.start_pushing()
    stage.scene.containers = {"api": {SymptomType.RESTART_LOOP: Severity.CRITICAL}}
    stage.beat()
    stage.pass_time()
    wait_until(lambda: stage.watch.counts().pushed[gone.url] == (1, 1), "the failure")
    with running_alertmanager(tmp_path / "am", port) as running:
        stage.beat()
        wait_until(lambda: {"BconIncident", "BconWatchdog"} <= running.names(), "the full set")
    stage.watch.stop()

    assert stage.watch.counts().pushed[gone.url] == (2, 1)
