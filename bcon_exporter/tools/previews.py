"""What is never done here is previewed: what it would change, and whether it would help. Reads only.

Each preview follows what Docker was seen to do (20.10 and 28.5): which volumes a prune takes, which networks count as
unused, what `down` leaves, when an image is only untagged.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TypeVar

from bcon_exporter.compose import ResolvedDeployment
from bcon_exporter.deployments.check import make_plan
from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.diagnosis.restart_help import RestartHelp, judge_restart
from bcon_exporter.drift import find_projects
from bcon_exporter.engine import Wants
from bcon_exporter.errors import (
    BconError,
    ContainerNotFoundError,
    InvalidInputError,
    NotAvailableError,
    PermissionDeniedError,
)
from bcon_exporter.model.check_report import ServicePlan
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState, HostSnapshot
from bcon_exporter.model.deployment import DeploymentWords, WantedDeployment
from bcon_exporter.model.disk import StoredData, StoredImage, StoredVolume
from bcon_exporter.model.previews import (
    Action,
    AffectedContainer,
    Effects,
    Instead,
    Preview,
    RemovedImage,
    RemovedVolume,
    RestartServiceInput,
)
from bcon_exporter.model.quantities import show_count, show_size
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.secrets.normal_form import is_anonymous
from bcon_exporter.stages import EXPERIMENTAL
from bcon_exporter.tools.check import CHECK_WANTS, gather_around
from bcon_exporter.tools.containers import find_container
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.fresh_snapshot import hide_learned, observe
from bcon_exporter.tools.host_reads import members_of, read_stored, users_by_image, users_by_volume
from bcon_exporter.tools.tool import Tool

DENIED = "bcon-exporter changes nothing on a host, so it restarts nothing"
_UNIT = ".service"
_STOP_SIGNAL = "SIGTERM"
_STOP_SECONDS = 10.0
"""What the engine takes where nothing is said."""
_UP = (ContainerState.RUNNING, ContainerState.PAUSED, ContainerState.RESTARTING)
_GONE = (ContainerState.REMOVING, ContainerState.DEAD)
_NAMED_AT_MOST = 3
_CONFIG = Wants(logs=False, usage=False, config=True)
_STOPPED = (ContainerState.CREATED, ContainerState.EXITED, ContainerState.DEAD)
_PREDEFINED = ("bridge", "host", "none")
_ONLY_ANONYMOUS_FROM = (1, 42)
"""From this version of the API on `docker volume prune` leaves volumes that have a name."""
_OF_PODMAN = "which ones Podman takes is not known here"
_PRUNE_COMMANDS = {
    "containers": "container",
    "images": "image",
    "volumes": "volume",
    "networks": "network",
    "buildcache": "builder",
    "all": "system",
}


Known = TypeVar("Known")


@dataclass(frozen=True)
class Outcome:
    """What an operation would do.

    Attributes:
        instead: What to ask; None for what the operation itself names.
        words: Of its command: name in the table → words.
    """

    would: str
    effects: Effects | None = None
    helps: bool | None = None
    why: str = ""
    instead: Instead | None = None
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def restart_service(context: Context, request: RestartServiceInput) -> NoReturn:
    """Say what a restart would do; always denied.

    Raises:
        PermissionDeniedError: Always; `details` are a Preview.
        ContainerNotFoundError, InvalidInputError: There is no such container or service, or several.
        BconError: The host could not be read.
    """
    preview = preview_restart(context, request.service)
    msg = f"{DENIED}. It would {preview.would}. {_judgement(preview)}"
    raise PermissionDeniedError(msg, preview.model_dump(mode="json"))


def _judgement(preview: Preview) -> str:
    words = {True: "It would help", False: "It would not help", None: "It may help or not"}
    return f"{words[preview.helps]}: {preview.why}."


def preview_restart(context: Context, service: str) -> Preview:
    """Return what a restart would do and whether it would help; raises as `restart_service` does."""
    snapshot = observe(context, _judging(context))
    chosen = _choose(context, service, snapshot)
    outcome = _restart(context, snapshot, chosen)
    return Preview(
        would=outcome.would,
        effects=outcome.effects,
        helps=outcome.helps,
        why=outcome.why,
        command=("docker", "restart", *(facts.name for facts in chosen)) if context.tells_commands else (),
        instead=outcome.instead or _diagnose(chosen[0].name),
    )


def _judging(context: Context) -> Wants:
    wants = Wants(logs=context.policy.use_logs, usage=True, config=True, wait_for_usage=context.one_shot)
    return replace(wants, log_window_seconds=context.thresholds.log_window_seconds)


def _diagnose(container: str) -> Instead:
    return Instead(tool="diagnose_container", arguments={"container_id": container})


def _restart(context: Context, snapshot: HostSnapshot, chosen: Sequence[ContainerFacts]) -> Outcome:
    report, _ = diagnose_host(snapshot, context.thresholds, context.catalogue, policy=context.policy)
    reports = {one.container_id: one for one in report.reports}
    help_of_all = _sum_up([_judge(facts, reports.get(facts.short_id)) for facts in chosen])
    effects = _find_effects(chosen, snapshot)
    instead = _diagnose(help_of_all.peer or chosen[0].name)
    return Outcome(_tell(effects), effects, help_of_all.helps, help_of_all.why, instead)


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
    return (find_container(snapshot, full_id, name),)


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


def _find_effects(chosen: Sequence[ContainerFacts], snapshot: HostSnapshot) -> Effects:
    ids = {facts.id for facts in chosen}
    others = [facts for facts in snapshot.containers if facts.id not in ids]
    owners = {f"container:{key}" for facts in chosen for key in (facts.id, facts.name)}
    services = {(facts.compose.project, facts.compose.service) for facts in chosen if facts.compose is not None}
    return Effects(
        containers=tuple(_describe(facts) for facts in chosen),
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


def _describe(facts: ContainerFacts, action: Action | None = None) -> AffectedContainer:
    """Return what is done to a container; without an action it is restarted."""
    is_up = facts.state in _UP and action in (None, "stop", "remove", "recreate")
    fields = facts.config.fields if facts.config is not None else {}
    grace = fields.get("stop_grace_period")
    seconds = float(grace.shown.removesuffix("s")) if grace is not None else _STOP_SECONDS
    return AffectedContainer(
        name=facts.name,
        container_id=facts.short_id,
        state=facts.state,
        action=action or ("none" if facts.state in _GONE else "restart" if is_up else "start"),
        image=facts.image,
        image_id=facts.image_id.removeprefix("sha256:")[:12] if facts.image_id else None,
        stop_signal=(facts.stop_signal or _STOP_SIGNAL) if is_up else None,
        stop_within_seconds=seconds if is_up else None,
        loses=tuple(mount.target for mount in facts.mounts if mount.type == "tmpfs"),
    )


def _tell(effects: Effects) -> str:
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


def _read_one(context: Context, container: str, wants: Wants = _CONFIG) -> tuple[ContainerFacts, HostSnapshot]:
    """Return a container and all of the host; raises as `resolve` does, and where it is gone by now."""
    full_id = context.host.resolve(container)
    snapshot = observe(context, wants)
    return find_container(snapshot, full_id, container), snapshot


def _restart_container(context: Context, request: Any) -> Outcome:
    facts, snapshot = _read_one(context, request.container_id, _judging(context))
    return _restart(context, snapshot, (facts,))


def _start(context: Context, request: Any) -> Outcome:
    facts, snapshot = _read_one(context, request.container_id, _judging(context))
    if facts.state in _STOPPED and facts.state is not ContainerState.DEAD:
        restart = _restart(context, snapshot, (facts,))
        effects = _act(snapshot, (facts,), "start")
        return replace(restart, would=f"start {facts.name}; id, image, configuration and volumes stay", effects=effects)
    hint = "; `docker unpause` thaws it" if facts.state is ContainerState.PAUSED else ""
    return _refused(facts, f"it is {facts.state.value}{hint}")


def _refused(facts: ContainerFacts, why: str) -> Outcome:
    effects = Effects(containers=(_describe(facts, "none"),))
    return Outcome(f"do nothing to {facts.name}: {why}", effects, helps=False, why=why, instead=_diagnose(facts.name))


def _stop(context: Context, request: Any) -> Outcome:
    facts, snapshot = _read_one(context, request.container_id)
    if facts.state not in _UP:
        return _refused(facts, f"it is {facts.state.value}")
    removes = facts.removes_itself is True
    unsure = " unless it was made with --rm" if facts.removes_itself is None else ""
    effects = _act(snapshot, (facts,), "remove" if removes else "stop")
    if removes:
        effects = effects.model_copy(update={"volumes": _anonymous_volumes(snapshot, (facts,), {})})
    stays = "it is removed when it ends" if removes else f"it stays, with all that it wrote{unsure}"
    told = effects.containers[0]
    would = f"stop {facts.name} ({told.stop_signal}, killed after {told.stop_within_seconds:g} s); {stays}"
    again = facts.restart_policy == "always" and not removes
    why = "its policy always starts it again with the engine" if again else ""
    return Outcome(would + _tell_guests(effects), effects, why=why, instead=_diagnose(facts.name))


def _pause(context: Context, request: Any) -> Outcome:
    facts, snapshot = _read_one(context, request.container_id)
    if facts.state is not ContainerState.RUNNING:
        return _refused(facts, f"it is {facts.state.value}")
    effects = Effects(containers=(_describe(facts, "pause"),), away=(facts.name,))
    effects = effects.model_copy(update={"depending": _act(snapshot, (facts,), "pause").depending})
    would = f"freeze all processes of {facts.name}; it keeps its memory and answers nothing"
    return Outcome(would, effects, instead=_diagnose(facts.name))


def _resume(context: Context, request: Any) -> Outcome:
    facts, _ = _read_one(context, request.container_id)
    if facts.state is not ContainerState.PAUSED:
        return _refused(facts, f"it is {facts.state.value}, not paused")
    effects = Effects(containers=(_describe(facts, "resume"),))
    return Outcome(f"thaw {facts.name}", effects, helps=True, why="it is paused", instead=_diagnose(facts.name))


def _act(snapshot: HostSnapshot, chosen: Sequence[ContainerFacts], action: Action) -> Effects:
    """Return the effects of doing one thing to containers."""
    effects = _find_effects(chosen, snapshot)
    away = () if action == "start" else effects.away
    loses = () if action in ("start", "pause") else effects.loses_network
    containers = tuple(_describe(facts, action) for facts in chosen)
    return effects.model_copy(update={"containers": containers, "away": away, "loses_network": loses})


def _tell_guests(effects: Effects) -> str:
    return f"; {', '.join(effects.loses_network)} would have no network" if effects.loses_network else ""


def _anonymous_volumes(
    snapshot: HostSnapshot, removed: Sequence[ContainerFacts], sizes: Mapping[str, int | None]
) -> tuple[RemovedVolume, ...]:
    """Return the volumes without a name that go with containers: those that no other one mounts."""
    gone, users = {facts.name for facts in removed}, users_by_volume(snapshot)
    volumes = {mount.source for facts in removed for mount in facts.mounts if mount.type == "volume"}
    return tuple(
        RemovedVolume(name=name, size_bytes=sizes.get(name))
        for name in sorted(volumes)
        if is_anonymous(name) and gone.issuperset(users.get(name, ()))
    )


# ---- what nothing uses


def _prune(context: Context, request: Any) -> Outcome:
    target = request.prune_target
    snapshot = observe(context, _CONFIG)
    words = {"prune": ("docker", _PRUNE_COMMANDS[target], "prune")}
    if _is_podman(snapshot):
        return Outcome(f"remove what nothing uses; {_OF_PODMAN}", words=words)
    stored = read_stored(context, fresh=True) if target in ("images", "volumes", "buildcache", "all") else None
    stopped = [facts for facts in snapshot.containers if facts.state in _STOPPED]
    removed = stopped if target in ("containers", "all") else []
    effects = Effects(
        containers=tuple(_describe(facts, "remove") for facts in removed),
        networks=_unused_networks(snapshot) if target in ("networks", "all") else (),
        volumes=_unused_volumes(stored, snapshot) if target == "volumes" and stored is not None else (),
        images=_dangling_images(stored, snapshot, removed)
        if target in ("images", "all") and stored is not None
        else (),
        cache_bytes=stored.cache_free_bytes if target in ("buildcache", "all") and stored is not None else None,
    )
    sizes = [volume.size_bytes for volume in effects.volumes] + [image.size_bytes for image in effects.images]
    frees = sum(size or 0 for size in (*sizes, effects.cache_bytes))
    stays = "; volumes stay" if target == "all" else ""
    is_measured = target not in ("containers", "networks")
    why = f"it frees {show_size(frees)}, at most" if is_measured else ""
    if target == "volumes" and stored is not None:
        named = len(_list_unused_volumes(stored, named=True)) - len(effects.volumes)
        why += f"; a docker command older than 23.0 would take {named} more, which have a name" if named > 0 else ""
    return Outcome(
        f"{_tell_removals(effects)}{stays}",
        effects,
        helps=frees > 0 if is_measured else None,
        why=why,
        instead=Instead(tool="get_disk_usage"),
        words=words,
    )


def _is_podman(snapshot: HostSnapshot) -> bool:
    return snapshot.engine is not None and snapshot.engine.is_podman


def _known(part: Sequence[Known] | None, snapshot: HostSnapshot, name: str) -> Sequence[Known]:
    """Return what was read of the host.

    Raises:
        NotAvailableError: It was not: what nothing uses is unknown then.
    """
    if part is None:
        why = snapshot.unread.get(name, "they were not read")
        msg = f"what would be removed is unknown: the {name} of the host could not be read ({why})"
        raise NotAvailableError(msg, {"would_help": "asking again in a minute"})
    return part


def _tell_removals(effects: Effects) -> str:
    parts = [
        _tell_some("container", [one.name for one in effects.containers]),
        _tell_some("network", effects.networks),
        _tell_some("volume", [one.name for one in effects.volumes]),
        _tell_some("image", [one.name for one in effects.images]),
        f"up to {show_size(effects.cache_bytes)} of the build cache" if effects.cache_bytes else "",
    ]
    told = [part for part in parts if part]
    return f"remove {' and '.join(told)}" if told else "remove nothing"


def _tell_some(noun: str, names: Sequence[str]) -> str:
    shown = [name[:12] if is_anonymous(name) else name for name in names[:_NAMED_AT_MOST]]
    more = ", ..." if len(names) > _NAMED_AT_MOST else ""
    return f"{show_count(len(names), noun)} ({', '.join(shown)}{more})" if names else ""


def _unused_networks(snapshot: HostSnapshot, removed: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the networks without a container that runs; one that only stopped ones are to join counts as unused."""
    gone = frozenset(removed)
    used = {
        network.name
        for facts in snapshot.containers
        if facts.is_running and facts.name not in gone
        for network in facts.networks
    }
    return tuple(
        sorted(
            network.name
            for network in _known(snapshot.networks, snapshot, "networks")
            if network.name not in (*_PREDEFINED, *used) and network.driver != "overlay"
        )
    )


