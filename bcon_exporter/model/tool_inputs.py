"""What the tools accept. Everything not named here is refused; docs/api.md lists it."""

import re  # noqa: TID251 - sees at most 64 characters of an argument
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import (
    BeforeValidator,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from bcon_exporter.model.base import Frozen, UtcDatetime
from bcon_exporter.model.container_facts import ContainerState, HealthStatus
from bcon_exporter.model.day_words import find_beginning
from bcon_exporter.model.durations import parse_duration
from bcon_exporter.model.filter_keys import FilterKey
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.text_patterns import (
    CONTAINER_PATTERN,
    NAME_PATTERN,
    PROJECT_PATTERN,
    TEXT_PATTERN,
    WHOLE_DURATION_PATTERN,
)
from bcon_exporter.model.validation_messages import KINDS, NO_MOMENT, tell_refusal

WORDS = "words"
"""Key of the validation context: true where numbers and switches come as text."""
NOW = "now"
"""Key of the validation context: the time that "10m" is counted back from."""
TO_LOCAL = "to_local"
"""Key of the validation context: returns a time by the host's clock on the wall; without it "yesterday" is unknown."""
MAX_TAIL = 10_000
_NUMBER = re.compile(r"\s*[-+]?[0-9.]+\s*")
_LONGEST_NUMBER = 64
_DIGIT = re.compile(r"[0-9]")

ContainerRef = Annotated[
    str,
    StringConstraints(pattern=CONTAINER_PATTERN),
    Field(description="Id, id prefix or name"),
]
PathText = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=TEXT_PATTERN)]
ProjectName = Annotated[str, StringConstraints(pattern=PROJECT_PATTERN)]
AnyName = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=NAME_PATTERN)]
"""A name that is only looked for in what is written down: labels bring any text as one."""


KindOfEntry = Annotated[JournalKind, WithJsonSchema({"type": "string", "enum": list(JournalKind)})]
"""Written out where it stands: what describes a query can refer to nothing."""


class Nothing(Frozen):
    """Input of what needs none."""


class Words(dict[str, object]):
    """A tool's input as a query or a command line brings it: in words, where "10" is a number and "false" a switch."""


def _check_whole(raw: object, info: ValidationInfo) -> object:
    """Refuse true and false, which Python takes for 1 and 0, and text that is no word of a query or a flag."""
    if isinstance(raw, bool) or _is_wrong_text(raw, info):
        raise ValueError(KINDS["int"])
    return raw


def _check_switch(raw: object, info: ValidationInfo) -> object:
    """Refuse numbers, and text that is no word of a query or a flag."""
    if (isinstance(raw, int | float) and not isinstance(raw, bool)) or _is_wrong_text(raw, info):
        raise ValueError(KINDS["bool"])
    return raw


def _is_wrong_text(raw: object, info: ValidationInfo) -> bool:
    return isinstance(raw, str) and not (info.context or {}).get(WORDS)


def _check_moment(raw: object, info: ValidationInfo) -> object:
    """Read how long ago; refuse numbers, also as text: pydantic would take them for seconds since 1970."""
    if isinstance(raw, int | float) or (isinstance(raw, str) and _NUMBER.fullmatch(raw[:_LONGEST_NUMBER])):
        raise ValueError(KINDS["datetime"])
    context = info.context or {}
    if not isinstance(raw, str) or NOW not in context:
        return raw
    try:
        return context[NOW] - parse_duration(raw)
    except ValueError:
        pass
    if not context.get(WORDS) or TO_LOCAL not in context or _DIGIT.search(raw[:_LONGEST_NUMBER]):
        return raw
    beginning = find_beginning(raw[:_LONGEST_NUMBER], context[NOW], context[TO_LOCAL])
    if beginning is None:
        raise ValueError(NO_MOMENT)
    return beginning


Whole = Annotated[int, BeforeValidator(_check_whole)]
Switch = Annotated[bool, BeforeValidator(_check_switch)]
Moment = Annotated[
    UtcDatetime,
    BeforeValidator(_check_moment),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "format": "date-time"},
                {"type": "string", "pattern": WHOLE_DURATION_PATTERN, "maxLength": 64},
            ]
        }
    ),
]
"""A time with its zone, or how long ago: "10m"; in words also "yesterday"."""


def read_moment(raw: str, now: datetime, to_local: Callable[[datetime], datetime]) -> datetime:
    """Return the time that a person means by "5m", "2026-01-31T12:00:00Z" or "today".

    Args:
        raw: What was typed.
        now: The time that "5m" is counted back from.
        to_local: Returns a time by the host's clock on the wall.

    Raises:
        ValueError: It is none; the message says what one looks like.
    """
    context = {WORDS: True, NOW: now, TO_LOCAL: to_local}
    try:
        moment: datetime = TypeAdapter(Moment).validate_python(raw, context=context)
    except ValidationError as error:
        raise ValueError(tell_refusal(error.errors()[0])) from None
    return moment


_HIGHEST_PORT = 65535
_KNOWN_VALUES: Mapping[FilterKey, tuple[str, ...]] = {
    "status": tuple(state.value for state in ContainerState),
    "health": tuple(status.value for status in HealthStatus),
}


def parse_published(raw: str) -> tuple[range, str]:
    """Return the ports and the protocol that "8080", "8080/udp" or "8000-8080/tcp" means.

    Raises:
        ValueError: It is none.
    """
    ports, _, protocol = raw.partition("/")
    first, dash, last = ports.partition("-")
    numbers = [
        int(one) if one.isascii() and one.isdecimal() and len(one) <= len("65535") else 0
        for one in (first, last if dash else first)
    ]
    if not 0 < numbers[0] <= numbers[1] <= _HIGHEST_PORT or protocol not in ("", "tcp", "udp", "sctp"):
        msg = "publish must be a port, or a range of ports, with or without a protocol: 8080, 8080/udp, 8000-8080/tcp"
        raise ValueError(msg)
    return range(numbers[0], numbers[1] + 1), protocol or "tcp"


