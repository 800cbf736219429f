"""The shipped stack tells a receiver what goes wrong on a host: rightly, once, until it is over, outages or not.

Real engine, Compose, HAProxy, Prometheus and Alertmanager. What is shortened: the rules' minutes are seconds,
Prometheus looks each second, the exporter every two, Alertmanager groups for one second. What is pushed
straight to Alertmanager are incidents.
"""

from __future__ import annotations

import json
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from bcon_exporter.tools import TOOLS
from tests.docker.e2e.site import FILES, HERE, Site, in_seconds, quick_routes
from tests.tools.operation_inputs import payload_for
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.alone, pytest.mark.in_pairs]

SHOP = """\
name: shop
services:
  web: {image: "bcon-test:1", command: serve, stop_grace_period: 1s, environment: {MODE: live}}
  loop:
    image: "bcon-test:1"
    command: [sh, -c, "echo 'FATAL: cannot read /etc/loop.yml: no such file or directory'; exit 3"]
    restart: always
  hog: {image: "bcon-test:1", command: eat-memory, mem_limit: 24m}
  sick:
    image: "bcon-test:1"
    command: serve
    stop_grace_period: 1s
    healthcheck: {test: [CMD, sh, -c, "echo database is gone; exit 1"], interval: 1s, retries: 1}
"""
SETTINGS = """\
scan: {diagnose-interval: 2s, drift-interval: 2s}
thresholds: {hold-seconds: 4}
web:
  allow-insecure: true     # the test asks for reports through the published port
  external-url: https://bcon.shop.example/
"""
OUTAGE_SECONDS = 75.0
"""Longer than any rule waits or holds here, `in_seconds`."""
LOOP = {"alertname": "BconContainerRestartLoop", "container": "shop-loop-1", "project": "shop", "service": "loop"}
OOM = {"alertname": "BconContainerOomKilled", "container": "shop-hog-1", "project": "shop", "service": "hog"}
SICK = {"alertname": "BconContainerUnhealthy", "container": "shop-sick-1", "project": "shop", "service": "sick"}
DRIFT = {"alertname": "BconConfigDrift", "project": "shop", "service": "web"}
AWAY = {"alertname": "BconDockerUnreachable"}
ALSO = {"BconContainerLogErrors", "BconServiceNotRunning", "BconServiceMissing", "BconDeploymentFailed"}  # true besides
SCRAPED, PUSHED = "/scraped", "/pushed"
EVERYTHING = (*FILES, HERE / "compose.e2e.yaml")


