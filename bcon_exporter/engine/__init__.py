"""The only importer of docker: the engine's answers become one immutable HostSnapshot. Read-only by construction."""

from bcon_exporter.engine.container_names import find_among
from bcon_exporter.engine.endpoint_health import DURATION_BUCKETS_SECONDS, ENDPOINT_NAMES, EndpointCounts, RequestCounts
from bcon_exporter.engine.find_socket import Endpoint, TlsFiles, find_endpoint
from bcon_exporter.engine.kept_open_files import raise_open_files_limit
from bcon_exporter.engine.minute_counters import MinuteWants
from bcon_exporter.engine.read_host import DockerHost
from bcon_exporter.engine.scan import HostOptions, Wants, probe_interval

__all__ = [
    "DURATION_BUCKETS_SECONDS",
    "ENDPOINT_NAMES",
    "DockerHost",
    "Endpoint",
    "EndpointCounts",
    "HostOptions",
    "MinuteWants",
    "RequestCounts",
    "TlsFiles",
    "Wants",
    "find_among",
    "find_endpoint",
    "probe_interval",
    "raise_open_files_limit",
]
