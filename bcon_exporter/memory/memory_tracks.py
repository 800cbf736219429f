"""How the working set of containers went over their runs: few samples, evenly spread over each run's whole life."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from bcon_exporter.model.container_facts import ContainerFacts, MemoryGrowth

MOST_SAMPLES = 16
"""When there are more, each second one is left out, and the next ones come half as often."""
FEWEST_SAMPLES = 8
FIRST_SPACING_SECONDS = 10.0
SHORTEST_SECONDS = 300.0
"""A start alone may fill memory steadily for a shorter time than this."""
GROWN_BY = 1.5
RISING_SHARE = 0.8
"""So many of the steps lead upwards."""
LARGEST_FALL = 0.05
"""Of the highest working set so far: what gives back more than this is no leak."""
LATER_SHARE = 0.25
"""So much of the growth lies in each half of the time: one that has come to its end is none."""


class MemorySample(NamedTuple):
    """The working set at one time."""

    at: datetime
    memory_bytes: int


class MemoryTrack(NamedTuple):
    """Samples of a container's run, oldest first.

    Attributes:
        started_at: Of the run.
        spacing_seconds: Between two samples.
        before: How the run before had grown; None where it had not, or is not known.
    """

    started_at: datetime | None
    samples: tuple[MemorySample, ...] = ()
    spacing_seconds: float = FIRST_SPACING_SECONDS
    before: MemoryGrowth | None = None


def follow_all(tracks: Mapping[str, MemoryTrack], containers: Iterable[ContainerFacts]) -> dict[str, MemoryTrack]:
    """Return the tracks of these containers with what they use now; those of others are left out."""
    return {
        container.id: track
        for container in containers
        if (track := _follow(tracks.get(container.id), container)) is not None
    }


def _follow(track: MemoryTrack | None, container: ContainerFacts) -> MemoryTrack | None:
    usage = container.usage
    if usage is None or usage.stale or usage.memory_usage_bytes is None:
        return track
    if track is None or track.started_at != container.started_at:
        track = MemoryTrack(container.started_at, before=None if track is None else find_growth(track))
    newest = track.samples[-1] if track.samples else None
    if newest is not None and (usage.read_at - newest.at).total_seconds() < track.spacing_seconds:
        return track
    samples = (*track.samples, MemorySample(usage.read_at, usage.memory_usage_bytes))
    if len(samples) <= MOST_SAMPLES:
        return track._replace(samples=samples)
    return track._replace(samples=samples[::2], spacing_seconds=2 * track.spacing_seconds)


def growth_of(track: MemoryTrack | None) -> MemoryGrowth | None:
    """Return how the working set of the run grew, or that of the run before; None where neither grew steadily."""
    return None if track is None else find_growth(track) or track.before


def find_growth(track: MemoryTrack) -> MemoryGrowth | None:
    """Return how the working set grew over a run; None where it did not grow steadily."""
    samples = track.samples
    if len(samples) < FEWEST_SAMPLES:
        return None
    first, last, middle = samples[0], samples[-1], samples[len(samples) // 2]
    seconds = (last.at - first.at).total_seconds()
    grown = last.memory_bytes - first.memory_bytes
    if seconds < SHORTEST_SECONDS or last.memory_bytes < GROWN_BY * first.memory_bytes:
        return None
    earlier = middle.memory_bytes - first.memory_bytes
    if min(earlier, grown - earlier) < LATER_SHARE * grown or not _rises(samples):
        return None
    return MemoryGrowth(from_bytes=first.memory_bytes, to_bytes=last.memory_bytes, seconds=seconds)


def _rises(samples: tuple[MemorySample, ...]) -> bool:
    rises, highest = 0, 0
    for before, after in pairwise(samples):
        highest = max(highest, before.memory_bytes)
        if after.memory_bytes < (1 - LARGEST_FALL) * highest:
            return False
        rises += after.memory_bytes > before.memory_bytes
    return rises >= RISING_SHARE * (len(samples) - 1)
