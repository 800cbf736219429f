"""Lists and small reports as tables: containers, stats, logs, health, cost."""

from rich.console import RenderableType
from rich.text import Text

from bcon_exporter.model.facts import ContainerState, HealthStatus
from bcon_exporter.model.reports import (
    ContainerInfo,
    ContainerLogs,
    ContainerStats,
    CostReport,
    HealthCheck,
)
from bcon_exporter.outputs.text_style import (
    DIM,
    FittingTable,
    name_text,
    pairs,
    plain,
    show_count,
    show_percent,
    show_seconds,
    show_size,
    show_time,
    stack,
)

_LIST = ("NAME", "STATE", "STATUS", "IMAGE", "PROJECT", "SERVICE", "PORTS", "ID")
_STATS = (
    *("NAME", "CPU", "OF", "THROTTLED", "MEMORY", "LIMIT", "MEM"),
    *("NET IN", "NET OUT", "READ", "WRITTEN", "PIDS", ""),
)
_COST = ("OPERATION", "CALLS", "TOKENS IN", "TOKENS OUT", "ENGINE CALLS", "SECONDS", "USD")
_STATE_STYLES = {
    ContainerState.RUNNING: "green",
    ContainerState.PAUSED: "yellow",
    ContainerState.RESTARTING: "red",
    ContainerState.DEAD: "red",
}
_HEALTH_STYLES = {HealthStatus.HEALTHY: "green", HealthStatus.UNHEALTHY: "bold red", HealthStatus.STARTING: "yellow"}
_HISTORY = {"file": "in its file", "memory": "in memory only", "none": "no state file"}
_OVERALL_STYLES = {"healthy": "bold green", "degraded": "bold yellow", "unhealthy": "bold red"}


def show_list(containers: tuple[ContainerInfo, ...]) -> RenderableType:
    """Return one line a container."""
    if not containers:
        return Text("No container matches.", style=DIM)
    rows = (
        (
            name_text(one.name, "bold"),
            _state(one),
            name_text(one.status),
            name_text(one.image),
            name_text(one.compose_project or ""),
            name_text(one.compose_service or ""),
            name_text(_ports(one)),
            Text(one.id, style=DIM),
        )
        for one in containers
    )
    return FittingTable(_LIST, tuple(rows), (), (_LIST, _LIST[:6], ("NAME", "STATE", "STATUS", "PROJECT"), _LIST[:3]))


def show_info(one: ContainerInfo) -> RenderableType:
    """Return everything that is known of one container's state."""
    rows: list[tuple[str, RenderableType]] = [
        ("id", Text(one.id)),
        ("image", name_text(one.image)),
        ("state", _state(one)),
        ("status", name_text(one.status)),
        ("created", Text(show_time(one.created))),
        ("started", Text(show_time(one.started_at))),
    ]
    if one.finished_at is not None:
        rows.append(("finished", Text(show_time(one.finished_at))))
    if one.exit_code is not None:
        rows.append(("exit code", Text(str(one.exit_code), style="red" if one.exit_code else "")))
    optional = (
        ("restarts", one.restart_count),
        ("restart policy", one.restart_policy),
        ("OOM-killed", {True: "yes", False: "no", None: None}[one.oom_killed]),
        ("project", one.compose_project),
        ("service", one.compose_service),
    )
    rows += [(label, name_text(str(value))) for label, value in optional if value is not None]
    rows += [("port", name_text(f"{port} → {target or 'not published'}")) for port, target in sorted(one.ports.items())]
    rows += [("label", plain(f"{key}={value}", DIM)) for key, value in sorted(one.labels.items())]
    return stack([name_text(one.name, "bold"), pairs(rows, indent=2)])


