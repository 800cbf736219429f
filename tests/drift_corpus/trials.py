"""What comes of a change: the program's report beside the expectation and beside Compose's own plan, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bcon_exporter.errors import BconError
from bcon_exporter.model.findings import DriftType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bcon_exporter.model.facts import HostSnapshot
    from bcon_exporter.model.findings import ServiceDrift
    from bcon_exporter.model.reports import DriftReport
    from tests.drift_corpus.cases import Case, Change, Found
    from tests.drift_corpus.dry_run import Verdict
    from tests.drift_corpus.stacks import Corpus, Stack


def fits(found: tuple[Found, ...], expected: tuple[Found, ...]) -> bool:
    """Whether every difference is an expected one and the other way round; the field * stands for any one."""
    free = {(service, kind) for service, kind, field in expected if field == "*"}
    named = {one for one in expected if one[2] != "*"}
    rest = [one for one in found if one not in named]
    return named <= set(found) and sorted(one[:2] for one in rest) == sorted(free)


@dataclass(frozen=True)
class Trial:
    """One change, judged.

    Attributes:
        status, found, would: What the report says; `would` is service → the strongest action that it foretells.
        error: The code of the error instead of a report.
        plan: What Compose says that it would do: service → action; finished one-shots, which it always starts, aside.
        plan_error: Why Compose has no plan.
    """

    status: str | None
    found: tuple[Found, ...]
    would: Mapping[str, str]
    error: str | None
    plan: Mapping[str, str]
    plan_error: str | None


def try_change(corpus: Corpus, stack: Stack, change: Change, snapshot: HostSnapshot) -> Trial:
    """Judge a change of files and variables, and take it back."""
    stack.apply(change)
    try:
        return judge_change(corpus, stack, change, snapshot)
    finally:
        stack.restore_files()


def judge_change(corpus: Corpus, stack: Stack, change: Change, snapshot: HostSnapshot) -> Trial:
    """Judge a change that has been made."""
    report = corpus.judge(stack, snapshot, change.environment)
    verdict = stack.dry_run(change.environment)
    plan = plan_of(verdict, stack.case)
    if isinstance(report, BconError):
        return Trial(None, (), {}, str(report.code), plan, verdict.error)
    return Trial(str(report.status), found_in(report), actions_in(report), None, plan, verdict.error)


def found_in(report: DriftReport) -> tuple[Found, ...]:
    """Every difference as service, type and field."""
    return tuple(sorted(((one.service_name, str(one.drift_type), one.field) for one in report.differences), key=str))


def actions_in(report: DriftReport) -> dict[str, str]:
    """Service → what the report says that Compose would do about its containers; networks and volumes aside."""
    names = {"remove_orphan": "orphan"}
    order = ("recreate", "create", "start", "orphan")
    would: dict[str, str] = {}
    for one in report.differences:
        action = names.get(str(one.compose_would), str(one.compose_would))
        if str(one.drift_type) == "replica_mismatch" and action == "orphan":
            action = "remove"
        if action in ("nothing", "None") or _is_of_resource(one):
            continue
        known = would.get(one.service_name)
        if known is None or (action in order and order.index(action) < order.index(known)):
            would[one.service_name] = action
    return would


def _is_of_resource(difference: ServiceDrift) -> bool:
    return difference.drift_type is DriftType.CONFIG_MISMATCH and difference.container_name is None


def plan_of(verdict: Verdict, case: Case) -> dict[str, str]:
    """Compose's plan without the start of one-shots that have ended, which is no drift."""
    return {
        service: action
        for service, action in verdict.services.items()
        if not (action == "start" and service in case.finished)
    }
