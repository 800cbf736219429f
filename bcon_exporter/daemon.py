"""The running daemon: scans on a schedule, listeners on one event loop, signals."""

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from bcon_exporter import clock
from bcon_exporter.daemon_log import set_up_logging
from bcon_exporter.engine import DockerHost, probe_interval, raise_open_files_limit
from bcon_exporter.errors import BconError
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.latest_scans import ScanName
from bcon_exporter.outputs.addresses import Addresses
from bcon_exporter.outputs.alertmanager import Alertmanager, AlertWatch, HttpAccess, Identity, Pace, load_http_access
from bcon_exporter.outputs.http import (
    Connections,
    Listener,
    ListenerPolicy,
    RateLimits,
    Users,
    bind,
    close_all,
    make_site,
    serve_all,
)
from bcon_exporter.outputs.http.web_access import WebAccess
from bcon_exporter.outputs.mcp import McpApp, check_listener, require_sdk
from bcon_exporter.outputs.messages import (
    Heartbeat,
    MessageSender,
    MessageSenders,
    MessageSettings,
    require_apprise,
)
from bcon_exporter.outputs.metrics import Exposition, OwnState
from bcon_exporter.outputs.metrics.own_samples import AlertCounts, MemoryCounts
from bcon_exporter.reload_on_sighup import ReloadOnSighup, find_restart_only
from bcon_exporter.schedule import (
    DeploymentJudge,
    DiskWatch,
    Intervals,
    Scheduler,
    Watchdog,
    watch_outage,
    watchdog_seconds,
)
from bcon_exporter.settings import Address, Settings, list_receivers
from bcon_exporter.signals_during_start import let_reload_through
from bcon_exporter.tools import Context

_log = logging.getLogger(__name__)

EXIT_WITHIN_SECONDS = 4.0


