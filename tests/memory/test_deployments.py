"""Promise: the daemon judges each deployment once, a minute after its last container was made or first started."""

from datetime import timedelta

import pytest

from bcon_exporter.memory import Deployments, add_verdict, find_deploying, find_due, journal_deployment, read_deployment
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.verify_report import DeployedService, DeploymentRecord, DeploymentVerdict, VerifyCode
from tests.factories import NOON, ago, compose, container, ended, full_id, lifecycle, snapshot

QUIET = Deployments(judged={"shop": ago(hours=5)})


def made(seconds_ago: float, *, started: float | None = None, **facts: object) -> ContainerFacts:
    """A container of the project, made and started so many seconds ago."""
    start = ago(seconds_ago if started is None else started)
    base = {"compose": compose("web", config_hash="h"), "created_at": ago(seconds_ago), "started_at": start}
    return container(**{**base, **facts})


@pytest.mark.parametrize(("seconds_ago", "due"), [(59, ()), (60, ("shop",)), (61, ("shop",))])
def test_it_is_due_a_minute_after_it_went_quiet(seconds_ago: float, due: tuple[str, ...]) -> None:
    assert find_due(QUIET, snapshot(made(seconds_ago)))[1] == due


@pytest.mark.parametrize(("seconds_ago", "deploying"), [(59, {"shop"}), (60, set())])
def test_it_goes_on_until_it_is_due(seconds_ago: float, deploying: set[str]) -> None:
    assert find_deploying(snapshot(made(seconds_ago))) == deploying


def test_it_is_judged_once() -> None:
    host = snapshot(made(61))
    known, due = find_due(QUIET, host)
    assert due == ("shop",)
    assert find_due(known, host)[1] == ()


def test_a_container_that_is_started_later_than_made_puts_it_off() -> None:
    assert find_due(QUIET, snapshot(made(200, started=30)))[1] == ()
    assert find_due(QUIET, snapshot(made(200, started=61)))[1] == ("shop",)


def test_what_was_there_at_the_first_scan_is_nothing_that_was_seen() -> None:
    known, due = find_due(Deployments(), snapshot(made(61)))
    assert due == ()
    later = made(0, id=full_id("new"), name="new", created_at=NOON + timedelta(seconds=5))
    then = snapshot(made(61), later, taken_at=NOON + timedelta(seconds=66))
    assert find_due(known, then)[1] == ("shop",)


def test_a_project_that_nobody_knew_is_due() -> None:
    assert find_due(Deployments(judged={}), snapshot(made(61)))[1] == ("shop",)


@pytest.mark.parametrize(
    "restarted",
    [
        made(9000, started=70, restart_count=1),
        made(9000, started=70, lifecycle=lifecycle(exits=(ended(0, at=ago(80), requested=True),))),
    ],
    ids=["by its policy", "by hand"],
)
def test_a_restart_is_no_deployment(restarted: ContainerFacts) -> None:
    known = Deployments(judged={"shop": ago(9000)})
    assert find_due(known, snapshot(restarted))[1] == ()


def test_one_off_runs_and_other_containers_are_none() -> None:
    run = made(61, compose=compose("web", config_hash="h", oneoff=True))
    assert find_due(QUIET, snapshot(run, container(created_at=ago(61))))[1] == ()


def test_a_partial_scan_tells_nothing_of_deployments() -> None:
    assert find_due(QUIET, snapshot(partial=True)) == (QUIET, ())


RECORD = DeploymentRecord(
    project="shop",
    at=NOON,
    since=ago(70),
    verdict=DeploymentVerdict.BAD,
    summary="shop: 1 service of 1 failed: web.",
    services=(
        DeployedService(service="web", verdict=DeploymentVerdict.BAD, code=VerifyCode.CRASHED, message="It ended."),
    ),
)


def test_a_project_that_is_gone_is_forgotten() -> None:
    known = add_verdict(QUIET, RECORD)
    assert find_due(known, snapshot(made(9000)))[0].latest == {"shop": RECORD}
    assert find_due(known, snapshot())[0].latest == {}


def test_what_the_journal_tells_can_be_read_again() -> None:
    entry = journal_deployment(RECORD)
    assert (entry.project, entry.text) == ("shop", "deployment bad: shop: 1 service of 1 failed: web.")
    assert read_deployment(entry) == RECORD
    assert read_deployment(entry.model_copy(update={"data": {"record": {"of": "another version"}}})) is None


def left(*, seen_until: float | None, record: DeploymentRecord | None = None) -> Deployments:
    """What an earlier process has left."""
    latest = {} if record is None else {"shop": record}
    return Deployments(latest=latest, seen_until=None if seen_until is None else ago(seen_until))


def test_a_verdict_of_before_a_restart_of_the_daemon_stands() -> None:
    known, due = find_due(left(seen_until=100, record=RECORD), snapshot(made(9000)))
    assert (dict(known.latest), due) == ({"shop": RECORD}, ())


def test_it_does_not_where_something_was_deployed_since() -> None:
    old = RECORD.model_copy(update={"at": ago(301)})
    known, _ = find_due(left(seen_until=100, record=old), snapshot(made(300)))
    assert known.latest == {}


@pytest.mark.parametrize(
    ("made_ago", "seen_until", "due"),
    [
        (120, None, ()),
        (120, 130, ("shop",)),
        (120, 61, ("shop",)),
        (120, 60, ()),
        (3600, 3700, ("shop",)),
        (3601, 3700, ()),
    ],
    ids=["none watched before", "while none watched", "not yet judged", "quiet by then", "an hour ago", "too long ago"],
)
def test_what_was_deployed_while_the_daemon_was_restarted_is_judged(
    made_ago: float, seen_until: float | None, due: tuple[str, ...]
) -> None:
    host = snapshot(made(made_ago))
    known, at_once = find_due(left(seen_until=seen_until), host)
    assert at_once == ()
    assert find_due(known, host)[1] == due
