"""Real containers that fail in known ways are diagnosed as such, and healthy look-alikes are left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.clock import utc_now
from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.docker_host import HostOptions, Wants
from bcon_exporter.history import History
from bcon_exporter.model.thresholds import Thresholds
from tests.docker.hosts import open_host
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from bcon_exporter.docker_host import DockerHost
    from bcon_exporter.model.reports import DiagnoseAllReport, DiagnosisReport
    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

CATALOGUE = load_catalogue()
Found = dict[str, "DiagnosisReport"]


class Watch:
    """The daemon's eyes: event stream, history and diagnosis over one engine."""

    def __init__(self, host: DockerHost, history: History) -> None:
        self._host, self._history = host, history

    def look(self) -> DiagnoseAllReport:
        """Diagnose everything now, without holds."""
        now = utc_now()
        self._history.record_events(self._host.drain_events(), now)
        snapshot = self._host.take_snapshot(now, 15.0, Wants(wait_for_usage=True))
        snapshot = self._history.enrich(snapshot)
        self._history.remember(snapshot)
        return diagnose_host(snapshot, Thresholds(), CATALOGUE)[0]

    def until(self, fits: Callable[[Found], bool], what: str) -> Found:
        """Look until the reports by name fit."""
        last: Found = {}

        def attempt() -> Found | None:
            last.clear()
            last.update({report.container_name: report for report in self.look().reports})
            return last if fits(last) else None

        try:
            return wait_until(attempt, what, timeout_seconds=40.0, every_seconds=0.5)
        except AssertionError as error:
            shown = {name: (kinds(report), report.summary) for name, report in last.items()}
            message = f"{error}: {shown}"
            raise AssertionError(message) from None


def kinds(report: DiagnosisReport) -> set[str]:
    """The symptoms that are not history, with severities."""
    return {f"{one.type.value}:{one.severity.value}" for one in report.symptoms if one.severity.value != "info"}


def watched(engine: TestEngine, start: Callable[[], None], expected: dict[str, set[str]]) -> Found:
    """Start containers under observation and wait until each shows exactly what is expected."""
    history = History.open(None, retention_seconds=86_400, now=utc_now())
    try:
        with open_host(engine.host, HostOptions(), started=True) as host:
            watch = Watch(host, history)
            watch.look()
            start()
            return watch.until(
                lambda found: {name: kinds(found[name]) for name in expected if name in found} == expected,
                "every container shows what is expected",
            )
    finally:
        history.close()


def run(engine: TestEngine, name: str, *arguments: str) -> None:
    """Start one container; a start that fails is part of the scenario."""
    engine.docker("run", "-d", "--name", name, *arguments, check=False)


def test_failing_containers_show_their_symptoms(engine: TestEngine) -> None:
    image = engine.image

    def start() -> None:
        run(engine, "exit-1", image, "sh", "-c", "echo starting; exit 1")
        run(engine, "oom", "-m", "16m", "--memory-swap", "16m", image, "eat-memory")
        run(engine, "loop", "--restart", "always", image, "sh", "-c", "echo Error: config missing; exit 1")
        run(engine, "loop-0", "--restart", "always", image, "sh", "-c", "exit 0")
        run(engine, "no-command", image, "/bin/nosuch")
        run(engine, "no-bit", image, "/bin/not-executable")
        run(engine, "no-interpreter", image, "/bin/no-interpreter")
        run(engine, "killed", image, "sleep", "600")
        engine.docker("kill", "killed")
        run(engine, "halted", image, "sleep", "600")
        engine.docker("pause", "halted")
        run(engine, "sick", "--health-cmd", "echo db ping failed; exit 1", "--health-interval", "1s",
            "--health-retries", "2", image, "sleep", "600")  # fmt: skip
        run(engine, "full", "--tmpfs", "/x:size=1m", image, "sh", "-c",
            "dd if=/dev/zero of=/x/f bs=1M count=5; sleep 600")  # fmt: skip
        run(engine, "refused", image, "sh", "-c",
            "echo 'dial tcp 127.0.0.1:5432: connect: connection refused'; sleep 600")  # fmt: skip
        run(engine, "burning", "--cpus", "0.2", image, "burn-cpu")

    expected = {
        "exit-1": {"exit_error:error"},
        "oom": {"oom_killed:critical", "exit_error:error"},
        "loop": {"restart_loop:critical", "exit_error:error", "log_error:error"},
        "loop-0": {"restart_loop:error"},
        "no-command": {"start_failed:critical", "exit_error:error"},
        "no-bit": {"start_failed:critical", "exit_error:error"},
        "no-interpreter": {"start_failed:critical", "exit_error:error", "log_error:error"},
        "killed": {"exit_error:error"},
        "halted": {"paused:warning"},
        "sick": {"unhealthy:error"},
        "full": {"disk_pressure:error", "log_error:error"},
        "refused": {"network_error:error", "log_error:error"},
        "burning": {"high_cpu:warning", "cpu_throttled:warning"},
    }
    found = watched(engine, start, expected)

    causes = {name: report.likely_causes[0].id for name, report in found.items() if report.likely_causes}
    assert causes["oom"] == "memory_limit_too_low"
    assert causes["loop"] == "config_invalid"
    assert causes["loop-0"] == "main_process_ends"
    assert causes["no-command"] in {"command_not_found", "command_not_in_image"}
    assert causes["refused"] == "localhost_in_container"
    assert causes["killed"] == "killed_from_outside"
    assert "db ping failed" in found["sick"].symptoms[0].description


def test_healthy_look_alikes_and_planned_work_raise_nothing(engine: TestEngine) -> None:
    image = engine.image

    def start() -> None:
        run(engine, "one-shot", image, "sh", "-c", "echo migrated 12 rows, 0 errors")
        run(engine, "cron", image, "sh", "-c", "while :; do echo job ok, errors=0; sleep 1; done")
        run(engine, "stderr-info", image, "sh", "-c", "while :; do echo INFO all good >&2; sleep 1; done")
        run(engine, "silent", image, "serve")
        run(engine, "healthy", "--health-cmd", "true", "--health-interval", "1s", image, "serve")
        run(engine, "stopped", "--init", image, "sleep", "600")
        engine.docker("stop", "-t", "5", "stopped")
        run(engine, "forced", image, "sh", "-c", "trap '' TERM; while :; do sleep 1; done")
        engine.docker("stop", "-t", "1", "forced")
        run(engine, "restarted", image, "serve")
        for _ in range(4):
            engine.docker("restart", "-t", "2", "restarted")

    names = ("one-shot", "cron", "stderr-info", "silent", "healthy", "stopped", "forced", "restarted")
    found = watched(engine, start, {name: set() for name in names})

    assert {found[name].status for name in names} == {"healthy"}


def test_the_down_dependency_is_blamed(engine: TestEngine) -> None:
    image = engine.image
    labels = ("--label", "com.docker.compose.project=shop", "--network", "shop")

    def start() -> None:
        engine.docker("network", "create", "shop")
        run(engine, "shop-db-1", *labels, "--label", "com.docker.compose.service=db", image, "sh", "-c", "exit 1")
        run(engine, "shop-app-1", *labels, "--label", "com.docker.compose.service=app", image, "sh", "-c",
            "while :; do wget -q http://db/ || echo could not connect to db; sleep 1; done")  # fmt: skip

    found = watched(engine, start, {"shop-app-1": {"network_error:error", "log_error:error"}})

    top = found["shop-app-1"].likely_causes[0]
    assert (top.id, top.peer) == ("dependency_down", "shop-db-1")
