"""Every command with its arguments. Light, so that `--help`, `version` and tab completion load nothing else."""

from argparse import Action, ArgumentParser
from collections.abc import Callable

from bcon_exporter.cli.exits import NEVER, UNCHECKED
from bcon_exporter.cli.names_by_tab import (
    complete_containers,
    complete_containers_and_projects,
    complete_projects,
    complete_tools,
)
from bcon_exporter.cli.parsing import ALL_SETTINGS, NO_SETTINGS, Command
from bcon_exporter.model.filter_keys import FILTER_KEYS

DAEMON, CONTAINERS, COMPOSE, TOOLS = "Daemon", "Containers", "Compose files", "Tools and files"
STDIN = "-"
_DAEMON_ADDRESS = ("web.listen-address", "web.config.file", "api.listen-address", "config.file")


def _complete(action: Action, completer: Callable[..., list[str]]) -> None:
    """Have Tab ask for an argument's values where argcomplete looks for that."""
    action.completer = completer  # type: ignore[attr-defined]


def no_arguments(parser: ArgumentParser) -> None:
    """Add none."""


def add_format(parser: ArgumentParser, default: str = "table") -> None:
    """Add --format."""
    parser.add_argument(
        "--format", choices=("table", "json", "markdown"), default=default, help=f"how to print (default: {default})"
    )


def add_fail_on(parser: ArgumentParser) -> None:
    """Add --fail-on."""
    parser.add_argument(
        "--fail-on",
        choices=(UNCHECKED, "warning", "error", "critical", NEVER),
        default="error",
        help="exit with 1 for findings of at least this status; unchecked: for any, and for containers of which it is "
        "not known whether they are healthy (default: error)",
    )


def add_call_arguments(parser: ArgumentParser) -> None:
    """Add TOOL, JSON, --format and --from-snapshot."""
    add_format(parser, "json")
    _complete(parser.add_argument("tool", metavar="TOOL", help="for example diagnose_all"), complete_tools)
    parser.add_argument(
        "input", nargs="?", metavar="JSON", default="{}", help="the tool's input; `-` reads it from stdin"
    )
    add_fail_on(parser)
    parser.add_argument("--from-snapshot", metavar="FILE", help="read this snapshot file instead of an engine")


def add_snapshot_arguments(parser: ArgumentParser) -> None:
    """Add --output."""
    parser.add_argument("--output", "-o", metavar="FILE", help="file to write, readable by you only (default: stdout)")
    parser.add_argument(
        "--from-snapshot", metavar="FILE", help="rewrite this snapshot file instead of reading an engine"
    )


def add_log_arguments(parser: ArgumentParser) -> None:
    """Add FILE, --format and --fail-on."""
    parser.add_argument("file", nargs="?", metavar="FILE", default=STDIN, help="log file; `-` or none reads stdin")
    add_format(parser, "json")
    parser.add_argument(
        "--fail-on",
        choices=("warning", "error", "critical", NEVER),
        default=NEVER,
        help=f"exit with 1 for symptoms of at least this severity (default: {NEVER})",
    )


def _add_common(parser: ArgumentParser) -> None:
    add_format(parser)
    parser.add_argument("--from-snapshot", metavar="FILE", help="read this snapshot file instead of an engine")
    parser.add_argument(
        "--watch", nargs="?", const="2s", metavar="DURATION", help="again and again, until Ctrl-C (default: 2s)"
    )


def _add_project(parser: ArgumentParser, without_file: str) -> None:
    text = f"project of the file, inferred as Compose infers it; {without_file}"
    _complete(parser.add_argument("--project-name", "-p", metavar="NAME", help=text), complete_projects)


def _diagnose_arguments(parser: ArgumentParser) -> None:
    _complete(
        parser.add_argument(
            "container",
            nargs="*",
            metavar="CONTAINER",
            help="ids, id prefixes, names or Compose projects; all when left out",
        ),
        complete_containers_and_projects,
    )
    parser.add_argument("--all", "-a", action="store_true", help="show healthy containers in full as well")
    parser.add_argument("--no-logs", action="store_true", help="judge without reading logs (one container)")
    parser.add_argument("--log-tail", metavar="LINES", help="newest log lines to analyse (one container)")
    add_fail_on(parser)
    _add_common(parser)


def _drift_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("compose_file", nargs="?", metavar="COMPOSE_FILE", help="all projects found when left out")
    _add_project(parser, "without a file: show this project only")
    _add_common(parser)


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


def _dashboard_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("dashboard", nargs="?", choices=("bcon-overview", "bcon-container"), help="print this one")
    parser.add_argument("--output", "-o", metavar="FOLDER", help="write it, or all, as files into this folder")


def _add_container(parser: ArgumentParser, nargs: str | None = None, text: str = "id, id prefix or name") -> None:
    _complete(parser.add_argument("container", nargs=nargs, metavar="CONTAINER", help=text), complete_containers)


def _completion_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell will read it")


def _container_arguments(parser: ArgumentParser) -> None:
    _add_container(parser)
    _add_common(parser)


def _stats_arguments(parser: ArgumentParser) -> None:
    _add_container(parser, "?", "all running ones when left out")
    _add_common(parser)


