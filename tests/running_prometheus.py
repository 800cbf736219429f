"""A real Prometheus on loopback, started as the documents say, and asked as an operator would."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.docker.engines import prometheus_differences
from tests.programs import free_port, need
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONFIG = """\
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - {job_name: any-name, honor_labels: true, static_configs: [{targets: ["127.0.0.1:%d"]}]}
"""
"""Scrapes the daemon of a port, every second."""


class Prometheus:
    """Asks a running Prometheus."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._url = f"http://127.0.0.1:{port}"

    def is_ready(self) -> bool:
        """Whether it has started."""
        try:
            with urllib.request.urlopen(f"{self._url}/-/ready", timeout=10) as answer:
                return bool(answer.status == 200)
        except urllib.error.HTTPError as error:  # 503: from 3.14 on Python warns of an answer that nobody closed
            error.close()
            return False
        except OSError:
            return False

    def get(self, path: str, /, **query: str) -> Any:
        """The data of one answer."""
        address = f"{self._url}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            msg = f"{query}: {error.read().decode()}"
            raise AssertionError(msg) from error

    def samples(self, query: str) -> list[tuple[dict[str, str], float]]:
        """An instant query: labels and value of each sample."""
        return [(each["metric"], float(each["value"][1])) for each in self.get("query", query=query)["result"]]

    def values(self, query: str) -> dict[str, float]:
        """An instant query: the values by the `container` or `service` label."""
        return {labels.get("container") or labels.get("service", ""): value for labels, value in self.samples(query)}

    def target(self) -> dict[str, Any] | None:
        """The daemon as a target, once it was scraped."""
        targets = self.get("targets")["activeTargets"]
        return next((each for each in targets if each["health"] != "unknown"), None)


@contextmanager
def running_prometheus(
    folder: Path, config: str, *flags: str, port: int | None = None, agent: bool = False
) -> Iterator[Prometheus]:
    """Start one in a folder that holds what its configuration names, and stop it; an agent keeps no database.

    OWN in the configuration stands for its own port.
    """
    running = Prometheus(port or free_port())
    (folder / "prometheus.yml").write_text(config.replace("OWN", str(running.port)))
    program = need("prometheus")
    kept = (
        [prometheus_differences(program).agent, f"--storage.agent.path={folder}/wal"]
        if agent
        else [f"--storage.tsdb.path={folder}/tsdb"]
    )
    command = [program, f"--config.file={folder}/prometheus.yml", *kept, *flags]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen([*command, f"--web.listen-address=127.0.0.1:{running.port}"], stdout=log, stderr=log)
    try:
        wait_until(running.is_ready, "Prometheus to be ready", timeout_seconds=60)
        yield running
    finally:
        process.terminate()
        process.wait(30)
