"""Promise: what restart_service says of a restart is what `docker restart` then does, and whether it helps.

Each scene is a container with a trouble, or none: what is told is compared with what was changed, and with how it is
afterwards. Where the facts do not decide it, both outcomes are right.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.app import build_context
from bcon_exporter.settings import load_settings
from bcon_exporter.tools import call_tool
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bcon_exporter.tools import Context
    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = pytest.mark.docker

CHECKED = ("--health-interval=1s", "--health-retries=2", "--health-timeout=2s")
WELL_SECONDS = 4


@dataclass(frozen=True)
class Scene:
    """A container, and what is to be told of it.

    Attributes:
        flags, command: Of `docker run`.
        after: Commands for the engine that make the trouble; NAME is the container.
        ends_in: State in which it is to be judged; with `unhealthy` as its health.
        helps: What is to be told; None where the facts do not decide it.
    """

    name: str
    helps: bool | None
    command: tuple[str, ...] = ("serve",)
    flags: tuple[str, ...] = ()
    after: tuple[tuple[str, ...], ...] = ()
    ends_in: str = "running"
    create: bool = False


SCENES = (
    Scene("oom", False, ("sh", "-c", "sleep 1; tail /dev/zero"), ("--memory=16m", "--memory-swap=16m"), (), "exited"),
    Scene(
        "password",
        False,
        ("sh", "-c", "echo 'FATAL:  password authentication failed for user \"app\"'; exit 1"),
        ends_in="exited",
    ),
    Scene("file", False, ("sh", "-c", "cat /etc/app/config.yaml"), ends_in="exited"),
    Scene("command", False, ("nosuchcommand",), ends_in="created"),
    Scene("stopped", True, after=(("stop", "-t", "1", "NAME"),), ends_in="exited"),
    Scene("killed", True, after=(("kill", "NAME"),), ends_in="exited"),
    Scene(
        "stuck",
        None,
        ("sh", "-c", "touch /scratch/ok; exec serve"),
        ("--tmpfs=/scratch", "--health-cmd=test -f /scratch/ok", *CHECKED),
        (("exec", "NAME", "rm", "/scratch/ok"),),
        "unhealthy",
    ),
    Scene("no-check", False, flags=("--health-cmd=nosuchcommand", *CHECKED), ends_in="unhealthy"),
    Scene("loop", False, ("sh", "-c", "echo no config; exit 3"), ("--restart=always",), (), "restarting"),
    Scene("fresh", True, create=True, ends_in="created"),
    Scene("paused", True, after=(("pause", "NAME"),), ends_in="paused"),
    Scene("well", False),
    Scene("done", False, ("true",), ends_in="exited"),
)


@pytest.fixture
def context(engine: TestEngine) -> Iterator[Context]:
    """A command's context, its events read from the engine."""
    settings = load_settings({"docker": {"host": engine.host}, "state": {"path": "none"}}, {})
    made = build_context(settings, one_shot=True)
    yield made
    made.host.close()
    made.memory.close()


