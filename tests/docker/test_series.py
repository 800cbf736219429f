"""The series of sizes, processes, pressure and files equal what the engine and the kernel say, on a real engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docker.daemon import Daemon
from tests.waiting import wait_until

if TYPE_CHECKING:
    from tests.docker.conftest import TestEngine
    from tests.promises.plugin import Figure

pytestmark = pytest.mark.docker

QUICK = ("--scan.diagnose-interval=1s", "--scan.drift-interval=60s")
LINES = "i=0; while [ $i -lt 3000 ]; do echo 'a line of the log'; i=$((i+1)); done; exec 7</etc/passwd; exec sleep 1000"
UNIFIED = Path("/sys/fs/cgroup/unified" if Path("/sys/fs/cgroup/unified").is_dir() else "/sys/fs/cgroup")


def fill(engine: TestEngine) -> None:
    """Six that fill: a log, a rotated log, a layer, one that has ended, a volume in use, one that is not."""
    run = ("run", "-d", "--name")
    engine.docker(*run, "loud", "--pids-limit", "50", engine.image, "sh", "-c", LINES)
    rotated = ("--log-opt", "max-size=20k", "--log-opt", "max-file=3")
    engine.docker(*run, "rotated", *rotated, engine.image, "sh", "-c", LINES)
    own = "head -c 3000000 /dev/zero >/data/x; head -c 500000 /dev/zero >/own; exec sleep 1000"
    engine.docker(*run, "store", "-v", "data:/data", engine.image, "sh", "-c", own)
    engine.docker("run", "--name", "done", engine.image, "sh", "-c", "head -c 70000 /dev/zero >/own")
    engine.docker("run", "--rm", "-v", "left:/data", engine.image, "sh", "-c", "head -c 900000 /dev/zero >/data/x")
    wait_until(lambda: len(engine.docker("logs", "loud").splitlines()) == 3000, "the log")
    wait_until(lambda: engine.docker("exec", "store", "sh", "-c", "wc -c </own").strip() == "500000", "the layer")


def labels(name: str) -> str:
    return f'{{container="{name}",project="",service=""}}'


def read_samples(daemon: Daemon) -> dict[str, float]:
    """Every series of the answer with its value."""
    lines = [line for line in daemon.ask("/metrics").text.splitlines() if line and not line.startswith("#")]
    return {series: float(value) for series, _, value in (line.rpartition(" ") for line in lines)}


def expected_sizes(engine: TestEngine) -> dict[str, float]:
    """What the engine sums up, and what `stat` says of log files."""
    told = engine.read("/system/df")
    sizes: dict[str, float] = {}
    for container in told["Containers"]:
        sizes[f"bcon_container_writable_layer_bytes{labels(container['Names'][0][1:])}"] = container.get("SizeRw", 0)
    for volume in told["Volumes"]:
        own = f'{{volume="{volume["Name"]}",project=""}}'
        sizes[f"bcon_volume_size_bytes{own}"] = volume["UsageData"]["Size"]
        sizes[f"bcon_volume_containers{own}"] = volume["UsageData"]["RefCount"]
    for image in (image for image in told["Images"] if image["RepoTags"]):  # one without a tag is called by its id
        own = f'{{image="{image["RepoTags"][0]}"}}'
        sizes[f"bcon_image_size_bytes{own}"] = image["Size"]
        sizes[f"bcon_image_containers{own}"] = image["Containers"]
        sizes[f"bcon_image_created_timestamp_seconds{own}"] = image["Created"]
    sizes['bcon_docker_disk_bytes{kind="images"}'] = told["LayersSize"]
    for name in ("loud", "rotated", "store", "done"):
        path = Path(engine.docker("inspect", "-f", "{{.LogPath}}", name).strip())
        files = path.parent.glob(f"{path.name}*")
        sizes[f"bcon_container_log_file_bytes{labels(name)}"] = sum(file.stat().st_size for file in files)
        sizes[f"bcon_container_log_rotated{labels(name)}"] = int(name == "rotated")
    return sizes


def expected_counts(engine: TestEngine) -> dict[str, float]:
    """What the kernel counts, and the limit of `loud`."""
    pid = find_process(engine, "store")
    own = labels("store")
    return {
        f"bcon_container_pids{own}": 1,
        f"bcon_container_open_files{own}": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        f"bcon_container_open_files{labels('loud')}": 4,
        f"bcon_container_pids_limit{labels('loud')}": 50,
    }


def expected_pressure(engine: TestEngine) -> dict[str, float]:
    """The totals of `store`'s files; empty where the kernel has none."""
    pid = find_process(engine, "store")
    path = next(line[4:] for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines() if line.startswith("0::/"))
    totals = {}
    for resource in ("cpu", "memory", "io"):
        file = UNIFIED / path / f"{resource}.pressure"
        for line in file.read_text().splitlines() if file.exists() else ():
            kind = {"some": "waiting", "full": "stalled"}[line.split()[0]]
            name = f"bcon_container_pressure_{kind}_seconds_total"
            series = f'{name}{labels("store")[:-1]},resource="{resource}"}}'
            totals[series] = int(line.rpartition("=")[2]) / 1e6
    return totals


def find_process(engine: TestEngine, name: str) -> str:
    """The id here of a container's process; the engine has ids of its own."""
    container_id = engine.docker("inspect", "-f", "{{.Id}}", name).strip()
    root = Path("/sys/fs/cgroup/memory")
    folder = next((root if root.is_dir() else UNIFIED).rglob(f"*{container_id}*"))
    return (folder / "cgroup.procs").read_text().split()[0]


def find_wrong(samples: dict[str, float], expected: dict[str, float]) -> list[str]:
    """What is missing or differs by more than 1 %."""
    return [
        f"{series} is {samples.get(series)}, not {value}"
        for series, value in expected.items()
        if series not in samples or abs(samples[series] - value) > 0.01 * abs(value)
    ]


@pytest.mark.promise("SER-3", "SER-4")
def test_series_equal_what_the_engine_and_the_kernel_say(engine: TestEngine, tmp_path: Path, figure: Figure) -> None:
    fill(engine)
    with Daemon(tmp_path, engine.host, *QUICK) as daemon:
        daemon.wait_until_ready()
        wait_until(lambda: "bcon_docker_disk_bytes{" in daemon.ask("/metrics").text, "the sizes", timeout_seconds=60)
        expected = expected_sizes(engine) | expected_pressure(engine) | expected_counts(engine)
        wait_until(lambda: not find_wrong(read_samples(daemon), expected), "all", timeout_seconds=15)
    with Daemon(tmp_path, engine.host, *QUICK, "--no-collector.pressure", "--no-collector.disk") as daemon:
        daemon.wait_until_ready()
        counts = expected_counts(engine)
        wait_until(lambda: not find_wrong(read_samples(daemon), counts), "the counts", timeout_seconds=15)
        samples = read_samples(daemon)
        left = ("pressure_waiting", "pressure_stalled", "bcon_volume", "bcon_image", "bcon_docker_disk", "layer")
        assert [series for series in samples if any(word in series for word in left)] == []
    figure(f"{len(expected)} series equal")
