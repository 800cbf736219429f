"""Projects brought up for real have no drift, and each kind of change, in file, environment or engine, is found."""

from __future__ import annotations

import os
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.compose import ComposeOptions, ComposeReader, find_binary
from bcon_exporter.drift import detect_drift, find_projects
from bcon_exporter.engine import DockerHost, HostOptions, Wants, find_endpoint
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.desired import ProjectProblem
from bcon_exporter.model.reports import DriftReport, DriftStatus
from bcon_exporter.secrets.masking import Sealer
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker

PLAIN = """
services:
  web:
    image: bcon-test:1
    command: ["serve"]
    environment: {MODE: prod, TOKEN: canary-4711}
    ports: ["127.0.0.1:28080:80"]
    volumes: ["data:/data", "./conf:/conf:ro"]
    labels: {team: shop}
    mem_limit: 64m
    restart: unless-stopped
    stop_grace_period: 1s
  db:
    image: bcon-test:1
    command: ["serve"]
    networks: {default: {aliases: [database]}}
    stop_grace_period: 1s
volumes: {data: {}}
networks: {extra: {external: true, name: bridge}}
"""

EVERYTHING = """
services:
  web:
    image: bcon-test:1
    entrypoint: ["/bin/sh", "-c"]
    command: ["echo $$HOME && sleep 1000"]
    environment: ["A=1", "B=", "UNSET_ONE", "D=pa$$x"]
    ports: ["127.0.0.1::80", "127.0.0.1:29000-29001:9000-9001/udp", "53"]
    expose: ["7000-7001", "8000/udp"]
    volumes: ["./conf:/conf:ro", "data:/v", "/anonymous", {type: tmpfs, target: /t, tmpfs: {size: 1m, mode: 448}}]
    networks: {default: {aliases: [x]}, fixed: {ipv4_address: 172.31.251.10}, more: null}
    healthcheck: {test: "true", interval: 1m30s, timeout: 3s, retries: 2, start_period: 1500ms}
    deploy:
      resources: {limits: {pids: 20, cpus: "0.5", memory: 64m}, reservations: {memory: 20M}}
      restart_policy: {condition: on-failure, max_attempts: 3}
    cpu_shares: 512
    cpuset: "0"
    ulimits: {nofile: 1000, nproc: {soft: 500, hard: 600}}
    sysctls: [net.core.somaxconn=10]
    logging: {driver: json-file, options: {max-size: 1m}}
    extra_hosts: ["a:1.2.3.4", "b=::1"]
    labels: [l1=v1, "l2=$$x"]
    tmpfs: [/run, "/x:size=1m,mode=700"]
    stop_grace_period: 1s
    stop_signal: SIGINT
    configs: [c1, {source: c2, target: /etc/c2}]
    secrets: [s1]
    devices: ["/dev/null:/dev/xnull"]
    shm_size: 10m
    dns: [1.1.1.1, 8.8.8.8]
    dns_search: example.test
    dns_opt: ["ndots:2"]
    user: "0:0"
    working_dir: /tmp/
    hostname: front
    domainname: example.test
    cap_add: [net_bind_service, CAP_CHOWN]
    cap_drop: [MKNOD]
    security_opt: ["no-new-privileges:true"]
    group_add: ["1000", "20"]
    init: true
    tty: true
    stdin_open: true
    privileged: false
    oom_score_adj: 100
    container_name: drift-everything-web
    depends_on: {init: {condition: service_completed_successfully}}
  host: {image: "bcon-test:1", command: [serve], network_mode: host, ipc: host, stop_grace_period: 1s}
  none: {image: "bcon-test:1", command: [serve], network_mode: none, pid: host, stop_grace_period: 1s}
  side: {image: "bcon-test:1", command: [serve], network_mode: "service:none", ipc: shareable, stop_grace_period: 1s}
  from: {image: "bcon-test:1", command: [serve], volumes_from: [many], stop_grace_period: 1s}
  old: {image: "bcon-test:1", command: [serve], network_mode: bridge, read_only: true, stop_grace_period: 1s}
  many: {image: "bcon-test:1", command: [serve], scale: 2, volumes: ["data:/v"], stop_grace_period: 1s}
  init: {image: "bcon-test:1", command: ["true"], network_mode: none}
  idle: {image: "bcon-test:1", command: [serve], profiles: [debug]}
  off: {image: "bcon-test:1", command: [serve], deploy: {replicas: 0}}
volumes: {data: {}}
networks:
  fixed: {ipam: {config: [{subnet: 172.31.251.0/24}]}}
  more: {internal: true}
configs: {c1: {content: hello}, c2: {file: ./conf/c2}}
secrets: {s1: {file: ./conf/s1}}
"""


