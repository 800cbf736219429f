"""After the repair all is well again, within minutes: old lines keep nobody ill."""

from datetime import timedelta
from typing import Any

import pytest

from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus, LogLine
from bcon_exporter.model.findings import Severity, SymptomType
from tests.diagnosis.judging import diagnose
from tests.diagnosis.test_cascades import NGINX_502, REFUSED, judged, service
from tests.factories import ago, ended, exited, health, lifecycle, line, logs, looping, network

DENIED = 'psycopg2.OperationalError: FATAL:  password authentication failed for user "shop"'


def status(*texts: str) -> str:
    """Of a running container with these lines, a second apart, the newest 30 s old."""
    lines = (line(text, at=ago(30 + len(texts) - at)) for at, text in enumerate(texts))
    return diagnose(service("api", logs=logs(*lines))).status


def failed_every_five_seconds(until: float, *more: str, **facts: Any) -> ContainerFacts:
    """A service whose database was away from 5 minutes ago `until` so many seconds ago; then it wrote `more`."""
    lines = [line(f"ERROR {REFUSED}", at=ago(at)) for at in range(300, int(until) - 1, -5)]
    lines += [line(text, at=ago(until - 1 - at)) for at, text in enumerate(more)]
    return service("api", logs=logs(*lines), **facts)


class TestTheLogTellsIt:
    """A later line that shows success ends the failure before it."""

    def test_requests_are_answered_again(self) -> None:
        bad = '172.18.0.1 - - [01/Jan/2026:11:59:20 +0000] "GET / HTTP/1.1" 502 157 "-" "curl"'
        good = bad.replace("502 157", "200 612")

        assert status(NGINX_502, bad, NGINX_502, bad) == "error"
        assert status(NGINX_502, bad, NGINX_502, bad, good, good) == "healthy"

    def test_but_not_when_these_were_answered_all_along(self) -> None:
        health_check = '127.0.0.1 - - [01/Jan/2026:11:59:20 +0000] "GET /health HTTP/1.1" 200 2 "-" "curl"'

        assert status(NGINX_502, health_check, NGINX_502, health_check, health_check, health_check) == "error"

    @pytest.mark.parametrize(
        "work",
        [
            "served in 5 ms",
            "INFO order 17 stored in 3 ms",
            "GET http://api/ 200 OK",
            "tick: db ok",
            "INFO 12 rows read",
            "INFO 12 requests done",
        ],
    )
    def test_work_is_done_again(self, work: str) -> None:
        failure = f"ERROR {REFUSED}"

        assert status(work, failure, failure) == "error"
        assert status(work, failure, failure, work, work) == "healthy"
        assert status(work, failure, work, failure, work, work) == "error"

    def test_an_error_of_which_nothing_is_known_is_over_with_the_failures_that_it_stands_beside(self) -> None:
        failure, unknown, work = f"ERROR {REFUSED}", "ERROR:root:order 7 failed", "INFO order 17 stored in 3 ms"

        assert status(work, unknown, failure, unknown, failure, unknown, work, work) == "healthy"
        assert status(unknown, work, failure, failure, work, work) == "error"
        assert status(work, failure, failure, work, work, unknown) == "error"
        assert status(work, failure, "CRITICAL all is lost", failure, work, work) == "error"

    def test_one_line_of_work_is_too_little(self) -> None:
        assert status(f"ERROR {REFUSED}", "served in 5 ms") == "error"

    def test_a_refused_password_is_an_answer(self) -> None:
        report = diagnose(service("api", f"ERROR {REFUSED}", f"ERROR {REFUSED}", f"ERROR {DENIED}"))

        assert [one.type for one in report.symptoms] == [SymptomType.LOG_ERROR]
        assert report.likely_causes[0].id == "wrong_credentials"

    def test_of_another_server_it_is_none(self) -> None:
        cache = "ERROR redis.exceptions.ConnectionError: Error 111 connecting to cache:6379. Connection refused."

        report = diagnose(service("api", cache, f"ERROR {DENIED}"))

        assert SymptomType.NETWORK_ERROR in {one.type for one in report.symptoms}

    @pytest.mark.parametrize(("server", "is_lost"), [("archive", True), ("db", False)])
    def test_of_another_host_it_is_none(self, server: str, is_lost: bool) -> None:
        denied = f'connection to server at "{server}" (172.18.0.9), port 5432 failed: FATAL:  password authentication '
        report = diagnose(service("api", f"ERROR {REFUSED}", f'ERROR {denied}failed for user "shop"'))

        assert (SymptomType.NETWORK_ERROR in {one.type for one in report.symptoms}) is is_lost

    def test_no_answer_of_a_server_makes_up_for_requests_that_this_one_answered_badly(self) -> None:
        bad = '172.18.0.1 - - [01/Jan/2026:11:59:20 +0000] "GET / HTTP/1.1" 502 157 "-" "curl"'
        report = diagnose(service("api", bad, bad, bad, f"ERROR {DENIED}"))

        assert [one.description for one in report.symptoms] == ["The log shows 4 error events, the newest 40 s ago."]