@pytest.fixture(scope="module")
def stack(site: Site) -> Iterator[Site]:
    """The agent's and the monitoring stack, up and healthy, with a receiver."""
    (site.deploy / "config" / "bcon.yml").write_text(SETTINGS)
    prometheus = yaml.safe_load((site.deploy / "prometheus.yml").read_text())
    prometheus["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    example = (site.folder / "alerts" / "alertmanager.example.yml").read_text()
    made = {
        "prometheus.yml": yaml.safe_dump(prometheus),
        "rules.yml": in_seconds((site.folder / "alerts" / "bcon.rules.yml").read_text()),
        "alertmanager.yml": quick_routes(example, f"http://receiver:8000{SCRAPED}"),
        "push.yml": quick_routes(example, f"http://receiver:8000{PUSHED}"),
        "token": "let-me-in",
    }
    for name, text in made.items():
        (site.folder / name).write_text(text)
    site.environment |= {
        "PROMETHEUS_CONFIG": str(site.folder / "prometheus.yml"),
        "ALERT_RULES": str(site.folder / "rules.yml"),
        "ALERTMANAGER_CONFIG": str(site.folder / "alertmanager.yml"),
        "PUSH_ALERTMANAGER_CONFIG": str(site.folder / "push.yml"),
        "RECEIVER_TOKEN_FILE": str(site.folder / "token"),
        "E2E": str(HERE),
    }
    site.compose("up", "-d", "--no-build", "--pull=never", "--wait", "--wait-timeout=120", files=EVERYTHING)
    yield site
    site.compose("down", "-v", files=EVERYTHING)


@pytest.fixture(scope="module")
def shop(stack: Site) -> Iterator[Site]:
    """A Compose project in trouble: a loop, an OOM kill, a failing health check, and a file that has changed since."""
    folder = stack.stacks / "shop"
    folder.mkdir()
    file = folder / "compose.yaml"
    file.write_text(SHOP)
    stack.broken_at = time.time()
    stack.engine.compose("up", "-d", cwd=folder)
    file.write_text(SHOP.replace("MODE: live", "MODE: test"))
    yield stack
    stack.engine.compose("down", cwd=folder)


def pushed_of(labels: dict[str, str]) -> dict[str, str]:
    """The labels of the incident of the same container."""
    return {**labels, "alertname": "BconIncident"}


def firings(site: Site, path: str, labels: dict[str, str]) -> list[dict[str, Any]]:
    """The notifications that said that an alert fires."""
    mine = (each for each in site.notified() if each["path"] == path and each["status"] == "firing")
    return [each for each in mine if labels.items() <= each["labels"].items()]


def repeated(site: Site, path: str) -> list[tuple[float, set[tuple[object, ...]]]]:
    """The firing notifications that said nothing new: a group lists what is still open beside what is new in it."""
    at_once: dict[float, set[tuple[object, ...]]] = {}
    for each in site.notified():
        if each["path"] == path:
            news = (each["startsAt"], each["status"], *sorted(each["labels"].items()))
            at_once.setdefault(each["at"], set()).add(news)
    known: set[tuple[object, ...]] = set()
    without_news = []
    for at, alerts in at_once.items():
        if alerts <= known:
            without_news.append((at, alerts))
        known |= alerts
    return without_news


def test_what_goes_wrong_is_told_once_survives_an_outage_and_ends_with_its_repair(shop: Site) -> None:
    told = {each["alertname"]: shop.wait_for("firing", SCRAPED, each) for each in (LOOP, OOM, SICK, DRIFT)}
    pushed = {each["alertname"]: shop.wait_for("firing", PUSHED, pushed_of(each)) for each in (LOOP, OOM)}
    show_delays(shop, SCRAPED, told)
    show_delays(shop, PUSHED, pushed)
    assert_told_rightly(told)
    assert pushed["BconContainerRestartLoop"]["labels"]["instance"] == "pusher"
    log = pushed["BconContainerRestartLoop"]["annotations"][
        "log"
    ]  # by which symptom it opened with, the end or the loop
    assert "exit codes, newest last: 3" in log or "FATAL: cannot read /etc/loop.yml" in log
    assert all(each["annotations"]["cause"] for each in pushed.values())
    assert_exit_is_muted(shop)

    during = notified_during_outage(shop)
    ended = {each["labels"]["alertname"] for each in during if each["status"] == "resolved"}
    # A busy machine may cost Prometheus its connection, and the engine's DNS, which names the exporter, is frozen.
    assert ended <= {AWAY["alertname"], "BconExporterDown"}
    assert len(firings(shop, SCRAPED, AWAY)) == 1
    shop.wait_for("firing", PUSHED, pushed_of(SICK), 180)

    repair(shop)
    shop.wait_for("resolved", PUSHED, pushed_of(SICK), 240)
    for each in (LOOP, OOM, SICK, DRIFT):
        shop.wait_for("resolved", SCRAPED, each)
    for each in (LOOP, OOM, SICK, DRIFT):
        assert len(firings(shop, SCRAPED, each)) == 1, each
    opened = [{each["startsAt"] for each in firings(shop, PUSHED, pushed_of(one))} for one in (LOOP, OOM, SICK)]
    assert [len(times) for times in opened] == [1, 1, 1], opened
    assert repeated(shop, PUSHED) == []
    known = {each["alertname"] for each in (LOOP, OOM, SICK, DRIFT, AWAY)} | ALSO
    scraped = (each["labels"] for each in shop.notified() if each["path"] == SCRAPED)
    of_shop = (labels for labels in scraped if labels.get("project") == "shop")
    assert {(each["alertname"], each.get("container")) for each in of_shop if each["alertname"] not in known} == set()


def show_delays(shop: Site, path: str, told: dict[str, dict[str, Any]]) -> None:
    """Say how long it took from `docker compose up` of the shop to each notification (pytest -s)."""
    delays = ", ".join(f"{name} {each['at'] - shop.broken_at:.0f} s" for name, each in told.items())
    sys.stdout.write(f"\nfrom fault to notification at {path}: {delays}\n")


def assert_told_rightly(told: dict[str, dict[str, Any]]) -> None:
    """Labels, severity, and the cause among the texts."""
    loop, oom, sick = (told[each["alertname"]] for each in (LOOP, OOM, SICK))
    here = {"job": "bcon", "instance": "exporter:19877"}
    assert loop["labels"] == LOOP | here | {"severity": "critical", "symptom": "restart_loop"}
    assert loop["annotations"]["summary"] == "shop-loop-1 on exporter:19877 restarts again and again"
    assert [told[each["alertname"]]["labels"]["severity"] for each in (OOM, SICK, DRIFT)] == [
        "critical",
        "warning",
        "warning",
    ]
    causes = [each["annotations"]["cause"].partition("Likely cause: ")[2] for each in (loop, oom, sick)]
    assert all(causes), causes
    assert "memory" in causes[1]
    leads = {name: each["annotations"]["runbook_url"] for name, each in told.items()}
    assert leads == {name: f"https://bcon.shop.example/docs/runbooks/{name}.md" for name in told}
    assert loop["annotations"]["page"] == "https://bcon.shop.example/c/shop-loop-1"


def assert_exit_is_muted(stack: Site) -> None:
    """The exit of what was killed for memory fires, and is inhibited."""
    query = ("amtool", "--alertmanager.url=http://127.0.0.1:9093", "-o", "json", "alert", "query", "--inhibited")
    matchers = ("alertname=BconContainerExitError", "container=shop-hog-1")
    muted = json.loads(stack.engine.docker("exec", "bcon-alertmanager-1", *query, *matchers))
    assert [bool(each["status"]["inhibitedBy"]) for each in muted] == [True]
    assert firings(stack, SCRAPED, {"alertname": "BconContainerExitError", "container": "shop-hog-1"}) == []


def notified_during_outage(stack: Site) -> list[dict[str, Any]]:
    """Freeze the engine; what was told meanwhile, and until it was said to be over.

    The Alertmanager that is pushed to is away meanwhile, and comes back after it.
    """
    stack.engine.docker("stop", "bcon-push-alertmanager-1")
    began = time.time()
    stack.engine.pause()
    wait_until(lambda: time.time() > began + OUTAGE_SECONDS, "the outage's end", timeout_seconds=2 * OUTAGE_SECONDS)
    stack.engine.resume()
    stack.wait_for("resolved", SCRAPED, AWAY)
    stack.engine.docker("start", "bcon-push-alertmanager-1")
    return [each for each in stack.notified() if each["at"] >= began]


def repair(shop: Site) -> None:
    """Remove what is broken, and start anew what has left its file."""
    shop.engine.docker("rm", "-f", "shop-sick-1", "shop-loop-1", "shop-hog-1")
    shop.engine.compose("up", "-d", "web", cwd=shop.stacks / "shop")


def payloads(shop: Site) -> Iterator[tuple[str, dict[str, str]]]:
    """Every tool with an input, but for the one that is always denied."""
    file = shop.stacks / "shop" / "compose.yaml"
    inputs = {
        "container_id": "bcon-socket-proxy-1",
        "error_pattern": "connect",
        "query": "connection refused",
        "compose_file": str(file),
        "unit": "bcon-socket-proxy-1",
        "task": "drift",
        "path": str(file),
        "content": file.read_text(),
        "text": "known",
        "incident_id": shop.ask("/api/v1/incidents")["result"]["incidents"][0]["id"],
    }
    for tool in TOOLS:
        if tool.name != "restart_service":
            yield tool.name, payload_for(tool, inputs)


def test_all_tools_answer_in_the_container(shop: Site) -> None:
    for name, payload in payloads(shop):
        words = ("exec", "bcon-exporter-1", "bcon-exporter", "call", name, json.dumps(payload))
        answer = shop.engine.docker(*words, check=False)  # findings and drift exit with 1
        assert "result" in json.loads(answer), (name, answer)


def test_all_tools_answer_over_http_within_160_mib(shop: Site) -> None:
    shop.engine.docker("update", "--memory=160m", "--memory-swap=160m", "bcon-exporter-1")
    try:
        for name, payload in payloads(shop):
            answer = shop.ask(f"/api/v1/tools/{name}", payload)
            assert "result" in answer, (name, answer)
        container = shop.inspect("container", "bcon-exporter-1")
    finally:
        shop.engine.docker("update", "--memory=256m", "--memory-swap=512m", "bcon-exporter-1")
    assert (container["State"]["OOMKilled"], container["RestartCount"]) == (False, 0)


def test_the_exporter_stays_within_its_limits_and_reads_usage_from_cgroup_files(stack: Site) -> None:
    container = stack.inspect("container", "bcon-exporter-1")
    limits = container["HostConfig"]
    assert limits["ReadonlyRootfs"]
    assert limits["CapDrop"] == ["ALL"]
    assert limits["Memory"] == 256 << 20
    assert container["NetworkSettings"]["Ports"]["19877/tcp"] == [{"HostIp": "127.0.0.1", "HostPort": "19877"}]
    assert not [mount for mount in container["Mounts"] if mount["Destination"].endswith("docker.sock")]
    assert (container["State"]["OOMKilled"], container["RestartCount"]) == (False, 0)
    own = stack.ask("/api/v1/tools/get_container_stats", {"container_id": "bcon-exporter-1"})["result"]
    requests = dict(
        re.findall(r'^bcon_docker_requests_total\{endpoint="(\w+)"\} (\d+)', stack.ask("/metrics"), re.MULTILINE)
    )
    assert int(requests["stats"]) <= int(requests["list"])  # a probe each scan; without cgroup files one a container
    # The cache of the Compose binary's pages may be counted as the container's, up to its limit, and gives way.
    resident = re.search(r"^process_resident_memory_bytes (\S+)", stack.ask("/metrics"), re.MULTILINE)
    assert resident is not None
    assert float(resident[1]) < 144 << 20, own
