"""A working set that grew over the whole run is told from one that has its size, and from one that jumped."""

from collections.abc import Callable
from datetime import timedelta

from bcon_exporter.memory.memory_tracks import MOST_SAMPLES, MemoryTrack, find_growth, follow_all, growth_of
from tests.factories import NOON, container, usage
from tests.table_rows import table

MIB = 2**20


def _track(
    size: Callable[[int], float], *, scans: int = 61, every: float = 10, track: MemoryTrack | None = None, run: int = 0
) -> MemoryTrack:
    """The track of a run whose scans saw `size` MiB each."""
    tracks = {} if track is None else {container().id: track}
    for number in range(scans):
        read_at = NOON + timedelta(hours=run, seconds=number * every)
        used = usage(read_at=read_at, memory_usage_bytes=int(size(number) * MIB))
        tracks = follow_all(tracks, [container(started_at=NOON + timedelta(hours=run), usage=used)])
    return tracks[container().id]


@table(
    ("size", "scans", "grew"),
    [
        (lambda number: 100 + number, 61, True),
        (lambda number: 100 + number - (number % 7 == 3), 61, True),
        (lambda number: 100 + number, 30, False),  # shorter than a start may last
        (lambda number: 100 + number, 31, False),  # not by half
        (lambda number: 100 + 2 * number, 31, True),
        (lambda number: 100 + min(number, 10) * 20, 61, False),  # it has its size
        (lambda number: 100 if number < 40 else 300, 61, False),  # it jumped
        (lambda number: 100 + number * 4 % 100, 61, False),  # it gives back
        (lambda number: 400 - number, 61, False),
    ],
)
def test_only_steady_growth_over_the_whole_run_counts(size: Callable[[int], float], scans: int, *, grew: bool) -> None:
    assert (find_growth(_track(size, scans=scans)) is not None) is grew


def test_the_samples_stay_few_and_spread_over_the_whole_run() -> None:
    track = _track(lambda number: 100 + number, scans=2000)

    assert len(track.samples) <= MOST_SAMPLES
    assert track.samples[0].at == NOON
    growth = find_growth(track)
    assert growth is not None
    assert growth.from_bytes == 100 * MIB
    assert growth.seconds > 0.9 * 20_000


def test_the_growth_of_the_run_before_is_known_until_the_next() -> None:
    first = _track(lambda number: 100 + number)
    second = _track(lambda _: 100.0, scans=3, track=first, run=1)
    third = _track(lambda _: 100.0, scans=3, track=second, run=2)

    assert growth_of(second) == find_growth(first)
    assert growth_of(third) is None


def test_a_container_that_does_not_run_keeps_its_track_and_one_that_is_gone_has_none() -> None:
    tracks = {container().id: _track(lambda number: 100 + number)}

    assert follow_all(tracks, [container(usage=None)]) == tracks
    assert follow_all(tracks, [container(usage=usage(stale=True))]) == tracks
    assert follow_all(tracks, []) == {}