class TestThePeerIsBack:
    """A program that says nothing when it succeeds is well once its peer is, and nothing has failed for a minute."""

    DB = service("db", started_at=ago(90), lifecycle=lifecycle(exits=(ended(137, at=ago(300)),)))

    def test_it_failed_until_the_peer_came_back(self) -> None:
        assert judged(failed_every_five_seconds(85), self.DB)["api"].status == "healthy"

    def test_not_while_it_still_fails(self) -> None:
        assert judged(failed_every_five_seconds(20), self.DB)["api"].status == "error"

    @pytest.mark.parametrize(
        "facts",
        [
            {"state": ContainerState.PAUSED},
            {"health": health(HealthStatus.UNHEALTHY)},
            {"health": health(HealthStatus.STARTING)},
            {"networks": (network("other"),)},
            {"lifecycle": looping(5)},
        ],
    )
    def test_nor_while_the_peer_is_ill(self, facts: dict[str, object]) -> None:
        db = self.DB.model_copy(update=facts)

        assert judged(failed_every_five_seconds(85), db)["api"].status == "error"

    def test_what_fell_with_it_is_over_too(self) -> None:
        api = failed_every_five_seconds(85)
        lines = list(api.logs.lines) if api.logs else []
        other = line("ERROR could not render the cart", at=ago(150))
        mixed = sorted([*lines, other], key=lambda one: one.at or ago())

        assert judged(api.model_copy(update={"logs": logs(*mixed)}), self.DB)["api"].status == "healthy"

    @pytest.mark.parametrize("own", ["could not write: No space left on device", "open /data/x: permission denied"])
    def test_but_not_a_trouble_of_its_own(self, own: str) -> None:
        api = failed_every_five_seconds(85)
        lines = [*(api.logs.lines if api.logs else ()), line(f"ERROR {own}", at=ago(150))]
        mixed = sorted(lines, key=lambda one: one.at or ago())

        assert judged(api.model_copy(update={"logs": logs(*mixed)}), self.DB)["api"].status == "error"

    def test_what_failed_at_another_time_is_not(self) -> None:
        api = failed_every_five_seconds(85, "ERROR could not render the cart")
        lines = [*(api.logs.lines if api.logs else ()), line("ERROR could not render the cart", at=ago(40))]

        assert judged(api.model_copy(update={"logs": logs(*lines)}), self.DB)["api"].status == "error"

    def test_of_a_peer_that_never_went_away_silence_alone_says_nothing(self) -> None:
        assert judged(failed_every_five_seconds(85), service("db"))["api"].status == "error"

    def test_but_going_on_does(self) -> None:
        api = failed_every_five_seconds(85, "tick 1", "tick 2", "tick 3")

        assert judged(api, service("db"))["api"].status == "healthy"

    def test_a_stranger_is_not_known_to_be_well(self) -> None:
        lines = (line("ERROR Error: connect ECONNREFUSED mail.example.org:25", at=ago(at)) for at in range(300, 84, -5))
        api = service("api", logs=logs(*lines, line("tick", at=ago(50)), line("tick", at=ago(40))))

        assert judged(api)["api"].status == "error"

    def looped(self, lifetime_seconds: float = 2.0, **facts: Any) -> ContainerFacts:
        """It ended soon after each start for want of the database, until 100 s ago."""
        ends = tuple(ended(1, at=ago(at), lifetime_seconds=lifetime_seconds) for at in (290, 250, 210, 170, 130))
        restarts = tuple(end.at + timedelta(seconds=1) for end in ends)
        past = lifecycle(exits=ends, restarts=restarts, restarts_total=5)
        base: dict[str, Any] = {"restart_policy": "always", "started_at": ago(100), "lifecycle": past}
        return failed_every_five_seconds(131, **{**base, **facts})

    def test_a_loop_for_want_of_it_is_over_once_it_has_come_up(self) -> None:
        db = self.DB.model_copy(update={"started_at": ago(128)})

        assert judged(self.looped(), db)["api"].status == "healthy"
        assert judged(self.looped(started_at=ago(60)), db)["api"].status == "critical"
        assert (
            judged(self.looped(), exited(1, name="shop-db-1", compose=db.compose, networks=db.networks))["api"].status
            == "critical"
        )

    @pytest.mark.parametrize("facts", [{"lifetime_seconds": 39.0}, {"health": health(HealthStatus.UNHEALTHY)}])
    def test_not_when_it_has_run_no_longer_than_before_or_is_unhealthy(self, facts: dict[str, Any]) -> None:
        db = self.DB.model_copy(update={"started_at": ago(128)})
        found = {one.type: one.severity for one in judged(self.looped(**facts), db)["api"].symptoms}

        assert found[SymptomType.RESTART_LOOP] is Severity.CRITICAL