def _unused_volumes(stored: StoredData, snapshot: HostSnapshot) -> tuple[RemovedVolume, ...]:
    version = snapshot.engine.api_version if snapshot.engine is not None else ""
    only_anonymous = tuple(int(part) for part in version.split(".") if part.isdecimal()) >= _ONLY_ANONYMOUS_FROM
    labels = {volume.name: volume.labels for volume in snapshot.volumes or ()}
    return tuple(
        RemovedVolume(
            name=volume.name,
            size_bytes=volume.size_bytes,
            project=labels.get(volume.name, {}).get("com.docker.compose.project"),
        )
        for volume in _list_unused_volumes(stored, named=not only_anonymous)
    )


def _list_unused_volumes(stored: StoredData, *, named: bool) -> list[StoredVolume]:
    unused = (one for one in stored.volumes if one.containers == 0 and one.is_plain and (named or one.is_anonymous))
    return sorted(unused, key=lambda volume: volume.name)


def _dangling_images(
    stored: StoredData, snapshot: HostSnapshot, removed: Iterable[ContainerFacts]
) -> tuple[RemovedImage, ...]:
    gone = {facts.name for facts in removed}
    users = {image: names for image, names in users_by_image(snapshot).items() if not gone.issuperset(names)}
    return tuple(_remove_image(image) for image in stored.images if not image.tags and image.image_id not in users)


