"""The composition root: settings → host, memory, Compose, catalogue → context."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypedDict

from bcon_exporter import clock
from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.compose import ComposeOptions, ComposeReader, find_binary
from bcon_exporter.daemon_log import set_up_logging
from bcon_exporter.diagnosis import Filter, Policy
from bcon_exporter.drift import IgnoreRule, parse_ignore_rule
from bcon_exporter.engine import DockerHost, Endpoint, HostOptions, MinuteWants, find_endpoint, probe_interval
from bcon_exporter.errors import SettingsError
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.latest_scans import LatestScans
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.quiet import QuietHours, parse_quiet_hours
from bcon_exporter.model.signatures import Catalogue
from bcon_exporter.model.thresholds import Thresholds
from bcon_exporter.one_heap import use_one_heap
from bcon_exporter.secrets.masking import Sealer
from bcon_exporter.settings import Settings, current_environment, find_warnings, list_receivers, load_settings
from bcon_exporter.tools import Context
from bcon_exporter.tools.replay import SnapshotCompose, SnapshotHost, SnapshotMemory

_log = logging.getLogger(__name__)


class _Reloadable(TypedDict):
    """What a context takes from the settings as it is, and a reload may change."""

    catalogue: Catalogue
    thresholds: Thresholds
    policy: Policy
    drift_ignore: tuple[IgnoreRule, ...]
    quiet_hours: tuple[QuietHours, ...]
    tells_commands: bool
    host_name: str
    scan_deadline_seconds: float


def build_host(settings: Settings) -> DockerHost:
    """Return the engine alone, for what asks no more of it than a list; talks to none yet.

    Raises:
        SettingsError: The engine's address is malformed.
    """
    return DockerHost(_find_endpoint(settings, current_environment()), HostOptions(), _sealer())


def build_context(settings: Settings, *, one_shot: bool = False) -> Context:
    """Return what tools and jobs work with; opens the state file, talks to no engine yet.

    Args:
        settings: All settings.
        one_shot: For a command: the state file is only read, a Compose file is read with the user's own rights
            and environment, and usage takes two samples.

    Raises:
        SettingsError: The engine's address or the signature catalogue is malformed.
    """
    environ = current_environment()
    endpoint = _find_endpoint(settings, environ)
    options = HostOptions(
        usage_window_seconds=settings.thresholds.usage_window_seconds,
        minute_wants=MinuteWants(
            pressure=settings.collector.pressure and not one_shot,
            open_files=settings.collector.resources and not one_shot,
        ),
        probe_interval_seconds=probe_interval(settings.scan.diagnose_interval.total_seconds()),
    )
    book = HostSecrets()
    return Context(
        host=DockerHost(endpoint, options, _sealer(), book),
        compose=ComposeReader(_compose_options(settings, environ, trusted=one_shot), _sealer(), book),
        secrets=book,
        scans=LatestScans(),
        **_reloadable_of(settings),
        one_shot=one_shot,
        memory=MemoryKeeper.open(  # last, since what is wrong with the settings must not leave the state file open
            settings.state.path,
            retention_seconds=settings.state.retention.total_seconds(),
            now=clock.utc_now(),
            read_only=one_shot,
        ),
    )


def refresh_context(context: Context, settings: Settings) -> Context:
    """Return a daemon's context with what a reload of the settings may change; host, memory and latest scans stay.

    Raises:
        SettingsError: The signature catalogue is malformed.
    """
    return replace(
        context,
        compose=ComposeReader(
            _compose_options(settings, current_environment(), trusted=False), _sealer(), context.secrets
        ),
        **_reloadable_of(settings),
    )


def run_daemon(settings: Settings, reload_settings: Callable[[], Settings] = load_settings) -> int:
    """Run until SIGTERM or SIGINT; returns the exit code.

    Args:
        settings: All settings.
        reload_settings: Reads them again on SIGHUP, with the same flags.

    Raises:
        SettingsError: An address is in use, or a file that the settings name is wrong.
    """
    from bcon_exporter.daemon import Daemon  # commands do without the web server's weight

    if "MALLOC_ARENA_MAX" not in current_environment():
        use_one_heap()
    set_up_logging(settings.log.level, settings.log.format)
    for doubt in find_warnings(settings):
        _log.warning("%s", doubt)
    context = build_context(settings)
    set_up_logging(settings.log.level, settings.log.format, context.secrets.hide)
    return Daemon(settings, context, refresh_context, reload_settings).run()


def build_replay(settings: Settings, snapshot: HostSnapshot) -> Context:
    """Return a context in which every tool answers as the host did when the snapshot was taken; no engine is needed.

    Raises:
        SettingsError: The signature catalogue is malformed.
    """
    host = SnapshotHost(snapshot)
    return Context(
        host=host,
        memory=SnapshotMemory(host.read_log_files(snapshot.taken_at)),
        compose=SnapshotCompose(snapshot),
        scans=LatestScans(),
        **_reloadable_of(settings),
        now=lambda: snapshot.taken_at,
    )


def check_settings(settings: Settings) -> None:
    """Find what only use would show: the engine's address, the signature catalogue, the configurations of HTTP.

    Raises:
        SettingsError: One of them is malformed.
    """
    from bcon_exporter.outputs.alertmanager import load_http_access  # as above
    from bcon_exporter.outputs.http.web_access import WebAccess

    environ = current_environment()
    _find_endpoint(settings, environ)
    load_catalogue(settings.catalogue.directory)
    access = WebAccess(settings.web.config.file)
    load_http_access(settings.alertmanager.config.file)
    _check_receivers(settings)
    if settings.mcp.enable:
        from bcon_exporter.outputs.mcp import check_listener, require_sdk

        require_sdk("mcp.enable")
        setting = "web.listen-address" if settings.api.listen_address is None else "api.listen-address"
        address = settings.api.listen_address or settings.web.listen_address
        check_listener(setting, is_loopback=address.is_loopback, has_users=bool(access.users))


def _check_receivers(settings: Settings) -> None:
    from bcon_exporter.outputs.messages import check_address, require_apprise  # as above

    receivers = list_receivers(settings)
    if receivers:
        require_apprise()
    for receiver in receivers:
        if problem := check_address(receiver):
            msg = f"notify.url: {receiver.name}: {problem}"
            raise SettingsError(msg, {"setting": "notify.url"})


def _find_endpoint(settings: Settings, environ: Mapping[str, str]) -> Endpoint:
    home = _home(environ) or Path("/")
    return find_endpoint(settings.docker.host, environ, home=home, named_by=settings.origin_of("docker.host"))


@cache
def _sealer() -> Sealer:
    """The one sealer of the process: what the host and Compose seal can be compared only under the same key."""
    return Sealer.random()


def _home(environ: Mapping[str, str]) -> Path | None:
    """Return the user's home directory; None for a user id without one, as in a container."""
    if environ.get("HOME"):
        return Path(environ["HOME"])
    try:
        return Path.home()
    except RuntimeError:
        return None