def show_stats(stats: tuple[ContainerStats, ...]) -> RenderableType:
    """Return one line a container."""
    if not stats:
        return Text("No container runs.", style=DIM)
    rows = (
        (
            name_text(one.container_name, "bold"),
            _load(one.cpu_percent),
            "-" if one.cpu_count is None else f"{one.cpu_count:g} CPU",
            show_percent(one.throttled_percent),
            show_size(one.memory_usage_bytes),
            show_size(one.memory_limit_bytes),
            _load(one.memory_percent),
            show_size(one.network_rx_bytes),
            show_size(one.network_tx_bytes),
            show_size(one.block_read_bytes),
            show_size(one.block_write_bytes),
            "-" if one.pids is None else str(one.pids),
            Text(f"last known, {show_time(one.timestamp)}" if one.last_known else "", style=DIM),
        )
        for one in stats
    )
    no_traffic = tuple(name for name in _STATS if name not in ("NET IN", "NET OUT", "READ", "WRITTEN"))
    return FittingTable(
        _STATS, tuple(rows), _STATS[1:-1], (_STATS, no_traffic, ("NAME", "CPU", "OF", "MEMORY", "MEM", ""), _STATS[:2])
    )


def show_logs(logs: ContainerLogs) -> RenderableType:
    """Return the lines as the container wrote them, with time; standard error in another colour."""
    text = Text()
    if logs.truncated:
        text.append("… older lines left out\n", style=DIM)
    for entry in logs.entries:
        if entry.timestamp is not None:
            text.append(f"{entry.timestamp:%Y-%m-%d %H:%M:%S.%f}"[:-3] + "  ", style=DIM)
        text.append_text(plain(entry.message, "red" if entry.stream == "stderr" else ""))
        text.append("\n")
    text.right_crop(1)
    return text if logs.entries else Text("No log lines in this window.", style=DIM)


def show_health(health: HealthCheck) -> RenderableType:
    """Return whether bcon-exporter works."""
    rows: list[tuple[str, RenderableType]] = [
        ("engine", plain(health.docker_version or "not reached")),
        (
            "history",
            Text(_HISTORY[health.state_database]),
        ),
        ("version", Text(health.version)),
    ]
    for label, age in (("diagnosis", health.last_diagnose_age_seconds), ("drift", health.last_drift_age_seconds)):
        if age is not None:
            rows.append((label, Text(f"{show_seconds(age)} ago")))
    down = sorted(name for name, up in health.endpoints.items() if not up)
    if down:
        rows.append(("hanging", Text(", ".join(down), style="red")))
    head = Text(health.status.upper(), style=_OVERALL_STYLES[health.status])
    head.append("  ").append_text(plain(health.message, "default not bold"))
    return stack([head, pairs(rows, indent=2)])


def show_cost(report: CostReport) -> RenderableType:
    """Return the ledger, summed by operation."""
    rows = (
        (
            Text(name),
            str(cost.operations),
            str(cost.input_tokens),
            str(cost.output_tokens),
            str(cost.docker_calls),
            f"{cost.seconds:.2f}",
            f"{cost.cost_usd:.2f}",
        )
        for name, cost in report.by_operation.items()
    )
    no_engine = tuple(name for name in _COST if name != "ENGINE CALLS")
    choices = (_COST, no_engine, ("OPERATION", "CALLS", "SECONDS", "USD"), ("OPERATION", "CALLS", "USD"))
    ledger = FittingTable(_COST, tuple(rows), _COST[1:], choices)
    head = Text(show_count(report.total_operations, "tool call"), style="bold")
    head.append(f"  {show_time(report.period_start)} to {show_time(report.period_end)}", style=DIM)
    shared = Text(f"{report.cache_hit_rate:.0%} answered by another's run", style=DIM)
    body: list[RenderableType] = [ledger, shared] if report.by_operation else []
    return stack([head, *body, Text(report.note, style=DIM)])


def _state(one: ContainerInfo) -> Text:
    failed = one.state is ContainerState.EXITED and bool(one.exit_code)
    text = Text(one.state.value, style="red" if failed else _STATE_STYLES.get(one.state, DIM))
    if one.health is not None and one.health is not HealthStatus.NONE:
        text.append(f" {one.health.value}", style=_HEALTH_STYLES.get(one.health, ""))
    return text


def _ports(one: ContainerInfo) -> str:
    return ", ".join(f"{target}→{port}" for port, target in sorted(one.ports.items()) if target)


def _load(percent: float | None) -> Text:
    high, full = 80, 95
    style = "" if percent is None or percent < high else "yellow" if percent < full else "red"
    return Text(show_percent(percent), style=style)
