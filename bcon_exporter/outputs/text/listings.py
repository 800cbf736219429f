"""Lists and small reports as blocks: containers, stats, health, cost, alerts."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from bcon_exporter.model.alerts import Alert, AlertmanagerState, AlertsReport, MessageReceiverState
from bcon_exporter.model.container_facts import ContainerState, HealthStatus
from bcon_exporter.model.journal import FoldedHistory, HistoryReport, JournalEntry
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.quantities import show_count, show_duration, show_size, show_time
from bcon_exporter.model.repetitions import fold_loops
from bcon_exporter.model.reports import ContainerInfo, ContainerStats, CostReport, HealthCheck
from bcon_exporter.outputs.text.blocks import (
    SEVERITY_STYLES,
    Badge,
    Block,
    Field,
    Fields,
    Heading,
    Item,
    Line,
    Section,
    Span,
    Style,
    Table,
    dim,
    field,
    line,
    name,
    strong,
)

_CONTAINERS = ("name", "state", "status", "image", "project", "service", "ports", "id")
_STATS = (
    *("name", "CPU", "of", "throttled", "memory", "limit", "mem"),
    *("net in", "net out", "read", "written", "pids", ""),
)
_COST = ("operation", "calls", "tokens in", "tokens out", "engine calls", "seconds", "USD")
_STATE_STYLES = {
    ContainerState.RUNNING: Style.GOOD,
    ContainerState.PAUSED: Style.WARNING,
    ContainerState.RESTARTING: Style.BAD,
    ContainerState.DEAD: Style.BAD,
}
_HEALTH_STYLES = {
    HealthStatus.HEALTHY: Style.GOOD,
    HealthStatus.UNHEALTHY: Style.WORST,
    HealthStatus.STARTING: Style.WARNING,
}
_STATE_DATABASE = {"file": "in its file", "memory": "in memory only", "none": "no state file"}
_OVERALL_STYLES = {"healthy": Style.GOOD, "degraded": Style.WARNING, "unhealthy": Style.BAD}
_ALERT_STYLES = {"critical": Style.WORST, "warning": Style.WARNING, "info": Style.CAUSE}
_TIME = "time UTC"
_HISTORY = (_TIME, "who", "project", "what")
_HISTORY_STYLES = {
    JournalKind.CRASH: Style.BAD,
    JournalKind.OOM: Style.WORST,
    JournalKind.KILL: Style.WARNING,
    JournalKind.GAP: Style.WARNING,
    JournalKind.ENGINE_RESTART: Style.WARNING,
}
_HIGH_PERCENT, _FULL_PERCENT = 80, 95


def containers_table(containers: tuple[ContainerInfo, ...]) -> Table:
    """Return one line a container."""
    rows = (
        (
            line(name(container.name, Style.STRONG)),
            _state(container),
            *(
                line(name(text))
                for text in (
                    container.status,
                    container.image,
                    container.compose_project or "",
                    container.compose_service or "",
                    ", ".join(f"{target}→{port}" for port, target in sorted(container.ports.items()) if target),
                )
            ),
            line(dim(container.id)),
        )
        for container in containers
    )
    choices = (_CONTAINERS, _CONTAINERS[:6], ("name", "state", "status", "project"), _CONTAINERS[:3])
    return Table(_CONTAINERS, tuple(rows), choices=choices)


def info_section(container: ContainerInfo) -> Section:
    """Return everything that is known of one container's state."""
    return Section(Heading(line(name(container.name, Style.STRONG))), (Fields(tuple(_info(container))),))


def _info(container: ContainerInfo) -> Iterator[Field]:
    yield field("id", container.id)
    yield field("image", name(container.image))
    yield Field(line(dim("state")), (Item(_state(container)),))
    yield field("status", name(container.status))
    yield field("created", show_time(container.created))
    yield field("started", show_time(container.started_at))
    if container.finished_at is not None:
        yield field("finished", show_time(container.finished_at))
    if container.exit_code is not None:
        yield field("exit code", Span(str(container.exit_code), Style.BAD if container.exit_code else Style.PLAIN))
    optional = (
        ("restarts", container.restart_count),
        ("restart policy", container.restart_policy),
        ("OOM-killed", {True: "yes", False: "no", None: None}[container.oom_killed]),
        ("project", container.compose_project),
        ("service", container.compose_service),
    )
    yield from (field(label, name(str(value))) for label, value in optional if value is not None)
    for port, target in sorted(container.ports.items()):
        yield field("port", name(f"{port} → {target or 'not published'}"))
    yield from (field("label", dim(f"{key}={value}")) for key, value in sorted(container.labels.items()))


