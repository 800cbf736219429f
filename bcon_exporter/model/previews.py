"""What something would do that is never done here: told in the details of its refusal."""

from typing import Any, Literal

from pydantic import Field

from bcon_exporter.model.base import Frozen
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.text_patterns import CONTAINER_PATTERN

Action = Literal["restart", "start", "stop", "pause", "resume", "create", "recreate", "remove", "none"]


class RestartServiceInput(Frozen):
    """Input of restart_service."""

    service: str = Field(pattern=CONTAINER_PATTERN, description="Container or Compose service")


class AffectedContainer(Frozen):
    """One container. When it is restarted its id, image, configuration, networks and volumes stay.

    Attributes:
        action: What would be done to it; "none" where the engine would refuse, or has nothing to do.
        image_id: Short id of the image that it keeps.
        stop_signal: That it would get first; None for one that does not run.
        stop_within_seconds: After so long it would be killed.
        loses: Paths in it that live in memory only; what it wrote to its own file system is lost when it is removed.
    """

    name: str
    container_id: str
    state: ContainerState
    action: Action
    image: str
    image_id: str | None = None
    stop_signal: str | None = None
    stop_within_seconds: float | None = None
    loses: tuple[str, ...] = ()


class RemovedVolume(Frozen):
    """A volume that would be gone, with all that is in it. `size_bytes` is None where it is unknown."""

    name: str
    size_bytes: int | None = None
    project: str | None = None


class RemovedImage(Frozen):
    """An image: it loses the tags, and is removed unless `removed` is false."""

    name: str
    image_id: str
    untagged: tuple[str, ...] = ()
    removed: bool = True
    size_bytes: int | None = None


class Effects(Frozen):
    """What would change; all that is not named stays.

    Attributes:
        away: Names of those that run now, and would not for a moment, or at all.
        loses_network: Names of other containers that share the network of one of them: they have none afterwards, until
            they are restarted too.
        depending: Names of other containers whose service depends on one of them by the Compose file: nothing is done
            to them.
        networks: Names of networks that would be removed.
        volumes, images: Those that would be removed.
        creates: Services of which containers would be made.
        unknown: Services of which it cannot be told.
        cache_bytes: How much of the build cache may be removed, at most.
    """

    containers: tuple[AffectedContainer, ...] = ()
    away: tuple[str, ...] = ()
    loses_network: tuple[str, ...] = ()
    depending: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    volumes: tuple[RemovedVolume, ...] = ()
    images: tuple[RemovedImage, ...] = ()
    creates: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    cache_bytes: int | None = None


class Instead(Frozen):
    """A tool that answers what is behind the wish."""

    tool: str
    arguments: dict[str, Any] = {}


class Preview(Frozen):
    """What would be done.

    Attributes:
        reason: Why it is not: nothing here changes the host.
        effects: None where they cannot be known from here, as of a command within a container.
        helps: True: what is wrong would be gone, at least for a while; False: it would be the same; None: it may help.
        command: For a person, never a line for a shell; empty where none does it, or none is to be told.
    """

    reason: Literal["level_1"] = "level_1"
    would: str
    effects: Effects | None = None
    helps: bool | None = None
    why: str = ""
    command: tuple[str, ...] = ()
    instead: Instead