class TestMadeAnew:
    """What looped is replaced by a container that runs; Compose makes the new one before it stops the old one."""

    def replaced(self, predecessors_restarts: int) -> ContainerFacts:
        """One that was made 21.5 s ago; the engine restarted the old one, or it itself, once more 20.5 s ago."""
        ends = [ended(1, at=ago(at), lifetime_seconds=1.0) for at in (100, 80, 60, 40, 30)]
        stopped = ended(0, at=ago(20), requested=True, lifetime_seconds=0.5)
        restarts = tuple(ago(at) for at in (99, 79, 59, 39, 20.5))
        past = lifecycle(exits=(*ends, stopped), restarts=restarts, predecessors_restarts=predecessors_restarts)
        return service("api", created_at=ago(21.5), started_at=ago(19), restart_policy="always", lifecycle=past)

    def test_is_well_at_once_even_if_the_engine_restarted_the_old_one_meanwhile(self) -> None:
        assert diagnose(self.replaced(predecessors_restarts=5)).status == "healthy"

    def test_not_when_it_was_restarted_itself(self) -> None:
        assert diagnose(self.replaced(predecessors_restarts=4)).status == "critical"


class TestTheFlagOfTheOomKiller:
    """Engine 20.10 keeps State.OOMKilled over `docker start`."""

    def test_one_that_was_started_again_is_well(self) -> None:
        api = service("api", oom_killed=True, finished_at=ago(400), started_at=ago(300))

        assert judged(api)["api"].status == "healthy"

    def test_one_that_has_never_ended_lost_a_child(self) -> None:
        api = service("api", oom_killed=True)

        assert [one.type for one in judged(api)["api"].symptoms] == [SymptomType.OOM_KILLED]


def every(seconds: float, text: str, *, since: float, until: float) -> list[LogLine]:
    """The line, so many seconds apart."""
    times = [since - at * seconds for at in range(int((since - until) / seconds) + 1)]
    return [line(text, at=ago(at)) for at in times]


def in_order(*groups: list[LogLine]) -> tuple[LogLine, ...]:
    return tuple(sorted((one for group in groups for one in group), key=lambda one: str(one.at)))


UNKNOWN = "ERROR order query failed"
ROUTINE = "INFO 240 prices cached"


