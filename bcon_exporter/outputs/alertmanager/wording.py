"""What an alert of an incident says: short enough for a chat message, and all that one needs to act."""

from collections.abc import Callable
from datetime import datetime

from bcon_exporter.alerting import INCIDENT_ALERT
from bcon_exporter.incidents import find_telling_change, list_left_down
from bcon_exporter.model.findings import LikelyCause
from bcon_exporter.model.incidents import HOST_CODE, Incident
from bcon_exporter.model.journal import HISTORY_KEPT
from bcon_exporter.model.quantities import show_duration, show_stamp
from bcon_exporter.outputs.addresses import Addresses
from bcon_exporter.outputs.metrics.writing import plain_label
from bcon_exporter.secrets.masking import safe_text

LOG_LINE_CHARS = 240
TEXT_CHARS = 500
DESCRIPTION_CHARS = 2000
"""It names all that an engine has not started again."""
_SUFFERERS_NAMED = 10


def label_incident(incident: Incident) -> tuple[tuple[str, str], ...]:
    """Return what names its root, as it is known when it is first told; nothing for the host.

    Neither its id nor its code: an exporter that has forgotten everything gives the same failure another id, and sees
    the code that it has by then.
    """
    root = incident.root
    labels = {"container": root.container, "project": root.project, "service": root.service}
    return tuple((name, plain_label(value)) for name, value in labels.items() if value)


def describe_incident(
    incident: Incident,
    here: str,
    addresses: Addresses,
    to_local: Callable[[datetime], datetime] = lambda at: at,
) -> dict[str, str]:
    """Return the texts.

    Args:
        incident: As it is now.
        here: How texts name this host.
        addresses: Where people are led.
        to_local: Returns a time by the host's clock on the wall.
    """
    cause = max(incident.causes, key=lambda cause: cause.confidence, default=None)
    texts = {
        "summary": f"{incident.title} (on {here})",
        "description": _tell_who(incident),
        "since": show_stamp(to_local(incident.started_at)),
        "cause": _tell_cause(incident.root.name, cause) if cause is not None else "",
        "suggestion": incident.suggestions[0].action if incident.suggestions else "",
        "changed": _tell_change(incident),
        "incident": incident.id,
        "code": incident.root.code,
        "page": f"{addresses.page}/i/{incident.id}" if addresses.page else "",
    }
    clean = {
        name: safe_text(text, max_chars=DESCRIPTION_CHARS if name == "description" else TEXT_CHARS)
        for name, text in texts.items()
        if text
    }
    log = " ".join(safe_text(incident.log_line, max_chars=LOG_LINE_CHARS).split("\n"))
    return {**clean, **({"log": log} if log else {}), **addresses.annotate_runbook(INCIDENT_ALERT)}


def _tell_cause(root: str, cause: LikelyCause) -> str:
    return f"{_with_name(root, cause.description)} [{cause.id}, confidence {cause.confidence:.0%}]"


def _with_name(who: str, text: str) -> str:
    """Return a sentence that says who it is about: an annotation is read by itself."""
    return text if who in text else f"{who}: {text}"


def _tell_who(incident: Incident) -> str:
    if incident.root.code == HOST_CODE:
        return _tell_host(incident)
    names = [member.name for member in incident.members if member.role == "suffers"]
    more = len(names) - _SUFFERERS_NAMED
    others = f"{', '.join(names[:_SUFFERERS_NAMED])}{f' and {more} more' if more > 0 else ''}"
    suffers = f" Explained by it: {others}." if names else ""
    seen = incident.seen_before
    before = f" The same happened {seen.count} times in {HISTORY_KEPT.days} days." if seen.count else ""
    return f"The root is {incident.root.name} ({incident.root.code.replace('_', ' ')}).{suffers}{before}"


def _tell_host(incident: Incident) -> str:
    left = list_left_down(incident.members)
    failing = [one.name for one in incident.members if one.role == "suffers" and one.name not in left]
    parts = [f"Not started again: {', '.join(left)}."] if left else []
    parts += [f"Failing since: {', '.join(failing)}."] if failing else []
    return " ".join(parts) or incident.title


def _tell_change(incident: Incident) -> str:
    change = find_telling_change(incident)
    if change is None:
        return ""
    who = change.container or change.service or change.project or "the host"
    return f"{show_duration(change.seconds_before)} before: {_with_name(who, change.text)}"
