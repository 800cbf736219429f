"""Draws the previews of docs/images: a small shop in trouble, watched for some minutes (`make previews`).

A private engine, the real exporter, a real Prometheus; what is drawn are its answers to the dashboards' own queries.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from bcon_exporter.clock import utc_now
from deploy.demo.demo import Demo, running_shop
from grafana.dashboards.links import CONTAINER, OVERVIEW
from grafana.preview.board import draw
from grafana.preview.reading import Span
from tests.docker.daemon import WITHOUT_CGROUP_FILES, Daemon
from tests.docker.engine import PrivateEngine, sweep_leftovers
from tests.running_prometheus import running_prometheus

if TYPE_CHECKING:
    from collections.abc import Callable

IMAGES = Path(__file__).parents[2] / "docs" / "images"
MINUTES = 8
SCRAPE_SECONDS = 2
INSTANCE = "host1:19877"
QUICK = ("--scan.diagnose-interval=3s", "--scan.drift-interval=5s")
LEAK = "thumbnails"
LEAKS = """\
i=0
while dd if=/dev/zero of=/dev/shm/$i bs=1M count=1 2>/dev/null; do
  i=$((i + 1)); sleep 1.2
  [ $((i % 9)) = 0 ] && echo "WARN cache has $i entries, none evicted"
done
echo "ERROR cannot allocate the next entry: worker was killed"
exit 1
"""


def start_leak(engine: PrivateEngine) -> None:
    """Run a container outside Compose that fills its memory, is killed, and is started again."""
    limits = ("--memory", "40m", "--memory-swap", "40m", "--shm-size", "64m", "--cpus", "0.5")
    engine.docker("run", "-d", "--name", LEAK, "--restart", "always", *limits, "bcon-demo:1", "sh", "-c", LEAKS)


def live_through(engine: PrivateEngine) -> None:
    """Let some minutes pass in which things happen."""
    port = "while :; do echo ok | nc -l -p 8080; done"
    happenings: dict[int, Callable[[], object]] = {
        100: lambda: engine.docker("pause", "bcon-demo-shop-1"),
        150: lambda: engine.docker("unpause", "bcon-demo-shop-1"),
        240: engine.pause,
        265: engine.resume,
        330: lambda: engine.docker("start", "bcon-demo-importer-1"),
        390: lambda: engine.docker("exec", "-d", "bcon-demo-api-1", "sh", "-c", port),
        60 * MINUTES: lambda: None,
    }
    passed = 0
    for at, happen in happenings.items():
        time.sleep(at - passed)
        happen()
        passed = at


def scrape_config(port: int) -> str:
    """What makes Prometheus scrape the exporter, as docs/dashboards.md asks for it."""
    job = {
        "job_name": "bcon",
        "honor_labels": True,
        "static_configs": [{"targets": [f"127.0.0.1:{port}"], "labels": {"instance": INSTANCE}}],
    }
    every = f"{SCRAPE_SECONDS}s"
    return yaml.safe_dump({"global": {"scrape_interval": every, "scrape_timeout": every}, "scrape_configs": [job]})


def main() -> None:
    """Watch and draw; a signal takes everything down, too."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    sweep_leftovers()
    engine = PrivateEngine()
    environment = {**os.environ, "DOCKER_HOST": engine.host}
    try:
        engine.start()
        shop = Demo(engine.host, engine, environment=environment)
        with tempfile.TemporaryDirectory() as folder, running_shop(shop):
            start_leak(engine)
            with (
                Daemon(Path(folder), engine.host, *QUICK, below=WITHOUT_CGROUP_FILES) as daemon,
                running_prometheus(Path(folder), scrape_config(daemon.port)) as prometheus,
            ):
                began = utc_now().timestamp()
                live_through(engine)
                span = Span(began, utc_now().timestamp(), points=120, scrape_seconds=SCRAPE_SECONDS)
                for uid, chosen in {OVERVIEW: {}, CONTAINER: {"instance": INSTANCE, "container": LEAK}}.items():
                    (IMAGES / f"{uid}.svg").write_text(draw(prometheus, uid, span, chosen))
    finally:
        engine.destroy()


if __name__ == "__main__":
    main()