def _remove_image(image: StoredImage, *untagged: str, removed: bool = True) -> RemovedImage:
    own = max(0, (image.size_bytes or 0) - (image.shared_bytes or 0))
    return RemovedImage(
        name=image.name,
        image_id=image.image_id.removeprefix("sha256:")[:12],
        untagged=untagged,
        removed=removed,
        size_bytes=own if removed else 0,
    )


def _remove_by_reference(context: Context, request: Any) -> Outcome:
    """Return what `docker rmi` would do: refuse, take a tag away, or remove the image."""
    stored, snapshot = read_stored(context, fresh=True), observe(context, _CONFIG)
    if _is_podman(snapshot):
        return Outcome(f"remove an image; {_OF_PODMAN}")
    image, tag = _find_image(stored, request.image)
    users = [facts for facts in snapshot.containers if facts.image_id == image.image_id]
    has_children = any(other.parent_id == image.image_id for other in stored.images)
    runs = [facts.name for facts in users if facts.is_running]
    blocked = _find_block(request, image, tag, users, is_in_use=bool(runs), has_children=has_children)
    instead = Instead(tool="get_disk_usage")
    if blocked:
        return Outcome(f"do nothing: {blocked}", Effects(), helps=False, why=blocked, instead=instead)
    if tag is not None and (len(image.tags) > 1 or runs or has_children):
        effects = Effects(images=(_remove_image(image, tag, removed=False),))
        why = "the image stays: " + (
            "it has other tags" if len(image.tags) > 1 else "containers or other images need it"
        )
        return Outcome(f"take the tag {tag} away; {why}", effects, helps=False, why=why, instead=instead)
    effects = Effects(images=(_remove_image(image, *image.tags),))
    why = f"it frees {show_size(effects.images[0].size_bytes)}, at most"
    return Outcome(f"remove the image {image.name}", effects, helps=True, why=why, instead=instead)


