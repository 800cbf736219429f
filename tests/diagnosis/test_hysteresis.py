"""Symptoms neither flicker nor stick: hysteresis for usage, holds for events, patience with the unknown."""

from datetime import timedelta

from bcon_exporter.diagnosis import HoldState, diagnose_host
from bcon_exporter.diagnosis.removed_containers import REMEMBERED_SECONDS
from bcon_exporter.model.container_facts import (
    ContainerFacts,
    ContainerState,
    DiskFacts,
    HealthStatus,
    Mount,
    NetworkAttachment,
)
from bcon_exporter.model.thresholds import Thresholds
from tests.diagnosis.judging import shipped
from tests.factories import NOON, container, ended, exited, health, lifecycle, logs, probe, snapshot, usage

LAN = NetworkAttachment(name="lan")


class Host:
    """One container over several scans."""

    def __init__(self) -> None:
        self.state = HoldState()
        self.at = NOON

    def scan(
        self,
        facts: ContainerFacts | None,
        *,
        after: float = 30,
        beside: tuple[ContainerFacts, ...] = (),
        disks: tuple[DiskFacts, ...] = (),
    ) -> tuple[str, ...]:
        """The symptoms shown after the next scan."""
        self.at += timedelta(seconds=after)
        host = snapshot(*([] if facts is None else [facts]), *beside, taken_at=self.at, disks=disks)
        report, self.state = diagnose_host(host, Thresholds(), shipped(), self.state)
        self.report = report.reports[0] if report.reports else None
        return tuple(symptom.type.value for symptom in self.report.symptoms) if self.report else ()


def at_cpu(ratio: float | None) -> ContainerFacts:
    return container(usage=usage(cpu_ratio=ratio))


class TestUsage:
    """A usage symptom clears after two scans clearly below its threshold."""

    def test_clears_after_two_scans_five_points_below(self) -> None:
        host = Host()

        assert [host.scan(at_cpu(ratio)) for ratio in (0.9, 0.75, 0.75, 0.75)] == [
            ("high_cpu",), ("high_cpu",), (), (),
        ]  # fmt: skip

    def test_stays_while_it_is_only_just_below(self) -> None:
        host = Host()

        assert {host.scan(at_cpu(ratio)) for ratio in (0.9, 0.76, 0.76, 0.76, 0.79)} == {("high_cpu",)}

    def test_a_scan_near_the_threshold_begins_the_count_anew(self) -> None:
        host = Host()

        assert {host.scan(at_cpu(ratio)) for ratio in (0.9, 0.5, 0.78, 0.5)} == {("high_cpu",)}
        assert host.scan(at_cpu(0.5)) == ()

    def test_never_begins_below_the_threshold(self) -> None:
        assert Host().scan(at_cpu(0.78)) == ()

    def test_says_that_it_is_held(self) -> None:
        host = Host()
        host.scan(at_cpu(0.9))
        host.scan(at_cpu(0.5))

        assert host.report is not None
        assert host.report.symptoms[0].evidence[-1] == "held: last seen 30 s ago"
        assert host.report.symptoms[0].is_held


BAD, GOOD = container(logs=logs("ERROR no")), container(logs=logs("INFO yes"))


class TestEvents:
    """An event-like symptom is shown for two scans and two minutes at least."""

    def test_two_minutes_where_scans_are_quick(self) -> None:
        host = Host()

        shown = [host.scan(facts) for facts in (BAD, GOOD, GOOD, GOOD, GOOD)]

        assert shown == [("log_error",)] * 4 + [()]

    def test_two_scans_where_scans_are_slow(self) -> None:
        host = Host()

        assert [host.scan(facts, after=300) for facts in (BAD, GOOD, GOOD)] == [("log_error",), ("log_error",), ()]

    def test_one_that_was_shown_for_long_goes_at_once(self) -> None:
        host = Host()
        for _ in range(6):
            host.scan(container(logs=logs("ERROR no", at=host.at)))

        assert host.scan(GOOD) == ()

    def test_a_stop_that_proves_to_be_asked_for_ends_the_hold(self) -> None:
        host = Host()
        host.scan(exited(143))

        assert host.scan(exited(143, exit_facts=ended(143, requested=True))) == ()

    def test_a_removed_container_drops_its_holds(self) -> None:
        host = Host()
        host.scan(BAD)
        host.scan(None)

        assert not host.state.holds
        assert not host.state.conclusions


class TestUnknown:
    """What cannot be evaluated is not healthy, nor ill for ever."""

    def test_stays_for_a_while_and_is_named_as_not_evaluated(self) -> None:
        host = Host()
        host.scan(at_cpu(0.9))

        assert host.scan(container(usage=None)) == ("high_cpu",)
        assert host.report is not None
        assert "high_cpu" in {entry.symptom for entry in host.report.not_evaluated}

    def test_goes_after_ten_minutes(self) -> None:
        host = Host()
        host.scan(at_cpu(0.9))

        assert host.scan(container(usage=None), after=600) == ("high_cpu",)
        assert host.scan(container(usage=None), after=1) == ()


def test_of_healthy_containers_nothing_is_held() -> None:
    host = Host()
    host.scan(container())

    assert not host.state.holds
    assert not host.state.conclusions


def test_a_held_symptom_keeps_the_causes_that_it_was_seen_with() -> None:
    host = Host()
    text = "ERROR write failed: No space left on device"
    host.scan(container(logs=logs(text, at=NOON)), after=10)
    seen = host.report
    host.scan(container(logs=None, unread={"logs": "the engine hung"}), after=10)

    assert seen is not None
    assert host.report is not None
    assert {one.type for one in host.report.symptoms} == {one.type for one in seen.symptoms}
    assert [cause.id for cause in host.report.likely_causes] == [cause.id for cause in seen.likely_causes]
    assert set(seen.suggestions) <= set(host.report.suggestions)
    assert host.report.suggestions[0] == seen.suggestions[0]


