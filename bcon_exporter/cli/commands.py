"""Every command with its arguments. Light, so that `--help`, `version` and tab completion load nothing else."""

from argparse import Action, ArgumentParser
from collections.abc import Callable

from bcon_exporter.cli.completers import (
    complete_containers,
    complete_containers_and_projects,
    complete_projects,
    complete_tools,
)
from bcon_exporter.cli.exits import NEVER, UNCHECKED
from bcon_exporter.cli.parsing import ALL_SETTINGS, NO_SETTINGS, Command
from bcon_exporter.cli.report_formats import CHECK_FORMATS, VERIFY_FORMATS, add_report_formats
from bcon_exporter.cli.selecting import add_select
from bcon_exporter.model.filter_keys import FILTER_KEYS
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.stages import EXPERIMENTAL

DAEMON, CONTAINERS, COMPOSE, TOOLS = "Daemon", "Containers", "Compose files", "Tools and files"
STDIN = "-"
_WHEN = "a time, how long ago, or a word such as yesterday or 'last night'"
TOOL_FORMATS = ("openai", "anthropic", "mcp", "json-schema")
"""As in `agents.schemas`, which is not loaded for --help."""
_DAEMON_ADDRESS = ("web.listen-address", "web.config.file", "api.listen-address", "config.file")


def _complete(action: Action, completer: Callable[..., list[str]]) -> None:
    """Have Tab ask for an argument's values where argcomplete looks for that."""
    action.completer = completer  # type: ignore[attr-defined]


def no_arguments(parser: ArgumentParser) -> None:
    """Add none."""


_FORMATS = ("table", "json", "markdown")


def add_format(parser: ArgumentParser, default: str = "table", formats: tuple[str, ...] = _FORMATS) -> None:
    """Add --format and --select."""
    parser.add_argument("--format", choices=formats, default=default, help=f"how to print (default: {default})")
    add_select(parser)


def add_tool_format(parser: ArgumentParser, default: str = "table") -> None:
    """Add --format of a command that runs a tool: `agent` is what AI agents read."""
    add_format(parser, default, (*_FORMATS, "agent"))


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
    add_tool_format(parser, "json")
    _complete(parser.add_argument("tool", metavar="TOOL", help="for example diagnose_all"), complete_tools)
    parser.add_argument(
        "input", nargs="?", metavar="JSON", default="{}", help="the tool's input; `-` reads it from stdin"
    )
    add_fail_on(parser)
    parser.add_argument("--from-snapshot", metavar="FILE", help="read this snapshot file instead of an engine")


def _operation_arguments(tool: str) -> Callable[[ArgumentParser], None]:
    def add(parser: ArgumentParser) -> None:
        """Add KEY=VALUE, --format and --from-snapshot."""
        add_format(parser, "agent", ("agent", "json"))
        parser.add_argument("words", nargs="*", metavar="KEY=VALUE", help="container:list state=running; help alone")
        parser.add_argument("--from-snapshot", metavar="FILE", help="read this snapshot file instead of an engine")
        parser.set_defaults(tool=tool)

    return add


def add_snapshot_arguments(parser: ArgumentParser) -> None:
    """Add --output, --for-report and --from-snapshot."""
    parser.add_argument("--output", "-o", metavar="FILE", help="file to write, readable by you only (default: stdout)")
    _complete(
        parser.add_argument(
            "--for-report",
            nargs="?",
            const="",
            metavar="NAME",
            help="only what a report of a wrong diagnosis needs: of this container or project, or of all that ails",
        ),
        complete_containers_and_projects,
    )
    parser.add_argument(
        "--from-snapshot", metavar="FILE", help="rewrite this snapshot file instead of reading an engine"
    )


