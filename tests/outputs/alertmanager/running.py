"""A real Alertmanager with the shipped example configuration, on loopback."""

from __future__ import annotations

import http.client
import json
import subprocess
from contextlib import contextmanager
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Any

from tests.programs import need
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFIG = Path(__file__).parents[3] / "alerts" / "alertmanager.example.yml"


class RunningAlertmanager:
    """Asks a running Alertmanager."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    def listens(self) -> bool:
        """Whether it takes connections, whatever it asks of who connects."""
        with socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def get(self, path: str) -> Any:
        """One answer as JSON; None while nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", f"/api/v2/{path}")
            return json.load(connection.getresponse())
        except (OSError, ValueError):
            return None
        finally:
            connection.close()

    def alerts(self) -> list[dict[str, Any]]:
        """All alerts that it holds."""
        found: list[dict[str, Any]] | None = self.get("alerts")
        return found or []

    def names(self) -> set[str]:
        """The names of all alerts that it holds."""
        return {alert["labels"]["alertname"] for alert in self.alerts()}


@contextmanager
def running_alertmanager(
    folder: Path,
    port: int,
    *more: str,
    config: Path = CONFIG,
    cluster: tuple[str, ...] = ("--cluster.listen-address=",),
) -> Iterator[RunningAlertmanager]:
    """Start it, alone or as one of a cluster, with more flags, and stop it."""
    program = need("prometheus-alertmanager")
    folder.mkdir(exist_ok=True)
    flags = (f"--config.file={config}", f"--storage.path={folder}/data", *cluster)
    with (folder / "alertmanager.log").open("wb") as log:
        process = subprocess.Popen(
            [program, *flags, f"--web.listen-address=127.0.0.1:{port}", *more], stdout=log, stderr=log, cwd=folder
        )
    try:
        running = RunningAlertmanager(port)
        wait_until(running.listens, "Alertmanager to listen", timeout_seconds=60)
        yield running
    finally:
        process.terminate()
        process.wait(30)
