"""Promise: what has not changed costs a scan next to nothing (bench.memory measures it); several threads may use it."""

import threading
from datetime import timedelta
from pathlib import Path

import pytest

from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.container_facts import HostSnapshot
from tests.factories import NOON, ago, compose, usage
from tests.journal.keepers import batch, container, crash_loop, event, open_keeper, past_of, scan

COUNT = 500


@pytest.fixture
def keeper(tmp_path: Path) -> MemoryKeeper:
    """A keeper of 500 containers, a fifth of which have crashed lately."""
    watched = open_keeper(tmp_path / "state.db")
    for n in range(0, COUNT, 5):
        watched.add_events(batch(*crash_loop(3, name=f"c{n}")), NOON)
    for minute in range(3):
        scan(watched, *host().containers, now=NOON + timedelta(minutes=minute))
    return watched


def host() -> HostSnapshot:
    seen = [container(name=f"c{n}", usage=usage(), compose=compose(f"s{n}") if n % 5 else None) for n in range(COUNT)]
    return HostSnapshot(taken_at=NOON + timedelta(minutes=5), containers=tuple(seen))


def test_an_unchanged_past_is_not_made_anew(keeper: MemoryKeeper) -> None:
    one, two = (keeper.observe(host()).containers[0].lifecycle for _ in range(2))
    assert one is two


def test_several_threads_may_use_it(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for n in range(30):
                keeper.add_events(batch(event(ago(n), "oom", name)), NOON)
                scan(keeper, container(name=name))
                keeper.conclude_first_seen("symptom", dict.fromkeys({name}), NOON)
        except BaseException as error:  # noqa: BLE001 - shown by the assertion
            failures.append(error)

    threads = [threading.Thread(target=work, args=(f"c{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert [past_of(keeper, container(name=f"c{n}")).oom_kills_total for n in range(4)] == [30] * 4
