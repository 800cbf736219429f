"""The samples of who fills the disk, from the last look at it: log files, layers, volumes, images, sums of each kind.

A look that is too old is withheld: log files are looked at every five minutes, and an engine that took long to sum up
its disk is asked again after twenty times as long.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta

from bcon_exporter.latest_scans import DiagnoseScan
from bcon_exporter.memory import DiskMemory
from bcon_exporter.model.disk import DiskKind, DiskReport, LogFile, LogReading, StoredData, StoredImage, StoredLayer
from bcon_exporter.model.growth import Growth
from bcon_exporter.outputs.metrics.families import BY_NAME
from bcon_exporter.outputs.metrics.series_labels import SeriesSubject
from bcon_exporter.outputs.metrics.writing import Samples, label_set, sample
from bcon_exporter.tools.disk import ASKED_EVERY, REST_SHARE, list_volume_projects

KINDS: Mapping[DiskKind, str] = {
    DiskKind.IMAGE: "images",
    DiskKind.LAYER: "containers",
    DiskKind.VOLUME: "volumes",
    DiskKind.BUILD_CACHE: "build_cache",
    DiskKind.LOG: "logs",
}
STALE_AFTER_LOOKS = 3
KNOWN_LONG_ENOUGH = timedelta(hours=1)
"""Of a shorter time neither growth nor an end is told: one large file would be thousands of bytes a day."""
_HOURS_A_DAY = 24
Lines = Iterator[tuple[str, float | None]]


def disk_samples(scan: DiagnoseScan, subjects: Iterable[SeriesSubject], report: DiskReport) -> Iterator[Samples]:
    """Yield every family of the disk; what was not read has no sample.

    Args:
        scan: With what was known of the disk.
        subjects: The containers that get series.
        report: Of that, for its sums.
    """
    disk, now = scan.disk, scan.finished_at
    logs = disk.logs if disk.logs is not None and _is_recent(disk.logs.at, now, ASKED_EVERY) else None
    stored = disk.stored if disk.stored is not None and _is_recent(disk.stored.at, now, _pause(disk.stored)) else None
    labels = {subject.facts.id: subject.labels for subject in subjects}
    yield from _layers(stored.layers if stored else (), disk, labels)
    yield from _volumes(stored, disk)
    yield from _images(stored.images if stored else ())
    yield from _log_files(logs.logs if logs else (), disk, labels)
    yield from _totals(report, has_logs=logs is not None, has_stored=stored is not None)
    yield _exhaustion(report, logs)


def _pause(stored: StoredData) -> timedelta:
    return max(ASKED_EVERY, REST_SHARE * timedelta(seconds=stored.took_seconds))


def _is_recent(at: datetime, now: datetime, pause: timedelta) -> bool:
    return now - at <= STALE_AFTER_LOOKS * pause


def _samples(name: str, lines: Lines) -> Samples:
    """Return a family; of two things that would share their labels, as by masked names, the first counts."""
    values: dict[str, float] = {}
    for labels, value in lines:
        if value is not None:
            values.setdefault(labels, value)
    return Samples.of(BY_NAME[name], (sample(name, labels, value) for labels, value in values.items()))


def _per_day(growth: Growth | None) -> float | None:
    if growth is None or growth.known_for_seconds < KNOWN_LONG_ENOUGH.total_seconds():
        return None
    return growth.bytes_per_hour * _HOURS_A_DAY


def _layers(all_layers: Iterable[StoredLayer], disk: DiskMemory, labels: Mapping[str, str]) -> Iterator[Samples]:
    layers = [(labels[layer.container_id], layer) for layer in all_layers if layer.container_id in labels]
    name = "bcon_container_writable_layer"
    yield _samples(f"{name}_bytes", ((own, layer.size_bytes) for own, layer in layers))
    growth = ((own, _per_day(disk.growth_of(DiskKind.LAYER, layer.container_id))) for own, layer in layers)
    yield _samples(f"{name}_growth_bytes_per_day", growth)


def _volumes(stored: StoredData | None, disk: DiskMemory) -> Iterator[Samples]:
    projects = list_volume_projects(stored) if stored else {}
    names, all_volumes = ("volume", "project"), stored.volumes if stored else ()
    volumes = [(label_set(names, (volume.name, projects.get(volume.name, ""))), volume) for volume in all_volumes]
    yield _samples("bcon_volume_size_bytes", ((own, volume.size_bytes) for own, volume in volumes))
    yield _samples("bcon_volume_containers", ((own, volume.containers) for own, volume in volumes))
    growth = ((own, _per_day(disk.growth_of(DiskKind.VOLUME, volume.name))) for own, volume in volumes)
    yield _samples("bcon_volume_growth_bytes_per_day", growth)


def _images(all_images: Iterable[StoredImage]) -> Iterator[Samples]:
    images = [(label_set(("image",), (image.name,)), image) for image in all_images]
    yield _samples("bcon_image_size_bytes", ((own, image.size_bytes) for own, image in images))
    yield _samples("bcon_image_containers", ((own, image.containers) for own, image in images))
    built = ((own, image.created_at.timestamp() if image.created_at else None) for own, image in images)
    yield _samples("bcon_image_created_timestamp_seconds", built)


def _log_files(logs: Iterable[LogFile], disk: DiskMemory, labels: Mapping[str, str]) -> Iterator[Samples]:
    files = [(labels[log.container_id], log) for log in logs if log.container_id in labels]
    yield _samples("bcon_container_log_file_bytes", ((own, log.size_bytes) for own, log in files))
    bounded = ((own, None if log.is_bounded is None else int(log.is_bounded)) for own, log in files)
    yield _samples("bcon_container_log_rotated", bounded)
    growth = ((own, _per_day(disk.growth_of(DiskKind.LOG, log.container_id))) for own, log in files)
    yield _samples("bcon_container_log_file_growth_bytes_per_day", growth)


def _totals(report: DiskReport, *, has_logs: bool, has_stored: bool) -> Iterator[Samples]:
    """Yield the sums of each kind; what could be freed of logs is not judged."""
    known = [total for total in report.totals if (has_logs if total.kind is DiskKind.LOG else has_stored)]
    kinds = [(label_set(("kind",), (KINDS[total.kind],)), total) for total in known]
    yield _samples("bcon_docker_disk_bytes", ((own, total.size_bytes) for own, total in kinds))
    yield _samples(
        "bcon_docker_disk_reclaimable_bytes",
        ((own, total.reclaimable_bytes) for own, total in kinds if total.kind is not DiskKind.LOG),
    )


def _exhaustion(report: DiskReport, logs: LogReading | None) -> Samples:
    lines: list[tuple[str, float | None]] = []
    is_known = _per_day(report.space_growth) is not None
    if logs is not None and report.space is not None and report.full_in_seconds is not None and is_known:
        full_at = logs.at.timestamp() + report.full_in_seconds
        lines.append((label_set(("mountpoint",), (report.space.path,)), full_at))
    return _samples("bcon_disk_exhaustion_timestamp_seconds", iter(lines))
