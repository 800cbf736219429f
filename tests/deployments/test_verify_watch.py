"""Promise: a watch knows when the deployment began, what was there before, what changed, and when nothing more can."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.deployments.verify import Watch, give_up, observe
from bcon_exporter.deployments.verify.begin import find_begin
from bcon_exporter.deployments.verify.changes import find_changes
from bcon_exporter.drift import detect_drift
from bcon_exporter.memory import identity_of
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.lifecycle import LifecycleEvent
from bcon_exporter.model.verify_report import DeploymentVerdict
from tests.deployments.judging import deployed, look
from tests.drift.builders import OTHER_IMAGE_ID, project, service
from tests.factories import NOON, ago, compose, container, ended, full_id, health, lifecycle, logs, snapshot
from tests.table_rows import table

if TYPE_CHECKING:
    from datetime import datetime


def made(seconds_ago: float, *, started: float | None = None, **facts: Any) -> ContainerFacts:
    """A container made and started so many seconds ago."""
    start = ago(seconds_ago if started is None else started)
    return container(**{"created_at": ago(seconds_ago), "started_at": start, **facts})


@table(
    ("containers", "began"),
    [
        ((), None),
        ((made(90),), ago(90)),
        ((made(92), made(90)), ago(92)),
        ((made(100), made(90)), ago(90)),
        ((made(3700),), None),
        ((made(95, started=70), made(95)), ago(95)),
        ((made(5000, started=80),), ago(80)),
        ((made(5000, started=80, lifecycle=lifecycle(restarts=(ago(80),))),), None),
        ((made(5000, started=80, lifecycle=lifecycle(exits=(ended(0, at=ago(81), requested=True),))),), None),
        ((made(90, started=62, restart_count=4, lifecycle=lifecycle()),), ago(90)),
        ((made(90), made(20)), ago(20)),
        ((made(90), made(20), made(5)), ago(20)),
        ((made(61), made(59)), ago(61)),
    ],
    ids=[
        "nothing", "one", "one after the other", "an earlier one ends before", "too long ago", "waited for another",
        "a mere start", "a restart by policy", "a restart by hand", "a loop that no event told of",
        "in the window", "the first of the window",
        "the watch began in the middle",
    ],
)  # fmt: skip
def test_when_a_deployment_began(containers: tuple[ContainerFacts, ...], began: datetime | None) -> None:
    assert find_begin(containers, watched_from=ago(60)) == began


def test_what_was_there_before_the_deployment_is_no_news() -> None:
    old = deployed(
        "db", created_at=ago(hours=2), started_at=ago(hours=2), logs=logs("ERROR disk is on fire", at=ago(50))
    )
    assert look(old, deployed())[1].verdict is DeploymentVerdict.GOOD


def test_what_an_old_container_says_after_it_is() -> None:
    old = deployed("db", created_at=ago(hours=2), started_at=ago(hours=2))
    watch, _ = look(old, deployed())
    failing = old.model_copy(update={"logs": logs("ERROR disk is on fire", at=ago(20))})
    assert look(failing, deployed(), watch=watch)[1].verdict is DeploymentVerdict.BAD


def test_a_given_time_bounds_what_counts_as_before() -> None:
    crashed = deployed(lifecycle=lifecycle(exits=(ended(1, at=ago(30), lifetime_seconds=5.0),), restarts=(ago(29),)))
    for since, verdict in ((ago(35), DeploymentVerdict.BAD), (ago(25), DeploymentVerdict.GOOD)):
        assert look(crashed, watch=Watch(ago(20), 60, given_since=since))[1].verdict is verdict


def test_changes_since_the_replaced_container_name_keys_and_never_values() -> None:
    before = deployed("web", 1, fields={"environment.TOKEN": "canary-1", "mem_limit": "64m"}, created_at=ago(hours=1))
    after = deployed(
        "web",
        1,
        fields={"environment.TOKEN": "canary-2", "mem_limit": "32m"},
        id=full_id("new"),
        image_id=OTHER_IMAGE_ID,
    )
    changes = find_changes(before, after)
    assert changes == (
        "image: app:1 (aaaaaaaaaaaa) → app:1 (bbbbbbbbbbbb)",
        "environment: TOKEN changed",
        "mem_limit: 64m → 32m",
    )
    watch, _ = look(before, watch=Watch(ago(50), 60))
    report = look(after, watch=watch)[1]
    assert (report.services[0].changes, report.services[0].changes_known) == (changes, True)


def test_that_nothing_is_known_of_a_replaced_container_is_told() -> None:
    assert not look(deployed(), watch=Watch(ago(10), 60))[1].services[0].changes_known


def test_a_first_container_has_replaced_none() -> None:
    watch, _ = look(services=(service(),), watch=Watch(ago(50), 60))
    service_now = look(deployed(), watch=watch)[1].services[0]
    assert (service_now.changes, service_now.changes_known) == ((), True)


def test_nothing_is_certain_of_what_runs() -> None:
    assert not look(deployed())[1].is_certain


def done(**facts: Any) -> ContainerFacts:
    end = ended(0, at=ago(20), lifetime_seconds=20.0)
    return deployed(
        **{"state": ContainerState.EXITED, "finished_at": ago(20), "lifecycle": lifecycle(exits=(end,)), **facts}
    )


def test_it_is_certain_once_all_has_ended_for_good() -> None:
    assert look(done())[1].is_certain
    assert look(done(exit_code=1, lifecycle=lifecycle(exits=(ended(1, at=ago(20), lifetime_seconds=5),))))[1].is_certain


def test_nothing_is_certain_while_up_may_just_be_about_to_begin() -> None:
    assert not look(done(), watch=Watch(ago(9), 60))[1].is_certain
    assert not look(done(finished_at=ago(4)))[1].is_certain


def test_one_that_its_policy_starts_again_is_not_certain() -> None:
    assert not look(done(restart_policy="always", exit_code=1))[1].is_certain


def test_files_that_change_meanwhile_are_told_and_judged_anew() -> None:
    watch, _ = look(deployed())
    report = look(deployed(), watch=watch, services=(service(), service("db")))[1]
    assert "The Compose files changed while they were watched; judged is what they ask for now." in report.notes
    assert [one.service for one in report.services if one.verdict is DeploymentVerdict.BAD] == ["db"]


def test_an_extra_container_is_a_note() -> None:
    report = look(deployed(), deployed("old"), services=(service(),))[1]
    assert report.verdict is DeploymentVerdict.GOOD
    assert "shop-old-1" in report.notes[0]


def test_files_that_cannot_be_resolved_leave_it_open() -> None:
    wanted = project().model_copy(update={"services": None, "problem_detail": "compose.yaml is no YAML"})
    seen = snapshot()
    report = observe(Watch(ago(9), 60), seen, wanted, detect_drift(wanted, seen), ())[1]
    assert (report.verdict, report.reason) == (DeploymentVerdict.UNSURE, "compose.yaml is no YAML")


def test_a_host_that_is_away_at_the_end_leaves_open_what_was_not_bad() -> None:
    end = ended(1, at=ago(20), lifetime_seconds=5.0)
    crashed = deployed("db", lifecycle=lifecycle(exits=(end,), restarts=(ago(19),)))
    watch, _ = look(deployed(), crashed)
    report = give_up(watch, NOON, "shop", "the engine does not answer")
    assert report.verdict is DeploymentVerdict.BAD
    assert {one.service: one.verdict.value for one in report.services} == {"db": "bad", "web": "unsure"}
    watch, _ = look(deployed())
    assert give_up(watch, NOON, "shop", "the engine does not answer").verdict is DeploymentVerdict.UNSURE


def test_a_root_that_was_seen_is_named_as_long_as_it_is_bad() -> None:
    watch, _ = look(deployed("db", state=ContainerState.PAUSED), deployed(health=health(HealthStatus.UNHEALTHY)))
    watch = replace(watch, roots={"web": "db"})
    report = look(
        deployed("db", state=ContainerState.PAUSED), deployed(health=health(HealthStatus.UNHEALTHY)), watch=watch
    )[1]
    assert {one.service: one.root for one in report.services} == {"db": None, "web": "db"}


def test_one_off_runs_and_claims_are_no_replicas() -> None:
    oneoff = deployed("web", 2, compose=compose("web", config_hash="h1", oneoff=True), created_at=NOON)
    assert look(deployed(), oneoff)[1].services[0].containers == ("shop-web-1",)


def events(*seconds_ago: tuple[float, str], container_id: str = full_id("web1")) -> tuple[LifecycleEvent, ...]:
    """Events of a container: "healthy" stands for its health check's first success."""
    return tuple(
        LifecycleEvent(
            at=ago(seconds),
            action="health_status" if action == "healthy" else action,
            container_id=container_id,
            name="",
            health="healthy" if action == "healthy" else None,
        )
        for seconds, action in seconds_ago
    )


