"""What fires, as text for a terminal."""

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from bcon_exporter.model.alerts import Alert, AlertsReport
from bcon_exporter.outputs.text_style import DIM, join, name_text, plain, show_seconds, show_time, stack

SEVERITY_STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan", "none": DIM}
_TOLD = ("cause", "suggestion")


def show_alerts(report: AlertsReport) -> RenderableType:
    """Return the firing alerts with cause and suggestion, then those that wait or have just ended, one line each."""
    firing = sum(1 for one in report.alerts if one.state == "firing" and one.severity != "none")
    head = Text("Nothing fires." if not firing else f"{firing} alerts fire." if firing > 1 else "1 alert fires.")
    head.stylize("bold")
    head.append(f"  {show_time(report.timestamp)}", style=DIM)
    parts: list[RenderableType] = [head]
    for one in report.alerts:
        parts.append(_line(one, report))
        if one.state == "firing":
            told = (one.annotations[key] for key in _TOLD if one.annotations.get(key))
            parts += [Padding(plain(text, DIM), (0, 0, 0, 4)) for text in told]
    for each in report.alertmanagers:
        state = f"takes no alerts: {each.error}" if each.error else f"last told {show_time(each.last_success_at)}"
        parts.append(join([plain(each.url, "bold"), plain(state, "red" if each.error else DIM)]))
    return stack(parts)


def _line(one: Alert, report: AlertsReport) -> Text:
    since = one.resolved_at or one.fired_at or one.since
    age = show_seconds((report.timestamp - since).total_seconds())
    when = f"resolved {age} ago" if one.state == "resolved" else f"{one.state} for {age}"
    style = SEVERITY_STYLES.get(one.severity, "") if one.state == "firing" else DIM
    return join(
        [Text(f"  {one.severity:<8}", style=style), name_text(one.name, "bold"), _summary(one), Text(when, DIM)]
    )


def _summary(one: Alert) -> Text:
    return plain(one.annotations.get("summary", ""))