class ListContainersInput(Frozen):
    """Input of list_containers."""

    all: Switch = False
    filters: dict[FilterKey, Annotated[str, StringConstraints(max_length=1024)]] | None = Field(
        None, description="All must match; name is any part of a name, label is key or key=value"
    )

    @field_validator("filters", mode="before")
    @classmethod
    def _leave_out_nulls(cls, filters: object) -> object:
        """Take null for a filter that is not wanted: some models must name every one."""
        if not isinstance(filters, Mapping):
            return filters
        return {key: value for key, value in filters.items() if value is not None} or None

    @field_validator("filters")
    @classmethod
    def _check_filters(cls, filters: dict[FilterKey, str] | None) -> dict[FilterKey, str] | None:
        """Refuse what nothing can ever match: an empty answer would say that there is no such container."""
        for key, known in _KNOWN_VALUES.items():
            value = (filters or {}).get(key)
            if value is not None and value not in known:
                msg = f"{key} must be {', '.join(known[:-1])} or {known[-1]}"
                raise ValueError(msg)
        exited = (filters or {}).get("exited")
        if exited is not None and not exited.isdecimal():
            msg = "exited must be an exit code"
            raise ValueError(msg)
        if (publish := (filters or {}).get("publish")) is not None:
            parse_published(publish)
        return filters


class ContainerInput(Frozen):
    """Input of get_container_info and get_container_stats."""

    container_id: ContainerRef


class GetContainerLogsInput(Frozen):
    """Input of get_container_logs."""

    container_id: ContainerRef
    tail: Whole = Field(100, ge=1, le=MAX_TAIL)
    since: Moment | None = Field(None, description="A time, or how long ago: 10m")
    until: Moment | None = Field(None, description="As since")
    timestamps: Switch = True
    grep: Annotated[str, StringConstraints(min_length=1, max_length=256)] | None = Field(
        None, description="Only these lines: literal text, or RE2 after `re:`"
    )
    stream: Literal["stdout", "stderr", "both"] = "both"
    part: Literal["newest", "previous", "crash"] = Field("newest", description="previous: of the run before")

    @model_validator(mode="after")
    def _check_window(self) -> "GetContainerLogsInput":
        if self.since is not None and self.until is not None and self.since >= self.until:
            msg = "since must lie before until"
            raise ValueError(msg)
        return self


class DetectDriftInput(Frozen):
    """Input of detect_drift."""

    compose_file: PathText = Field(description="Path of a Compose file or its directory")
    project_name: ProjectName | None = None


class GetUntrackedContainersInput(Frozen):
    """Input of get_untracked_containers."""

    compose_file: PathText | None = None
    project_name: ProjectName | None = Field(None, description="Alone: this project's own files")
    all: Switch = Field(False, description="Stopped containers too")


class DiagnoseContainerInput(Frozen):
    """Input of diagnose_container."""

    container_id: ContainerRef
    include_logs: Switch = True
    log_tail: Whole = Field(200, ge=1, le=MAX_TAIL)


class ExplainErrorInput(Frozen):
    """Input of explain_error."""

    container_id: ContainerRef
    error_pattern: Annotated[str, StringConstraints(min_length=1, max_length=256)] = Field(
        description="Literal text, or RE2 after `re:`"
    )
    context_lines: Whole = Field(5, ge=0, le=50)


class DiagnoseAllInput(Frozen):
    """Input of diagnose_all."""

    include_healthy: Switch = False


class HealthCheckInput(Frozen):
    """Input of health_check: nothing."""


class GetHistoryInput(Frozen):
    """Input of get_history."""

    name: AnyName | None = Field(None, description="Container, service or project")
    since: Moment | None = Field(None, description="A time, or how long ago: 10m; absent: 1d")
    until: Moment | None = Field(None, description="As since")
    kind: KindOfEntry | None = None
    changes: Switch = Field(False, description="Only what changed: no symptoms")
    words: str = Field("", max_length=256, description="An entry must have all of these words")
    limit: Whole = Field(100, ge=1, le=1000, description="How many, the newest")
    offset: Whole = Field(0, ge=0, le=1_000_000, description="How many of the newest to leave out")


class ListDeploymentsInput(Frozen):
    """Input of list_deployments."""

    project: AnyName | None = None
    limit: Whole = Field(20, ge=1, le=200, description="How many, the newest")


class ListIncidentsInput(Frozen):
    """Input of list_incidents."""

    open: Switch | None = Field(None, description="Those that go on, or those that are over; absent: both")
    since: Moment | None = Field(None, description="Not over by then; absent: 7d")
    project: AnyName | None = None
    limit: Whole = Field(50, ge=1, le=200, description="How many, the newest")
    offset: Whole = Field(0, ge=0, le=1_000_000, description="How many of the newest to leave out")


IncidentId = Annotated[str, StringConstraints(min_length=1, max_length=300)]


class GetIncidentInput(Frozen):
    """Input of get_incident; without an id the incidents that go on."""

    incident_id: IncidentId | None = Field(None, description="Absent: those that go on, a line for each")


class AcknowledgeInput(Frozen):
    """Which incident somebody is on."""

    incident_id: IncidentId


class GetCostReportInput(Frozen):
    """Input of get_cost_report."""

    period: Literal["day", "week", "month"] = "day"
