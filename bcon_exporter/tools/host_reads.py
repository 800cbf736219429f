"""What Flux and Scout answer: reads of the host as it is, each a function of the context and the operation's input."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from bcon_exporter.diagnosis import diagnose_host
from bcon_exporter.drift import find_projects
from bcon_exporter.engine import Wants
from bcon_exporter.errors import BconError, ComposeFileNotFoundError, InvalidInputError, NotAvailableError
from bcon_exporter.model.config_text import ConfigText, ReadConfigInput
from bcon_exporter.model.container_facts import ContainerFacts, HostSnapshot, Mount
from bcon_exporter.model.disk import DiskReport, DiskUsageInput, StoredData
from bcon_exporter.model.findings import ServiceDrift
from bcon_exporter.model.host_reads import (
    ContainerDetails,
    FileDifference,
    FileRow,
    FileSystemRow,
    ImageRow,
    NetworkRow,
    NodeRow,
    OperationRows,
    ProjectLogEntry,
    ProjectLogs,
    ProjectRow,
    ServiceRow,
    VolumeRow,
)
from bcon_exporter.model.name_suggestions import did_you_mean, nearest_names
from bcon_exporter.model.quantities import show_size
from bcon_exporter.model.reports import ContainerInfo, ContainerLogs, ContainerStats, HealthCheck
from bcon_exporter.model.system_status import SystemStatusInput
from bcon_exporter.model.tool_inputs import ContainerInput, GetContainerLogsInput, HealthCheckInput, Nothing
from bcon_exporter.secrets.normal_form import is_anonymous
from bcon_exporter.tools.config_text import read_config
from bcon_exporter.tools.containers import get_container_stats, read_container
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.disk import ASKED_EVERY, get_disk_usage
from bcon_exporter.tools.drift import check_projects
from bcon_exporter.tools.exporter_status import health_check
from bcon_exporter.tools.fresh_snapshot import observe
from bcon_exporter.tools.host_views import HOST_STATS
from bcon_exporter.tools.listing import list_order, show_container
from bcon_exporter.tools.log_views import read_part
from bcon_exporter.tools.system import system_status
from bcon_exporter.tools.what_if import render_diff, show_lines

Answer = Callable[[Context, Any], Any]
"""What answers an operation; the second argument is its input, whose fields the table names."""

_LIST = Wants(logs=False, usage=False)
_CONFIG = Wants(logs=False, usage=False, config=True)
_LINES_OF_A_FILE = 5_000
_LINES_OF_EACH = 200
_MOST_LOGS = 50
_PROJECT_LABEL = "com.docker.compose.project"


def list_page(context: Context, rows: Iterable[Any], request: Any, **told: Any) -> OperationRows:
    """Return the page of a list that is asked for."""
    found = tuple(rows)
    shown = found[request.offset : request.offset + request.limit]
    return OperationRows(timestamp=context.now(), total=len(found), rows=shown, **told)


def _list_containers(context: Context, request: Any) -> OperationRows:
    label, equals, value = (request.label_filter or "").partition("=")
    found = [
        facts
        for facts in observe(context, _LIST).containers
        if request.state in ("all", facts.state.value)
        and _holds(facts.name, request.name_filter)
        and _holds(facts.image, request.image_filter)
        and (not label or (label in facts.labels and (not equals or facts.labels[label] == value)))
    ]
    return list_page(context, map(show_container, sorted(found, key=list_order)), request)


def _search_containers(context: Context, request: Any) -> OperationRows:
    def texts(facts: ContainerFacts) -> Iterable[str]:
        yield from (facts.name, facts.id, facts.image)
        yield from (f"{key}={value}" for key, value in facts.labels.items())

    found = [
        one for one in observe(context, _LIST).containers if any(_holds(text, request.query) for text in texts(one))
    ]
    return list_page(context, map(show_container, sorted(found, key=list_order)), request)


def _holds(text: str, part: str | None) -> bool:
    return part is None or part.casefold() in text.casefold()


def _show_logs(context: Context, request: Any) -> ContainerLogs:
    wanted = _log_input(request.container_id, request, stream=request.stream)
    return read_part(context, wanted, _finder(request.grep))


def _log_input(container: str, request: Any, **more: Any) -> GetContainerLogsInput:
    """Return the input of the log tool.

    Raises:
        InvalidInputError: since does not lie before until.
    """
    if request.since is not None and request.until is not None and request.since >= request.until:
        msg = "since must lie before until"
        raise InvalidInputError(msg, {"errors": [{"field": "since", "message": "must lie before until"}]})
    times = {"since": request.since, "until": request.until}
    return GetContainerLogsInput(container_id=container, tail=request.lines, **times, **more)


def _finder(text: str | None) -> Callable[[str], bool] | None:
    return None if text is None else lambda line: text in line


def _show_stats(context: Context, request: Any) -> tuple[ContainerStats, ...]:
    if request.container_id is not None:
        return (get_container_stats(context, ContainerInput(container_id=request.container_id)),)
    every: tuple[ContainerStats, ...] = HOST_STATS.run(context, Nothing())
    return every


def _inspect(context: Context, request: Any) -> ContainerInfo | ContainerDetails:
    facts, _ = read_container(context, request.container_id, _LIST if request.summary else _CONFIG)
    info = show_container(facts)
    if request.summary:
        return info
    fields = facts.config.fields if facts.config is not None else {}
    apart = ("command", "entrypoint")
    rest = {
        path: field.shown
        for path, field in sorted(fields.items())
        if path not in apart and not path.startswith(("environment.", "labels.", "volumes.", "networks."))
    }
    return ContainerDetails(
        container=info,
        image_id=facts.image_id,
        command=fields["command"].shown if "command" in fields else None,
        entrypoint=fields["entrypoint"].shown if "entrypoint" in fields else None,
        mounts=tuple(map(_tell_mount, facts.mounts)),
        networks=tuple(network.name for network in facts.networks),
        network_mode=facts.wiring.network_mode if facts.wiring is not None else None,
        limits=facts.limits,
        environment=tuple(sorted(p.removeprefix("environment.") for p in fields if p.startswith("environment."))),
        log_driver=facts.log_driver,
        stop_signal=facts.stop_signal,
        settings=rest,
    )


def _tell_mount(mount: Mount) -> str:
    read_only = ", read-only" if mount.read_only else ""
    return f"{mount.type} {mount.source} at {mount.target}{read_only}".replace("  ", " ")


def members_of(snapshot: HostSnapshot, project: str, service: str | None = None) -> tuple[ContainerFacts, ...]:
    """Return the containers of a project, or of one of its services.

    Raises:
        ComposeFileNotFoundError: No container is of this project.
        InvalidInputError: None of it is of this service.
    """
    known = [facts for facts in snapshot.containers if facts.compose is not None]
    found = tuple(facts for facts in known if facts.compose is not None and facts.compose.project == project)
    if not found:
        names = sorted({facts.compose.project for facts in known if facts.compose is not None})
        msg = f"no container here is of a Compose project of that name{did_you_mean(project, names)}"
        raise ComposeFileNotFoundError(msg, {"near_matches": nearest_names(project, names), "projects": names[:50]})
    if service is None:
        return found
    chosen = tuple(facts for facts in found if facts.compose is not None and facts.compose.service == service)
    if not chosen:
        services = sorted({facts.compose.service for facts in found if facts.compose is not None})
        msg = f"no container of {project} is of that service{did_you_mean(service, services)}"
        raise InvalidInputError(msg, {"near_matches": nearest_names(service, services)})
    return chosen


def _list_projects(context: Context, request: Any) -> OperationRows:
    snapshot = observe(context, _CONFIG)
    reports = {report.project_name: report for report in check_projects(context, snapshot).reports}
    members: dict[str, list[ContainerFacts]] = {name: [] for name in reports}
    for facts in snapshot.containers:
        if facts.compose is not None:
            members.setdefault(facts.compose.project, []).append(facts)
    rows = [
        ProjectRow(
            name=name,
            status=reports[name].status.value if name in reports else "unknown",
            containers=len(found),
            running=sum(facts.is_running for facts in found),
            config_files=reports[name].compose_files if name in reports else (),
        )
        for name, found in sorted(members.items())
        if _holds(name, request.name_filter)
    ]
    return list_page(context, rows, request)


def _show_project(context: Context, request: Any) -> OperationRows:
    """Return a project's containers with what the diagnosis and the comparison with its files say of each."""
    wants = Wants(logs=context.policy.use_logs, usage=True, config=True, wait_for_usage=context.one_shot)
    snapshot = observe(context, replace(wants, log_window_seconds=context.thresholds.log_window_seconds))
    members = members_of(snapshot, request.project)
    findings = check_projects(context, snapshot)
    drift = next((one for one in findings.reports if one.project_name == request.project), None)
    host, _ = diagnose_host(snapshot, context.thresholds, context.catalogue, policy=context.policy)
    reports = {report.container_id: report for report in host.reports}
    rows = []
    for facts in sorted(members, key=list_order):
        service = facts.compose.service if facts.compose is not None else ""
        report = reports.get(facts.short_id)
        differences = drift.differences if drift is not None else ()
        if not _holds(service, request.service_filter):
            continue
        rows.append(
            ServiceRow(
                service=service,
                container=facts.name,
                state=facts.state,
                health=facts.health.status if facts.health is not None and facts.is_running else None,
                status=report.status if report is not None else None,
                summary=report.summary if report is not None else None,
                differs=tuple(_tell_difference(one) for one in differences if _is_about(one, facts.name, service)),
            )
        )
    rank = {"critical": 0, "error": 1, "warning": 2}
    rows.sort(key=lambda row: rank.get(row.status or "", 3))
    summary = drift.summary if drift is not None else ""
    return list_page(context, rows, request, summary=summary, unread=_reasons(snapshot))


