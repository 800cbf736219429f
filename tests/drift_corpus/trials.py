"""What comes of a change: the program's report beside the expectation and Compose's own plan, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bcon_exporter.errors import BconError
from bcon_exporter.model.findings import DriftType
from tests.drift_corpus.cases import Found

if TYPE_CHECKING:
    from bcon_exporter.model.container_facts import HostSnapshot
    from bcon_exporter.model.findings import ServiceDrift
    from bcon_exporter.model.reports import DriftReport
    from tests.drift_corpus.cases import Case, Change
    from tests.drift_corpus.dry_run import Verdict
    from tests.drift_corpus.stacks import Corpus, Stack

_STRONGEST_FIRST = ("recreate", "create", "start", "orphan", "remove", "nothing")
_MEANS_IT_TOO = {("recreate", "stop")}
"""A container whose network is made anew is first stopped: that is all that a dry run shows of its recreation."""


@dataclass(frozen=True)
class Trial:
    """One change, judged.

    Attributes:
        status, found: What the report says.
        would: Service → the strongest action that the report foretells; a service of which it foretells nothing for
            certain is absent.
        error: The code of the error instead of a report.
        plan: What Compose says that it would do: service → action; finished one-shots, which it always starts, aside.
            None when it was not asked, or has none because the files are broken.
        complaint: Why Compose has no plan.
    """

    status: str | None
    found: tuple[Found, ...]
    would: Mapping[str, str]
    error: str | None
    plan: Mapping[str, str] | None = None
    complaint: str | None = None


def try_change(corpus: Corpus, stack: Stack, change: Change, snapshot: HostSnapshot, *, ask: bool) -> Trial:
    """Judge a change of files and variables, and take it back; `ask` Compose for its plan too."""
    try:
        stack.apply(change)
        return judge_change(corpus, stack, change, snapshot, ask=ask)
    finally:
        stack.restore_files()


def judge_change(corpus: Corpus, stack: Stack, change: Change, snapshot: HostSnapshot, *, ask: bool) -> Trial:
    """Judge a change that has been made."""
    report = corpus.judge(stack, snapshot, change.environment)
    verdict = stack.dry_run(change.environment) if ask else None
    plan = plan_of(verdict, stack.case) if verdict else None
    complaint = verdict.error if verdict else None
    if isinstance(report, BconError):
        return Trial(None, (), {}, str(report.code), plan, complaint)
    return Trial(str(report.status), found_in(report), actions_in(report), None, plan, complaint)


def fits(found: tuple[Found, ...], expected: tuple[Found, ...]) -> bool:
    """Whether every difference is an expected one and the other way round; the field * stands for any, one or more."""
    free = {(service, kind) for service, kind, field in expected if field == "*"}
    named = {one for one in expected if one[2] != "*"}
    return named <= set(found) and {one[:2] for one in found if one not in named} == free


def contradictions(trial: Trial, change: Change) -> list[str]:
    """Every service of which the report foretells something else than what Compose would do."""
    wrong = []
    for service, action in trial.would.items():
        planned = change.up.get(service, "nothing")
        if action != planned and (action, planned) not in _MEANS_IT_TOO:
            wrong.append(f"{service}: the report says {action}, Compose would {planned}")
    return wrong


def found_in(report: DriftReport) -> tuple[Found, ...]:
    """Every difference as service, type and field."""
    return tuple(sorted(((one.service_name, str(one.drift_type), one.field) for one in report.differences), key=str))


def actions_in(report: DriftReport) -> dict[str, str]:
    """Service → what the report says that Compose would do about its containers; networks and volumes aside."""
    said: dict[str, set[str]] = {}
    for one in report.differences:
        if one.compose_would is not None and not _is_of_resource(one):
            said.setdefault(one.service_name, set()).add(_action(one))
    return {service: next(one for one in _STRONGEST_FIRST if one in actions) for service, actions in said.items()}


def _action(difference: ServiceDrift) -> str:
    if difference.compose_would != "remove_orphan":
        return str(difference.compose_would)
    return "remove" if difference.drift_type is DriftType.REPLICA_MISMATCH else "orphan"


def _is_of_resource(difference: ServiceDrift) -> bool:
    return difference.drift_type is DriftType.CONFIG_MISMATCH and difference.container_name is None


def plan_of(verdict: Verdict, case: Case) -> dict[str, str]:
    """Compose's plan without the start of one-shots that have ended, which is no drift."""
    return {
        service: action
        for service, action in verdict.services.items()
        if not (action == "start" and service in case.finished)
    }
