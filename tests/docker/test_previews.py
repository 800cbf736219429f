"""Promise: what the refusal of a change says of it is what the change then does, on engines of both kinds of prune."""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from bcon_exporter.app import build_context
from bcon_exporter.settings import load_settings
from bcon_exporter.tools import call_tool
from tests.table_rows import table

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = pytest.mark.docker

SHOP = """
services:
  web:
    image: bcon-test:1
    command: ["serve"]
    stop_grace_period: 1s
    volumes: ["data:/data", "/scratch"]
    networks: [default, back]
    depends_on: [db]
  db:
    image: bcon-test:1
    command: ["serve"]
    stop_grace_period: 1s
    networks: [back]
    volumes: ["kept:/kept"]
volumes: {data: {}, kept: {external: true, name: kept}}
networks: {back: {}}
"""
UP = (("volume", "create", "kept"), ("COMPOSE", "up", "-d"))
SERVE = ("run", "-d", "IMAGE", "serve")
DANGLING = (("tag", "IMAGE", "old:1"), ("commit", "NAME", "old:1"), ("commit", "NAME", "old:1"))


@dataclass(frozen=True)
class Scene:
    """A host, and a change.

    Attributes:
        operation: `action:subaction`, and the fields.
        setup: Commands for docker; COMPOSE begins one for Compose, NEW a file that is written in its place.
    """

    operation: tuple[str, dict[str, Any]]
    setup: tuple[tuple[str, ...], ...]


def on(key: str, *setup: tuple[str, ...], **fields: Any) -> Scene:
    return Scene((key, fields), setup)


def run(name: str, *flags: str, command: tuple[str, ...] = ("serve",)) -> tuple[str, ...]:
    return ("run", "-d", "--name", name, *flags, "IMAGE", *command)


def create(name: str, *flags: str) -> tuple[str, ...]:
    return ("create", "--name", name, *flags, "IMAGE", "serve")


