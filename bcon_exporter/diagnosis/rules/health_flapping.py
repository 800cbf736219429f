"""health_flapping: the health changes again and again between healthy and unhealthy."""

from datetime import timedelta

from bcon_exporter.diagnosis.rule import RUNNING, Advice, Case, Hysteresis, SymptomRule, Verdict, missing_facts, unknown
from bcon_exporter.model.findings import Severity, SymptomType, Urgency
from bcon_exporter.model.lifecycle import HEALTH_EVENTS_KEPT
from bcon_exporter.model.signatures import CauseText, SuggestionText

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
    return Advice(
        causes=(
            CauseText(
                id="health_check_too_tight", text="The probe's time-out or retries are too tight.", confidence=0.5
            ),
            CauseText(id="service_overloaded", text="The service is overloaded from time to time.", confidence=0.4),
        ),
        suggestions=(
            SuggestionText(
                urgency=Urgency.SHORT_TERM,
                action="Compare the times of the changes with its load and its log.",
                rationale="It used {cpu_facts}; a probe may take {health_timeout}. {memory_facts}.",
                check="docker inspect -f '{{json .State.Health}}' {name}",
            ),
        ),
    )


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
    causes=(
        "health_check_too_tight",
        "service_overloaded",
    ),
    source="docs/symptoms.md#health_flapping",
)