class Stack:
    """A Compose project on the private engine, and the drift reports on it as the program makes them."""

    def __init__(self, engine: TestEngine, directory: Path) -> None:
        self.engine, self.directory = engine, directory
        self.file = directory / "compose.yaml"
        self._sealer = Sealer.random()

    def up(self, text: str, *arguments: str) -> None:
        """Write the file and bring it up."""
        (self.directory / "conf").mkdir(exist_ok=True)
        for name in ("c2", "s1"):
            (self.directory / "conf" / name).write_text("x")
        self.file.write_text(text)
        self.engine.compose("up", "-d", "--pull", "never", "--quiet-pull", *arguments, cwd=self.directory)

    def change(self, old: str, new: str) -> None:
        """Replace text in the file."""
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new, 1))

    def report(self, project: str = "stack", *, trusted: bool = True) -> DriftReport:
        """Compare as `bcon-exporter drift` does, or as the daemon does."""
        now = datetime.now(UTC)
        host = DockerHost(find_endpoint(self.engine.host, {}, home=Path("/")), HostOptions(), self._sealer)
        with closing(host), closing(MemoryKeeper.open(None, retention_seconds=3600, now=now)) as history:
            history.add_events(host.drain_events(), now)
            snapshot = history.observe(host.observe(now, 20, Wants(logs=False, usage=False, config=True)).snapshot)
        environ = {"PATH": os.environ["PATH"]} if trusted else {}
        binary = find_binary(os.environ["PATH"])
        reader = ComposeReader(
            ComposeOptions(binary=binary, environ=environ, trusted=trusted, roots=(self.directory,)), self._sealer
        )
        known = find_projects(snapshot)
        if trusted:
            return detect_drift(reader.resolve_file(str(self.file), project, now, known), snapshot)
        running = next(one for one in known if one.name == project)

        def look() -> DriftReport | None:  # the daemon looks again where Compose takes its time
            report = detect_drift(reader.resolve_running(running, now), snapshot)
            return None if "still resolving" in (report.unknown_detail or "") else report

        return wait_until(look, "Compose to have resolved it", timeout_seconds=60)

    def found(self) -> list[tuple[str, str, str | None]]:
        """Service, type and field of each difference, as the command line finds them."""
        return [(one.service_name, str(one.drift_type), one.field) for one in self.report().differences]


@pytest.fixture
def stack(engine: TestEngine, tmp_path: Path) -> Stack:
    """An empty project named "stack"."""
    directory = tmp_path / "stack"
    directory.mkdir()
    return Stack(engine, directory)


@pytest.mark.contract
@pytest.mark.parametrize("trusted", [True, False])
def test_a_project_that_declares_nearly_everything_has_no_drift(stack: Stack, *, trusted: bool) -> None:
    has_cpusets = stack.engine.docker("info", "--format", "{{.CPUSet}}") == "true"
    stack.up(EVERYTHING if has_cpusets else EVERYTHING.replace('    cpuset: "0"\n', ""))
    report = stack.report(trusted=trusted)
    assert [one.message for one in report.differences] == []
    assert (report.status, report.rule_errors) == (DriftStatus.SYNCED, ()), report.unknown_detail
    assert (report.unknown_detail is None) is trusted


