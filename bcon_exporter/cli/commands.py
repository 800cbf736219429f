"""Every command: its arguments and what it asks of the tools."""

from argparse import ArgumentParser
from typing import Any

from bcon_exporter.cli.alerts_command import print_rules, show_alerts
from bcon_exporter.cli.log_command import add_log_arguments, run_log_analysis
from bcon_exporter.cli.own_commands import (
    add_call_arguments,
    add_fail_on,
    add_format,
    add_snapshot_arguments,
    check_config,
    check_daemon,
    no_arguments,
    run_call,
    run_snapshot,
    serve,
    show_version,
)
from bcon_exporter.cli.parsing import Command, Invocation
from bcon_exporter.cli.work import run_command_tool
from bcon_exporter.errors import InvalidInputError, SettingsError
from bcon_exporter.model.inputs import FILTER_KEYS
from bcon_exporter.tools.views import HOST_DIAGNOSIS, HOST_DRIFT, HOST_STATS

DAEMON, CONTAINERS, COMPOSE, TOOLS = "Daemon", "Containers", "Compose files", "Tools and files"


def _add_common(parser: ArgumentParser) -> None:
    add_format(parser)
    parser.add_argument("--from-snapshot", metavar="FILE", help="read this snapshot file instead of an engine")
    parser.add_argument(
        "--watch", nargs="?", const="2s", metavar="DURATION", help="again and again, until Ctrl-C (default: 2s)"
    )


def _add_project(parser: ArgumentParser, without_file: str) -> None:
    text = f"project of the file, inferred as Compose infers it; {without_file}"
    parser.add_argument("--project-name", "-p", metavar="NAME", help=text)


def _given(**fields: Any) -> dict[str, Any]:
    """Return the fields that were given."""
    return {name: value for name, value in fields.items() if value is not None}


def _diagnose_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("container", nargs="?", metavar="CONTAINER", help="id, id prefix or name; all when left out")
    parser.add_argument("--all", "-a", action="store_true", help="show healthy containers in full as well")
    parser.add_argument("--no-logs", action="store_true", help="judge without reading logs (one container)")
    parser.add_argument("--log-tail", metavar="LINES", help="newest log lines to analyse (one container)")
    add_fail_on(parser)
    _add_common(parser)


def _diagnose(call: Invocation) -> int:
    given = call.arguments
    if given.container is None:
        for flag, is_given in (("--no-logs", given.no_logs), ("--log-tail", given.log_tail is not None)):
            if is_given:
                msg = f"{flag} is for one container: name it (diagnose CONTAINER {flag} ...), or leave {flag} out"
                raise SettingsError(msg, {"flag": flag})
        return run_command_tool(call, HOST_DIAGNOSIS, {"include_healthy": given.all}, healthy_too=given.all)
    payload = _given(container_id=given.container, include_logs=not given.no_logs, log_tail=given.log_tail)
    return run_command_tool(call, "diagnose_container", payload)


def _drift_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("compose_file", nargs="?", metavar="COMPOSE_FILE", help="all projects found when left out")
    _add_project(parser, "without a file: show this project only")
    _add_common(parser)


def _drift(call: Invocation) -> int:
    given = call.arguments
    if given.compose_file is None:
        return run_command_tool(call, HOST_DRIFT, _given(project_name=given.project_name))
    return run_command_tool(
        call, "detect_drift", _given(compose_file=given.compose_file, project_name=given.project_name)
    )


def _list_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--all", "-a", action="store_true", help="stopped containers too")
    parser.add_argument(
        "--filter",
        "-f",
        action="append",
        metavar="KEY=VALUE",
        default=[],
        help=f"all must match, each key once: {', '.join(FILTER_KEYS)}; name is any part of a name",
    )
    _add_common(parser)


def _list(call: Invocation) -> int:
    filters: dict[str, str] = {}
    for item in call.arguments.filter:
        key, _, value = item.partition("=")
        if key in filters:
            msg = f"--filter {key}: give each key once; of a repeated one only one value would count"
            raise InvalidInputError(msg, {"errors": [{"field": f"filters.{key}", "message": "given more than once"}]})
        filters[key] = value
    return run_command_tool(call, "list_containers", {"all": call.arguments.all, "filters": filters or None})


def _container_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("container", metavar="CONTAINER", help="id, id prefix or name")
    _add_common(parser)


def _info(call: Invocation) -> int:
    return run_command_tool(call, "get_container_info", {"container_id": call.arguments.container})


def _stats_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("container", nargs="?", metavar="CONTAINER", help="all running ones when left out")
    _add_common(parser)


