"""disk_pressure reads the log and the file systems; a full /dev/shm is named as such."""

import pytest

from bcon_exporter.diagnosis.rules.disk_pressure import RULE
from bcon_exporter.model.facts import DiskFacts
from bcon_exporter.model.findings import Severity
from tests.diagnosis.judging import severity, symptom
from tests.factories import container, exited, logs


@pytest.mark.parametrize(
    "text",
    [
        "dd: error writing '/x/f': No space left on device",
        "[WARN ] flood stage disk watermark [95%] exceeded on [n1], all indices will be marked read-only",
        "write /data/a: disk quota exceeded",
        "touch: /data/x: Read-only file system",
    ],
)
def test_a_full_disk_in_the_log_is_an_error(text: str) -> None:
    assert severity(RULE, container(logs=logs(text))) is Severity.ERROR


def test_used_up_file_watches_are_no_full_disk() -> None:
    assert severity(RULE, container(logs=logs("inotify_add_watch failed: No space left on device"))) is None


@pytest.mark.parametrize(("used", "expected"), [(0.899, None), (0.90, None), (0.901, Severity.ERROR)])
def test_a_nearly_full_file_system_is_an_error(used: float, expected: Severity | None) -> None:
    disk = DiskFacts(path="/data", used_ratio=used, total_bytes=2**30, containers=("api",))

    assert severity(RULE, container(), host={"disks": (disk,)}) is expected


def test_another_containers_disk_is_not_ours() -> None:
    disk = DiskFacts(path="/data", used_ratio=0.99, total_bytes=2**30, containers=("db",))

    assert severity(RULE, container(), host={"disks": (disk,)}) is None


def test_a_stopped_container_fills_nothing() -> None:
    disk = DiskFacts(path="/data", used_ratio=0.99, total_bytes=2**30, containers=("api",))

    assert severity(RULE, exited(0), host={"disks": (disk,)}) is None


def test_is_seen_although_logs_were_not_read() -> None:
    disk = DiskFacts(path="/data", used_ratio=0.99, total_bytes=2**30, containers=("api",))

    assert "/data is 99 % full" in symptom(RULE, container(logs=None), host={"disks": (disk,)}).description
