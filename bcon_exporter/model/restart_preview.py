"""restart_service: what a restart would do, and whether it would help. It is never done here."""

from typing import Any, Literal

from pydantic import Field

from bcon_exporter.model.base import Frozen
from bcon_exporter.model.container_facts import ContainerState
from bcon_exporter.model.text_patterns import CONTAINER_PATTERN


class RestartServiceInput(Frozen):
    """Input of restart_service."""

    service: str = Field(pattern=CONTAINER_PATTERN, description="Container or Compose service")


class RestartedContainer(Frozen):
    """One container that would be restarted. Its id, image, configuration, networks and volumes stay.

    Attributes:
        action: "start" for one that does not run; "none" where the engine would refuse.
        image_id: Short id of the image that it keeps.
        stop_signal: That it would get first; None for one that does not run.
        stop_within_seconds: After so long it would be killed.
        loses: Paths in it that live in memory only.
    """

    name: str
    container_id: str
    state: ContainerState
    action: Literal["restart", "start", "none"]
    image: str
    image_id: str | None = None
    stop_signal: str | None = None
    stop_within_seconds: float | None = None
    loses: tuple[str, ...] = ()


class RestartEffects(Frozen):
    """What would change.

    Attributes:
        away: Names of those that run now, and would not for a moment.
        loses_network: Names of other containers that share the network of one of them: they have none afterwards, until
            they are restarted too.
        depending: Names of other containers whose service depends on one of them by the Compose file: they are not
            restarted with it.
    """

    containers: tuple[RestartedContainer, ...] = ()
    away: tuple[str, ...] = ()
    loses_network: tuple[str, ...] = ()
    depending: tuple[str, ...] = ()


class Instead(Frozen):
    """A tool that answers what is behind the wish."""

    tool: str
    arguments: dict[str, Any] = {}


class RestartPreview(Frozen):
    """What a restart would do, told in the details of its refusal.

    Attributes:
        reason: Why it is not done: nothing here changes the host.
        helps: True: what is wrong would be gone, at least for a while; False: it would be the same; None: it may help.
        command: For a person; never a line for a shell.
    """

    reason: Literal["level_1"] = "level_1"
    would: str
    effects: RestartEffects
    helps: bool | None
    why: str
    command: tuple[str, ...]
    instead: Instead
