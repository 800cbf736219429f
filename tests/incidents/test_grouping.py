"""Promise: one failure is one incident, with its root, who suffers from it, what changed before it, and its end."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.incidents import (
    RESTART_STEPS,
    HostTroubles,
    IncidentNews,
    IncidentStep,
    KnownPast,
    Life,
    Trouble,
    Who,
    acknowledge,
    is_ahead,
    is_outage_open,
    journal_step,
    observe_outage,
    observe_troubles,
)
from bcon_exporter.incidents.grouping import GONE_AT_MOST
from bcon_exporter.model.findings import LikelyCause, Severity
from bcon_exporter.model.incidents import EndedBy, Incident, IncidentState, SeenBefore
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from tests.factories import NOON

if TYPE_CHECKING:
    from datetime import datetime

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
WELL, ILL = Life(is_well=True), Life(is_well=False)


def who(name: str, project: str = "shop") -> Who:
    return Who(name, f"{project}-{name}-1", project, name)


def trouble(name: str, *codes: str, root: str | None = None, **more: Any) -> Trouble:
    """An error of a service's container; `root` names the service that explains it."""
    made = {"severity": Severity.ERROR, "since": NOON, "goes_on": True, **more}
    return Trouble(who(name), codes=codes or ("exit_error",), root=None if root is None else who(root), **made)


class Watch:
    """Carries the state from scan to scan, as the job does."""

    def __init__(self, *entries: JournalEntry) -> None:
        self.state = IncidentState()
        self.past = KnownPast(entries)
        self.now = NOON

    def scan(self, *troubles: Trouble, after: timedelta = timedelta(), **host: Any) -> tuple[IncidentNews, ...]:
        self.now += after
        lives = {one.who.identity: ILL for one in troubles}
        seen = HostTroubles(self.now, troubles, {**lives, **host.pop("lives", {})}, **host)
        self.state, news = observe_troubles(self.state, seen, self.past)
        assert IncidentState.model_validate_json(self.state.model_dump_json()) == self.state
        return news

    @property
    def only(self) -> Incident:
        (tracked,) = self.state.open
        return tracked.incident


def steps(news: tuple[IncidentNews, ...]) -> list[str]:
    return [one.step.value for one in news]


def names(incident: Incident) -> dict[str, str]:
    return {member.name: member.role for member in incident.members}


def entry(kind: JournalKind, at: datetime, name: str = "db", text: str = "", **more: Any) -> JournalEntry:
    made = {"project": "shop", "service": name, "container": f"shop-{name}-1", "text": text or kind.value, **more}
    return JournalEntry(at=at, kind=kind, **made)


def test_a_root_and_all_who_suffer_from_it_are_one_incident() -> None:
    watch = Watch()
    news = watch.scan(
        trouble("web", "network_error", root="db"),
        trouble("db", "oom_killed", "exit_error", severity=Severity.CRITICAL, since=NOON - MINUTE),
        trouble("api", "log_error", root="db"),
    )
    incident = watch.only
    assert steps(news) == ["opened"]
    assert news[0].incident == incident
    assert incident.id == "2026-01-15-shop-db-1-oom_killed-1".replace("2026-01-15", f"{NOON:%Y-%m-%d}")
    assert (incident.root.service, incident.root.code, incident.severity) == ("db", "oom_killed", "critical")
    assert incident.started_at == NOON - MINUTE
    assert names(incident) == {"shop-db-1": "root", "shop-web-1": "suffers", "shop-api-1": "suffers"}
    assert incident.title == "shop-db-1 ran out of memory; shop-web-1 and shop-api-1 suffer from it"
    assert watch.scan(trouble("db", "oom_killed", severity=Severity.CRITICAL), after=MINUTE) == (), "nothing new"


def test_warnings_open_nothing_and_join_what_is_open() -> None:
    watch = Watch()
    warning = trouble("web", "slow_response", root="db", severity=Severity.WARNING)
    assert watch.scan(warning, trouble("db", "high_memory", severity=Severity.WARNING)) == ()
    assert steps(watch.scan(warning, trouble("db"), after=MINUTE)) == ["opened"]
    assert names(watch.only) == {"shop-db-1": "root", "shop-web-1": "suffers"}


def test_two_independent_failures_of_one_moment_are_two_incidents() -> None:
    watch = Watch()
    assert steps(watch.scan(trouble("db"), trouble("cache"))) == ["opened", "opened"]
    assert [one.incident.root.service for one in watch.state.open] == ["db", "cache"]


def test_who_joins_later_and_what_grows_worse_is_told_once() -> None:
    watch = Watch()
    watch.scan(trouble("db"))
    worse = trouble("db", severity=Severity.CRITICAL)
    assert steps(watch.scan(worse, after=MINUTE)) == ["worse"]
    assert steps(watch.scan(worse, trouble("web", root="db"), after=MINUTE)) == ["joined"]
    assert watch.scan(worse, trouble("web", root="db"), after=MINUTE) == ()
    assert watch.only.severity == "critical"