def _is_about(difference: ServiceDrift, container: str, service: str) -> bool:
    return difference.service_name == service and difference.container_name in (None, container)


def _tell_difference(difference: ServiceDrift) -> str:
    return f"{difference.drift_type.value}: {difference.field}" if difference.field else difference.drift_type.value


def _reasons(snapshot: HostSnapshot, *names: str) -> dict[str, str]:
    return {name: why for name, why in snapshot.unread.items() if not names or name in names}


def _show_project_logs(context: Context, request: Any) -> ProjectLogs:
    """Return the newest lines of a project's containers, merged by time."""
    members = members_of(observe(context, _LIST), request.project, request.service)
    entries: list[ProjectLogEntry] = []
    unread, truncated = {}, False
    for facts in members[:_MOST_LOGS]:
        try:
            logs = read_part(context, _log_input(facts.id, request), _finder(request.grep))
        except InvalidInputError as error:  # a driver that keeps nothing
            unread[facts.name] = error.message
            continue
        truncated = truncated or logs.truncated
        entries += [
            ProjectLogEntry(container=facts.name, timestamp=line.timestamp, stream=line.stream, message=line.message)
            for line in logs.entries
        ]
    unread |= {facts.name: f"only the first {_MOST_LOGS} containers are read" for facts in members[_MOST_LOGS:]}
    entries.sort(key=lambda entry: entry.timestamp or datetime.min.replace(tzinfo=UTC))
    newest = tuple(entries[-request.lines :])
    return ProjectLogs(project=request.project, entries=newest, lines=request.lines, truncated=truncated, unread=unread)