def inspect(engine: TestEngine, name: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = json.loads(engine.docker("inspect", name))
    return found[0]


def is_in(engine: TestEngine, name: str, wanted: str) -> bool:
    state = inspect(engine, name)["State"]
    if wanted == "unhealthy":
        return bool(state.get("Health", {}).get("Status") == "unhealthy")
    if wanted == "restarting":
        return bool(inspect(engine, name)["RestartCount"] >= 4)
    return bool(state["Status"] == wanted)


def make(engine: TestEngine, scene: Scene) -> None:
    words = ("create",) if scene.create else ("run", "-d")
    engine.docker(*words, "--name", scene.name, *scene.flags, engine.image, *scene.command, check=False)
    if scene.after:
        wait_until(lambda: is_in(engine, scene.name, "running"), f"{scene.name} to run")
    if "stuck" in scene.name:
        wait_until(lambda: inspect(engine, "stuck")["State"]["Health"]["Status"] == "healthy", "the check to pass")
    for command in scene.after:
        engine.docker(*(scene.name if word == "NAME" else word for word in command))
    wait_until(
        lambda: is_in(engine, scene.name, scene.ends_in), f"{scene.name} to be {scene.ends_in}", timeout_seconds=60
    )


def preview(context: Context, name: str) -> dict[str, Any]:
    error = call_tool(context, "restart_service", {"service": name}).data()["error"]
    assert error["code"] == "permission_denied", error
    details: dict[str, Any] = error["details"]
    return details


def is_well(engine: TestEngine, name: str) -> bool:
    """Whether it runs without a restart for some seconds, and its check passes."""
    first = inspect(engine, name)

    def is_decided() -> bool:
        state = inspect(engine, name)["State"]
        if not state["Running"] or state.get("Restarting"):
            return True
        return "Health" not in state or state["Health"]["Status"] != "starting"

    wait_until(is_decided, f"the check of {name}", timeout_seconds=60)
    engine.docker("run", "--rm", engine.image, "sleep", str(WELL_SECONDS))
    last = inspect(engine, name)
    is_same = first["State"]["StartedAt"] == last["State"]["StartedAt"]
    return bool(is_same and last["State"]["Running"] and last["State"].get("Health", {}).get("Status") != "unhealthy")


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_restart_does_what_was_told_and_helps_as_was_told(
    engine: TestEngine, context: Context, scene: Scene, figure: Figure
) -> None:
    engine.docker("run", "-d", "--name", "bystander", engine.image, "serve")
    make(engine, scene)
    bystander, before = inspect(engine, "bystander"), inspect(engine, scene.name)
    was_well = scene.name == "well"
    told = preview(context, scene.name)
    engine.docker(*told["command"][1:2], "-t", "1", *told["command"][2:], check=False)
    after = inspect(engine, scene.name)
    effect = told["effects"]["containers"][0]
    assert (effect["container_id"], effect["image_id"]) == (after["Id"][:12], after["Image"].split(":")[1][:12])
    assert before["Id"] == after["Id"]
    assert effect["action"] == (
        "restart" if before["State"]["Status"] in ("running", "paused", "restarting") else "start"
    )
    if scene.name != "command":
        assert before["State"]["StartedAt"] != after["State"]["StartedAt"]
    assert told["effects"]["away"] == ([scene.name] if before["State"]["Status"] in ("running", "paused") else [])
    assert inspect(engine, "bystander")["State"] == bystander["State"]
    helped = not was_well and is_well(engine, scene.name)
    figure(f"{scene.name}: told {told['helps']}, helped {helped}")
    assert told["helps"] == scene.helps, told["why"]
    assert told["helps"] in (None, helped), told["why"]


def test_a_restart_keeps_an_image_whose_tag_has_moved_on(engine: TestEngine, context: Context) -> None:
    engine.docker("tag", engine.image, "moved:1")
    engine.docker("run", "-d", "--name", "moved", "moved:1", "serve")
    engine.docker("commit", "-m", "another", "moved", "moved:1")
    told = preview(context, "moved")
    assert told["helps"] is False
    assert "stands for another image by now" in told["why"]
    image = inspect(engine, "moved")["Image"]
    engine.docker("restart", "-t", "1", "moved")
    assert inspect(engine, "moved")["Image"] == image
    assert image.split(":")[1][:12] == told["effects"]["containers"][0]["image_id"]
    engine.docker("rm", "-f", "moved")
    engine.docker("rmi", "-f", "moved:1")


def test_who_shares_the_network_of_a_restarted_one_has_none_afterwards(engine: TestEngine, context: Context) -> None:
    engine.docker("run", "-d", "--name", "owner", engine.image, "serve")
    engine.docker("run", "-d", "--name", "guest", "--network=container:owner", engine.image, "serve")
    assert "eth0" in engine.docker("exec", "guest", "cat", "/proc/net/dev")
    told = preview(context, "owner")
    assert told["effects"]["loses_network"] == ["guest"]
    engine.docker("restart", "-t", "1", "owner")
    assert "eth0" not in engine.docker("exec", "guest", "cat", "/proc/net/dev")
    engine.docker("restart", "-t", "1", "guest")
    assert "eth0" in engine.docker("exec", "guest", "cat", "/proc/net/dev")


def test_what_lives_in_memory_is_lost(engine: TestEngine, context: Context) -> None:
    engine.docker("run", "-d", "--name", "scratch", "--tmpfs=/scratch", engine.image, "serve")
    engine.docker("exec", "scratch", "touch", "/scratch/here", "/kept")
    assert preview(context, "scratch")["effects"]["containers"][0]["loses"] == ["/scratch"]
    engine.docker("restart", "-t", "1", "scratch")
    assert engine.docker("exec", "scratch", "ls", "/scratch").split() == []
    assert engine.docker("exec", "scratch", "ls", "/kept").split() == ["/kept"]