def test_an_incident_that_turns_out_to_be_a_consequence_is_merged_into_its_roots() -> None:
    watch = Watch()
    first = watch.scan(trouble("web", "network_error"), trouble("api", "network_error", root="web"))[0].incident
    news = watch.scan(trouble("web", "network_error", root="db"), trouble("db"), after=2 * MINUTE)
    assert steps(news) == ["opened", "merged"]
    merged = news[1].incident
    assert (merged.id, merged.merged_into, merged.is_open) == (first.id, watch.only.id, False)
    assert names(watch.only) == {"shop-db-1": "root", "shop-web-1": "suffers", "shop-api-1": "suffers"}
    assert watch.only.started_at == NOON


def test_it_is_merged_too_where_the_roots_incident_was_opened_before_anything_tied_the_two() -> None:
    watch = Watch()
    watch.scan(trouble("web", "network_error"), trouble("api", "network_error", root="web"))
    watch.scan(trouble("web", "network_error"), trouble("db"), after=SECOND)
    assert len(watch.state.open) == 2
    news = watch.scan(trouble("web", "network_error", root="db"), trouble("db"), after=SECOND)
    assert steps(news) == ["joined", "merged"]
    assert news[1].incident.merged_into == watch.only.id
    assert names(watch.only) == {"shop-db-1": "root", "shop-web-1": "suffers", "shop-api-1": "suffers"}


def test_after_two_minutes_it_stays_one_of_its_own_beside_the_roots() -> None:
    watch = Watch()
    watch.scan(trouble("web", "network_error"))
    watch.scan(trouble("web", "network_error"), trouble("db"), after=2 * MINUTE)
    watch.scan(trouble("web", "network_error", root="db"), trouble("db"), after=SECOND)
    assert [tracked.incident.root.service for tracked in watch.state.open] == ["web", "db"]


def test_after_two_minutes_it_stays_one_of_its_own() -> None:
    """A root that shows late is a failure by itself: kept out of every incident, nobody would be told of it."""
    watch = Watch()
    watch.scan(trouble("web", "network_error"))
    later = (
        trouble("web", "network_error", root="db"),
        trouble("api", "network_error", root="db"),
        trouble("db", "oom_killed", severity=Severity.CRITICAL, since=NOON + 2 * MINUTE),
    )
    assert steps(watch.scan(*later, after=2 * MINUTE + SECOND)) == ["opened"]
    old, new = (tracked.incident for tracked in watch.state.open)
    assert (names(old), old.severity) == ({"shop-web-1": "root"}, "error")
    assert (names(new), new.severity) == ({"shop-db-1": "root", "shop-api-1": "suffers"}, "critical")
    assert watch.scan(*later, after=MINUTE) == ()


def test_who_suffers_from_a_late_root_without_a_failure_of_its_own_joins_what_is_open() -> None:
    watch = Watch()
    watch.scan(trouble("web", "log_error"))
    named = {"root": "db", "root_code": "password_rotated"}
    later = (trouble("web", "log_error", **named), trouble("api", "log_error", **named))
    warning = trouble("db", "high_memory", severity=Severity.WARNING)
    assert steps(watch.scan(*later, warning, after=3 * MINUTE)) == ["joined"]
    assert names(watch.only) == {"shop-web-1": "root", "shop-api-1": "suffers"}
    assert steps(watch.scan(*later, trouble("db"), after=MINUTE)) == ["opened"], "the warning is a failure now"


def test_what_grows_worse_elsewhere_is_told_of_the_incident_it_belongs_to() -> None:
    watch = Watch()
    watch.scan(trouble("web", "network_error"))
    watch.scan(trouble("web", "network_error", root="db"), trouble("db"), after=3 * MINUTE)
    worse = trouble("web", "network_error", root="db", severity=Severity.CRITICAL)
    assert steps(watch.scan(worse, trouble("db"), after=MINUTE)) == ["worse"]
    assert [tracked.incident.severity.value for tracked in watch.state.open] == ["critical", "error"]


def test_a_late_root_that_fails_after_a_shutdown_belongs_to_the_hosts_incident() -> None:
    watch = Watch()
    watch.scan(trouble("web"))
    back = NOON + 3 * MINUTE
    down = left_down("job", since=back)
    watch.scan(trouble("web"), down, after=3 * MINUTE, shutdown_ended_at=back)
    watch.scan(trouble("web", root="db"), down, trouble("db"), after=MINUTE, shutdown_ended_at=back)
    told = [list(names(tracked.incident)) for tracked in watch.state.open]
    assert told == [["shop-web-1"], ["the host", "shop-job-1", "shop-db-1"]]


def test_what_is_seen_to_be_left_down_a_scan_later_is_told_too() -> None:
    watch = Watch()
    watch.scan()
    back = NOON + MINUTE
    watch.scan(left_down("one", since=back), after=MINUTE, shutdown_ended_at=back)
    two = left_down("two", since=back + MINUTE)
    news = watch.scan(left_down("one", since=back), two, after=MINUTE, shutdown_ended_at=back)
    assert steps(news) == ["opened", "merged"]
    assert set(names(watch.only)) == {"the host", "shop-one-1", "shop-two-1"}


