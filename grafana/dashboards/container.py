"""bcon-container: one container: how it is, what it shows and why, what it uses, what happened to it.

Where several hosts are chosen that each have a container of the name, every panel shows each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grafana_foundation_sdk.builders.dashboard import AnnotationQuery, DashboardLink
from grafana_foundation_sdk.models.dashboard import DashboardLinkType, DynamicConfigValue

from grafana.dashboards import meaning
from grafana.dashboards.board import Board, choice
from grafana.dashboards.links import (
    ABOUT_DRIFT,
    ABOUT_SYMPTOM,
    ALERT_OF_DRIFT,
    ALERT_OF_SYMPTOM,
    CONTAINER,
    DRIFT_REPORT,
    REPORT,
    RUNBOOK,
    TO_PEER,
    runbook,
)
from grafana.dashboards.panels import (
    SOURCE,
    as_bars,
    as_steps,
    lines,
    now,
    numbers,
    over_time,
    rows,
    stacked,
    states,
    tally,
    with_line,
)
from grafana.dashboards.promql import (
    BY_CONTAINER,
    IN_RANGE,
    ON_HOST,
    ON_SERVICE,
    of_container,
    of_host,
    of_project,
    symptoms_since,
    with_alert,
)
from grafana.dashboards.tables import Column, listing

if TYPE_CHECKING:
    from grafana_foundation_sdk.builders import stat, table, timeseries

DESCRIPTION = (
    "One container: how it is, which symptoms it shows and why, what it uses, what happened to it, and whether its "
    "service is as its Compose file says. Vertical lines: when it was started."
)
HOST = "{{instance}}"
NOT_RUNNING = "Not running, or not seen"


def build() -> str:
    """The dashboard as JSON."""
    board = Board(CONTAINER, "Docker container (bcon-exporter)", DESCRIPTION)
    names = f"label_values({of_project('bcon_container_status')}, container)"
    back = DashboardLink("Overview").type(DashboardLinkType.DASHBOARDS).tags(["bcon-exporter"])
    started = (
        AnnotationQuery()
        .name("Starts")
        .datasource(SOURCE)
        .enable(True)
        .icon_color(meaning.PLAIN)
        .expr(f"1000 * {of_container('bcon_container_start_time_seconds')}")
        .use_value_for_time(True)
        .title_format("started")
        .text_format("{{container}} · {{instance}}")
    )
    board.dashboard = (
        board.dashboard.with_variable(choice("container", "Container", names, every=None))
        .link(back.include_vars(True).keep_time(True))
        .annotation(started)
    )
    _at_a_glance(board)
    _what_is_wrong(board)
    _usage(board)
    _events(board)
    return board.render()


def _at_a_glance(board: Board) -> None:
    board.line(4, *((3, each) for each in (*_state(), *_counts())))
    board.line(4, (24, _about()))


def _state() -> tuple[stat.Panel, ...]:
    """How it is now."""
    status = numbers(
        "Status",
        "The severity of the worst symptom that it shows now.",
        now(of_container("bcon_container_status"), HOST),
    ).mappings(list(meaning.mapped(meaning.STATUS)))
    running = numbers(
        "State",
        "Whether its main process lives.",
        now(of_container("bcon_container_running"), HOST),
    ).mappings(list(meaning.mapped(meaning.RUNNING)))
    since = numbers(
        "Started",
        "When it was last started, whether it still runs or not.",
        now(f"1000 * {of_container('bcon_container_start_time_seconds')}", HOST),
        unit="dateTimeFromNow",
    ).no_value("never")
    health = numbers(
        "Health check",
        "Its own health check, while it runs.",
        now(_health(), HOST),
    ).mappings(list(meaning.mapped(meaning.HEALTH)))
    code = numbers(
        "Exit code",
        "With which code it ended, while it does not run. 137 alone is no OOM kill: the symptoms tell.",
        now(of_container("bcon_container_exit_code"), HOST),
    ).thresholds(meaning.steps((0, meaning.GOOD), (1, meaning.ERROR)))
    return status, running, since, health.no_value("not running"), code.no_value("not ended")


def _counts() -> tuple[stat.Panel, ...]:
    """How often what should not happen did."""
    restarts = tally(
        "Restarts, last hour",
        "Restarts that nobody asked for within the last hour.",
        now(of_container("bcon_container_restarts_last_hour"), HOST),
        meaning.ERROR,
    )
    kills = tally(
        "OOM kills",
        "Processes of it that the kernel killed for memory within the time range of the dashboard.",
        now(f"round(increase({of_container('bcon_container_oom_kills_total')}[$__range]))", HOST),
        meaning.CRITICAL,
    )
    blind = tally(
        "Not evaluated",
        "Symptoms that could not be judged because facts were missing: unknown, not absent.",
        now(of_container("bcon_container_not_evaluated"), HOST),
        meaning.WARNING,
    )
    return restarts, kills, blind


def _about() -> table.Panel:
    return listing(
        "What it is",
        "Its image, id, Compose project and file, on each chosen host that has a container of this name.",
        [rows(of_container("bcon_container_info"))],
        [
            Column("Container", "container", links=(REPORT,)),
            Column("Image", "image"),
            Column("Id", "id", width=130),
            Column("Project", "project"),
            Column("Service", "service"),
            Column("Compose file", "compose_file"),
            Column("Host", "instance"),
        ],
        worst="Host",
        nothing="It is not there now, or its host is not seen",
    )


def _health() -> str:
    """0 healthy, 1 starting, 2 unhealthy, 3 without a health check; nothing while it does not run."""
    states = ("starting", "unhealthy", "none")
    parts = (f"{rank} * {of_container('bcon_container_health', health=name)}" for rank, name in enumerate(states, 1))
    return f"sum {BY_CONTAINER} ({' or '.join(parts)})"


def _what_is_wrong(board: Board) -> None:
    ran = states(
        "Status and health check",
        "How it was over time. A gap: it was not there or not seen; of a stopped container no health is known.",
        over_time(of_container("bcon_container_status"), "status · {{instance}}"),
        over_time(_health(), "health check · {{instance}}", "B"),
        texts=meaning.STATUS,
    ).override_by_query("B", [DynamicConfigValue(id_val="mappings", value=meaning.mapped(meaning.HEALTH))])
    symptom = of_container("bcon_container_symptom")
    shown = states(
        "Symptoms over time",
        "Every symptom that it has shown within the time range. A gap: it was not evaluated, and is unknown.",
        over_time(f"{symptom} and max_over_time({symptom}{IN_RANGE}) == 1", "{{symptom}} · {{instance}}"),
        texts=meaning.SYMPTOM,
        nothing="No symptom within the time range",
    )
    board.row("What is wrong")
    board.line(7, (24, _symptoms()))
    board.line(5, (24, ran))
    board.line(7, (24, shown))
    board.line(5, (24, _differences()))


def _symptoms() -> table.Panel:
    return listing(
        "Symptoms present, and why",
        "Each symptom that it shows now, since when, with its likeliest cause and the container or host that it points "
        "to. The report has the evidence, further causes and suggestions.",
        [rows(with_alert(symptoms_since(of_container), "symptom", ALERT_OF_SYMPTOM))],
        [
            Column("Symptom", "symptom", links=(ABOUT_SYMPTOM,)),
            Column("Since", "Value", unit="dateTimeFromNow"),
            Column("Likeliest cause", "cause"),
            Column("Points to", "peer", links=(TO_PEER,)),
            Column("Container", "container", links=(REPORT,)),
            Column("Host", "instance"),
            Column("Runbook", "alert", texts=meaning.names(ALERT_OF_SYMPTOM), links=(RUNBOOK,)),
        ],
        worst="Since",
        nothing="No symptoms, or it is not seen",
    )


def _differences() -> table.Panel:
    drift = f"{of_project('bcon_drift_items')} > 0 and {ON_SERVICE} {of_container('bcon_container_status')}"
    return listing(
        "Drift of its service",
        "What differs from its Compose file. The project's report names each field.",
        [
            rows(with_alert(drift, "drift", ALERT_OF_DRIFT)),
            rows(
                f"1000 * {of_project('bcon_drift_start_timestamp_seconds')}"
                f" and {ON_SERVICE} {of_container('bcon_container_status')}",
                "B",
            ),
        ],
        [
            Column("Project", "project", links=(DRIFT_REPORT,)),
            Column("Service", "service"),
            Column("Drift", "drift", links=(ABOUT_DRIFT,)),
            Column("Differences", "Value #A", width=105),
            Column("Since", "Value #B", unit="dateTimeFromNow"),
            Column("Host", "instance"),
            Column("Runbook", "alert", texts=meaning.names(ALERT_OF_DRIFT), links=(RUNBOOK,)),
        ],
        worst="Since",
        nothing="No drift, or no Compose file to compare with",
    )


def _usage(board: Board) -> None:
    limit = of_container("bcon_container_memory_limit_bytes")
    used = of_container("bcon_container_memory_usage_bytes")
    cpu = lines(
        "CPU of what it may use",
        "100 % is its quota, or all CPUs without one. Dashed: where high_cpu begins, if no label of it says otherwise.",
        over_time(of_container("bcon_container_cpu_usage_ratio"), "used · {{instance}}"),
        unit="percentunit",
        nothing=NOT_RUNNING,
    ).links([runbook("BconContainerHighCpu")])
    held_back = lines(
        "Held back by its CPU quota",
        "For how long in each second its threads together wanted CPU and were not let run.",
        over_time(f"rate({of_container('bcon_container_cpu_throttled_seconds_total')}[$__rate_interval])", HOST),
        unit="s",
        nothing=NOT_RUNNING,
    ).links([runbook("BconContainerCpuThrottled")])
    memory = lines(
        "Memory",
        "Working set, without page cache. Dashed: its limit, if it has one, and where high_memory begins.",
        over_time(used, "used · {{instance}}"),
        unit="bytes",
    ).links([runbook("BconContainerHighMemory")])
    begins = f"{limit} * {ON_HOST} group_left () {of_host('bcon_symptom_threshold_ratio', symptom='high_memory')}"
    memory = with_line(memory, over_time(f"min ({limit})", "limit", "B"), "limit", meaning.CRITICAL)
    memory = with_line(memory, over_time(f"min ({begins})", "threshold", "C"))
    threshold = over_time(f"min({of_host('bcon_symptom_threshold_ratio', symptom='high_cpu')})", "threshold", "B")
    board.row("CPU and memory")
    board.line(8, (8, with_line(cpu, threshold)), (8, held_back), (8, memory))
    board.row("Network and disk")
    board.line(
        8,
        (12, _both_ways("Network", "network", "receive", "transmit")),
        (12, _both_ways("Disk", "block", "read", "write")),
    )
    _pressure_and_sizes(board)


def _pressure_and_sizes(board: Board) -> None:
    waiting = f"rate({of_container('bcon_container_pressure_waiting_seconds_total')}[$__rate_interval])"
    pressure = lines(
        "Waiting for CPU, memory and disk",
        "In which share of the time some of its tasks waited for each (PSI).",
        over_time(waiting, "{{resource}} · {{instance}}"),
        unit="percentunit",
        nothing="Not running, or its kernel does not tell",
    )
    processes = lines(
        "Processes and open files",
        "Processes and threads, and the file descriptors that they hold. Dashed: the most processes that it may have.",
        over_time(of_container("bcon_container_pids"), "processes · {{instance}}"),
        over_time(of_container("bcon_container_open_files"), "open files · {{instance}}", "B"),
        unit="short",
        nothing=NOT_RUNNING,
    ).links([runbook("BconContainerPidsLimit")])
    most = over_time(f"min ({of_container('bcon_container_pids_limit')})", "limit", "C")
    sizes = lines(
        "Log and own file system",
        "Size of its log files, and of what it has written to its own file system, on the disk.",
        over_time(of_container("bcon_container_log_file_bytes"), "log · {{instance}}"),
        over_time(of_container("bcon_container_writable_layer_bytes"), "own file system · {{instance}}", "B"),
        unit="bytes",
        nothing="Not read",
    ).links([runbook("BconDiskFullSoon")])
    board.row("Pressure, processes and sizes")
    board.line(8, (8, pressure), (8, with_line(processes, most, "limit", meaning.CRITICAL)), (8, sizes))


def _both_ways(title: str, kind: str, up: str, down: str) -> timeseries.Panel:
    counters = (of_container(f"bcon_container_{kind}_{each}_bytes_total") for each in (up, down))
    first, second = (f"rate({counter}[$__rate_interval])" for counter in counters)
    panel = lines(
        title,
        f"Bytes in each second: {up} upwards, {down} downwards.",
        over_time(first, f"{up} · {{{{instance}}}}"),
        over_time(second, f"{down} · {{{{instance}}}}", "B"),
        unit="Bps",
        nothing="Not running, not read or not seen",
        lowest=None,
    )
    return panel.override_by_query("B", [DynamicConfigValue(id_val="custom.transform", value="negative-Y")])


def _events(board: Board) -> None:
    kills = of_container("bcon_container_oom_kills_total")
    ended = as_steps(
        lines(
            "Restarts within the last hour, OOM kills",
            "Restarts that nobody asked for, at each moment those of the hour before; OOM kills in each interval.",
            over_time(of_container("bcon_container_restarts_last_hour"), "restarts · {{instance}}"),
            over_time(f"round(increase({kills}[$__rate_interval]))", "OOM kills · {{instance}}", "B"),
            unit="short",
        )
    ).links([runbook("BconContainerRestartLoop"), runbook("BconContainerOomKilled")])
    levels = as_bars(
        lines(
            "Log events by level",
            "Warnings and worse that its log holds for each minute; a stack trace is one event.",
            over_time(
                f"60 * sum by (level) (rate({of_container('bcon_container_log_events_total')}[$__rate_interval]))",
                "{{level}}",
            ),
            unit="cpm",
        )
    ).links([runbook("BconContainerLogErrors")])
    board.row("Restarts, OOM kills and log")
    board.line(8, (12, ended), (12, stacked(levels, meaning.LEVELS)))
