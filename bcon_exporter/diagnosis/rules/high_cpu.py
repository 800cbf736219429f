"""high_cpu: the container uses most of the CPU that it may use."""

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.rule import RUNNING, Advice, Case, Measured, SymptomRule, Verdict, unknown
from bcon_exporter.diagnosis.usage_in_words import in_percent
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import Severity, SymptomType


def _judge(case: Case) -> Verdict:
    usage, limit = case.container.usage, case.thresholds.cpu_ratio
    if usage is None or usage.cpu_ratio is None or usage.stale:
        return unknown(case, SymptomType.HIGH_CPU, ("usage",), "two samples of its CPU use are needed")
    if usage.cpu_ratio <= limit:
        return None
    cpus = f" of its {usage.cpu_count:g} CPUs" if usage.cpu_count else ""
    description = f"It used {in_percent(usage.cpu_ratio)}{cpus} over the last {usage.window_seconds:.0f} s."
    return case.symptom(SymptomType.HIGH_CPU, Severity.WARNING, description, f"threshold {in_percent(limit)}")


def _advise(_case: Case) -> Advice:
    return Advice(causes=(known_cause("cpu_busy"), known_cause("cpu_limit_too_low.possible")))


def _cpu_ratio(container: ContainerFacts) -> float | None:
    return container.usage.cpu_ratio if container.usage else None


RULE = SymptomRule(
    type=SymptomType.HIGH_CPU,
    hysteresis=Measured(_cpu_ratio),
    threshold=lambda thresholds: thresholds.cpu_ratio,
    decides=False,
    from_log=False,
    is_failure=False,
    states=RUNNING,
    needs=("usage",),
    judge=_judge,
    advise=_advise,
    description="Mean CPU use over the window is above thresholds.cpu_ratio of the CPUs that it may use.",
    conditions=(
        ("CPU above {cpu_ratio} of what the container may use, mean of {usage_window_seconds}", Severity.WARNING),
    ),
    unknown_when="with fewer than two samples, or when usage is stale",
    source="docs/symptoms.md#high_cpu",
)
