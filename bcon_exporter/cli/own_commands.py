"""Commands that are no tool: serve, check-config, healthcheck, call, snapshot."""

import http.client
import json
import ssl
import sys
from pathlib import Path
from typing import Any

from bcon_exporter.app import check_settings, run_daemon
from bcon_exporter.cli.daemon_client import make_connection, read_tls, tell_silence
from bcon_exporter.cli.exits import Exit, exit_of_error
from bcon_exporter.cli.parsing import PROGRAM, Invocation
from bcon_exporter.cli.screen import Screen, complain, tell
from bcon_exporter.cli.work import close_context, exit_of, make_context
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.settings import Settings, find_doubts
from bcon_exporter.tools import call_tool, run_tool
from bcon_exporter.tools.replay import snapshot_json, write_snapshot
from bcon_exporter.tools.views import HOST_SNAPSHOT

_HTTP_OK = 200
_NOT_ASKED = "it answers but demands a client certificate, so whether its scans run was not asked"


def serve(call: Invocation) -> int:
    """Run the daemon until it is told to stop."""
    return run_daemon(call.settings, call.reload)


def check_config(call: Invocation) -> int:
    """Check what only use would find: the engine's address, the catalogue, the web configuration, paths."""
    check_settings(call.settings)
    doubts = find_doubts(call.settings)
    for doubt in doubts:
        sys.stderr.write(f"{PROGRAM}: warning: {doubt}\n")
    tell(call, "OK", {"ok": True, "warnings": doubts})
    return Exit.FINE


def check_daemon(call: Invocation) -> int:
    """Ask the daemon at the configured address for /-/healthy; 0 when it is, else 1."""
    healthy, remark = _ask(call.settings)
    if remark is not None:
        sys.stderr.write(f"{PROGRAM}: {call.settings.web.listen_address}: {remark}\n")
    if call.arguments.format == "json":
        tell(call, "", {"healthy": healthy, "message": remark})
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
        complain(envelope.error)
        return exit_of_error(envelope.error)
    if call.arguments.output in (None, "-"):
        screen.write(snapshot_json(envelope.value).decode())
    else:
        write_snapshot(Path(call.arguments.output), envelope.value)
    return Exit.FINE
