"""Promise: a unit's name leads to its container's log; how engine and host are is told, and what cannot be seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.errors import DeadlineExceededError
from bcon_exporter.model.container_facts import ContainerState, EngineFacts, Limits
from bcon_exporter.model.system_status import HostLoad
from bcon_exporter.tools import call_tool
from bcon_exporter.tools.replay import SnapshotHost
from tests.factories import container, exited, full_id, logs, snapshot, usage
from tests.outputs.scenes import scan_of
from tests.tools.hosts import context_of

if TYPE_CHECKING:
    from bcon_exporter.model.container_facts import HostSnapshot
    from bcon_exporter.tools import Context

ENGINE = EngineFacts(name="shop-1", server_version="28.5.1", api_version="1.51", memory_bytes=8 * 2**30, cpu_count=4)


def ask(context: Context, tool: str, **payload: Any) -> dict[str, Any]:
    return call_tool(context, tool, payload).data()


@pytest.mark.parametrize("unit", ["api", "api.service", f"docker-{full_id('api')}.scope", full_id("api")[:12]])
def test_a_unit_is_the_container_of_its_name_or_id(unit: str) -> None:
    facts = snapshot(container(logs=logs("one", "two", "three")))
    told = ask(context_of(facts), "read_logs", unit=unit, lines=2)["result"]
    assert [one["message"] for one in told["entries"]] == ["two", "three"]
    assert told == ask(context_of(facts), "get_container_logs", container_id="api", tail=2)["result"]


@pytest.mark.parametrize("unit", ["docker.service", "getty@tty1.service", "-.mount", "\\x2d.slice"])
def test_the_journal_is_not_read_and_what_would_help_is_told(unit: str) -> None:
    error = ask(context_of(), "read_logs", unit=unit, lines=7)["error"]
    assert error["code"] == "not_available"
    assert error["details"]["would_help"] == ["journalctl", "-u", unit, "-n", "7", "--no-pager"]


def test_a_mistyped_container_is_named() -> None:
    error = ask(context_of(snapshot(container(name="shop-web-1"))), "read_logs", unit="shop-wbe-1")["error"]
    assert error["details"]["near_matches"] == ["shop-web-1"]
    assert "Did you mean the container shop-web-1?" in error["message"]


class LoadedHost(SnapshotHost):
    """A replayed host with a load."""

    def __init__(self, facts: HostSnapshot, load: HostLoad | str) -> None:
        super().__init__(facts)
        self._load = load
        self.slow = False

    def read_load(self, engine: EngineFacts) -> HostLoad | str:  # noqa: ARG002
        return self._load

    def engine(self) -> EngineFacts:
        if self.slow:
            message = "too slow"
            raise DeadlineExceededError(message, {"endpoint": "info"})
        return super().engine()


LOAD = HostLoad(uptime_seconds=100, load_1m=0.5, memory_total_bytes=8 * 2**30, memory_available_bytes=2**30)
FACTS = snapshot(
    container(name="big", usage=usage(memory_usage_bytes=3 * 2**30, cpu_ratio=0.5), limits=Limits(memory_bytes=2**32)),
    container(name="small", usage=usage(memory_usage_bytes=2**20)),
    exited(0, name="done"),
    container(name="halted", state=ContainerState.PAUSED, usage=None),
    engine=ENGINE,
)


def test_engine_containers_load_and_memory_are_told() -> None:
    told = ask(context_of(FACTS, host=LoadedHost(FACTS, LOAD)), "system_status")["result"]
    assert (told["engine_name"], told["engine_version"], told["cpu_count"]) == ("shop-1", "28.5.1", 4)
    assert (told["containers"], told["states"]) == (4, {"exited": 1, "paused": 1, "running": 2})
    assert (told["view"], told["load_1m"], told["cpu_used"]) == ("host", 0.5, 1.1)
    assert told["memory"]["containers_bytes"] == 3 * 2**30 + 2**20
    assert [one["name"] for one in told["memory"]["largest"]] == ["big", "small"]
    assert told["memory"]["available_bytes"] == 2**30
    assert told["disk"] is None


def test_memory_is_left_out_where_it_is_not_wanted() -> None:
    told = ask(context_of(FACTS, host=LoadedHost(FACTS, LOAD)), "system_status", include_memory=False)["result"]
    assert told["memory"] is None


def test_what_is_not_seen_from_here_is_told_and_not_made_up() -> None:
    host = LoadedHost(FACTS, "the engine runs on another machine")
    told = ask(context_of(FACTS, host=host), "system_status", include_disk=True)["result"]
    assert (told["view"], told["load_1m"]) == ("none", None)
    assert told["unseen"]["load and memory of the host"] == "the engine runs on another machine"
    assert told["memory"]["total_bytes"] == ENGINE.memory_bytes
    assert "layers, images, volumes, build cache" in told["unseen"]


def test_the_daemon_tells_of_its_last_scan() -> None:
    context = context_of(FACTS, host=LoadedHost(snapshot(engine=ENGINE), LOAD))
    context.scans.publish_diagnosis(scan_of(FACTS))
    assert ask(context, "system_status")["result"]["containers"] == 4


def test_an_engine_that_is_slow_to_tell_of_itself_is_known_from_the_last_scan() -> None:
    host = LoadedHost(FACTS, LOAD)
    host.slow = True
    context = context_of(FACTS, host=host)
    assert ask(context, "system_status")["result"]["engine_name"] == "shop-1"
    nobody = replace(context, host=LoadedHost(snapshot(), LOAD))
    nobody.host.slow = True  # type: ignore[attr-defined]
    assert ask(nobody, "system_status")["error"]["code"] == "timeout"
