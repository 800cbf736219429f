"""Every setting once, with its default, its type and its one line of help."""

import re  # noqa: TID251 - sees settings
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bcon_exporter.model.durations import write_duration
from bcon_exporter.model.quiet import parse_quiet_hours
from bcon_exporter.model.thresholds import Thresholds
from bcon_exporter.settings.fields import (
    Address,
    Duration,
    FilePath,
    ListenAddress,
    Names,
    PathMap,
    Paths,
    Receivers,
    SecretUrl,
    Text,
    WebUrl,
    WebUrls,
    folder_url,
    memory_only,
)
from bcon_exporter.stages import EXPERIMENTAL, STABLE, Stage

DEFAULT_ADDRESS = Address(host="127.0.0.1", port=19877)
_CORE = ("core",)
_LONGEST_INTERVAL = timedelta(days=1)
_ROUTE_PREFIX = re.compile(r"/|(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._-]{1,64}){1,8}")
_LABEL_NAME = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*")
_OWN_LABELS = frozenset(
    (
        *("alertname", "severity", "job", "instance", "source", "container", "project", "service"),
        *("symptom", "drift", "scan", "endpoint", "reason"),
    )
)


def _at_least_a_second(value: timedelta) -> timedelta:
    if not timedelta(seconds=1) <= value <= _LONGEST_INTERVAL:
        msg = "must be between 1s and 1d"
        raise ValueError(msg)
    return value


def _at_least_a_day(value: timedelta) -> timedelta:
    if value < timedelta(days=1):
        msg = "must be at least 1d: restarts and exits of the last day are judged"
        raise ValueError(msg)
    return value


def _up_to_a_minute(value: timedelta) -> timedelta:
    if not timedelta(seconds=1) <= value <= timedelta(minutes=1):
        msg = "must be between 1s and 1m"
        raise ValueError(msg)
    return value


