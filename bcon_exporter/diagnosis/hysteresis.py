"""Keeps symptoms from flickering: a pure state machine, one step a scan.

- A usage symptom clears only after `clear_scans` scans in a row at least `clear_margin_ratio` below its threshold.
- An event-like symptom is shown for at least `hold_scans` scans and at least `hold_seconds`, whichever is longer,
  counted from when it was first shown. It is dropped at once when the container stops: its end then tells more; and
  after `hold_scans` when what showed it has recovered: retried with success, restarted on request.
- A symptom whose rule cannot be evaluated stays for `UNKNOWN_HOLD_SECONDS`: unknown is not healthy, nor ill for ever.
- A symptom of severity info is history; it ends a hold.
- A failure that can be read again and was not mended is as severe as it was first shown: age alone turns none down,
  until it is history.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from bcon_exporter.diagnosis.rule import Hysteresis, Measured, SymptomRule
from bcon_exporter.diagnosis.rules import RULE_OF
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.findings import Severity, Symptom, SymptomType
from bcon_exporter.model.hysteresis import Hold
from bcon_exporter.model.thresholds import Thresholds

UNKNOWN_HOLD_SECONDS = 600

Holds = Mapping[SymptomType, Hold]


class Step(NamedTuple):
    """The symptoms to show after a scan, and the holds for the next one."""

    symptoms: tuple[Symptom, ...]
    holds: Holds


def hold_symptoms(
    seen: tuple[Symptom, ...],
    unknown: Iterable[SymptomType],
    container: ContainerFacts,
    now: datetime,
    thresholds: Thresholds,
    before: Holds,
) -> Step:
    """Take one step for one container.

    Args:
        seen: What the rules say now.
        unknown: Symptoms whose rules could not be evaluated, or raised.
        container: Its facts, for the measured ratios.
        now: When the facts were read.
        thresholds: After the container's own labels.
        before: The holds of the last step.
    """
    seen = tuple(_as_severe_as_before(symptom, before) for symptom in seen)
    after = {symptom.type: _renew(symptom, before, now) for symptom in seen if symptom.severity is not Severity.INFO}
    present, unclear = {symptom.type for symptom in seen}, frozenset(unknown)
    kept: list[Symptom] = []
    for symptom_type, hold in before.items():
        if symptom_type in present:
            continue
        still = _keep(hold, container, now, thresholds, is_unknown=symptom_type in unclear)
        if still is not None:
            after[symptom_type] = still
            kept.append(_as_held(still, now, is_over=symptom_type not in unclear))
    if not kept:
        return Step(seen, after)
    order = list(SymptomType)
    return Step(tuple(sorted((*seen, *kept), key=lambda symptom: order.index(symptom.type))), after)


def keep_until_over(
    before: Holds, is_over: Callable[[SymptomType], bool], thresholds: Thresholds
) -> dict[SymptomType, Hold]:
    """Leave out the holds whose symptom was shown for enough scans and has recovered."""
    return {kind: hold for kind, hold in before.items() if hold.scans < thresholds.hold_scans or not is_over(kind)}


def _as_severe_as_before(symptom: Symptom, before: Holds) -> Symptom:
    earlier, rule = before.get(symptom.type), RULE_OF[symptom.type]
    if (
        earlier is None
        or symptom.severity is Severity.INFO
        or not rule.is_failure
        or rule.hysteresis is not Hysteresis.NONE
    ):
        return symptom
    worst = max(symptom.severity, earlier.symptom.severity, key=lambda severity: severity.rank)
    return symptom if worst is symptom.severity else symptom.model_copy(update={"severity": worst})


def _renew(symptom: Symptom, before: Holds, now: datetime) -> Hold:
    earlier = before.get(symptom.type)
    if earlier is None:
        return Hold(symptom, since=now, seen_at=now)
    return Hold(symptom, since=earlier.since, seen_at=now, scans=earlier.scans + 1)


def _keep(
    hold: Hold, container: ContainerFacts, now: datetime, thresholds: Thresholds, *, is_unknown: bool
) -> Hold | None:
    longer = replace(hold, scans=hold.scans + 1)
    if is_unknown:
        return longer if now - hold.seen_at <= timedelta(seconds=UNKNOWN_HOLD_SECONDS) else None
    if not container.is_running:
        return None
    rule = RULE_OF[hold.symptom.type]
    match rule.hysteresis:
        case Measured() as measured:
            return _keep_usage(longer, measured.ratio(container), rule, thresholds)
        case Hysteresis.EVENT:
            young = now - hold.since < timedelta(seconds=thresholds.hold_seconds)
            return longer if young or hold.scans < thresholds.hold_scans else None
        case Hysteresis.NONE:
            return None


def _keep_usage(hold: Hold, ratio: float | None, rule: SymptomRule, thresholds: Thresholds) -> Hold | None:
    if ratio is None or rule.threshold is None:
        return None
    if ratio > rule.threshold(thresholds) - thresholds.clear_margin_ratio + 1e-9:
        return replace(hold, scans_below=0)
    below = hold.scans_below + 1
    return None if below >= thresholds.clear_scans else replace(hold, scans_below=below)


def _as_held(hold: Hold, now: datetime, *, is_over: bool) -> Symptom:
    ago = max(0, round((now - hold.seen_at).total_seconds()))
    note = f"held: last seen {ago} s ago"
    return hold.symptom.model_copy(update={"evidence": (*hold.symptom.evidence, note), "is_held": is_over})
