"""pids_limit: the container has nearly as many processes and threads as it may have."""

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.log_rule import events_showing, log_is_relevant, log_symptom
from bcon_exporter.diagnosis.rule import STARTED_ONCE, Advice, Case, Measured, SymptomRule, Verdict, unknown
from bcon_exporter.diagnosis.usage_in_words import in_percent
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import Severity, SymptomType

PIDS = SymptomType.PIDS_LIMIT


def pids_ratio(pids: int | None, limit: int | None) -> float | None:
    """Return the share of the limit in use; None where either is unknown."""
    return None if pids is None or not limit or limit < 0 else pids / limit


def _judge(case: Case) -> Verdict:
    usage, limits = case.container.usage, case.container.limits
    pids, limit = usage.pids if usage else None, limits.pids if limits else None
    ratio = pids_ratio(pids, limit)
    if ratio is not None and ratio > case.thresholds.pids_ratio:
        description = f"It has {pids} processes and threads of the {limit} that it may have ({in_percent(ratio)})."
        return case.symptom(PIDS, Severity.ERROR, description, f"threshold {in_percent(case.thresholds.pids_ratio)}")
    events = events_showing(case, PIDS)
    if events:
        return log_symptom(case, PIDS, Severity.ERROR, "failed process start", events)
    if case.is_running and limit and pids is None:
        return unknown(case, PIDS, ("usage",))
    return None


def _advise(_case: Case) -> Advice:
    return Advice(causes=(known_cause("pids_limit_reached"), known_cause("thread_leak")))


def _pids_ratio(container: ContainerFacts) -> float | None:
    usage, limits = container.usage, container.limits
    return pids_ratio(usage.pids if usage else None, limits.pids if limits else None)


RULE = SymptomRule(
    type=PIDS,
    hysteresis=Measured(_pids_ratio),
    threshold=lambda thresholds: thresholds.pids_ratio,
    decides=False,
    from_log=True,
    is_failure=False,
    states=STARTED_ONCE,
    applies=log_is_relevant,
    needs=("limits",),
    judge=_judge,
    advise=_advise,
    description="More processes than thresholds.pids_ratio of the pids limit, or a log event that says none may start.",
    conditions=(("more processes than {pids_ratio} of its pids limit, or none may start", Severity.ERROR),),
    unknown_when="with a limit and no number of processes",
    source="docs/symptoms.md#pids_limit",
)
