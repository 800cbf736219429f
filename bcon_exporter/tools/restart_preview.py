"""restart_service: is denied, and says what a restart would do and whether it would help. Reads only."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.diagnosis.restart_help import RestartHelp, judge_restart
from bcon_exporter.engine import Wants
from bcon_exporter.errors import ContainerNotFoundError, InvalidInputError, PermissionDeniedError
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HostSnapshot
from bcon_exporter.model.quantities import show_count
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.model.restart_preview import (
    Instead,
    RestartedContainer,
    RestartEffects,
    RestartPreview,
    RestartServiceInput,
)
from bcon_exporter.stages import EXPERIMENTAL
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.fresh_snapshot import observe
from bcon_exporter.tools.tool import Tool

DENIED = "bcon-exporter changes nothing on a host, so it restarts nothing"
_UNIT = ".service"
_STOP_SIGNAL = "SIGTERM"
_STOP_SECONDS = 10.0
"""What the engine takes where nothing is said."""
_UP = (ContainerState.RUNNING, ContainerState.PAUSED, ContainerState.RESTARTING)
_GONE = (ContainerState.REMOVING, ContainerState.DEAD)
_NAMED_AT_MOST = 3


def restart_service(context: Context, request: RestartServiceInput) -> NoReturn:
    """Say what a restart would do; always denied.

    Raises:
        PermissionDeniedError: Always; `details` are a RestartPreview.
        ContainerNotFoundError, InvalidInputError: There is no such container or service, or several.
        BconError: The host could not be read.
    """
    preview = preview_restart(context, request.service)
    msg = f"{DENIED}. It would {preview.would}. {_judgement(preview)}"
    raise PermissionDeniedError(msg, preview.model_dump(mode="json"))


def _judgement(preview: RestartPreview) -> str:
    words = {True: "It would help", False: "It would not help", None: "It may help or not"}
    return f"{words[preview.helps]}: {preview.why}."


def preview_restart(context: Context, service: str) -> RestartPreview:
    """Return what a restart would do and whether it would help; raises as `restart_service` does."""
    wants = Wants(logs=context.policy.use_logs, usage=True, config=True, wait_for_usage=context.one_shot)
    wants = replace(wants, log_window_seconds=context.thresholds.log_window_seconds)
    snapshot = observe(context, wants)
    chosen = _choose(context, service, snapshot)
    report, _ = diagnose_host(snapshot, context.thresholds, context.catalogue, policy=context.policy)
    reports = {one.container_id: one for one in report.reports}
    judged = [(facts, _judge(facts, reports.get(facts.short_id))) for facts in chosen]
    told = _sum_up([one for _, one in judged])
    effects = _find_effects(chosen, snapshot)
    return RestartPreview(
        would=_tell(effects),
        effects=effects,
        helps=told.helps,
        why=told.why,
        command=("docker", "restart", *(facts.name for facts in chosen)),
        instead=Instead(tool="diagnose_container", arguments={"container_id": told.peer or chosen[0].name}),
    )


def _choose(context: Context, service: str, snapshot: HostSnapshot) -> tuple[ContainerFacts, ...]:
    """Return a container, or all of a Compose service."""
    name = service.removesuffix(_UNIT)
    try:
        full_id = context.host.resolve(name)
    except ContainerNotFoundError as error:
        found = [
            facts
            for facts in snapshot.containers
            if facts.compose is not None and facts.compose.service == name and facts.compose.is_replica
        ]
        projects = sorted({facts.compose.project for facts in found if facts.compose is not None})
        if not found:
            raise
        if len(projects) > 1:
            names = sorted(facts.name for facts in found)
            msg = f"several projects have a service {name} ({', '.join(projects)}): name a container"
            raise InvalidInputError(msg, {"service": name, "projects": projects, "containers": names}) from error
        return tuple(sorted(found, key=lambda facts: facts.name))
    for facts in snapshot.containers:
        if facts.id == full_id:
            return (facts,)
    msg = f"container {name} was removed a moment ago"
    raise ContainerNotFoundError(msg, {"container_id": name, "near_matches": ()})


def _judge(facts: ContainerFacts, report: DiagnosisReport | None) -> RestartHelp:
    if report is None:
        return RestartHelp(helps=None, why=f"{facts.name} is left out of the diagnosis, so its state is not judged")
    return judge_restart(facts, report)


def _sum_up(judged: Sequence[RestartHelp]) -> RestartHelp:
    """Return what holds of all; of several it is undecided where they differ."""
    answers = {one.helps for one in judged}
    reasons = list(dict.fromkeys(one.why for one in judged))
    more = len(reasons) - _NAMED_AT_MOST
    why = "; ".join(reasons[:_NAMED_AT_MOST]) + (f"; and {show_count(more, 'other')}" if more > 0 else "")
    peer = next((one.peer for one in judged if one.peer is not None), None)
    return RestartHelp(helps=answers.pop() if len(answers) == 1 else None, why=why, peer=peer)


def _find_effects(chosen: Sequence[ContainerFacts], snapshot: HostSnapshot) -> RestartEffects:
    ids = {facts.id for facts in chosen}
    others = [facts for facts in snapshot.containers if facts.id not in ids]
    owners = {f"container:{key}" for facts in chosen for key in (facts.id, facts.name)}
    services = {(facts.compose.project, facts.compose.service) for facts in chosen if facts.compose is not None}
    return RestartEffects(
        containers=tuple(map(_describe, chosen)),
        away=tuple(facts.name for facts in chosen if facts.is_running),
        loses_network=tuple(
            sorted(
                facts.name
                for facts in others
                if facts.is_running and facts.wiring is not None and facts.wiring.network_mode in owners
            )
        ),
        depending=tuple(sorted(facts.name for facts in others if _depends_on(facts, services))),
    )


def _depends_on(facts: ContainerFacts, services: set[tuple[str, str]]) -> bool:
    claim = facts.compose
    if claim is None or not claim.depends_on:
        return False
    names = {part.strip().partition(":")[0] for part in claim.depends_on.split(",")}
    return any((claim.project, name) in services for name in names)


def _describe(facts: ContainerFacts) -> RestartedContainer:
    is_up = facts.state in _UP
    fields = facts.config.fields if facts.config is not None else {}
    grace = fields.get("stop_grace_period")
    seconds = float(grace.shown.removesuffix("s")) if grace is not None else _STOP_SECONDS
    return RestartedContainer(
        name=facts.name,
        container_id=facts.short_id,
        state=facts.state,
        action="none" if facts.state in _GONE else "restart" if is_up else "start",
        image=facts.image,
        image_id=facts.image_id.removeprefix("sha256:")[:12] if facts.image_id else None,
        stop_signal=(facts.stop_signal or _STOP_SIGNAL) if is_up else None,
        stop_within_seconds=seconds if is_up else None,
        loses=tuple(mount.target for mount in facts.mounts if mount.type == "tmpfs"),
    )


def _tell(effects: RestartEffects) -> str:
    stopped = [one for one in effects.containers if one.action == "restart"]
    started = [one for one in effects.containers if one.action == "start"]
    parts = [
        f"stop {one.name} ({one.stop_signal}, killed after {one.stop_within_seconds:g} s) and start it again"
        for one in stopped[:_NAMED_AT_MOST]
    ]
    parts += [f"restart {show_count(len(stopped) - _NAMED_AT_MOST, 'more')}"] if len(stopped) > _NAMED_AT_MOST else []
    parts += [f"start {', '.join(one.name for one in started)}"] if started else []
    if not parts:
        return "do nothing: the engine starts no container that is being removed"
    text = "; ".join(parts) + "; id, image, configuration and volumes stay"
    if effects.loses_network:
        text += f"; {', '.join(effects.loses_network)} would have no network until restarted too"
    return text


RESTART_SERVICE = Tool(
    "restart_service",
    "Never restarts: its refusal says what a restart would do, and whether it would help.",
    RestartServiceInput,
    RestartPreview,
    restart_service,
    toolset="agents",
    stage=EXPERIMENTAL,
)
