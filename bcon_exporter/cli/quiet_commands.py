"""Commands that tell the daemon who is quiet, and that somebody is on an incident. Only it writes its state."""

from urllib.parse import quote

from bcon_exporter.cli.daemon_client import ask_daemon
from bcon_exporter.cli.exits import Exit
from bcon_exporter.cli.parsing import Invocation
from bcon_exporter.cli.screen import Screen, print_result, write_out
from bcon_exporter.errors import SettingsError
from bcon_exporter.model.incidents import Incident
from bcon_exporter.model.quantities import show_time
from bcon_exporter.model.quiet import LONGEST_QUIET, QuietLine, QuietReport

_API = "/api/v1"


def quiet(call: Invocation) -> int:
    """Mute a container or project, end that, or list all that is quiet."""
    given = call.arguments
    if given.end:
        if given.name is None:
            msg = "--end: say of whom you want to be told again (quiet NAME --end)"
            raise SettingsError(msg, {"flag": "--end"})
        return unquiet(call)
    if given.name is None:
        return _show(call, ask_daemon(call, "GET", f"{_API}/quiet"))
    payload = {"name": given.name, "duration": given.duration, "why": given.why}
    result = ask_daemon(call, "POST", f"{_API}/quiet", payload)
    line = QuietLine.model_validate(result)
    cut = f": {LONGEST_QUIET.days} days, the longest there is, not {given.duration}" if line.cut else ""
    return _tell(call, result, f"{line.name} is quiet until {show_time(line.until)}{cut}")


def unquiet(call: Invocation) -> int:
    """Be told of a container or project again."""
    result = ask_daemon(call, "POST", f"{_API}/quiet/end", {"name": call.arguments.name})
    return _tell(call, result, f"{QuietLine.model_validate(result).name} is not quiet any more")


def acknowledge(call: Invocation) -> int:
    """Tell the daemon that somebody is on an incident.

    Raises:
        SettingsError: None is named.
    """
    incident_id = call.arguments.id
    if incident_id is None:
        msg = "--acknowledge: name the incident (incidents ID --acknowledge)"
        raise SettingsError(msg, {"flag": "--acknowledge"})
    path = f"{_API}/incidents/{quote(incident_id, safe='')}/acknowledge"
    result = ask_daemon(call, "POST", path, {})
    incident = Incident.model_validate(result)
    return _tell(call, result, f"{incident.id}: acknowledged at {show_time(incident.acknowledged_at)}")


def _tell(call: Invocation, result: object, line: str) -> int:
    if call.arguments.format == "json":
        print_result(call, result)
    else:
        write_out(f"{line}\n")
    return Exit.FINE


def _show(call: Invocation, result: object) -> int:
    if call.arguments.format == "json":
        print_result(call, result)
    else:
        Screen(call.arguments.format).show_value(QuietReport.model_validate(result))
    return Exit.FINE
