"""What only shows over time on a real engine: another image under a tag, a removal that fails."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.docker.daemon import Daemon
from tests.docker.image import IMAGE, build_image
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.docker.conftest import TestEngine

pytestmark = pytest.mark.docker


@pytest.fixture
def daemon(engine: TestEngine, tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path, engine.host, "--scan.diagnose-interval", "1s") as started:
        started.wait_until_ready()
        yield started


def report_of(daemon: Daemon, name: str) -> dict[str, Any] | None:
    """The last scan's report of a container; None while there is none."""
    reports = daemon.ask("/api/v1/diagnosis").json()["result"]["reports"]
    return next((one for one in reports if one["container_name"] == name), None)


def wait_for_cause(daemon: Daemon, name: str, cause: str) -> dict[str, Any]:
    """Wait until a container's report names the cause; return the report."""

    def found() -> dict[str, Any] | None:
        report = report_of(daemon, name)
        named = report is not None and cause in {one["id"] for one in report["likely_causes"]}
        return report if named else None

    return wait_until(found, f"{name} to be explained by {cause}")


def test_a_failure_since_the_tag_was_moved_is_the_new_images(engine: TestEngine, daemon: Daemon) -> None:
    image_id = engine.docker("inspect", "-f", "{{.Id}}", IMAGE).strip()
    engine.docker("tag", IMAGE, "shop:latest")
    engine.docker("run", "-d", "--name", "shop", "shop:latest", "serve")
    wait_until(lambda: report_of(daemon, "shop"), "shop to be scanned")
    engine.docker("rm", "-f", "shop")
    newer_id = build_image(engine.host, "shop:latest", {"RELEASE": "2"})
    engine.docker("run", "-d", "--name", "shop", "shop:latest", "sh", "-c", "exit 1")

    report = wait_for_cause(daemon, "shop", "image_changed")

    told = next(one["description"] for one in report["likely_causes"] if one["id"] == "image_changed")
    old, new = (one.removeprefix("sha256:")[:12] for one in (image_id, newer_id))
    assert f"from shop:latest ({old}) to shop:latest ({new})" in told


@contextmanager
def immutable(path: str) -> Iterator[None]:
    """Let a file be removed by nobody, root included."""
    subprocess.run(["chattr", "+i", path], check=True)
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", path], check=True)


def test_a_container_that_cannot_be_removed_is_dead(engine: TestEngine, daemon: Daemon) -> None:
    engine.docker("run", "-d", "--name", "stuck", IMAGE, "sh", "-c", "echo x > /tmp/held; exec serve")
    layer = engine.docker("inspect", "-f", '{{index .GraphDriver.Data "UpperDir"}}', "stuck").strip()
    wait_until(lambda: report_of(daemon, "stuck"), "stuck to be scanned")
    with immutable(f"{layer}/tmp/held"):
        engine.docker("rm", "-f", "stuck", check=False)

        report = wait_for_cause(daemon, "stuck", "removal_failed")

    assert (report["state"], report["status"]) == ("dead", "warning")
    assert [one["type"] for one in report["symptoms"]] == ["exit_error"]


def test_a_container_that_is_removed_is_never_called_dead(engine: TestEngine, daemon: Daemon) -> None:
    for number in range(5):
        engine.docker("run", "-d", "--name", f"short-{number}", IMAGE, "serve")
    wait_until(lambda: report_of(daemon, "short-4"), "all to be scanned")
    seen: set[tuple[str, str]] = set()

    def are_gone() -> bool:
        reports = daemon.ask("/api/v1/diagnosis").json()["result"]["reports"]
        seen.update((one["state"], one["status"]) for one in reports)
        return not reports

    for number in range(5):
        engine.docker("rm", "-f", f"short-{number}")
        are_gone()
    wait_until(are_gone, "all to be gone")
    assert {status for _, status in seen} == {"healthy"}
    assert "dead" not in {state for state, _ in seen}