class Daemon:
    """Everything that runs, from the first scan to the last request.

    Args:
        refresh: Returns a context with what new settings change.
        reload_settings: Reads all settings again.

    Raises:
        SettingsError: An address cannot be bound, or the web configuration is wrong.
    """

    def __init__(
        self,
        settings: Settings,
        context: Context,
        refresh: Callable[[Context, Settings], Context],
        reload_settings: Callable[[], Settings],
    ) -> None:
        self._started_with = self._settings = settings
        self._context = context = replace(context, scan_now=self._scan_now)
        self._refresh = refresh
        self._reload_settings = reload_settings
        self._access = WebAccess(settings.web.config.file)
        self._push_access = load_http_access(settings.alertmanager.config.file)
        self._watchdog = Watchdog(lambda: watchdog_seconds(self._interval_of("diagnose")))
        self._scheduler = Scheduler(context, _intervals(settings), self._on_finished, on_turn=self._watchdog.turn)
        self._own = OwnState(
            lambda: self._context,
            self._interval_of,
            lambda: _memory_counts(context),
            insecure_bind=self._is_insecure,
            loaded_at=clock.utc_now(),
            alerting=self._alert_counts,
            addresses=lambda: Addresses(self._settings.web.external_url, self._settings.runbooks_url),
        )
        self._reload = ReloadOnSighup(self._take_settings, self._own.record_reload)
        metrics = settings.metrics
        self._exposition = Exposition(
            context.scans,
            self._own,
            series_cap=metrics.series_cap,
            label_names=metrics.container_labels,
            off=settings.collector.off,
        )
        self._messages = self._make_senders()
        self._heartbeat = Heartbeat(settings.notify.heartbeat_url, lambda: self._context, self._scheduler.find_hang)
        self._alerts = AlertWatch(
            lambda: self._context,
            (self._exposition, self._own),
            lambda: Pace(self._interval_of("diagnose")),
            lambda: _identity(self._started_with, self._settings.web.external_url),
            _alertmanagers(settings, lambda: self._push_access),
            watch_outage=watch_outage,
            receivers=self._messages.states,
        )
        self._site = make_site(
            lambda: self._context, self._exposition, self._scheduler.find_hang, self._make_agents_app()
        )
        self._listeners = self._make_listeners()
        self._deployments = DeploymentJudge(lambda: self._context)
        self._disk = DiskWatch(lambda: self._context)

    def _scan_now(self, name: ScanName) -> threading.Event:
        return self._scheduler.run_soon(name)

    def _message_settings(self) -> MessageSettings:
        wanted = self._settings.notify
        return MessageSettings(wanted.host or "", self._settings.web.external_url, wanted.weekly_digest)

    def _make_senders(self) -> MessageSenders:
        receivers = list_receivers(self._started_with)
        if receivers:
            require_apprise()
        return MessageSenders(
            MessageSender(
                receiver,
                lambda: self._context,
                lambda: self._interval_of("diagnose"),
                self._message_settings,
            )
            for receiver in receivers
        )

    def _make_agents_app(self) -> McpApp | None:
        settings = self._started_with
        if not settings.mcp.enable:
            return None
        require_sdk("mcp.enable")
        setting = self._api_setting()
        check_listener(setting, is_loopback=self._addresses()[setting].is_loopback, has_users=bool(self._access.users))
        return McpApp(lambda: self._context, settings.mcp.toolsets, structured=settings.mcp.structured)

    def run(self) -> int:
        """Serve until SIGTERM or SIGINT; return the exit code."""
        connections = Connections(raise_open_files_limit())
        if isinstance(self._context.host, DockerHost):
            self._context.host.start()
        self._alerts.start()
        self._messages.start()
        self._heartbeat.start()
        self._scheduler.start()
        try:
            asyncio.run(self._serve(connections))
        finally:
            self._scheduler.stop()
            self._disk.stop()
            self._watchdog.stop()
            self._alerts.stop()
            self._messages.stop()
            self._heartbeat.stop()
            self._context.host.close()
            self._context.memory.close()
        _log.info("stopped")
        return 0

    async def _serve(self, connections: Connections) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop, stop)
        loop.add_signal_handler(signal.SIGHUP, self._reload.start)
        let_reload_through()
        for listener in self._listeners:
            scheme = "https" if listener.tls else "http"
            _log.info("serving on %s", ", ".join(f"{scheme}://{address}" for address in listener.addresses))
        await serve_all(self._listeners, stop, connections)

    def _stop(self, stop: asyncio.Event) -> None:
        """Stop serving; a thread that hangs in a call to the engine cannot hold the process longer than this."""
        _log.info("stopping")
        guard = threading.Timer(EXIT_WITHIN_SECONDS, os._exit, (0,))
        guard.daemon = True
        guard.start()
        self._site.live.close()
        stop.set()

    def _on_finished(self, name: ScanName) -> None:
        with self._context.errors.contained(f"rendering metrics after the {name} scan"):
            self._exposition.publish(name)
        self._alerts.wake()
        self._site.live.wake()
        self._messages.wake()
        if name == "diagnose":
            self._heartbeat.wake()
            self._deployments.look()
            self._disk.look()

    def _alert_counts(self) -> AlertCounts:
        return replace(self._alerts.counts(), messages=self._messages.states())

    def _interval_of(self, name: ScanName) -> float:
        return self._scheduler.intervals.of(name)

    def reload(self) -> None:
        """Read all settings again and use them; if anything is wrong with them, everything stays as it was."""
        self._reload.run()

    def _take_settings(self) -> None:
        settings = self._reload_settings()
        context = self._refresh(self._context, settings)
        push_access = load_http_access(self._started_with.alertmanager.config.file)
        self._access.reload()
        self._push_access = push_access
        self._apply(settings, context)

    def _apply(self, settings: Settings, context: Context) -> None:
        for name in find_restart_only(self._started_with, settings):
            _log.warning("the setting %s differs from that at start; it takes effect after a restart", name)
        set_up_logging(settings.log.level, settings.log.format, context.secrets.hide)
        self._settings, self._context = settings, context
        self._exposition.reload(settings.metrics.container_labels, settings.metrics.series_cap)
        if isinstance(context.host, DockerHost):
            context.host.set_probe_interval(probe_interval(settings.scan.diagnose_interval.total_seconds()))
        self._scheduler.reload(context, _intervals(settings))
        for setting, address in self._addresses().items():
            self._say_what_is_open(setting, self._policy_of(address))
        self._site.live.wake()

    def _make_listeners(self) -> list[Listener]:
        limits = RateLimits()
        listeners: list[Listener] = []
        try:
            for setting, address in self._addresses().items():
                site = self._site if setting == self._api_setting() else self._site.without_agents()
                app = site.behind(partial(self._policy_of, address), self._users, limits)
                listeners.append(Listener(bind(address.host, address.port, setting), app, self._access.tls))
                self._say_what_is_open(setting, self._policy_of(address))
        except BconError:
            for listener in listeners:
                close_all(listener.sockets)
            raise
        return listeners

    def _addresses(self) -> dict[str, Address]:
        """Return the bound addresses by setting: those of the start, whatever was reloaded since."""
        web, api = self._started_with.web.listen_address, self._started_with.api.listen_address
        return {"web.listen-address": web} | ({} if api is None else {"api.listen-address": api})

    def _api_setting(self) -> str:
        """Return the setting of the listener that serves agents."""
        return "web.listen-address" if self._started_with.api.listen_address is None else "api.listen-address"

    def _users(self) -> Users | None:
        return self._access.users

    def _policy_of(self, address: Address) -> ListenerPolicy:
        """Return what a listener lets in by the settings in force."""
        web = self._settings.web
        names = {name.lower() for name in web.allowed_hosts}
        if web.external_url:
            names.add(urlsplit(web.external_url).hostname or "")
        if address.host:
            names.add(address.host.lower())
        prefix = self._started_with.web.route_prefix.rstrip("/")
        return ListenerPolicy(address.is_loopback, web.allow_insecure, frozenset(names), prefix)

    def _say_what_is_open(self, setting: str, policy: ListenerPolicy) -> None:
        if policy.loopback:
            return
        if not policy.serves_all(self._access.users):
            _log.info("%s: beyond loopback without users only metrics and probes are served", setting)
        elif not self._access.users:
            _log.warning("%s: reports, which hold log lines, are served beyond loopback without users", setting)
        web = self._settings.web
        if policy.serves_all(self._access.users) and not (web.allowed_hosts or web.external_url):
            say = _log.info if self._access.users else _log.warning
            say("%s: reports are served under this host's addresses only; for its names set web.allowed-hosts", setting)

    def _is_insecure(self) -> bool:
        beyond = any(not address.is_loopback for address in self._addresses().values())
        return beyond and self._settings.web.allow_insecure and not self._access.users


def _intervals(settings: Settings) -> Intervals:
    scan = settings.scan
    return Intervals(scan.diagnose_interval.total_seconds(), scan.drift_interval.total_seconds())


def _identity(settings: Settings, external_url: str | None) -> Identity | None:
    """Return who pushes alerts; None where they are not pushed."""
    wanted = settings.alertmanager
    if not wanted.url:
        return None
    return Identity(wanted.job or "", wanted.instance or "", wanted.labels, external_url)


def _alertmanagers(settings: Settings, access: Callable[[], HttpAccess]) -> tuple[Alertmanager, ...]:
    seconds = settings.alertmanager.timeout.total_seconds()
    return tuple(Alertmanager(url, seconds, access) for url in settings.alertmanager.url)


def _memory_counts(context: Context) -> MemoryCounts:
    memory = context.memory
    return (
        MemoryCounts(memory.gaps_total, memory.errors_total, memory.entries_total, memory.incidents_total)
        if isinstance(memory, MemoryKeeper)
        else MemoryCounts()
    )
