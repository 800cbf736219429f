"""Small builders of facts. Every test names only the facts it is about; the rest is a healthy running container."""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from bcon_exporter.model.container_facts import (
    ComposeIdentity,
    ContainerFacts,
    ContainerState,
    HealthFacts,
    HealthStatus,
    HostSnapshot,
    LogFacts,
    LogLine,
    NetworkAttachment,
    Probe,
    UsageFacts,
)
from bcon_exporter.model.lifecycle import ExitFacts, LifecycleFacts

NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
"""When every test snapshot is taken."""


def ago(seconds: float = 0, *, minutes: float = 0, hours: float = 0, days: float = 0) -> datetime:
    """So long before NOON."""
    return NOON - timedelta(seconds=seconds, minutes=minutes, hours=hours, days=days)


def full_id(name: str) -> str:
    """A container id of 64 hex digits, the same for the same name."""
    return hashlib.sha256(name.encode()).hexdigest()


def container(**facts: Any) -> ContainerFacts:
    """A container named "api" that has run well for an hour; `facts` replace any of it. The id follows the name."""
    name = facts.get("name", "api")
    base: dict[str, Any] = {
        "id": full_id(name),
        "name": name,
        "image": "app:1",
        "state": ContainerState.RUNNING,
        "created_at": ago(hours=2),
        "started_at": ago(hours=1),
        "finished_at": None,
        "exit_code": 0,
        "oom_killed": False,
        "error": "",
        "restart_count": 0,
        "restart_policy": "no",
        "usage": usage(),
        "logs": logs(),
        "lifecycle": lifecycle(),
    }
    return ContainerFacts(**{**base, **facts})


def exited(
    exit_code: int = 1, *, seconds_ago: float = 60, exit_facts: ExitFacts | None = None, **facts: Any
) -> ContainerFacts:
    """A container that ended `seconds_ago` with `exit_code`, nobody having asked for it."""
    end = exit_facts or ended(exit_code, at=ago(seconds_ago))
    at = end.at
    base: dict[str, Any] = {
        "state": ContainerState.EXITED,
        "exit_code": exit_code,
        "finished_at": at,
        "started_at": at - timedelta(minutes=5),
        "usage": None,
        "lifecycle": lifecycle(exits=(end,), stop_requested=end.requested),
    }
    return container(**{**base, **facts})


def ended(exit_code: int | None = 1, *, at: datetime | None = None, **facts: Any) -> ExitFacts:
    """One end of a main process."""
    signal = exit_code - 128 if exit_code is not None and 128 < exit_code < 160 else None
    return ExitFacts(**{"at": at or ago(60), "exit_code": exit_code, "signal": signal, **facts})


def lifecycle(**facts: Any) -> LifecycleFacts:
    """A known, quiet past of a day."""
    return LifecycleFacts(**{"observed_since": ago(days=1), **facts})


def looping(count: int = 5, *, every_seconds: float = 20, exit_code: int = 1) -> LifecycleFacts:
    """The past of a crash loop whose newest restart was `every_seconds` ago."""
    times = tuple(ago(every_seconds * n) for n in range(count, 0, -1))
    exits = tuple(ended(exit_code, at=at - timedelta(seconds=1), lifetime_seconds=1.0) for at in times)
    return lifecycle(exits=exits, restarts=times, restarts_total=count)


def usage(**facts: Any) -> UsageFacts:
    """Light use over a full window."""
    base: dict[str, Any] = {
        "read_at": NOON,
        "source": "cgroup",
        "samples": 3,
        "window_seconds": 60.0,
        "cpu_count": 2.0,
        "cpu_ratio": 0.05,
        "throttled_ratio": None,
        "memory_usage_bytes": 64 * 2**20,
        "memory_limit_bytes": None,
        "memory_ratio": 0.02,
        "pids": 5,
    }
    return UsageFacts(**{**base, **facts})


def health(status: HealthStatus = HealthStatus.HEALTHY, **facts: Any) -> HealthFacts:
    """A health check with a time-out of 10 s every 30 s."""
    base: dict[str, Any] = {"status": status, "timeout_seconds": 10.0, "interval_seconds": 30.0, "retries": 3}
    return HealthFacts(**{**base, **facts})


def probe(seconds: float = 0.1, *, exit_code: int = 0, output: str = "", ended_ago: float = 5) -> Probe:
    """One health probe that took `seconds`."""
    end = ago(ended_ago)
    return Probe(started_at=end - timedelta(seconds=seconds), ended_at=end, exit_code=exit_code, output=output)


def line(text: str, *, at: datetime | None = None, stream: Literal["stdout", "stderr"] = "stdout") -> LogLine:
    """One log line, half a minute old unless told."""
    return LogLine(at=at or ago(30), stream=stream, text=text)


def logs(*texts: str | LogLine, at: datetime | None = None) -> LogFacts:
    """Log lines, oldest first; texts get stamps a millisecond apart, the last one `at` or 30 s ago."""
    last = at or ago(30)
    lines = tuple(
        text if isinstance(text, LogLine) else line(text, at=last - timedelta(milliseconds=len(texts) - 1 - index))
        for index, text in enumerate(texts)
    )
    return LogFacts(lines=lines, driver="json-file")


def compose(service: str = "api", project: str = "shop", **facts: Any) -> ComposeIdentity:
    """The Compose labels' claim."""
    return ComposeIdentity(project=project, service=service, **facts)


def network(name: str = "shop_default", *, aliases: Iterable[str] = (), ip: str | None = None) -> NetworkAttachment:
    """A network the container is attached to."""
    return NetworkAttachment(name=name, aliases=tuple(aliases), ip_address=ip)


def snapshot(*containers: ContainerFacts, **facts: Any) -> HostSnapshot:
    """The host at NOON."""
    return HostSnapshot(**{"taken_at": NOON, "containers": containers, **facts})


def crowd(count: int, lines_each: Sequence[str] = ()) -> tuple[ContainerFacts, ...]:
    """So many healthy containers, named c0, c1, ..."""
    return tuple(container(name=f"c{n}", logs=logs(*lines_each)) for n in range(count))