def read_stored(context: Context, *, fresh: bool = False) -> StoredData:
    """Return what the engine says of its disk: of the last minutes, or of now.

    Raises:
        BconError: It does not say.
    """
    known = context.memory.memory.disk
    is_young = known.asked_at is not None and context.now() - known.asked_at < ASKED_EVERY
    if known.stored is not None and is_young and not fresh and not _is_reduced(known.stored):
        return known.stored
    stored = context.host.read_stored_data(context.now())
    context.memory.keep_disk(stored, context.now())
    return stored


def _is_reduced(stored: StoredData) -> bool:
    """Whether it comes from the state file, which does not hold all of it."""
    return any(not image.image_id for image in stored.images)


def _list_images(context: Context, request: Any) -> OperationRows:
    stored, snapshot = read_stored(context), observe(context, _CONFIG)
    users = users_by_image(snapshot)
    rows = [
        ImageRow(
            name=image.name,
            image_id=image.image_id.removeprefix("sha256:")[:12] or None,
            tags=image.tags,
            size_bytes=image.size_bytes,
            containers=users.get(image.image_id, ()),
        )
        for image in stored.images
        if not (request.dangling_only and image.tags)
    ]
    rows.sort(key=lambda row: (-(row.size_bytes or 0), row.name))
    return list_page(context, rows, request)


