"""Who fills the disk: log files, writable layers, volumes, images, the build cache, and how fast they grow."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from bcon_exporter.engine import Wants
from bcon_exporter.errors import BconError
from bcon_exporter.memory import DiskMemory
from bcon_exporter.model.disk import (
    DiskItem,
    DiskKind,
    DiskReport,
    DiskTotal,
    DiskUsageInput,
    LogFile,
    StoredData,
    StoredImage,
    StoredVolume,
)
from bcon_exporter.model.quantities import show_time
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.tool import Tool

FRESH = timedelta(minutes=15)
"""A reading in the state file that is older was not made by a daemon that runs now."""
ASKED_EVERY = timedelta(minutes=5)
"""The engine is asked for its sum no more often, also by a command that goes on (`--watch`)."""
REST_SHARE = 20
"""An engine that took a minute to sum up its disk is asked again after twenty."""
_OF_ENGINE = "layers, images, volumes, build cache"
_NOT_ASKED = "not asked yet"
_FILE_DRIVERS = frozenset(("json-file", "local"))


def get_disk_usage(context: Context, request: DiskUsageInput) -> DiskReport:
    """Return who fills the disk; the daemon tells what it read last, a command asks it, or reads by itself.

    Raises:
        BconError: A command could not list the containers. That the engine does not sum up its disk is no error.
    """
    if not context.one_shot:
        return write_disk_report(context.memory.memory.disk, context.now(), request.limit)
    return _answer_command(context, request)


def _answer_command(context: Context, request: DiskUsageInput) -> DiskReport:
    known, now, engine_id = context.memory.memory.disk, context.now(), context.host.engine().id
    of_daemon = known.logs if not known.is_own else None
    is_fresh = of_daemon is not None and timedelta() <= now - of_daemon.at < FRESH
    if is_fresh and of_daemon is not None and engine_id is not None and of_daemon.engine_id == engine_id:
        return write_disk_report(known, now, request.limit)
    told = context.ask_disk(request) if context.ask_disk is not None else None
    if told is not None and engine_id is not None and told.engine_id == engine_id:
        return told
    _read_now(context)
    return write_disk_report(context.memory.memory.disk, context.now(), request.limit)


def _read_now(context: Context) -> None:
    """Look at the log files, and ask the engine unless it was asked just now; this process remembers it."""
    context.host.observe(context.now(), context.scan_deadline_seconds, Wants(logs=False, usage=False))
    context.memory.keep_disk(context.host.read_log_files(context.now()), context.now())
    asked_at = context.memory.memory.disk.asked_at
    if asked_at is None or not timedelta() <= context.now() - asked_at < ASKED_EVERY:
        answer = ask_engine(context)
        context.memory.keep_disk(answer, context.now())


def ask_engine(context: Context) -> StoredData | str:
    """Return what the engine says of its disk now, or why it does not say."""
    try:
        return context.host.read_stored_data(context.now())
    except BconError as error:
        return context.secrets.hide(error.message)


def write_disk_report(disk: DiskMemory, now: datetime, limit: int) -> DiskReport:
    """Return the report of what is remembered."""
    items = list(list_items(disk))
    items.sort(key=lambda item: (-(item.size_bytes if item.size_bytes is not None else -1), item.kind, item.name))
    space = disk.logs.space if disk.logs is not None else None
    growth = disk.space_growth if space is not None else None
    grows = space is not None and growth is not None and growth.bytes_per_hour > 0
    return DiskReport(
        timestamp=now,
        engine_id=disk.logs.engine_id if disk.logs is not None else None,
        logs_at=disk.logs.at if disk.logs is not None else None,
        stored_at=disk.stored.at if disk.stored is not None else None,
        space=space,
        space_growth=growth,
        full_in_seconds=round(space.free_bytes / growth.bytes_per_hour * 3600) if space and growth and grows else None,
        totals=_sum_up(disk, items),
        items=tuple(items[:limit]),
        left_out=max(0, len(items) - limit),
        known_since=disk.known_since,
        unread=dict(_list_unread(disk)),
    )


def list_items(disk: DiskMemory) -> Iterator[DiskItem]:
    """Yield everything that takes space, in no order."""
    for log in disk.logs.logs if disk.logs is not None else ():
        yield _log_item(log, disk)
    if disk.stored is not None:
        yield from _stored_items(disk.stored, disk)


def _log_item(log: LogFile, disk: DiskMemory) -> DiskItem:
    return DiskItem(
        kind=DiskKind.LOG,
        name=log.name,
        project=log.project,
        containers=(log.name,),
        size_bytes=log.size_bytes,
        growth=disk.growth_of(DiskKind.LOG, log.container_id),
        unrotated=log.is_bounded is False,
        note=log.unread or _note_on_log(log),
    )


def _note_on_log(log: LogFile) -> str:
    if log.driver == "none":
        return "no log is kept (driver none)"
    return "not rotated" if log.is_bounded is False else ""


def _stored_items(stored: StoredData, disk: DiskMemory) -> Iterator[DiskItem]:
    users = _list_users(stored)
    for layer in stored.layers:
        yield DiskItem(
            kind=DiskKind.LAYER,
            name=layer.name,
            project=layer.project,
            containers=(layer.name,),
            size_bytes=layer.size_bytes,
            growth=disk.growth_of(DiskKind.LAYER, layer.container_id),
            reclaimable_bytes=0 if layer.is_running else layer.size_bytes or 0,
            note="" if layer.is_running else "does not run",
        )
    for volume_facts in stored.volumes:
        yield _volume_item(volume_facts, users.get(volume_facts.name, ()), disk)
    yield from map(_image_item, stored.images)
    if stored.cache_bytes is not None:
        yield DiskItem(
            kind=DiskKind.BUILD_CACHE,
            name="build cache",
            size_bytes=stored.cache_bytes,
            growth=disk.growth_of(DiskKind.BUILD_CACHE),
            reclaimable_bytes=stored.cache_free_bytes or 0,
        )


def _list_users(stored: StoredData) -> dict[str, list[tuple[str, str | None]]]:
    """Return volume → names and projects of the containers that use it."""
    users: dict[str, list[tuple[str, str | None]]] = {}
    for layer in stored.layers:
        for volume in layer.volumes:
            users.setdefault(volume, []).append((layer.name, layer.project))
    return users


def _only_project(users: Iterable[tuple[str, str | None]]) -> str | None:
    projects = {project for _, project in users}
    return projects.pop() if len(projects) == 1 else None


def list_volume_projects(stored: StoredData) -> dict[str, str]:
    """Return volume → the Compose project of all who use it, where that is one."""
    projects = {volume: _only_project(users) for volume, users in _list_users(stored).items()}
    return {volume: project for volume, project in projects.items() if project is not None}


def _volume_item(volume: StoredVolume, users: Iterable[tuple[str, str | None]], disk: DiskMemory) -> DiskItem:
    unused = volume.containers == 0
    note = "its driver does not tell" if volume.size_bytes is None else "no container uses it" if unused else ""
    return DiskItem(
        kind=DiskKind.VOLUME,
        name=volume.name,
        project=_only_project(users),
        containers=tuple(sorted(name for name, _ in users)),
        size_bytes=volume.size_bytes,
        growth=disk.growth_of(DiskKind.VOLUME, volume.name),
        reclaimable_bytes=(volume.size_bytes or 0) if unused else 0,
        note=note,
    )


def _image_item(image: StoredImage) -> DiskItem:
    unused = image.containers == 0
    own = max(0, (image.size_bytes or 0) - (image.shared_bytes or 0))
    return DiskItem(
        kind=DiskKind.IMAGE,
        name=image.name,
        size_bytes=image.size_bytes,
        reclaimable_bytes=own if unused else 0,
        note="no container is made of it" if unused else "",
    )


def _sum_up(disk: DiskMemory, items: Iterable[DiskItem]) -> tuple[DiskTotal, ...]:
    by_kind: dict[DiskKind, list[DiskItem]] = {}
    for item in items:
        by_kind.setdefault(item.kind, []).append(item)
    totals = [_total(kind, members, disk) for kind, members in by_kind.items()]
    return tuple(sorted(totals, key=lambda total: (-(total.size_bytes or 0), total.kind)))


def _total(kind: DiskKind, items: list[DiskItem], disk: DiskMemory) -> DiskTotal:
    sizes = [item.size_bytes for item in items if item.size_bytes is not None]
    size = sum(sizes) if sizes else None
    if kind is DiskKind.IMAGE and disk.stored is not None and disk.stored.images_bytes is not None:
        size = disk.stored.images_bytes  # images share layers
    return DiskTotal(
        kind=kind,
        count=len(items),
        size_bytes=size,
        unknown=len(items) - len(sizes),
        growth=disk.growth_of(kind),
        reclaimable_bytes=sum(item.reclaimable_bytes for item in items) if sizes else None,
    )


def _list_unread(disk: DiskMemory) -> Iterator[tuple[str, str]]:
    logs = [log for log in disk.logs.logs if log.driver in _FILE_DRIVERS or log.driver is None] if disk.logs else []
    reasons = Counter(log.unread for log in logs if log.unread)
    if disk.logs is None:
        yield "log files", _NOT_ASKED
    for reason, _ in reasons.most_common(1):
        yield "log files", f"{reasons.total()} of {len(logs)} could not be seen: {reason}"
    if disk.logs is not None and disk.logs.space is None:
        yield "free space", disk.logs.space_unread
    if disk.problem:
        earlier = f"; the sizes are those of {show_time(disk.stored.at)}" if disk.stored is not None else ""
        yield _OF_ENGINE, f"{disk.problem}{earlier}"
    elif disk.stored is None:
        yield _OF_ENGINE, _NOT_ASKED


DISK_TOOLS = (
    Tool(
        "get_disk_usage",
        "Say who fills the disk, the largest first, and how fast: log files, layers, volumes, images, build cache.",
        DiskUsageInput,
        DiskReport,
        get_disk_usage,
        timeout_seconds=240.0,
        rows="items",
    ),
)
