"""starting: the health check has not succeeded once, long after the start period."""

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.finding import quote
from bcon_exporter.diagnosis.rule import RUNNING, Advice, Case, Hysteresis, SymptomRule, Verdict, unknown
from bcon_exporter.model.container_facts import HealthStatus
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.quantities import show_duration


def _judge(case: Case) -> Verdict:
    health, started = case.container.health, case.container.started_at
    if health is None or health.status is not HealthStatus.STARTING:
        return None
    if started is None:
        return unknown(case, SymptomType.STARTING, ("started_at",))
    age = (case.now - started).total_seconds()
    allowed = case.thresholds.starting_seconds + (health.start_period_seconds or 0)
    if age <= allowed:
        return None
    outputs = [probe.output.strip() for probe in health.probes if probe.output.strip()]
    description = f"It was started {show_duration(age)} ago and its health check has not succeeded yet."
    return case.symptom(SymptomType.STARTING, Severity.WARNING, description, *(quote(text) for text in outputs[-3:]))


def _advise(_case: Case) -> Advice:
    return Advice(causes=(known_cause("slow_start"), known_cause("waits_for_dependency")))


RULE = SymptomRule(
    type=SymptomType.STARTING,
    hysteresis=Hysteresis.NONE,
    decides=False,
    from_log=False,
    is_failure=False,
    states=RUNNING,
    needs=("health",),
    judge=_judge,
    advise=_advise,
    description="Health is starting for longer than thresholds.starting_seconds beyond the start period.",
    conditions=(("still starting {starting_seconds} after its start period", Severity.WARNING),),
    unknown_when="without a start time",
    source="docs/symptoms.md#starting",
)
