"""Stats that hang are noticed where nothing else asks for them, without holding up a ping, and are not pestered."""

from pathlib import Path
from typing import NoReturn

import pytest

from bcon_exporter.clock import monotonic, utc_now
from bcon_exporter.engine import DockerHost
from bcon_exporter.engine.background_checks import StatsProbe
from bcon_exporter.engine.find_socket import Endpoint
from bcon_exporter.engine.scan import Deadline, HostOptions, Wants
from bcon_exporter.engine.session import EngineSession
from bcon_exporter.secrets.masking import Sealer
from tests.engine.fake_engine import FakeEngine
from tests.engine.test_cgroup import make_v2
from tests.engine.test_docker_host import BAD, GOOD
from tests.engine.test_unresponsive import Engine
from tests.waiting import wait_until

QUICK = HostOptions(read_timeout_seconds=0.3, probe_interval_seconds=600.0)


class BrokenSession(EngineSession):
    """A session with a defect: what no engine can provoke."""

    tries = 0

    def negotiate(self, deadline: Deadline) -> NoReturn:
        """Fail."""
        self.tries += 1
        raise LookupError(deadline)


def probe_once(session: EngineSession, *running: str) -> None:
    StatsProbe(session).probe(running)


def asked_for_stats(talker: Engine) -> int:
    return sum("/stats" in target for target in talker.asked)


def test_a_probe_that_hangs_holds_up_no_ping(tmp_path: Path) -> None:
    for container_id in (GOOD, BAD):
        make_v2(tmp_path / "cgroup", f"docker/{container_id}")
    options = HostOptions(cgroup_root=tmp_path / "cgroup", read_timeout_seconds=60.0, heartbeat_seconds=0.02)
    talker = Engine("/stats")
    with FakeEngine(tmp_path / "s", talker.talk) as engine:
        host = DockerHost(Endpoint(engine.url), options, Sealer(b"0123456789abcdef"))
        host.start()
        try:
            host.observe(utc_now(), 10.0, Wants(logs=False))
            wait_until(lambda: asked_for_stats(talker), "a probe")
            pings = talker.asked.count("/_ping")
            wait_until(lambda: talker.asked.count("/_ping") > pings + 2, "more pings", timeout_seconds=5)
        finally:
            started = monotonic()
            host.close()
        assert monotonic() - started < 1.0


def test_while_all_stats_hang_no_other_probe_is_sent(tmp_path: Path) -> None:
    talker = Engine("/stats")
    with FakeEngine(tmp_path / "s", talker.talk) as engine:
        session = EngineSession(Endpoint(engine.url), QUICK)
        probe_once(session, BAD, GOOD)
        assert "probing stats" in str(session.health.failure("stats"))
        asked = asked_for_stats(talker)
        for _ in range(3):
            probe_once(session, BAD, GOOD)
        assert asked_for_stats(talker) == asked


def test_one_probe_an_interval_is_one_request_while_stats_fail(tmp_path: Path) -> None:
    talker = Engine("/stats")
    with FakeEngine(tmp_path / "s", talker.talk) as engine:
        session = EngineSession(Endpoint(engine.url), QUICK)
        session.health.report("stats", monotonic() - 2 * QUICK.probe_interval_seconds, "hangs")
        probe_once(session, BAD, GOOD)
        assert asked_for_stats(talker) == 1


@pytest.mark.parametrize("running", [(BAD, GOOD), (GOOD, BAD)])
def test_one_container_whose_stats_hang_is_left_alone_and_the_endpoint_stays_up(
    tmp_path: Path, running: tuple[str, str]
) -> None:
    talker = Engine(f"{BAD}/stats")
    with FakeEngine(tmp_path / "s", talker.talk) as engine:
        session = EngineSession(Endpoint(engine.url), QUICK)
        for _ in range(3):
            probe_once(session, *running)
        assert session.health.failure("stats") is None
        assert session.health.were_all_silent("stats", [BAD])
        assert not session.health.were_all_silent("stats", [GOOD])
        assert talker.asked_the_stuck() == 1


@pytest.mark.parametrize("running", [(BAD, GOOD), (GOOD, BAD)])
def test_one_that_is_stuck_does_not_keep_the_endpoint_failing(tmp_path: Path, running: tuple[str, str]) -> None:
    talker = Engine(f"{BAD}/stats")
    with FakeEngine(tmp_path / "s", talker.talk) as engine:
        options = HostOptions(read_timeout_seconds=0.3, probe_interval_seconds=0.0)
        session = EngineSession(Endpoint(engine.url), options)
        session.health.report("stats", monotonic(), "hangs")
        probe = StatsProbe(session)
        for _ in range(2):
            probe.probe(running)
        assert session.health.failure("stats") is None


def test_an_unexpected_error_is_told_as_a_failure_and_hinders_no_later_probe(caplog: pytest.LogCaptureFixture) -> None:
    session = BrokenSession(Endpoint("unix:///x"), HostOptions(probe_interval_seconds=0.0, heartbeat_seconds=0.0))
    probe = StatsProbe(session)
    for times in (1, 2):
        probe.begin([GOOD])
        probe.close(5.0)
        assert session.tries == times
    assert "probing stats" in str(session.health.failure("stats"))
    assert "the probe of the engine's stats failed" in caplog.text