@pytest.mark.contract
def test_restart_up_again_and_reformatting_make_no_drift(stack: Stack) -> None:
    stack.up(PLAIN)
    stack.engine.docker("restart", "-t", "0", "stack-web-1")
    assert stack.found() == []
    stack.up(
        "# a comment\n"
        + PLAIN.replace('["127.0.0.1:28080:80"]', '[{target: 80, host_ip: 127.0.0.1, published: "28080"}]')
    )
    assert stack.found() == []
    stack.file.write_text(stack.engine.compose("config", cwd=stack.directory))
    assert [kind for kind in stack.found() if kind[2] is not None] == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("MODE: prod", "MODE: test", ("web", "config_mismatch", "environment.MODE")),
        ("MODE: prod", "MODE: prod, NEW: on", ("web", "config_mismatch", "environment.NEW")),
        (", TOKEN: canary-4711", "", ("web", "config_mismatch", "environment.TOKEN")),
        ("28080:80", "28081:80", ("web", "config_mismatch", "ports.80/tcp")),
        ("data:/data", "data:/other", ("web", "config_mismatch", "volumes./other")),
        (":ro", "", ("web", "config_mismatch", "volumes./conf")),
        ("team: shop", "team: ops", ("web", "config_mismatch", "labels.team")),
        ("mem_limit: 64m", "mem_limit: 65m", ("web", "config_mismatch", "mem_limit")),
        ("restart: unless-stopped", "restart: always", ("web", "config_mismatch", "restart")),
        ("image: bcon-test:1", "image: bcon-test:2", ("web", "image_mismatch", "image")),
        ('command: ["serve"]', 'command: ["serve", "more"]', ("web", "config_mismatch", "command")),
        (
            "aliases: [database]",
            "aliases: [database, pg]",
            ("db", "config_mismatch", "networks.stack_default.aliases.pg"),
        ),
        ("volumes: {data: {}}", "volumes: {data: {labels: {a: b}}}", ("web", "config_mismatch", "volumes.stack_data")),
        ("  db:\n", "  api: {image: 'bcon-test:1'}\n  db:\n", ("api", "missing_service", None)),
        ("  db:\n", "  database:\n", ("db", "extra_container", None)),
        ("  db:\n", "  db:\n    scale: 2\n", ("db", "replica_mismatch", None)),
    ],
)
def test_a_change_of_the_file_is_found_typed_and_named(
    stack: Stack, old: str, new: str, expected: tuple[str, str, str | None]
) -> None:
    stack.up(PLAIN)
    stack.change(old, new)
    report = stack.report()
    assert expected in stack.found()
    assert report.status is DriftStatus.DRIFTED
    assert "canary" not in report.model_dump_json()


ENGINE_CHANGES: dict[str, tuple[Callable[[TestEngine], object], tuple[str, str, str | None]]] = {
    "memory": (
        lambda engine: engine.docker("update", "--memory", "96m", "--memory-swap", "192m", "stack-web-1"),
        ("web", "config_mismatch", "mem_limit"),
    ),
    "restart policy": (
        lambda engine: engine.docker("update", "--restart", "no", "stack-web-1"),
        ("web", "config_mismatch", "restart"),
    ),
    "limit where none is declared": (
        lambda engine: engine.docker("update", "--cpus", "0.5", "stack-db-1"),
        ("db", "config_mismatch", "cpus"),
    ),
    "network added": (
        lambda engine: engine.docker("network", "connect", "bridge", "stack-db-1"),
        ("db", "config_mismatch", "networks.bridge"),
    ),
    "network lost": (
        lambda engine: engine.docker("network", "disconnect", "stack_default", "stack-db-1"),
        ("db", "config_mismatch", "networks.stack_default"),
    ),
    "renamed": (
        lambda engine: engine.docker("rename", "stack-web-1", "other"),
        ("web", "config_mismatch", "container_name"),
    ),
    "stopped": (lambda engine: engine.docker("stop", "stack-db-1"), ("db", "not_running", None)),
    "paused": (lambda engine: engine.docker("pause", "stack-db-1"), ("db", "not_running", None)),
    "killed": (lambda engine: engine.docker("kill", "stack-db-1"), ("db", "not_running", None)),
    "removed": (lambda engine: engine.docker("rm", "-f", "stack-db-1"), ("db", "missing_service", None)),
}


