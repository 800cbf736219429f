"""health_flapping: the health changes again and again between healthy and unhealthy."""

from datetime import timedelta

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.rule import RUNNING, Advice, Case, Hysteresis, SymptomRule, Verdict, missing_facts, unknown
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.lifecycle import HEALTH_EVENTS_KEPT

FLAPPING = SymptomType.HEALTH_FLAPPING
WINDOW = timedelta(hours=1)
COUNTED_AT_MOST = HEALTH_EVENTS_KEPT // 2
"""Changes that are surely counted: of more events the oldest are forgotten, and two may tell of one change."""


def _judge(case: Case) -> Verdict:
    container = case.container
    if container.health is None and not missing_facts(container, ("health",)):
        return None
    if container.lifecycle is None:
        return unknown(case, FLAPPING, ("lifecycle",))
    changes = [at for at in container.lifecycle.health_changes if case.now - at <= WINDOW]
    if len(changes) < case.thresholds.flap_count:
        return None
    at_least = "at least " if len(changes) >= COUNTED_AT_MOST else ""
    description = f"Its health changed {at_least}{len(changes)} times within the last hour."
    return case.symptom(FLAPPING, Severity.WARNING, description, *(f"{at:%H:%M:%S} UTC" for at in changes[-5:]))


def _advise(_case: Case) -> Advice:
    return Advice(causes=(known_cause("health_check_too_tight"), known_cause("service_overloaded")))


RULE = SymptomRule(
    type=FLAPPING,
    hysteresis=Hysteresis.EVENT,
    decides=False,
    from_log=False,
    is_failure=False,
    states=RUNNING,
    judge=_judge,
    advise=_advise,
    description="thresholds.flap_count changes between healthy and unhealthy or more within an hour.",
    conditions=(("{flap_count} changes between healthy and unhealthy within an hour", Severity.WARNING),),
    unknown_when="without history",
    source="docs/symptoms.md#health_flapping",
)
