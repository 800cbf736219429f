"""Asks the engine what lies on its disk (`/system/df`), which may take it minutes, and looks at the log files."""

from datetime import datetime
from typing import Any

from bcon_exporter.clock import monotonic
from bcon_exporter.engine.containers import InventoryEntry
from bcon_exporter.engine.disk import read_space
from bcon_exporter.engine.failures import garbage_error
from bcon_exporter.engine.log_sizes import read_log_size
from bcon_exporter.engine.parse import parse_stored_data
from bcon_exporter.engine.scan import Deadline
from bcon_exporter.engine.session import EngineSession
from bcon_exporter.errors import DeadlineExceededError
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.model.container_facts import EngineFacts
from bcon_exporter.model.disk import DiskSpace, LogFile, LogReading, StoredData
from bcon_exporter.secrets.masking import MASK

_ASKING = "asking for disk usage"
_NEGOTIATION_SECONDS = 5.0


def read_stored_data(session: EngineSession, book: HostSecrets, now: datetime, seconds: float) -> StoredData:
    """Return what the engine says of its disk usage.

    Args:
        session: The engine.
        book: Secrets that no tag of an image may show.
        now: Wall clock.
        seconds: After this time the answer is no longer waited for.

    Raises:
        DeadlineExceededError: It was not answered within that time.
        BconError: It was refused, or is no answer.
    """
    started = monotonic()
    session.negotiate(Deadline.after(min(seconds, _NEGOTIATION_SECONDS)))
    try:
        raw: Any = session.call("df", _ASKING, Deadline.after(seconds), lambda c: c.df(), may_take_seconds=seconds)
    except DeadlineExceededError as error:
        msg = f"not answered within {seconds:.0f} s"
        raise DeadlineExceededError(msg, error.details) from None
    data = parse_stored_data(raw, now, round(monotonic() - started, 3))
    if data is None:
        raise garbage_error(session.endpoint, _ASKING, "something else")
    return _hide_in_tags(data, book)


def _hide_in_tags(data: StoredData, book: HostSecrets) -> StoredData:
    """Hide what containers hold in the tags of images; all at once, since each look goes through all secrets."""
    names = [name for image in data.images for name in (image.name, *image.tags)]
    parts = [name.rpartition(":") for name in names]
    hidden = book.hide("\n".join(tag for _, _, tag in parts)).split("\n")
    if len(hidden) != len(parts):
        hidden = [MASK] * len(parts)
    shown = {
        raw: raw if not colon or "/" in tag else f"{name}:{safe}"
        for raw, (name, colon, tag), safe in zip(names, parts, hidden, strict=True)
    }
    images = tuple(
        image.model_copy(update={"name": shown[image.name], "tags": tuple(shown[tag] for tag in image.tags)})
        for image in data.images
    )
    return data.model_copy(update={"images": images})


def read_log_files(
    entries: list[InventoryEntry], engine: EngineFacts | None, session: EngineSession, now: datetime
) -> LogReading:
    """Return the sizes of all containers' log files, and the space of the file system below the engine's root."""
    root_dir = engine.root_dir if engine is not None else None
    is_here = session.endpoint.is_local
    space = read_space(root_dir, proc=session.options.proc_root) if is_here else "the engine runs on another machine"
    return LogReading(
        at=now,
        engine_id=engine.id if engine is not None else None,
        logs=tuple(_read_log(entry, root_dir, is_here=is_here) for entry in entries),
        space=space if isinstance(space, DiskSpace) else None,
        space_unread=space if isinstance(space, str) else "",
    )


def _read_log(entry: InventoryEntry, root_dir: str | None, *, is_here: bool) -> LogFile:
    facts = entry.facts
    size = read_log_size(facts, entry.placement, root_dir, is_here=is_here)
    return LogFile(
        container_id=facts.id,
        name=facts.name,
        project=facts.compose.project if facts.compose is not None else None,
        driver=facts.log_driver,
        is_bounded=facts.log_is_bounded,
        size_bytes=size if isinstance(size, int) else None,
        unread=size if isinstance(size, str) else "",
    )
