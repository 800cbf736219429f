"""The only importer of docker: the engine's answers become one immutable HostSnapshot. Read-only by construction."""

from bcon_exporter.docker_host.breaker import ENDPOINT_NAMES
from bcon_exporter.docker_host.host import DockerHost
from bcon_exporter.docker_host.locate import Endpoint, TlsFiles, find_endpoint
from bcon_exporter.docker_host.open_files import raise_open_files_limit
from bcon_exporter.docker_host.options import HostOptions, Wants, probe_interval
from bcon_exporter.docker_host.requests_count import DURATION_BUCKETS_SECONDS, EndpointCounts, RequestCounts
from bcon_exporter.docker_host.resolve import find_among

__all__ = [
    "DURATION_BUCKETS_SECONDS",
    "ENDPOINT_NAMES",
    "DockerHost",
    "Endpoint",
    "EndpointCounts",
    "HostOptions",
    "RequestCounts",
    "TlsFiles",
    "Wants",
    "find_among",
    "find_endpoint",
    "probe_interval",
    "raise_open_files_limit",
]
