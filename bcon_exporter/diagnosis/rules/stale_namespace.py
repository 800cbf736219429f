"""stale_namespace: it shares the network, IPC or PID namespace of another container, of an earlier start of it."""

from datetime import timedelta
from typing import NamedTuple

from bcon_exporter.catalogue.causes import known_cause, known_step
from bcon_exporter.diagnosis.peers import SAME_START_SECONDS
from bcon_exporter.diagnosis.rule import RUNNING, Advice, Case, Hysteresis, SymptomRule, Verdict
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.quantities import show_time

_JOINED = "container:"
_NETWORK = "network"
_AWAY = frozenset({ContainerState.EXITED, ContainerState.DEAD, ContainerState.CREATED, ContainerState.RESTARTING})


class _Stale(NamedTuple):
    """A namespace that is not its owner's any more."""

    kind: str
    owner: ContainerFacts


def _has_lost_its_network(case: Case) -> bool:
    """Whether the container whose network it has joined is not on the host any more.

    Only Docker, asked for all of its containers, tells that: Podman hides the one that holds a pod together.
    """
    engine, wiring = case.host.engine, case.container.wiring
    if engine is None or engine.is_podman or case.host.partial or wiring is None:
        return False
    mode = wiring.network_mode
    return mode.startswith(_JOINED) and case.find_container(mode.removeprefix(_JOINED)) is None


def _judge(case: Case) -> Verdict:
    started = f"it was started at {show_time(case.container.started_at)}"
    if _has_lost_its_network(case):
        description = "It runs in the network of a container that was removed."
        return case.symptom(SymptomType.STALE_NAMESPACE, Severity.ERROR, description, started)
    stale = _find_stale(case)
    if not stale:
        return None
    first = stale[0]
    names = " and ".join(kind for kind, owner in stale if owner is first.owner)
    if first.owner.state in _AWAY:
        description = f"It runs in the {names} of {first.owner.name}, which does not run."
    else:
        description = (
            f"It runs in the {names} of an earlier start of {first.owner.name}: that one was started again after it."
        )
    evidence = [started]
    if first.owner.is_running:
        evidence.append(f"{first.owner.name} was started at {show_time(first.owner.started_at)}")
    return case.symptom(SymptomType.STALE_NAMESPACE, Severity.ERROR, description, *evidence)


def _find_stale(case: Case) -> tuple[_Stale, ...]:
    """Return the shared namespaces that are not their owner's any more.

    A network goes with its owner; an IPC namespace stays for those that have joined it, and a PID namespace ends them.
    """
    stale = []
    for kind, mode in _modes_of(case.container):
        owner = case.find_container(mode.removeprefix(_JOINED))
        if owner is None:
            continue
        is_away = kind == _NETWORK and owner.state in _AWAY
        if is_away or _is_younger(owner, case.container):
            stale.append(_Stale(kind, owner))
    return tuple(stale)


def _modes_of(container: ContainerFacts) -> tuple[tuple[str, str], ...]:
    wiring = container.wiring
    if wiring is None:
        return ()
    modes = ((_NETWORK, wiring.network_mode), ("IPC namespace", wiring.ipc_mode), ("PID namespace", wiring.pid_mode))
    return tuple((kind, mode) for kind, mode in modes if mode.startswith(_JOINED))


def _is_younger(owner: ContainerFacts, container: ContainerFacts) -> bool:
    """Whether the owner that runs now was started after the container that has joined it."""
    if not owner.is_running or owner.started_at is None or container.started_at is None:
        return False
    return owner.started_at > container.started_at + timedelta(seconds=SAME_START_SECONDS)


def _advise(case: Case) -> Advice:
    if _has_lost_its_network(case):
        cause = known_cause("namespace_owner_removed")
        return Advice(causes=(cause,), suggestions=(known_step("make_sharer_anew"),))
    stale = _find_stale(case)
    if not stale:
        return Advice()
    step = known_step("restart_sharer" if stale[0].owner.is_running else "run_namespace_owner")
    return Advice(causes=(known_cause("namespace_gone"),), suggestions=(step,))


RULE = SymptomRule(
    type=SymptomType.STALE_NAMESPACE,
    hysteresis=Hysteresis.NONE,
    decides=False,
    from_log=False,
    is_failure=False,
    states=RUNNING,
    judge=_judge,
    advise=_advise,
    description="Its network, IPC or PID mode is `container:OTHER`, and OTHER was started after it; of a network also: "
    "OTHER does not run, or was removed (Docker only).",
    conditions=(("it runs in the namespace of an earlier start of another container", Severity.ERROR),),
    unknown_when="never: where inspect failed, it is not known to share a namespace",
    source="docs/symptoms.md#stale_namespace; passteque/gluetun#641, docker/compose#8918",
)
