"""Usage that was not read is never taken for fresh, and a machine without threads costs no later scan."""

import json
import threading
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest

from bcon_exporter.clock import utc_now
from bcon_exporter.engine.containers import Inventory
from bcon_exporter.engine.find_socket import Endpoint
from bcon_exporter.engine.parse import decode_array
from bcon_exporter.engine.read_usage import UsageReader
from bcon_exporter.engine.scan import Deadline, HostOptions, Scan, Wants
from bcon_exporter.engine.session import EngineSession
from bcon_exporter.engine.usage_windows import UsageWindows
from tests.engine.fake_engine import FakeEngine, answer
from tests.engine.test_docker_host import GOOD, engine_with, entry, host_for

OPTIONS = HostOptions(cgroup_root=Path("/nonexistent"), read_timeout_seconds=1.0)


class BrokenSession(EngineSession):
    """A session with a defect: what no engine can provoke."""

    def query_stats(self, ids: Iterable[str], doing: str, deadline: Deadline) -> NoReturn:  # noqa: ARG002 - the base's signature
        """Fail."""
        raise LookupError


def read(reader: UsageReader) -> Scan:
    """Read the usage of one running container."""
    inventory = Inventory(OPTIONS)
    scan = Scan(utc_now(), Deadline.after(3), Wants())
    scan.ids = inventory.update(decode_array(json.dumps([entry(GOOD)])))
    reader.finish(reader.begin(inventory, scan, UsageWindows(60)), None)
    return scan


def test_after_an_unexpected_error_the_asked_ones_are_unread() -> None:
    scan = read(UsageReader(BrokenSession(Endpoint("unix:///x"), OPTIONS)))
    assert scan.unread == {GOOD: {"usage": "asking for stats failed unexpectedly (LookupError)"}}
    assert scan.incomplete == {GOOD}


def test_without_a_thread_the_scan_asks_itself_and_so_does_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "bcon-stats":
            msg = "can't start new thread"
            raise RuntimeError(msg)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with FakeEngine(tmp_path / "s", engine_with({})) as engine:
        session = EngineSession(Endpoint(engine.url), OPTIONS)
        reader = UsageReader(session)
        for _ in range(2):
            asked = session.health.last_asked("stats")
            assert read(reader).unread == {}
            assert session.health.last_asked("stats") > asked


@pytest.mark.parametrize(("driver", "asked"), [("cgroupfs", True), ("none", False)])
def test_an_engine_without_cgroups_is_not_asked_what_it_cannot_tell(
    tmp_path: Path, driver: str, *, asked: bool
) -> None:
    """Rootless Docker on cgroup v1 tells of every container what the whole session uses that it runs in itself."""
    about = answer(json.dumps({"NCPU": 2, "CgroupDriver": driver}).encode())
    with FakeEngine(tmp_path / "s", engine_with({"/info": about})) as engine, closing(host_for(engine.url)) as host:
        containers = host.observe(utc_now(), 5.0, Wants()).snapshot.containers
        assert ("stats" in host.requests().endpoints) is asked
    assert [container.usage is not None for container in containers] == [asked, asked]
    assert asked or all("without cgroups" in container.unread["usage"] for container in containers)
