"""The files of docs/scaling.md do what it says, run by a real Prometheus and a real Alertmanager."""

from __future__ import annotations

import re
import shutil
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest

from bcon_exporter.outputs.alertmanager import Alertmanager
from bcon_exporter.outputs.alertmanager.delivery import deliver
from tests.docker.daemon import Daemon
from tests.outputs.alertmanager.receiver import receiving
from tests.outputs.alertmanager.running import CONFIG, running_alertmanager
from tests.programs import free_port
from tests.running_prometheus import running_prometheus
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.outputs.alertmanager.running import RunningAlertmanager
    from tests.running_prometheus import Prometheus

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
SCALING = ROOT / "deploy" / "scaling"


@pytest.fixture(scope="module")
def exporters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, Daemon]]:
    """Two hosts; their engines do not answer."""
    with ExitStack() as stack:
        folders = [tmp_path_factory.mktemp(name) for name in ("host1", "host2")]
        first, second = (
            stack.enter_context(Daemon(folder, f"unix://{folder}/absent.sock", "--scan.diagnose-interval=1s"))
            for folder in folders
        )
        yield first, second


def quick(text: str, **addresses: int) -> str:
    """A configuration by the second instead of the half minute, its example addresses replaced by ports of loopback."""
    text = text.replace("_interval: 30s", "_interval: 1s")
    for name, port in addresses.items():
        text = re.sub(rf"\b{name.replace('_', '[.]')}[.]example:\d+", f"127.0.0.1:{port}", text)
    assert ".example" not in text
    return text


@contextmanager
def running_site(
    folder: Path, name: str, exporter: Daemon, file: str = "site.yml", **addresses: int
) -> Iterator[Prometheus]:
    """A Prometheus of the site `name`, with one host."""
    folder.mkdir()
    shutil.copy(ROOT / "alerts" / "bcon.rules.yml", folder)
    hosts = (SCALING / "hosts.yml").read_text().splitlines(keepends=True)[:2]
    (folder / "hosts.yml").write_text(quick("".join(hosts), host1=exporter.port))
    config = quick((SCALING / file).read_text(), **addresses).replace("site1", name)
    with running_prometheus(folder, config, agent=file == "agent.yml") as running:
        yield running


def seen(prometheus: Prometheus, query: str) -> set[tuple[str, str, str]]:
    """Site, job and instance of every sample of a query."""
    return {
        (labels.get("site", ""), labels.get("job", ""), labels.get("instance", ""))
        for labels, _ in prometheus.samples(query)
    }


BOTH = {("berlin", "bcon", "host1"), ("rome", "bcon", "host1")}
WATCHDOGS = {("berlin", "sites", ""), ("rome", "sites", "")}
"""An alert of no job is given that of the federation."""


def test_a_prometheus_above_two_sites_sees_what_both_see(tmp_path: Path, exporters: tuple[Daemon, Daemon]) -> None:
    nobody = free_port()
    alertmanagers = {"alertmanager1": nobody, "alertmanager2": nobody}
    with (
        running_site(tmp_path / "a", "berlin", exporters[0], "site.yml", **alertmanagers) as first,
        running_site(tmp_path / "b", "rome", exporters[1], "site.yml", **alertmanagers) as second,
    ):
        sites = {"prometheus_site1": first.port, "prometheus_site2": second.port}
        config = quick((SCALING / "federating.yml").read_text(), **sites)
        with running_prometheus(tmp_path, config) as above:
            for query in ("bcon_build_info", "bcon_up == 0", 'up{job="bcon"} == 1', "instance:bcon_blind:bool"):
                wait_until(lambda query=query: seen(above, query) == BOTH, f"{query} of both sites")  # type: ignore[misc]
            wait_until(lambda: seen(above, 'ALERTS{alertname="BconWatchdog"}') == WATCHDOGS, "the alerts of both sites")


def test_what_agents_write_is_judged_in_one_place(tmp_path: Path, exporters: tuple[Daemon, Daemon]) -> None:
    (tmp_path / "central").mkdir()
    shutil.copy(ROOT / "alerts" / "bcon.rules.yml", tmp_path / "central")
    nobody = free_port()
    config = quick((SCALING / "receiving.yml").read_text(), alertmanager1=nobody, alertmanager2=nobody)
    with running_prometheus(tmp_path / "central", config, "--web.enable-remote-write-receiver") as central:
        to = {"prometheus_central": central.port}
        with (
            running_site(tmp_path / "a", "berlin", exporters[0], "agent.yml", **to),
            running_site(tmp_path / "b", "rome", exporters[1], "agent.yml", **to),
        ):
            for query in ("bcon_build_info", "bcon_up == 0", 'up{job="bcon"} == 1'):
                wait_until(lambda query=query: seen(central, query) == BOTH, f"{query} of both sites")  # type: ignore[misc]
            firing = 'ALERTS{alertname=~"BconWatchdog|BconDockerUnreachable"}'
            wait_until(lambda: len(central.samples(firing)) >= 2, "the rules to be judged over what was written")


def counted(alertmanager: RunningAlertmanager) -> float:
    """How often an Alertmanager has looked up whether somebody was told already."""
    with urlopen(f"{alertmanager.url}/metrics", timeout=10) as answer:
        found = re.search(rb"^alertmanager_nflog_queries_total (\S+)$", answer.read(), re.MULTILINE)
    return float(found[1]) if found else 0.0


def watchdog(instance: str) -> dict[str, Any]:
    ends = (datetime.now(UTC) + timedelta(minutes=5)).isoformat()
    labels = {"alertname": "BconWatchdog", "severity": "none", "job": "bcon", "instance": instance}
    return {"labels": labels, "annotations": {}, "endsAt": ends}


def test_two_alertmanagers_told_of_the_same_alert_send_one_notification(tmp_path: Path) -> None:
    web, gossip = (free_port(), free_port()), (free_port(), free_port())
    with receiving(lambda _: 202) as receiver, ExitStack() as stack:
        config = tmp_path / "alertmanager.yml"
        config.write_text(CONFIG.read_text().replace("http://127.0.0.1:9099", receiver.url))
        own, other = (
            stack.enter_context(
                running_alertmanager(
                    tmp_path / str(number),
                    web[number],
                    config=config,
                    cluster=(
                        f"--cluster.listen-address=127.0.0.1:{gossip[number]}",
                        f"--cluster.peer=127.0.0.1:{gossip[1 - number]}",
                        "--cluster.peer-timeout=2s",
                        "--cluster.gossip-interval=50ms",
                    ),
                )
            )
            for number in (0, 1)
        )
        for each in (own, other):
            wait_until(lambda each=each: len(each.get("status")["cluster"].get("peers", ())) == 2, "two peers")  # type: ignore[misc]
            wait_until(lambda each=each: each.get("status")["cluster"]["status"] == "ready", "the cluster to settle")  # type: ignore[misc]
        for each in (own, other):
            assert deliver(Alertmanager(each.url).post, [watchdog("host1")]).accepted == 1
        wait_until(lambda: min(counted(own), counted(other)) >= 1, "both to have had their turn")
        told = list(receiver.paths)

    assert told == ["/watchdog"]
