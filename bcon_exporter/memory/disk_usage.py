"""What is remembered of the disk: the last readings, and sizes of the day before, from which growth is known.

A size is kept for each hour and the newest beside them; what is gone is forgotten with the next reading.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from bcon_exporter.model.disk import LogFile, LogReading, StoredData
from bcon_exporter.model.growth import Growth

KEPT = timedelta(hours=24)
SHORTEST = timedelta(minutes=2)
"""Of a shorter time no growth is told: a single line would be thousands in a day."""
_HOUR = timedelta(hours=1)
_OF_LOGS = ("log/", "space/")
SPACE = "space/used"
TOTAL_OF_LOGS = "log/"
TOTAL_OF_LAYERS = "layer/"
TOTAL_OF_VOLUMES = "volume/"
TOTAL_OF_IMAGES = "image/"
TOTAL_OF_CACHE = "cache/"


class DiskSample(NamedTuple):
    """How large something was. `subject`: "log/ID", "layer/ID", "volume/NAME"; without a name all of a kind."""

    subject: str
    at: datetime
    size_bytes: int


@dataclass(frozen=True, slots=True)
class DiskMemory:
    """What is known of the disk.

    Attributes:
        logs: The last reading of log files.
        stored: What the engine last said.
        asked_at: When it was last asked, answered or not.
        problem: Why it did not say so when it was asked last; empty when it did.
        samples: By subject, oldest first.
        growth: By subject, as of the last reading.
    """

    logs: LogReading | None = None
    stored: StoredData | None = None
    asked_at: datetime | None = None
    problem: str = ""
    samples: Mapping[str, tuple[DiskSample, ...]] = field(default_factory=dict)
    growth: Mapping[str, Growth] = field(default_factory=dict)

    @property
    def known_since(self) -> datetime | None:
        """The time of the oldest size that is kept."""
        return min((samples[0].at for samples in self.samples.values() if samples), default=None)


def log_subject(container_id: str) -> str:
    """Return the subject of a container's log."""
    return f"log/{container_id}"


def layer_subject(container_id: str) -> str:
    """Return the subject of a container's own file system."""
    return f"layer/{container_id}"


def volume_subject(name: str) -> str:
    """Return the subject of a volume."""
    return f"volume/{name}"


def fold_disk(
    disk: DiskMemory, reading: LogReading | StoredData | str, now: datetime
) -> tuple[DiskMemory, tuple[DiskSample, ...]]:
    """Return the memory with a reading, and the samples that begin an hour: they are to be stored.

    A text says why the engine did not tell; what it said before stays, with its time.
    """
    match reading:
        case LogReading():
            return _fold_logs(disk, reading)
        case StoredData():
            return _fold_stored(disk, reading)
        case problem:
            return replace(disk, asked_at=now, problem=problem), ()


def _fold_logs(disk: DiskMemory, reading: LogReading) -> tuple[DiskMemory, tuple[DiskSample, ...]]:
    emptied = {log_subject(log.container_id) for log in reading.logs if _was_emptied(disk, log)}
    known = {subject: samples for subject, samples in disk.samples.items() if subject not in emptied}
    after, due = _add(known, list(_log_samples(reading)), _OF_LOGS, reading.at)
    return replace(disk, logs=reading, samples=after, growth=_find_growth(after)), due


def _was_emptied(disk: DiskMemory, log: LogFile) -> bool:
    """Return whether somebody emptied a log that nothing bounds: what it grew by before tells of no rate any more."""
    samples = disk.samples.get(log_subject(log.container_id))
    return (
        log.is_bounded is False
        and log.size_bytes is not None
        and bool(samples)
        and log.size_bytes < (samples or ())[-1].size_bytes
    )


def _log_samples(reading: LogReading) -> Iterator[DiskSample]:
    sizes = {log.container_id: log.size_bytes for log in reading.logs if log.size_bytes is not None}
    for container_id, size in sizes.items():
        yield DiskSample(log_subject(container_id), reading.at, size)
    if sizes:
        yield DiskSample(TOTAL_OF_LOGS, reading.at, sum(sizes.values()))
    if reading.space is not None:
        yield DiskSample(SPACE, reading.at, reading.space.used_bytes)


def _fold_stored(disk: DiskMemory, data: StoredData) -> tuple[DiskMemory, tuple[DiskSample, ...]]:
    after, due = _add(disk.samples, list(_stored_samples(data)), ("layer/", "volume/", "image/", "cache/"), data.at)
    changed = replace(disk, stored=data, asked_at=data.at, problem="", samples=after, growth=_find_growth(after))
    return changed, due


def _stored_samples(data: StoredData) -> Iterator[DiskSample]:
    layers = {layer_subject(one.container_id): one.size_bytes for one in data.layers}
    volumes = {volume_subject(one.name): one.size_bytes for one in data.volumes}
    for total, sizes in ((TOTAL_OF_LAYERS, layers), (TOTAL_OF_VOLUMES, volumes)):
        known = {subject: size for subject, size in sizes.items() if size is not None}
        for subject, size in known.items():
            yield DiskSample(subject, data.at, size)
        if known:
            yield DiskSample(total, data.at, sum(known.values()))
    for subject, whole in ((TOTAL_OF_IMAGES, data.images_bytes), (TOTAL_OF_CACHE, data.cache_bytes)):
        if whole is not None:
            yield DiskSample(subject, data.at, whole)


def recall_samples(disk: DiskMemory, stored: Iterable[DiskSample]) -> DiskMemory:
    """Return the memory with the samples of an earlier process."""
    samples: dict[str, tuple[DiskSample, ...]] = {}
    for sample in sorted(stored, key=lambda one: one.at):
        samples[sample.subject] = (*samples.get(sample.subject, ()), sample)
    return replace(disk, samples=samples, growth=_find_growth(samples))


def _add(
    before: Mapping[str, tuple[DiskSample, ...]], new: list[DiskSample], kinds: tuple[str, ...], at: datetime
) -> tuple[dict[str, tuple[DiskSample, ...]], tuple[DiskSample, ...]]:
    """Return all samples with the new ones of some kinds of subjects, and those of them that begin an hour."""
    after = {subject: samples for subject, samples in before.items() if not subject.startswith(kinds)}
    due = []
    for sample in new:
        kept = [one for one in before.get(sample.subject, ()) if timedelta() < at - one.at <= KEPT]
        if len(kept) > 1 and _hour_of(kept[-1]) == _hour_of(kept[-2]):
            kept.pop()
        if not kept or _hour_of(kept[-1]) != _hour_of(sample):
            due.append(sample)
        after[sample.subject] = (*kept, sample)
    return after, tuple(due)


def _hour_of(sample: DiskSample) -> int:
    return int(sample.at.timestamp() // _HOUR.total_seconds())


def _find_growth(samples: Mapping[str, tuple[DiskSample, ...]]) -> dict[str, Growth]:
    growth = {}
    for subject, of_subject in samples.items():
        oldest, newest = of_subject[0], of_subject[-1]
        if newest.at - oldest.at >= SHORTEST:
            seconds = (newest.at - oldest.at).total_seconds()
            rate = (newest.size_bytes - oldest.size_bytes) / seconds * _HOUR.total_seconds()
            growth[subject] = Growth(bytes_per_hour=round(rate, 1), known_for_seconds=round(seconds, 1))
    return growth