@pytest.mark.parametrize(
    ("seconds_before", "seconds_now", "is_told"),
    [(6, 12, True), (6, 11, False), (2, 7, True), (2, 6, False), (1, 2, False)],
    ids=["twice as long", "less than twice", "five seconds more", "less than five", "both short"],
)
def test_a_slower_start_is_a_note(seconds_before: float, seconds_now: float, is_told: bool) -> None:
    container = deployed(health=health(HealthStatus.HEALTHY))
    told = (
        *events((600, "start"), (600 - seconds_before, "healthy"), (45, "die"), container_id=full_id("before")),
        *events((40, "start"), (40 - seconds_now, "healthy"), container_id=container.id),
    )
    report = look(container, events={identity_of(container): told})[1]
    assert report.verdict is DeploymentVerdict.GOOD
    assert [one.startswith("slower_start: shop-web-1 became healthy after") for one in report.notes] == [True] * is_told


def test_one_that_still_starts_is_slower_already_and_told_once() -> None:
    container = deployed(health=health(HealthStatus.STARTING))
    told = (
        *events((600, "start"), (595, "healthy"), (45, "die"), container_id=full_id("before")),
        *events((40, "start"), container_id=container.id),
    )
    watch, _ = look(container, events={identity_of(container): told})
    later = look(container, watch=watch, events={identity_of(container): told})[1]
    assert later.notes == (
        "slower_start: shop-web-1 has not become healthy for 40 s; before this deployment it took 5 s.",
    )


