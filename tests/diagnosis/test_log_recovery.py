"""Promise: what was retried with success, or stands before the last good start, is history; nothing else is."""

import pytest

from bcon_exporter.diagnosis.joined_lines import LineBuffer
from bcon_exporter.diagnosis.log_recovery import Recoveries, is_retried
from tests.table_rows import table

REFUSED = "ERROR dial tcp db:5432: connect: connection refused"


@table(
    "text",
    [
        "INFO connected to db:5432 after 3 attempts",
        "Redis connected",
        "INFO connection to db restored",
        "INFO db is now available",
        "INFO retry 2 succeeded",
        "[I] ORM engine initialization successful!",
        "wait-for-it.sh: db:5432 is available after 3 seconds",
        "343:S 01 Mar 2026 10:00:00.000 * MASTER <-> REPLICA sync: Finished with success",
        "INFO [Consumer groupId=g] Successfully joined group with generation 5",
        "INFO channel reopened, consuming again",
        "notice: RTM websocket opened",
        "redis: ready",
        "Database available!",
        "[WARNING] Server app/app1 is UP, reason: Layer7 check passed, code: 200",
        "WARN reconnected to broker",
        "I0301 10:00:00.000000 1 leader.go:260] successfully acquired lease kube-system/shop",
    ],
)
def test_news_of_success_ends_a_failure(text: str) -> None:
    assert Recoveries(LineBuffer([REFUSED, text])).follow(0, ready_counts=False)


@table(
    "text",
    [
        "INFO not connected to db",
        "INFO client disconnected.",
        "ERROR connected to db, but it is read-only",
        "INFO waiting until db is available",
        "INFO server listening on port 3000",
        "INFO server ready",
        "pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)",
        "INFO job 12 succeeded",
        "INFO job 12 successfully completed",
        "INFO player: playback resumed",
        "INFO became leader at term 7",
    ],
)
def test_no_other_news_does(text: str) -> None:
    assert not Recoveries(LineBuffer([REFUSED, text])).follow(0, ready_counts=False)


def test_success_before_the_failure_does_not_count() -> None:
    assert not Recoveries(LineBuffer(["INFO connected to db", REFUSED])).follow(1, ready_counts=False)


def test_a_service_that_got_ready_counts_only_where_it_says_so() -> None:
    news = Recoveries(LineBuffer([REFUSED, "INFO Started Application in 3.2 seconds"]))

    assert news.follow(0, ready_counts=True)
    assert Recoveries(LineBuffer([REFUSED, "[I] Listen: http://0.0.0.0:3000"])).follow(0, ready_counts=True)
    assert not news.follow(0, ready_counts=False)


@pytest.mark.parametrize(
    "text", ["INFO session resumed", "INFO cluster leadership acquired", 'level=info msg="Shop started"']
)
def test_a_service_that_gets_on_counts_for_what_it_only_retries(text: str) -> None:
    news = Recoveries(LineBuffer([REFUSED, text]))

    assert news.follow(0, ready_counts=True)
    assert not news.follow(0, ready_counts=False)


def test_the_last_good_start_begins_the_run_that_got_ready() -> None:
    first = ["INFO Starting Application using Java 21", REFUSED]
    again = ["INFO Starting Application using Java 21", "INFO Started Application in 3.2 seconds"]

    assert Recoveries(LineBuffer(first)).last_good_start() == 0
    assert Recoveries(LineBuffer([*first, *again])).last_good_start() == 2
    assert Recoveries(LineBuffer([*again, *first])).last_good_start() == 0


def test_a_line_may_say_that_it_will_be_tried_again() -> None:
    assert is_retried("WARN refused, retrying in 2s")
    assert not is_retried(REFUSED)
