"""What happens on SIGHUP: the settings are read again, and put in force whole or not at all."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from bcon_exporter import clock
from bcon_exporter.errors import BconError
from bcon_exporter.settings import Settings

_log = logging.getLogger(__name__)

_NEED_RESTART = (
    "docker", "web.listen_address", "web.route_prefix", "web.config.file", "api", "state",
    "thresholds.usage_window_seconds", "alerts", "alertmanager", "notify", "mcp", "collector",
)  # fmt: skip


class RecordReload(Protocol):
    """Keeps when the settings were reloaded, and whether that went well."""

    def __call__(self, at: datetime, *, successful: bool) -> None:
        """Keep it."""


class ReloadOnSighup:
    """Reloads, one after the other.

    Args:
        take_settings: Reads the settings and uses them; raises before it has changed anything.
        record: Told of each reload.
    """

    def __init__(self, take_settings: Callable[[], None], record: RecordReload) -> None:
        self._take_settings = take_settings
        self._record = record
        self._reloading = threading.Lock()

    def start(self) -> None:
        """Reload in a thread of its own."""
        threading.Thread(target=self.run, name="reload", daemon=True).start()

    def run(self) -> None:
        """Read all settings again and use them; if anything is wrong with them, everything stays as it was."""
        with self._reloading:
            try:
                self._take_settings()
            except BconError as error:
                _log.error("the settings were not reloaded, the old ones stay in force: %s", error.message)
                self._record(clock.utc_now(), successful=False)
            except Exception:  # noqa: BLE001 -- the thread's boundary: a defect must not pass for success
                _log.exception("the settings were not reloaded: an unexpected error happened; please report it")
                self._record(clock.utc_now(), successful=False)
            else:
                self._record(clock.utc_now(), successful=True)
                _log.info("settings reloaded")


def find_restart_only(before: Settings, after: Settings) -> tuple[str, ...]:
    """Return the changed settings that only a restart puts in force."""
    return tuple(name.replace("_", "-") for name in _NEED_RESTART if _value(before, name) != _value(after, name))


def _value(settings: Settings, dotted: str) -> object:
    value: object = settings
    for name in dotted.split("."):
        value = getattr(value, name)
    return value
