"""Scans are swapped whole, how each kind is doing is remembered, and the last good one stays through failures."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.errors import DockerConnectionError, ErrorCode
from bcon_exporter.latest_scans import LatestScans
from bcon_exporter.model.incidents import FirstLook
from tests.factories import NOON, ago, container, snapshot
from tests.outputs.scenes import drift_report, drift_scan, scan_of

if TYPE_CHECKING:
    from bcon_exporter.latest_scans import ScanName


def test_knows_nothing_before_the_first_scan() -> None:
    scans = LatestScans()

    assert (scans.diagnosis, scans.drift) == (None, None)
    assert scans.status("diagnose").success is None
    assert scans.age_seconds("diagnose", 5.0) is None


def test_a_published_scan_is_what_readers_get() -> None:
    scans = LatestScans()
    scan, drift = scan_of(snapshot(container())), drift_scan(drift_report())

    scans.publish_diagnosis(scan)
    scans.publish_drift(drift)

    assert scans.diagnosis is scan
    assert scans.drift is drift
    assert scans.status("diagnose").success is True
    assert scans.status("drift").last_success_at == NOON


def test_age_counts_on_the_clock_that_never_steps() -> None:
    scans = LatestScans()
    scans.publish_diagnosis(scan_of(snapshot(), ended=100.0))

    assert scans.age_seconds("diagnose", 130.5) == 30.5


def test_a_failed_run_keeps_the_last_good_scan_and_says_why() -> None:
    scans = LatestScans()
    scan = scan_of(snapshot())
    scans.publish_diagnosis(scan)

    scans.record_failure("diagnose", ago(0), 5.0, DockerConnectionError("the engine does not answer"))

    status = scans.status("diagnose")
    assert scans.diagnosis is scan
    assert (status.success, status.total, status.failures) == (False, 2, 1)
    assert status.error is not None
    assert status.error.code is ErrorCode.DOCKER_CONNECTION_FAILED
    assert status.last_success_monotonic == scan.finished_monotonic


def test_the_next_good_run_forgets_the_error() -> None:
    scans = LatestScans()
    scans.record_failure("drift", NOON, 1.0, DockerConnectionError("away"))

    scans.publish_drift(drift_scan())

    assert scans.status("drift").error is None
    assert scans.status("drift").failures == 1


@pytest.mark.parametrize(("runs", "counted"), [(0, 0), (1, 1), (5, 5)])
def test_counts_missed_runs(runs: int, counted: int) -> None:
    scans = LatestScans()

    scans.record_missed("diagnose", runs)

    assert scans.status("diagnose").missed == counted


def test_counts_rule_errors_by_name() -> None:
    scans = LatestScans()

    scans.count_rule_errors(("high_cpu", "high_cpu", "paused"))
    scans.count_rule_errors(())

    assert scans.rule_errors == {"high_cpu": 2, "paused": 1}


def test_no_count_is_lost_between_threads() -> None:
    scans = LatestScans()
    names: tuple[ScanName, ...] = ("diagnose", "drift")

    def work(name: ScanName) -> None:
        for _ in range(500):
            scans.record_missed(name, 1)
            scans.count_rule_errors(("paused",))

    threads = [Thread(target=work, args=(name,)) for name in names for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [scans.status(name).missed for name in names] == [1500, 1500]
    assert scans.rule_errors == {"paused": 3000}


def test_statuses_handed_out_do_not_change() -> None:
    scans = LatestScans()
    before = scans.statuses

    scans.record_missed("drift", 1)

    assert before["drift"].missed == 0


@pytest.mark.parametrize("files_first", [True, False])
def test_the_first_look_is_over_when_a_later_diagnosis_has_seen_containers_and_files(*, files_first: bool) -> None:
    scans = LatestScans()
    if files_first:
        scans.publish_drift(drift_scan())
    scans.note_first_look(NOON, 0.5, is_whole=True)
    seen = scan_of(snapshot())
    later = replace(seen, report=seen.report.model_copy(update={"timestamp": ago(-30)}))
    told = []
    for scan in (seen, later):
        scans.publish_diagnosis(scan)
        scans.publish_drift(drift_scan())
        told.append(scans.first_look)
    assert told == [
        FirstLook(at=NOON, took_seconds=0.5, files_at=NOON),
        FirstLook(at=NOON, took_seconds=0.5, files_at=NOON, is_over=True),
    ]