def _find_block(
    request: Any,
    image: StoredImage,
    tag: str | None,
    users: Sequence[ContainerFacts],
    *,
    is_in_use: bool,
    has_children: bool,
) -> str:
    """Return why the engine would refuse to remove an image; "" where it would not."""
    names = ", ".join(sorted(facts.name for facts in users)[:_NAMED_AT_MOST])
    if tag is not None:
        is_last = len(image.tags) <= 1
        return (
            f"{names} is made of it, and the engine refuses without force"
            if users and is_last and not request.force
            else ""
        )
    if is_in_use or has_children:
        return f"{names or 'another image'} needs it, and the engine refuses even with force"
    if users and not request.force:
        return f"{names} is made of it, and the engine refuses without force"
    if len(image.tags) > 1 and not request.force:
        return f"it has {len(image.tags)} tags, and the engine refuses without force"
    return ""


def _find_image(stored: StoredData, reference: str) -> tuple[StoredImage, str | None]:
    """Return the image that a reference means, and its tag where it is one.

    Raises:
        InvalidInputError: There is none.
    """
    plain = reference.removeprefix("docker.io/").removeprefix("library/")
    tag = plain if ":" in plain.rpartition("/")[2] else f"{plain}:latest"
    for image in stored.images:
        if tag in image.tags:
            return image, tag
    short = reference.removeprefix("sha256:")
    by_id = [one for one in stored.images if one.image_id.removeprefix("sha256:").startswith(short)]
    if len(by_id) == 1:
        return by_id[0], None
    msg = "image: no image here has this tag or id" if not by_id else "image: several images begin with this id"
    raise InvalidInputError(msg, {"errors": [{"field": "image", "message": msg.partition(": ")[2]}]})


