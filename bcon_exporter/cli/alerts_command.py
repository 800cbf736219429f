"""`bcon-exporter alerts` asks the running daemon what fires; `bcon-exporter rules` prints the rules for Prometheus."""

import http.client
import json

from bcon_exporter.alerting.rule_file import render_rule_file
from bcon_exporter.cli.daemon_client import make_connection, read_tls, tell_silence
from bcon_exporter.cli.exits import Exit
from bcon_exporter.cli.parsing import Invocation
from bcon_exporter.cli.screen import Screen
from bcon_exporter.errors import BconError, InternalError, PermissionDeniedError
from bcon_exporter.model.alerts import AlertsReport
from bcon_exporter.settings import Settings

_OK = 200
_FORBIDDEN = (401, 403)
_MOST_BYTES = 64 * 1024 * 1024


def show_alerts(call: Invocation) -> int:
    """Print what fires, waits or has just ended, as the daemon judged it last."""
    result = ask_alerts(call.settings)
    screen = Screen(call.arguments.format)
    if call.arguments.format == "json":
        screen.write(json.dumps({"result": result}, ensure_ascii=False) + "\n")
        return Exit.FINE
    report = AlertsReport.model_validate({key: value for key, value in result.items() if key != "age_seconds"})
    screen.show_value(report)
    return Exit.FINE


def print_rules(call: Invocation) -> int:
    """Print the alert rules of this version, with links to the runbooks where the settings say they lie."""
    Screen("table").write(render_rule_file(call.settings.alerts.runbooks_url))
    return Exit.FINE


def ask_alerts(settings: Settings) -> dict[str, object]:
    """Return the daemon's answer, from where it serves reports.

    Raises:
        BconError: It does not answer, or refuses.
    """
    address = settings.api.listen_address or settings.web.listen_address
    connection = make_connection(address, encrypted=read_tls(settings) is not None)
    try:
        connection.request("GET", "/api/v1/alerts")
        answer = connection.getresponse()
        status, body = answer.status, json.loads(answer.read(_MOST_BYTES))
    except (OSError, http.client.HTTPException, ValueError) as error:
        msg = f"no daemon answers at {address}: {tell_silence(error)}"
        raise InternalError(msg, {"address": str(address)}) from None
    finally:
        connection.close()
    if status == _OK:
        result: dict[str, object] = body["result"]
        return result
    raise _refusal(status, str(body.get("error", {}).get("message", f"HTTP status {status}")), str(address))


def _refusal(status: int, message: str, address: str) -> BconError:
    if status in _FORBIDDEN:
        msg = f"the daemon at {address} refuses: {message}; ask it for /api/v1/alerts with your own user and password"
        return PermissionDeniedError(msg, {"address": address})
    return InternalError(f"the daemon at {address} says: {message}", {"address": address})