class TestTheRoutineGoesOn:
    """Whatever it says: a line that stopped with the failures and comes again tells that they are over."""

    BEFORE, AFTER = every(20, ROUTINE, since=400, until=340), every(20, ROUTINE, since=200, until=160)
    OUTAGE = every(5, UNKNOWN, since=320, until=220)

    def said(self, *groups: list[LogLine]) -> str:
        return diagnose(service("api", logs=logs(*in_order(*groups)))).status

    def test_after_failures_of_any_kind(self) -> None:
        assert self.said(self.BEFORE, self.OUTAGE) == "error"
        assert self.said(self.BEFORE, self.OUTAGE, self.AFTER[:1]) == "error"
        assert self.said(self.BEFORE, self.OUTAGE, self.AFTER) == "healthy"

    def test_not_when_it_went_on_all_along(self) -> None:
        assert self.said(every(20, ROUTINE, since=400, until=160), self.OUTAGE) == "error"

    def test_nor_when_the_failures_were_too_short_to_stop_it(self) -> None:
        assert self.said(self.BEFORE, every(2, UNKNOWN, since=320, until=314), self.AFTER) == "error"

    def test_nor_when_it_comes_in_bursts(self) -> None:
        burst = [line(ROUTINE, at=ago(200)), line(ROUTINE, at=ago(200))]

        assert self.said(self.BEFORE, every(2, UNKNOWN, since=320, until=314), burst) == "error"

    def test_nor_when_it_was_never_said_before(self) -> None:
        assert self.said(self.OUTAGE, self.AFTER) == "error"

    def test_two_hiccups_are_part_of_the_outage_and_more_are_none(self) -> None:
        hiccup = [line(UNKNOWN, at=ago(190))]
        more = [line(UNKNOWN, at=ago(at)) for at in (390, 370, 350)]

        assert self.said(self.BEFORE, self.OUTAGE, self.AFTER, hiccup) == "healthy"
        assert self.said(self.BEFORE, self.OUTAGE, self.AFTER, hiccup, more) == "error"

    def test_lines_that_name_their_numbers_are_of_one_kind(self) -> None:
        def kind(at: float) -> LogLine:
            return line(f'{{"level":"info","ts":{at},"msg":"served","status":200,"id":"a{at:.0f}f"}}', at=ago(at))

        before, after = [kind(at) for at in (400, 380)], [kind(at) for at in (200, 180, 160)]

        assert self.said(before, self.OUTAGE, after) == "healthy"


class TestNobodySaysSo:
    """A database writes nothing of what succeeds."""

    def test_slow_queries_that_come_no_more(self) -> None:
        slow = "LOG:  duration: 4521.330 ms  statement: SELECT 1"

        assert diagnose(service("db", logs=logs(*every(3, slow, since=120, until=50)))).status == "warning"
        assert diagnose(service("db", logs=logs(*every(3, slow, since=150, until=70)))).status == "healthy"

    FULL = "ERROR:  could not write to file: No space left on device"
    SAID = "ERROR batch failed: DiskFull"

    def server(self) -> ContainerFacts:
        return service("db", logs=logs(*every(3, self.FULL, since=150, until=70)))

    def client(self, *more: list[LogLine]) -> ContainerFacts:
        return service("api", logs=logs(*in_order(every(3, self.SAID, since=150, until=70), *more)), needs="db")

    def test_a_full_disk_once_the_clients_that_failed_with_it_get_on(self) -> None:
        well = self.client(every(10, "INFO batch stored", since=60, until=20))
        ill = self.client(every(10, "INFO batch stored", since=60, until=20), every(5, self.SAID, since=50, until=5))

        assert judged(self.server(), well)["db"].status == "healthy"
        assert judged(self.server(), ill)["db"].status == "error"
        assert judged(self.server(), self.client())["db"].status == "error"
        assert judged(self.server())["db"].status == "error"

    def test_what_it_said_before_a_start_since_which_it_has_run_for_much_longer(self) -> None:
        def is_told(lived: float) -> bool:
            past = lifecycle(exits=(ended(1, at=ago(120), lifetime_seconds=lived),))
            said = logs(line("ERROR AUTH: control message: AUTH_FAILED", at=ago(121)), line("up", at=ago(118)))
            vpn = service("vpn", logs=said, started_at=ago(119), finished_at=ago(120), lifecycle=past)
            return SymptomType.LOG_ERROR in {one.type for one in diagnose(vpn).symptoms}

        assert not is_told(lived=20)
        assert is_told(lived=5000)
