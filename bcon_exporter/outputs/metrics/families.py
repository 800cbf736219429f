"""Every metric family, declared once: the writer, the docs and their tests read this table."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from bcon_exporter.stages import EXPERIMENTAL, STABLE, Stage

Kind = Literal["gauge", "counter", "info", "histogram"]
Source = Literal["own", "diagnose", "drift"]
Collector = Literal["resources", "network", "pressure", "disk", "logs", "drift"]
"""Families that a setting of this name leaves out: for hosts where another exporter has the same."""
CONTAINER_LABELS = ("container", "project", "service")
"""The labels of a container: project and service are empty outside Compose."""
_VOLUME = ("volume", "project")


@dataclass(frozen=True, slots=True)
class Family:
    """One metric family.

    Attributes:
        name: As it stands in the text: counters end in _total, info families in _info.
        source: "own" is live; the others come from the last scan of that name and are withheld when it is too old.
        drop_order: When the series cap is reached, families go from 1 upwards; 0 is never left out.
        stage: Stable where a row says nothing else.
        collector: The setting that leaves it out; None where nothing does.
    """

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    source: Source = "own"
    drop_order: int = 0
    stage: Stage = STABLE
    collector: Collector | None = None

    @property
    def base_name(self) -> str:
        """The family's name in OpenMetrics: without _total and _info."""
        suffix = {"counter": "_total", "info": "_info"}.get(self.kind, "")
        return self.name.removesuffix(suffix)

    def is_among(self, names: Collection[str]) -> bool:
        """Return whether one of these names is this family's."""
        return self.name in names or self.base_name in names

    @property
    def help_text(self) -> str:
        """The text of its HELP line."""
        return self.stage.warn_in(self.help if self.source == "own" else f"{self.help}; as of {self._last_look}")

    @property
    def _last_look(self) -> str:
        return "the last look at the disk" if self.name in OF_THE_DISK else "the last scan"


def _own(name: str, kind: Kind, help_text: str, *labels: str, stage: Stage = STABLE) -> Family:
    return Family(name, kind, help_text, labels, stage=stage)


def _container(
    name: str, kind: Kind, help_text: str, *labels: str, drop_order: int = 0, collector: Collector | None = None
) -> Family:
    names = (*CONTAINER_LABELS, *labels)
    return Family(f"bcon_container_{name}", kind, help_text, names, "diagnose", drop_order, collector=collector)


def _host(name: str, kind: Kind, help_text: str, *labels: str) -> Family:
    return Family(name, kind, help_text, labels, "diagnose")


def _new(
    collector: Collector | None, name: str, kind: Kind, help_text: str, *labels: str, of_container: bool = True
) -> Family:
    """A family that only informs, and is the first to go."""
    names = (*CONTAINER_LABELS, *labels) if of_container else labels
    return Family(name, kind, help_text, names, "diagnose", 1, EXPERIMENTAL, collector)


def _drift(name: str, kind: Kind, help_text: str, *labels: str) -> Family:
    return Family(name, kind, help_text, labels, "drift", collector="drift")


