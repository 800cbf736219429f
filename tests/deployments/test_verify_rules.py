"""Promise: every way in which a service may fail has its own code, and what is no failure has none."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bcon_exporter.deployments.verify import VERIFY_RULES
from bcon_exporter.deployments.verify.judge import find_first
from bcon_exporter.deployments.verify.rule_context import ServiceCase, VerifyRule
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HealthStatus
from bcon_exporter.model.findings import DriftType, ServiceDrift, Severity, Symptom, SymptomType
from bcon_exporter.model.lifecycle import ExitFacts
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.model.verify_report import VerifyCode
from tests.deployments.judging import DEPLOYED, codes, deployed, verdicts
from tests.drift.builders import service
from tests.factories import NOON, ago, compose, ended, health, lifecycle, logs, probe
from tests.table_rows import table

GOOD = ("good", None, None)
NOTES_ONLY = {DriftType.EXTRA_CONTAINER}


def ended_with(code: int, *, at: float = 20, name: str = "web", policy: str = "no", **end: Any) -> ContainerFacts:
    """A container of the deployment that ended so many seconds ago and is not started again."""
    exit_facts = ended(code, at=ago(at), lifetime_seconds=40.0 - at, **end)
    return deployed(
        name,
        state=ContainerState.EXITED,
        exit_code=code,
        finished_at=ago(at),
        restart_policy=policy,
        usage=None,
        lifecycle=lifecycle(exits=(exit_facts,), stop_requested=exit_facts.requested),
    )


def restarted(count: int, code: int = 1, **facts: Any) -> ContainerFacts:
    """A container of the deployment that runs again after so many restarts by its policy."""
    times = [ago(30 - 5 * index) for index in range(count)]
    exits = tuple(ended(code, at=at - timedelta(seconds=1), lifetime_seconds=3.0) for at in times)
    past = lifecycle(exits=exits, restarts=tuple(times), restarts_total=count)
    return deployed(**{"restart_policy": "always", "started_at": times[-1], "lifecycle": past, **facts})


@table("symptom", SymptomType)
def test_every_symptom_leads_to_one_code(symptom: SymptomType) -> None:
    assert len([rule.code for rule in VERIFY_RULES if symptom in rule.symptoms]) == 1


@pytest.mark.parametrize("drift", sorted(set(DriftType) - NOTES_ONLY))
def test_every_drift_leads_to_one_code(drift: DriftType) -> None:
    assert len([rule.code for rule in VERIFY_RULES if drift in rule.drift_types]) == 1


BY_STATE = {SymptomType.PAUSED, SymptomType.NEVER_STARTED, SymptomType.NOT_STARTED_AGAIN}
"""Of a container that does not run, which is what is found of it."""


@table("symptom", sorted(set(SymptomType) - BY_STATE))
def test_a_new_symptom_of_error_makes_its_service_bad(symptom: SymptomType) -> None:
    container = deployed()
    shown = Symptom(type=symptom, severity=Severity.ERROR, description="It is bad.", detected_at=NOON)
    report = DiagnosisReport(
        container_id=container.short_id, container_name=container.name, timestamp=NOON, state=container.state,
        uptime=None, status="error", symptoms=(shown,), summary="", detailed_explanation="",
    )  # fmt: skip
    case = ServiceCase(
        service=service(), since=DEPLOYED, now=NOON, containers=(container,), reports={container.short_id: report}
    )
    found = [rule for rule in VERIFY_RULES if rule.find(case) is not None]
    assert [symptom in rule.symptoms for rule in found] == [True]


@pytest.mark.parametrize("drift", sorted(set(DriftType) - NOTES_ONLY))
def test_a_difference_makes_its_service_bad(drift: DriftType) -> None:
    difference = ServiceDrift(service_name="web", drift_type=drift, expected="", actual="", message="It differs.")
    case = ServiceCase(service=service(), since=DEPLOYED, now=NOON, differences=(difference,))
    assert [drift in rule.drift_types for rule in VERIFY_RULES if rule.find(case) is not None] == [True]


def test_a_rule_that_raises_hides_nothing_that_the_others_find() -> None:
    broken = VerifyRule(code=VerifyCode.START_FAILED, find=lambda _: str(1 // 0), description="")
    sure = VerifyRule(code=VerifyCode.CRASHED, find=lambda _: "It crashed.", description="")
    case = ServiceCase(service=service(), since=DEPLOYED, now=NOON)
    found, failed = find_first(case, (broken, sure))
    assert found == (VerifyCode.CRASHED, "It crashed.")
    assert str(failed).startswith("start_failed (ZeroDivisionError at test_verify_rules.py:")
    assert find_first(case, (broken,)) == (None, failed)


def test_each_code_has_one_rule_in_the_order_of_the_codes() -> None:
    assert [rule.code for rule in VERIFY_RULES] == list(VerifyCode)


def test_what_runs_and_is_healthy_is_good() -> None:
    assert codes(deployed(), deployed("db", health=health())) == {"web": GOOD, "db": GOOD}


def test_a_one_shot_that_ended_with_0_is_good() -> None:
    assert codes(deployed(), ended_with(0, name="job")) == {"web": GOOD, "job": GOOD}


def test_one_that_ended_otherwise_crashed() -> None:
    assert codes(ended_with(3))["web"] == ("bad", "crashed", None)


def test_one_that_runs_again_crashed_all_the_same() -> None:
    assert codes(restarted(1))["web"] == ("bad", "crashed", None)


def test_two_restarts_are_a_loop_and_also_with_0() -> None:
    assert codes(restarted(2))["web"] == ("bad", "crash_loop", None)
    assert codes(restarted(2, code=0))["web"] == ("bad", "crash_loop", None)
    assert codes(restarted(1, code=0))["web"] == ("bad", "crashed", None)


def test_a_crash_before_the_deployment_is_none_of_it() -> None:
    old = deployed(
        created_at=ago(hours=2),
        started_at=ago(minutes=30),
        restart_policy="always",
        lifecycle=lifecycle(exits=(ended(1, at=ago(minutes=31)),), restarts=(ago(minutes=30),), restarts_total=1),
    )
    assert codes(old, deployed("db")) == {"web": GOOD, "db": GOOD}


def test_a_crash_of_the_container_that_was_replaced_is_none_of_it() -> None:
    """Compose makes the new one before it stops the old one, which may end in its own way meanwhile."""
    before = ended(1, at=ago(39), lifetime_seconds=600.0)
    assert codes(deployed(lifecycle=lifecycle(exits=(before,))))["web"] == GOOD


def test_a_restart_that_somebody_asked_for_is_no_failure() -> None:
    asked = ended(143, at=ago(20), lifetime_seconds=20.0, requested=True)
    assert codes(deployed(started_at=ago(19), lifecycle=lifecycle(exits=(asked,))))["web"] == GOOD


def test_one_that_somebody_stopped_does_not_run_and_the_message_says_who() -> None:
    stopped = verdicts(ended_with(0, requested=True))["web"]
    assert (stopped.code, stopped.message) == (
        VerifyCode.NOT_RUNNING,
        "Service web does not run: exited with code 0. Somebody stopped it.",
    )


def test_an_end_by_the_kernel_is_told_by_its_own_code() -> None:
    assert codes(ended_with(137, oom=True))["web"] == ("bad", "oom_killed", None)
    once = (ExitFacts(at=ago(30), exit_code=137, oom=True, lifetime_seconds=5.0),)
    again = deployed(started_at=ago(29), lifecycle=lifecycle(exits=once, oom_kills=(ago(30),), restarts=(ago(29),)))
    assert codes(again)["web"] == ("bad", "oom_killed", None)


def test_a_one_shot_on_whose_success_another_waits_has_a_code_of_its_own() -> None:
    waiting = deployed(
        state=ContainerState.CREATED,
        started_at=None,
        compose=compose("web", config_hash="h1", depends_on="job:service_completed_successfully:false"),
    )
    found = codes(ended_with(2, name="job"), waiting, services=(service("job", runs_once=True), service()))
    assert found == {"job": ("bad", "one_shot_failed", None), "web": ("bad", "waits_for", "job")}


def test_a_chain_of_those_that_wait_names_its_first_link() -> None:
    def waits(name: str, on: str) -> ContainerFacts:
        return deployed(
            name,
            state=ContainerState.CREATED,
            started_at=None,
            compose=compose(name, config_hash="h1", depends_on=f"{on}:service_healthy:false"),
        )

    sick = deployed("db", health=health(HealthStatus.UNHEALTHY, failing_streak=3, probes=(probe(exit_code=1),)))
    assert codes(sick, waits("api", "db"), waits("web", "api")) == {
        "db": ("bad", "unhealthy", None),
        "api": ("bad", "waits_for", "db"),
        "web": ("bad", "waits_for", "db"),
    }


def test_a_chain_without_end_and_a_circle_of_those_that_wait_are_judged_too() -> None:
    def waits(name: str, on: str) -> ContainerFacts:
        return deployed(
            name,
            state=ContainerState.CREATED,
            started_at=None,
            compose=compose(name, config_hash="h1", depends_on=f"{on}:service_started:false"),
        )

    chain = [waits(f"s{index}", f"s{index + 1}") for index in range(400)]
    assert codes(*chain)["s0"][:2] == ("bad", "waits_for")
    assert {code for _, code, _ in codes(waits("a", "b"), waits("b", "a")).values()} == {"waits_for"}


def test_one_whose_dependency_is_still_starting_waits_though_nothing_has_failed() -> None:
    slow = deployed("db", health=health(HealthStatus.STARTING, start_period_seconds=60.0))
    waiting = deployed(
        state=ContainerState.CREATED,
        started_at=None,
        compose=compose("web", config_hash="h1", depends_on="db:service_healthy:false"),
    )
    found = verdicts(slow, waiting)
    assert found["web"].code is VerifyCode.WAITS_FOR
    assert found["db"].message == "shop-db-1 is starting: its start period goes on for 20 s."


def test_a_start_that_the_engine_refused() -> None:
    refused = deployed(
        state=ContainerState.CREATED,
        started_at=None,
        exit_code=127,
        error='exec: "nope": executable file not found in $PATH',
    )
    assert codes(refused)["web"] == ("bad", "start_failed", None)


def test_a_service_without_a_container_and_one_with_too_few() -> None:
    found = codes(deployed(), services=(service(replicas=2), service("db")))
    assert found == {"web": ("bad", "wrong_replicas", None), "db": ("bad", "not_created", None)}


def test_scale_0_asks_for_nothing() -> None:
    assert codes(services=(service(replicas=0),)) == {"web": GOOD}


def test_a_service_of_an_inactive_profile_is_not_spoken_of() -> None:
    assert codes(deployed(), services=(service(), service("debug", enabled=False))) == {"web": GOOD}


def test_a_paused_one_does_not_run() -> None:
    assert codes(deployed(state=ContainerState.PAUSED))["web"] == ("bad", "not_running", None)


def test_another_image_than_the_files_ask_for() -> None:
    assert codes(deployed(image="app:0"))["web"] == ("bad", "differs", None)


def test_a_health_check_that_finds_nobody_at_its_port() -> None:
    refused = probe(exit_code=1, output="wget: can't connect to remote host (127.0.0.1): Connection refused")
    sick = deployed(health=health(HealthStatus.UNHEALTHY, failing_streak=3, probes=(refused,)))
    assert codes(sick)["web"] == ("bad", "port_refused", None)


def test_a_health_check_that_gets_no_answer_in_time_says_nothing_of_its_own_port() -> None:
    silent = probe(exit_code=1, output="nc: timed out")
    sick = deployed(health=health(HealthStatus.UNHEALTHY, failing_streak=3, probes=(silent,)))
    assert codes(sick)["web"] == ("bad", "unhealthy", None)


def test_a_check_that_has_not_succeeded_yet_leaves_it_open() -> None:
    assert codes(deployed(health=health(HealthStatus.STARTING)))["web"] == ("unsure", None, None)


def test_one_that_was_created_a_moment_ago_may_just_not_have_had_its_turn() -> None:
    fresh = deployed(state=ContainerState.CREATED, created_at=ago(1), started_at=None)
    assert codes(fresh)["web"] == ("unsure", None, None)
    older = deployed(state=ContainerState.CREATED, created_at=ago(4), started_at=None)
    assert codes(older)["web"] == ("bad", "not_running", None)


def hook(index: int = 0, of: str = "web", **facts: Any) -> ContainerFacts:
    """A hook of a service that ended with 3, unless told."""
    claim = {"hook": "pre_start", "hook_index": index, "config_hash": None}
    name = f"shop-{of}-pre_start-{index}"
    state = {
        "state": ContainerState.EXITED,
        "exit_code": 3,
        "finished_at": ago(20),
        "started_at": ago(21),
        "usage": None,
    }
    return deployed(of, 1, claim=claim, name=name, **{**state, **facts})


def waiting(name: str = "web", **facts: Any) -> ContainerFacts:
    """A container that was made and not started."""
    return deployed(name, **{"state": ContainerState.CREATED, "started_at": None, "usage": None, **facts})


REFUSED = 'psql: error: connection to server at "db" (172.18.0.2), port 5432 failed: Connection refused'


@pytest.mark.parametrize(
    ("case", "containers", "expected"),
    [
        ("failed", (waiting(), hook()), {"web": ("bad", "hook_failed", None)}),
        ("the second failed", (waiting(), hook(1)), {"web": ("bad", "hook_failed", None)}),
        (
            "is only made",
            (waiting(), hook(state=ContainerState.CREATED, exit_code=None)),
            {"web": ("bad", "not_running", None)},
        ),
        (
            "could not be started",
            (waiting(), hook(state=ContainerState.CREATED, error="no such file", exit_code=127)),
            {"web": ("bad", "hook_failed", None)},
        ),
        ("runs", (waiting(), hook(state=ContainerState.RUNNING)), {"web": ("unsure", None, None)}),
        ("left over beside one that runs", (deployed(), hook()), {"web": GOOD}),
        (
            "another service waits for it",
            (waiting(), hook(), waiting("api", claim={"depends_on": "web:service_started:true"})),
            {"web": ("bad", "hook_failed", None), "api": ("bad", "waits_for", "web")},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_hook_decides_whether_its_service_is_started(
    case: str, containers: tuple[ContainerFacts, ...], expected: dict[str, tuple[str, str | None, str | None]]
) -> None:
    assert codes(*containers) == expected, case


def test_a_hook_that_failed_gives_its_own_cause_and_log() -> None:
    failed = hook(logs=logs('ERROR: relation "users" does not exist'))
    told = verdicts(waiting(), failed)["web"]
    assert (
        told.message == "It was created and never started: its pre_start hook shop-web-pre_start-0 ended with code 3."
    )
    assert 'ERROR: relation "users" does not exist' in told.evidence
    assert told.causes[0].id == "migration_not_run"


def test_a_hook_that_suffers_from_a_dead_database_names_it_as_the_root() -> None:
    dead = ended_with(1, name="db")
    kept = hook(logs=logs(REFUSED))
    assert codes(waiting(), kept, dead)["web"] == ("bad", "hook_failed", "db")
    trying = hook(state=ContainerState.RUNNING, logs=logs(*[REFUSED] * 3))
    assert codes(waiting(), trying, dead)["web"] == ("bad", "waits_for", "db")


def test_a_hook_of_which_no_container_is_there_has_failed_before_it_ran() -> None:
    wanted = (service("web", pre_start=1),)
    assert codes(waiting(), services=wanted)["web"] == ("bad", "hook_failed", None)
    just_made = waiting(created_at=ago(1))
    assert codes(just_made, services=wanted)["web"] == ("unsure", None, None)
    assert codes(waiting(), services=(service("web"),))["web"] == ("bad", "not_running", None)