@pytest.mark.parametrize(("code", "root"), [("password_rotated", "db"), ("", "web")])
def test_a_well_container_is_the_root_where_a_sure_cause_names_it_else_the_first_that_suffers(
    code: str, root: str
) -> None:
    watch = Watch()
    watch.scan(trouble("web", "log_error", root="db", root_code=code), trouble("api", root="db", root_code=code))
    assert (watch.only.root.service, len(watch.only.members)) == (root, 3 if code else 2)
    assert watch.only.root.code == (code or "log_error")


def test_a_service_without_a_container_is_a_root_too() -> None:
    watch = Watch()
    missing = Trouble(Who("shop\x1fdb", None, "shop", "db"), Severity.ERROR, ("missing_service",), NOON)
    watch.scan(missing)
    assert (watch.only.root.container, watch.only.root.name) == (None, "db")
    assert watch.only.title == "db is missing"


@pytest.mark.parametrize(
    ("code", "services", "ended"),
    [
        ("missing_service", None, True),
        ("missing_service", {"web": True}, False),
        ("missing_service", {"db": False}, True),
        ("not_running", {"db": False}, False),
        ("not_running", {"db": True}, True),
        ("exit_error", {"db": False}, True),
    ],
)
def test_what_was_missing_or_down_is_so_while_the_files_cannot_be_read_and_nothing_shows_otherwise(
    code: str, services: dict[str, bool] | None, *, ended: bool
) -> None:
    watch = Watch()
    watch.scan(trouble("db", code))
    unknown = {} if services is None else {"shop": services}
    for _ in range(5):
        watch.scan(after=MINUTE, lives={"db": WELL}, unknown_drift=unknown)
    assert (watch.state.open == ()) is ended


def test_it_ends_when_all_members_are_well_for_two_scans_and_two_minutes() -> None:
    watch = Watch()
    watch.scan(trouble("db"), trouble("web", root="db"))
    lives = {"db": WELL, "web": WELL}
    assert watch.scan(trouble("db"), after=MINUTE, lives={"web": WELL}) == (), "one is well"
    assert watch.scan(after=MINUTE, lives=lives) == ()
    well_since = watch.now
    assert watch.scan(after=2 * MINUTE - SECOND, lives=lives) == ()
    news = watch.scan(after=SECOND, lives=lives)
    assert steps(news) == ["closed"]
    assert (news[0].incident.ended_at, news[0].incident.ended_by) == (well_since, EndedBy.BY_ITSELF)
    assert watch.state.open == ()


def test_one_scan_long_after_does_not_end_it() -> None:
    watch = Watch()
    watch.scan(trouble("db"))
    assert watch.scan(after=10 * MINUTE, lives={"db": WELL}) == ()
    assert steps(watch.scan(after=3 * MINUTE, lives={"db": WELL})) == ["closed"]


def test_old_lines_in_the_log_keep_it_not_open_and_new_ones_do() -> None:
    watch = Watch()
    old = trouble("db", "log_error", goes_on=False)
    watch.scan(old)
    first = watch.only.id
    for _ in range(5):
        watch.scan(old, after=MINUTE, lives={"db": Life(is_well=True, signs=(watch.now,))})
    assert watch.only.id == first, "each scan shows a new line"
    last = {"db": Life(is_well=True, signs=(watch.now - MINUTE,))}
    told = [step for _ in range(9) for step in steps(watch.scan(old, after=MINUTE, lives=last))]
    assert told == ["closed"], "what the log still shows of the time before opens no other"
    again = {"db": Life(is_well=True, signs=(watch.now,))}
    assert steps(watch.scan(old, after=MINUTE, lives=again)) == ["opened"]


def test_it_ends_two_scans_and_two_minutes_after_a_repair_though_its_last_sign_is_of_that_moment() -> None:
    watch = Watch()
    watch.scan(trouble("db"), trouble("web", "log_error", root="db"))
    scan, repaired_at = 30 * SECOND, NOON + 31 * SECOND
    signs = (repaired_at - SECOND, NOON + MINUTE)
    lives = {"db": Life(is_well=True, signs=signs), "web": Life(is_well=True, signs=signs)}
    watch.scan(trouble("db"), trouble("web", root="db"), after=scan)
    old = trouble("db", goes_on=False), trouble("web", "log_error", root="db", goes_on=False)
    while watch.state.open:
        watch.scan(*old, after=scan, lives=lives)
    assert watch.now - repaired_at <= 2 * MINUTE + 2 * scan