# ---- Compose projects


@dataclass(frozen=True)
class _Project:
    """A project that is to be changed.

    Attributes:
        members: Its containers, also single runs.
        wanted: What its files ask for; None where they cannot be read here, and `problem` says why.
        plan: What a plain `up` would do.
    """

    name: str
    snapshot: HostSnapshot
    members: tuple[ContainerFacts, ...]
    files: tuple[str, ...] = ()
    wanted: WantedDeployment | None = None
    plan: tuple[ServicePlan, ...] = ()
    problem: str = ""

    def words(self, *, needs_files: bool = False) -> dict[str, tuple[str, ...]]:
        """Return how a person calls Compose; without files it goes by the labels of what is there."""
        files = self.files if self.wanted is not None or needs_files else ()
        return {"compose": ("docker", "compose", "-p", self.name, *(word for file in files for word in ("-f", file)))}

    def chosen(self, service: str | None = None) -> tuple[ContainerFacts, ...]:
        """Return the containers of its services, as the files name them where these are known; no single runs."""
        known = None if self.wanted is None else {one.name for one in self.wanted.services if one.enabled}
        return tuple(
            facts
            for facts in self.members
            if facts.compose is not None
            and (known is None or facts.compose.service in known)
            and (service is None or facts.compose.service == service)
            and facts.compose.is_replica
        )