ENDED = (run("ended"), ("kill", "ended"))
OLD_IMAGES = (run("old"), ("commit", "-m", "1", "old", "old:1"), ("commit", "-m", "2", "old", "old:1"))
"""The image of the first commit loses its tag to the second."""
VOLUMES = (
    ("volume", "create", "named"),
    ("volume", "create", "--opt", "type=tmpfs", "--opt", "device=tmpfs", "optioned"),
    ("volume", "create", "used"),
    create("user", "-v", "used:/used"),
    create("shortlived", "-v", "/anonymous"),
    ("rm", "shortlived"),
)
NETWORKS = (
    ("network", "create", "lonely"),
    ("network", "create", "of-stopped"),
    create("stopped", "--network", "of-stopped"),
    ("network", "create", "of-running"),
    run("running", "--network", "of-running"),
)
SCENES: dict[str, Scene] = {
    "start": on("container:start", *ENDED, container_id="ended"),
    "start of a new one": on("container:start", create("fresh"), container_id="fresh"),
    "start of one that runs": on("container:start", run("web"), container_id="web"),
    "start of a frozen one": on("container:start", run("web"), ("pause", "web"), container_id="web"),
    "stop": on("container:stop", run("web"), container_id="web"),
    "stop of a frozen one": on("container:stop", run("web"), ("pause", "web"), container_id="web"),
    "stop of one that ended": on("container:stop", *ENDED, container_id="ended"),
    "stop with --rm": on("container:stop", run("web", "--rm", "-v", "/scratch", "-v", "named:/n"), container_id="web"),
    "restart": on("container:restart", run("web"), container_id="web"),
    "pause": on("container:pause", run("web"), container_id="web"),
    "pause of one that ended": on("container:pause", *ENDED, container_id="ended"),
    "resume": on("container:resume", run("web"), ("pause", "web"), container_id="web"),
    "resume of one that runs": on("container:resume", run("web"), container_id="web"),
    "prune of containers": on(
        "docker:prune", run("web"), create("fresh"), *ENDED, run("ice"), ("pause", "ice"), prune_target="containers"
    ),
    "prune of networks": on("docker:prune", *NETWORKS, prune_target="networks"),
    "prune of volumes": on("docker:prune", *VOLUMES, prune_target="volumes"),
    "prune of images": on("docker:prune", *OLD_IMAGES, prune_target="images"),
    "prune of an image that is used": on(
        "docker:prune",
        run("old"),
        ("commit", "-m", "1", "old", "old:1"),
        ("create", "--name", "user", "old:1", "serve"),
        ("commit", "-m", "2", "old", "old:1"),
        prune_target="images",
    ),
    "prune of the cache": on("docker:prune", run("web"), prune_target="buildcache"),
    "prune of all": on(
        "docker:prune", *VOLUMES, *NETWORKS, *OLD_IMAGES, ("kill", "old"), prune_target="all", force=True
    ),
    "rmi": on("docker:rmi", *OLD_IMAGES, image="old:1"),
    "rmi of one of two tags": on("docker:rmi", ("tag", "IMAGE", "other:1"), image="other:1"),
    "rmi of a used one": on("docker:rmi", *OLD_IMAGES, ("create", "--name", "user", "old:1", "serve"), image="old:1"),
    "rmi with force": on(
        "docker:rmi", *OLD_IMAGES, ("create", "--name", "user", "old:1", "serve"), image="old:1", force=True
    ),
    "rmi with force of one that runs": on(
        "docker:rmi", *OLD_IMAGES, ("run", "-d", "--name", "user", "old:1", "serve"), image="old:1", force=True
    ),
    "up of what is up": on("compose:up", *UP, project="shop"),
    "up of a stopped one": on("compose:up", *UP, ("stop", "-t", "1", "shop-db-1"), project="shop"),
    "up after an edit": on(
        "compose:up", *UP, ("NEW", 'command: ["serve"]', 'command: ["sleep", "1000"]'), project="shop"
    ),
    "up with a service less": on(
        "compose:up", *UP, ("NEW", "  db:\n", "  other:\n"), ("NEW", "depends_on: [db]", ""), project="shop"
    ),
    "up of one that is gone": on("compose:up", *UP, ("rm", "-f", "shop-web-1"), project="shop"),
    "down": on("compose:down", *UP, project="shop"),
    "down with volumes": on("compose:down", *UP, project="shop", remove_volumes=True),
    "down with a guest": on(
        "compose:down",
        *UP,
        run("guest", "--network", "shop_back", "-v", "shop_data:/data"),
        project="shop",
        remove_volumes=True,
    ),
    "down with a single run": on("compose:down", *UP, ("COMPOSE", "run", "-d", "db", "serve"), project="shop"),
    "down with an orphan": on(
        "compose:down", *UP, ("NEW", "  db:\n", "  other:\n"), ("NEW", "depends_on: [db]", ""), project="shop"
    ),
    "restart of a project": on("compose:restart", *UP, ("stop", "-t", "1", "shop-db-1"), project="shop"),
    "recreate of a project": on("compose:recreate", *UP, project="shop"),
    "recreate of a service": on("compose:recreate", *UP, project="shop", service="db"),
    "recreate of a container": on("container:recreate", *UP, container_id="shop-db-1", pull=False),
}


class Host(NamedTuple):
    """What is on a host: name → state, id, start; names; id → tags."""

    containers: dict[str, tuple[str, str, str]]
    networks: frozenset[str]
    volumes: frozenset[str]
    images: dict[str, frozenset[str]]


def look(engine: TestEngine) -> Host:
    ids = engine.docker("ps", "-aq").split()
    inspected = json.loads(engine.docker("inspect", *ids)) if ids else []
    containers = {
        one["Name"].removeprefix("/"): (one["State"]["Status"], one["Id"], one["State"]["StartedAt"])
        for one in inspected
    }
    images: dict[str, frozenset[str]] = {}
    for line in engine.docker("images", "--no-trunc", "--format", "{{.ID}} {{.Repository}}:{{.Tag}}").splitlines():
        image, tag = line.split()
        images[image] = images.get(image, frozenset()) | ({tag} if "<none>" not in tag else frozenset())
    networks = frozenset(engine.docker("network", "ls", "--format", "{{.Name}}").split())
    return Host(containers, networks, frozenset(engine.docker("volume", "ls", "-q").split()), images)


