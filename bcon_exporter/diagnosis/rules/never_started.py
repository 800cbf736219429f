"""never_started: the container was created and nobody started it."""

from datetime import timedelta

from bcon_exporter.diagnosis.numbers import in_seconds
from bcon_exporter.diagnosis.rule import Advice, Case, SymptomRule, Verdict
from bcon_exporter.model.facts import ContainerState
from bcon_exporter.model.findings import Severity, SymptomType, Urgency
from bcon_exporter.model.signatures import CauseText, SuggestionText


def _judge(case: Case) -> Verdict:
    container = case.container
    age = case.now - container.created_at
    if container.error or container.exit_code or age <= timedelta(seconds=case.thresholds.created_seconds):
        return None
    wanted = container.restart_policy not in (None, "", "no")
    old = age > timedelta(seconds=case.thresholds.exit_age_seconds) and not wanted
    description = f"It was created {in_seconds(age.total_seconds())} ago and never started."
    return case.symptom(SymptomType.NEVER_STARTED, Severity.INFO if old else Severity.WARNING, description)


def _advise(_case: Case) -> Advice:
    return Advice(
        causes=(
            CauseText(
                id="not_started_yet", text="A dependency it waits for failed, or it was only created.", confidence=0.6
            ),
        ),
        suggestions=(
            SuggestionText(
                urgency=Urgency.SHORT_TERM,
                action="See whether something it depends on failed; start it or take it away.",
                rationale="Compose leaves a service in this state when its dependency does not become ready.",
                check="docker ps -a --filter status=created",
            ),
        ),
    )


RULE = SymptomRule(
    type=SymptomType.NEVER_STARTED,
    states=frozenset({ContainerState.CREATED}),
    needs=("error", "exit_code"),
    judge=_judge,
    advise=_advise,
    description="State created for longer than thresholds.created_seconds, without an error.",
    source="docs/symptoms.md#never_started",
)
