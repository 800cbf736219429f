"""schedule_task: a scan that runs now, or a watch until all is well."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema, model_validator

from bcon_exporter.model.base import Frozen, UtcDatetime
from bcon_exporter.model.durations import DURATION_PATTERN, parse_duration, write_duration
from bcon_exporter.model.tool_inputs import ContainerRef, ProjectName
from bcon_exporter.model.verify_report import DeploymentVerdict, ServiceVerdict

LONGEST_WATCH = timedelta(minutes=30)
_SHORTEST_WATCH = timedelta(seconds=1)


def _check_length(length: timedelta) -> timedelta:
    if not _SHORTEST_WATCH <= length <= LONGEST_WATCH:
        msg = "must lie between 1s and 30m"
        raise ValueError(msg)
    return length


Length = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    AfterValidator(_check_length),
    PlainSerializer(write_duration),
    WithJsonSchema({"type": "string", "pattern": f"^{DURATION_PATTERN}$", "maxLength": 64}),
]


class ScheduleTaskInput(Frozen):
    """Input of schedule_task."""

    task: Literal["diagnose", "drift", "watch"] = Field()
    at: Literal["now"] = "now"
    project: ProjectName | None = Field(None, description="To watch")
    container: ContainerRef | None = Field(None, description="To watch")
    for_: Length = Field(
        timedelta(minutes=5),
        alias="for",
        description="At most 30m",
        json_schema_extra={"default": "5m"},
    )
    stable: Length = Field(
        timedelta(minutes=1), description="Well for so long is well", json_schema_extra={"default": "1m"}
    )

    @model_validator(mode="after")
    def _check_subject(self) -> "ScheduleTaskInput":
        if self.task != "watch" and (self.project, self.container) != (None, None):
            msg = "project and container are for task watch: a scan looks at the whole host"
            raise ValueError(msg)
        if self.task == "watch" and (self.project is None) == (self.container is None):
            msg = "name either the project or the container to watch"
            raise ValueError(msg)
        if self.task == "watch" and self.stable > self.for_:
            msg = "stable must not be longer than for"
            raise ValueError(msg)
        return self


class TaskFinding(Frozen):
    """One container that a scan found ailing, one project that left its files, or one service that was watched."""

    name: str
    status: str
    what: str | None = None


class TaskReport(Frozen):
    """What came of a task.

    Attributes:
        state: "running": it goes on; ask again with the same words for what came of it.
        began_at: When the scan began to read the host, or the watch to look.
        age_seconds: Since then.
        summary: One sentence.
        findings: The worst first.
        verdict, services: Of a watch, as far as it has come; as `verify` judges.
        well_seconds: Of a watch: for how long all has been well by now.
        ends_by: Of a watch that goes on: when it ends at the latest.
    """

    task: Literal["diagnose", "drift", "watch"]
    state: Literal["done", "running"]
    began_at: UtcDatetime | None = None
    age_seconds: float | None = None
    summary: str
    findings: tuple[TaskFinding, ...] = ()
    verdict: DeploymentVerdict | None = None
    services: tuple[ServiceVerdict, ...] = ()
    well_seconds: float | None = None
    ends_by: UtcDatetime | None = None