def _read_project(context: Context, name: str, wants: Wants = CHECK_WANTS, *, plans: bool = False) -> _Project:
    """Return a project with what its files ask for.

    Raises:
        ComposeFileNotFoundError: No container is of it.
    """
    snapshot = observe(context, wants)
    members = members_of(snapshot, name)
    running = next((one for one in find_projects(snapshot) if one.name == name), None)
    read = _Project(name, snapshot, members, running.config_files if running is not None else ())
    if running is None:
        return replace(read, problem="its containers name no Compose file")
    words = DeploymentWords(project_name=name, prefers_running=True)

    def resolve() -> ResolvedDeployment:
        return context.compose.resolve_deployment(words, snapshot.taken_at, (running,))

    try:
        resolved, snapshot = hide_learned(context, snapshot, resolve)
    except BconError as error:
        return replace(read, problem=context.secrets.hide(error.message))
    if resolved.deployment is None or resolved.refusal is not None:
        return replace(read, problem=resolved.problem or "Compose refuses its files")
    plan = make_plan(gather_around(context, snapshot, resolved, sees_paths=False)) if plans else ()
    read = replace(read, snapshot=snapshot, members=members_of(snapshot, name), plan=plan)
    return replace(read, wanted=resolved.deployment.wanted)


def _up(context: Context, request: Any) -> Outcome:
    project = _read_project(context, request.project, plans=True)
    words, instead = project.words(needs_files=True), Instead(tool="diagnose_all")
    if project.wanted is None:
        return Outcome(f"do what its files ask for, which cannot be read here: {project.problem}", words=words)
    return replace(_follow(project, project.plan), words=words, instead=instead)


_ACTION_OF: Mapping[str, Action] = {
    "recreate": "recreate",
    "restart": "restart",
    "start": "start",
}


def _follow(project: _Project, plan: Iterable[ServicePlan]) -> Outcome:
    containers: list[AffectedContainer] = []
    away: list[ContainerFacts] = []
    steps = {step.service: step for step in plan}
    for facts in project.chosen():
        step = steps.get(facts.compose.service if facts.compose is not None else "")
        action = _ACTION_OF.get(step.action) if step is not None else None
        if action is None or (action == "start" and facts.is_running):
            continue
        containers.append(_describe(facts, action))
        away += [facts] if action != "start" else []
    creates = tuple(step.service for step in steps.values() if step.action == "create")
    unknown = tuple(step.service for step in steps.values() if step.action in ("unknown", "remove"))
    orphans = [step.service for step in steps.values() if step.action == "orphan"]
    effects = _find_effects(away, project.snapshot) if away else Effects()
    effects = effects.model_copy(update={"containers": tuple(containers), "creates": creates, "unknown": unknown})
    parts = [
        f"{action} {', '.join(one.name for one in containers if one.action == action)}"
        for action in dict.fromkeys(one.action for one in containers)
    ]
    parts += [f"make containers of {', '.join(creates)}"] if creates else []
    told = " and ".join(parts) or "change nothing"
    told += f"; what it would do to {', '.join(unknown)} cannot be told" if unknown else ""
    told += f"; it leaves the orphans of {', '.join(orphans)}" if orphans else ""
    return Outcome(told, effects)


def _recreate(context: Context, request: Any) -> Outcome:
    project = _read_project(context, request.project, plans=True)
    if project.wanted is None:
        words = project.words(needs_files=True)
        return Outcome(f"do what its files ask for, which cannot be read here: {project.problem}", words=words)
    chosen = project.chosen(request.service)
    if request.service is not None and not chosen:
        members_of(project.snapshot, project.name, request.service)  # says which services there are
    present = {facts.compose.service for facts in chosen if facts.compose is not None}
    plan = [ServicePlan(service=name, action="recreate") for name in present]
    if request.service is None:
        plan += [step for step in project.plan if step.service not in present and step.action in ("create", "orphan")]
    told = _follow(project, plan)
    return replace(told, words=project.words(), instead=Instead(tool="diagnose_all"))


