"""disk_pressure: the log reports a full, read-only or over-quota disk, or a file system it writes to is nearly full."""

from bcon_exporter.diagnosis.log_symptom import judge_log, log_counts
from bcon_exporter.diagnosis.numbers import in_percent
from bcon_exporter.diagnosis.rule import STARTED_ONCE, Advice, Case, SymptomRule, Verdict
from bcon_exporter.model.facts import DiskFacts
from bcon_exporter.model.findings import Severity, Symptom, SymptomType, Urgency
from bcon_exporter.model.signatures import CauseText, SuggestionText

DISK = SymptomType.DISK_PRESSURE


def _judge(case: Case) -> Verdict:
    by_log = judge_log(case, DISK, Severity.ERROR, "disk failure")
    if isinstance(by_log, Symptom):
        return by_log
    full = _full_disks(case)
    if not full:
        return by_log
    worst = max(full, key=lambda disk: disk.used_ratio)
    description = f"{worst.path} is {in_percent(worst.used_ratio)} full."
    evidence = (f"{disk.path}: {in_percent(disk.used_ratio)} used" for disk in full[:5])
    return case.symptom(DISK, Severity.ERROR, description, *evidence)


def _full_disks(case: Case) -> list[DiskFacts]:
    """The nearly full file systems that this container writes to; only while it runs."""
    disks = case.host.disks
    if not disks or not case.container.is_running:
        return []
    names = {case.container.id, case.container.short_id, case.container.name}
    limit = case.thresholds.disk_ratio
    return [disk for disk in disks if disk.used_ratio > limit and not names.isdisjoint(disk.containers)]


def _advise(case: Case) -> Advice:
    if not _full_disks(case):
        return Advice()
    return Advice(
        causes=(CauseText(id="volume_full", text="A file system that it writes to is nearly full.", confidence=0.8),),
        suggestions=(
            SuggestionText(
                urgency=Urgency.IMMEDIATE,
                action="Free or enlarge the file system before writes fail.",
                rationale="Databases stop or lose data on a full disk.",
                check="df -h",
            ),
        ),
    )


RULE = SymptomRule(
    type=DISK,
    states=STARTED_ONCE,
    applies=log_counts,
    judge=_judge,
    advise=_advise,
    description="A signature of category disk in a log event that counts, or a file system of its mounts fuller than "
    "thresholds.disk_ratio.",
    source="docs/symptoms.md#disk_pressure",
)
