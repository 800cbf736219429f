"""disk_pressure reads the log and the file systems; a full /dev/shm is named as such."""

import pytest

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.diagnosis.log_events import find_events
from bcon_exporter.diagnosis.rules.disk_pressure import RULE
from bcon_exporter.model.container_facts import DiskFacts, EngineFacts
from bcon_exporter.model.findings import Severity, Symptom
from tests.diagnosis.judging import case, diagnose, severity, symptom
from tests.factories import container, exited, logs

CATALOGUE = load_catalogue()


@pytest.mark.parametrize(
    "text",
    [
        "dd: error writing '/x/f': No space left on device",
        "write /data/a: disk quota exceeded",
        "kernel: EXT4-fs (sda1): Remounting filesystem read-only",
    ],
)
def test_a_full_disk_in_the_log_is_an_error(text: str) -> None:
    assert severity(RULE, container(logs=logs(text))) is Severity.ERROR


def test_in_a_warning_it_is_a_warning() -> None:
    text = "[WARN ] flood stage disk watermark [95%] exceeded on [n1], all indices will be marked read-only"

    assert severity(RULE, container(logs=logs(text))) is Severity.WARNING


@pytest.mark.parametrize(
    "text",
    [
        "touch: /data/x: Read-only file system",
        "OSError: [Errno 30] Read-only file system: '/app/cache'",
        "Error: EROFS: read-only file system, open '/app/x'",
    ],
)
def test_a_read_only_mount_is_a_matter_of_permission(text: str) -> None:
    assert severity(RULE, container(logs=logs(text))) is None
    assert diagnose(container(logs=logs(text))).likely_causes[0].id == "mount_read_only"


def test_used_up_file_watches_are_disk_pressure_and_said_to_be_no_full_disk() -> None:
    watches = "inotify_add_watch failed: No space left on device"

    assert severity(RULE, container(logs=logs(watches))) is Severity.ERROR
    assert [hit.signature.id for event in find_events(logs(watches).lines, CATALOGUE) for hit in event.hits] == [
        "disk_inotify"
    ]
    assert "not full" in CATALOGUE.by_id["disk_inotify"].explanation


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


@pytest.mark.parametrize("text", ["ready", "write: No space left on device"])
@pytest.mark.parametrize(("used", "measured"), [(0.99, True), (0.5, False)])
def test_it_is_told_whether_a_file_system_is_full_now_and_no_report_shows_it(
    text: str, used: float, *, measured: bool
) -> None:
    disk = DiskFacts(path="/data", used_ratio=used, total_bytes=2**30, containers=("api",))
    found = RULE.judge(case(container(logs=logs(text)), host={"disks": (disk,)}))

    assert isinstance(found, Symptom) is (measured or text != "ready")
    if isinstance(found, Symptom):
        assert found.measured_now is measured
        assert "measured_now" not in found.model_dump_json()


@pytest.mark.parametrize(("path", "expected"), [("/var/lib/docker", "docker_root_full"), ("/srv", "volume_full")])
def test_the_engines_own_disk_is_told_from_a_volume_with_numbers(path: str, expected: str) -> None:
    disk = DiskFacts(path=path, used_ratio=0.95, total_bytes=20 * 2**30, containers=("api", "db", "web"))
    engine = EngineFacts(name="h", server_version="28", api_version="1.48", root_dir="/var/lib/docker")
    advice = RULE.advise(case(container(), host={"disks": (disk,), "engine": engine}))

    assert [cause.id for cause in advice.causes] == [expected]
    assert advice.steps[0].rationale == "95 % of 20 GiB used, 1 GiB free; 2 more containers write to it."
