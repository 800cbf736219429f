"""Commands about the daemon: run it (serve), check its settings, ask it (healthcheck, alerts)."""

import http.client
import ssl
import sys

from bcon_exporter.cli.daemon_client import ask_daemon, explain_no_answer, make_connection, path_of, read_tls
from bcon_exporter.cli.exits import Exit
from bcon_exporter.cli.parsing import PROGRAM, Invocation
from bcon_exporter.cli.screen import Screen, print_line, print_result
from bcon_exporter.model.alerts import AlertsReport
from bcon_exporter.settings import Settings, find_warnings

_HTTP_OK = 200
_NOT_ASKED = "it answers but demands a client certificate, so whether its scans run was not asked"


def serve(call: Invocation) -> int:
    """Run the daemon until it is told to stop."""
    from bcon_exporter.app import run_daemon  # `healthcheck` runs every 30 s and needs none of it

    return run_daemon(call.settings, call.reload)


def check_config(call: Invocation) -> int:
    """Check the settings, and what they name: the engine's address, the catalogue, the web configuration, paths."""
    from bcon_exporter.app import check_settings  # as above

    check_settings(call.settings)
    warnings = find_warnings(call.settings)
    for warning in warnings:
        sys.stderr.write(f"{PROGRAM}: warning: {warning}\n")
    print_line(call, "OK", {"ok": True, "warnings": warnings})
    return Exit.FINE


def check_daemon(call: Invocation) -> int:
    """Ask the daemon at the configured address for /-/healthy; return 0 when it is healthy, else 1."""
    healthy, message = _ask_health(call.settings)
    if message is not None:
        sys.stderr.write(f"{PROGRAM}: {call.settings.web.listen_address}: {message}\n")
    if call.arguments.format == "json":
        print_line(call, "", {"healthy": healthy, "message": message})
    return Exit.FINE if healthy else Exit.FINDINGS


def _ask_health(settings: Settings) -> tuple[bool, str | None]:
    """Return whether the daemon is healthy, and a message where it is not, or where that is unknown."""
    tls = read_tls(settings)
    needs_certificate = tls is not None and tls.client_auth_type == "RequireAndVerifyClientCert"
    connection = make_connection(settings.web.listen_address, encrypted=tls is not None)
    try:
        with connection:
            connection.connect()
            if needs_certificate:
                return True, _NOT_ASKED
            connection.request("GET", path_of(settings, "/-/healthy"))
            status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        if needs_certificate and isinstance(error, ssl.SSLEOFError):  # up to TLS 1.2 a refusal ends the handshake
            return True, _NOT_ASKED
        return False, explain_no_answer(error)
    return status == _HTTP_OK, None if status == _HTTP_OK else f"answered with HTTP status {status}"


def show_alerts(call: Invocation) -> int:
    """Print the alerts of the daemon: those that fire, that wait, and that have just ended."""
    result = ask_daemon(call, "GET", "/api/v1/alerts")
    if call.arguments.format == "json":
        print_result(call, result)
        return Exit.FINE
    shown = {key: value for key, value in result.items() if key != "age_seconds"} if isinstance(result, dict) else {}
    Screen(call.arguments.format).show_value(AlertsReport.model_validate(shown))
    return Exit.FINE