def _state(container: ContainerInfo) -> Line:
    failed = container.state is ContainerState.EXITED and bool(container.exit_code)
    style = Style.BAD if failed else _STATE_STYLES.get(container.state, Style.DIM)
    spans = [Span(container.state.value, style)]
    if container.health is not None and container.health is not HealthStatus.NONE:
        spans.append(Span(f" {container.health.value}", _HEALTH_STYLES.get(container.health, Style.PLAIN)))
    return line(*spans)


def stats_table(stats: tuple[ContainerStats, ...]) -> Table:
    """Return one line a container."""
    no_traffic = tuple(column for column in _STATS if column not in ("net in", "net out", "read", "written"))
    choices = (_STATS, no_traffic, ("name", "CPU", "of", "memory", "mem", ""), _STATS[:2])
    return Table(_STATS, tuple(map(_stats_row, stats)), _STATS[1:-1], choices)


def _stats_row(usage: ContainerStats) -> tuple[Line, ...]:
    last_known = f"last known, {show_time(usage.timestamp)}" if usage.last_known else ""
    return (
        line(name(usage.container_name, Style.STRONG)),
        line(_load(usage.cpu_percent)),
        line("-" if usage.cpu_count is None else f"{usage.cpu_count:g} CPU"),
        line(show_percent(usage.throttled_percent)),
        line(show_size(usage.memory_usage_bytes)),
        line(show_size(usage.memory_limit_bytes)),
        line(_load(usage.memory_percent)),
        line(show_size(usage.network_rx_bytes)),
        line(show_size(usage.network_tx_bytes)),
        line(show_size(usage.block_read_bytes)),
        line(show_size(usage.block_write_bytes)),
        line("-" if usage.pids is None else str(usage.pids)),
        line(dim(last_known)),
    )


def _load(percent: float | None) -> Span:
    if percent is None or percent < _HIGH_PERCENT:
        return Span(show_percent(percent))
    return Span(show_percent(percent), Style.WARNING if percent < _FULL_PERCENT else Style.BAD)


def show_percent(percent: float | None) -> str:
    """Return "12.3 %"; a dash where it is unknown."""
    return "-" if percent is None else f"{percent:.1f} %"


def health_section(health: HealthCheck) -> Section:
    """Return whether bcon-exporter works."""
    fields = [
        field("engine", health.docker_version or "not reached"),
        field("history", _STATE_DATABASE[health.state_database]),
        field("version", health.version),
    ]
    for label, age in (("diagnosis", health.last_diagnose_age_seconds), ("drift", health.last_drift_age_seconds)):
        if age is not None:
            fields.append(field(label, f"{show_duration(age)} ago"))
    hanging = sorted(endpoint for endpoint, up in health.endpoints.items() if not up)
    if hanging:
        fields.append(field("hanging", Span(", ".join(hanging), Style.BAD)))
    title = line(health.message, badge=Badge(health.status.upper(), _OVERALL_STYLES[health.status]))
    return Section(Heading(title), (Fields(tuple(fields)),))


def history_blocks(report: FoldedHistory) -> list[Block]:
    """Return what happened, newest first; of changes those of images and configuration before all others."""
    period = dim(f"{show_time(report.since)} to {show_time(report.until)}")
    blocks: list[Block] = [Heading(line(strong(_count_entries(report)), notes=(period,)))]
    if report.setup:
        blocks += [Heading(line(strong("Images, configuration, deployments")), 2), _history_table(report.setup)]
        if report.entries:
            blocks.append(Heading(line(strong("Starts, ends, health, networks")), 2))
    if report.entries:
        blocks.append(_history_table(report.entries))
    shown = len(report.setup) + len(report.entries)
    if shown < report.lines:
        blocks.append(line(dim(f"{show_count(report.lines - shown, 'line')} more: see --limit and --since.")))
    if report.rows_read < report.rows:
        blocks.append(line(dim(f"Read were the newest {report.rows_read:,} rows: see --since, --until and --kind.")))
    if report.known_since is None:
        blocks.append(line(dim("No daemon has written a journal here: see --state.path.")))
    elif report.known_since > report.since:
        blocks.append(line(dim(f"Nothing is known of before {show_time(report.known_since)}.")))
    return blocks


def fold_report(report: HistoryReport) -> FoldedHistory:
    """Return a report for programs as people read it; rows that were not asked for stay away."""
    rows = fold_loops(report.entries)
    return FoldedHistory(
        since=report.since,
        until=report.until,
        rows=report.total,
        rows_read=len(report.entries),
        lines=len(rows),
        entries=tuple(rows),
        known_since=report.known_since,
    )


