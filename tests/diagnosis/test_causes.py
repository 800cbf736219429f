"""Causes and suggestions say each thing once, and first what helps."""

from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.findings import Urgency
from bcon_exporter.model.reports import DiagnosisReport
from tests.diagnosis.judging import diagnose
from tests.factories import ago, container, ended, exited, health, lifecycle, line, logs, looping, probe

NO_FILE = "ERROR cannot open /etc/shop.yaml: No such file or directory"


def actions(report: DiagnosisReport) -> list[str]:
    return [one.action for one in report.suggestions]


def causes(report: DiagnosisReport) -> list[str]:
    return [one.id for one in report.likely_causes]


def unhealthy(output: str) -> ContainerFacts:
    return container(health=health(HealthStatus.UNHEALTHY, probes=(probe(exit_code=1, output=output),)))


def test_a_health_check_that_finds_nobody_at_home_blames_no_other_container() -> None:
    report = diagnose(unhealthy("dial tcp 127.0.0.1:8080: connect: connection refused"))
    assert causes(report)[0] == "nothing_listens"
    assert not {"localhost_in_container", "peer_not_listening", "peer_down"} & set(causes(report))
    assert "listens on the address" in actions(report)[0]


def test_a_health_check_that_asks_another_host_blames_that_one() -> None:
    db = exited(1, name="db")
    report = diagnose(unhealthy("dial tcp db:5432: connect: connection refused"), db)
    assert "nothing_listens" not in causes(report)


def test_advice_to_read_the_log_is_left_out_where_the_log_has_been_understood() -> None:
    for known, told in ((NO_FILE, False), ("it broke", True)):
        found = exited(1, logs=logs(line(known, at=ago(5))))
        assert any("Read the last lines" in action for action in actions(diagnose(found))) is told


def test_a_loop_is_told_to_read_its_log_once() -> None:
    found = container(state=ContainerState.RESTARTING, exit_code=1, lifecycle=looping(), logs=logs("it broke"))
    assert sum("Read the last lines" in action for action in actions(diagnose(found))) == 1


def test_what_repairs_a_critical_container_is_to_be_done_now() -> None:
    found = container(
        state=ContainerState.RESTARTING, exit_code=1, lifecycle=looping(), logs=logs(line(NO_FILE, at=ago(5)))
    )
    assert diagnose(found).suggestions[0].urgency is Urgency.IMMEDIATE


def test_a_kill_through_the_engine_is_named_as_such() -> None:
    found = exited(137, lifecycle=lifecycle(exits=(ended(137, killed=True),)))
    report = diagnose(found)
    assert "somebody killed it without asking it to stop" in report.symptoms[0].description
    assert report.likely_causes[0].confidence == 0.95
    assert "event=kill" in str(report.suggestions[0].check)


def test_a_refused_start_is_no_exit_and_no_missing_mount() -> None:
    error = 'exec: "/nope": stat /nope: no such file or directory: unknown'
    report = diagnose(
        container(state=ContainerState.CREATED, exit_code=127, started_at=None, usage=None, error=error, logs=logs())
    )
    assert {str(one.type) for one in report.symptoms} == {"start_failed", "exit_error"}
    assert not any("exited" in one.description for one in report.symptoms)
    assert causes(report) == ["command_not_found"]
    assert not any("log" in action and "never wrote" not in action for action in actions(report))


def test_a_stop_that_needed_sigkill_tells_why_stops_are_slow() -> None:
    found = exited(137, lifecycle=lifecycle(exits=(ended(137, requested=True, forced=True),), stop_requested=True))
    report = diagnose(found)
    assert (report.status, causes(report)) == ("healthy", ["stop_signal_ignored"])
    assert report.suggestions[0].urgency is Urgency.LONG_TERM