def add_log_arguments(parser: ArgumentParser) -> None:
    """Add FILE, --format and --fail-on."""
    parser.add_argument("file", nargs="?", metavar="FILE", default=STDIN, help="log file; `-` or none reads stdin")
    add_format(parser)
    parser.add_argument(
        "--fail-on",
        choices=("warning", "error", "critical", NEVER),
        default=NEVER,
        help=f"exit with 1 for symptoms of at least this severity (default: {NEVER})",
    )


def _add_common(parser: ArgumentParser) -> None:
    add_tool_format(parser)
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


def _history_arguments(parser: ArgumentParser) -> None:
    text = "name of a container, service or project; all when left out"
    _complete(
        parser.add_argument("name", nargs="?", metavar="NAME", help=text),
        complete_containers_and_projects,
    )
    parser.add_argument("--since", metavar="TIME", help=f"since when: {_WHEN} (default: 1d)")
    parser.add_argument("--until", metavar="TIME", help=f"until when: {_WHEN} (default: now)")
    parser.add_argument("--kind", choices=tuple(JournalKind), metavar="KIND", help=f"one of {', '.join(JournalKind)}")
    parser.add_argument("--grep", metavar="WORDS", help="only entries whose text has all of these words")
    parser.add_argument("--limit", "-n", metavar="COUNT", help="at most so many, the newest (default: 100)")
    add_user(parser)
    _add_common(parser)


def _changes_arguments(parser: ArgumentParser) -> None:
    text = "name of a container, service or project; all when left out"
    _complete(parser.add_argument("name", nargs="?", metavar="NAME", help=text), complete_containers_and_projects)
    parser.add_argument("--since", metavar="TIME", help=f"since when: {_WHEN} (default: 1d)")
    parser.add_argument("--limit", "-n", metavar="COUNT", help="at most so many, the newest (default: 100)")
    add_user(parser)
    _add_common(parser)


def _digest_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--since", metavar="TIME", help=f"since when: {_WHEN} (default: 7d)")
    add_user(parser)
    _add_common(parser)


def _disk_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--limit", "-n", metavar="COUNT", help="at most so many, the largest (default: 50)")
    _add_common(parser)


def _incidents_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="say all of this one; without it, all are listed")
    parser.add_argument("--open", action="store_true", help="only those that go on")
    parser.add_argument("--since", metavar="TIME", help="only those that had not ended by then (default: 7d)")
    parser.add_argument("--project", "-p", metavar="NAME", help="only those whose root is in this project")
    parser.add_argument("--limit", "-n", metavar="COUNT", help="at most so many, the newest (default: 50)")
    parser.add_argument(
        "--acknowledge", action="store_true", help="tell the daemon that you are on it: no more messages about it"
    )
    add_user(parser)
    _add_common(parser)


def add_user(parser: ArgumentParser) -> None:
    """Add --user and --password-file."""
    parser.add_argument("--user", metavar="NAME", help="your name, where the daemon has users; asks for the password")
    parser.add_argument("--password-file", metavar="FILE", help="file that holds the password of --user")


def _quiet_arguments(parser: ArgumentParser) -> None:
    text = "container or Compose project that nobody is to be told of; all that is quiet is listed when left out"
    _complete(parser.add_argument("name", nargs="?", metavar="NAME", help=text), complete_containers_and_projects)
    parser.add_argument("duration", nargs="?", metavar="DURATION", default="1h", help="for how long (default: 1h)")
    parser.add_argument("--why", metavar="TEXT", default="", help="shown wherever the quiet is shown")
    parser.add_argument("--end", action="store_true", help="be told of it again, from now on")
    add_user(parser)
    add_format(parser)


def _notify_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--test", action="store_true", help="send each receiver a message; without it, list them")
    add_format(parser)


def _notes_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "add", "approve", "refuse", "remove"),
        default="list",
        metavar="ACTION",
        help="list (the default), add TEXT, or approve, refuse or remove ID",
    )
    parser.add_argument("words", nargs="*", metavar="TEXT|ID", help="what you know, or ids of notes as listed")
    parser.add_argument(
        "--about",
        action="append",
        metavar="KIND=NAME",
        default=[],
        help="what it is about: container, project, symptom or drift; all must fit (default: the host)",
    )
    parser.add_argument("--expires", metavar="DURATION", help="for how long it holds, 365d at most (default: 90d)")
    add_user(parser)
    add_format(parser)