def _count_entries(report: FoldedHistory) -> str:
    if not report.rows:
        return "Nothing is written down of this time."
    rows = show_count(report.rows, "row")
    return rows if report.lines == report.rows else f"{rows} in {show_count(report.lines, 'line')}"


def _history_table(entries: Iterable[JournalEntry]) -> Table:
    """Return a table with a row for each date, below which the times need none."""
    rows: list[tuple[Line, ...]] = []
    for date, of_date in groupby(entries, key=lambda entry: entry.at.date()):
        rows.append((line(strong(f"{date:%Y-%m-%d}")), line(), line(), line()))
        rows += map(_history_row, of_date)
    return Table(_HISTORY, tuple(rows), (), (_HISTORY, (_TIME, "who", "what")), whole=(_TIME,))


def _history_row(entry: JournalEntry) -> tuple[Line, ...]:
    who = entry.container or entry.service or entry.project or "the host"
    style = _HISTORY_STYLES.get(entry.kind, Style.PLAIN)
    what = Span(entry.text, SEVERITY_STYLES[entry.severity] if entry.severity else style)
    return line(dim(f"{entry.at:%H:%M:%S}")), line(name(who)), line(name(entry.project or "")), line(what)


def cost_blocks(report: CostReport) -> list[Block]:
    """Return the ledger, summed by operation."""
    rows = (
        (
            operation,
            str(cost.operations),
            str(cost.input_tokens),
            str(cost.output_tokens),
            str(cost.docker_calls),
            f"{cost.seconds:.2f}",
            f"{cost.cost_usd:.2f}",
        )
        for operation, cost in report.by_operation.items()
    )
    no_engine = tuple(column for column in _COST if column != "engine calls")
    choices = (_COST, no_engine, ("operation", "calls", "seconds", "USD"), ("operation", "calls", "USD"))
    period = dim(f"{show_time(report.period_start)} to {show_time(report.period_end)}")
    blocks: list[Block] = [Heading(line(strong(show_count(report.total_operations, "tool call")), notes=(period,)))]
    if report.by_operation:
        blocks.append(Table(_COST, tuple(tuple(map(line, row)) for row in rows), _COST[1:], choices))
        blocks.append(line(dim(f"{report.cache_hit_rate:.0%} answered by another's run")))
    return [*blocks, line(dim(report.note))]


def alerts_blocks(report: AlertsReport) -> list[Block]:
    """Return the firing alerts with cause and suggestion, then those that wait or have just ended."""
    firing = sum(alert.state == "firing" and alert.severity != "none" for alert in report.alerts)
    title = f"{show_count(firing, 'alert')} {'fires' if firing == 1 else 'fire'}." if firing else "Nothing fires."
    heading = Heading(line(strong(title), notes=(dim(show_time(report.timestamp)),)))
    alerts = Fields(tuple(_alert(alert, report) for alert in report.alerts))
    return [Section(heading, (alerts,)), *map(_alertmanager, report.alertmanagers), *map(_receiver, report.receivers)]


def _alert(alert: Alert, report: AlertsReport) -> Field:
    style = _ALERT_STYLES.get(alert.severity, Style.DIM) if alert.state == "firing" else Style.DIM
    since = alert.resolved_at or alert.fired_at or alert.since
    age = show_duration((report.timestamp - since).total_seconds())
    when = f"resolved {age} ago" if alert.state == "resolved" else f"{alert.state} for {age}"
    summary = f"  {alert.annotations.get('summary', '')}"
    texts = (alert.annotations.get(key) for key in ("cause", "suggestion") if alert.state == "firing")
    details = tuple(line(dim(text)) for text in texts if text)
    item = Item(line(name(alert.name, Style.STRONG), summary.rstrip(), notes=(dim(when),)), details)
    return Field(line(Span(alert.severity, style)), (item,))


def _receiver(state: MessageReceiverState) -> Line:
    arrived = dim(f"{show_count(state.sent, 'message')} arrived")
    note = Span(f"messages do not arrive: {state.error}", Style.BAD) if state.error else arrived
    return line(strong(state.name), notes=(note,))


def _alertmanager(state: AlertmanagerState) -> Line:
    taken = dim(f"last success {show_time(state.last_success_at)}")
    note = Span(f"takes no alerts: {state.error}", Style.BAD) if state.error else taken
    return line(strong(state.url), notes=(note,))