def test_what_a_backup_has_stopped_and_started_again_is_back_until_a_new_sign() -> None:
    stop = entry(JournalKind.STOP, NOON - MINUTE, text="stopped on request, exit code 0")
    start = entry(JournalKind.START, NOON + SECOND)
    watch = Watch()
    client = trouble("web", "log_error", goes_on=False)
    news = {"web": Life(is_well=True, signs=(NOON + MINUTE,))}
    told = []
    for past, lives in (((stop,), {"web": WELL}), ((stop, start), {"web": WELL}), ((stop, start), news)):
        watch.past = KnownPast(past)
        watch.scan(client, after=30 * SECOND, lives=lives)
        told.append(watch.state.open[0].was_a_pause)
    assert told == [False, True, False]


def test_a_new_sign_lets_the_two_minutes_begin_anew() -> None:
    watch = Watch()
    old = trouble("db", "log_error", goes_on=False)
    watch.scan(old)
    quiet = {"db": WELL}
    watch.scan(old, after=MINUTE, lives=quiet)
    watch.scan(old, after=MINUTE, lives={"db": Life(is_well=True, signs=(watch.now + SECOND,))})
    assert watch.scan(old, after=2 * MINUTE - SECOND, lives=quiet) == ()
    assert steps(watch.scan(old, after=SECOND, lives=quiet)) == ["closed"]


def test_what_is_well_ends_as_soon_after_the_clock_was_set_back() -> None:
    watch = Watch()
    watch.scan(trouble("db"))
    watch.scan(after=MINUTE, lives={"db": WELL})
    assert watch.scan(after=-HOUR, lives={"db": WELL}) == ()
    set_back_at = watch.now
    news = watch.scan(after=2 * MINUTE, lives={"db": WELL})
    assert [(one.step, one.incident.ended_at) for one in news] == [("closed", set_back_at)]


def test_signs_of_before_the_clock_was_set_back_keep_none_open_and_open_none_when_it_comes_there() -> None:
    watch = Watch()
    old = trouble("db", "restart_loop", goes_on=False)
    lives = {"db": Life(is_well=True, signs=(NOON - 40 * MINUTE, NOON - SECOND))}
    watch.scan(old)
    news = watch.scan(old, after=-HOUR, lives=lives, is_set_back=True)
    for _ in range(3):
        news += watch.scan(old, after=MINUTE, lives=lives)
    assert steps(news) == ["closed"]
    assert [step for _ in range(90) for step in steps(watch.scan(old, after=MINUTE, lives=lives))] == []
    for _ in range(24):
        watch.scan(after=HOUR)
    assert watch.state.signs_ahead == {}, "they are forgotten with what is over"


def test_what_fails_after_the_clock_was_set_back_has_an_incident_though_it_had_one_before() -> None:
    watch = Watch()
    old = trouble("db", "oom_killed", goes_on=False)
    killed = (NOON - SECOND,)
    lives = {"db": Life(is_well=True, signs=killed)}
    for _ in range(4):
        watch.scan(old, after=MINUTE, lives=lives)
    assert watch.state.open == ()
    assert is_ahead(watch.state, watch.now - HOUR)
    assert not is_ahead(watch.state, watch.now)

    assert watch.scan(old, after=-HOUR, lives=lives, is_set_back=True) == ()
    assert not is_ahead(watch.state, watch.now)
    again = {"db": Life(is_well=True, signs=(watch.now + SECOND, *killed))}
    assert steps(watch.scan(old, after=MINUTE, lives=again)) == ["opened"]


def test_a_container_that_is_gone_ends_it_and_one_that_does_not_run_does_not() -> None:
    watch = Watch(entry(JournalKind.REMOVE, NOON + MINUTE))
    watch.scan(trouble("db"))
    for _ in range(3):
        assert watch.scan(after=2 * MINUTE, lives={"db": ILL}) == ()
    watch.scan(after=MINUTE)
    assert [one.incident.ended_by for one in watch.scan(after=2 * MINUTE)] == [EndedBy.REMOVED]


def left_down(name: str, **more: Any) -> Trouble:
    """A container that ended with the engine, and that nothing has started again."""
    return trouble(name, "not_started_again", severity=Severity.WARNING, **more)


@pytest.mark.parametrize("has_watched", [True, False])
def test_many_roots_in_one_scan_are_many_incidents_each_with_its_own_cause(*, has_watched: bool) -> None:
    causes = [LikelyCause(id=f"cause_{number}", description="It is so.", confidence=0.9) for number in range(35)]
    watch = Watch()
    news = watch.scan(*(trouble(f"s{n}", causes=(causes[n],)) for n in range(35)), has_watched=has_watched)
    assert steps(news) == ["opened"] * 35
    assert [one.incident.causes[0].id for one in watch.state.open] == [cause.id for cause in causes]
    assert {one.incident.root.code for one in watch.state.open} == {"exit_error"}


def test_many_that_end_in_one_moment_are_no_evidence_of_the_host() -> None:
    watch = Watch()
    watch.scan()
    watch.scan(*(left_down(f"s{n}") for n in range(12)), after=MINUTE)
    assert watch.state.open == (), "no engine was restarted: warnings open nothing"


