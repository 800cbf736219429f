"""A final word stands until the next start or a sign of work, however old it is."""

from datetime import datetime

import pytest

from bcon_exporter.diagnosis import analyze
from bcon_exporter.model.container_facts import LogLine
from tests.diagnosis.judging import diagnose, shipped
from tests.factories import ago, container, ended, lifecycle, line, logs

GAVE_UP = "INFO gave up: web entered FATAL state, too many start retries too quickly"
TASK_DEAD = (
    "ERROR WorkerSinkTask{id=orders-0} Task threw an uncaught and unrecoverable exception. Task is being killed and "
    "will not recover until manually restarted"
)
REQUESTS = tuple(f'10.0.0.7 - - "GET /a HTTP/1.1" 200 {number}' for number in range(120))

STANDS = {
    "supervisord": (GAVE_UP,),
    "supervisord, another program runs": (GAVE_UP, "INFO success: cron entered RUNNING state, process has stayed up"),
    "supervisord, many lines of another program": (GAVE_UP, *REQUESTS),
    "supervisord, a start before it": ("INFO spawned: 'web' with pid 7", GAVE_UP),
    "s6": ("s6-rc: warning: unable to start service svc-web: command exited 1",),
    "pm2": ('PM2 | Script /srv/web.js had too many unstable restarts (16). Stopped. "errored"',),
    "nodemon": (
        "[nodemon] starting `node web.js`",
        "[nodemon] app crashed - waiting for file changes before starting...",
    ),
    "node --watch": ("Failed running 'web.js'",),
    "monit": ("error    : 'web' service restarted 5 times within 5 cycles(s) - unmonitor",),
    "kafka connect": (TASK_DEAD,),
    "replication": ("[ERROR] [Repl] Error running query, replica SQL thread aborted. Fix the problem, and restart it",),
    "tomcat": ("SEVERE [main] x.StandardContext Context [/shop] startup failed due to previous errors",),
    "portainer": ("INF The Portainer instance timed out for security purposes. To re-enable it, restart Portainer.",),
}
OVER = {
    "supervisord, started by hand": (GAVE_UP, "INFO spawned: 'web' with pid 9"),
    "supervisord, runs": (
        GAVE_UP,
        "INFO success: web entered RUNNING state, process has stayed up for > than 1 seconds",
    ),
    "s6": (
        "s6-rc: warning: unable to start service svc-web: command exited 1",
        "s6-rc: info: service svc-web successfully started",
    ),
    "nodemon": (
        "[nodemon] app crashed - waiting for file changes before starting...",
        "[nodemon] starting `node web.js`",
    ),
    "kafka connect": (TASK_DEAD, "INFO WorkerSinkTask{id=orders-0} Sink task finished initialization and start"),
    "never": ("INFO spawned: 'web' with pid 7", "WARN exited: cron (exit status 0; expected)"),
}


def _said(texts: tuple[str, ...], at: datetime) -> tuple[LogLine, ...]:
    return tuple(line(text, at=at) for text in texts)


def _is_told(texts: tuple[str, ...], *, minutes: float) -> bool:
    report = diagnose(
        container(created_at=ago(days=2), started_at=ago(days=1), logs=logs(*_said(texts, ago(minutes=minutes))))
    )
    return report.status == "error"


@pytest.mark.parametrize("minutes", [1, 11, 600])
def test_a_final_word_does_not_age(minutes: float) -> None:
    assert {name: _is_told(texts, minutes=minutes) for name, texts in STANDS.items()} == dict.fromkeys(STANDS, True)


def test_it_is_over_once_that_program_is_started_or_works() -> None:
    told = {name: _is_told(texts, minutes=11) for name, texts in OVER.items()}
    assert told == dict.fromkeys(OVER, False)
    assert {name: bool(analyze(logs(*texts).lines, shipped()).symptoms) for name, texts in OVER.items()} == told


def test_what_was_said_before_the_last_start_is_history() -> None:
    past = lifecycle(exits=(ended(0, at=ago(minutes=20), requested=True),))
    facts = container(
        started_at=ago(minutes=19),
        finished_at=ago(minutes=20),
        lifecycle=past,
        logs=logs(*_said((GAVE_UP,), ago(minutes=21))),
    )
    assert diagnose(facts).status == "healthy"


def test_an_ordinary_error_still_ages() -> None:
    assert not _is_told(("ERROR order 7 could not be stored",), minutes=11)


def test_catalogue_knows_the_lines_that_outlast_the_window() -> None:
    outlasts = shipped().outlasts

    assert outlasts(f"started\n{GAVE_UP}\nmore")
    assert outlasts("INFO success: web entered RUNNING state, process has stayed up")
    assert not outlasts("ERROR order 7 could not be stored\nWARN exited: web (exit status 1; not expected)")