@pytest.mark.contract
@pytest.mark.parametrize("name", ENGINE_CHANGES)
def test_a_change_made_behind_the_back_of_compose_is_found(stack: Stack, name: str) -> None:
    change, expected = ENGINE_CHANGES[name]
    stack.up(PLAIN)
    change(stack.engine)
    (found,) = stack.report().differences
    assert (found.service_name, str(found.drift_type), found.field) == expected
    assert found.outside_compose is (expected[1] == "config_mismatch")
    if name in ("stopped", "killed"):
        assert found.stop_requested is (name == "stopped")


@pytest.mark.contract
def test_a_lost_alias_and_hand_made_containers_are_found(stack: Stack) -> None:
    stack.up(PLAIN)
    stack.engine.docker("network", "disconnect", "stack_default", "stack-db-1")
    stack.engine.docker("network", "connect", "stack_default", "stack-db-1")
    labels = ("--label", "com.docker.compose.project=stack", "--label", "com.docker.compose.service=web")
    stack.engine.docker("run", "-d", "--name", "claims", *labels, stack.engine.image, "serve")
    stack.engine.docker("run", "-d", "--name", "loose", stack.engine.image, "serve")
    found = stack.found()
    assert ("db", "config_mismatch", "networks.stack_default.aliases.database") in found
    assert ("web", "extra_container", None) in found
    assert stack.report().untracked == ("claims", "loose") or set(stack.report().untracked) == {"claims", "loose"}


def test_scaling_and_one_off_runs(stack: Stack) -> None:
    stack.up(PLAIN)
    stack.engine.compose("run", "-d", "--no-deps", "db", "serve", cwd=stack.directory)
    assert stack.found() == []
    stack.engine.compose("up", "-d", "--scale", "db=3", "--no-recreate", cwd=stack.directory)
    assert stack.found() == [("db", "replica_mismatch", None)]


@pytest.mark.contract
def test_a_moved_tag_is_an_image_mismatch_on_every_user(stack: Stack) -> None:
    stack.engine.docker("tag", stack.engine.image, "moving:1")
    stack.up(PLAIN.replace("bcon-test:1", "moving:1"))
    container = stack.engine.docker("create", "--label", "x=y", stack.engine.image).strip()
    stack.engine.docker("commit", container, "moving:1")
    stack.engine.docker("rm", container)
    assert stack.found() == [("db", "image_mismatch", "image"), ("web", "image_mismatch", "image")]


def test_a_file_that_is_gone_or_was_standard_input_is_a_stated_unknown(stack: Stack) -> None:
    stack.up(PLAIN)
    stack.file.rename(stack.directory / "moved.yaml")
    gone = stack.report(trusted=False)
    assert (gone.status, gone.unknown_reason) == (DriftStatus.UNKNOWN, ProjectProblem.NOT_FOUND)
    assert str(stack.file) in str(gone.unknown_detail)


def test_no_drift_run_leaves_a_trace_on_the_engine(stack: Stack) -> None:
    stack.up(PLAIN)
    since = datetime.now(UTC)
    stack.report()
    stack.report(trusted=False)
    until = datetime.now(UTC)
    stamps = (f"{since.timestamp():.9f}", f"{until.timestamp():.9f}")
    assert stack.engine.docker("events", "--since", stamps[0], "--until", stamps[1]) == ""