def test_what_did_not_come_back_with_the_engine_is_one_incident_that_names_all_of_it() -> None:
    watch = Watch()
    watch.scan()
    back = watch.now + 30 * SECOND
    down = [left_down(f"s{number}", since=back + 30 * SECOND) for number in range(6)]
    before = left_down("long-down", since=NOON - HOUR)
    assert steps(watch.scan(*down, before, after=MINUTE, shutdown_ended_at=back)) == ["opened"]
    incident = watch.only
    assert (incident.severity, incident.started_at, incident.suggestions) == ("warning", back, RESTART_STEPS)
    assert names(incident) == {"the host": "root", **{f"shop-s{n}-1": "suffers" for n in range(6)}}
    assert incident.title == (
        "the engine or its host was restarted: shop-s0-1, shop-s1-1, shop-s2-1 and 3 more were not started again"
    )
    for _ in range(10):
        assert watch.scan(*down[:1], after=MINUTE, shutdown_ended_at=back, lives={"s1": WELL}) == ()
    watch.scan(after=MINUTE, shutdown_ended_at=back, lives={"s0": WELL})
    assert steps(watch.scan(after=2 * MINUTE, shutdown_ended_at=back, lives={"s0": WELL})) == ["closed"]


def test_what_fails_within_five_minutes_after_the_engine_came_back_belongs_to_it() -> None:
    watch = Watch()
    watch.scan()
    back = watch.now + 30 * SECOND
    down = left_down("job", since=back)
    watch.scan(down, trouble("db"), after=MINUTE, shutdown_ended_at=back)
    assert watch.only.title == (
        "the engine or its host was restarted: shop-job-1 was not started again, shop-db-1 fails since"
    )
    watch.scan(down, trouble("db"), trouble("web"), after=MINUTE, shutdown_ended_at=back)
    assert set(names(watch.only)) == {"the host", "shop-job-1", "shop-db-1", "shop-web-1"}
    watch.scan(down, trouble("db"), trouble("cache"), after=5 * MINUTE, shutdown_ended_at=back)
    assert [one.incident.root.name for one in watch.state.open] == ["the host", "shop-cache-1"]


@pytest.mark.parametrize("minutes", [4, 20])
def test_what_did_not_come_back_is_told_however_late_the_exporter_looks(minutes: int) -> None:
    watch = Watch()
    watch.scan()
    down = left_down("job", since=NOON + minutes * MINUTE)
    watch.scan(down, after=minutes * MINUTE, shutdown_ended_at=NOON + MINUTE)
    assert watch.only.root.code == "host"


def test_an_engine_that_comes_back_with_everything_is_no_incident() -> None:
    watch = Watch()
    watch.scan()
    assert watch.scan(after=MINUTE, shutdown_ended_at=watch.now + SECOND) == ()
    assert watch.scan(trouble("db"), after=MINUTE, shutdown_ended_at=NOON + SECOND)[0].incident.root.service == "db"


def test_a_second_restart_tells_of_what_it_left_down_too() -> None:
    watch = Watch()
    watch.scan()
    first, second = NOON + MINUTE, NOON + HOUR
    one = left_down("one", since=first)
    watch.scan(one, after=MINUTE, shutdown_ended_at=first)
    assert watch.scan(one, after=HOUR, shutdown_ended_at=second) == (), "nothing new was left down"
    third = watch.now + MINUTE
    news = watch.scan(one, left_down("two", since=third), after=MINUTE, shutdown_ended_at=third)
    assert steps(news) == ["opened", "merged"]
    assert list(names(watch.only)) == ["the host", "shop-two-1", "shop-one-1"]


def test_what_an_engine_left_down_is_told_by_the_scan_that_waited_for_it_to_come_back() -> None:
    watch = Watch()
    watch.scan()
    waited_from = NOON + MINUTE
    down = left_down("job", since=waited_from)
    news = watch.scan(down, after=MINUTE, shutdown_ended_at=waited_from + SECOND)
    assert steps(news) == ["opened"]
    assert watch.only.title == "the engine or its host was restarted: shop-job-1 was not started again"
    assert watch.only.started_at == waited_from
    assert watch.scan(down, after=MINUTE, shutdown_ended_at=waited_from + SECOND) == ()


def test_an_engine_that_did_not_answer_and_comes_back_without_some_is_told_as_one() -> None:
    watch = Watch()
    watch.scan()
    watch.state, news = observe_outage(watch.state, NOON, NOON + 2 * MINUTE)
    assert is_outage_open(watch.state)
    back = NOON + 3 * MINUTE
    news = watch.scan(left_down("job", since=back), after=3 * MINUTE, shutdown_ended_at=back)
    assert steps(news) == ["opened", "merged"]
    assert watch.only.title == "the engine or its host was restarted: shop-job-1 was not started again"
    assert not is_outage_open(watch.state), "scans that fail now are news"


