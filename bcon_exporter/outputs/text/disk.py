"""Who fills the disk, as blocks."""

from collections.abc import Iterator

from bcon_exporter.model.disk import DiskItem, DiskKind, DiskReport, DiskSpace, DiskTotal
from bcon_exporter.model.growth import show_growth
from bcon_exporter.model.quantities import show_count, show_duration, show_size, show_time
from bcon_exporter.outputs.text.blocks import Block, Heading, Line, Span, Style, Table, dim, line, name, strong

KIND_NAMES = {
    DiskKind.LOG: "log file",
    DiskKind.LAYER: "writable layer",
    DiskKind.VOLUME: "volume",
    DiskKind.IMAGE: "image",
    DiskKind.BUILD_CACHE: "build cache",
}
_ITEMS = ("size", "growth", "what", "who", "project", "reclaimable", "note")
_TOTALS = ("size", "growth", "what", "reclaimable", "note")
_NARROW = ("size", "growth", "what", "who")
_SHOWN_USERS = 3


def disk_blocks(report: DiskReport) -> list[Block]:
    """Return the space, the kinds, then everything, the largest first."""
    read_at = max((at for at in (report.logs_at, report.stored_at) if at is not None), default=None)
    blocks: list[Block] = [Heading(line(strong(tell_space(report)), notes=(dim(f"read {show_time(read_at)}"),)))]
    if report.totals:
        rows = tuple(map(_total_row, report.totals))
        blocks += [Heading(line(strong("In all")), 2), Table(_TOTALS, rows, ("size",), (_TOTALS, _TOTALS[:3]))]
    if report.items:
        rows = tuple(map(_item_row, report.items))
        choices = (_ITEMS, _ITEMS[:6], _ITEMS[:5], _NARROW)
        blocks += [Heading(line(strong("The largest")), 2), Table(_ITEMS, rows, ("size",), choices)]
    if report.left_out:
        blocks.append(line(dim(f"Smaller ones are left out: {report.left_out}; see --limit.")))
    blocks += [line(Span(f"{what}: {why}", Style.DOUBT)) for what, why in report.unread.items()]
    return blocks


def tell_space(report: DiskReport) -> str:
    """Return one sentence of the file system below the engine's root."""
    space = report.space
    if space is None:
        return "How much space is left is not known."
    return " ".join(_tell_space(space, report))


def _tell_space(space: DiskSpace, report: DiskReport) -> Iterator[str]:
    yield f"{show_size(space.used_bytes)} used, {show_size(space.free_bytes)} free below {space.path}."
    growth = report.space_growth
    if growth is None:
        yield "Its growth is not known yet."
    elif report.full_in_seconds is None:
        yield f"It has not grown for {show_duration(growth.known_for_seconds)}."
    else:
        rate = show_size(growth.bytes_per_hour)
        known = show_duration(growth.known_for_seconds)
        yield f"It grows by {rate} an hour, as known for {known}: full in {show_duration(report.full_in_seconds)}."


def _total_row(total: DiskTotal) -> tuple[Line, ...]:
    return (
        line(show_size(total.size_bytes)),
        line(show_growth(total.growth)),
        line(
            show_count(total.count, KIND_NAMES[total.kind]) if total.kind is not DiskKind.BUILD_CACHE else "build cache"
        ),
        line(show_size(total.reclaimable_bytes) if total.reclaimable_bytes else ""),
        line(dim(f"{total.unknown} of unknown size" if total.unknown else "")),
    )


def _item_row(item: DiskItem) -> tuple[Line, ...]:
    note = Span(item.note, Style.WARNING if item.unrotated and item.size_bytes is not None else Style.DIM)
    return (
        line(show_size(item.size_bytes)),
        line(show_growth(item.growth)),
        line(dim(KIND_NAMES[item.kind])),
        line(name(item.name, Style.STRONG), dim(tell_users(item))),
        line(name(item.project or "")),
        line(show_size(item.reclaimable_bytes) if item.reclaimable_bytes else ""),
        line(note),
    )


def tell_users(item: DiskItem) -> str:
    """Return " of web and 2 more" for a volume; nothing for what is named as its only user."""
    if item.kind is not DiskKind.VOLUME or not item.containers:
        return ""
    more = len(item.containers) - _SHOWN_USERS
    return f" of {', '.join(item.containers[:_SHOWN_USERS])}" + (f" and {more} more" if more > 0 else "")
