"""unhealthy: the container's own health check fails."""

import re2

from bcon_exporter.diagnosis.finding import quote
from bcon_exporter.diagnosis.log_windows import stopping_since
from bcon_exporter.diagnosis.rule import RUNNING, Advice, Case, Hysteresis, SymptomRule, Verdict
from bcon_exporter.model.container_facts import HealthFacts, HealthStatus, Probe
from bcon_exporter.model.findings import Severity, SymptomType, Urgency
from bcon_exporter.model.signatures import CauseText, SuggestionText

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
    return Advice(causes=(_cause(failed[-1]) if failed else _FAILS,), suggestions=(_READ_THE_PROBE,))


def _cause(probe: Probe) -> CauseText:
    """Return the cause by the newest failed probe: a check that cannot run says nothing about the service."""
    if probe.exit_code in COMMAND_MISSING_CODES or _CANNOT_RUN.search(probe.output[:1000]):
        return _COMMAND_MISSING
    if probe.exit_code == TIMED_OUT_CODE:
        return _TIMED_OUT
    answer = _HTTP_ANSWER.search(probe.output[:1000])
    if answer is None:
        return _FAILS
    text = f"The service answers its health check with HTTP status {answer.group(1)}."
    return CauseText(id="health_answers_error", text=text, confidence=0.8, general=True)


_CANNOT_RUN = re2.compile(
    r"(?m)executable file not found|OCI runtime exec failed|exec failed:|: (?:command )?not found$"
)
_HTTP_ANSWER = re2.compile(r"(?:\bHTTP(?:/[0-9.]{1,3})?(?: status)?(?: code)?:? |returned error: )([45][0-9]{2})\b")
_COMMAND_MISSING = CauseText(
    id="health_command_missing",
    text="The health check's command does not exist in the image or cannot be run: the service may be well.",
    confidence=0.92,
)
_TIMED_OUT = CauseText(
    id="health_check_timeout",
    text="The health check's command does not end in the time that it has.",
    confidence=0.8,
    general=True,
)
_FAILS = CauseText(
    id="health_check_fails",
    text="The service does not answer its health check as expected.",
    confidence=0.5,
    general=True,
)
_READ_THE_PROBE = SuggestionText(
    urgency=Urgency.IMMEDIATE,
    action="Read what the health check printed; it is not in the container's log.",
    rationale="{failing_streak} failures in a row ({health_retries} make it unhealthy), {health_timeout} each at most.",
    check="docker inspect -f '{{json .State.Health}}' {name}",
)


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
    description="It runs and its health check fails; a stopped container's health is frozen and means nothing.",
    conditions=(("its health check fails", Severity.ERROR),),
    unknown_when="when inspect failed",
    causes=(
        "health_answers_error",
        "health_command_missing",
        "health_check_timeout",
        "health_check_fails",
    ),
    source="docs/symptoms.md#unhealthy; a stopped container keeps its health, frozen (engine 20.10)",
)