def _logs_arguments(parser: ArgumentParser) -> None:
    _add_container(parser)
    parser.add_argument("--tail", "-n", metavar="LINES", help="newest lines to show (default: 100)")
    parser.add_argument("--since", metavar="TIME", help="2026-01-31T12:00:00Z, or how long ago: 10m")
    parser.add_argument("--until", metavar="TIME", help="2026-01-31T12:00:00Z, or how long ago: 10m")
    parser.add_argument("--grep", "-g", metavar="PATTERN", help="lines with this text, or an RE2 pattern after re:")
    parser.add_argument("--around-crash", action="store_true", help="lines before and after its last end, half each")
    parser.add_argument("--previous", action="store_true", help="lines from before its last start")
    parser.add_argument("--follow", "-f", action="store_true", help="go on with new lines, until Ctrl-C")
    parser.add_argument("--no-timestamps", action="store_true", help="leave the times out")
    _add_common(parser)


def _untracked_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "compose_file", nargs="?", metavar="COMPOSE_FILE", help="every container when left out, and no project is named"
    )
    _add_project(parser, "without a file: the project's own files")
    parser.add_argument("--all", "-a", action="store_true", help="stopped containers too")
    _add_common(parser)


def _explain_arguments(parser: ArgumentParser) -> None:
    _add_container(parser)
    parser.add_argument("pattern", metavar="PATTERN", help="literal text, or an RE2 pattern after re:")
    parser.add_argument("--context", "-C", metavar="LINES", help="lines around each hit (default: 5)")
    _add_common(parser)


COMMANDS: tuple[Command, ...] = (
    Command(
        "diagnose", CONTAINERS, "What is wrong, why, and what to do.", _diagnose_arguments, "tool_commands:diagnose"
    ),
    Command("list", CONTAINERS, "List containers.", _list_arguments, "tool_commands:list_containers"),
    Command("info", CONTAINERS, "Show one container.", _container_arguments, "tool_commands:show_container"),
    Command("stats", CONTAINERS, "Show what containers use.", _stats_arguments, "tool_commands:show_stats"),
    Command(
        "logs",
        CONTAINERS,
        "Show a container's newest log lines, secrets masked.",
        _logs_arguments,
        "tool_commands:show_logs",
    ),
    Command(
        "explain",
        CONTAINERS,
        "Find an error in a log and say what it means.",
        _explain_arguments,
        "tool_commands:explain",
    ),
    Command(
        "drift",
        COMPOSE,
        "Where running containers left their Compose files.",
        _drift_arguments,
        "tool_commands:show_drift",
    ),
    Command(
        "untracked",
        COMPOSE,
        "List containers that no Compose file defines.",
        _untracked_arguments,
        "tool_commands:list_untracked",
    ),
    Command("serve", DAEMON, "Run the daemon: scans, metrics, API.", no_arguments, "own_commands:serve", ALL_SETTINGS),
    Command(
        "alerts",
        DAEMON,
        "Show which alerts fire, as the running daemon judges.",
        add_format,
        "alerts_command:show_alerts",
        _DAEMON_ADDRESS,
    ),
    Command(
        "rules",
        DAEMON,
        "Print the alert rules for Prometheus.",
        no_arguments,
        "alerts_command:print_rules",
        ("alerts.runbooks-url", "config.file"),
    ),
    Command(
        "check-config",
        DAEMON,
        "Check all settings; say OK or what is wrong.",
        add_format,
        "own_commands:check_config",
        ALL_SETTINGS,
    ),
    Command(
        "healthcheck",
        DAEMON,
        "Ask the running daemon whether it is healthy (exit 0 or 1).",
        add_format,
        "own_commands:check_daemon",
        _DAEMON_ADDRESS,
    ),
    Command("health", TOOLS, "Say whether the engine is reached.", _add_common, "tool_commands:check_health"),
    Command(
        "analyze-log",
        TOOLS,
        "Say what a log file or stdin tells; no engine.",
        add_log_arguments,
        "log_command:run_log_analysis",
        ("catalogue.directory", "config.file"),
    ),
    Command("call", TOOLS, "Call a tool with JSON; print the envelope.", add_call_arguments, "own_commands:run_call"),
    Command(
        "snapshot",
        TOOLS,
        "Write the host as a JSON file for --from-snapshot.",
        add_snapshot_arguments,
        "own_commands:run_snapshot",
    ),
    Command("version", TOOLS, "Show the version.", add_format, "version_command:show_version", NO_SETTINGS),
    Command(
        "dashboards",
        DAEMON,
        "Print the dashboards for Grafana.",
        _dashboard_arguments,
        "shipped_files:print_dashboards",
        NO_SETTINGS,
    ),
    Command(
        "alertmanager-example",
        DAEMON,
        "Print an example configuration for Alertmanager.",
        no_arguments,
        "shipped_files:print_alertmanager_example",
        NO_SETTINGS,
    ),
    Command(
        "completion",
        TOOLS,
        "Print what makes a shell complete with Tab.",
        _completion_arguments,
        "completion_command:print_completion",
        NO_SETTINGS,
    ),
)