def _unquiet_arguments(parser: ArgumentParser) -> None:
    text = "container or Compose project that was muted"
    _complete(parser.add_argument("name", metavar="NAME", help=text), complete_containers_and_projects)
    add_user(parser)
    add_format(parser)


def _deployments_arguments(parser: ArgumentParser) -> None:
    text = "only those of this project; of all when left out"
    _complete(parser.add_argument("project", nargs="?", metavar="PROJECT", help=text), complete_projects)
    parser.add_argument("--limit", "-n", metavar="COUNT", help="at most so many, the newest (default: 20)")
    add_user(parser)
    _add_common(parser)


def _dashboard_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("dashboard", nargs="?", choices=("bcon-overview", "bcon-container"), help="print this one")
    parser.add_argument(
        "--output", "-o", metavar="FOLDER", help="write it, or all, as files into this folder (made if new)"
    )


def _add_container(parser: ArgumentParser, nargs: str | None = None, text: str = "id, id prefix or name") -> None:
    _complete(parser.add_argument("container", nargs=nargs, metavar="CONTAINER", help=text), complete_containers)


def _completion_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell will read it")


def _container_arguments(parser: ArgumentParser) -> None:
    _add_container(parser)
    _add_common(parser)


def _stats_arguments(parser: ArgumentParser) -> None:
    _add_container(parser, "?", "all running ones when left out")
    add_user(parser)
    _add_common(parser)


def _logs_arguments(parser: ArgumentParser) -> None:
    _add_container(parser)
    parser.add_argument("--tail", "-n", metavar="LINES", help="newest lines to show (default: 100)")
    parser.add_argument("--since", metavar="TIME", help="2026-01-31T12:00:00Z, or how long ago: 10m")
    parser.add_argument("--until", metavar="TIME", help="2026-01-31T12:00:00Z, or how long ago: 10m")
    parser.add_argument("--grep", "-g", metavar="PATTERN", help="lines with this text, or an RE2 pattern after re:")
    parser.add_argument(
        "--stream", choices=("stdout", "stderr", "both"), default="both", help="of which stream (default: both)"
    )
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


def _add_words_of_compose(parser: ArgumentParser) -> None:
    """Add the words that `docker compose` takes before its command."""
    parser.add_argument(
        "--file",
        "-f",
        action="append",
        metavar="FILE",
        default=[],
        help="Compose file, several times for several; the default file of this directory when left out",
    )
    _complete(
        parser.add_argument("--project-name", "-p", metavar="NAME", help="name of the project, as Compose takes it"),
        complete_projects,
    )
    parser.add_argument("--env-file", action="append", metavar="FILE", default=[], help="file with variables for it")
    parser.add_argument("--profile", action="append", metavar="PROFILE", default=[], help="profile to enable")


def _check_arguments(parser: ArgumentParser) -> None:
    _add_words_of_compose(parser)
    parser.add_argument(
        "--edit",
        action="append",
        metavar="PATH:LINE:OLD:NEW",
        default=[],
        help="judge the file with this edit, without writing it",
    )
    parser.add_argument(
        "--file-from",
        action="append",
        metavar="PATH=FILE",
        default=[],
        help="judge the file as if its text were that of FILE, or of standard input for `-`",
    )
    add_report_formats(parser, CHECK_FORMATS)
    parser.add_argument(
        "--fail-on", choices=("fails", "risk"), default="fails", help="exit with 1 from this on (default: fails)"
    )


