"""`verify`: watches a deployment and says whether it succeeded."""

import threading
from dataclasses import replace
from datetime import datetime

from bcon_exporter.cli.exits import Exit
from bcon_exporter.cli.parsing import Invocation
from bcon_exporter.cli.report_formats import VERIFY_FORMATS, parse_outputs, write_report
from bcon_exporter.cli.screen import Screen, Watching
from bcon_exporter.cli.tool_runner import close_context, make_context
from bcon_exporter.clock import to_local, utc_now
from bcon_exporter.errors import SettingsError
from bcon_exporter.model.deployment import DeploymentWords
from bcon_exporter.model.quantities import show_duration
from bcon_exporter.model.tool_inputs import read_moment
from bcon_exporter.model.verify_report import DeploymentVerdict, ServiceVerdict, VerifyReport
from bcon_exporter.outputs.verify_findings import find_findings
from bcon_exporter.settings import parse_duration
from bcon_exporter.tools.watch_deployment import DeploymentWatch, WatchRequest

_EXITS = {
    DeploymentVerdict.GOOD: Exit.FINE,
    DeploymentVerdict.BAD: Exit.FINDINGS,
    DeploymentVerdict.UNSURE: Exit.FAILED,
}


def verify(call: Invocation) -> int:
    """Watch a deployment for --for, and say whether it succeeded; Ctrl-C gives the verdict so far."""
    given = call.arguments
    outputs = parse_outputs(given.out, VERIFY_FORMATS)
    asked = _read_words(call)
    context = replace(make_context(call), recall=None)  # its own events are as new as the daemon's
    watch = DeploymentWatch(context, asked, threading.Event().wait)
    try:
        with Screen(given.format).watching("Watching ...") as watching:
            try:
                report = watch.run(Progress(watching).tell)
            except KeyboardInterrupt:
                report = watch.interrupt()
    finally:
        close_context(context)
    write_report(given.format, outputs, report, lambda: find_findings(report), given.select)
    return _EXITS[report.verdict]


def _read_words(call: Invocation) -> WatchRequest:
    """Return what is to be watched.

    Raises:
        SettingsError: A word that is none, or two names for the project.
    """
    given = call.arguments
    if given.project is not None and given.project_name not in (None, given.project):
        msg = f"verify {given.project} and --project-name {given.project_name}: name one project"
        raise SettingsError(msg, {"flag": "--project-name"})
    try:
        window = parse_duration(given.window).total_seconds()
    except ValueError as error:
        msg = f"--for: {error}"
        raise SettingsError(msg, {"flag": "--for"}) from None
    words = DeploymentWords(
        files=tuple(given.file),
        project_name=given.project or given.project_name,
        env_files=tuple(given.env_file),
        profiles=tuple(given.profile),
        prefers_running=given.project is not None,
    )
    return WatchRequest(words, window, None if given.since is None else _read_time(given.since))


def _read_time(raw: str) -> datetime:
    """Return the time that "5m", "2026-01-31T12:00:00Z" or "today" means.

    Raises:
        SettingsError: It is none.
    """
    try:
        return read_moment(raw, utc_now(), to_local)
    except ValueError as error:
        msg = f"--since: {error}"
        raise SettingsError(msg, {"flag": "--since"}) from None


class Progress:
    """Tells on a terminal how far the watch is, and of each service as soon as its verdict is certain, or is bad."""

    def __init__(self, watching: Watching) -> None:
        self._watching = watching
        self._told: dict[str, ServiceVerdict] = {}

    def tell(self, report: VerifyReport) -> None:
        """Write a line for each service of which there is something new, and how far the watch is."""
        for service in report.services:
            before = self._told.get(service.service)
            is_news = before is None or (before.verdict, before.code) != (service.verdict, service.code)
            if is_news and (service.certain or service.verdict is DeploymentVerdict.BAD):
                self._told[service.service] = service
                code = f" {service.code}" if service.code is not None else ""
                self._watching.say(f"{service.service}: {service.verdict}{code}: {service.message}")
        certain = sum(service.certain for service in report.services)
        watched_seconds = (report.watched_until - report.watched_from).total_seconds()
        left = show_duration(max(0.0, report.window_seconds - watched_seconds))
        self._watching.show(f"Watching {report.project}: {certain} of {len(report.services)} certain, {left} left")
