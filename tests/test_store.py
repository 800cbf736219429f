"""The store swaps whole scans, remembers how each scan is doing, and keeps the last good one through failures."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.errors import DockerConnectionError, ErrorCode
from bcon_exporter.store import Store
from tests.factories import NOON, ago, container, snapshot
from tests.outputs.scenes import drift_report, drift_scan, scan_of

if TYPE_CHECKING:
    from bcon_exporter.store import ScanName


def test_knows_nothing_before_the_first_scan() -> None:
    store = Store()

    assert (store.diagnosis, store.drift) == (None, None)
    assert store.status("diagnose").success is None
    assert store.age_seconds("diagnose", 5.0) is None


def test_a_published_scan_is_what_readers_get() -> None:
    store = Store()
    scan, drift = scan_of(snapshot(container())), drift_scan(drift_report())

    store.publish_diagnosis(scan)
    store.publish_drift(drift)

    assert store.diagnosis is scan
    assert store.drift is drift
    assert store.status("diagnose").success is True
    assert store.status("drift").last_success_at == NOON


def test_age_counts_on_the_clock_that_never_steps() -> None:
    store = Store()
    store.publish_diagnosis(scan_of(snapshot(), ended=100.0))

    assert store.age_seconds("diagnose", 130.5) == 30.5


def test_a_failed_run_keeps_the_last_good_scan_and_says_why() -> None:
    store = Store()
    scan = scan_of(snapshot())
    store.publish_diagnosis(scan)

    store.record_failure("diagnose", ago(0), 5.0, DockerConnectionError("the engine does not answer"))

    status = store.status("diagnose")
    assert store.diagnosis is scan
    assert (status.success, status.total, status.failures) == (False, 2, 1)
    assert status.error is not None
    assert status.error.code is ErrorCode.DOCKER_CONNECTION_FAILED
    assert status.last_success_monotonic == scan.finished_monotonic


def test_the_next_good_run_forgets_the_error() -> None:
    store = Store()
    store.record_failure("drift", NOON, 1.0)

    store.publish_drift(drift_scan())

    assert store.status("drift").error is None
    assert store.status("drift").failures == 1


@pytest.mark.parametrize(("runs", "counted"), [(0, 0), (1, 1), (5, 5)])
def test_counts_missed_runs(runs: int, counted: int) -> None:
    store = Store()

    store.record_missed("diagnose", runs)

    assert store.status("diagnose").missed == counted


def test_counts_rule_errors_by_name() -> None:
    store = Store()

    store.count_rule_errors(("high_cpu", "high_cpu", "paused"))
    store.count_rule_errors(())

    assert store.rule_errors == {"high_cpu": 2, "paused": 1}


def test_no_count_is_lost_between_threads() -> None:
    store = Store()
    names: tuple[ScanName, ...] = ("diagnose", "drift")

    def work(name: ScanName) -> None:
        for _ in range(500):
            store.record_missed(name, 1)
            store.count_rule_errors(("paused",))

    threads = [Thread(target=work, args=(name,)) for name in names for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [store.status(name).missed for name in names] == [1500, 1500]
    assert store.rule_errors == {"paused": 3000}


def test_statuses_handed_out_do_not_change() -> None:
    store = Store()
    before = store.statuses

    store.record_missed("drift", 1)

    assert before["drift"].missed == 0