def users_by_image(snapshot: HostSnapshot) -> Mapping[str, tuple[str, ...]]:
    """Return full image id → names of the containers that are made of it."""
    users: dict[str, list[str]] = {}
    for facts in snapshot.containers:
        if facts.image_id is not None:
            users.setdefault(facts.image_id, []).append(facts.name)
    return {image: tuple(sorted(names)) for image, names in users.items()}


def _list_networks(context: Context, request: Any) -> OperationRows:
    snapshot = observe(context, _CONFIG)
    joined: dict[str, list[ContainerFacts]] = {}
    for facts in snapshot.containers:
        for network in facts.networks:
            joined.setdefault(network.name, []).append(facts)
    rows = [
        NetworkRow(
            name=network.name,
            driver=network.driver,
            subnets=network.subnets,
            project=network.labels.get(_PROJECT_LABEL),
            containers=tuple(sorted(facts.name for facts in joined.get(network.name, ()) if facts.is_running)),
            stopped=tuple(sorted(facts.name for facts in joined.get(network.name, ()) if not facts.is_running)),
        )
        for network in sorted(snapshot.networks or (), key=lambda network: network.name)
    ]
    return list_page(context, rows, request, unread=_reasons(snapshot, "networks"))


def users_by_volume(snapshot: HostSnapshot) -> Mapping[str, tuple[str, ...]]:
    """Return volume → names of the containers that mount it, running or not."""
    users: dict[str, set[str]] = {}
    for facts in snapshot.containers:
        for mount in facts.mounts:
            if mount.type == "volume":
                users.setdefault(mount.source, set()).add(facts.name)
    return {volume: tuple(sorted(names)) for volume, names in users.items()}


def _list_volumes(context: Context, request: Any) -> OperationRows:
    snapshot = observe(context, _CONFIG)
    unread = _reasons(snapshot, "volumes")
    try:
        sizes = {volume.name: volume.size_bytes for volume in read_stored(context).volumes}
    except BconError as error:
        sizes, unread = {}, {**unread, "sizes": context.secrets.hide(error.message)}
    users = users_by_volume(snapshot)
    rows = [
        VolumeRow(
            name=volume.name,
            driver=volume.driver,
            project=volume.labels.get(_PROJECT_LABEL),
            size_bytes=sizes.get(volume.name),
            containers=users.get(volume.name, ()),
        )
        for volume in snapshot.volumes or ()
    ]
    rows.sort(key=lambda row: (is_anonymous(row.name), -(row.size_bytes or 0), row.name))
    return list_page(context, rows, request, unread=unread)


def _show_system(*, disk: bool = False, memory: bool = False) -> Answer:
    asked = SystemStatusInput(include_disk=disk, include_memory=memory)
    return lambda context, _request: system_status(context, asked)


def _show_disk(context: Context, _request: Any) -> DiskReport:
    return get_disk_usage(context, DiskUsageInput())


def _show_file_systems(context: Context, request: Any) -> tuple[FileSystemRow, ...]:
    """Return the file systems that containers write to; of a path the one that it is in, and those below it.

    Raises:
        NotAvailableError: They are not seen from here.
    """
    snapshot = observe(context, Wants(logs=False, usage=True))
    if snapshot.disks is None:
        msg = f"the disks are not seen from here: {snapshot.unread.get('disks', 'they were not read')}"
        raise NotAvailableError(msg, {"would_help": "bcon-exporter on the engine's own machine"})
    path, in_words = getattr(request, "path", None), getattr(request, "human_readable", False)
    return tuple(
        FileSystemRow(
            path=disk.path,
            used_percent=round(100 * disk.used_ratio, 1),
            total_bytes=disk.total_bytes,
            free_bytes=disk.free_bytes,
            total=show_size(disk.total_bytes) if in_words else None,
            free=show_size(disk.free_bytes) if in_words else None,
            containers=disk.containers,
        )
        for disk in snapshot.disks
        if path is None or _is_below(disk.path, path) or _is_below(path, disk.path)
    )


def _is_below(path: str, folder: str) -> bool:
    return f"{path.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/")


def _show_health(context: Context, _request: Any) -> HealthCheck:
    return health_check(context, HealthCheckInput())


