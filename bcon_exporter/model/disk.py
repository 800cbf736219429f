"""Who fills the disk: what was read of it, what is remembered of its growth, and the report made of both."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from bcon_exporter.model.base import Frozen, UtcDatetime
from bcon_exporter.model.growth import Growth
from bcon_exporter.model.tool_inputs import Whole


class DiskKind(StrEnum):
    """What lies on the engine's disk."""

    LOG = "log"
    LAYER = "layer"
    VOLUME = "volume"
    IMAGE = "image"
    BUILD_CACHE = "build_cache"


class LogFile(Frozen):
    """The log files of one container.

    Attributes:
        container_id: Full id.
        driver: Log driver; None when inspect was not read.
        is_bounded: The driver keeps only so much of it; None where that is not known, or it keeps no file.
        size_bytes: Of all files of it, the rotated ones too; None where they cannot be seen.
        unread: Why the size is not known; empty where it is.
    """

    container_id: str
    name: str
    project: str | None = None
    driver: str | None = None
    is_bounded: bool | None = None
    size_bytes: int | None = None
    unread: str = ""


class DiskSpace(Frozen):
    """The file system below the engine's root, as `df` counts it: what only root may use is not free."""

    path: str
    used_bytes: int
    free_bytes: int


class LogReading(Frozen):
    """The log files of all containers, and the space around them, read from this host.

    Attributes:
        engine_id: Of the engine whose they are.
        space_unread: Why the space is not known; empty where it is.
    """

    at: UtcDatetime
    engine_id: str | None = None
    logs: tuple[LogFile, ...] = ()
    space: DiskSpace | None = None
    space_unread: str = ""


class StoredLayer(Frozen):
    """What a container has written to its own file system. `is_running` also when it is paused."""

    container_id: str
    name: str
    project: str | None = None
    size_bytes: int | None = None
    is_running: bool = True
    volumes: tuple[str, ...] = ()


class StoredImage(Frozen):
    """An image.

    Attributes:
        name: One of its tags; its short id where it has none.
        shared_bytes: How much of it other images hold too; None when the engine did not say.
        containers: How many containers are made of it; None when the engine did not say.
        created_at: When it was built; None when the engine did not say.
        image_id: Full id; it and all below are never stored, and of now only.
        tags: All of its tags.
        parent_id: Full id of the image that it was built from; "" where the engine does not say.
    """

    name: str
    size_bytes: int | None = None
    shared_bytes: int | None = None
    containers: int | None = None
    created_at: UtcDatetime | None = None
    image_id: str = Field("", exclude=True)
    tags: tuple[str, ...] = Field((), exclude=True)
    parent_id: str = Field("", exclude=True)


class StoredVolume(Frozen):
    """A volume.

    Attributes:
        size_bytes: None where its driver does not tell.
        is_plain: Of the driver local and without options; it and the next are never stored, and of now only.
        is_anonymous: The engine says that it has made its name up.
    """

    name: str
    size_bytes: int | None = None
    containers: int | None = None
    is_plain: bool = Field(default=False, exclude=True)
    is_anonymous: bool = Field(default=False, exclude=True)


class StoredData(Frozen):
    """What the engine says of its disk usage (`/system/df`).

    Attributes:
        images_bytes: Of all layers of images, each counted once.
        cache_bytes, cache_free_bytes: The build cache, and how much of it nothing needs; None when it did not say.
    """

    at: UtcDatetime
    took_seconds: float = 0.0
    layers: tuple[StoredLayer, ...] = ()
    images: tuple[StoredImage, ...] = ()
    images_bytes: int | None = None
    volumes: tuple[StoredVolume, ...] = ()
    cache_bytes: int | None = None
    cache_free_bytes: int | None = None


class DiskUsageInput(Frozen):
    """Input of get_disk_usage."""

    limit: Annotated[Whole, Field(ge=1, le=5000, description="How many, the largest")] = 50


class DiskItem(Frozen):
    """One thing that takes space.

    Attributes:
        name: Of the container (a log, a layer), the volume or the image.
        containers: Names of those that use it; of an image not told.
        size_bytes: None where it is not known; `note` says why.
        growth: None where it is not known yet, and of images, which never change.
        unrotated: A log file that nothing bounds.
        reclaimable_bytes: What removing it would free, since nothing that runs needs it; 0 where something does.
        note: What is to be known of it; may be empty.
    """

    kind: DiskKind
    name: str
    project: str | None = None
    containers: tuple[str, ...] = ()
    size_bytes: int | None = None
    growth: Growth | None = None
    unrotated: bool = False
    reclaimable_bytes: int = 0
    note: str = ""


class DiskTotal(Frozen):
    """All of one kind.

    Attributes:
        size_bytes: Of those whose size is known; None where none is.
        unknown: How many sizes are not known.
        reclaimable_bytes: What nothing that runs needs; None where nothing is known.
    """

    kind: DiskKind
    count: int
    size_bytes: int | None = None
    unknown: int = 0
    growth: Growth | None = None
    reclaimable_bytes: int | None = None


class DiskReport(Frozen):
    """Who fills the disk.

    Attributes:
        timestamp: When it was written; the sizes are those of `logs_at` and `stored_at`.
        engine_id: Of the engine whose disk it is.
        space: The file system below the engine's root; None where it is not seen from here.
        space_growth: Of what is used of it, by whomsoever.
        full_in_seconds: Until it is full at this rate; None where it does not grow, or that is not known.
        totals: By kind, the largest first.
        items: The largest first; those of which no size is known come last.
        left_out: How many more there are.
        known_since: Since when sizes have been read; None before the first reading.
        unread: What could not be read → why.
    """

    timestamp: UtcDatetime
    engine_id: str | None = None
    logs_at: UtcDatetime | None = None
    stored_at: UtcDatetime | None = None
    space: DiskSpace | None = None
    space_growth: Growth | None = None
    full_in_seconds: float | None = None
    totals: tuple[DiskTotal, ...] = ()
    items: tuple[DiskItem, ...] = ()
    left_out: int = 0
    known_since: UtcDatetime | None = None
    unread: dict[str, str] = {}
