"""Commands that are no tool: serve, check-config, healthcheck, call, snapshot, version."""

import http.client
import json
import logging
import platform
import ssl
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from bcon_exporter import __version__
from bcon_exporter.app import check_settings, run_daemon
from bcon_exporter.cli.daemon_client import make_connection, read_tls, tell_silence
from bcon_exporter.cli.exits import NEVER, UNCHECKED, Exit, exit_of_error
from bcon_exporter.cli.parsing import PROGRAM, Invocation
from bcon_exporter.cli.screen import Screen, write_out
from bcon_exporter.cli.work import close_context, exit_of, make_context
from bcon_exporter.daemon_log import TextLines
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.model.masking import safe_text
from bcon_exporter.settings import Settings, find_doubts
from bcon_exporter.tools import call_tool, run_tool
from bcon_exporter.tools.replay import snapshot_json, write_snapshot
from bcon_exporter.tools.views import HOST_SNAPSHOT

_HTTP_OK = 200
_NOT_ASKED = "it answers but demands a client certificate, so whether its scans run was not asked"


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


def serve(call: Invocation) -> int:
    """Run the daemon until it is told to stop."""
    return run_daemon(call.settings, call.reload)


def check_config(call: Invocation) -> int:
    """Check what only use would find: the engine's address, the catalogue, the web configuration, paths."""
    check_settings(call.settings)
    doubts = find_doubts(call.settings)
    for doubt in doubts:
        sys.stderr.write(f"{PROGRAM}: warning: {doubt}\n")
    _tell(call, "OK", {"ok": True, "warnings": doubts})
    return Exit.FINE


def _tell(call: Invocation, line: str, result: dict[str, object]) -> None:
    """Print one line, or in JSON a result in the envelope."""
    as_json = getattr(call.arguments, "format", "table") == "json"
    write_out(json.dumps({"result": result}) + "\n" if as_json else line + "\n")


def show_version(call: Invocation) -> int:
    """Print the version."""
    _tell(call, version_line(), {"version": __version__, "python_version": platform.python_version()})
    return Exit.FINE


def version_line() -> str:
    """Return our version and Python's."""
    return f"{PROGRAM} {__version__} (Python {platform.python_version()})"


def check_daemon(call: Invocation) -> int:
    """Ask the daemon at the configured address for /-/healthy; 0 when it is, else 1."""
    healthy, remark = _ask(call.settings)
    if remark is not None:
        sys.stderr.write(f"{PROGRAM}: {call.settings.web.listen_address}: {remark}\n")
    if call.arguments.format == "json":
        _tell(call, "", {"healthy": healthy, "message": remark})
    return Exit.FINE if healthy else Exit.FINDINGS


def _ask(settings: Settings) -> tuple[bool, str | None]:
    """Return whether the daemon is healthy, and what there is to say about it."""
    tls = read_tls(settings)
    needs_certificate = tls is not None and tls.client_auth_type == "RequireAndVerifyClientCert"
    connection = make_connection(settings.web.listen_address, encrypted=tls is not None)
    try:
        connection.connect()
        if needs_certificate:
            return True, _NOT_ASKED
        connection.request("GET", "/-/healthy")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        if needs_certificate and isinstance(error, ssl.SSLEOFError):  # up to TLS 1.2 a refusal ends the handshake
            return True, _NOT_ASKED
        return False, tell_silence(error)
    finally:
        connection.close()
    return status == _HTTP_OK, None if status == _HTTP_OK else f"answered with HTTP status {status}"


def add_call_arguments(parser: ArgumentParser) -> None:
    """Add TOOL, JSON, --format and --from-snapshot."""
    add_format(parser, "json")
    parser.add_argument("tool", metavar="TOOL", help="for example diagnose_all")
    parser.add_argument(
        "input", nargs="?", metavar="JSON", default="{}", help="the tool's input; `-` reads it from stdin"
    )
    add_fail_on(parser)
    parser.add_argument("--from-snapshot", metavar="FILE", help="read this snapshot file instead of an engine")


def run_call(call: Invocation) -> int:
    """Print the envelope that the API would give; the exit code is that of the tool's own command."""
    raw = sys.stdin.read() if call.arguments.input == "-" else call.arguments.input
    try:
        payload: Any = json.loads(raw)
    except (ValueError, RecursionError):
        msg = 'call: the input is not JSON; write it as \'{"container_id": "web"}\''
        raise InvalidInputError(msg, {"tool": call.arguments.tool}) from None
    context = make_context(call)
    try:
        envelope = call_tool(context, call.arguments.tool, payload)
    finally:
        close_context(context)
    Screen(call.arguments.format).show(envelope)
    return exit_of(envelope, call.arguments.fail_on)


def add_snapshot_arguments(parser: ArgumentParser) -> None:
    """Add --output."""
    parser.add_argument("--output", "-o", metavar="FILE", help="file to write, readable by you only (default: stdout)")
    parser.add_argument(
        "--from-snapshot", metavar="FILE", help="rewrite this snapshot file instead of reading an engine"
    )


def run_snapshot(call: Invocation) -> int:
    """Write the host as facts: what every rule judges, secrets masked."""
    screen = Screen("json")
    context = make_context(call)
    try:
        with screen.progress("Reading containers ..."):
            envelope = run_tool(context, HOST_SNAPSHOT, {})
    finally:
        close_context(context)
    if envelope.error is not None:
        screen.complain(envelope.error)
        return exit_of_error(envelope.error)
    if call.arguments.output in (None, "-"):
        screen.write(snapshot_json(envelope.value).decode())
    else:
        write_snapshot(Path(call.arguments.output), envelope.value)
    return Exit.FINE


class _OneLine(logging.Formatter):
    """A line for people: what happened, masked, without its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        return f"{PROGRAM}: {record.levelname.lower()}: {' '.join(safe_text(record.getMessage()).split())}"


def quiet_logging(settings: Settings) -> None:
    """Let a command's standard error hold warnings as lines; `--log.level debug` shows all, with tracebacks."""
    root = logging.getLogger()
    if root.handlers:
        return
    handler = logging.StreamHandler(sys.stderr)
    debugging = settings.log.level == "debug"
    handler.setFormatter(TextLines() if debugging else _OneLine())
    root.addHandler(handler)
    root.setLevel(logging.DEBUG if debugging else logging.WARNING)
