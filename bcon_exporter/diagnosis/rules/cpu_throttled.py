"""cpu_throttled: the container hits its CPU quota in many periods, though its use looks low."""

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.rule import RUNNING, Advice, Case, Measured, SymptomRule, Verdict, unknown
from bcon_exporter.diagnosis.usage_in_words import in_percent
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import Severity, SymptomType

THROTTLED = SymptomType.CPU_THROTTLED


def _judge(case: Case) -> Verdict:
    usage, limits = case.container.usage, case.container.limits
    if usage is not None and usage.throttled_ratio is None and (limits is None or limits.cpus is None):
        return None
    if usage is None or usage.throttled_ratio is None or usage.stale:
        return unknown(case, THROTTLED, ("usage",), "two samples of its throttling are needed")
    limit = case.thresholds.throttled_ratio
    if usage.throttled_ratio <= limit:
        return None
    quota = f" of {limits.cpus:g} CPUs" if limits is not None and limits.cpus else ""
    description = f"Its CPU quota{quota} held it back in {in_percent(usage.throttled_ratio)} of all periods."
    return case.symptom(THROTTLED, Severity.WARNING, description, f"threshold {in_percent(limit)}")


def _advise(_case: Case) -> Advice:
    return Advice(causes=(known_cause("cpu_limit_too_low"),))


def _throttled_ratio(container: ContainerFacts) -> float | None:
    return container.usage.throttled_ratio if container.usage else None


RULE = SymptomRule(
    type=THROTTLED,
    hysteresis=Measured(_throttled_ratio),
    threshold=lambda thresholds: thresholds.throttled_ratio,
    decides=False,
    from_log=False,
    is_failure=False,
    states=RUNNING,
    needs=("usage",),
    judge=_judge,
    advise=_advise,
    description="Throttled in more than thresholds.throttled_ratio of the CPU periods of the window.",
    conditions=(("held back by its CPU quota in more than {throttled_ratio} of all periods", Severity.WARNING),),
    unknown_when="with a quota and fewer than two samples",
    source="docs/symptoms.md#cpu_throttled; CPU percent looks low while most periods are throttled",
)
