"""The engine's own disk usage (`/system/df`) → facts. Pure and total, as everything in this package.

Source: engine API 1.41 to 1.51, system df: `LayersSize`, `Images`, `Containers`, `Volumes`, `BuildCache`. -1 is its
word for "not computed".
"""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from bcon_exporter.engine.parse.container import COMPOSE_LABEL
from bcon_exporter.engine.parse.json_fields import get_bool, get_int, get_list, get_name, get_object, get_text
from bcon_exporter.model.disk import StoredData, StoredImage, StoredLayer, StoredVolume
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.secrets.masking import safe_name, safe_reference
from bcon_exporter.secrets.normal_form import is_anonymous

MOST_OF_A_KIND = 20_000
"""Containers, images, volumes: beyond it an answer is no host's."""
_ID_CHARS = 12
_RUNNING = frozenset(("running", "paused"))
_ANONYMOUS_LABEL = "com.docker.volume.anonymous"
_LARGEST = 2**60
_LATEST = 2**33
_NO_TAG = "<none>:<none>"


def parse_stored_data(raw: Any, at: datetime, took_seconds: float) -> StoredData | None:
    """Make facts of an answer that came at `at`; None of what is none."""
    if type(raw) is not dict or not any(key in raw for key in ("Images", "Containers", "Volumes")):
        return None
    layers = tuple(_layers(raw))
    users = Counter(volume for layer in layers for volume in set(layer.volumes))
    cache = list(_cache(raw)) if "BuildCache" in raw else None
    return StoredData(
        at=at,
        took_seconds=took_seconds,
        layers=layers,
        images=tuple(_images(raw)),
        images_bytes=_size(raw, "LayersSize"),
        volumes=tuple(_volumes(raw, users)),
        cache_bytes=None if cache is None else sum(size for size, _ in cache),
        cache_free_bytes=None if cache is None else sum(size for size, in_use in cache if not in_use),
    )


def _layers(raw: dict[str, Any]) -> Iterator[StoredLayer]:
    for entry in _entries(raw, "Containers"):
        container_id = get_name(entry, "Id")
        if container_id is None:
            continue
        names = [name for name in get_list(entry, "Names") if type(name) is str]
        name = next((name for name in names if name.count("/") <= 1), names[0] if names else container_id[:_ID_CHARS])
        mounts = (mount for mount in get_list(entry, "Mounts") if type(mount) is dict)
        volumes = (get_name(mount, "Name") for mount in mounts if get_text(mount, "Type") == "volume")
        yield StoredLayer(
            container_id=container_id,
            name=clean_name(name.removeprefix("/")),
            project=get_name(get_object(entry, "Labels"), f"{COMPOSE_LABEL}project"),
            # the engine leaves it out of a container that has written nothing
            size_bytes=_size(entry, "SizeRw") if "SizeRw" in entry else 0,
            is_running=(get_text(entry, "State") or "").lower() in _RUNNING,
            volumes=tuple(dict.fromkeys(_shown(volume) for volume in volumes if volume)),
        )


def _images(raw: dict[str, Any]) -> Iterator[StoredImage]:
    for entry in _entries(raw, "Images"):
        image_id = get_name(entry, "Id")
        if image_id is None:
            continue
        tags = [tag for tag in get_list(entry, "RepoTags") if type(tag) is str and tag != _NO_TAG]
        yield StoredImage(
            name=safe_reference(tags[0]) if tags else image_id.removeprefix("sha256:")[:_ID_CHARS],
            size_bytes=_size(entry, "Size"),
            shared_bytes=_size(entry, "SharedSize"),
            containers=_size(entry, "Containers"),
            image_id=image_id,
            tags=tuple(map(safe_reference, tags)),
            parent_id=get_name(entry, "ParentId") or "",
            created_at=_time(entry, "Created"),
        )


def _volumes(raw: dict[str, Any], users: Counter[str]) -> Iterator[StoredVolume]:
    for entry in _entries(raw, "Volumes"):
        name = get_name(entry, "Name")
        if name is None:
            continue
        usage = get_object(entry, "UsageData")
        counted = _size(usage, "RefCount")
        shown = _shown(name)
        yield StoredVolume(
            name=shown,
            size_bytes=_size(usage, "Size"),
            containers=users[shown] if counted is None else counted,
            is_plain=get_text(entry, "Driver") == "local" and not get_object(entry, "Options"),
            is_anonymous=_ANONYMOUS_LABEL in get_object(entry, "Labels"),
        )


def _cache(raw: dict[str, Any]) -> Iterator[tuple[int, bool]]:
    """Yield size and use of each part of the build cache that is not a part of an image too, as `docker system df`."""
    for entry in _entries(raw, "BuildCache"):
        if not get_bool(entry, "Shared"):
            yield _size(entry, "Size") or 0, bool(get_bool(entry, "InUse"))


def _entries(raw: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    return (entry for entry in get_list(raw, key)[:MOST_OF_A_KIND] if type(entry) is dict)


def _shown(volume: str) -> str:
    return volume if is_anonymous(volume) else safe_name(volume)


def _time(raw: dict[str, Any], key: str) -> datetime | None:
    """Return the time of seconds since 1970; reproducible builds say 0, which is none."""
    seconds = get_int(raw, key)
    return datetime.fromtimestamp(seconds, UTC) if seconds is not None and 0 < seconds < _LATEST else None


def _size(raw: dict[str, Any], key: str) -> int | None:
    value = get_int(raw, key)
    return value if value is not None and 0 <= value <= _LARGEST else None
