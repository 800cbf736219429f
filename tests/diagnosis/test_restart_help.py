"""Promise: whether a restart helps is told from the cause."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bcon_exporter.diagnosis.restart_help import judge_restart
from bcon_exporter.model.container_facts import ConfigFacts, ContainerState, HealthStatus, Limits
from tests.diagnosis.judging import diagnose
from tests.factories import ago, container, ended, exited, health, lifecycle, logs, probe

if TYPE_CHECKING:
    from bcon_exporter.diagnosis.restart_help import RestartHelp
    from bcon_exporter.model.container_facts import ContainerFacts


def judge(facts: ContainerFacts, *others: ContainerFacts, **host: Any) -> RestartHelp:
    return judge_restart(facts, diagnose(facts, *others, **host))


def oom(limit: int = 16 * 2**20) -> ContainerFacts:
    end = ended(137, at=ago(60), oom=True)
    return exited(137, exit_facts=end, oom_killed=True, limits=Limits(memory_bytes=limit))


def test_one_that_was_killed_for_want_of_memory_gets_the_same_limit_again() -> None:
    told = judge(oom())
    assert told.helps is False
    assert "same limit of 16" in told.why


def test_a_refused_password_stays_refused() -> None:
    facts = exited(1, logs=logs('FATAL:  password authentication failed for user "app"', at=ago(61)))
    assert judge(facts).helps is False


def test_a_missing_file_stays_missing() -> None:
    facts = exited(1, logs=logs("Error: open /etc/app/config.yaml: no such file or directory", at=ago(61)))
    assert judge(facts).helps is False


def test_a_failing_health_check_may_pass_after_a_restart() -> None:
    facts = container(health=health(HealthStatus.UNHEALTHY, failing_streak=5, probes=(probe(exit_code=1),)))
    assert judge(facts).helps is None


def test_a_check_whose_command_is_missing_fails_again() -> None:
    output = "OCI runtime exec failed: exec failed: curl: executable file not found in $PATH"
    failed = probe(exit_code=-1, output=output)
    facts = container(health=health(HealthStatus.UNHEALTHY, failing_streak=5, probes=(failed,)))
    assert judge(facts).helps is False


def test_one_that_somebody_stopped_is_started_again() -> None:
    assert judge(exited(0, exit_facts=ended(0, at=ago(5), requested=True))).helps is True


def test_one_that_was_killed_from_outside_comes_up_again() -> None:
    assert judge(exited(137, exit_facts=ended(137, at=ago(60), killed=True))).helps is True


def test_one_that_has_done_its_work_needs_none() -> None:
    assert judge(exited(0)).helps is False


def test_one_that_is_well_needs_none() -> None:
    told = judge(container())
    assert (told.helps, told.why) == (False, "nothing is seen wrong with api")


def test_a_restart_keeps_the_image_whose_tag_has_moved_on() -> None:
    config = ConfigFacts(fields={}, image_id_of_tag="sha256:new")
    told = judge(container(image_id="sha256:old", config=config))
    assert told.helps is False
    assert "a restart keeps the old one" in told.why


def test_one_whose_trouble_comes_from_another_is_not_helped_by_its_own_restart() -> None:
    db = exited(1, name="db", exit_facts=ended(1, at=ago(120)), networks=container().networks)
    facts = container(logs=logs("Error: connect ECONNREFUSED db:5432", at=ago(20)))
    told = judge(facts, db)
    assert told.helps is False


def looping(code: int, times: int = 4) -> ContainerFacts:
    restarts = tuple(ago(20 * n) for n in range(times, 0, -1))
    ends = tuple(ended(code, at=at - timedelta(seconds=1), lifetime_seconds=1.0) for at in restarts)
    past = lifecycle(exits=ends, restarts=restarts, restarts_total=times)
    return container(lifecycle=past, restart_policy="always", started_at=ago(19), restart_count=times)


def test_one_that_its_policy_has_restarted_in_vain_ends_the_same_way_again() -> None:
    told = judge(looping(3))
    assert told.helps is False
    assert "4 times" in told.why
    assert "code 3 again" in told.why


def test_one_that_was_never_started_is_started() -> None:
    facts = container(state=ContainerState.CREATED, started_at=None, created_at=ago(600), usage=None, health=None)
    assert judge(facts).helps is True


def test_one_that_is_being_removed_is_started_no_more() -> None:
    assert judge(container(state=ContainerState.REMOVING)).helps is False


def test_of_one_whose_facts_are_missing_nothing_is_claimed() -> None:
    facts = container(lifecycle=None, oom_killed=None, exit_code=None, health=None, restart_count=None, logs=None)
    facts = facts.model_copy(update={"unread": {"inspect": "timeout"}})
    told = judge(facts)
    assert told.helps is not True
