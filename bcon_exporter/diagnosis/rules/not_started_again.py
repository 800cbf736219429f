"""not_started_again: it ran until the engine or host went down, and nothing has started it since."""

from bcon_exporter.catalogue.causes import known_cause
from bcon_exporter.diagnosis.exit_codes import explain_exit
from bcon_exporter.diagnosis.last_exit import EndKind, is_wanted
from bcon_exporter.diagnosis.rule import Advice, Case, Hysteresis, SymptomRule, Verdict
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.exit_codes import CRASHED_HOST_CODE
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.quantities import show_time

_INFERRED = 0.8
_MADE_ANEW = ("com.docker.swarm.task.id", "io.kubernetes.pod.name")
"""Labels of orchestrators: they put a new container in the place of one that ended."""


def _judge(case: Case) -> Verdict:
    container, ending = case.container, case.ending
    if ending.kind is not EndKind.LEFT_DOWN or ending.at is None or _is_replaced(case):
        return None
    severity = Severity.INFO if ending.aged and not ending.certain else Severity.WARNING
    why = (
        f"its restart policy ({container.restart_policy}) starts it only after a failure"
        if is_wanted(container)
        else "it has no restart policy"
    )
    symptom = case.symptom(
        SymptomType.NOT_STARTED_AGAIN, severity, f"{_tell_end(case)}, and was not started again: {why}.", *_facts(case)
    )
    return symptom if ending.certain else symptom.model_copy(update={"confidence": _INFERRED})


def _is_replaced(case: Case) -> bool:
    """Whether an orchestrator makes another one in its place, or another container of its service and number runs."""
    own = case.container.compose
    if any(label in case.container.labels for label in _MADE_ANEW):
        return True
    return own is not None and any(_stands_in(container, case.container) for container in case.host.containers)


def _stands_in(container: ContainerFacts, for_whom: ContainerFacts) -> bool:
    one, other = container.compose, for_whom.compose
    if one is None or other is None or container.id == for_whom.id or not container.is_running:
        return False
    return (one.project, one.service, one.number) == (other.project, other.service, other.number)


def _tell_end(case: Case) -> str:
    ending, at = case.ending, show_time(case.ending.at)
    if ending.exit_code == CRASHED_HOST_CODE:  # the engine that came up found it dead: nothing tells when it ended
        return f"It went down with the engine or its host, before {at}"
    if ending.certain:
        return f"It ran until the engine stopped, at {at}"
    return f"It ended at {at}, most likely with the engine, which started again others that had ended with it"


def _facts(case: Case) -> tuple[str, ...]:
    started_at = case.host.engine_started_at
    came_up = () if started_at is None else (f"the engine came up at {show_time(started_at)}",)
    code = f"exit code {explain_exit(case.ending.exit_code or 0)}"
    return (code, f"restart policy {case.container.restart_policy or 'no'}", *came_up)


def _advise(case: Case) -> Advice:
    has_crashed = case.ending.exit_code == CRASHED_HOST_CODE
    return Advice(causes=(known_cause("engine_crashed" if has_crashed else "engine_stopped"),))


RULE = SymptomRule(
    type=SymptomType.NOT_STARTED_AGAIN,
    hysteresis=Hysteresis.NONE,
    decides=False,
    from_log=False,
    is_failure=False,
    states=frozenset({ContainerState.EXITED}),
    needs=("exit_code",),
    judge=_judge,
    advise=_advise,
    description="It ran until the engine or its host went down, and nothing has started it since: it has no restart "
    "policy, or one that starts it only after a failure. What was stopped before is none, nor what Swarm or Kubernetes "
    "make anew.",
    conditions=(("it ended with the engine or its host and was not started again", Severity.WARNING),),
    ages="info after thresholds.exit_age_seconds where no daemon was watching then",
    unknown_when="without an exit code",
    source="docs/symptoms.md#not_started_again; containers of many that do not come back after a reboot look well",
)
