"""`make demo`: bcon-exporter beside a small shop in trouble, on your engine or on a private one.

Uses the engine that answers, and there touches only the Compose project `bcon-demo` and the images of that name; for
a picture also the project `bcon-demo-shop`.
Where none answers, starts a private engine with its own data root and socket. Everything it started is gone at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from rich.console import Console
from rich.text import Text

import docker
from bcon_exporter.engine.find_socket import find_endpoint
from bcon_exporter.errors import BconError
from deploy.demo.deployment import PROJECT, watch_failed_deployment
from deploy.demo.picture import draw
from tests.docker.engine import EngineUnavailableError, PrivateEngine, find_obstacle, ping, sweep_leftovers
from tests.docker.image import build_image
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
STATE = Path(os.environ.get("DEMO_STATE") or ROOT / ".state" / "demo")
FILE = STATE / "bcon-demo" / "compose.yaml"
BIN = Path(sys.executable).parent
BCON = [sys.executable, "-m", "bcon_exporter"]
PORT = int(os.environ.get("DEMO_PORT") or 19877)
WIDEST = 120
TRAILING_BLANKS = re.compile(r" +((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)
FINDINGS_OR_NONE = (0, 1)
LONGEST_SOCKET = 100  # the kernel's limit is 107 bytes
AILING = {"worker", "importer", "cache", "encoder", "api", "orders"}
console = Console(highlight=False)


@dataclass
class Demo:
    """What the demonstration runs with."""

    host: str
    private: PrivateEngine | None
    port: int = PORT
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """Columns of what is shown."""
        return min(console.width, WIDEST) if console.is_terminal else WIDEST

    @property
    def url(self) -> str:
        """Where the daemon answers."""
        return f"http://127.0.0.1:{self.port}"

    def compose(self, *arguments: str) -> None:
        """Run Compose on the demonstration's project."""
        command = [str(BIN / "docker-compose"), "--progress", "quiet", "-f", str(FILE), *arguments]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            fail(f"docker-compose {arguments[0]} failed: {done.stderr.strip()}")

    def show(self, *arguments: str) -> str:
        """Run a bcon-exporter command as a person would and return what it prints, colours included."""
        environment = self.environment | {"FORCE_COLOR": "1", "COLUMNS": str(self.width)}
        command = [*BCON, *arguments, *self.settings()]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode not in FINDINGS_OR_NONE:
            fail(f"bcon-exporter {arguments[0]} ended with status {done.returncode}: {done.stderr.strip()}")
        return TRAILING_BLANKS.sub(r"\1", done.stdout)

    def settings(self) -> list[str]:
        """The settings that commands and daemon share: this engine, this state file, only this project."""
        return [
            f"--docker.host={self.host}",
            f"--state.path={STATE / 'state.db'}",
            "--filter.include-projects=bcon-demo",
        ]


def fail(message: str) -> None:
    """End the demonstration with a sentence; what was started is taken down on the way out."""
    console.print(Text(f"demo: {message}", style="red"))
    raise SystemExit(1)


def step(message: str) -> None:
    """Say what happens next."""
    console.print(Text(f"· {message}", style="dim"))


def find_engine() -> str | None:
    """The engine that a docker command would talk to, if it is a local one and answers."""
    try:
        endpoint = find_endpoint(None, os.environ, home=Path.home())
    except BconError:
        return None
    path = endpoint.url.removeprefix("unix://")
    return endpoint.url if path != endpoint.url and ping(Path(path)) else None


@contextlib.contextmanager
def some_engine() -> Iterator[Demo]:
    """Yield a demonstration on the engine that is there, else on a private one that ends with it."""
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("DOCKER_", "COMPOSE_", "BCON_"))
    }
    if host := find_engine():
        step(f"using the engine at {host}; only the project bcon-demo is touched there")
        yield Demo(host, None, environment=environment | {"DOCKER_HOST": host})
        return
    step("no engine answers: starting a private one")
    if find_obstacle() is not None:
        subprocess.run([str(ROOT / ".ci" / "setup.sh"), "packages", "dockerd"], check=False)
    if obstacle := find_obstacle():
        fail(f"no engine answers and no private one can be started here: {obstacle}")
    sweep_leftovers(STATE)
    sweep_leftovers()
    folder = STATE / f"engine-{os.getpid()}"
    engine = PrivateEngine(folder if len(str(folder)) < LONGEST_SOCKET else None)
    try:
        engine.start()
        yield Demo(engine.host, engine, environment=environment | {"DOCKER_HOST": engine.host})
    except EngineUnavailableError as error:
        fail(str(error))
    finally:
        step("removing the private engine")
        engine.destroy()


def as_started(desired: dict[str, Any]) -> dict[str, Any]:
    """The Compose file as it was when the project was started: before the changes that make the drift."""
    services = dict(desired["services"])
    services["billing"] = {**services["billing"], "image": "bcon-demo:1", "environment": {"CURRENCY": "USD"}}
    services["queue"] = {**services["queue"], "scale": 1}
    services["legacy"] = services["shop"]
    del services["mailer"]
    return {**desired, "services": services}