def _stats(call: Invocation) -> int:
    if call.arguments.container is None:
        return run_command_tool(call, HOST_STATS, {})
    return run_command_tool(call, "get_container_stats", {"container_id": call.arguments.container})


def _logs_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("container", metavar="CONTAINER", help="id, id prefix or name")
    parser.add_argument("--tail", "-n", metavar="LINES", help="newest lines to show (default: 100)")
    parser.add_argument("--since", metavar="TIME", help="2026-01-31T12:00:00Z, or how long ago: 10m")
    parser.add_argument("--until", metavar="TIME", help="2026-01-31T12:00:00Z, or how long ago: 10m")
    parser.add_argument("--no-timestamps", action="store_true", help="leave the times out")
    _add_common(parser)


def _logs(call: Invocation) -> int:
    given = call.arguments
    payload = _given(
        container_id=given.container,
        tail=given.tail,
        since=given.since,
        until=given.until,
        timestamps=not given.no_timestamps,
    )
    return run_command_tool(call, "get_container_logs", payload)


def _untracked_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "compose_file", nargs="?", metavar="COMPOSE_FILE", help="every container when left out, and no project is named"
    )
    _add_project(parser, "without a file: the project's own files")
    parser.add_argument("--all", "-a", action="store_true", help="stopped containers too")
    _add_common(parser)


def _untracked(call: Invocation) -> int:
    given = call.arguments
    payload = _given(compose_file=given.compose_file, project_name=given.project_name, all=given.all)
    return run_command_tool(call, "get_untracked_containers", payload)


def _explain_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("container", metavar="CONTAINER", help="id, id prefix or name")
    parser.add_argument("pattern", metavar="PATTERN", help="literal text, or an RE2 pattern after re:")
    parser.add_argument("--context", "-C", metavar="LINES", help="lines around each hit (default: 5)")
    _add_common(parser)


def _explain(call: Invocation) -> int:
    given = call.arguments
    payload = _given(container_id=given.container, error_pattern=given.pattern, context_lines=given.context)
    return run_command_tool(call, "explain_error", payload)


def _health(call: Invocation) -> int:
    return run_command_tool(call, "health_check", {})


def _cost_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--period", choices=("day", "week", "month"), default="day", help="(default: day)")
    _add_common(parser)


def _cost(call: Invocation) -> int:
    return run_command_tool(call, "get_cost_report", {"period": call.arguments.period})


COMMANDS: tuple[Command, ...] = (
    Command("diagnose", CONTAINERS, "What is wrong, why, and what to do.", _diagnose_arguments, _diagnose),
    Command("list", CONTAINERS, "List containers.", _list_arguments, _list),
    Command("info", CONTAINERS, "Show one container.", _container_arguments, _info),
    Command("stats", CONTAINERS, "Show what containers use.", _stats_arguments, _stats),
    Command("logs", CONTAINERS, "Show a container's newest log lines, secrets masked.", _logs_arguments, _logs),
    Command("explain", CONTAINERS, "Find an error in a log and say what it means.", _explain_arguments, _explain),
    Command("drift", COMPOSE, "Where running containers left their Compose files.", _drift_arguments, _drift),
    Command("untracked", COMPOSE, "List containers that no Compose file defines.", _untracked_arguments, _untracked),
    Command("serve", DAEMON, "Run the daemon: scans, metrics, API.", no_arguments, serve, all_settings=True),
    Command("alerts", DAEMON, "Show which alerts fire, as the running daemon judges.", add_format, show_alerts),
    Command("rules", DAEMON, "Print the alert rules for Prometheus.", no_arguments, print_rules),
    Command("check-config", DAEMON, "Check all settings; say OK or what is wrong.", add_format, check_config, True),  # noqa: FBT003
    Command(
        "healthcheck", DAEMON, "Ask the running daemon whether it is healthy (exit 0 or 1).", add_format, check_daemon
    ),
    Command("health", TOOLS, "Say whether the engine is reached.", _add_common, _health),
    Command("cost", TOOLS, "Say what tool calls cost.", _cost_arguments, _cost),
    Command(
        "analyze-log", TOOLS, "Say what a log file or stdin tells; no engine.", add_log_arguments, run_log_analysis
    ),
    Command("call", TOOLS, "Call a tool with JSON; print the envelope.", add_call_arguments, run_call),
    Command(
        "snapshot", TOOLS, "Write the host as a JSON file for --from-snapshot.", add_snapshot_arguments, run_snapshot
    ),
    Command("version", TOOLS, "Show the version.", add_format, show_version),
)
