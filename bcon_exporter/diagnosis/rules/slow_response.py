"""slow_response: health probes near their time-out, or slow queries and upstream time-outs in the log."""

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.log_rule import judge_log, log_is_relevant
from bcon_exporter.diagnosis.rule import STARTED_ONCE, Advice, Case, Hysteresis, SymptomRule, Verdict
from bcon_exporter.model.container_facts import Probe
from bcon_exporter.model.findings import Severity, Symptom, SymptomType

SLOW = SymptomType.SLOW_RESPONSE
PROBES = 3


def _judge(case: Case) -> Verdict:
    slow = _slow_probes(case)
    if slow:
        return _by_probes(case, slow)
    return judge_log(case, SLOW, Severity.WARNING, "slow answer")


def _slow_probes(case: Case) -> list[Probe]:
    """Return the newest probes that took too long, if most of the newest did."""
    health = case.container.health
    if not case.is_running or health is None or not health.timeout_seconds:
        return []
    newest = health.probes[-PROBES:]
    limit = case.thresholds.slow_probe_ratio * health.timeout_seconds
    slow = [probe for probe in newest if seconds_of(probe) > limit]
    return slow if len(slow) * 2 > len(newest) else []


def _by_probes(case: Case, slow: list[Probe]) -> Symptom:
    health = case.container.health
    timeout = health.timeout_seconds if health is not None else None
    description = f"Its health probe took {seconds_of(slow[-1]):.1f} s; {timeout:g} s are allowed."
    return case.symptom(SLOW, Severity.WARNING, description, *(f"probe took {seconds_of(p):.1f} s" for p in slow))


def seconds_of(probe: Probe) -> float:
    """Return how many seconds a probe took."""
    return (probe.ended_at - probe.started_at).total_seconds()


def _advise(case: Case) -> Advice:
    if not _slow_probes(case):
        return Advice()
    return Advice(causes=(known_cause("slow_health_probe"), known_cause("too_little_cpu")))


RULE = SymptomRule(
    type=SLOW,
    hysteresis=Hysteresis.EVENT,
    threshold=lambda thresholds: thresholds.slow_probe_ratio,
    decides=False,
    from_log=True,
    is_failure=False,
    states=STARTED_ONCE,
    applies=log_is_relevant,
    judge=_judge,
    advise=_advise,
    description="Most of the newest health probes take longer than thresholds.slow_probe_ratio of their time-out, or a "
    "signature of category slow stands in a log event that counts.",
    conditions=(
        (
            "health probes above {slow_probe_ratio} of their time-out, slow-query or slow-upstream messages",
            Severity.WARNING,
        ),
    ),
    unknown_when="when the log could not be read and the probes are quick",
    source="docs/symptoms.md#slow_response",
)