def test_a_failure_that_is_only_too_old_to_be_told_is_not_said_to_be_over() -> None:
    watch = Watch()
    watch.scan(trouble("job"))
    old = {"job": Life(is_well=True, is_history=True)}
    watch.scan(after=MINUTE, lives=old)
    (news,) = watch.scan(after=2 * MINUTE, lives=old)
    assert (news.step, news.incident.ended_by, news.incident.is_open) == ("closed", None, False)
    told = journal_step(news, watch.now)
    assert told is not None
    assert told.text.endswith("is told no more after 60 s: it is as it was, and history by now")


def test_a_shutdown_from_before_the_exporter_began_is_no_incident() -> None:
    watch = Watch()
    assert watch.scan(shutdown_ended_at=NOON - 10 * MINUTE) == ()
    assert watch.scan(after=MINUTE, shutdown_ended_at=NOON - 10 * MINUTE) == ()


def test_what_changed_before_it_is_told_the_own_project_first_and_the_nearest_first() -> None:
    watch = Watch(
        entry(JournalKind.CONFIG_CHANGE, NOON - 20 * MINUTE),
        entry(JournalKind.IMAGE_CHANGE, NOON - 2 * MINUTE, "web"),
        entry(JournalKind.STOP, NOON - MINUTE, "proxy", project="other"),
        entry(JournalKind.STOP, NOON - MINUTE, "blog", project="blog"),
        entry(JournalKind.CRASH, NOON - MINUTE),
        entry(JournalKind.START, NOON - MINUTE, data={"by_policy": True}),
        entry(JournalKind.PAUSE, NOON - 31 * MINUTE),
        entry(JournalKind.PAUSE, NOON + MINUTE),
    )
    shared = {"shop-db-1": frozenset(("network edge",)), "shop-proxy-1": frozenset(("network edge", "volume v"))}
    watch.scan(trouble("db"), attachments={**shared, "shop-blog-1": frozenset(("volume v",))})
    told = [(change.kind.value, change.project, change.seconds_before) for change in watch.only.changes]
    assert told == [("image_change", "shop", 120.0), ("config_change", "shop", 1200.0), ("stop", "other", 60.0)]


def test_a_change_that_was_found_stays_when_the_journal_that_is_read_no_longer_reaches_back_to_it() -> None:
    config = entry(JournalKind.CONFIG_CHANGE, NOON - 20 * MINUTE)
    watch = Watch(config, entry(JournalKind.STOP, NOON - MINUTE, project="other"))
    both = frozenset(("network edge",))
    watch.scan(trouble("db"), attachments={"shop-db-1": both})
    watch.past = KnownPast((entry(JournalKind.IMAGE_CHANGE, NOON - 2 * MINUTE), config))
    for _ in range(2):
        watch.scan(trouble("db"), after=MINUTE)
        assert [one.kind.value for one in watch.only.changes] == ["image_change", "config_change", "stop"]
        watch.past = KnownPast()
    many = [entry(JournalKind.START, NOON - second * SECOND) for second in range(9)]
    watch.past = KnownPast(many)
    watch.scan(trouble("db"), after=MINUTE)
    assert [one.kind.value for one in watch.only.changes] == ["start"] * 9 + ["image_change"]


K = JournalKind


@pytest.mark.parametrize(
    ("kinds", "ended_by"),
    [
        ((), EndedBy.BY_ITSELF),
        ((K.STOP, K.START), EndedBy.RESTARTED),
        ((K.START,), EndedBy.STARTED),
        ((K.STOP, K.REMOVE, K.START), EndedBy.RECREATED),
        ((K.STOP, K.REMOVE), EndedBy.REMOVED),
        ((K.UNPAUSE,), EndedBy.RESUMED),
        ((K.NETWORK_DISCONNECT, K.NETWORK_CONNECT), EndedBy.RECONNECTED),
    ],
)
def test_it_is_told_what_ended_it(kinds: tuple[JournalKind, ...], ended_by: EndedBy) -> None:
    entries = [entry(kind, NOON + (10 + at) * SECOND) for at, kind in enumerate(kinds)]
    by_policy = entry(K.START, NOON + 40 * SECOND, data={"by_policy": True})
    watch = Watch(*entries, by_policy, entry(K.START, NOON + 20 * SECOND, "web"))
    watch.scan(trouble("db"))
    watch.scan(after=MINUTE, lives={"db": WELL})
    assert [one.incident.ended_by for one in watch.scan(after=2 * MINUTE, lives={"db": WELL})] == [ended_by]


def test_an_image_that_was_changed_back_is_told() -> None:
    watch = Watch(
        entry(K.IMAGE_CHANGE, NOON - MINUTE, data={"image": "db:2", "before": "db:1"}),
        entry(K.REMOVE, NOON + MINUTE),
        entry(K.START, NOON + MINUTE),
        entry(K.IMAGE_CHANGE, NOON + MINUTE, data={"image": "db:1", "before": "db:2"}),
    )
    watch.scan(trouble("db"))
    watch.scan(after=2 * MINUTE, lives={"db": WELL})
    (news,) = watch.scan(after=2 * MINUTE, lives={"db": WELL})
    assert news.incident.ended_by is EndedBy.CHANGED_BACK


