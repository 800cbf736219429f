"""unhealthy: the container's own health check fails."""

from bcon_exporter.diagnosis.rule import RUNNING, Advice, Case, SymptomRule, Verdict
from bcon_exporter.model.facts import HealthStatus
from bcon_exporter.model.findings import Severity, SymptomType, Urgency
from bcon_exporter.model.signatures import CauseText, SuggestionText

COMMAND_MISSING_CODES = (126, 127)


def _judge(case: Case) -> Verdict:
    health = case.container.health
    if health is None or health.status is not HealthStatus.UNHEALTHY:
        return None
    failed = [probe for probe in health.probes if probe.exit_code != 0]
    outputs = [probe.output.strip() for probe in failed if probe.output.strip()]
    said = f": {outputs[-1].splitlines()[0][:160]}" if outputs else ", without output"
    description = f"Its health check failed {health.failing_streak} times in a row{said}"
    evidence = [f"probe exit {probe.exit_code}: {probe.output.strip()[:240] or 'no output'}" for probe in failed[-3:]]
    return case.symptom(SymptomType.UNHEALTHY, Severity.ERROR, description, *evidence)


def _advise(case: Case) -> Advice:
    health = case.container.health
    codes = [probe.exit_code for probe in health.probes if probe.exit_code != 0] if health is not None else []
    if codes and codes[-1] in COMMAND_MISSING_CODES:
        cause = CauseText(
            id="health_command_missing", text="The health command does not exist in the image.", confidence=0.85
        )
    elif codes and codes[-1] == -1:
        cause = CauseText(id="health_check_timeout", text="The health command does not end in time.", confidence=0.8)
    else:
        cause = CauseText(
            id="health_check_fails", text="The service does not answer its health check as expected.", confidence=0.5
        )
    suggestion = SuggestionText(
        urgency=Urgency.IMMEDIATE,
        action="Read what the health check printed; it is not in the container's log.",
        rationale="The engine keeps the output of the last five probes.",
        check="docker inspect -f '{{json .State.Health}}' {name}",
    )
    return Advice(causes=(cause,), suggestions=(suggestion,))


RULE = SymptomRule(
    type=SymptomType.UNHEALTHY,
    states=RUNNING,
    needs=("health",),
    judge=_judge,
    advise=_advise,
    description="It runs and its health check fails; a stopped container's health is frozen and means nothing.",
    source="docs/symptoms.md#unhealthy; a stopped container keeps its health, frozen (engine 20.10)",
)
