"""Promise: what has not changed costs a scan next to nothing (bench.memory measures it); several threads may use it."""

import threading
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bcon_exporter.journal import EntryFilter, MemoryKeeper
from bcon_exporter.journal.event_rows import Statement
from bcon_exporter.journal.state_file import StateFile
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


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many statements each transaction had, as they come."""
    seen: list[int] = []
    write = StateFile.write

    def count(state: StateFile, statements: Iterable[Statement], now: datetime) -> None:
        wanted = [statement for statement in statements if statement[1]]
        if wanted:
            seen.append(len(wanted))
        write(state, wanted, now)

    monkeypatch.setattr(StateFile, "write", count)
    return seen


def remember_a_scan(keeper: MemoryKeeper) -> None:
    """What an eventful scan remembers, in its order."""
    keeper.add_events(batch(*crash_loop(3)), NOON)
    keeper.add_events(batch(event(ago(1), "oom")), NOON)
    scan(keeper, container())
    keeper.conclude_first_seen("symptom", {"a": None}, NOON)
    keeper.conclude_first_seen("explained", {"b": None}, NOON)


def test_a_scan_is_one_transaction(tmp_path: Path, transactions: list[int]) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    scan(keeper)
    transactions.clear()
    with keeper.one_transaction():
        remember_a_scan(keeper)
        assert transactions == []
    assert len(transactions) == 1
    again = open_keeper(tmp_path / "state.db", read_only=True)
    assert past_of(again, container()).oom_kills_total == 1
    assert set(again.first_seen("symptom")) == {"a"}


def test_who_reads_what_is_stored_meanwhile_reads_all_of_it(tmp_path: Path, transactions: list[int]) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    scan(keeper)
    wanted = EntryFilter(ago(days=1), NOON + timedelta(minutes=1))
    before = keeper.count_entries(wanted)
    transactions.clear()
    with keeper.one_transaction():
        remember_a_scan(keeper)
        assert keeper.count_entries(wanted) > before
        assert len(transactions) == 1
    assert len(transactions) == 1, "nothing was left to write"


def test_what_another_thread_must_keep_at_once_does_not_wait_for_a_scan(
    tmp_path: Path, transactions: list[int]
) -> None:
    keeper = open_keeper(tmp_path / "state.db")
    with keeper.one_transaction():
        keeper.add_events(batch(event(ago(1), "oom")), NOON)
        other = threading.Thread(target=keeper.keep_alerts, args=("firing", NOON))
        other.start()
        other.join(60)
        assert len(transactions) == 1
    assert open_keeper(tmp_path / "state.db", read_only=True).memory.alerts == "firing"


def test_a_scan_that_fails_keeps_what_it_has_remembered(tmp_path: Path) -> None:
    keeper = open_keeper(tmp_path / "state.db")

    def fail() -> None:
        with keeper.one_transaction():
            remember_a_scan(keeper)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    again = open_keeper(tmp_path / "state.db", read_only=True)
    assert past_of(again, container()).oom_kills_total == 1