def differences(before: Host, after: Host, effects: dict[str, Any]) -> list[str]:
    """Where what is there is not what was told."""
    wrong = []
    acted = {one["name"]: one["action"] for one in effects["containers"]}
    for name, (state, container_id, started) in before.containers.items():
        now = after.containers.get(name)
        done = (
            "remove" if now is None
            else "recreate" if now[1] != container_id
            else "leave" if now == (state, container_id, started)
            else {("running", "exited"): "stop", ("paused", "exited"): "stop", ("running", "paused"): "pause",
                  ("paused", "running"): "resume", ("running", "running"): "restart"}.get((state, now[0]), "start")
        )  # fmt: skip
        told = acted.get(name, "leave").replace("none", "leave")
        wrong += [f"{name}: told {told}, done {done}"] if told != done else []
    made = sorted(name for name in after.containers.keys() - before.containers.keys())
    told_made = sorted(f"shop-{service}-1" for service in effects["creates"])
    wrong += [f"told to make {told_made}, made {made}"] if made != told_made else []
    for kind, told_gone in (
        ("networks", set(effects["networks"])),
        ("volumes", {one["name"] for one in effects["volumes"]}),
    ):
        gone = getattr(before, kind) - getattr(after, kind)
        wrong += [f"{kind}: told {sorted(told_gone)}, gone {sorted(gone)}"] if gone != told_gone else []
    gone = {image.split(":")[1][:12] for image in before.images.keys() - after.images.keys()}
    told_gone = {one["image_id"] for one in effects["images"] if one["removed"]}
    wrong += [f"images: told {told_gone}, gone {gone}"] if gone != told_gone else []
    untagged = {tag for tags in before.images.values() for tag in tags} - {
        tag for tags in after.images.values() for tag in tags
    }
    told_untagged = {tag for one in effects["images"] for tag in one["untagged"]}
    wrong += [f"tags: told {told_untagged}, gone {untagged}"] if untagged != told_untagged else []
    return wrong


QUICK = (
    *("stop with --rm", "prune of volumes", "prune of networks", "rmi with force"),
    *("up of a stopped one", "down with a guest"),
)
ROWS = list(SCENES) if os.environ.get("TEST_NIGHTLY") == "1" else list(QUICK)
"""A scene takes some seconds: all are played by `make nightly`."""


@table("name", ROWS, shared=["engine", "figure"])
def test_a_change_does_what_was_told(engine: TestEngine, tmp_path: Path, figure: Figure, name: str) -> None:
    engine.remove_everything()
    scene, folder = SCENES[name], tmp_path / "shop"
    folder.mkdir()
    file = folder / "compose.yaml"
    file.write_text(SHOP)
    for words in scene.setup:
        if words[0] == "NEW":
            file.write_text(file.read_text().replace(words[1], words[2]))
        elif words[0] == "COMPOSE":
            engine.compose(*words[1:], cwd=folder)
        else:
            engine.docker(*(engine.image if word == "IMAGE" else word for word in words))
    key, fields = scene.operation
    action, _, subaction = key.partition(":")
    settings = load_settings({"docker": {"host": engine.host}, "state": {"path": "none"}}, {})
    context = build_context(settings, one_shot=True)
    more = {"host": "localhost"} if action in ("compose", "docker") else {}
    with closing(context.host), closing(context.memory):
        answer = call_tool(context, "flux", {"action": action, "subaction": subaction, **more, **fields}).data()
    assert answer["error"]["code"] == "permission_denied", answer
    told = answer["error"]["details"]
    before = look(engine)
    command = told["command"]
    assert command[0] == "docker"
    if command[1] == "compose":
        engine.compose(*command[2:], *(("-t", "1") if command[-1] == "restart" else ()), check=False)
    else:
        quick = ("-t", "1") if command[1] in ("stop", "restart") else ("-f",) if "prune" in command else ()
        engine.docker(*(word for word in command[1:] if word != "-f" or "prune" not in command), *quick, check=False)
    wrong = differences(before, look(engine), told["effects"])
    figure(f"{name}: {told['would']}")
    assert wrong == [], f"{wrong}; told: {told['would']}"
