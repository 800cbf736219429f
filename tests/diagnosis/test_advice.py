"""What is advised can be followed: the likeliest cause first, and no container that is none is to be looked at."""

import pytest

from bcon_exporter.model.container_facts import HealthStatus
from bcon_exporter.model.findings import SymptomType
from tests.diagnosis.judging import diagnose
from tests.diagnosis.test_cascades import gone, judged, service
from tests.factories import ago, health, line, logs, looping, network, probe

DENIED = 'psycopg2.OperationalError: FATAL:  password authentication failed for user "shop"'


def test_the_first_step_is_about_the_likeliest_cause() -> None:
    refused = (
        "ERROR redis.exceptions.ConnectionError: Error 111 connecting to cache.example.org:6379. Connection refused."
    )
    report = diagnose(service("api", f"{refused} Connection refused.", f"ERROR {DENIED}", started_at=ago(70)))

    assert report.likely_causes[0].id == "wrong_credentials"
    assert report.suggestions[0].action.startswith("Compare the credentials on both sides")


def test_the_headline_is_the_symptom_of_the_likeliest_cause() -> None:
    sick = health(HealthStatus.UNHEALTHY, probes=(probe(exit_code=1, output="exit 1"),))
    api = service("api", "ERROR dial tcp: lookup db on 127.0.0.11:53: no such host", health=sick, needs="db")

    summary = judged(api, gone("db"))["api"].summary

    assert "network_error: " in summary
    assert "shop-db-1, which it connects to" in summary


@pytest.mark.parametrize(
    ("says", "cause", "step"),
    [
        ("ERROR getaddrinfo ENOTFOUND cahce", "no_such_container", "Correct the name"),
        ("ERROR getaddrinfo ENOTFOUND api.example.org", "outside_name", "Resolve the same name on this host"),
        ("ERROR connect ECONNREFUSED 192.0.2.7:443", "outside_peer", "Ask the same address from this host"),
        ("ERROR connect ETIMEDOUT 192.0.2.7:443", "outside_peer", "Ask the same address from this host"),
        ("ERROR connect EHOSTUNREACH 172.18.0.9:5432", "address_gone", "Let it ask by name"),
    ],
)
def test_a_peer_that_is_no_container_here_has_no_log_to_look_at(says: str, cause: str, step: str) -> None:
    report = diagnose(service("api", says, networks=(network(ip="172.18.0.2"),)))

    assert report.likely_causes[0].id == cause
    assert report.suggestions[0].action.startswith(step)
    assert all("log of the container" not in one.action for one in report.suggestions)
    assert all("does not listen" not in one.description for one in report.likely_causes[:1])


class TestWarnings:
    """A line that calls itself a warning gives at most a warning, and is one event."""

    WARNING = "WARN connect to db:5432: Connection refused"

    def test_one_is_no_failure_yet(self) -> None:
        assert diagnose(service("api", self.WARNING)).status == "healthy"

    def test_several_are_one_symptom_and_a_warning(self) -> None:
        report = diagnose(service("api", self.WARNING, self.WARNING, self.WARNING))

        assert [one.type for one in report.symptoms] == [SymptomType.NETWORK_ERROR]
        assert report.status == "warning"

    def test_one_of_level_error_is_an_error(self) -> None:
        assert diagnose(service("api", self.WARNING.replace("WARN", "ERROR"))).status == "error"

    def test_what_ends_the_program_is_no_mere_warning(self) -> None:
        assert diagnose(service("api", "WARN fatal error: connect to db:5432 failed, core dumped")).status == "error"


def test_a_loop_of_good_exits_has_one_severity() -> None:
    api = service("api", lifecycle=looping(exit_code=0), started_at=ago(3), logs=logs(line("done", at=ago(4))))

    report = diagnose(api)

    assert [(one.type, one.severity) for one in report.symptoms] == [(SymptomType.RESTART_LOOP, "error")]
