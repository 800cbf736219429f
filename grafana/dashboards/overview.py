"""bcon-overview: what is wrong on all hosts, why, since when, and whether everything is seen at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grafana.dashboards import meaning
from grafana.dashboards.board import Board
from grafana.dashboards.links import (
    ABOUT_DRIFT,
    ABOUT_SYMPTOM,
    ALERT_OF_DRIFT,
    ALERT_OF_SYMPTOM,
    DRIFT_REPORT,
    OVERVIEW,
    REPORT,
    RUNBOOK,
    TO_HOST,
    TO_PEER,
    TO_ROW,
    TO_SERIES,
    runbook,
)
from grafana.dashboards.panels import (
    as_bars,
    as_steps,
    bars,
    colour_above_zero,
    lines,
    now,
    numbers,
    over_time,
    rows,
    stacked,
    states,
    tally,
    with_line,
    with_threshold,
)
from grafana.dashboards.promql import (
    BY_CONTAINER,
    IN_RANGE,
    ON_CONTAINER,
    ON_SERVICE,
    of_host,
    of_project,
    only_ours,
    sight,
    symptoms_since,
    top,
    with_alert,
)
from grafana.dashboards.tables import Column, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grafana_foundation_sdk.builders import stat, table
    from grafana_foundation_sdk.builders.prometheus import Dataquery

DESCRIPTION = (
    "What is wrong with the containers of these Docker hosts, why, and where they have left their Compose files. "
    "Needs bcon-exporter scraped with honor_labels: true; needs no recording rules."
)
STATUS = of_project("bcon_container_status")
_DECIDING = ("exit_error", "oom_killed", "restart_loop", "start_failed", "unhealthy")
_JUDGED = of_project("bcon_container_symptom").removesuffix("}") + f', symptom=~"{"|".join(_DECIDING)}"}}'
_ALL_JUDGED = f"count {BY_CONTAINER} ({_JUDGED}) == {len(_DECIDING)}"
UNCHECKED = f"(count(({STATUS} == 0) unless {ON_CONTAINER} ({_ALL_JUDGED})) or 0 * count({STATUS}))"
"""Well, save that one of the rules that decide had no facts: what was not evaluated has no sample."""
NAME = "{{container}} · {{instance}}"
SCAN = "{{scan}} · {{instance}}"
LARGEST = 10
FAILURES = {
    "requests failed": "bcon_docker_request_failures_total",
    "errors": "bcon_errors_total",
    "scans missed": "bcon_scans_missed_total",
    "events lost": "bcon_event_gaps_total",
    "state file not usable": "bcon_state_errors_total",
}


def build() -> str:
    """The dashboard as JSON."""
    board = Board(OVERVIEW, "Docker hosts: overview (bcon-exporter)", DESCRIPTION)
    _at_a_glance(board)
    _what_is_wrong(board)
    _drift(board)
    _usage(board)
    _disk(board)
    _restarts_and_logs(board)
    _exporters(board)
    return board.render()


def _at_a_glance(board: Board) -> None:
    items = of_project("bcon_drift_items")
    drifted = tally(
        "Services drifted",
        "Services of Compose projects of which something differs from the files, services stopped by hand included.",
        now(f"count(sum by (job, instance, project, service) ({items}) > 0) or 0 * count({items})"),
        meaning.WARNING,
    )
    restarts = tally(
        "Restarts, last hour",
        "Restarts that nobody asked for within the last hour: a requested stop, a recreation or a reboot is none.",
        now(f"sum({of_project('bcon_container_restarts_last_hour')})"),
        meaning.ERROR,
    ).links([runbook("BconContainerRestartLoop")])
    kills = tally(
        "OOM kills",
        "Processes of containers that the kernel killed for memory within the time range of the dashboard.",
        now(f"sum(round(increase({of_project('bcon_container_oom_kills_total')}[$__range])))"),
        meaning.CRITICAL,
    ).links([runbook("BconContainerOomKilled")])
    board.line(4, (5, _hosts_seen()), (10, _containers()), (3, drifted), (3, restarts), (3, kills))


def _hosts_seen() -> stat.Panel:
    hosts = numbers(
        "Hosts",
        "Hosts that are seen now, and those that were seen within the last hour and are not: exporter not scraped, "
        "engine unreachable or no good scan. What is not seen is missing from every other panel.",
        now(f"count({sight()} == 3) or vector(0)", "seen"),
        now(f"count({sight()} < 3) or vector(0)", "not seen", "B"),
    )
    hosts = hosts.thresholds(meaning.steps((0, meaning.CRITICAL), (1, meaning.GOOD)))
    hosts = hosts.override_by_name("not seen", [meaning.as_property(meaning.zero_is_good(meaning.CRITICAL))])
    return hosts.links([runbook("BconDockerUnreachable"), runbook("BconExporterDown")])


def _containers() -> stat.Panel:
    containers = numbers(
        "Containers",
        "Containers by the worst symptom that they show now. Not checked are those without a finding of which a rule "
        "that decides could not be judged: they are not known to be healthy.",
        *_by_status(now),
    )
    for text, colour in (*meaning.STATUS.values(), ("not checked", meaning.WARNING)):
        containers = colour_above_zero(containers, text, colour)
    return containers


def _by_status(query: Callable[[str, str, str], Dataquery]) -> Iterator[Dataquery]:
    """The number of containers of each status, the worst first."""
    for index, (value, (text, _)) in enumerate(reversed(meaning.STATUS.items())):
        apart = f" - {UNCHECKED}" if text == "healthy" else ""
        yield query(f"sum({STATUS} == bool {value}){apart}", text, chr(ord("A") + index))
    yield query(UNCHECKED, "not checked", chr(ord("A") + len(meaning.STATUS)))


def _what_is_wrong(board: Board) -> None:
    timeline = states(
        "Containers that are or were not healthy",
        "The 30 worst of the time range. A gap: the container or its host was not there or not seen.",
        over_time(top(30, STATUS, f"max_over_time({STATUS}{IN_RANGE}) > 0"), NAME),
        texts=meaning.STATUS,
        nothing="Every container that was seen was healthy all the time",
    ).data_links([TO_SERIES])
    counts = lines(
        "Containers by status",
        "How many containers were how well. A gap: nothing was seen.",
        *_by_status(over_time),
        unit="short",
    ).decimals(0)
    board.row("What is wrong")
    board.line(10, (24, _symptoms()))
    board.line(11, (16, timeline), (8, stacked(counts, dict(meaning.STATUS.values()))))


def _symptoms() -> table.Panel:
    since = of_project("bcon_container_symptom_start_timestamp_seconds")
    return listing(
        "Symptoms present, and why",
        "Each symptom that a container shows now, since when, with the likeliest cause of all of the container's and "
        "whom it points to. Click a name for the container's own dashboard or the exporter's full report.",
        [
            rows(with_alert(symptoms_since(of_project), "symptom", ALERT_OF_SYMPTOM)),
            rows(f"{STATUS} and {ON_CONTAINER} {since}", "B"),
        ],
        [
            Column("Status", "Value #B", width=90, texts=meaning.STATUS, coloured=True),
            Column("Container", "container", links=(TO_ROW, REPORT)),
            Column("Symptom", "symptom", width=140, links=(ABOUT_SYMPTOM,)),
            Column("Since", "Value #A", width=140, unit="dateTimeFromNow"),
            Column("Likeliest cause", "cause"),
            Column("Points to", "peer", width=160, links=(TO_PEER,)),
            Column("Project", "project", width=140),
            Column("Host", "instance", width=170, links=(TO_HOST,)),
            Column("Runbook", "alert", width=230, texts=meaning.names(ALERT_OF_SYMPTOM), links=(RUNBOOK,)),
        ],
        worst="Status",
        nothing="No symptoms on the hosts that are seen",
    )


def _drift(board: Board) -> None:
    course = as_steps(
        lines(
            "Differences by type",
            "How many differences there were of each type. A gap: no drift scan was seen.",
            over_time(f"sum by (drift) ({of_project('bcon_drift_items')})", "{{drift}}"),
            unit="short",
        )
    )
    unread = listing(
        "Projects that cannot be judged",
        "Projects whose Compose files cannot be read or resolved: their drift is unknown, not none.",
        [rows(f"{of_project('bcon_compose_unreadable')} == 1")],
        [
            Column("Project", "project", links=(DRIFT_REPORT,)),
            Column("Reason", "reason"),
            Column("Host", "instance", links=(TO_HOST,)),
        ],
        worst="Project",
        nothing="Every project can be judged",
    ).links([runbook("BconComposeUnreadable")])
    board.row("Drift")
    board.line(9, (24, _differences()))
    board.line(8, (8, _projects()), (8, unread), (8, course))


def _differences() -> table.Panel:
    items = f"{of_project('bcon_drift_items')} > 0"
    return listing(
        "Drift from the Compose files",
        "What differs from what the files ask for, since when, and whether somebody stopped the service by hand. "
        "Click a project for the exporter's report, which names each field.",
        [
            rows(with_alert(items, "drift", ALERT_OF_DRIFT)),
            rows(f"1000 * {of_project('bcon_drift_start_timestamp_seconds')}", "B"),
            rows(f"1 * {of_project('bcon_service_stop_requested')} and {ON_SERVICE} {items}", "C"),
        ],
        [
            Column("Project", "project", links=(DRIFT_REPORT,)),
            Column("Service", "service"),
            Column("Drift", "drift", links=(ABOUT_DRIFT,)),
            Column("Differences", "Value #A", width=110),
            Column("Since", "Value #B", width=140, unit="dateTimeFromNow"),
            Column("Stopped by hand", "Value #C", width=135, texts=meaning.YES_NO),
            Column("Host", "instance", width=170, links=(TO_HOST,)),
            Column("Runbook", "alert", width=230, texts=meaning.names(ALERT_OF_DRIFT), links=(RUNBOOK,)),
        ],
        worst="Since",
        nothing="No drift in the projects that can be judged",
    )


def _projects() -> stat.Panel:
    status = "bcon_compose_project_status"
    projects = numbers(
        "Projects",
        "Compose projects that are as their files say, that differ, and that cannot be judged; and running containers "
        "that no known Compose file defines.",
        now(f"sum({of_project(status, status='synced')})", "in sync"),
        now(f"sum({of_project(status, status='drifted')})", "drifted", "B"),
        now(f"sum({of_project(status, status='unknown')})", "not judged", "C"),
        now(f"sum({of_host('bcon_untracked_containers')})", "untracked containers", "D"),
    ).thresholds(meaning.steps())
    for name, colour in {"in sync": meaning.GOOD, "drifted": meaning.WARNING, "not judged": meaning.ERROR}.items():
        projects = colour_above_zero(projects, name, colour)
    return projects


def _usage(board: Board) -> None:
    cpu, used = of_project("bcon_container_cpu_usage_ratio"), of_project("bcon_container_memory_usage_bytes")
    limit = of_project("bcon_container_memory_limit_bytes")
    share = f"avg_over_time({used}{IN_RANGE}) / {ON_CONTAINER} max_over_time({limit}{IN_RANGE})"
    busiest = lines(
        "CPU of what it may use",
        "The 10 containers with the highest mean over the time range; 100 % is the container's quota, or all CPUs "
        "without one. Dashed: where high_cpu begins, if no label of the container says otherwise.",
        over_time(top(LARGEST, cpu, f"avg_over_time({cpu}{IN_RANGE})"), NAME),
        unit="percentunit",
        links=[TO_SERIES],
    ).links([runbook("BconContainerHighCpu")])
    fullest = lines(
        "Memory of its limit",
        "The 10 containers nearest to their limit; those without a limit are not among them. Working set, without "
        "page cache. Dashed: where high_memory begins, if no label of the container says otherwise.",
        over_time(top(LARGEST, f"{used} / {ON_CONTAINER} {limit}", share), NAME),
        unit="percentunit",
        links=[TO_SERIES],
    ).links([runbook("BconContainerHighMemory")])
    largest = lines(
        "Memory used",
        "The 10 containers with the highest mean over the time range, with and without a limit. Working set.",
        over_time(top(LARGEST, used, f"avg_over_time({used}{IN_RANGE})"), NAME),
        unit="bytes",
        links=[TO_SERIES],
    )
    board.row("CPU and memory")
    board.line(
        10,
        (8, with_line(busiest, over_time(_threshold("high_cpu"), "threshold", "B"))),
        (8, with_line(fullest, over_time(_threshold("high_memory"), "threshold", "B"))),
        (8, largest),
    )


def _threshold(symptom: str) -> str:
    """The configured threshold; of several hosts the lowest."""
    return f"min({of_host('bcon_symptom_threshold_ratio', symptom=symptom)})"


def _disk(board: Board) -> None:
    kinds = lines(
        "Docker's disk by kind",
        "What images, containers, volumes, the build cache and log files take; of images each layer counts once.",
        over_time(f"sum by (kind) ({of_host('bcon_docker_disk_bytes')})", "{{kind}}"),
        unit="bytes",
        nothing="Not read, or the collector disk is off",
    ).links([runbook("BconDiskFullSoon")])
    volumes = bars(
        "Volumes that grow the most",
        "By how much the 10 volumes that grow the most grow in a day, as known for an hour or more.",
        now(f"topk({LARGEST}, {of_project('bcon_volume_growth_bytes_per_day')} > 0)", "{{volume}} · {{instance}}"),
        links=[],
        colour=meaning.PLAIN,
        nothing="No growth known",
    ).unit("bytes")
    logs = bars(
        "Log files that grow the most",
        "By how much the log files of 10 containers grow in a day, as known for an hour or more.",
        now(f"topk({LARGEST}, {of_project('bcon_container_log_file_growth_bytes_per_day')} > 0)", NAME),
        links=[TO_SERIES],
        colour=meaning.PLAIN,
        nothing="No growth known",
    ).unit("bytes")
    board.row("Disk")
    board.line(9, (8, kinds), (8, volumes), (8, logs))


def _restarts_and_logs(board: Board) -> None:
    board.row("Restarts, OOM kills and logs")
    _restarts_and_kills(board)
    _log_events(board)


def _restarts_and_kills(board: Board) -> None:
    hourly = of_project("bcon_container_restarts_last_hour")
    kills = of_project("bcon_container_oom_kills_total")
    restarts = as_steps(
        lines(
            "Restarts within the last hour, by container",
            "Restarts that nobody asked for, at each moment those of the hour before; the 10 containers with the most.",
            over_time(top(LARGEST, hourly, f"max_over_time({hourly}{IN_RANGE}) > 0"), NAME),
            unit="short",
            links=[TO_SERIES],
            nothing="No restarts that nobody asked for",
        )
    ).links([runbook("BconContainerRestartLoop")])
    killed = bars(
        "OOM kills by container",
        "Who lost processes to the kernel's OOM killer within the time range, and how many.",
        now(f"topk({LARGEST}, round(increase({kills}[$__range])) > 0)", NAME),
        links=[TO_SERIES],
        colour=meaning.CRITICAL,
        nothing="No OOM kills",
    ).links([runbook("BconContainerOomKilled")])
    board.line(9, (14, restarts), (10, killed))


def _log_events(board: Board) -> None:
    logged = of_project("bcon_container_log_events_total")
    failures = logged.removesuffix("}") + ', level=~"error|critical"}'
    levels = as_bars(
        lines(
            "Log events by level",
            "Warnings and worse that all logs together hold for each minute; a stack trace is one event.",
            over_time(f"60 * sum by (level) (rate({logged}[$__rate_interval]))", "{{level}}"),
            unit="cpm",
        )
    )
    loudest = bars(
        "Errors logged by container",
        "Whose log held the most events of level error or critical within the time range.",
        now(f"topk({LARGEST}, round(sum {BY_CONTAINER} (increase({failures}[$__range]))) > 0)", NAME),
        links=[TO_SERIES],
        colour=meaning.ERROR,
        nothing="No errors logged",
    ).links([runbook("BconContainerLogErrors")])
    board.line(9, (14, stacked(levels, meaning.LEVELS)), (10, loudest))


def _exporters(board: Board) -> None:
    board.row("bcon-exporter itself")
    board.line(6, (24, _hosts()))
    _scans(board)
    _requests_and_cost(board)


def _hosts() -> table.Panel:
    return listing(
        "Hosts and their exporters",
        "Each host that was seen within the last hour: how far it is seen, how it fares, and what runs there. "
        "Samples left out: those above the exporter's cap on series.",
        [
            rows(sight()),
            rows(f"max by (job, instance) ({of_host('bcon_container_status')})", "B"),
            rows(f"count by (job, instance) ({of_host('bcon_container_status')})", "C"),
            rows(f"group by (job, instance, version) ({of_host('bcon_build_info')})", "D"),
            rows(f"group by (job, instance, name, server_version) ({of_host('bcon_docker_info')})", "E"),
            rows(f"max by (job, instance) ({of_host('bcon_alerts_firing')})", "F"),
            rows(f"max by (job, instance) ({of_host('bcon_series_dropped')})", "G"),
        ],
        [
            Column("Host", "instance", links=(TO_HOST,)),
            Column("View", "Value #A", width=150, texts=meaning.SIGHT, coloured=True),
            Column("Worst container", "Value #B", width=140, texts=meaning.STATUS, coloured=True),
            Column("Containers", "Value #C", width=110),
            Column("Alerts firing", "Value #F", width=110),
            Column("Engine's name", "name"),
            Column("Engine", "server_version"),
            Column("Exporter", "version", width=110),
            Column("Samples left out", "Value #G", width=140),
        ],
        worst="Worst container",
        nothing="No bcon-exporter has been scraped within the last hour",
    )


def _scans(board: Board) -> None:
    seen = states(
        "View of each host",
        "How far each host was seen. A gap: nothing was known of it.",
        over_time(sight(), "{{instance}}"),
        texts=meaning.SIGHT,
    ).links([runbook("BconDockerUnreachable"), runbook("BconExporterDown"), runbook("BconExporterVanished")])
    interval = of_host("bcon_scan_interval_seconds")
    age = with_threshold(
        lines(
            "Age of the last good scan, in intervals",
            "How old what is shown is, in intervals of that scan. Above the dashed line values are withheld.",
            over_time(f"(time() - {of_host('bcon_scan_last_success_timestamp_seconds')}) / {interval}", SCAN),
            unit="none",
        ).decimals(1),
        3,
        meaning.ERROR,
    ).links([runbook("BconScanStale")])
    duration = with_threshold(
        lines(
            "Time of a scan, of its interval",
            "How much of the interval between two scans the last one took. Above the dashed line turns will be missed.",
            over_time(f"{of_host('bcon_scan_last_duration_seconds')} / {interval}", SCAN),
            unit="percentunit",
        ),
        0.8,
    ).links([runbook("BconScanSlow")])
    board.line(8, (8, seen), (8, age), (8, duration))


def _requests_and_cost(board: Board) -> None:
    answers = lines(
        "The engine's answers, 95th percentile",
        "How long the engine takes to answer, by endpoint: an endpoint that hangs shows before all of it does.",
        over_time(
            "histogram_quantile(0.95, sum by (le, endpoint) "
            f"(rate({of_host('bcon_docker_request_duration_seconds_bucket')}[$__rate_interval]))) >= 0",
            "{{endpoint}}",
        ),
        unit="s",
    ).links([runbook("BconDockerEndpointDown")])
    failed = as_bars(
        lines(
            "What went wrong in the exporters",
            "Counted within each interval over all hosts: requests to the engine that failed, errors of scans and tool "
            "calls, scans that missed their turn, lost events, uses of the state file that failed.",
            *(
                over_time(f"sum(increase({of_host(counter)}[$__rate_interval]))", told, chr(ord("A") + index))
                for index, (told, counter) in enumerate(FAILURES.items())
            ),
            unit="short",
        )
    ).links([runbook("BconScanMissed"), runbook("BconStateErrors")])
    cost = lines(
        "CPU of the exporters",
        "Share of one CPU that watching costs.",
        over_time(only_ours(f"rate({of_host('process_cpu_seconds_total')}[$__rate_interval])"), "{{instance}}"),
        unit="percentunit",
    )
    memory = lines(
        "Memory of the exporters",
        "Resident memory that watching costs.",
        over_time(only_ours(of_host("process_resident_memory_bytes")), "{{instance}}"),
        unit="bytes",
    )
    board.line(8, (8, answers), (8, failed), (4, cost), (4, memory))
