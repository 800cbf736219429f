"""Whether a restart would help a container: what is behind its trouble, and what a restart leaves as it is. Pure.

A restart makes the process anew, in the same container: image, configuration, limits, networks and volumes stay.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from bcon_exporter.catalogue.causes import restart_effect_of
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import LikelyCause, Severity, Symptom, SymptomType
from bcon_exporter.model.quantities import show_size, show_times
from bcon_exporter.model.reports import DiagnosisReport

SURE = 0.5
"""A cause below this confidence decides nothing."""
SAME_END_TIMES = 2
"""Restarts that did not help, after which one more will not."""


@dataclass(frozen=True, slots=True)
class RestartHelp:
    """Whether a restart would help.

    Attributes:
        helps: True: what is wrong is gone after it, at least for a while. False: it would be the same again. None: it
            may help, the facts do not decide it.
        why: One sentence in our words.
        peer: Name of the other container that is to be looked at instead.
    """

    helps: bool | None
    why: str
    peer: str | None = None


_ENDS_AGAIN = "ends_again"
_HISTORY = frozenset((SymptomType.RESTART_LOOP, SymptomType.OOM_KILLED, SymptomType.EXIT_ERROR))


def judge_restart(facts: ContainerFacts, report: DiagnosisReport) -> RestartHelp:
    """Return whether a restart would help a container, by its facts and what the diagnosis says of it."""
    name = facts.name
    if facts.state in (ContainerState.REMOVING, ContainerState.DEAD):
        return RestartHelp(helps=False, why=f"{name} is {facts.state}, and the engine starts it no more")
    symptoms = [one for one in report.symptoms if one.severity.rank >= Severity.WARNING.rank]
    if not symptoms:
        return _judge_without_symptoms(facts, report)
    cause = _first_cause(report, symptoms)
    if report.root is not None and (cause is None or restart_effect_of(cause.id).helps is not True):
        return RestartHelp(helps=False, why=f"its trouble comes from {report.root}", peer=report.root)
    again = _ends_the_same(facts, symptoms)
    if again is not None and (cause is None or _is_no_other_reason(cause)):
        return RestartHelp(helps=False, why=f"{again}{_moved(facts)}")
    if cause is None:
        return RestartHelp(helps=None, why=f"no cause is known; {restart_effect_of(None).why}{_moved(facts)}")
    return _judge_cause(cause, facts)


def _judge_without_symptoms(facts: ContainerFacts, report: DiagnosisReport) -> RestartHelp:
    name = facts.name
    stopped = facts.lifecycle is not None and facts.lifecycle.stop_requested is True
    match facts.state:
        case ContainerState.CREATED:
            return RestartHelp(
                helps=True, why=f"{name} was never started, and {restart_effect_of('not_started_yet').why}"
            )
        case ContainerState.EXITED if stopped:
            return RestartHelp(helps=True, why=f"{name} was stopped on request, and a restart starts it again")
        case ContainerState.EXITED if facts.exit_code == 0:
            return RestartHelp(helps=False, why=f"{name} has done its work and ended with 0; a restart runs it again")
        case ContainerState.EXITED:
            return RestartHelp(
                helps=None, why=f"{name} ended with code {facts.exit_code}; {restart_effect_of(None).why}"
            )
        case ContainerState.PAUSED:
            return RestartHelp(helps=True, why=f"{name} is paused: {restart_effect_of('paused_by_hand').why}")
        case _ if report.is_unchecked:
            return RestartHelp(helps=None, why=f"it is not known whether {name} is well; {restart_effect_of(None).why}")
        case _:
            return RestartHelp(helps=False, why=f"nothing is seen wrong with {name}{_moved(facts)}")


def _first_cause(report: DiagnosisReport, symptoms: Iterable[Symptom]) -> LikelyCause | None:
    """Return the likeliest cause of what counts, if it is sure enough."""
    shown = {symptom.type for symptom in symptoms}
    for cause in report.likely_causes:
        if cause.confidence < SURE:
            break
        if not cause.related_symptoms or shown.intersection(cause.related_symptoms):
            return cause
    return None


def _judge_cause(cause: LikelyCause, facts: ContainerFacts) -> RestartHelp:
    told = cause.description.rstrip(".")
    peer = cause.peer if cause.id.startswith(("dependency_", "peer_")) else None
    effect = restart_effect_of(cause.id)
    if effect.helps is False:
        limit = f" of {show_size(facts.limits.memory_bytes)}" if _is_of_memory(cause, facts) and facts.limits else ""
        return RestartHelp(helps=False, why=f"{told}; {effect.why}{limit}{_moved(facts)}", peer=peer)
    if effect.helps:
        return RestartHelp(helps=True, why=f"{told}; {effect.why}")
    return RestartHelp(helps=None, why=f"{told}; {effect.why}{_moved(facts)}", peer=peer)


def _is_no_other_reason(cause: LikelyCause) -> bool:
    """Whether a cause says no better why a restart would not help than that it ends the same each time."""
    effect = restart_effect_of(cause.id)
    return effect.helps is not False or effect.id == _ENDS_AGAIN


def _is_of_memory(cause: LikelyCause, facts: ContainerFacts) -> bool:
    is_limited = facts.limits is not None and facts.limits.memory_bytes is not None
    return is_limited and cause.id in ("memory_limit_too_low", "memory_near_limit", "memory_by_design")


def _ends_the_same(facts: ContainerFacts, symptoms: Iterable[Symptom]) -> str | None:
    """Return that restarts were tried, and it ended the same way after each; None where that is not so."""
    past = facts.lifecycle
    if past is None or len(past.restarts) < SAME_END_TIMES or not any(one.type in _HISTORY for one in symptoms):
        return None
    ends = [end for end in past.exits if not end.requested and not end.shutdown][-SAME_END_TIMES - 1 :]
    codes = {end.exit_code for end in ends}
    if len(ends) < SAME_END_TIMES or len(codes) != 1:
        return None
    times = show_times(len(past.restarts))
    return f"its policy has restarted {facts.name} {times} in the last day, and it ended with code {codes.pop()} again"


def _moved(facts: ContainerFacts) -> str:
    """Return that its tag stands for another image by now."""
    now = facts.config.image_id_of_tag if facts.config is not None else None
    if now is None or facts.image_id is None or now == facts.image_id:
        return ""
    return f"; {facts.image} stands for another image by now, and a restart keeps the old one: recreate it instead"
