"""disk_pressure: the log reports a full, read-only or over-quota disk, or a file system it writes to is nearly full."""

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.log_rule import LOG_AGES, judge_log, log_is_relevant
from bcon_exporter.diagnosis.rule import STARTED_ONCE, Advice, Case, Hysteresis, SymptomRule, Verdict
from bcon_exporter.diagnosis.usage_in_words import in_bytes, in_percent
from bcon_exporter.model.container_facts import DiskFacts
from bcon_exporter.model.findings import Severity, Symptom, SymptomType
from bcon_exporter.model.quantities import show_count

DISK = SymptomType.DISK_PRESSURE


def _judge(case: Case) -> Verdict:
    by_log = judge_log(case, DISK, Severity.ERROR, "disk failure")
    full = _full_disks(case)
    if isinstance(by_log, Symptom):
        return by_log.model_copy(update={"measured_now": bool(full)})
    if not full:
        return by_log
    worst = max(full, key=lambda disk: disk.used_ratio)
    description = f"{worst.path} is {in_percent(worst.used_ratio)} full."
    evidence = (f"{disk.path}: {in_percent(disk.used_ratio)} used" for disk in full[:5])
    return case.symptom(DISK, Severity.ERROR, description, *evidence).model_copy(update={"measured_now": True})


def _full_disks(case: Case) -> list[DiskFacts]:
    """Return the nearly full file systems that the container writes to; none unless it runs."""
    disks = case.host.disks
    if not disks or not case.container.is_running:
        return []
    names = {case.container.id, case.container.short_id, case.container.name}
    limit = case.thresholds.disk_ratio
    return [disk for disk in disks if disk.used_ratio > limit and not names.isdisjoint(disk.containers)]


def _advise(case: Case) -> Advice:
    full = _full_disks(case)
    if not full:
        return Advice()
    worst = max(full, key=lambda disk: disk.used_ratio)
    engine = case.host.engine
    is_root = engine is not None and worst.path == engine.root_dir
    return Advice(causes=(known_cause("docker_root_full" if is_root else "volume_full", **_space_of(worst)),))


def _space_of(disk: DiskFacts) -> dict[str, str]:
    others = len(set(disk.containers)) - 1
    return {
        "used": in_percent(disk.used_ratio),
        "total": in_bytes(disk.total_bytes),
        "free": in_bytes(round(disk.total_bytes * (1 - disk.used_ratio))),
        "shared": f"; {show_count(others, 'more container')} write to it" if others > 0 else "",
    }


RULE = SymptomRule(
    type=DISK,
    hysteresis=Hysteresis.EVENT,
    threshold=lambda thresholds: thresholds.disk_ratio,
    decides=False,
    from_log=True,
    is_failure=False,
    states=STARTED_ONCE,
    applies=log_is_relevant,
    judge=_judge,
    advise=_advise,
    description="A signature of category disk in a log event that counts, or a file system of its mounts fuller than "
    "thresholds.disk_ratio.",
    conditions=(
        (
            "no space left, quota, read-only file system or used-up file watches in the log, or a file system of its "
            "mounts above {disk_ratio}",
            Severity.ERROR,
        ),
    ),
    ages=LOG_AGES,
    unknown_when="when the log could not be read and no file system is known to be full",
    source="docs/symptoms.md#disk_pressure",
)