OWN_FAMILIES: tuple[Family, ...] = (
    _own("bcon_build_info", "info", "Version of bcon-exporter", "version", "python_version"),
    _own(
        "bcon_address_info",
        "info",
        "Where people find its pages, and runbooks",
        "page",
        "runbooks",
        stage=EXPERIMENTAL,
    ),
    _own("bcon_up", "gauge", "1 if the last contact with the engine succeeded"),
    _own("bcon_docker_endpoint_up", "gauge", "1 if this endpoint of the engine answers", "endpoint"),
    _own("bcon_scan_success", "gauge", "1 if the last scan succeeded", "scan"),
    _own("bcon_scan_last_duration_seconds", "gauge", "How long the last scan took", "scan"),
    _own("bcon_scan_last_run_timestamp_seconds", "gauge", "When the last scan ended", "scan"),
    _own("bcon_scan_last_success_timestamp_seconds", "gauge", "When the last good scan ended", "scan"),
    _own("bcon_scan_interval_seconds", "gauge", "Configured time between two scans", "scan"),
    _own("bcon_scan_incomplete_containers", "gauge", "Containers of which the last scan missed facts", "scan"),
    _own("bcon_scans_total", "counter", "Scans that ended, good or failed", "scan"),
    _own("bcon_scan_failures_total", "counter", "Scans that failed", "scan"),
    _own("bcon_scans_missed_total", "counter", "Scans that could not start in their turn", "scan"),
    _own("bcon_errors_total", "counter", "Errors of scans and tool calls by code", "code"),
    _own("bcon_rule_errors_total", "counter", "Rules that raised: a defect of bcon-exporter", "rule"),
    _own("bcon_docker_requests_total", "counter", "Requests to the engine", "endpoint"),
    _own("bcon_docker_request_failures_total", "counter", "Requests to the engine that failed", "endpoint"),
    _own("bcon_docker_request_duration_seconds", "histogram", "Time the engine took to answer", "endpoint"),
    _own("bcon_event_gaps_total", "counter", "Times that engine events were lost beyond back-fill"),
    _own("bcon_journal_entries_total", "counter", "Entries written to the journal", "kind"),
    _own("bcon_state_errors_total", "counter", "Times that the state database could not be used"),
    _own("bcon_insecure_bind", "gauge", "1 when all is served beyond loopback without users, by explicit choice"),
    _own("bcon_config_last_reload_successful", "gauge", "1 if the settings in force are those of the last reload"),
    _own("bcon_config_last_reload_success_timestamp_seconds", "gauge", "When settings were last loaded"),
    _own("bcon_alertmanager_notifications_total", "counter", "Rounds of alerts pushed", "alertmanager"),
    _own(
        "bcon_alertmanager_notification_failures_total",
        "counter",
        "Rounds of alerts that the Alertmanager did not take",
        "alertmanager",
    ),
    _own("bcon_messages_total", "counter", "Messages about incidents that arrived", "receiver"),
    _own("bcon_message_failures_total", "counter", "Attempts to send a message that failed", "receiver"),
    _own(
        "bcon_message_receiver_usable",
        "gauge",
        "1 if the receiver's address can be used and the last message, if there was one, arrived",
        "receiver",
        stage=EXPERIMENTAL,
    ),
    _own("bcon_deployment_verdict", "gauge", "1 when the project's last deployment succeeded, 0 when not", "project"),
    _own("bcon_deployment_timestamp_seconds", "gauge", "When the project's last deployment began", "project"),
    _own("bcon_incidents_open", "gauge", "Incidents that go on", "severity"),
    _own("bcon_incidents_total", "counter", "Incidents that began", "code"),
    _own("bcon_incident_info", "info", "The incidents that go on, at most 100", "incident", "root", "project", "code"),
    _own("bcon_alerts_firing", "gauge", "Alerts that fire by the exporter's own judgement, the watchdog included"),
    _own("bcon_series_dropped", "gauge", "Samples left out because of the series cap"),
)

