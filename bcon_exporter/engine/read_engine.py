"""What an engine says of itself, kept for some minutes: its version, its limits, its networks and volumes."""

from datetime import datetime
from typing import Any

from bcon_exporter.clock import monotonic
from bcon_exporter.engine.parse import parse_engine, parse_engine_start, parse_network, parse_volume
from bcon_exporter.engine.parse.json_fields import get_list
from bcon_exporter.engine.scan import Deadline, Scan
from bcon_exporter.engine.session import EngineSession
from bcon_exporter.errors import BconError
from bcon_exporter.model.container_facts import EngineFacts, NetworkFacts, VolumeFacts

_FACTS_SECONDS = 300.0
_RETRY_SECONDS = 25.0


class EngineReader:
    """Reads the engine's facts; to be used by one scan at a time."""

    def __init__(self, session: EngineSession) -> None:
        self._session = session
        self._facts: EngineFacts | None = None
        self._again_at = float("-inf")
        self._failure = ""
        self._start_read_in: int | None = None

    @property
    def known_facts(self) -> EngineFacts | None:
        """What the engine said of itself last; None before it was asked."""
        return self._facts

    def read(self, deadline: Deadline) -> EngineFacts:
        """Ask the engine about itself.

        Raises:
            BconError: It did not answer.
        """
        session = self._session
        session.negotiate(deadline)
        version: Any = session.call("version", "asking for the version", deadline, lambda c: c.version())
        info: Any = session.call("info", "asking for the engine's info", deadline, lambda c: c.info())
        started_at = self._facts.started_at if self._facts is not None else None
        facts = parse_engine(info, version).model_copy(update={"started_at": started_at})
        self._facts, self._again_at = facts, monotonic() + _FACTS_SECONDS
        return facts

    def read_for_scan(self, scan: Scan, *, streams: int, events_are_live: bool) -> EngineFacts | None:
        """Return the engine's facts, read anew when they are old; None, with the reason in the scan, without any.

        Args:
            scan: The scan.
            streams: How often the event stream has been opened.
            events_are_live: Whether it is open: no engine restarts under a stream that goes on.
        """
        if monotonic() > self._again_at:
            try:
                self.read(scan.deadline)
            except BconError as error:
                self._failure = error.message
                self._again_at = monotonic() + _RETRY_SECONDS
        if self._facts is None:
            scan.host_unread["engine"] = self._failure
            return None
        if self._start_read_in != streams or not events_are_live:
            started_at = self._read_start(self._facts, scan.deadline)
            self._facts = self._facts.model_copy(update={"started_at": started_at})
            self._start_read_in = streams
        return self._facts

    def _read_start(self, engine: EngineFacts, deadline: Deadline) -> datetime | None:
        if engine.is_podman or engine.keeps_containers:
            return None
        try:
            bridge = self._session.call(
                "networks", "asking when the engine started", deadline, lambda c: c.inspect_network("bridge")
            )
        except BconError:  # --bridge=none, or a proxy that lets no networks through
            return None
        return parse_engine_start(bridge)


def read_networks(session: EngineSession, scan: Scan) -> tuple[NetworkFacts, ...] | None:
    """Return the host's networks; None, with the reason in the scan, when they could not be read."""
    try:
        raw: Any = session.call("networks", "listing networks", scan.deadline, lambda client: client.networks())
    except BconError as error:
        scan.host_unread["networks"] = error.message
        return None
    networks = [parse_network(entry) for entry in raw] if isinstance(raw, list) else []
    return tuple(network for network in networks if network is not None)


def read_volumes(session: EngineSession, scan: Scan) -> tuple[VolumeFacts, ...] | None:
    """Return the host's volumes; None, with the reason in the scan, when they could not be read."""
    try:
        raw: Any = session.call("volumes", "listing volumes", scan.deadline, lambda client: client.volumes())
    except BconError as error:
        scan.host_unread["volumes"] = error.message
        return None
    entries = get_list(raw, "Volumes") if isinstance(raw, dict) else []
    return tuple(volume for volume in map(parse_volume, entries) if volume is not None)