def _alert_labels(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    for name, _ in pairs:
        if not _LABEL_NAME.fullmatch(name) or name in _OWN_LABELS:
            msg = "names a label that alerts have already, or one that Prometheus does not take"
            raise ValueError(msg)
    return pairs


def _route_prefix(value: str) -> str:
    """Return "/" or "/path" without a slash at its end."""
    path = f"/{value.strip('/')}"
    if not _ROUTE_PREFIX.fullmatch(path):
        msg = "must be a path of letters, digits and . _ - such as /containers"
        raise ValueError(msg)
    return path


RoutePrefix = Annotated[Text, AfterValidator(_route_prefix)]
Interval = Annotated[Duration, AfterValidator(_at_least_a_second)]
AlertLabels = Annotated[PathMap, AfterValidator(_alert_labels)]


class Section(BaseModel):
    """A group of settings; refuses what it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class DockerSettings(Section):
    """Which engine to watch."""

    host: Text | None = Field(
        None,
        min_length=1,
        description="Engine to watch: unix:///path or tcp://host:port. Default: DOCKER_HOST, the current docker "
        "context, then the usual rootful, rootless and Podman sockets",
    )


class WebConfigSettings(Section):
    """TLS and users of the web server."""

    file: FilePath | None = Field(
        None, description="Web configuration in the exporter-toolkit's format: TLS and users (bcrypt)"
    )


class WebSettings(Section):
    """What is served, and to whom."""

    listen_address: ListenAddress = Field(DEFAULT_ADDRESS, description="Where to serve metrics, API and pages")
    config: WebConfigSettings = WebConfigSettings()
    allow_insecure: bool = Field(
        False, description="Serve reports (they hold log lines) beyond loopback without users; raises a gauge"
    )
    external_url: WebUrl | None = Field(
        None,
        description="Address under which people reach this exporter behind a reverse proxy; requests may name its host",
    )
    allowed_hosts: Names = Field((), description="Host names that requests may name, besides the listen address")
    route_prefix: RoutePrefix = Field(
        "/",
        description="Serve everything below this path, such as /docker: for a proxy that does not take it away",
    )


class ApiSettings(Section):
    """A second listener for the JSON API."""

    listen_address: ListenAddress | None = Field(
        None, description="Serve the JSON API and the pages here too, for example on loopback"
    )


class ScanSettings(Section):
    """How often to look."""

    diagnose_interval: Interval = Field(timedelta(seconds=30), description="Time between diagnoses of all containers")
    drift_interval: Interval = Field(timedelta(seconds=60), description="Time between drift checks of all projects")
    deadline: Interval = Field(
        timedelta(seconds=15), description="Longest time that one scan may take; never more than an interval"
    )

    @property
    def deadline_seconds(self) -> float:
        """The deadline, cut to the shorter interval where nobody set it."""
        return min(self.deadline, self.diagnose_interval, self.drift_interval).total_seconds()


class StateSettings(Section):
    """What is remembered across restarts."""

    path: Annotated[FilePath | None, BeforeValidator(memory_only)] = Field(
        None,
        description="File of the history; `none` keeps it in memory only. Default: "
        "$XDG_STATE_HOME/bcon-exporter/state.db, /var/lib/bcon-exporter/state.db for root, else ~/.local/state/...",
    )
    retention: Annotated[Duration, AfterValidator(_at_least_a_day)] = Field(
        timedelta(days=32), description="How long events and costs are kept"
    )


class ComposeSettings(Section):
    """Where Compose files are found."""

    roots: Paths = Field(
        (), description="Directories below which the daemon reads Compose files, with all that they include"
    )
    files: Paths = Field((), description="Compose files to check even when nothing of them runs")
    env_file: FilePath | None = Field(None, description="Variables for Compose files, as an .env file")
    path_map: PathMap = Field((), description="Where paths named by containers lie here: /path/in/labels=/path/here")


class FilterSettings(Section):
    """Which containers are judged; `*` stands for any characters."""

    include_names: Names = Field((), description="Judge only containers with such names")
    exclude_names: Names = Field((), description="Leave out containers with such names")
    include_labels: Names = Field((), description="Judge only containers with such a label (key or key=value)")
    exclude_labels: Names = Field((), description="Leave out containers with such a label (key or key=value)")
    include_projects: Names = Field((), description="Judge only containers of such Compose projects")
    exclude_projects: Names = Field((), description="Leave out containers of such Compose projects")


def _ignore_rules(value: tuple[str, ...]) -> tuple[str, ...]:
    if value:
        from bcon_exporter.drift import parse_ignore_rule  # weighs much: most commands read none

        for rule in value:
            parse_ignore_rule(rule)
    return value


class DriftSettings(Section):
    """Which differences from the Compose files are not reported; `*` stands for any characters."""

    ignore: Annotated[Names, AfterValidator(_ignore_rules)] = Field(
        (), description="Leave out these differences: project, project/service or project/service/field"
    )


class CatalogueSettings(Section):
    """Signatures of log messages."""

    directory: FilePath | None = Field(None, description="Directory of your own signature files (YAML)")


class MetricsSettings(Section):
    """What the metrics carry."""

    container_labels: Names = Field((), description="Container labels to add to bcon_container_info")
    series_cap: int = Field(
        80_000,
        ge=1_000,
        le=10_000_000,
        description="Most series that scans may make; beyond it whole families are left out, symptoms and drift never",
    )


class CollectorSettings(Section):
    """Which families of metrics there are; reports, alerts pushed and pages go on without them."""

    resources: Annotated[bool, EXPERIMENTAL] = Field(
        True, description="CPU, memory, traffic, block devices, processes and open files of containers"
    )
    network: Annotated[bool, EXPERIMENTAL] = Field(
        True, description="Packets, errors and drops of containers' networks"
    )
    pressure: Annotated[bool, EXPERIMENTAL] = Field(
        True, description="Time spent waiting for CPU, memory and disk, of containers and of the host"
    )
    disk: Annotated[bool, EXPERIMENTAL] = Field(
        True, description="Sizes and growth of layers, volumes, images and build cache, and when a disk is full"
    )
    logs: Annotated[bool, EXPERIMENTAL] = Field(
        True, description="Events in containers' logs, and sizes and growth of log files"
    )
    drift: Annotated[bool, EXPERIMENTAL] = Field(
        True, description="Differences from Compose files, replicas and projects"
    )

    @property
    def off(self) -> frozenset[str]:
        """The names of those that are off."""
        return frozenset(name for name in type(self).model_fields if not getattr(self, name))


class AlertsSettings(Section):
    """What alerts say."""

    runbooks_url: Annotated[WebUrl, AfterValidator(folder_url)] | None = Field(
        None,
        description="Where your own runbooks lie (links: this and NAME.md); unset: below web.external-url, if set",
    )


class AlertmanagerConfigSettings(Section):
    """How an Alertmanager is asked."""

    file: FilePath | None = Field(
        None, description="User or token, and TLS, towards the Alertmanagers, in the form of Prometheus' http_config"
    )


class AlertmanagerSettings(Section):
    """Alerts pushed to Alertmanager, for hosts without Prometheus."""

    url: WebUrls = Field((), description="Alertmanagers to push alerts to; each gets all of them")
    config: AlertmanagerConfigSettings = AlertmanagerConfigSettings()
    job: Text | None = Field(None, min_length=1, description="Label job of pushed alerts; needed with a url")
    instance: Text | None = Field(None, min_length=1, description="Label instance of pushed alerts; needed with a url")
    labels: AlertLabels = Field((), description="More labels for every pushed alert: team=shop,env=live")
    timeout: Annotated[Duration, AfterValidator(_up_to_a_minute)] = Field(
        timedelta(seconds=10), description="Longest time that one request to an Alertmanager may take"
    )


class NotifySettings(Section):
    """Messages about incidents, without Alertmanager; needs the extra `notify`."""

    url: Receivers = Field((), description="Who gets messages: an address of apprise, with options before it; a secret")
    url_file: FilePath | None = Field(
        None, description="File with more of them, one a line; lines that begin with # are left out"
    )
    heartbeat_url: Annotated[SecretUrl | None, EXPERIMENTAL] = Field(
        None,
        description="Address of a dead man's switch, asked after each good scan, with /fail after a bad one; a secret",
    )
    weekly_digest: bool = Field(False, description="Send every receiver a digest of the week, on Mondays at 8")
    host: Text | None = Field(
        None, min_length=1, description="How messages and pages name this host. Default: the engine's name"
    )


def _check_hours(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        parse_quiet_hours(value)
    return values


class QuietSettings(Section):
    """When nobody is told of anything; metrics, reports and history go on."""

    hours: Annotated[Names, AfterValidator(_check_hours)] = Field(
        (),
        description="Times of day in the host's time zone: 22:00-07:00, or for a container or project NAME=03:00-03:45",
    )


def _check_toolsets(values: tuple[str, ...]) -> tuple[str, ...]:
    if values != _CORE:
        from bcon_exporter.tools import Toolset  # weighs much: most commands offer no tools

        known = get_args(Toolset)
        if not values or not set(values) <= set(known):
            msg = f"must name some of {', '.join(known)}"
            raise ValueError(msg)
    return tuple(dict.fromkeys(values))


class McpSettings(Section):
    """Tools for AI agents, over the Model Context Protocol; needs the extra `mcp`."""

    enable: Annotated[bool, EXPERIMENTAL] = Field(
        False, description="Serve agents at /mcp where the JSON API is served"
    )
    toolsets: Annotated[Names, AfterValidator(_check_toolsets), EXPERIMENTAL] = Field(
        _CORE, description="Which tools agents are offered: `core`, and more sets of docs/agents.md"
    )
    structured: Annotated[bool, EXPERIMENTAL] = Field(
        False, description="Answer agents with structuredContent as well, and list an output schema with every tool"
    )


class AgentsSettings(Section):
    """What AI agents are told, on every face."""

    commands: Annotated[Literal["on", "off"], EXPERIMENTAL] = Field(
        "on", description="Tell agents the command that is refused; off where an agent could run it"
    )


class LogSettings(Section):
    """The exporter's own log, on standard error."""

    level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level to write")
    format: Literal["text", "json"] = Field("text", description="One line of text or of JSON per message")


class ConfigSettings(Section):
    """The configuration itself; cannot stand in the file."""

    file: FilePath | None = Field(None, description="YAML file of settings")
    check: bool = Field(False, description="Check all settings, say OK or what is wrong, and exit")


class Settings(BaseSettings):
    """All settings: flags win over BCON_* variables, those over the YAML file, that over the defaults."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    docker: DockerSettings = DockerSettings()
    web: WebSettings = WebSettings()
    api: ApiSettings = ApiSettings()
    scan: ScanSettings = ScanSettings()
    state: StateSettings = StateSettings()
    compose: ComposeSettings = ComposeSettings()
    thresholds: Thresholds = Thresholds()
    filter: FilterSettings = FilterSettings()
    drift: DriftSettings = DriftSettings()
    catalogue: CatalogueSettings = CatalogueSettings()
    metrics: MetricsSettings = MetricsSettings()
    collector: CollectorSettings = CollectorSettings()
    alerts: AlertsSettings = AlertsSettings()
    alertmanager: AlertmanagerSettings = AlertmanagerSettings()
    notify: NotifySettings = NotifySettings()
    quiet: QuietSettings = QuietSettings()
    mcp: McpSettings = McpSettings()
    agents: AgentsSettings = AgentsSettings()
    log: LogSettings = LogSettings()
    config: ConfigSettings = ConfigSettings()
    _origins: Mapping[str, str] = PrivateAttr(default_factory=dict)

    def written_at(self, origins: Mapping[str, str]) -> "Settings":
        """Return the settings with the place where each was written, by dotted name."""
        told = self.model_copy()
        told._origins = origins  # noqa: SLF001 -- its own
        return told

    @property
    def runbooks_url(self) -> str | None:
        """Where runbooks lie, with a slash at the end; None where nobody said how this exporter is reached."""
        own = self.web.external_url
        return self.alerts.runbooks_url or (f"{own}/docs/runbooks/" if own is not None else None)

    def origin_of(self, dotted: str) -> str:
        """Return where a setting was written (flag, variable, or file and line); its flag for a default."""
        return self._origins.get(dotted, f"--{dotted}")

    def was_given(self, dotted: str) -> bool:
        """Return whether a setting was written anywhere."""
        return dotted in self._origins

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 -- the signature is pydantic-settings'
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take what `load_settings` merged and nothing else: the stock environment source passes typos silently."""
        return (init_settings,)

    @model_validator(mode="after")
    def _check_contradictions(self) -> "Settings":
        scan = self.scan
        for name, interval in (("diagnose", scan.diagnose_interval), ("drift", scan.drift_interval)):
            if "deadline" in scan.model_fields_set and scan.deadline > interval:
                msg = (
                    f"scan.deadline ({write_duration(scan.deadline)}) is longer than scan.{name}-interval "
                    f"({write_duration(interval)}): a scan must end before the next one starts"
                )
                raise ValueError(msg)
        if self.api.listen_address == self.web.listen_address and self.web.listen_address.port:
            msg = "api.listen-address and web.listen-address are the same: leave the first out, or give it another port"
            raise ValueError(msg)
        if self.alertmanager.url and not (self.alertmanager.job and self.alertmanager.instance):
            msg = "alertmanager.url needs alertmanager.job and alertmanager.instance: the labels that tell hosts apart"
            raise ValueError(msg)
        if self.thresholds.restart_quiet_seconds > self.thresholds.restart_window_seconds:
            msg = "thresholds.restart-quiet-seconds is longer than thresholds.restart-window-seconds"
            raise ValueError(msg)
        return self


def stage_of(field: FieldInfo) -> Stage:
    """Return the stage that a setting's type is annotated with; stable where it is with none."""
    return next((mark for mark in field.metadata if isinstance(mark, Stage)), STABLE)


def list_settings(model: type[BaseModel] = Settings, prefix: str = "") -> dict[str, Any]:
    """Return every setting's dotted name ("scan.diagnose-interval") with its field, in order."""
    found: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        dotted = prefix + name.replace("_", "-")
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            found |= list_settings(info.annotation, dotted + ".")
        else:
            found[dotted] = info
    return found