def _compose_options(settings: Settings, environ: dict[str, str], *, trusted: bool) -> ComposeOptions:
    """Return how Compose files are read; the daemon's Compose sees nothing of the daemon's environment."""
    wanted = settings.compose
    return ComposeOptions(
        binary=find_binary(environ.get("PATH", ""), _home(environ)),
        roots=wanted.roots,
        files=wanted.files,
        env_file=wanted.env_file,
        path_map=wanted.path_map,
        environ=environ if trusted else {"PATH": environ.get("PATH", "")},
        trusted=trusted,
    )


def _reloadable_of(settings: Settings) -> _Reloadable:
    return {
        "catalogue": load_catalogue(settings.catalogue.directory),
        "thresholds": settings.thresholds,
        "policy": _policy(settings),
        "drift_ignore": tuple(map(parse_ignore_rule, settings.drift.ignore)),
        "quiet_hours": tuple(map(parse_quiet_hours, settings.quiet.hours)),
        "tells_commands": settings.agents.commands == "on",
        "host_name": settings.notify.host or "",
        "scan_deadline_seconds": settings.scan.deadline_seconds,
    }


def _policy(settings: Settings) -> Policy:
    wanted = settings.filter
    return Policy(
        include=Filter(names=wanted.include_names, labels=wanted.include_labels, projects=wanted.include_projects),
        exclude=Filter(names=wanted.exclude_names, labels=wanted.exclude_labels, projects=wanted.exclude_projects),
    )
