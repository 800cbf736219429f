"""The Compose stacks resolve, every service is hardened, and .env.example names each variable and its default."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.programs import need

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
FILES = ("compose.agent.yaml", "compose.monitoring.yaml")
VARIABLE = re.compile(r"\$\{([A-Z_]+)(?::([-?])((?:[^{}]|\$\{[^}]*\})*))?\}")
NEEDED = {"DOCKER_GID": "999", "STACKS": "/srv/stacks"}


def resolve(**variables: str) -> Any:
    """Both stacks with Grafana, as Compose resolves them."""
    command = [str(Path(sys.executable).parent / "docker-compose"), "--profile=grafana"]
    files = [word for name in FILES for word in ("-f", name)]
    done = subprocess.run(
        [*command, *files, "config", "--format=json"],
        cwd=DEPLOY,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def stack() -> Any:
    return resolve(**NEEDED)


@pytest.mark.promise("S12")
def test_every_service_is_hardened_and_limited(stack: Any) -> None:
    assert stack["services"].keys() == {"socket-proxy", "exporter", "prometheus", "alertmanager", "grafana"}
    for name, service in stack["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["restart"] == "unless-stopped", name
        assert int(service["mem_limit"]) <= 512 << 20, name
        assert 0 < service["pids_limit"] <= 128, name
        assert service["logging"]["options"] == {"max-size": "5m", "max-file": "3"}, name
        assert service["healthcheck"], name
        assert "privileged" not in service, name
    assert stack["services"]["exporter"]["mem_limit"] == str(256 << 20)


def test_every_port_is_published_on_loopback_alone_and_the_proxy_has_none(stack: Any) -> None:
    published = {
        name: [(port["host_ip"], port["published"]) for port in service.get("ports", ())]
        for name, service in stack["services"].items()
    }

    assert published == {
        "socket-proxy": [],
        "exporter": [("127.0.0.1", "19877")],
        "prometheus": [("127.0.0.1", "9090")],
        "alertmanager": [("127.0.0.1", "9093")],
        "grafana": [("127.0.0.1", "3000")],
    }


def test_only_the_exporter_reaches_the_proxy_and_only_the_proxy_the_socket(stack: Any) -> None:
    services = stack["services"]

    assert stack["networks"]["engine"]["internal"] is True
    assert {name for name, service in services.items() if "engine" in service["networks"]} == {
        "socket-proxy",
        "exporter",
    }
    assert list(services["socket-proxy"]["networks"]) == ["engine"]
    with_socket = [
        name
        for name, service in services.items()
        for mount in service.get("volumes", ())
        if str(mount.get("source", "")).endswith("docker.sock")
    ]
    assert with_socket == ["socket-proxy"]


def test_every_mount_of_the_host_is_read_only_and_what_is_shipped_is_there(stack: Any) -> None:
    mounts = [
        mount
        for service in stack["services"].values()
        for mount in service.get("volumes", ())
        if mount["type"] == "bind"
    ]

    assert [mount["source"] for mount in mounts if not mount.get("read_only")] == []
    ours = [mount["source"] for mount in mounts if mount["source"].startswith(str(ROOT))]
    assert len(ours) == 7
    assert [path for path in ours if not Path(path).exists()] == []


def test_projects_lie_in_the_container_where_they_lie_on_the_host_or_are_mapped(stack: Any) -> None:
    def projects(resolved: Any) -> tuple[str, str]:
        exporter = resolved["services"]["exporter"]
        mount = next(each for each in exporter["volumes"] if each["source"] == "/srv/stacks")
        return mount["target"], exporter["environment"]["BCON_COMPOSE__PATH_MAP"]

    assert projects(stack) == ("/srv/stacks", "")
    mapped = resolve(**NEEDED, STACKS_INSIDE="/stacks", PATH_MAP="/srv/stacks=/stacks")
    assert projects(mapped) == ("/stacks", "/srv/stacks=/stacks")


def test_without_the_needed_variables_it_says_which() -> None:
    with pytest.raises(AssertionError, match=r"DOCKER_GID|STACKS"):
        resolve()


def test_the_example_names_every_variable_with_the_default_that_is_used() -> None:
    used: dict[str, str | None] = {}
    for name in FILES:
        for variable, kind, text in VARIABLE.findall((DEPLOY / name).read_text()):
            used[variable] = text if kind == "-" else used.get(variable)
    example = (DEPLOY / ".env.example").read_text()
    named = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", example, re.MULTILINE))

    assert named.keys() == used.keys()
    assert {name: named[name] for name in NEEDED} == NEEDED
    shown = {name: text for name, text in named.items() if name not in {*NEEDED, "STACKS_INSIDE", "PATH_MAP"}}
    assert shown == {name: used[name] for name in shown}


def test_promtool_accepts_the_configuration_and_its_rules(tmp_path: Path) -> None:
    shutil.copy(DEPLOY / "prometheus.yml", tmp_path)
    shutil.copy(ROOT / "alerts" / "bcon.rules.yml", tmp_path)
    command = [need("promtool"), "check", "config", str(tmp_path / "prometheus.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "rules found" in done.stdout
    assert "honor_labels: true" in (DEPLOY / "prometheus.yml").read_text()
