"""Promise: a read of some containers is not taken for the whole host."""

from datetime import datetime, timedelta
from pathlib import Path

from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot
from tests.factories import NOON, ago, compose
from tests.journal.keepers import batch, container, crash_loop, event, open_keeper, past_of, scan

MINUTE = timedelta(minutes=1)


def some(keeper: MemoryKeeper, *containers: ContainerFacts, now: datetime = NOON) -> ContainerFacts:
    """Enrich and remember a snapshot of only these; return the first."""
    taken = keeper.observe(HostSnapshot(taken_at=now, containers=containers, partial=True))
    return taken.containers[0]


def test_a_read_of_one_container_decides_on_no_shutdown() -> None:
    keeper = open_keeper()
    keeper.add_events(batch(), ago(60))
    survivor, young = container(name="survivor", started_at=ago(hours=9)), container(name="young", started_at=ago(5))
    fall = [event(ago(32), "start", "young"), event(ago(31), "die", "young", exit_code=1)]
    keeper.add_events(batch(*fall, broken_at=(ago(30),)), NOON)
    assert some(keeper, young).lifecycle is not None
    ends = [each.lifecycle.exits for each in scan(keeper, survivor, young).containers if each.lifecycle]
    assert [end.shutdown for end in ends[1]] == [False]


def test_a_read_of_one_container_neither_forgets_the_others_nor_ends_a_gap(tmp_path: Path) -> None:
    before = open_keeper(tmp_path / "state.db")
    before.add_events(batch(), NOON)
    scan(before, container(restart_count=3, started_at=ago(hours=1)))
    before.close()
    again = open_keeper(tmp_path / "state.db")
    later = NOON + timedelta(hours=2)
    after = container(restart_count=7, started_at=later - 10 * MINUTE)
    again.add_events(batch(since=later), later)
    for _ in range(3):
        some(again, container(name="other"), now=later)
        some(again, after, now=later)
    scan(again, after, now=later)
    assert past_of(again, after, later + MINUTE).restarts_total == 4


def test_a_read_of_one_container_knows_who_else_has_its_labels() -> None:
    keeper = open_keeper()
    replica = {"project": "shop", "service": "web", "number": 1}
    keeper.add_events(batch(*[event(e.at, e.action, "evil", **replica) for e in crash_loop(3)]), NOON)
    labels = compose(service="web")
    good, evil = container(name="good", compose=labels), container(name="evil", compose=labels)
    whole = scan(keeper, good, evil).containers[0].lifecycle
    assert whole is not None
    assert (some(keeper, good).lifecycle, whole.restarts) == (whole, ())
