"""high_memory: the working set is near the container's limit, or the host's memory where it has none."""

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.rule import RUNNING, Advice, Case, Measured, SymptomRule, Verdict, unknown
from bcon_exporter.diagnosis.usage_in_words import cause_of_growth, in_bytes, in_percent
from bcon_exporter.model.container_facts import ContainerFacts, UsageFacts
from bcon_exporter.model.findings import Severity, SymptomType


def _judge(case: Case) -> Verdict:
    usage, limit = case.container.usage, case.thresholds.memory_ratio
    ratio = held_ratio(usage) if usage is not None else None
    if usage is None or ratio is None or usage.stale:
        return unknown(case, SymptomType.HIGH_MEMORY, ("usage",))
    if ratio <= limit:
        return None
    bound = usage.memory_limit_bytes
    whole = f"its limit of {in_bytes(bound)}" if bound else "the host's memory; it has no limit of its own"
    description = f"Its working set is {in_percent(ratio)} of {whole}."
    without_cache = (usage.memory_usage_bytes or 0) - (usage.memory_cache_bytes or 0)
    evidence = (
        f"working set {in_bytes(without_cache)}, without page cache",
        f"threshold {in_percent(limit)}",
    )
    return case.symptom(SymptomType.HIGH_MEMORY, Severity.WARNING, description, *evidence)


def held_ratio(usage: UsageFacts) -> float | None:
    """Mean memory without page cache, as a share of what the container may use.

    A database reads its files again and again: those pages are active, and yet the kernel gives them up first.
    """
    if usage.memory_ratio is None or not usage.memory_usage_bytes or not usage.memory_cache_bytes:
        return usage.memory_ratio
    cached = min(usage.memory_cache_bytes / usage.memory_usage_bytes, 1.0)
    return usage.memory_ratio * (1 - cached)


def _advise(case: Case) -> Advice:
    near, by_design = known_cause("memory_near_limit"), known_cause("memory_by_design")
    growth = case.container.memory_growth
    if growth is not None:
        return Advice(causes=(cause_of_growth(growth), near))
    return Advice(causes=(near, by_design, known_cause("memory_leak.growing")))


def _memory_ratio(container: ContainerFacts) -> float | None:
    return held_ratio(container.usage) if container.usage else None


RULE = SymptomRule(
    type=SymptomType.HIGH_MEMORY,
    hysteresis=Measured(_memory_ratio),
    threshold=lambda thresholds: thresholds.memory_ratio,
    decides=False,
    from_log=False,
    is_failure=False,
    states=RUNNING,
    needs=("usage",),
    judge=_judge,
    advise=_advise,
    description="Mean working set, without page cache of any kind, is above thresholds.memory_ratio of the limit, or "
    "of the host's memory without one.",
    conditions=(("memory above {memory_ratio} of its limit, or of the host's memory without one", Severity.WARNING),),
    unknown_when="when memory could not be read, or is stale",
    source="docs/symptoms.md#high_memory",
)