@contextlib.contextmanager
def running_shop(demo: Demo) -> Iterator[None]:
    """Bring the project up, change it behind Compose's back, and take it down at the end."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    desired = Path(__file__).with_name("compose.yaml").read_text()
    FILE.write_text(yaml.safe_dump(as_started(yaml.safe_load(desired))))
    client = docker.APIClient(base_url=demo.host, version="auto", timeout=60)
    try:
        step("building the image bcon-demo FROM scratch")
        build_image(demo.host, "bcon-demo:1")
        build_image(demo.host, "bcon-demo:2", {"RELEASE": "2"})
        step("starting the Compose project bcon-demo")
        demo.compose("up", "-d", "--pull", "never", "--no-build", "--timeout", "1")
        FILE.write_text(desired)
        client.update_container("bcon-demo-gateway-1", mem_limit="48m", memswap_limit="48m")
        yield
    finally:
        step("taking the project down")
        demo.compose("down", "-v", "--remove-orphans", "--timeout", "1")
        for tag in ("bcon-demo:1", "bcon-demo:2"):
            with contextlib.suppress(docker.errors.APIError):
                client.remove_image(tag, force=True)
        client.close()
        FILE.unlink()
        FILE.parent.rmdir()


def find_port() -> int:
    """The usual port, or a free one where that is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", PORT))
        except OSError:
            probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running_daemon(demo: Demo) -> Iterator[None]:
    """Run `bcon-exporter serve` beside the project and stop it at the end."""
    demo.port = find_port()
    step(f"starting the daemon on {demo.url}")
    (STATE / "state.db").unlink(missing_ok=True)
    flags = [f"--web.listen-address=127.0.0.1:{demo.port}", "--scan.diagnose-interval=3s", "--scan.drift-interval=5s"]
    flags.append(f"--compose.roots={FILE.parent}")
    with (STATE / "daemon.log").open("wb") as log:
        daemon = subprocess.Popen(
            [*BCON, "serve", *demo.settings(), *flags],
            env=demo.environment,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for us; we then stop the daemon in order
        )
    try:
        wait_until(
            lambda: is_told(demo, daemon), "the daemon to find every ailment", timeout_seconds=120, every_seconds=0.5
        )
        yield
    except AssertionError as error:
        console.print(Text((STATE / "daemon.log").read_text(errors="replace")[-4000:], style="dim"))
        fail(str(error))
    finally:
        step("stopping the daemon")
        daemon.terminate()
        try:
            daemon.wait(timeout=10)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def is_told(demo: Demo, daemon: subprocess.Popen[bytes]) -> bool:
    """Whether the daemon's last scan names every service that ails."""
    if daemon.poll() is not None:
        fail(f"the daemon ended with status {daemon.returncode}: {(STATE / 'daemon.log').read_text(errors='replace')}")
    try:
        with urllib.request.urlopen(f"{demo.url}/api/v1/diagnosis", timeout=5) as answer:
            told = json.load(answer)
    except (OSError, urllib.error.URLError, ValueError):
        return False
    report = told.get("result", told)
    report = report.get("report", report)
    names = {each["container_name"] for each in report.get("summaries", ()) if each["status"] != "healthy"}
    return all(f"bcon-demo-{service}-1" in names for service in AILING)


def show_addresses(demo: Demo) -> None:
    """Say where to look further."""
    lines = {
        f"{demo.url}/": "what is where",
        f"{demo.url}/metrics": "for Prometheus",
        f"{demo.url}/api/v1/diagnosis": "every container's report as JSON",
        f"{demo.url}/api/v1/drift": "every project's drift as JSON",
        f"DOCKER_HOST={demo.host}": "the engine, for your own docker commands",
    }
    widest = max(map(len, lines))
    console.print(
        Text("\n".join(f"  {address:<{widest}}  {meaning}" for address, meaning in lines.items())), soft_wrap=True
    )


def draw_deployment(demo: Demo, folder: Path) -> None:
    """Draw what `verify` says of a deployment that fails, in a project of its own."""
    step(f"deploying the Compose project {PROJECT}, which fails")
    environment = demo.environment | {"FORCE_COLOR": "1", "COLUMNS": str(WIDEST), "DOCKER_HOST": demo.host}
    shown = watch_failed_deployment(STATE / PROJECT, str(BIN / "docker-compose"), environment)
    draw(TRAILING_BLANKS.sub(r"\1", shown), "bcon-exporter verify", folder / "verify.svg")


def main() -> int:
    """Run the demonstration."""
    parser = argparse.ArgumentParser(prog="make demo")
    parser.add_argument("--once", action="store_true", help="show it once and end")
    parser.add_argument("--images", type=Path, help="also draw what is shown as SVG pictures in this folder")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    STATE.mkdir(parents=True, exist_ok=True)
    try:
        with some_engine() as demo, running_shop(demo), running_daemon(demo):
            for title, arguments in {"diagnose": ["diagnose"], "drift": ["drift"]}.items():
                shown = demo.show(*arguments)
                console.print(Text(f"\n$ bcon-exporter {' '.join(arguments)}", style="bold"))
                console.print(Text.from_ansi(shown), soft_wrap=True)
                if options.images:
                    draw(shown.replace(f"{ROOT}/", ""), f"bcon-exporter {title}", options.images / f"{title}.svg")
            if options.images:
                draw_deployment(demo, options.images)
            show_addresses(demo)
            if not options.once:
                console.print(Text("Ctrl-C takes everything down.", style="bold"))
                signal.pause()
    except KeyboardInterrupt:
        console.print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
