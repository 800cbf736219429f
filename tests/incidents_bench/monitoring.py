"""Exporter, Prometheus and Alertmanager as they are shipped, all waits shortened alike, and who takes the messages."""

from __future__ import annotations

import json
import re
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.docker.daemon import Daemon
from tests.outputs.alertmanager.running import RunningAlertmanager, running_alertmanager
from tests.programs import free_port
from tests.running_prometheus import running_prometheus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.docker.engine import PrivateEngine

ROOT = Path(__file__).parents[2]
SHORTENED = 10
"""By how much: for, keep_firing_for, ranges and ages in the rules; scrapes, evaluations and groups; the scans."""
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
NOT_FOR_PEOPLE = ("/watchdog", "/digest")
"""Receivers of the shipped example that nobody hears at once: the dead man's switch, and what can wait."""
_AGES = re.compile(r"([<>] )(\d{3,})\b")
_RANGES = re.compile(r"\[(\d+[smhd])\]")


def shortened(duration: str, by: int = SHORTENED) -> str:
    """A duration as Prometheus writes it, shortened; a second at least."""
    seconds = int(duration[:-1]) * UNITS[duration[-1]]
    return f"{max(1, round(seconds / by))}s" if seconds else duration


def shorten_rules(text: str, by: int = SHORTENED) -> str:
    """Return a file of rules with every wait, range and age shortened."""
    rules = yaml.safe_load(text)
    for group in rules["groups"]:
        for rule in group["rules"]:
            for key in ("for", "keep_firing_for"):
                if key in rule:
                    rule[key] = shortened(rule[key], by)
            ranges = _RANGES.sub(lambda found: f"[{shortened(found[1], by)}]", rule["expr"])
            rule["expr"] = _AGES.sub(lambda found: f"{found[1]}{int(found[2]) / by:g}", ranges)
    return yaml.safe_dump(rules, sort_keys=False)


def shorten_alertmanager(text: str, receiver: str, by: int = SHORTENED) -> str:
    """Return the example with its waits shortened and its receivers at this address."""
    config = yaml.safe_load(text.replace("http://127.0.0.1:9099", receiver))

    def shorten(route: dict[str, Any]) -> None:
        for key in ("group_wait", "group_interval", "repeat_interval"):
            if key in route:
                route[key] = shortened(route[key], by)
        for inner in route.get("routes", ()):
            shorten(inner)

    shorten(config["route"])
    return yaml.safe_dump(config, sort_keys=False)


def shorten_prometheus(text: str, exporter: str, alertmanager: str, by: int = SHORTENED) -> str:
    """Return the shipped configuration with its intervals shortened, and this exporter and Alertmanager."""
    config = yaml.safe_load(text)
    for key in ("scrape_interval", "evaluation_interval"):
        config["global"][key] = shortened(config["global"][key], by)
    config["alerting"]["alertmanagers"] = [{"static_configs": [{"targets": [alertmanager]}]}]
    config["scrape_configs"][0]["static_configs"] = [{"targets": [exporter]}]
    return yaml.safe_dump(config, sort_keys=False)


@dataclass(frozen=True)
class Notification:
    """One request of Alertmanager that tells of something that fires.

    Attributes:
        firing: The labels of the alerts in it that fire.
        news: Of those the ones that no earlier notification at this path told of: a group lists again what is open.
    """

    at: float
    path: str
    firing: tuple[dict[str, str], ...]
    news: tuple[dict[str, str], ...]

    @property
    def is_for_people(self) -> bool:
        """Whether somebody is told at once."""
        return self.path not in NOT_FOR_PEOPLE

    @property
    def is_pushed(self) -> bool:
        """Whether the exporter has pushed it, without Prometheus."""
        return any(labels.get("job") == "push" for labels in self.firing)

    def __str__(self) -> str:
        who = sorted({labels.get("container") or labels.get("service") or "" for labels in self.firing})
        name = self.firing[0]["alertname"]
        return f"{name}({', '.join(who)})" if any(who) else name


@dataclass
class Receiver:
    """A webhook receiver on loopback."""

    url: str = ""
    heard: list[Notification] = field(default_factory=list)


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Take what an Alertmanager sends; what is resolved is not counted."""
    receiver = Receiver()
    known: set[tuple[str, str, str]] = set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            alerts = [alert for alert in body["alerts"] if alert["status"] == "firing"]
            of_alert = [(self.path, alert["startsAt"], json.dumps(alert["labels"], sort_keys=True)) for alert in alerts]
            news = tuple(alert["labels"] for alert, key in zip(alerts, of_alert, strict=True) if key not in known)
            known.update(of_alert)
            if alerts:
                firing = tuple(alert["labels"] for alert in alerts)
                receiver.heard.append(Notification(time.time(), self.path, firing, news))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class Monitoring:
    """What watches an engine."""

    daemon: Daemon
    receiver: Receiver
    alertmanager: RunningAlertmanager
    beside: Receiver | None = None


@contextmanager
def monitoring(
    engine: PrivateEngine,
    folder: Path,
    projects: Path,
    *flags: str,
    by: int = SHORTENED,
    beside: Path | None = None,
) -> Iterator[Monitoring]:
    """Start all of it; `beside` is a checkout of another version, which watches the same engine with its own rules.

    Args:
        flags: Of the exporter.
    """
    with ExitStack() as stack:
        running = stack.enter_context(_watching(engine, folder / "this", projects, ROOT, by, flags))
        if beside is not None:
            running.beside = stack.enter_context(_watching(engine, folder / "beside", None, beside, by)).receiver
        yield running


@contextmanager
def _watching(
    engine: PrivateEngine, folder: Path, projects: Path | None, checkout: Path, by: int, more: tuple[str, ...] = ()
) -> Iterator[Monitoring]:
    folder.mkdir(parents=True)
    flags = [*more, f"--web.listen-address=127.0.0.1:{free_port()}"]  # the same when it is started again
    flags += [f"--scan.diagnose-interval={30 // by}s", f"--scan.drift-interval={60 // by}s"]
    if projects is not None:
        flags.append(f"--compose.roots={projects}")
    with ExitStack() as stack:
        receiver = stack.enter_context(receiving())
        port = free_port()
        example = (checkout / "alerts" / "alertmanager.example.yml").read_text()
        (folder / "alertmanager.yml").write_text(shorten_alertmanager(example, receiver.url, by))
        alertmanager = folder / "alertmanager"
        running = stack.enter_context(running_alertmanager(alertmanager, port, config=folder / "alertmanager.yml"))
        if projects is not None:
            push = (f"--alertmanager.url=http://127.0.0.1:{port}", "--alertmanager.job=push")
            flags += [*push, "--alertmanager.instance=here"]
        daemon = stack.enter_context(Daemon(folder, engine.host, *flags, checkout=checkout))
        daemon.wait_until_ready()
        (folder / "bcon.rules.yml").write_text(shorten_rules((checkout / "alerts" / "bcon.rules.yml").read_text(), by))
        shipped = (ROOT / "deploy" / "prometheus.yml").read_text()
        config = shorten_prometheus(shipped, f"127.0.0.1:{daemon.port}", f"127.0.0.1:{port}", by)
        resend = f"--rules.alert.resend-delay={60 // by}s"
        stack.enter_context(running_prometheus(folder, config, resend))
        yield Monitoring(daemon, receiver, running)