def test_each_has_a_number_of_its_own_and_knows_of_earlier_ones() -> None:
    watch = Watch()
    watch.past = replace(watch.past, find_earlier=lambda root: SeenBefore(count=2, last_id=root.code))
    ids = []
    for _ in range(2):
        watch.scan(trouble("db"), after=MINUTE)
        ids.append(watch.only.id)
        assert watch.only.seen_before == SeenBefore(count=2, last_id="exit_error")
        for _ in range(2):
            watch.scan(after=2 * MINUTE, lives={"db": WELL})
    assert [one[-2:] for one in ids] == ["-1", "-2"]


def test_evidence_is_one_line_of_a_kind_with_its_last_count_and_the_line_that_decided_first() -> None:
    watch = Watch()
    for scan in (1, 2, 3):
        lines = [f"exit codes, newest last: {', '.join(['1'] * scan)}", "/data1: 97 % used", f"/data2: 9{scan} % used"]
        lines += [f"{40 * scan} times: 2026-01-01 12:00:0{scan} FATAL: no route to host 10.0.0.{scan}"]
        watch.scan(trouble("db", evidence=tuple(lines), log_line="FATAL: the disk is full"), after=SECOND)
    assert watch.only.evidence == (
        "FATAL: the disk is full",
        "exit codes, newest last: 1, 1, 1",
        "/data1: 97 % used",
        "/data2: 93 % used",
        "120 times: 2026-01-01 12:00:03 FATAL: no route to host 10.0.0.3",
    )
    watch.scan(trouble("db"), after=SECOND)
    assert watch.only.log_line == "FATAL: the disk is full", "what decided stays, also when the log has moved on"


def test_what_a_victim_writes_is_not_the_line_that_decided_its_roots_cause() -> None:
    refused, killed = (
        LikelyCause(id=name, description=name, confidence=0.9)
        for name in ("connection_refused", "memory_limit_too_low")
    )
    victim = trouble("web", root="db", causes=(refused,), log_line="connect to db: refused")
    watch = Watch()
    watch.scan(victim)
    assert watch.only.log_line == "connect to db: refused", "of its root nothing is known yet"
    watch.scan(victim, trouble("db", "oom_killed", causes=(killed,)), after=SECOND)
    assert (watch.only.causes[0].id, watch.only.log_line) == ("memory_limit_too_low", "")
    watch.scan(victim, trouble("db", "oom_killed", causes=(killed,), log_line="Killed"), after=SECOND)
    assert watch.only.log_line == "Killed"


def test_of_a_root_without_a_trouble_of_its_own_the_nearest_that_suffers_tells_why() -> None:
    far, near = (
        LikelyCause(id=name, description=name, confidence=0.8, peer=peer)
        for name, peer in (("dependency_unhealthy", "shop-api-1"), ("dependency_disconnected", "shop-db-1"))
    )
    web, api = (
        trouble(name, root="db", root_code="dependency_disconnected", causes=(cause,))
        for name, cause in (("web", far), ("api", near))
    )
    watch = Watch()
    watch.scan(web, api)
    assert watch.only.root.container == "shop-db-1"
    assert [cause.id for cause in watch.only.causes] == ["dependency_disconnected"]


def test_evidence_is_cut_to_four_kibibytes() -> None:
    watch = Watch()
    watch.scan(trouble("db", evidence=tuple("x" * (60 + number) for number in range(100))))
    assert 40 < len(watch.only.evidence) < 55
    assert watch.only.evidence[0] == "x" * 60


def test_names_of_containers_make_no_sentence_of_an_id() -> None:
    watch = Watch()
    odd = Trouble(Who("x", "all is well\nignore", None, None), Severity.ERROR, ("exit_error",), NOON, goes_on=True)
    watch.scan(odd)
    assert watch.only.id.endswith("-all-is-well-ignore-exit_error-1")


def test_steps_have_names() -> None:
    assert [step.value for step in IncidentStep] == ["opened", "worse", "joined", "merged", "closed"]


def test_an_acknowledged_incident_stays_so_until_it_grows_worse() -> None:
    watch = Watch()
    watch.scan(trouble("db"))
    watch.state = acknowledge(watch.state, watch.only.id, NOON + SECOND)
    watch.state = acknowledge(watch.state, watch.only.id, NOON + MINUTE)
    watch.scan(trouble("db"), trouble("web", root="db"), after=MINUTE)
    assert watch.only.acknowledged_at == NOON + SECOND, "the first who said so"
    watch.scan(trouble("db", severity=Severity.CRITICAL), after=MINUTE)
    assert watch.only.acknowledged_at is None


@pytest.mark.parametrize(("severity", "kept"), [(Severity.ERROR, True), (Severity.CRITICAL, False)])
def test_who_is_on_a_consequence_is_on_its_root_unless_that_is_worse(severity: Severity, *, kept: bool) -> None:
    watch = Watch()
    watch.scan(trouble("web"))
    watch.state = acknowledge(watch.state, watch.only.id, NOON)
    watch.scan(trouble("web", root="db"), trouble("db", severity=severity), after=MINUTE)
    assert watch.only.root.service == "db"
    assert (watch.only.acknowledged_at is not None) is kept


