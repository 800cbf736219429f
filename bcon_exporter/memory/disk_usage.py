"""What is remembered of the disk: the last readings, and sizes of the day before, from which growth is known.

A size is kept for each hour and the newest beside them; what is gone is forgotten with the next reading.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from bcon_exporter.model.disk import DiskKind, LogFile, LogReading, StoredData
from bcon_exporter.model.growth import Growth

KEPT = timedelta(hours=24)
SHORTEST = timedelta(minutes=2)
"""Of a shorter time no growth is told: a single line would be thousands in a day."""
_HOUR = timedelta(hours=1)
_SPACE = "space/"
_OF_ENGINE = tuple(f"{kind}/" for kind in DiskKind if kind is not DiskKind.LOG)


class DiskSample(NamedTuple):
    """How large something was. `subject`: "log/ID", "layer/ID", "volume/NAME"; "log/" and so on for all of a kind."""

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
        is_own: This process has read it; not what another one has left.
    """

    logs: LogReading | None = None
    stored: StoredData | None = None
    asked_at: datetime | None = None
    problem: str = ""
    samples: Mapping[str, tuple[DiskSample, ...]] = field(default_factory=dict)
    growth: Mapping[str, Growth] = field(default_factory=dict)
    is_own: bool = False

    @property
    def known_since(self) -> datetime | None:
        """The time of the oldest size that is kept."""
        return min((samples[0].at for samples in self.samples.values()), default=None)

    @property
    def space_growth(self) -> Growth | None:
        """Of what is used of the file system below the engine's root."""
        return self.growth.get(_SPACE)

    def growth_of(self, kind: DiskKind, name: str = "") -> Growth | None:
        """Return the growth of a container's log or layer by full id, of a volume by name, or of all of a kind."""
        return self.growth.get(_subject(kind, name))


def _subject(kind: DiskKind, name: str = "") -> str:
    return f"{kind}/{name}"


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
    if disk.logs is not None and disk.logs.engine_id != reading.engine_id:
        disk = DiskMemory()  # another engine's disk
    emptied = {_subject(DiskKind.LOG, log.container_id) for log in reading.logs if _was_emptied(disk, log)}
    known = _forget_emptied(disk.samples, reading)  # an earlier process has stored them, and does not know any more
    known = {subject: samples for subject, samples in known.items() if subject not in emptied}
    after, due = _add(known, list(_log_samples(reading)), (_subject(DiskKind.LOG), _SPACE), reading.at)
    return replace(disk, logs=reading, samples=after, growth=_find_growth(after), is_own=True), due


def _was_emptied(disk: DiskMemory, log: LogFile) -> bool:
    """Return whether somebody emptied a log that nothing bounds: what it grew by before tells of no rate any more."""
    samples = disk.samples.get(_subject(DiskKind.LOG, log.container_id), ())
    is_smaller = bool(samples) and log.size_bytes is not None and log.size_bytes < samples[-1].size_bytes
    return log.is_bounded is False and is_smaller


def _log_samples(reading: LogReading) -> Iterator[DiskSample]:
    sizes = {log.container_id: log.size_bytes for log in reading.logs if log.size_bytes is not None}
    for container_id, size in sizes.items():
        yield DiskSample(_subject(DiskKind.LOG, container_id), reading.at, size)
    if sizes:
        yield DiskSample(_subject(DiskKind.LOG), reading.at, sum(sizes.values()))
    if reading.space is not None:
        yield DiskSample(_SPACE, reading.at, reading.space.used_bytes)


def _fold_stored(disk: DiskMemory, data: StoredData) -> tuple[DiskMemory, tuple[DiskSample, ...]]:
    after, due = _add(disk.samples, list(_stored_samples(data)), _OF_ENGINE, data.at)
    changed = replace(disk, stored=data, asked_at=data.at, problem="", samples=after, growth=_find_growth(after))
    return changed, due


def _stored_samples(data: StoredData) -> Iterator[DiskSample]:
    layers = {_subject(DiskKind.LAYER, one.container_id): one.size_bytes for one in data.layers}
    volumes = {_subject(DiskKind.VOLUME, one.name): one.size_bytes for one in data.volumes}
    for kind, sizes in ((DiskKind.LAYER, layers), (DiskKind.VOLUME, volumes)):
        known = {subject: size for subject, size in sizes.items() if size is not None}
        for subject, size in known.items():
            yield DiskSample(subject, data.at, size)
        if known:
            yield DiskSample(_subject(kind), data.at, sum(known.values()))
    for kind, whole in ((DiskKind.IMAGE, data.images_bytes), (DiskKind.BUILD_CACHE, data.cache_bytes)):
        if whole is not None:
            yield DiskSample(_subject(kind), data.at, whole)


def recall_samples(disk: DiskMemory, stored: Iterable[DiskSample]) -> DiskMemory:
    """Return the memory with the samples of an earlier process; which logs rotate is known from its last reading."""
    samples: dict[str, tuple[DiskSample, ...]] = {}
    for sample in sorted(stored, key=lambda one: one.at):
        samples[sample.subject] = (*samples.get(sample.subject, ()), sample)
    if disk.logs is not None:
        samples = _forget_emptied(samples, disk.logs)
    return replace(disk, samples=samples, growth=_find_growth(samples))


def _forget_emptied(
    samples: Mapping[str, tuple[DiskSample, ...]], reading: LogReading
) -> dict[str, tuple[DiskSample, ...]]:
    """Leave out how large logs that nothing bounds were before they were emptied last."""
    unbounded = {_subject(DiskKind.LOG, log.container_id) for log in reading.logs if log.is_bounded is False}
    return {
        subject: _since_last_fall(of_subject) if subject in unbounded else of_subject
        for subject, of_subject in samples.items()
    }


def _since_last_fall(samples: tuple[DiskSample, ...]) -> tuple[DiskSample, ...]:
    falls = [at for at, (before, after) in enumerate(pairwise(samples), 1) if after.size_bytes < before.size_bytes]
    return samples[falls[-1] :] if falls else samples


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