def test_a_symptom_that_is_over_takes_its_causes_with_it() -> None:
    host = Host()
    host.scan(container(logs=logs("ERROR write failed: No space left on device", at=NOON)), after=10)
    host.scan(at_cpu(0.9), after=1000)
    host.scan(at_cpu(0.9), after=1000)

    assert host.report is not None
    assert [one.type.value for one in host.report.symptoms] == ["high_cpu"]
    assert "volume_full" not in [cause.id for cause in host.report.likely_causes]


def test_a_scan_without_inspect_says_no_less_than_the_one_before() -> None:
    host = Host()
    sick = health(HealthStatus.UNHEALTHY, failing_streak=4, probes=(probe(exit_code=127, output="curl: not found"),))
    host.scan(container(health=sick))
    unread = dict.fromkeys(("oom_killed", "limits", "error"), "the engine did not answer in time")
    listed = {"health": health(HealthStatus.UNHEALTHY), "oom_killed": None, "unread": unread}
    host.scan(container(**listed))

    assert host.report is not None
    assert host.report.likely_causes[0].id == "probe_tool_missing"


def test_while_the_log_is_unread_causes_of_the_log_are_as_they_were_beside_those_of_the_state() -> None:
    """A rule that names a cause of its own for a held symptom does not take the place of what the log told."""
    host = Host()
    disk = "ERROR write failed: /data/x: No space left on device"
    mounts = (Mount(type="volume", source="shared", target="/data"),)
    other = container(name="other", mounts=mounts)
    full = (DiskFacts(path="/srv", used_ratio=0.99, total_bytes=2**30, containers=("api",)),)
    host.scan(container(logs=logs(disk, at=NOON), mounts=mounts), beside=(other,), disks=full, after=10)
    seen = host.report
    unread = container(logs=None, unread={"logs": "the engine hung"}, mounts=mounts)
    host.scan(unread, beside=(other,), disks=full, after=10)

    assert seen is not None
    assert host.report is not None
    assert seen.likely_causes[0].id == "shared_volume_full"
    assert [cause.id for cause in host.report.likely_causes] == [cause.id for cause in seen.likely_causes]


def test_a_held_symptom_keeps_pointing_to_its_root() -> None:
    host = Host()
    db = exited(1, name="db", networks=(LAN,), seconds_ago=100)
    refused = "ERROR dial tcp: lookup db: no such host"
    host.scan(container(logs=logs(refused, at=NOON), networks=(LAN,)), beside=(db,), after=10)
    assert host.report is not None
    assert host.report.root == "db"
    host.scan(container(logs=None, unread={"logs": "the engine hung"}, networks=(LAN,)), beside=(db,), after=10)
    assert host.report.root == "db"
    host.scan(container(logs=None, unread={"logs": "the engine hung"}, networks=(LAN,)), after=10)
    assert host.report.root == "db", "that it was removed explains as much"
    host.scan(container(logs=None, unread={"logs": "the engine hung"}, networks=(LAN,)), after=REMEMBERED_SECONDS + 10)
    assert host.report.root is None, "nobody knows it any more"


def test_what_was_retried_with_success_is_held_for_two_scans_and_no_longer() -> None:
    refused, fine = "ERROR connect to queue:5672: connection refused, retrying in 1s", "INFO connected to queue:5672"
    host = Host()
    failing, again = container(logs=logs(refused, at=NOON)), container(logs=logs(refused, fine, at=NOON))

    assert host.scan(failing, after=3) == ("network_error", "log_error")
    assert host.scan(again, after=3) == ("network_error", "log_error")
    assert host.scan(again, after=3) == ()


def test_what_was_said_before_a_restart_on_request_is_held_for_two_scans_and_no_longer() -> None:
    said = logs("ERROR worker 3 died", at=NOON)
    host = Host()
    before = container(logs=said)
    past = lifecycle(exits=(ended(1, at=NOON + timedelta(seconds=4), requested=True),))
    after = container(logs=said, lifecycle=past, started_at=NOON + timedelta(seconds=5))

    assert [host.scan(facts, after=3) for facts in (before, before, after)] == [("log_error",), ("log_error",), ()]


def test_a_failed_start_is_over_once_somebody_has_started_it() -> None:
    host = Host()
    failed = container(state=ContainerState.CREATED, exit_code=128, started_at=None, error="port is already allocated")

    assert "exit_error" in host.scan(failed, after=3)
    assert "exit_error" in host.scan(failed, after=3)
    assert host.scan(container(), after=3) == ()


class TestFailuresThatStand:
    """What could not be started is as bad after an hour as at once: age alone ends no page."""

    def test_a_start_that_failed_stays_critical_until_it_is_history(self) -> None:
        host = Host()
        refused = container(
            state=ContainerState.CREATED, started_at=None, usage=None, exit_code=0, error="port is already allocated",
            created_at=NOON, restart_policy="no",
        )  # fmt: skip
        shown = []
        for minutes in (1, 9, 1, 60, 22 * 60):
            host.scan(refused, after=60 * minutes)
            assert host.report is not None
            shown.append(host.report.status)
        assert shown == ["critical"] * 5
        host.scan(refused, after=3600)
        assert host.report is not None
        assert host.report.status == "healthy"

    def test_one_that_failed_long_before_the_first_look_is_a_warning(self) -> None:
        host = Host()
        refused = container(
            state=ContainerState.CREATED, started_at=None, usage=None, exit_code=0, error="port is already allocated",
            created_at=NOON, restart_policy="no",
        )  # fmt: skip
        host.scan(refused, after=3600)
        assert host.report is not None
        assert host.report.status == "warning"