CONTAINER_FAMILIES: tuple[Family, ...] = (
    _container(
        "info",
        "info",
        "The container's id, image and chosen labels, for joins",
        "id",
        "image",
        "compose_file",
        drop_order=2,
    ),
    _container("status", "gauge", "0 healthy, 1 warning, 2 error, 3 critical"),
    _container("symptom", "gauge", "1 while the container shows the symptom, 0 while it does not", "symptom"),
    _container("symptom_start_timestamp_seconds", "gauge", "Since when the symptom is present", "symptom"),
    _container("cause_info", "info", "The top likely cause of an ailing container", "cause", "peer", drop_order=2),
    _container("explained", "gauge", "1 while another container's trouble explains this one's", "root", drop_order=9),
    _container(
        "explained_start_timestamp_seconds", "gauge", "Since when another container's trouble explains it", drop_order=9
    ),
    _container("quiet", "gauge", "1 while messages and alerts about it are muted", drop_order=9),
    _container("not_evaluated", "gauge", "Rules that lacked facts", drop_order=9),
    _container("running", "gauge", "1 while the main process lives", drop_order=10),
    _container("start_time_seconds", "gauge", "When it was last started", drop_order=6),
    _container("exit_code", "gauge", "Exit code of a stopped container", drop_order=8),
    _container("health", "gauge", "The container's own health check, while it runs", "health", drop_order=7),
    _container("restarts_total", "counter", "Restarts that nobody asked for", drop_order=10),
    _container("oom_kills_total", "counter", "OOM kills of its main or a child process", drop_order=10),
    _container("restarts_last_hour", "gauge", "Restarts that nobody asked for within the last hour", drop_order=9),
    _container("cpu_usage_ratio", "gauge", "Share of the CPUs it may use, 0 to 1", drop_order=8, collector="resources"),
    _container("memory_usage_bytes", "gauge", "Working set, without page cache", drop_order=8, collector="resources"),
    _container("memory_limit_bytes", "gauge", "Its own memory limit", drop_order=5, collector="resources"),
    _container("cpu_seconds_total", "counter", "CPU time used", drop_order=4, collector="resources"),
    _container(
        "cpu_throttled_seconds_total",
        "counter",
        "Time it wanted CPU and was held back",
        drop_order=4,
        collector="resources",
    ),
    _container("network_receive_bytes_total", "counter", "Bytes received", drop_order=3, collector="resources"),
    _container("network_transmit_bytes_total", "counter", "Bytes sent", drop_order=3, collector="resources"),
    _container(
        "block_read_bytes_total", "counter", "Bytes read from block devices", drop_order=3, collector="resources"
    ),
    _container(
        "block_write_bytes_total", "counter", "Bytes written to block devices", drop_order=3, collector="resources"
    ),
    _container(
        "log_events_total", "counter", "Log events read; a stack trace is one", "level", drop_order=5, collector="logs"
    ),
)

RESOURCE_FAMILIES: tuple[Family, ...] = (
    _new(
        None,
        "bcon_container_image_info",
        "info",
        "Its image, with the version by label or tag, and the id",
        "image",
        "version",
        "digest",
    ),
    _new("resources", "bcon_container_pids", "gauge", "Processes and threads"),
    _new("resources", "bcon_container_pids_limit", "gauge", "Most processes and threads that it may have"),
    _new("resources", "bcon_container_open_files", "gauge", "File descriptors that its processes hold"),
    *(
        _new("network", f"bcon_container_network_{way}_{what}_total", "counter", text.format(done))
        for way, done in (("receive", "received"), ("transmit", "sent"))
        for what, text in (
            ("packets", "Packets {}"),
            ("errors", "Packets that could not be {}"),
            ("dropped", "Packets dropped before they were {}"),
        )
    ),
    *(
        _new("pressure", f"bcon_{whose}_pressure_{what}_seconds_total", "counter", text, "resource", of_container=own)
        for whose, own, tasks in (("container", True, "its tasks"), ("host", False, "the host's tasks"))
        for what, text in (
            ("waiting", f"Time in which some of {tasks} waited for the resource"),
            ("stalled", f"Time in which all of {tasks} that were not idle waited for the resource"),
        )
    ),
)
DISK_FAMILIES: tuple[Family, ...] = (
    _new("disk", "bcon_container_writable_layer_bytes", "gauge", "What it has written to its own file system"),
    _new("disk", "bcon_container_writable_layer_growth_bytes_per_day", "gauge", "How fast its own file system grows"),
    _new("logs", "bcon_container_log_file_bytes", "gauge", "Size of its log files on the disk, with those rotated"),
    _new("logs", "bcon_container_log_rotated", "gauge", "1 if something bounds its log files"),
    _new("logs", "bcon_container_log_file_growth_bytes_per_day", "gauge", "How fast its log files grow"),
    _new("disk", "bcon_volume_size_bytes", "gauge", "Size of the volume", *_VOLUME, of_container=False),
    _new("disk", "bcon_volume_containers", "gauge", "Containers that use the volume", *_VOLUME, of_container=False),
    _new(
        "disk", "bcon_volume_growth_bytes_per_day", "gauge", "How fast the volume grows", *_VOLUME, of_container=False
    ),
    _new("disk", "bcon_image_size_bytes", "gauge", "Size of the image", "image", of_container=False),
    _new("disk", "bcon_image_containers", "gauge", "Containers made of the image", "image", of_container=False),
    _new("disk", "bcon_image_created_timestamp_seconds", "gauge", "When it was built", "image", of_container=False),
    _new("disk", "bcon_docker_disk_bytes", "gauge", "What all of a kind take on the disk", "kind", of_container=False),
    _new(
        "disk",
        "bcon_docker_disk_reclaimable_bytes",
        "gauge",
        "What removing what nothing needs would free",
        "kind",
        of_container=False,
    ),
    _new(
        "disk",
        "bcon_disk_exhaustion_timestamp_seconds",
        "gauge",
        "When the file system is full if it goes on growing as it does",
        "mountpoint",
        of_container=False,
    ),
)
OF_THE_DISK = frozenset(family.name for family in DISK_FAMILIES)