def test_somebody_on_one_of_two_merged_incidents_is_not_on_the_other() -> None:
    watch = Watch()
    watch.scan(trouble("web"), trouble("api"))
    watch.state = acknowledge(watch.state, watch.state.open[0].incident.id, NOON)
    watch.scan(trouble("web", root="db"), trouble("api", root="db"), trouble("db"), after=MINUTE)
    assert watch.only.acknowledged_at is None


def test_a_new_root_of_one_that_was_well_again_has_an_incident_of_its_own() -> None:
    watch = Watch()
    old = trouble("web", "network_error", goes_on=False)
    last = {"web": Life(is_well=True, signs=(NOON,))}
    watch.scan(old, lives=last)
    watch.scan(old, after=2 * MINUTE - SECOND, lives=last)
    again = trouble("web", "network_error", root="db")
    news = watch.scan(again, trouble("db"), after=MINUTE)
    assert steps(news) == ["closed", "opened"]
    assert names(watch.only) == {"shop-db-1": "root", "shop-web-1": "suffers"}


def test_those_that_miss_the_same_host_outside_of_docker_are_one_incident() -> None:
    def misses(name: str, peer: str, **more: Any) -> Trouble:
        cause = LikelyCause(id="outside_peer", description="it is outside", confidence=0.65, peer=peer)
        return trouble(name, "network_error", causes=(cause,), **more)

    watch = Watch()
    later = misses("export", "erp.example.com", since=NOON + SECOND)
    watch.scan(later, misses("sync", "erp.example.com"), misses("mail", "smtp.example.com"))
    assert [list(names(one.incident).values()) for one in watch.state.open] == [["root", "suffers"], ["root"]]
    assert [one.incident.root.service for one in watch.state.open] == ["sync", "mail"]


@pytest.mark.parametrize(
    ("seconds", "kind", "service", "told"),
    [
        (15, K.NETWORK_DISCONNECT, "db", [0.0]),
        (16, K.NETWORK_DISCONNECT, "db", []),
        (5, K.NETWORK_DISCONNECT, "web", []),
        (5, K.UNPAUSE, "db", []),
    ],
)
def test_what_was_done_to_the_root_while_the_first_scan_ran_is_told_too(
    seconds: float, kind: JournalKind, service: str, told: list[float]
) -> None:
    watch = Watch(entry(kind, NOON + seconds * SECOND, service))
    watch.scan(trouble("db"))
    assert [change.seconds_before for change in watch.only.changes] == told


@pytest.mark.parametrize(("has_watched", "told"), [(True, ["opened"]), (False, [])])
def test_a_shutdown_before_the_first_look_of_a_new_exporter_is_no_news(*, has_watched: bool, told: list[str]) -> None:
    watch = Watch()
    down = left_down("job")
    assert steps(watch.scan(down, shutdown_ended_at=NOON - MINUTE, has_watched=has_watched)) == told
    assert steps(watch.scan(down, after=MINUTE, shutdown_ended_at=NOON - MINUTE)) == []


@pytest.mark.parametrize(
    ("life", "ended_by"),
    [
        (Life(is_well=True, is_job=True), EndedBy.BY_ITSELF),
        (Life(is_well=True, is_job=True, is_history=True), None),
        (WELL, EndedBy.REMOVED),
    ],
)
def test_a_job_is_over_when_it_ran_well_and_told_no_more_when_it_is_old(life: Life, ended_by: EndedBy | None) -> None:
    watch = Watch(entry(JournalKind.REMOVE, NOON + SECOND, "db"))
    watch.scan(trouble("db"))
    watch.scan(after=MINUTE, lives={"db": life})
    (news,) = watch.scan(after=2 * MINUTE, lives={"db": life})
    assert news.incident.ended_by is ended_by


def test_of_members_that_are_gone_the_newest_are_kept_and_all_that_are_there() -> None:
    """Jobs that fail for want of a database come and go for days."""
    watch = Watch()
    there = [trouble(f"api{number}", "network_error", root="db") for number in range(GONE_AT_MOST + 5)]
    watch.scan(trouble("db"), *there)
    for number in range(3 * GONE_AT_MOST):
        job = trouble(f"job{number}", "network_error", root="db")
        watch.scan(trouble("db"), *there, job, after=MINUTE)
    members = [member.service for member in watch.only.members]
    jobs = [name for name in members if name is not None and name.startswith("job")]
    assert members[0] == "db"
    assert len(members) - len(jobs) == 1 + len(there), "who is there stays"
    assert jobs == [f"job{number}" for number in range(2 * GONE_AT_MOST - 1, 3 * GONE_AT_MOST)]
    (tracked,) = watch.state.open
    assert len(tracked.members) == len(members)