def _recreate_container(context: Context, request: Any) -> Outcome:
    facts, snapshot = _read_one(context, request.container_id)
    if facts.compose is None or facts.compose.config_hash is None:
        effects = _act(snapshot, (facts,), "recreate")
        would = f"remove {facts.name} and make it anew: Docker has no command for that, so its `docker run` is needed"
        return Outcome(would, effects, instead=_diagnose(facts.name))
    project = _read_project(context, facts.compose.project)
    service = facts.compose.service
    words = {
        "recreate": (
            *project.words(needs_files=True)["compose"],
            *("up", "-d", "--force-recreate", "--no-deps"),
            *(("--pull", "always") if request.pull else ()),
            service,
        )
    }
    chosen = project.chosen(service)
    told = _follow(project, [ServicePlan(service=service, action="recreate")]) if chosen else Outcome("change nothing")
    fetches = "; the image of now is fetched first, and may be another" if request.pull else ""
    return replace(told, would=f"{told.would}{fetches}", words=words, instead=_diagnose(facts.name))


def _restart_project(context: Context, request: Any) -> Outcome:
    project = _read_project(context, request.project, _judging(context))
    return replace(_restart(context, project.snapshot, project.chosen()), words=project.words())


def _down(context: Context, request: Any) -> Outcome:
    project = _read_project(context, request.project)
    snapshot, removed = project.snapshot, project.chosen()
    gone = {facts.name for facts in removed}
    effects = _act(snapshot, removed, "remove")
    effects = effects.model_copy(
        update={
            "networks": _networks_of(project, gone),
            "volumes": _volumes_of(context, project, removed) if request.remove_volumes else (),
        }
    )
    left = sorted(facts.name for facts in project.members if facts.name not in gone)
    kept = "" if request.remove_volumes else "; volumes stay"
    orphans = f"; it leaves {', '.join(left)}" if left else ""
    return Outcome(
        f"{_tell_removals(effects)}{kept}{orphans}{_tell_guests(effects)}",
        effects,
        words=project.words(),
        instead=Instead(tool="diagnose_all"),
    )


def _networks_of(project: _Project, gone: set[str]) -> tuple[str, ...]:
    """Return the networks of a project that nothing else holds."""
    if project.wanted is None:
        networks = _known(project.snapshot.networks, project.snapshot, "networks")
        own = {one.name for one in networks if one.labels.get("com.docker.compose.project") == project.name}
    else:
        own = {one.name for one in project.wanted.networks if not one.external}
    return tuple(name for name in _unused_networks(project.snapshot, gone) if name in own)


def _volumes_of(context: Context, project: _Project, removed: Sequence[ContainerFacts]) -> tuple[RemovedVolume, ...]:
    """Return the volumes that `-v` takes: the project's own, and those without a name of its containers."""
    try:
        sizes = {volume.name: volume.size_bytes for volume in read_stored(context).volumes}
    except BconError:
        sizes = {}
    users, gone = users_by_volume(project.snapshot), {facts.name for facts in removed}
    present = _known(project.snapshot.volumes, project.snapshot, "volumes")
    if project.wanted is None:
        own = {one.name for one in present if one.labels.get("com.docker.compose.project") == project.name}
    else:
        own = {one.name for one in project.wanted.volumes if not one.external}
    named = tuple(
        RemovedVolume(name=one.name, size_bytes=sizes.get(one.name), project=project.name)
        for one in sorted(present, key=lambda one: one.name)
        if one.name in own and gone.issuperset(users.get(one.name, ()))
    )
    return (*named, *_anonymous_volumes(project.snapshot, removed, sizes))


def _pull_of_container(context: Context, request: Any) -> Outcome:
    facts, _ = _read_one(context, request.container_id)
    return Outcome(
        f"fetch what {facts.image} stands for now; {facts.name} goes on with the image that it has",
        words={"image_of": (facts.image,)},
        instead=_diagnose(facts.name),
    )


PREVIEWS: Mapping[str, Callable[[Context, Any], Outcome]] = {
    "container:start": _start,
    "container:stop": _stop,
    "container:restart": _restart_container,
    "container:pause": _pause,
    "container:resume": _resume,
    "container:recreate": _recreate_container,
    "container:pull": _pull_of_container,
    "compose:up": _up,
    "compose:down": _down,
    "compose:restart": _restart_project,
    "compose:recreate": _recreate,
    "docker:prune": _prune,
    "docker:rmi": _remove_by_reference,
}
"""Key → what it would do. What is not here runs programs or fetches images: nobody can say what these do."""


RESTART_SERVICE = Tool(
    "restart_service",
    "Never restarts: its refusal says what a restart would do, and whether it would help.",
    RestartServiceInput,
    Preview,
    restart_service,
    toolset="agents",
    stage=EXPERIMENTAL,
)
