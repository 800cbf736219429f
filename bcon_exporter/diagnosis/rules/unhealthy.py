"""unhealthy: the container's own health check fails."""

import re2

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.finding import quote
from bcon_exporter.diagnosis.log_windows import stopping_since
from bcon_exporter.diagnosis.rule import RUNNING, Advice, Case, Hysteresis, SymptomRule, Verdict
from bcon_exporter.model.container_facts import HealthFacts, HealthStatus, Probe
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.signatures import CauseText

COMMAND_MISSING_CODES = (126, 127)
TIMED_OUT_CODE = -1


def _judge(case: Case) -> Verdict:
    health = case.container.health
    if health is None or health.status is not HealthStatus.UNHEALTHY or _fails_on_its_way_out(case, health):
        return None
    failed = [probe for probe in health.probes if probe.exit_code != 0]
    count = f"failed {health.failing_streak} times in a row" if health.failing_streak else "fails"
    description = f"Its health check {count}{_how(failed[-1]) if failed else '; its result was not read'}."
    evidence = [f"probe exit {probe.exit_code}: {quote(probe.output.strip()) or 'no output'}" for probe in failed[-3:]]
    return case.symptom(SymptomType.UNHEALTHY, Severity.ERROR, description, *evidence)


def _how(probe: Probe) -> str:
    """Describe how the newest probe failed; its output stands in the evidence."""
    if _CANNOT_RUN.search(probe.output[:1000]):
        return ", the last time since its command could not be run"
    if probe.exit_code == TIMED_OUT_CODE:
        return ", the last time by its time-out"
    without = "" if probe.output.strip() else " and no output"
    return f", the last time with exit code {probe.exit_code}{without}"


def _fails_on_its_way_out(case: Case, health: HealthFacts) -> bool:
    """Whether only probes failed that ended after a stop was requested: it drains and does not answer any more."""
    since = stopping_since(case.container, case.now)
    failed = [probe for probe in health.probes if probe.exit_code != 0]
    return since is not None and bool(failed) and all(probe.ended_at >= since for probe in failed)


def _advise(case: Case) -> Advice:
    health = case.container.health
    failed = [probe for probe in health.probes if probe.exit_code != 0] if health is not None else []
    return Advice(causes=(_cause(failed[-1]) if failed else known_cause("health_check_fails"),))


def _cause(probe: Probe) -> CauseText:
    """Return the cause by the newest failed probe: a check that cannot run says nothing about the service."""
    if probe.exit_code in COMMAND_MISSING_CODES or _CANNOT_RUN.search(probe.output[:1000]):
        return _cause_of_command(probe)
    if probe.exit_code == TIMED_OUT_CODE:
        return known_cause("health_check_timeout")
    answer = _HTTP_ANSWER.search(probe.output[:1000])
    if answer is None:
        return known_cause("health_check_fails")
    return known_cause("health_answers_error", status=answer.group(1))


def _cause_of_command(probe: Probe) -> CauseText:
    """Return why the check's command cannot run, with its name where the probe printed it."""
    absent = _ABSENT.search(probe.output[:1000])
    if absent is not None:
        return known_cause("health_command_missing.absent", command=absent.group(1) or absent.group(2))
    forbidden = _NOT_EXECUTABLE.search(probe.output[:1000])
    if forbidden is not None:
        return known_cause("health_command_missing.not_executable", command=forbidden.group(1) or forbidden.group(2))
    return known_cause("health_command_missing")


_ABSENT = re2.compile(
    r'(?m)exec: \\?"([\w./+-]{1,64})\\?": (?:executable file not found|stat \S+: no such file)'
    r"|(?:^|: )([\w./+-]{1,64}): (?:command )?not found$"
)
_NOT_EXECUTABLE = re2.compile(
    r'(?m)exec: \\?"([\w./+-]{1,64})\\?": permission denied|(?:^|: )([\w./+-]{1,64}): Permission denied$'
)
_CANNOT_RUN = re2.compile(
    r"(?m)executable file not found|OCI runtime exec failed|exec failed:|: (?:command )?not found$"
)
_HTTP_ANSWER = re2.compile(r"(?:\bHTTP(?:/[0-9.]{1,3})?(?: status)?(?: code)?:? |returned error: )([45][0-9]{2})\b")

RULE = SymptomRule(
    type=SymptomType.UNHEALTHY,
    hysteresis=Hysteresis.NONE,
    decides=True,
    from_log=False,
    is_failure=True,
    states=RUNNING,
    needs=("health",),
    judge=_judge,
    advise=_advise,
    description="It runs, and its health check keeps failing; a stopped container's health is frozen.",
    conditions=(("its health check fails", Severity.ERROR),),
    unknown_when="when inspect failed",
    source="docs/symptoms.md#unhealthy; a stopped container keeps its health, frozen (engine 20.10)",
)