def test_a_start_is_compared_with_the_longest_of_the_last_three_before() -> None:
    container = deployed(health=health(HealthStatus.HEALTHY))
    runs = [(3600, 30), (3000, 5), (2400, 10), (1800, 5)]
    told = [
        one
        for start, took in runs
        for one in events((start, "start"), (start - took, "healthy"), (start - 100, "die"), container_id="before")
    ]
    told += events((40, "start"), (19, "healthy"), container_id=container.id)
    assert look(container, events={identity_of(container): tuple(told)})[1].notes == (
        "slower_start: shop-web-1 became healthy after 21 s; before this deployment it took 10 s.",
    )


def test_files_that_up_has_not_used_are_told() -> None:
    other = deployed(compose=compose("web", config_hash="h2", config_files=("/srv/old.yaml",)))
    wanted = (service("web", config_hash="h1"),)
    notes = look(other, services=wanted, config_files=("/srv/shop.yaml",))[1].notes
    assert notes[0] == "`up` used other files than are judged here: /srv/old.yaml."
    assert notes[1].startswith("web was made from other contents of the files")


def test_files_of_an_earlier_deployment_are_not() -> None:
    old = deployed(
        compose=compose("web", config_hash="h2", config_files=("/srv/old.yaml",)),
        created_at=ago(hours=2),
        started_at=ago(hours=2),
    )
    notes = look(old, deployed("db"), services=(service("web", config_hash="h1"), service("db")))[1].notes
    assert notes == ()
