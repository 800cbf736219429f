"""What fires is shown worst first with its cause, and untrusted text stays text."""

from __future__ import annotations

from datetime import timedelta

from rich.console import Console

from bcon_exporter.model.alerts import Alert, AlertmanagerState, AlertsReport, MessageReceiverState
from bcon_exporter.outputs.text import render_markdown, render_text
from tests.factories import NOON

FIRING = Alert(
    name="BconContainerUnhealthy",
    severity="warning",
    state="firing",
    since=NOON,
    fired_at=NOON,
    annotations={"summary": "api\x1b[31m is [bold]unhealthy", "cause": "nothing | listens", "suggestion": "Look."},
)
ENDED = FIRING.model_copy(update={"name": "Ended", "state": "resolved", "resolved_at": NOON + timedelta(seconds=50)})
REPORT = AlertsReport(
    timestamp=NOON + timedelta(minutes=3),
    alerts=(FIRING, ENDED),
    alertmanagers=(AlertmanagerState(url="http://am:9093", error="no answer in time"),),
    receivers=(
        MessageReceiverState(name="phone", sent=1, usable=True),
        MessageReceiverState(name="mail", usable=False, error="it cannot be reached"),
    ),
)


def plain(report: AlertsReport) -> str:
    console = Console(width=160, highlight=False, markup=False, color_system=None)
    with console.capture() as captured:
        console.print(render_text(report))
    return captured.get()


def test_firing_alerts_have_cause_and_suggestion_below_them() -> None:
    text = plain(REPORT)

    assert text.startswith("1 alert fires.")
    assert "firing for 3 min" in text
    assert "    nothing | listens" in text
    assert "Look." in text
    assert "resolved 2 min 10 s ago" in text or "resolved 2 min ago" in text
    assert "http://am:9093  takes no alerts: no answer in time" in text
    assert "phone  1 message arrived" in text
    assert "mail  messages do not arrive: it cannot be reached" in text


def test_nothing_but_the_watchdog_is_nothing() -> None:
    watchdog = FIRING.model_copy(update={"name": "BconWatchdog", "severity": "none"})

    assert plain(AlertsReport(timestamp=NOON, alerts=(watchdog,))).startswith("Nothing fires.")


def test_untrusted_text_is_neither_escape_nor_markup() -> None:
    assert "\x1b" not in plain(REPORT)
    assert "[bold]unhealthy" in plain(REPORT)
    assert "nothing \\| listens" in render_markdown(REPORT)
