"""unhealthy shows the probe's own output, and means nothing in a stopped container."""

import pytest

from bcon_exporter.diagnosis.rules.unhealthy import RULE
from bcon_exporter.model.container_facts import HealthStatus
from bcon_exporter.model.findings import NotEvaluated, Severity
from tests.diagnosis.judging import ask, diagnose, severity, symptom
from tests.factories import ago, container, exited, health, lifecycle, probe
from tests.table_rows import table

BAD = health(HealthStatus.UNHEALTHY, failing_streak=4, probes=(probe(exit_code=1, output="db ping failed\n"),))


def test_shows_what_the_probe_said() -> None:
    found = symptom(RULE, container(health=BAD))

    assert found.severity is Severity.ERROR
    assert found.description == "Its health check failed 4 times in a row, the last time with exit code 1."
    assert found.evidence == ("probe exit 1: db ping failed",)


@pytest.mark.parametrize(
    ("code", "output", "how"),
    [
        (3, "no", "with exit code 3."),
        (3, "", "with exit code 3 and no output."),
        (-1, "Health check exceeded timeout (1s)", "by its time-out."),
        (-1, 'exec failed: "curl": executable file not found in $PATH', "since its command could not be run."),
    ],
)
def test_says_how_the_newest_probe_failed(code: int, output: str, how: str) -> None:
    sick = health(HealthStatus.UNHEALTHY, failing_streak=4, probes=(probe(exit_code=code, output=output),))

    assert symptom(RULE, container(health=sick)).description.endswith(f"in a row, the last time {how}")


def test_frozen_health_of_a_stopped_container_is_ignored() -> None:
    assert severity(RULE, exited(0, health=BAD)) is None


def test_a_container_without_a_check_is_not_unhealthy() -> None:
    assert severity(RULE, container(health=None)) is None
    assert severity(RULE, container(health=health())) is None


def test_is_not_evaluated_when_health_could_not_be_read() -> None:
    assert isinstance(ask(RULE, container(health=None, unread={"health": "inspect failed"})), NotEvaluated)


@table(
    ("code", "output", "cause"),
    [
        (127, "/bin/sh: shopctl: not found", "health_command_missing"),
        (127, "/bin/sh: curl: not found", "probe_tool_missing"),
        (126, "/bin/sh: /check.sh: Permission denied", "probe_not_executable"),
        (-1, 'OCI runtime exec failed: exec failed: exec: "curl": executable file not found in $PATH: unknown',
         "probe_tool_missing"),
        (-1, "Health check exceeded timeout (1s)", "health_check_timeout"),
        (1, "wget: server returned error: HTTP/1.1 503 Service Unavailable", "health_answers_error"),
        (22, "curl: (22) The requested URL returned error: 500", "health_answers_error"),
        (22, "curl: (22) The requested URL returned error: 404", "probe_path"),
        (1, "wget: server returned error: HTTP/1.1 401 Unauthorized", "probe_login"),
        (1, "psql: error: FATAL:  role \"root\" does not exist", "probe_login"),
        (1, "mysqladmin: connect to server at 'localhost' failed: Access denied for user 'root'@'x'", "probe_login"),
        (1, "wget: unrecognized option: no-verbose\nUsage: wget [-cqS] [--spider] URL...", "probe_options"),
        (2, "curl: option --fial: is unknown\ncurl: try 'curl --help' for more information", "probe_options"),
        (2, "/bin/sh: syntax error: unterminated quoted string", "probe_script"),
        (1, "python3: can't open file '/health.py': [Errno 2] No such file or directory", "probe_script"),
        (1, "Error: Cannot find module '/app/health.js'", "probe_script"),
        (1, "Connecting to localhost ([::1]:8080)\nwget: can't connect to remote host: Connection refused",
         "probe_localhost_ipv6"),
        (1, "Error: connect ECONNREFUSED ::1:3000", "probe_localhost_ipv6"),
        (1, "Connecting to x (127.0.0.1:8080)\nwget: can't connect to remote host (127.0.0.1): Connection refused",
         "nothing_listens"),
        (7, "curl: (7) Failed to connect to localhost port 8080: Couldn't connect to server", "nothing_listens"),
        (35, "curl: (35) OpenSSL/3.1.4: error:0A00010B:SSL routines::wrong version number", "probe_scheme"),
        (60, "curl: (60) SSL certificate problem: self-signed certificate", "probe_certificate"),
        (6, "curl: (6) Could not resolve host: web", "probe_name"),
        (1, "wget: bad address 'web:8080'", "probe_name"),
        (28, "curl: (28) Operation timed out after 5001 milliseconds with 0 bytes received", "probe_late"),
        (52, "curl: (52) Empty reply from server", "probe_no_answer"),
        (1, "Error: invalid configuration value in /etc/web.conf", "health_check_fails"),
        (1, "db ping failed", "health_check_fails"),
        (1, "", "health_check_fails"),
    ],
)  # fmt: skip
def test_what_the_check_said_decides_the_cause(code: int, output: str, cause: str) -> None:
    sick = health(HealthStatus.UNHEALTHY, probes=(probe(exit_code=code, output=output),))

    assert diagnose(container(health=sick)).likely_causes[0].id == cause


def test_the_cause_quotes_the_probe_and_the_suggestion_counts() -> None:
    report = diagnose(container(health=BAD))

    assert report.likely_causes[0].evidence == ("probe exit 1: db ping failed",)
    assert report.suggestions[0].rationale == "4 failures in a row (3 make it unhealthy), 10 s each at most."


def test_a_check_of_which_only_the_status_is_known_is_told_without_a_count() -> None:
    found = symptom(RULE, container(health=health(HealthStatus.UNHEALTHY)))

    assert found.description == "Its health check fails; its result was not read."


@pytest.mark.parametrize(("probed_ago", "shown"), [(3, False), (20, True)])
def test_a_container_that_drains_may_fail_its_probes(probed_ago: float, *, shown: bool) -> None:
    checked = health(HealthStatus.UNHEALTHY, probes=(probe(exit_code=1, ended_ago=probed_ago),))
    facts = container(health=checked, lifecycle=lifecycle(stopping_since=ago(10)))

    assert (severity(RULE, facts) is not None) is shown
