"""What is different since the container that another one replaced. Of an environment the names of keys only."""

from collections.abc import Iterator, Mapping

from bcon_exporter.memory.config_changes import find_changed_fields
from bcon_exporter.model.container_facts import ContainerFacts
from bcon_exporter.model.desired import FieldValue
from bcon_exporter.model.image_versions import name_image

_ENVIRONMENT = "environment."
_NO_ID = "id unknown"
_SHOWN_AT_MOST = 12
_OWN_LABELS = "labels.com.docker.compose."


def find_changes(before: ContainerFacts, after: ContainerFacts) -> tuple[str, ...]:
    """Return in words what is different from the container that was replaced."""
    changes = [*_image(before, after), *_fields(before, after)]
    more = len(changes) - _SHOWN_AT_MOST
    return (*changes[:_SHOWN_AT_MOST], *((f"and {more} more",) if more > 0 else ()))


def find_remembered_changes(after: ContainerFacts) -> Iterator[str]:
    """Yield what a state file, or the events of the engine, tell of the image before."""
    past = after.lifecycle
    if past is not None and past.previous_image and past.image_changed_at and past.image_changed_at >= after.created_at:
        old = name_image(past.previous_image, past.previous_image_version, past.previous_image_id or _NO_ID)
        yield f"image: {old} → {_name(after)}"


def _image(before: ContainerFacts, after: ContainerFacts) -> Iterator[str]:
    if before.image_id != after.image_id or before.image != after.image:
        yield f"image: {_name(before)} → {_name(after)}"


def _fields(before: ContainerFacts, after: ContainerFacts) -> Iterator[str]:
    if before.config is None or after.config is None:
        return
    old, new = before.config.fields, after.config.fields
    for path in find_changed_fields(before.config, after.config):
        if path == "image" or path.startswith(_OWN_LABELS):
            continue
        if path.startswith(_ENVIRONMENT):
            yield f"environment: {path.removeprefix(_ENVIRONMENT)} {_kind(old, new, path)}"
        else:
            yield f"{path}: {_shown(old, path)} → {_shown(new, path)}"


def _kind(old: Mapping[str, FieldValue], new: Mapping[str, FieldValue], path: str) -> str:
    if path not in old:
        return "added"
    return "removed" if path not in new else "changed"


def _shown(fields: Mapping[str, FieldValue], path: str) -> str:
    return (fields[path].shown or "set") if path in fields else "not set"


def _name(container: ContainerFacts) -> str:
    return name_image(container.image, container.image_version, container.image_id or _NO_ID)