def _verify_arguments(parser: ArgumentParser) -> None:
    text = "project to watch, of the files that it runs from; that of the Compose file when left out"
    _complete(parser.add_argument("project", nargs="?", metavar="PROJECT", help=text), complete_projects)
    _add_words_of_compose(parser)
    parser.add_argument(
        "--for", dest="window", metavar="DURATION", default="60s", help="how long to watch (default: 60s)"
    )
    parser.add_argument(
        "--since",
        metavar="TIME",
        help="when the deployment began: a time, or how long ago; the newest of the last hour when left out",
    )
    add_report_formats(parser, VERIFY_FORMATS)


def _mcp_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--daemon",
        metavar="WHERE",
        default="auto",
        help="whom to ask: the address of a daemon (http://host:port), `none` for the engine itself, or `auto`: the "
        "daemon at its configured address where one answers, else the engine (default: auto)",
    )
    parser.add_argument("--token-file", metavar="FILE", help="file that holds a bearer token of the daemon's")
    parser.add_argument("--user", metavar="NAME", help="your name, where the daemon has users")
    parser.add_argument("--password-file", metavar="FILE", help="file that holds the password of --user")
    parser.add_argument("--from-snapshot", metavar="FILE", help="read this snapshot file instead of an engine")
    parser.add_argument(
        "--structured", action="store_true", help="answer with structuredContent as well, as mcp.structured does"
    )


def _explain_arguments(parser: ArgumentParser) -> None:
    _add_container(parser)
    text = "literal text, or an RE2 pattern after re:; without it, the newest error in its log, or else its last line"
    parser.add_argument("pattern", nargs="?", metavar="PATTERN", help=text)
    parser.add_argument("--context", "-C", metavar="LINES", help="lines around each hit (default: 5)")
    _add_common(parser)


def _tools_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=("table", "json", *TOOL_FORMATS),
        default="table",
        help="how to print: json as GET /api/v1/tools does, the others as that client takes it (default: table)",
    )
    parser.add_argument(
        "--toolsets",
        metavar="NAMES",
        help="only these, separated by commas (default: all; in a client's format: core)",
    )
    parser.add_argument("--strict", action="store_true", help="with --format openai: schemas for its strict mode")
    add_select(parser)


