"""paused: the container's processes are frozen."""

from datetime import timedelta

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.rule import PAUSED, Advice, Case, Hysteresis, SymptomRule, Verdict, unknown
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.quantities import show_duration


def _judge(case: Case) -> Verdict:
    since = case.container.lifecycle.paused_at if case.container.lifecycle is not None else None
    allowed = case.thresholds.paused_seconds
    if since is None and allowed > 0:
        return unknown(case, SymptomType.PAUSED, ("lifecycle",), "history does not tell since when it is paused")
    if since is not None and case.now - since < timedelta(seconds=allowed):
        return None
    when = "" if since is None else f" for {show_duration((case.now - since).total_seconds())}"
    return case.symptom(
        SymptomType.PAUSED, Severity.WARNING, f"It is paused{when}: it does nothing and answers nobody."
    )


def _advise(_case: Case) -> Advice:
    return Advice(causes=(known_cause("paused_by_hand"),))


RULE = SymptomRule(
    type=SymptomType.PAUSED,
    hysteresis=Hysteresis.NONE,
    decides=False,
    from_log=False,
    is_failure=False,
    states=PAUSED,
    judge=_judge,
    advise=_advise,
    description="State paused for at least thresholds.paused_seconds.",
    conditions=(("paused", Severity.WARNING),),
    unknown_when="when `paused_seconds` is above 0 and the start of the pause is unknown",
    source="docs/symptoms.md#paused",
)