def _list_nodes(context: Context, _request: Any) -> tuple[NodeRow, ...]:
    engine = context.host.engine()
    return (NodeRow(name=engine.name, engine_version=engine.server_version, api_version=engine.api_version),)


def path_of(context: Context, place: str) -> str:
    """Return the path of `host:/path`, or of a path alone; raises as `check_host` does."""
    host, colon, path = place.partition(":")
    if not colon or "/" in host:
        return place
    check_host(context, host)
    return path


def check_host(context: Context, host: str | None) -> None:
    """Refuse another host than this one.

    Raises:
        InvalidInputError: It is; the details name those that can be asked.
    """
    if host in (None, "localhost", "local"):
        return
    scan = context.scans.diagnosis
    engine = scan.snapshot.engine if scan is not None else None
    name = context.memory.memory.engine_name or (engine or context.host.engine()).name
    known = [one for one in dict.fromkeys((name, context.host_name)) if one]
    if host in known or host in [one.replace(".", "-") for one in known]:
        return
    msg = f"host: only this one can be asked here: localhost{''.join(f', {one}' for one in known)}"
    raise InvalidInputError(msg, {"errors": [{"field": "host", "message": "is not this one"}], "near_matches": known})


def _peek(context: Context, request: Any) -> ConfigText | tuple[FileRow, ...]:
    path = path_of(context, request.target)
    if request.tree:
        return _list_files(context, path, request.depth)
    return read_config(context, ReadConfigInput(path=path, limit=_LINES_OF_A_FILE))


def _find_files(context: Context, request: Any) -> tuple[FileRow, ...]:
    pattern = request.pattern.removeprefix("**/")
    found = _list_files(context, path_of(context, request.target), request.depth)
    return tuple(row for row in found if fnmatchcase(row.path, f"*/{pattern}"))


def _list_files(context: Context, folder: str, depth: int) -> tuple[FileRow, ...]:
    projects = find_projects(observe(context, _LIST))
    return tuple(FileRow(path=path) for path in context.compose.list_files(folder, depth, projects))


def _compare_texts(context: Context, request: Any) -> FileDifference:
    """Return where a file differs from another one, or from a text.

    Raises:
        InvalidInputError: Neither is given, or both.
    """
    if (request.target is None) == (request.content is None):
        msg = "give either target or content"
        raise InvalidInputError(msg, {"errors": [{"field": "target", "message": msg}]})
    projects, hide = find_projects(observe(context, _LIST)), context.secrets.hide
    source = context.compose.read_text(path_of(context, request.source), projects)
    name, text = source.file, request.content
    if request.target is not None:
        other = context.compose.read_text(path_of(context, request.target), projects)
        name, text = other.file, other.text
    # As they may be shown: else a guesser could read a hidden value by comparing.
    before, after = "\n".join(show_lines(source.text, source.file, hide)), "\n".join(show_lines(text, name, hide))
    return FileDifference(
        source=source.file,
        target=name if request.target is not None else "content",
        equal=before == after,
        diff=render_diff(before, after, source.file, hide),
    )


def _show_several(context: Context, request: Any) -> tuple[ConfigText, ...]:
    return tuple(
        read_config(context, ReadConfigInput(path=path_of(context, target), limit=_LINES_OF_EACH))
        for target in request.targets
    )


ANSWERS: Mapping[str, Answer] = {
    "container:list": _list_containers,
    "container:logs": _show_logs,
    "container:stats": _show_stats,
    "container:inspect": _inspect,
    "container:search": _search_containers,
    "compose:list": _list_projects,
    "compose:status": _show_project,
    "compose:logs": _show_project_logs,
    "docker:info": _show_system(),
    "docker:df": _show_disk,
    "docker:images": _list_images,
    "docker:networks": _list_networks,
    "docker:volumes": _list_volumes,
    "host:status": _show_health,
    "host:resources": _show_system(disk=True, memory=True),
    "host:info": _show_system(),
    "host:uptime": _show_system(),
    "host:mounts": _show_file_systems,
    "nodes": _list_nodes,
    "peek": _peek,
    "find": _find_files,
    "delta": _compare_texts,
    "emit": _show_several,
    "df": _show_file_systems,
}
"""Key → what answers it."""