def _run_tool_calls_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="FILE", default=STDIN, help="what a model wrote; `-` or none: stdin")
    parser.add_argument("--from-snapshot", metavar="FILE", help="read this snapshot file instead of an engine")


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
        "Find an error in a log, or its last words, and say what it means.",
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
        "check",
        COMPOSE,
        "Say whether a deployment would come up on this host.",
        _check_arguments,
        "check_command:run_check",
    ),
    Command(
        "untracked",
        COMPOSE,
        "List containers that no Compose file defines.",
        _untracked_arguments,
        "tool_commands:list_untracked",
    ),
    Command(
        "verify",
        COMPOSE,
        "Watch a deployment; say whether it succeeded, and if not, why.",
        _verify_arguments,
        "verify_command:verify",
    ),
    Command(
        "serve", DAEMON, "Run the daemon: scans, metrics, API.", no_arguments, "daemon_commands:serve", ALL_SETTINGS
    ),
    Command(
        "alerts",
        DAEMON,
        "Show which alerts fire, as the running daemon judges.",
        add_format,
        "daemon_commands:show_alerts",
        _DAEMON_ADDRESS,
    ),
    Command(
        "rules",
        DAEMON,
        "Print the alert rules for Prometheus.",
        no_arguments,
        "shipped_files:print_rules",
        ("alerts.runbooks-url", "config.file"),
    ),
    Command(
        "check-config",
        DAEMON,
        "Check all settings; say OK or what is wrong.",
        add_format,
        "daemon_commands:check_config",
        ALL_SETTINGS,
    ),
    Command(
        "healthcheck",
        DAEMON,
        "Ask the running daemon whether it is healthy (exit 0 or 1).",
        add_format,
        "daemon_commands:check_daemon",
        _DAEMON_ADDRESS,
    ),
    Command(
        "history",
        CONTAINERS,
        "Say what happened, as the daemon wrote it down.",
        _history_arguments,
        "tool_commands:show_history",
    ),
    Command(
        "changes",
        CONTAINERS,
        "Say what changed: images, configuration, starts, ends, health, drift, deployments.",
        _changes_arguments,
        "tool_commands:show_changes",
    ),
    Command(
        "digest",
        CONTAINERS,
        "Say what the last week was like: new, over, flapping, drifted, failed deployments.",
        _digest_arguments,
        "tool_commands:show_digest",
    ),
    Command(
        "disk",
        CONTAINERS,
        "Say who fills the disk: log files, writable layers, volumes, images, the build cache, and how fast.",
        _disk_arguments,
        "tool_commands:show_disk",
    ),
    Command(
        "deployments",
        COMPOSE,
        "Say of each deployment whether it succeeded, as the daemon saw it.",
        _deployments_arguments,
        "tool_commands:show_deployments",
    ),
    Command(
        "incidents",
        CONTAINERS,
        "Say which failures there were, as the daemon saw them; with an ID all of one.",
        _incidents_arguments,
        "tool_commands:show_incidents",
    ),
    Command(
        "quiet",
        DAEMON,
        "Have nobody told of a container or project for a while.",
        _quiet_arguments,
        "quiet_commands:quiet",
        _DAEMON_ADDRESS,
    ),
    Command(
        "notify",
        DAEMON,
        "List who gets messages; with --test send each one.",
        _notify_arguments,
        "notify_command:notify",
        ("notify.url", "notify.url-file", "notify.host", "config.file"),
    ),
    Command(
        "notes",
        DAEMON,
        "Note what you know of containers, for people and agents; approve what agents note.",
        _notes_arguments,
        "notes_commands:notes",
        _DAEMON_ADDRESS,
    ),
    Command(
        "unquiet",
        DAEMON,
        "Be told again of what `quiet` has muted.",
        _unquiet_arguments,
        "quiet_commands:unquiet",
        _DAEMON_ADDRESS,
    ),
    Command("health", TOOLS, "Say whether the engine is reached.", _add_common, "tool_commands:check_health"),
    Command(
        "analyze-log",
        TOOLS,
        "Say what a log file or stdin tells; no engine.",
        add_log_arguments,
        "analyze_log:run_log_analysis",
        ("catalogue.directory", "config.file"),
    ),
    Command(
        "mcp",
        TOOLS,
        "Serve an AI agent over MCP, on standard input and output.",
        _mcp_arguments,
        "mcp_command:serve_agent",
        ("mcp.toolsets", *_DAEMON_ADDRESS, "docker.host"),
        stage=EXPERIMENTAL,
    ),
    Command("call", TOOLS, "Call a tool with JSON; print the envelope.", add_call_arguments, "tool_commands:run_call"),
    Command(
        "flux",
        TOOLS,
        "Answer an operation of Flux: containers, projects, the engine.",
        _operation_arguments("flux"),
        "tool_commands:run_operation",
        stage=EXPERIMENTAL,
    ),
    Command(
        "scout",
        TOOLS,
        "Answer an operation of Scout: files of projects, disks.",
        _operation_arguments("scout"),
        "tool_commands:run_operation",
        stage=EXPERIMENTAL,
    ),
    Command(
        "tools",
        TOOLS,
        "List the tools, also as agents' clients want them.",
        _tools_arguments,
        "agent_commands:list_tools",
        NO_SETTINGS,
    ),
    Command(
        "run-tool-calls",
        TOOLS,
        "Run the tool_call blocks in what a model wrote; print the answers.",
        _run_tool_calls_arguments,
        "agent_commands:run_tool_calls",
        stage=EXPERIMENTAL,
    ),
    Command(
        "snapshot",
        TOOLS,
        "Write the host as a JSON file for --from-snapshot.",
        add_snapshot_arguments,
        "tool_commands:run_snapshot",
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