HOST_FAMILIES: tuple[Family, ...] = (
    _host(
        "bcon_docker_info",
        "info",
        "The engine",
        "name",
        "server_version",
        "api_version",
        "storage_driver",
        "cgroup_version",
    ),
    _host("bcon_containers", "gauge", "Containers by status", "status"),
    _host("bcon_containers_not_checked", "gauge", "Containers without a finding that are not known to be healthy"),
    _host("bcon_containers_by_state", "gauge", "Containers by the engine's state", "state"),
    _host(
        "bcon_removed_failures",
        "gauge",
        "Failed runs of the last day of containers that removed themselves (--rm), at most 50",
        "project",
        "name",
    ),
    _host("bcon_symptoms", "gauge", "Containers that show the symptom", "symptom"),
    _host("bcon_symptom_threshold_ratio", "gauge", "Configured threshold of the symptom", "symptom"),
)

DRIFT_FAMILIES: tuple[Family, ...] = (
    _drift("bcon_drifts", "gauge", "Differences of this type over all projects", "drift"),
    _drift("bcon_drift_items", "gauge", "Differences of this type found in the service", "project", "service", "drift"),
    _drift(
        "bcon_drift_start_timestamp_seconds", "gauge", "Since when the drift is present", "project", "service", "drift"
    ),
    _drift("bcon_service_replicas_desired", "gauge", "Replicas that the Compose files ask for", "project", "service"),
    _drift("bcon_service_replicas_running", "gauge", "Replicas that run", "project", "service"),
    _drift("bcon_service_stop_requested", "gauge", "1 when somebody stopped the service", "project", "service"),
    _drift("bcon_compose_project_status", "gauge", "1 for the status the project has", "project", "status"),
    _drift(
        "bcon_compose_unreadable",
        "gauge",
        "1 while the project's files cannot be judged for this reason",
        "project",
        "reason",
    ),
    _drift("bcon_untracked_containers", "gauge", "Running containers that no known Compose file defines"),
)

FAMILIES: tuple[Family, ...] = (
    *OWN_FAMILIES,
    *HOST_FAMILIES,
    *CONTAINER_FAMILIES,
    *RESOURCE_FAMILIES,
    *DISK_FAMILIES,
    *DRIFT_FAMILIES,
)
BY_NAME: dict[str, Family] = {family.name: family for family in FAMILIES}
